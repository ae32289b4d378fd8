import math
from dataclasses import replace
from itertools import combinations

import dp_accounting
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from costofprivacy.noisyhead import quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import best_head, head_error
from costofprivacy.noisyhead.examples import Examples, examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.whitened_plan import Plan, plan
from costofprivacy.privacy import ApproximateDP, GaussianDP
from tests import oracles
from tests.costofprivacy.privacy.test_records import neighbours
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=12)
both = pytest.mark.parametrize("every_token", [False, True], ids=["last", "every"])
UNKNOWN = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))
ROUNDING = 1 + 1e-9


def drawn(N: int, L: int = 8, seed: int = 0) -> Prompts:
    return token_laws.sample(UNKNOWN, N, L, rng=np.random.default_rng(seed))


def told_for(prompts: Prompts, mu: float, *, every_token: bool, steps: int = 4) -> Plan:
    N, tokens, D = prompts.x.shape
    return plan(D, tokens - 1, N, GaussianDP(mu), every_token=every_token, steps=steps)


# ---------------------------------------------------------------------------------------------------- the algorithm


@both
@pytest.mark.parametrize("mu", [0.3, 30.0])
def test_it_is_what_its_text_says_on_the_same_noise(every_token: bool, mu: float) -> None:
    prompts = drawn(25)
    told = told_for(prompts, mu, every_token=every_token)
    noise = np.random.default_rng(1).standard_normal((2, 6, 3, 3))
    ours = whitened_descent.common(examples(prompts, every_token=every_token), told, noise)
    asked = [(x, oracles.examples(x, y, every_token)) for x, y in zip(prompts.x, prompts.y)]
    stds = [told.moment_std(told.feature_norm), told.moment_std(told.context_norm)]
    stds += [told.step_std(c) for c in told.clip_norms]
    norms = told.feature_norm, told.context_norm, list(told.clip_norms)
    for b in range(2):
        A, M, Gamma = oracles.whitened_descent(asked, *norms, list(told.gains), stds, noise[b])
        np.testing.assert_allclose(ours.features[b], A, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.contexts[b], M, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.Gamma[b], Gamma, rtol=1e-7, atol=1e-12)


def test_moments_are_released_symmetric_to_the_last_bit() -> None:
    """The noise is: what is not symmetric in a mean would be shown without any."""
    prompts = drawn(200)
    data, told = examples(prompts, every_token=True), told_for(prompts, 2.0, every_token=True)
    seen = whitened_descent.releases(data, told, 20, rng=np.random.default_rng(2))
    for shown in (seen.features, seen.contexts):
        np.testing.assert_array_equal(shown, shown.swapaxes(1, 2))


def test_the_noise_is_isotropic_where_matrices_are_symmetric_and_where_they_are_not() -> None:
    """Variance s² on the diagonal of a moment, s²/2 beside it, s² in each entry of a step; all independent."""
    void = Prompts(np.zeros((3, 4, 2)), np.zeros((3, 4)), np.zeros((3, 2)))
    told = told_for(void, 1.3, every_token=False, steps=1)
    seen = whitened_descent.releases(examples(void, every_token=False), told, 20_000, rng=np.random.default_rng(5))
    steps = seen.gradients[:, 0] / told.step_std(told.clip_norms[0])
    parts = [steps.reshape(-1, 4)]
    for shown, norm in ((seen.features, told.feature_norm), (seen.contexts, told.context_norm)):
        unit = shown / told.moment_std(norm)
        parts.append(np.column_stack([unit[:, 0, 0], unit[:, 1, 1], math.sqrt(2) * unit[:, 0, 1]]))
    coordinates = np.concatenate(parts, axis=1)
    np.testing.assert_allclose(coordinates.T @ coordinates / 20_000, np.eye(10), atol=0.05)


# ---------------------------------------------------------------------------------------------------- the guarantee


