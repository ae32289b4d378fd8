"""NoisyHead (arXiv:2504.16000v2): differentially private pretraining of a linear attention head.

==================  =========  ==========================================================================
name                symbol     meaning
==================  =========  ==========================================================================
``N, L, D, T``                 training prompts; labelled tokens a prompt; feature dimension; iterations
``label_noise``     τ          standard deviation of the label noise
``clip_norm``       C          bound on the responses
``feature_bound``   G          bound on ‖Z‖_F, by projection
``weight_bound``    R          bound on ‖Γ‖_F, by projection
``penalty``         λ          ridge penalty, in (2.6) and (2.7)
``learning_rate``   η₀         step size
``failure``         κ          failure probability in the choice of C, G and R
==================  =========  ==========================================================================
"""
