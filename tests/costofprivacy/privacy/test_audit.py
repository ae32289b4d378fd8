import math
import re

import numpy as np
import pytest
from scipy.stats import binom

from costofprivacy.privacy import (
    ApproximateDP,
    Audit,
    GaussianDP,
    audit_mechanism,
    epsilon_lower_bound,
    exact_noise_multiplier,
    mu_lower_bound,
    pooled_epsilon_lower_bound,
    pooled_mu_lower_bound,
)
from costofprivacy.privacy import audit as audit_module
from costofprivacy.privacy.audit import counted, each_of
from tests.each import each

BUDGET = ApproximateDP(1.0, 1e-5)


def gaussian(value: float, count: int, rng: np.random.Generator, std: float) -> np.ndarray:
    return value + std * rng.standard_normal(count)


def found(std: float, seed: int = 0, releases: int = 200_000, confidence: float = 0.999) -> Audit:
    return audit_mechanism(
        lambda value, count, rng: gaussian(value, count, rng, std),
        1.0,
        0.0,
        delta=BUDGET.delta,
        releases=releases,
        confidence=confidence,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_right_mechanism_is_never_accused_and_a_wrong_one_is(seed: int) -> None:
    right = exact_noise_multiplier(BUDGET)
    assert found(right, seed).epsilon <= BUDGET.epsilon
    assert found(right / 2, seed).epsilon > BUDGET.epsilon


@pytest.mark.parametrize("std", [0.7, 1.5, 4.0])
def test_the_bound_is_below_the_exact_epsilon_and_not_far_below(std: float) -> None:
    exact = GaussianDP(1 / std).epsilon(BUDGET.delta)
    bound = found(std, releases=1_000_000).epsilon
    assert 0.3 * exact < bound <= exact


def test_a_bound_on_mu_convicts_ten_percent_too_little_noise() -> None:
    """The ε at this δ, of rare events, does not; nor does either convict the right noise."""
    right = exact_noise_multiplier(BUDGET)
    claim = 1 / right
    wrong, sound = found(0.9 * right, confidence=0.99), found(right, confidence=0.99)
    assert wrong.mu > 1.02 * claim
    assert wrong.gaussian_epsilon > BUDGET.epsilon > wrong.epsilon
    assert 0.9 * claim < sound.mu <= claim
    assert wrong.rho == wrong.mu**2 / 2


LEAKS = {  # what a mechanism with N(0, 1) for a release does on one of the neighbours, to one release in fifty
    "NaN": lambda x: np.full_like(x, np.nan),
    "inf": lambda x: np.full_like(x, np.inf),
    "-inf": lambda x: np.full_like(x, -np.inf),
    "a marker on the right": lambda x: np.full_like(x, 50.0),
    "a marker on the left": lambda x: np.full_like(x, -50.0),
    "a marker in the middle": lambda x: np.full_like(x, 0.123),
    "both tails": lambda x: x + 8 * np.sign(x),
    "the middle": lambda x: x / 1000,
}


@each("inputs", [(1.0, 0.0), (0.0, 1.0)])
@each("leak", LEAKS)
def test_a_leak_is_found_wherever_it_is_and_in_either_order(leak: str, inputs: tuple[float, float]) -> None:
    def leaking(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        x = rng.standard_normal(count)
        return np.where((rng.random(count) < 0.02) & (value > 0), LEAKS[leak](x), x)

    audit = audit_mechanism(
        leaking, *inputs, delta=1e-5, releases=20_000, confidence=0.99, rng=np.random.default_rng(3)
    )
    assert audit.epsilon > 0.6
    assert audit.mu > 0.25
    assert audit.order == ("first" if inputs[0] else "second")
    assert (audit.hits[0] > audit.hits[1]) == bool(inputs[0])


def test_a_mechanism_that_fails_on_one_neighbour_is_found() -> None:
    def failing(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        return np.full(count, np.nan) if value else rng.standard_normal(count)

    audit = audit_mechanism(failing, 1.0, 0.0, delta=1e-5, releases=4000, confidence=0.99, rng=np.random.default_rng(0))
    assert audit.epsilon > 5
    assert audit.mu > 4
    assert audit.hits == (3000, 0)
    assert audit.events == ("score NaN", "score NaN")


RESPONSE = math.exp(1.0) / (1 + math.exp(1.0))
RIGHT = {  # mechanisms that attain what they claim: ε at δ = 10⁻⁹, or μ
    "randomised response": (lambda value, n, rng: (rng.random(n) < RESPONSE) == bool(value), 1.0, math.inf),
    "Gaussian": (lambda value, n, rng: value + rng.standard_normal(n), math.inf, 1.0),
    "nothing": (lambda value, n, rng: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, n)), 0.0, 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_the_confidence_is_kept(name: str) -> None:
    """500 audits; the number of accusations may be beyond 10 % by chance only (binomial, 1 in 10⁴)."""
    scores, epsilon, mu = RIGHT[name]
    rng, accused = np.random.default_rng(7), 0
    for _ in range(500):
        audit = audit_mechanism(scores, 1.0, 0.0, delta=1e-9, releases=240, confidence=0.9, rng=rng)
        accused += audit.epsilon > epsilon or audit.mu > mu
    assert accused <= binom.isf(1e-4, 500, 0.1)


def test_delta_is_taken_off() -> None:
    """A mechanism that shows its input with probability 0.01 and else nothing is (0, 0.01)-DP."""

    def leaking(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(count) < 0.01, value, 0.5)

    common = {"releases": 20_000, "confidence": 0.99}
    for delta, accused in ((0.012, False), (0.005, True)):
        bound = audit_mechanism(leaking, 1.0, 0.0, delta=delta, rng=np.random.default_rng(1), **common).epsilon
        assert (bound > 0) == accused


def test_counts_belong_to_the_releases_that_did_not_choose() -> None:
    """Three quarters, drawn after the others; ε and μ each have half of the probability of an error."""
    drawn: list[tuple[float, np.ndarray]] = []

    def scores(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        drawn.append((value, gaussian(value, count, rng, 0.5)))
        return drawn[-1][1]

    audit = audit_mechanism(scores, 1.0, 0.0, delta=1e-5, releases=1001, confidence=0.98, rng=np.random.default_rng(0))
    assert [(value, len(seen)) for value, seen in drawn] == [(1.0, 250), (0.0, 250), (1.0, 751), (0.0, 751)]
    assert audit.releases == counted(1001) == 751
    for evidence in (audit.on_epsilon, audit.on_mu):
        side, edge = re.fullmatch(r"score (above|at most) (\S+)(?: or NaN)?", evidence.event).groups()
        above = [int((seen > float(edge)).sum()) for _, seen in drawn[2:]]
        assert evidence.hits == pytest.approx(above if side == "above" else [751 - hits for hits in above], abs=1)
    bounds = {False: epsilon_lower_bound, True: pooled_epsilon_lower_bound}
    likelier = sorted(audit.hits, reverse=True)
    assert audit.epsilon == bounds[audit.on_epsilon.pooled](likelier, 751, 1e-5, 0.99)
    bounds = {False: mu_lower_bound, True: pooled_mu_lower_bound}
    assert audit.mu == bounds[audit.on_mu.pooled](sorted(audit.on_mu.hits, reverse=True), 751, 0.99)


def test_the_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found(1.0, releases=3000)
    monkeypatch.setattr(audit_module, "BLOCK", 100)
    drawn: list[int] = []

    def scores(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        drawn.append(count)
        return gaussian(value, count, rng, 1.0)

    told = {"delta": BUDGET.delta, "releases": 3000, "confidence": 0.999, "rng": np.random.default_rng(0)}
    assert audit_mechanism(scores, 1.0, 0.0, **told) == whole
    assert max(drawn) == 100


@each("releases", [2, 3, 4, 5, 100])
@each("value", [0.0, math.nan, math.inf, -math.inf, 1.7976931348623157e308, 5e-324])
def test_constant_scores_reveal_nothing(value: float, releases: int) -> None:
    constant = audit_mechanism(
        lambda data, count, rng: np.full(count, value),
        1,
        0,
        delta=1e-5,
        releases=releases,
        confidence=0.9,
        rng=None,
    )
    assert constant.epsilon == constant.mu == constant.rho == constant.gaussian_epsilon == 0


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16])
def test_ties_of_any_type_are_scores(dtype: type) -> None:
    def scores(value: int, count: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(count) < (0.9 if value else 0.1)).astype(dtype)

    told = {"delta": 1e-5, "releases": 4000, "confidence": 0.99, "rng": np.random.default_rng(0)}
    assert 1.5 < audit_mechanism(scores, 1, 0, **told).epsilon < math.log(9)


def test_several_audits_share_their_confidence() -> None:
    assert each_of(1, 0.9) == pytest.approx(0.9)
    assert 1 - 7 * (1 - each_of(7, 0.9)) == pytest.approx(0.9)
    with pytest.raises(ValueError, match="audits must be a whole number of at least 1, got 0"):
        each_of(0, 0.9)


def test_scores_of_another_shape_are_refused() -> None:
    told = {"delta": 1e-5, "releases": 100, "confidence": 0.9, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=r"scores must have shape \(25\), got \(25, 2\)"):
        audit_mechanism(lambda value, count, rng: rng.standard_normal((count, 2)), 1, 0, **told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
        ({"releases": 1}, "releases must be a whole number of at least 2, got 1"),
    ],
)
def test_inadmissible_arguments_are_refused(arguments: dict, message: str) -> None:
    told = {"delta": 1e-5, "releases": 100, "confidence": 0.9, "rng": np.random.default_rng(0)} | arguments
    with pytest.raises(ValueError, match=message):
        audit_mechanism(lambda value, count, rng: rng.standard_normal(count), 1, 0, **told)
