"""More numbers that state a budget, a count or a scale: narrow types, fractions, text, durations and truth values."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    forecasting,
    private_bounds,
)
from costofprivacy.noisyhead import token_laws
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    ZeroConcentratedDP,
    detectable,
    one_run,
    subsampled,
    warn_if_delta_is_large,
)
from costofprivacy.rivals import batch_descent, gaussian_mixing
from costofprivacy.rivals.bounds import Bounds
from tests.each import each, refused

RNG = np.random.default_rng(0)
X, PROMPTS = RNG.uniform(-1, 1, (60, 2)), (RNG.standard_normal((10, 4, 2)), RNG.standard_normal((10, 4)))
SCALES = {"feature_scale": 1.0, "response_scale": 1.0, "random_state": 0}
QUARTERS = {"levels": (0.25, 0.75), "random_state": 0}


def _fitted(model: type, **asked: object) -> object:
    return model(**asked).fit(X, X[:, 0]).coef_.tolist()


# As it was found: μ = 17 of 8 bits gave ρ = 16.5, and an ε of half precision was too small.
ASKED: dict[str, tuple[Callable[..., object], float]] = {
    "rho of mu": (lambda v: GaussianDP(v).to_zero_concentrated().rho, 17),
    "delta of mu": (lambda v: float(GaussianDP(v).delta(20)), 17),
    "epsilon of rho": (lambda v: ZeroConcentratedDP(v).epsilon(1e-6), 17),
    "mu of epsilon": (lambda v: ApproximateDP(v, 1e-6).to_gaussian().mu, 17),
    "a mechanism": (lambda v: GaussianMechanism(v, v).noise_std, 17),
    "bounds of records": (lambda v: Bounds(v, v).features ** 2, 17),
    "a plan": (lambda v: batch_descent.Plan(v, (v, v), v).learning_rates[0] ** 2, 17),
    "releases": (lambda v: detectable(1.0, v, 0.875), 100),  # in 8 bits 0.39 became 1
    "guesses": (lambda v: one_run.p_value(90, v, 120, 1.0, 2**-12), 100),
    "delta of one run": (lambda v: one_run.p_value(90, 100, 120, 1.0, v), 2**-12),
    "sampling": (
        lambda v: subsampled.poisson_epsilon(4.0, v, 10, 1e-5, subsampled.Neighbours.REPLACE),
        0.125,
    ),
    "epsilon of a delta": (lambda v: float(GaussianDP(17.0).delta(v)), 100),
    "n": (lambda v: forecasting.asked(v, 3, 1.0, 1e-4, 0.5, "real", "new records", None, True), 100),
    "mu of bounds": (lambda v: tuple(private_bounds(X[:, 0], mu=v, grid=(-1, 0, 1), **QUARTERS)), 1),
    "epsilon of bounds": (
        lambda v: tuple(private_bounds(X[:, 0], epsilon=v, delta=1e-4, grid=(-1, 0, 1), **QUARTERS)),
        1,
    ),
    "grid": (lambda v: tuple(private_bounds(X[:, 0], mu=1.0, grid=(-1, 0, v), **QUARTERS)), 1),
    "mu": (lambda v: _fitted(DPGDRegressor, mu=v, **SCALES), 0.5),
    "epsilon": (lambda v: _fitted(BoostedAdaSSPRegressor, epsilon=v, delta=1e-6, **SCALES), 0.5),
    "delta": (lambda v: _fitted(BoostedAdaSSPRegressor, epsilon=1.0, delta=v, **SCALES), 2**-12),
    "expected_r2": (lambda v: _fitted(DPGDRegressor, mu=1.0, expected_r2=v, **SCALES), 0.25),
    "spectrum": (lambda v: _fitted(DPGDRegressor, mu=1.0, spectrum=v, **SCALES), 2),
    "feature_scale": (lambda v: _fitted(DPGDRegressor, mu=1.0, **SCALES | {"feature_scale": v}), 2),
    "response_scale": (
        lambda v: (
            NoisyHeadRegressor(epsilon=1.0, delta=1e-4, response_scale=v, random_state=0)
            .fit(*PROMPTS)
            .predict(*PROMPTS)
            .tolist()
        ),
        2,
    ),
}


@each("name", ASKED)
def test_a_number_of_any_type_is_that_number(name: str) -> None:
    asked, value = ASKED[name]
    wanted = asked(value)
    for kind in (np.int8, np.uint8, np.float16, np.longdouble, Fraction):
        if float(kind(value)) == value:
            assert asked(kind(value)) == wanted, kind


@each("name", ASKED)
def test_what_is_no_number_is_refused_in_words(name: str) -> None:
    asked, value = ASKED[name]
    for wrong in (True, np.bool(True), str(value), Decimal(value), np.timedelta64(17, "D"), 17j, "a secret"):
        refused(r"must be|must have|must map", asked, wrong)


def test_a_large_delta_is_warned_of_whatever_its_type() -> None:
    with pytest.warns(UserWarning, match="far below 1/n"):
        warn_if_delta_is_large(Fraction(1, 2), 10)  # type: ignore[arg-type]


def test_a_number_that_was_checked_is_the_one_that_is_used() -> None:
    """As it was found: what the check returned was dropped, so that 10.0 ended in NumPy and 8 bits overflowed."""
    law = token_laws.TokenLaw(np.eye(2), token_laws.GAUSSIAN)
    one, two = (token_laws.sample(law, N, L, rng=np.random.default_rng(0)) for N, L in ((10, 3), (10.0, 3.0)))
    np.testing.assert_array_equal(one.x, two.x)
    told = gaussian_mixing.plan(20_000, 100, Bounds(6.7, 3.1), 100.0, 0.25, ApproximateDP(4.0, 1e-6))
    for kind in (np.int16, np.float16, np.int8):
        n = 20_000 if kind is np.int8 else kind(20_000)
        other = gaussian_mixing.plan(n, kind(100), Bounds(6.7, 3.1), kind(100), 0.25, ApproximateDP(4.0, 1e-6))
        assert other == told
