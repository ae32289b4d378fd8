"""Audits: events of scores, the bounds that their counts prove, what they can find, and the advantage of an attack."""

import math
import re

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from costofprivacy.privacy import (
    ApproximateDP,
    Audit,
    GaussianDP,
    audit_mechanism,
    detectable,
    detection,
    epsilon_lower_bound,
    evidence,
    exact_noise_multiplier,
    mu_lower_bound,
)
from costofprivacy.privacy import audit as audit_module
from costofprivacy.privacy.advantage import largest_advantage, of_decisions, of_scores
from costofprivacy.privacy.audit import counted
from costofprivacy.privacy.detection import runs_needed
from costofprivacy.privacy.evidence import Event, choose
from tests.each import each, refused

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


@pytest.mark.parametrize("seed", range(2))
def test_a_right_mechanism_is_never_accused_and_a_wrong_one_is(seed: int) -> None:
    right = exact_noise_multiplier(BUDGET)
    assert found(right, seed, 100_000).epsilon <= BUDGET.epsilon
    assert found(right / 2, seed, 100_000).epsilon > BUDGET.epsilon


@pytest.mark.parametrize("std", [0.7, 4.0])
def test_the_bound_is_below_the_exact_epsilon_and_not_far_below(std: float) -> None:
    exact = GaussianDP(1 / std).epsilon(BUDGET.delta)
    bound = found(std, releases=500_000).epsilon
    assert 0.3 * exact < bound <= exact


def test_a_bound_on_mu_convicts_ten_percent_too_little_noise() -> None:
    """The ε at this δ, of rare events, does not; nor does either convict the right noise."""
    right = exact_noise_multiplier(BUDGET)
    claim = 1 / right
    wrong, sound = found(0.9 * right, confidence=0.99), found(right, confidence=0.99)
    assert wrong.mu > 1.02 * claim
    assert wrong.epsilon < BUDGET.epsilon
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
    assert audit.on_epsilon.event == audit.on_mu.event == "score NaN"


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
    for one in (audit.on_epsilon, audit.on_mu):
        side, edge = re.fullmatch(r"score (above|at most) (\S+)(?: or NaN)?", one.event).groups()
        above = [int((seen > float(edge)).sum()) for _, seen in drawn[2:]]
        assert one.hits == pytest.approx(above if side == "above" else [751 - hits for hits in above], abs=1)
    of_epsilon, of_mu = (sorted(one.hits, reverse=True) for one in (audit.on_epsilon, audit.on_mu))
    assert audit.epsilon == epsilon_lower_bound(of_epsilon, 751, 1e-5, 0.99, pooled=audit.on_epsilon.pooled)
    assert audit.mu == mu_lower_bound(of_mu, 751, 0.99, pooled=audit.on_mu.pooled)


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
        lambda data, count, rng: np.full(count, value), 1, 0, delta=1e-5, releases=releases, confidence=0.9, rng=None
    )
    assert constant.epsilon == constant.mu == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
        ({"releases": 1}, "releases must be a whole number of at least 2, got 1"),
        ({"scores": lambda value, count, rng: np.ones((count, 2))}, r"scores must have shape \(25\), got \(25, 2\)"),
    ],
)
def test_inadmissible_arguments_are_refused(arguments: dict, message: str) -> None:
    told = {"scores": lambda value, count, rng: np.ones(count), "delta": 1e-5, "releases": 100, "confidence": 0.9}
    refused(message, audit_mechanism, first=1, second=0, rng=np.random.default_rng(0), **told | arguments)


# ---- Bounds ----

COUNTS = [(900, 100), (50, 3), (1000, 0), (999, 998), (1, 0)]


