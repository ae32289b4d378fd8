"""Auditing by one run: its theorem by linear programming and enumeration, its bound on honest and lying mechanisms."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import comb
from scipy.stats import binom, norm

from costofprivacy.privacy import GaussianDP, GaussianMechanism
from costofprivacy.privacy.one_run import audit_one_run, guesses_of, one_run_lower_bound, p_value, placed
from tests.each import each

GRID = [
    (m, r, v, epsilon, delta)
    for m, r in ((1, 1), (2, 1), (9, 4), (30, 25))
    for v in sorted({1, (r + 1) // 2, r})
    for epsilon in (0.0, 2.0)
    for delta in (1e-5, 1e-3)
]


def most_right(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """The largest P(K ≥ v) of any (ε, δ)-DP mechanism, by linear programming over the laws of the number of errors.

    A mechanism may be averaged over flips of coins and orders of canaries, so its guesses may be taken to be the coins
    with errors of an exchangeable law. Each flip of one coin gives one constraint, with a slack for every pattern.
    """
    e, errors = math.exp(epsilon), np.arange(r + 1)
    weight = comb(r - 1, np.arange(r))
    less, more = weight / comb(r, np.arange(r)), weight / comb(r, np.arange(1, r + 1))
    A, size = [], r + 1 + 2 * r
    for j in range(r):
        for k, (left, right) in enumerate((((j, less[j]), (j + 1, more[j])), ((j + 1, more[j]), (j, less[j])))):
            row = np.zeros(size)
            row[left[0]], row[right[0]], row[r + 1 + 2 * j + k] = left[1], -e * right[1], -1.0
            A.append(row)
    total = np.append(np.zeros(r + 1), np.full(2 * r, r / m))
    cost = np.append(np.where(r - errors >= v, -1.0, 0.0), np.zeros(2 * r))
    ones = np.append(np.ones(r + 1), np.zeros(2 * r))[None]
    limits = np.append(np.zeros(2 * r), delta)
    found = linprog(cost, np.vstack([*A, total]), limits, ones, [1.0], method="highs")
    return float(-found.fun)


# the theorem


@each(("m", "r", "v", "epsilon", "delta"), GRID)
def test_the_p_value_is_the_largest_probability_that_any_mechanism_has(
    m: int, r: int, v: int, epsilon: float, delta: float
) -> None:
    assert p_value(v, r, m, epsilon, delta) == pytest.approx(most_right(m, r, v, epsilon, delta), abs=2e-7, rel=1e-6)


@each("r", [1, 5, 8])
@each("epsilon", [0.0, 2.0])
def test_without_delta_it_is_the_binomial_tail_by_enumeration(r: int, epsilon: float) -> None:
    q = 1 / (1 + math.exp(-epsilon))
    for v in range(r + 1):
        patterns = itertools.product((0, 1), repeat=r)
        tail = sum(q ** sum(p) * (1 - q) ** (r - sum(p)) for p in patterns if sum(p) >= v)
        assert p_value(v, r, 3 * r, epsilon, 0.0) == pytest.approx(tail, rel=1e-12)


def test_no_mechanism_on_three_coins_beats_it_by_enumeration() -> None:
    """Every pattern of three coins and every answer: a mechanism that fails openly with probability δ in each place."""
    epsilon, delta, m = 0.7, 0.02, 3
    q = 1 / (1 + math.exp(-epsilon))
    law = np.zeros(m + 1)
    for shown in itertools.product((0, 1), repeat=m):  # places that show their coins
        chance = np.prod([delta if s else 1 - delta for s in shown])
        for right in itertools.product((0, 1), repeat=m):
            answer = np.prod([float(r) if s else (q if r else 1 - q) for s, r in zip(shown, right)])
            law[sum(right)] += chance * answer
    for v in range(1, m + 1):
        assert binom.sf(v - 1, m, q) < law[v:].sum() <= p_value(v, m, m, epsilon, delta)


def test_limits() -> None:
    assert p_value(0, 5, 10, 1.0, 1e-5) == 1
    assert p_value(5, 5, 10, 700.0, 0.0) == pytest.approx(1)
    assert p_value(3, 5, 10, 0.0, 0.99) == 1
    assert p_value(1, 1000, 1000, 3.0, 1e-9) == 1
    assert 1e-3 <= p_value(2000, 2000, 2000, 0.0, 1e-3) < 1.1e-3  # as it was found: 0, as 2⁻²⁰⁰⁰ is in doubles


# the bound


@each("delta", [0.0, 1e-6, 1e-4])
@each("right", [60, 80, 100])
def test_the_bound_is_the_epsilon_at_which_the_count_is_just_refuted(delta: float, right: int) -> None:
    bound = one_run_lower_bound(right, 100, 200, delta=delta, confidence=0.95)
    if bound == 0:
        assert p_value(right, 100, 200, 0.0, delta) > 0.05
    else:
        assert p_value(right, 100, 200, bound, delta) == pytest.approx(0.05, rel=1e-6)


def response(epsilon: float, answers: int) -> float:
    """How often the bound for randomised response exceeds ε, exactly, over all counts; it rises with them."""
    q = 1 / (1 + math.exp(-epsilon))
    over = [
        k
        for k in range(answers + 1)
        if one_run_lower_bound(k, answers, answers, delta=0.0, confidence=0.9) > epsilon + 1e-9
    ]
    return float(binom.pmf(over, answers, q).sum())


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_randomised_response_is_wronged_no_more_often_than_the_confidence_allows(epsilon: float) -> None:
    assert 0.05 < response(epsilon, 200) <= 0.1


# mechanisms


def adding(mechanism: GaussianMechanism):  # type: ignore[no-untyped-def]
    """A sum of records of norm 1, each along a direction of its own, or its opposite; released once."""

    def scores(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        m = len(coins)
        total = placed(np.eye(m), -np.eye(m), coins).sum(axis=0)
        return mechanism.release(total, rng=rng)

    return scores


def test_an_honest_sum_is_acquitted_and_one_that_lies_is_convicted() -> None:
    """Opposite records are 2 apart; the liar calibrates to a tenth of that."""
    claim, delta = GaussianDP(1.0), 1e-5
    honest, lying = GaussianMechanism(2.0, 1 / claim.mu), GaussianMechanism(0.2, 1 / claim.mu)
    spent = claim.epsilon(delta)
    told = {"canaries": 1000, "guesses": 1000, "delta": delta, "confidence": 0.95}
    bounds = [
        audit_one_run(adding(one), **told, rng=np.random.default_rng(seed)).epsilon
        for seed in range(2)
        for one in (honest, lying)
    ]
    assert max(bounds[::2]) < spent
    assert min(bounds[1::2]) > spent


def test_the_number_of_right_guesses_has_the_law_of_the_mechanism() -> None:
    counts = [
        audit_one_run(
            adding(GaussianMechanism(2.0, 1.0)), 200, 200, delta=0.0, confidence=0.9, rng=np.random.default_rng(k)
        )
        for k in range(20)
    ]
    right = np.array([one.right for one in counts])
    assert right.mean() / 200 == pytest.approx(norm.cdf(0.5), abs=0.03)  # a coin is 1 from the midpoint, s = 2
    again = audit_one_run(
        adding(GaussianMechanism(2.0, 4.0)), 200, 200, delta=0.0, confidence=0.9, rng=np.random.default_rng(0)
    )
    assert again.right < right.min()


def test_guesses_are_the_signs_of_the_scores_farthest_from_0_and_a_score_that_is_no_number_is_0() -> None:
    scores = np.array([np.nan, 3.0, -np.inf, 1.0, np.inf, -0.5])
    assert guesses_of(scores, 2).tolist() == [0, 0, -1, 0, 1, 0]
    assert guesses_of(scores, 5).tolist() == [0, 1, -1, 1, 1, -1]
    assert guesses_of(scores, 6).tolist() == [1, 1, -1, 1, 1, -1]
    assert guesses_of(np.array([-1.0]), 1).tolist() == [-1]


def test_the_coins_of_an_audit_cannot_be_changed_by_what_it_audits() -> None:
    def cheat(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        coins[:] = True
        return np.ones(len(coins))

    found = audit_one_run(cheat, 1000, 1000, delta=0.0, confidence=0.95, rng=np.random.default_rng(3))
    assert 400 < found.right < 600


@each(
    ("told", "message"),
    [
        ({"right": 4}, "right must be between 0 and 3"),
        ({"right": 1.5}, "right"),
        ({"guesses": 11}, "guesses must be between 1 and 10"),
        ({"canaries": 0}, "canaries"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"delta": math.nan}, "delta"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_what_is_refused(told: dict[str, float], message: str) -> None:
    known = {"right": 2, "guesses": 3, "canaries": 10, "delta": 1e-5, "confidence": 0.9} | told
    with pytest.raises(ValueError, match=message):
        one_run_lower_bound(**known)  # type: ignore[arg-type]