@both
@law
@given(pair=neighbours(), mu=st.sampled_from((0.5, 5.0)), seed=st.integers(0, 2**20))
def test_whatever_prompt_is_replaced_all_that_is_released_moves_by_at_most_mu(
    every_token: bool, pair: tuple[Prompts, Prompts], mu: float, seed: int
) -> None:
    """Σ ‖mean − mean'‖²/std² ≤ μ² along the transcript of one data set, in the noise's own metric."""
    told = told_for(pair[0], mu, every_token=every_token)
    first, second = (examples(prompts, every_token=every_token) for prompts in pair)
    seen = whitened_descent.releases(first, told, 2, rng=np.random.default_rng(seed))
    assert np.isfinite(seen.Gamma).all()
    assert (distance(told, first, second, seen) <= mu**2 * ROUNDING).all()


def distance(told: Plan, first: Examples, second: Examples, seen: whitened_descent.Transcript) -> np.ndarray:
    """The sum over the releases, with 1/std² taken apart from the plan: D(D + 1)/2 and D² coordinates."""
    one, two = (whitened_descent.means_along(data, told, seen) for data in (first, second))
    rows = np.triu_indices(first.query.shape[2])
    weight = np.where(rows[0] == rows[1], 1.0, 2.0)  # variances s² and s²/2
    moment = math.sqrt(2) / (told.N * told.budget.mu * math.sqrt(0.2))
    step = 2 / (told.N * told.budget.mu * math.sqrt(0.6 / len(told.gains)))
    total = np.zeros(len(seen.Gamma))
    for a, b, norm in (
        (one.features, two.features, told.feature_norm),
        (one.contexts, two.contexts, told.context_norm),
    ):
        total = total + (weight * (a - b)[:, rows[0], rows[1]] ** 2).sum(axis=1) / (moment * norm) ** 2
    for t, norm in enumerate(told.clip_norms):
        total = total + ((one.gradients - two.gradients)[:, t] ** 2).sum(axis=(1, 2)) / (step * norm) ** 2
    return total


def test_means_along_its_own_transcript_are_those_that_the_noise_was_added_to() -> None:
    prompts = drawn(30)
    data, told = examples(prompts, every_token=True), told_for(prompts, 2.0, every_token=True)
    noise = np.random.default_rng(1).standard_normal((2, 6, 3, 3))
    seen = whitened_descent.common(data, told, noise)
    means = whitened_descent.means_along(data, told, seen)
    for t, norm in enumerate(told.clip_norms):
        added = means.gradients[:, t] + told.step_std(norm) * noise[:, 2 + t]
        np.testing.assert_allclose(seen.gradients[:, t], added, rtol=1e-9)


# ------------------------------------------------------------------------------------------------------ the boundary


def test_the_profile_claims_what_is_spent() -> None:
    budget = ApproximateDP(1.0, 1e-5)
    told = plan(5, 31, 4000, budget.to_gaussian(), every_token=True)
    profile = whitened_descent.profile(told, budget)
    assert profile.every_iterate.epsilon(1e-5) == pytest.approx(1.0, rel=1e-6)
    assert profile.last_iterate == profile.every_iterate


@both
def test_many_releases_are_as_many_single_ones(every_token: bool) -> None:
    prompts = drawn(30)
    data, told = examples(prompts, every_token=every_token), told_for(prompts, 2.0, every_token=every_token)
    many = whitened_descent.releases(data, told, 3, rng=np.random.default_rng(2))
    rng = np.random.default_rng(2)
    single = [whitened_descent.release(data, told, rng=rng) for _ in range(3)]
    np.testing.assert_allclose(many.Gamma, single, rtol=1e-9)
    assert many.gradients.shape == (3, 4, 3, 3)


# ---- The plan ----


PAPER = plan(5, 31, 4000, GaussianDP(0.27), every_token=False)
EVERY = plan(5, 31, 4000, GaussianDP(0.27), every_token=True)
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
BOTH = pytest.mark.parametrize("told", [PAPER, EVERY], ids=["last", "every"])


