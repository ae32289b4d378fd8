"""What every plan of a clipped descent promises: less error with more budget, no more than the constant, the truth.

The two numbers of a clipped normal, against quadrature and their limits.
"""

import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from costofprivacy.dpgd import spectrum
from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import adaptive_clipping, correlated_noise, planning, robust_clipping


@dataclass(frozen=True)
class Method:
    """A module with `plan`, `predicted` and `release`; ``least`` is the fewest records that it takes."""

    module: ModuleType
    least: int
    counted: bool = True  # whether the number of records is an argument of `predicted`, or in the plan

    def planned(self, n: int, d: int, explained: float, noise: float, mu: float) -> Any:
        return self.module.plan(n, d, explained, noise, GaussianDP(mu))

    def predicted(self, plan: Any, n: int, d: int, explained: float, noise: float) -> float:
        sizes = (n, d) if self.counted else (d,)
        return float(self.module.predicted(plan, *sizes, explained, noise))

    def promised(self, n: int, d: int, explained: float, noise: float, mu: float) -> float:
        return self.predicted(self.planned(n, d, explained, noise, mu), n, d, explained, noise)


ADAPTIVE, ROBUST = Method(adaptive_clipping, 2), Method(robust_clipping, 3)
CORRELATED = Method(correlated_noise, 1, counted=False)
METHODS = [
    pytest.param(method, id=method.module.__name__.rpartition(".")[2]) for method in (ADAPTIVE, ROBUST, CORRELATED)
]


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("method", "n", "d", "mu", "seeds", "near"),
    [
        pytest.param(ADAPTIVE, 4000, 20, 0.5, 30, 0.3, id="adaptive"),
        pytest.param(ROBUST, 6000, 30, 0.5, 30, 0.35, id="robust"),
        pytest.param(CORRELATED, 4000, 20, 0.4, 20, 0.35, id="correlated, small budget"),
        pytest.param(CORRELATED, 4000, 20, 2.0, 20, 0.35, id="correlated, large budget"),
    ],
)
def test_the_formula_predicts_the_error_on_isotropic_data(
    method: Method, n: int, d: int, mu: float, seeds: int, near: float
) -> None:
    values = spectrum.isotropic(d)
    model = spectrum.RegressionModel(values, spectrum.projections(values, 0.0, 0.5), 0.3)
    plan = method.planned(n, d, 1.0, 0.09, mu)
    errors = []
    for seed in range(seeds):
        x, y = spectrum.sample(model, n, rng=rng(seed))
        errors.append(2 * float(model.risk(method.module.release(x, y, plan, rng=rng(seed + 1000)))))
    assert np.mean(errors) == pytest.approx(method.predicted(plan, n, d, 1.0, 0.09), rel=near)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [None, 10, 200, 10**6])
@pytest.mark.parametrize("mu", [1e-3, 1e4])
@pytest.mark.parametrize(("explained", "noise"), [(1.0, 0.1), (1e-20, 0.0), (1e6, 1e-3), (1e-8, 1.0)])
def test_no_plan_promises_more_error_than_the_constant(
    method: Method, n: int | None, mu: float, explained: float, noise: float
) -> None:
    """Also with the fewest records that it takes."""
    count = n or method.least
    for d in (1, 784):
        assert method.promised(count, d, explained, noise, mu) <= explained * (1 + 1e-9)
    if count <= 200:
        x = rng().standard_normal((count, 3))
        plan = method.planned(count, 3, explained, noise, mu)
        assert np.isfinite(method.module.release(x, x[:, 0], plan, rng=rng())).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("guesses", "message"),
    [((0.0, 0.0), "explained_variance must be"), ((1.0, -1.0), "noise_variance must be")],
)
def test_guesses_that_make_no_sense_are_refused(method: Method, guesses: tuple[float, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        method.planned(100, 2, *guesses, 1.0)


@pytest.mark.parametrize("method", [ADAPTIVE, ROBUST])
def test_too_few_records_are_refused(method: Method) -> None:
    with pytest.raises(ValueError, match="n must be"):
        method.planned(method.least - 1, 2, 1.0, 0.0, 1.0)


# ---- Clipped normal ----


@pytest.mark.parametrize("z", [1e-3, 0.4, 1.0, 2.5, 12.0])
def test_both_are_the_integrals(z: float) -> None:
    inside = quad(norm.pdf, -z, z, points=[0.0])[0]
    square = quad(lambda g: g**2 * norm.pdf(g), -z, z, points=[0.0])[0] + z**2 * 2 * norm.sf(z)
    assert planning.kept(z) == pytest.approx(inside, rel=1e-7)
    assert planning.mean_square(z) == pytest.approx(square, rel=1e-7)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.999])
def test_the_threshold_of_a_level_keeps_that_level(level: float) -> None:
    assert planning.kept(planning.threshold(level)) == pytest.approx(level)


def test_a_tight_clip_leaves_signs_and_a_wide_one_leaves_everything() -> None:
    assert planning.mean_square(1e-4) == pytest.approx(1e-8, rel=1e-3)
    assert planning.mean_square(40.0) == 1.0
    with pytest.raises(ValueError, match="z must be positive and finite"):
        planning.kept(0.0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        planning.threshold(math.nan)
