"""What does one perturbed prompt do to NoisyHead and to ridge regression, and how much of it is rounding error?"""
