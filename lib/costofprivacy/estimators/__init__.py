"""The papers' methods for a researcher's own data, with scikit-learn's conventions.

======================  ========  ==================================================================================
name                    symbol    meaning
======================  ========  ==================================================================================
``rho``                 ρ         privacy parameter: the release is ρ-Gaussian DP, hence ρ²/2-zCDP
``epsilon, delta``      ε, δ      approximate differential privacy; ``epsilon`` is the other way to ask for privacy
``clip``                c         clipping constant of the residual, on the stated scale of the response
``schedule``            η̃         learning rate in continuous time; ``learning_rate`` is η̃(0)
``spectrum``            λ_i       public: eigenvalues of the scaled features' second moment, or their sum
``label_noise``         ζ, τ      public: standard deviation of the scaled response's noise
``initial_risk``        R(0)      public: half the mean square of what the scaled features explain
``clip_norm, …``        C, G, R   NoisyHead's bounds on responses, on ‖Z‖_F and on ‖Γ‖_F
``queries``                       which tokens of a prompt `PrivateHeadRegressor` learns to answer
``tasks``                         what is known of the prompts' coefficients: nothing, or E wwᵀ ∝ I
``spread``              s         public: E‖x‖²xxᵀ = (tr Σ)Σ + sΣ²
======================  ========  ==================================================================================

**What is public.** No estimator looks at data to scale it, to choose a bound or to tune: what would need that is
an argument, and stands in a paper beside ε and δ. A number computed from the private data and handed over as an
argument breaks the guarantee.

**Neighbours.** Two data sets are neighbours if one record (`DPGDRegressor`) or one prompt (`NoisyHeadRegressor`,
`PrivateHeadRegressor`) is replaced by another, whatever it holds. The number of records is public.

**What is not protected.** A run with a ``random_state`` is a demonstration, no release: whoever knows the seed knows
the noise, so ``fit`` warns, and a generator is refused. NumPy's generators are made for simulation, not for secrecy,
and noise of finite precision leaks a little more than real numbers would. Fitting twice on the same data spends twice.
By default ``fit`` refuses data that are not finite, as scikit-learn does, and that it did is not protected;
``not_finite="void"`` protects it (`estimators.gate`). A score on the training data is a release without protection.
"""

from costofprivacy.estimators.linear import DPGDRegressor
from costofprivacy.estimators.private_head import PrivateHeadRegressor
from costofprivacy.estimators.prompts import NoisyHeadRegressor

__all__ = ["DPGDRegressor", "NoisyHeadRegressor", "PrivateHeadRegressor"]
