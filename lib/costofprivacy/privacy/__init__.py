"""Privacy accounting: budgets, the Gaussian mechanism, its composition and iteration, profiles, audits. No model.

=====================  =======  ====================================================
name                   symbol   meaning
=====================  =======  ====================================================
``epsilon, delta``     ε, δ     approximate differential privacy
``rho``                ρ        zero-concentrated differential privacy
``mu``                 μ        Gaussian differential privacy
``sensitivity``        Δ        ℓ₂ distance between the values at neighbours, at most
``noise_multiplier``   s/Δ      noise standard deviation over sensitivity
``steps``              T        number of composed mechanisms
=====================  =======  ====================================================

What a record may hold, and what is refused, stands in `costofprivacy.privacy.records`.
"""

from costofprivacy.privacy.amplification import amplification_by_iteration, spent_by_record
from costofprivacy.privacy.audit import Audit, Evidence, audit_mechanism
from costofprivacy.privacy.budgets import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    PrivacyWarning,
    ZeroConcentratedDP,
    warn_if_delta_is_large,
)
from costofprivacy.privacy.detection import detectable
from costofprivacy.privacy.evidence import epsilon_lower_bound, mu_lower_bound
from costofprivacy.privacy.mechanisms import (
    GaussianMechanism,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
    last_iterate_noise_multiplier,
)

__all__ = [
    "ApproximateDP",
    "Audit",
    "Evidence",
    "GaussianDP",
    "GaussianMechanism",
    "PrivacyProfile",
    "PrivacyWarning",
    "ZeroConcentratedDP",
    "amplification_by_iteration",
    "audit_mechanism",
    "basic_noise_multiplier",
    "classical_noise_multiplier",
    "detectable",
    "epsilon_lower_bound",
    "every_iterate",
    "exact_composed_noise_multiplier",
    "exact_noise_multiplier",
    "last_iterate",
    "last_iterate_noise_multiplier",
    "mu_lower_bound",
    "spent_by_record",
    "warn_if_delta_is_large",
]