@pytest.mark.parametrize("hits", COUNTS)
def test_the_bounds_are_those_of_clopper_and_pearson(hits: tuple[int, int]) -> None:
    n, delta, confidence = 1000, 1e-3, 0.98
    low = beta.ppf(0.01, hits[0], n - hits[0] + 1)
    high = beta.ppf(0.99, hits[1] + 1, n - hits[1])
    expected = max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
    assert epsilon_lower_bound(hits, n, delta, confidence) == pytest.approx(expected, rel=1e-9)
    assert mu_lower_bound(hits, n, confidence) == pytest.approx(max(0.0, norm.ppf(low) - norm.ppf(high)), rel=1e-9)
    correct = hits[0] + 1000 - hits[1]
    mean = beta.ppf(0.02, correct, 2 * n - correct + 1)
    expected = max(0.0, math.log((mean - delta) / (1 - mean)))
    assert epsilon_lower_bound(hits, n, delta, 0.98, pooled=True) == pytest.approx(expected, rel=1e-9)
    assert mu_lower_bound(hits, n, 0.98, pooled=True) == pytest.approx(max(0.0, 2 * norm.ppf(mean)), rel=1e-9)


@each("pooled", [False, True])
def test_nothing_is_found_where_nothing_can_be(pooled: bool) -> None:
    assert epsilon_lower_bound((90, 3), 100, 0.95, 0.9, pooled=pooled) == 0
    for hits in ((0, 0), (100, 100), (0, 100), (3, 90)):
        assert mu_lower_bound(hits, 100, 0.9, pooled=pooled) == 0
        assert epsilon_lower_bound(hits, 100, 1e-5, 0.9, pooled=pooled) == 0


