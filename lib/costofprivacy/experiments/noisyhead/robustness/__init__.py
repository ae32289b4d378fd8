"""What does one perturbed prompt do to NoisyHead and to ridge regression, and what of it is rounding error?"""