def excess(told: Plan, gains: np.ndarray, uneven: float) -> float:
    """What is left of e = 1 after the steps of a plan, with other gains: the recursion with its quadratic written out.

    A step removes e − e', of which a share stays.
    """
    e = 1.0
    for norm, g in zip(told.clip_norms, gains):
        noise = (5 * told.step_std(norm)) ** 2
        e = (1 - uneven) * ((1 - g) ** 2 * e + g**2 * noise) + uneven * e
    return e


@BOTH
def test_the_gains_are_the_best_of_all(told: Plan) -> None:
    """Kalman's gains against a minimisation over all of them at once."""
    found = minimize(lambda g: excess(told, g, whitened_plan.UNEVEN), np.full(4, 0.5), method="L-BFGS-B", tol=1e-14)
    np.testing.assert_allclose(told.gains, found.x, rtol=1e-3)
    assert excess(told, np.array(told.gains), whitened_plan.UNEVEN) == pytest.approx(found.fun, rel=1e-7)


@BOTH
def test_clip_norms_follow_what_is_left(told: Plan) -> None:
    size = 5 if told is PAPER else math.sqrt(5)
    for t, norm in enumerate(told.clip_norms):
        left = excess(told, np.array(told.gains[:t]), whitened_plan.UNEVEN)
        q = size * math.sqrt(left + 6 / 37)
        found = minimize_scalar(lambda c: cost(told, q, math.exp(c)), bounds=(-5, 5), method="bounded").x  # noqa: B023
        assert norm == pytest.approx(math.exp(found), rel=1e-4)
        assert cost(told, q, norm) == pytest.approx(q**2 / (4000 * told.step_budget.mu), rel=1e-12)
    assert (np.diff(told.clip_norms) < 0).all()


def cost(told: Plan, q: float, c: float) -> float:
    """The bound on the squared bias of clipping at c, and the variance of the noise."""
    return (q**2 / (4 * 5 * c)) ** 2 + (5 * told.step_std(c)) ** 2


def test_a_larger_budget_is_never_worse() -> None:
    """On the same prompts and noise, beyond four standard errors of the difference."""
    rng, errors = np.random.default_rng(7), []
    for _ in range(2):
        law = token_laws.unknown(5, 10.0, rng=rng)
        data, _ = quadratic.drawn(law, 4000, 63, rng=rng)
        noise = rng.standard_normal((16, 6, 5, 5))
        plans = [plan(5, 63, 4000, ApproximateDP(e, 1e-5).to_gaussian(), every_token=True) for e in EPSILONS]
        errors.append([head_error(law, 63, whitened_descent.simulate(data, told, noise)) for told in plans])
    risk = np.concatenate(errors, axis=1)
    for less, more in combinations(risk, 2):
        grown = more - less
        assert grown.mean() <= 4 * grown.std(ddof=1) / math.sqrt(len(grown))
    assert risk[-1].mean() < 1.01 * float(head_error(law, 63, best_head(law, 63)))


@each(("told", "steps"), [(PAPER, 1), (EVERY, 7)])
def test_the_releases_spend_the_budget_and_no_more(told: Plan, steps: int) -> None:
    """By the squares, and by dp-accounting's composition of Gaussians with the noise multipliers std/sensitivity."""
    told = replace(told, clip_norms=told.clip_norms[:1] * steps, gains=told.gains[:1] * steps)
    moments = [(told.moment_std(c), math.sqrt(2) * c / told.N) for c in (told.feature_norm, told.context_norm)]
    every = moments + [(told.step_std(c), 2 * c / told.N) for c in told.clip_norms]
    assert sum((sensitivity / std) ** 2 for std, sensitivity in every) == pytest.approx(0.27**2, rel=1e-12)
    accountant = dp_accounting.pld.PLDAccountant()
    for std, sensitivity in every:
        accountant.compose(dp_accounting.GaussianDpEvent(std / sensitivity))
    assert accountant.get_epsilon(1e-5) == pytest.approx(GaussianDP(0.27).epsilon(1e-5), rel=1e-3)