def spends_epsilon(q: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    return np.minimum(np.exp(epsilon) * q + delta, 1 - np.exp(-epsilon) * np.maximum(1 - q - delta, 0.0))


@each("confidence", [0.4, 0.75, 0.99])
@each("n", [3, 20])
def test_no_event_is_accused_more_often_than_the_confidence_allows(n: int, confidence: float) -> None:
    """Exactly, over all pairs of counts, for events on the edge of what a claim allows, far and near the middle."""
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    q = np.concatenate([[1e-6, 1e-3], np.linspace(0.02, 0.98, 25)])
    on_epsilon, on_mu = evidence.bounds(first, second, n, 0.01, confidence)
    for claim in (0.05, 0.7, 2.0):
        for p, found in ((norm.cdf(norm.ppf(q) + claim), on_mu), (spends_epsilon(q, claim, 0.01), on_epsilon)):
            law = binom.pmf(np.arange(n + 1)[:, None], n, p)[:, None] * binom.pmf(np.arange(n + 1)[:, None], n, q)
            for bound in found:
                accused = (law * (bound > claim + 1e-12)[:, :, None]).sum(axis=(0, 1))
                assert accused.max() <= 1 - confidence + 1e-9
    one = (n, n // 3)
    both = [[f(one, n, *d, confidence, pooled=p) for p in (False, True)] for f, d in LOWER]
    np.testing.assert_array_equal(np.maximum([on_epsilon[:, n, n // 3], on_mu[:, n, n // 3]], 0.0), both)


LOWER = [(epsilon_lower_bound, (0.01,)), (mu_lower_bound, ())]


def test_an_event_half_way_attains_the_pooled_bounds() -> None:
    """Were the probabilities counted exactly: Φ(μ/2) of a Gaussian, e^ε/(1 + e^ε) of randomised response."""
    n = 10**11  # SciPy before 1.17 knows no quantile at 10¹²
    for mu in (0.1, 1.0, 3.0):
        p = norm.cdf(mu / 2)
        half = mu_lower_bound((round(p * n), round((1 - p) * n)), n, 0.99, pooled=True)
        assert half == pytest.approx(mu, abs=1e-4)
        p = math.exp(mu) / (1 + math.exp(mu))
        half = epsilon_lower_bound((round(p * n), round((1 - p) * n)), n, 1e-9, 0.99, pooled=True)
        assert half == pytest.approx(mu, abs=1e-4)


def test_no_event_of_a_gaussian_exceeds_its_mu_or_its_profile() -> None:
    """With the probabilities themselves: the inequalities, at every threshold and on both sides."""
    t = np.linspace(-3, 6, 600)
    for mu in (0.1, 1.0, 3.0):
        p, q = norm.sf(t - mu), norm.sf(t)
        np.testing.assert_allclose(evidence.mu_of(p, q), mu, rtol=1e-5)
        assert evidence.epsilon_of(p, q, 1e-3).max() == pytest.approx(GaussianDP(mu).epsilon(1e-3), rel=1e-3)


@each(
    ("call", "message"),
    [
        (lambda: mu_lower_bound((3, 1), 2, 0.9), "hits must be at most the number of releases, 2, got"),
        (lambda: mu_lower_bound((-1, 1), 2, 0.9), "hits must be a whole number of at least 0, got -1"),
        (lambda: mu_lower_bound((0, 0), 0, 0.9), "releases must be a whole number of at least 1, got 0"),
        (lambda: mu_lower_bound((0, 0), 1, 1.0, pooled=True), "confidence must be between 0 and 1"),
        (lambda: epsilon_lower_bound((0, 0), 1, 0.0, 0.9), "delta must be between 0 and 1"),
        (lambda: detectable(0.0, 100, 0.9), "mu must be positive and finite, got 0.0"),
        (lambda: detectable(1.0, 1, 0.9), "releases must be a whole number of at least 2, got 1"),
        (lambda: detectable(1.0, 100, 1.0), "confidence must be between 0 and 1"),
        (lambda: detectable(1.0, 100, 0.9, 0.0), "power must be between 0 and 1"),
        (lambda: runs_needed(1.0, 1.0, 0.9), "deficit must be between 0 and 1"),
        (lambda: of_scores(np.zeros(3), np.zeros(3)), "first and second must"),
        (lambda: of_scores(np.zeros(5), np.zeros(4)), "first and second must"),
        (lambda: of_decisions(np.ones(3, bool), np.ones(2, bool)), "on_second must"),
    ],
)
def test_inadmissible_counts_are_refused(call: object, message: str) -> None:
    refused(message, call)


# ---- Events ----

EDGES = np.array([-np.inf, 0.0, 1.0, evidence.LARGEST])
NUMBERS = np.array([-np.inf, -5.0, 0.0, 0.5, 1.0, 1.0 + 1e-15, evidence.LARGEST, np.inf, np.nan, 5e-324, -0.0])
BINS = np.array([0, 1, 1, 2, 2, 3, 3, 4, 5, 2, 1])


@each("bin", range(6))
def test_each_score_is_in_one_bin(bin: int) -> None:
    np.testing.assert_array_equal(Event(EDGES, np.arange(6) == bin).contains(NUMBERS), bin == BINS)


def uniform(shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


MARKED = {  # of a score u, with a coin of its own: what leaks, and scores that are marked and that are not
    "NaN": (lambda u: np.full_like(u, np.nan), [np.nan], [0.5]),
    "inf": (lambda u: np.full_like(u, np.inf), [np.inf], [0.5]),
    "-inf": (lambda u: np.full_like(u, -np.inf), [-np.inf], [0.5]),
    "an atom": (lambda u: np.full_like(u, 0.4), [0.4], [0.7]),
    "the largest": (lambda u: np.full_like(u, evidence.LARGEST), [evidence.LARGEST], [0.7]),
    "a middle": (lambda u: 0.4 + u / 1000, np.linspace(0.4, 0.401, 100), np.linspace(0.5, 0.9, 100)),
    "a tail": (lambda u: 9 + u, np.linspace(9.1, 10, 100), np.linspace(0.1, 0.9, 100)),
    "both tails": (lambda u: np.where(u < 0.5, -9 - u, 9 + u), [-9.3, 9.7], [0.3, 0.7]),
}


@each("swapped", [False, True])
@each("leak", MARKED)
def test_the_event_is_where_the_samples_differ(leak: str, swapped: bool) -> None:
    marked, inside, outside = MARKED[leak]
    u, coin = uniform(8000, 1), uniform(8000, 3) < 0.02
    samples = np.where(coin, marked(u), u), uniform(8000, 2)
    for choice in choose(samples[::-1] if swapped else samples, 1e-5, 24_000, 0.99):
        found, other = (choice.event.contains(np.array(scores)).mean() for scores in (inside, outside))
        assert abs(found - other) > 0.8
        assert (found > other) == (choice.swapped == swapped)


def test_order_on_one_half_is_tried_on_the_other() -> None:
    """Were it tried where it was estimated, hundreds of bins would differ by chance more than one does by law."""
    samples = uniform(10_000, 1), uniform(10_000, 2)
    for tried in evidence._candidates(samples)[:3]:
        advantage = (tried.hits - tried.others)[0] / 10_000
        assert np.abs(advantage).max() < 5 * np.sqrt(0.5 / 10_000)
        assert (tried.hits[:, -1] == [10_000, 10_000, 0, 0]).all()


# ---- Detection ----


def test_audits_find_what_they_should_and_not_half_of_it() -> None:
    mu, runs, shares = 3.0, 4000, []
    for share in (1.0, 0.25):
        spent = mu / (1 - share * detectable(mu, runs, 0.99))
        audits = [found(1 / spent, seed, runs, 0.99).mu for seed in range(25)]
        shares.append(np.mean([one > mu for one in audits]))
    assert shares[0] > 0.7
    assert shares[1] < 0.3


def test_the_table_of_the_docstring_is_what_is_computed() -> None:
    rows = re.findall(r"^([\d.]+) +(0\.\d+) +(0\.\d+) +(0\.\d+)$", detection.__doc__, flags=re.MULTILINE)
    assert len(rows) == 6
    for mu, *listed in rows:
        for runs, told in zip((10**4, 10**5, 10**6), listed):
            assert f"{detectable(float(mu), runs, 0.99):.3f}" == told


# ---- Advantage ----


@each("mu", [0.01, 1.0, 5.0])
def test_the_largest_advantage_is_the_total_variation(mu: float) -> None:
    x = np.linspace(-10, 10 + mu, 100_001)
    apart = np.abs(norm.pdf(x) - norm.pdf(x, mu)).sum() * (x[1] - x[0]) / 2
    assert largest_advantage(GaussianDP(mu)) == pytest.approx(apart, rel=1e-6)
    assert largest_advantage(GaussianDP(math.inf)) == 1


def test_scores_find_the_gaussian_s_advantage_and_no_other() -> None:
    rng = np.random.default_rng(0)
    told = of_scores(1.0 + rng.standard_normal(200_000), rng.standard_normal(200_000))
    assert abs(told.value - largest_advantage(GaussianDP(1.0))) < 4 * told.standard_error + 0.003
    assert abs(told.value - largest_advantage(GaussianDP(1.1))) > 4 * told.standard_error + 0.003
    assert told.releases == 100_000


def test_the_same_law_gives_no_advantage() -> None:
    rng = np.random.default_rng(1)
    found = [of_scores(*rng.standard_normal((2, 400))) for _ in range(200)]
    values = np.array([told.value for told in found])
    assert abs(values.mean()) < 4 * values.std() / math.sqrt(len(values))
    assert values.std() == pytest.approx(np.mean([told.standard_error for told in found]), rel=0.2)


def test_decisions_are_counted() -> None:
    told = of_decisions(np.array([True, True, False, True]), np.array([False, False, False, True]))
    assert (told.hits, told.false_alarms, told.value) == (0.75, 0.25, 0.5)
    assert of_decisions(np.ones(10, bool), np.zeros(10, bool)).standard_error == 0.1  # not 0
