"""DP-GD (arXiv:2505.16329v2): one-pass private gradient descent for linear regression in high dimension.

=========================  ===========  ==========================================================================
name                       symbol       meaning
=========================  ===========  ==========================================================================
``n, d``                   n, d         records, each used once; dimension
``aspect_ratio``           γ            d/n
``rho``                    ρ            privacy parameter: ρ²/2-zCDP, and in fact ρ-Gaussian DP
``clip``                   c            clipping constant of the residual, C_clip/√d
``clip_norm``              C_clip       bound on the norm of a record's gradient, c√d
``label_noise``            ζ            standard deviation of the label noise
``test_risk``              𝒫            half the mean squared error on a fresh record, R + ζ²/2
``excess_risk``            ℛ, R         ‖Σ^{1/2}(θ − θ*)‖²/2
``ratio``                  c'           c/√(2𝒫): clipping constant over the residual's standard deviation
``schedule``               η̃            learning rate in continuous time: η_k = η̃(k/n)/n
``learning_rates``         η_k          length of each step, not increasing
``noise_multipliers``      σ_k          noise of each step over 2C_clip: the noise's std is 2 C_clip σ_k
``noise_intensity``        σ̃²           noise in continuous time, −dη̃²/dt/ρ²
``learning_rate``          η̄            min(η̃, ``cap``) with the cap 2/γ
``energies``               D_i          d(ω_i'(θ − θ*))²/2, the squared error along the i-th eigenvector
``relaxation``, …          a_i, b_i     rates of descent and of sampling noise, both λ_i in (4.7); ``readout`` is λ_i/d
``clock``                  Γ            ∫ η̄ μ_c dt, the time in which the D_i relax at constant rates
=========================  ===========  ==========================================================================
"""
