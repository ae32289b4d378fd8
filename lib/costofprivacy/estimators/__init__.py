"""The papers' methods for a researcher's own data, with scikit-learn's conventions.

For one regression, begin with `PrivateLinearRegression`, which chooses the method. `forecast` tells what a fit will be
worth before anything is spent, and ``receipt()`` tells afterwards what was promised. The methods themselves are
`ObjectivePerturbationRegressor`, `ClippedDescentRegressor`, `BoostedAdaSSPRegressor` and, for one pass over a stream,
`DPGDRegressor`. For prompts there are `PrivateHeadRegressor` and `NoisyHeadRegressor`. `Schema` states what is public
of a data frame.

======================  ========  ==================================================================================
name                    symbol    meaning
======================  ========  ==================================================================================
``mu``                  μ         Gaussian DP: the release is μ-Gaussian DP, hence ρ-zCDP with ρ = μ²/2
``rho``                 ρ         zero-concentrated DP (zCDP), in receipts and in the calculator
``epsilon, delta``      ε, δ      approximate differential privacy; ``epsilon`` is the other way to ask for privacy
``clip``                c         clipping constant of the residual, on the stated scale of the response
``schedule``            η̃         learning rate in continuous time; ``learning_rate`` is η̃(0)
``spectrum``            λ_i       public: eigenvalues of the scaled features' second moment, or their sum
``label_noise``         ζ, τ      public: standard deviation of the scaled response's noise
``initial_risk``        R(0)      public: half the mean square of what the scaled features explain
``expected_r2``                   public: the share of the response's variance that features are expected to explain
``clip_norm, …``        C, G, R   NoisyHead's bounds on responses, on ‖Z‖_F and on ‖Γ‖_F
``queries``                       which tokens of a prompt `PrivateHeadRegressor` learns to answer
``tasks``                         what is known of the prompts' coefficients: nothing, or E wwᵀ ∝ I
``spread``              s         public: E‖x‖²xxᵀ = (tr Σ)Σ + sΣ²
======================  ========  ==================================================================================

**What is public.** No estimator looks at data to scale it, to choose a bound or to tune: what would need that is
an argument, and stands in a paper beside ε and δ. A number computed from the private data and handed over as an
argument breaks the guarantee.

**Neighbours.** Two data sets are neighbours if one record of a table, or one prompt (`NoisyHeadRegressor`,
`PrivateHeadRegressor`), is replaced by another, whatever it holds. The number of records is public. Where a patient,
say, has several records, ``fit`` takes ``unit=`` and the estimator ``most_per_unit=``: then all records of one unit are
replaced (`estimators.units`).

**What is not protected.** A run with a ``random_state`` is a demonstration, no release: whoever knows the seed knows
the noise, so ``fit`` warns, and a generator is refused. NumPy's generators are made for simulation, not for secrecy,
and noise of finite precision leaks a little more than real numbers would; ``noise="secure"`` has neither fault, where a
method takes it (`costofprivacy.privacy.secure`). Fitting twice on the same data spends twice,
scikit-learn's ``cross_val_score`` and ``GridSearchCV`` fit many times without a word, and a bootstrap sample holds some
records several times (`estimators.spending`). An `Account` charges them all and refuses what does not fit. No estimator
has a default budget. By default ``fit`` refuses data that are not finite, as scikit-learn does, and that it did is not
protected; ``not_finite="void"`` protects it (`estimators.gate`). A score on the training data is a release without
protection.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from costofprivacy.estimators.linear import DPGDRegressor

# Imported when they are asked for, which takes less time, and what chapters measure with it does not depend on them.
_LATER = {
    "Account": "account",
    "AccountError": "account",
    "BoostedAdaSSPRegressor": "descent",
    "ClippedDescentRegressor": "descent",
    "NoisyHeadRegressor": "prompts",
    "ObjectivePerturbationRegressor": "objective",
    "PrivateHeadRegressor": "prompts",
    "PrivateLinearRegression": "automatic",
    "PrivateSearch": "search",
    "Schema": "schema",
    "SchemaTransformer": "schema",
    "boolean": "schema",
    "category": "schema",
    "compose": "spending",
    "date": "schema",
    "epsilon_needed": "forecasting",
    "forecast": "forecasting",
    "forecast_intervals": "forecasting",
    "number": "schema",
    "private_bounds": "private_bounds",
    "private_mean_loss": "scores",
    "private_r2": "scores",
    "records_needed": "forecasting",
    "split": "spending",
}

__all__ = ["DPGDRegressor", *_LATER]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """In which ``private_bounds`` is the function, although Python binds the module of that name when it imports it."""

    @property
    def private_bounds(self) -> Any:
        return __getattr__("private_bounds")

    @private_bounds.setter
    def private_bounds(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
