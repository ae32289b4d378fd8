import math

import numpy as np
import pytest

from chapters.noisyhead.a_head_that_works import audit, measure, methods
from chapters.noisyhead.a_head_that_works.measure import Cell, ends, law_of
from chapters.noisyhead.a_head_that_works.methods import Seen
from companion.running.montecarlo import Runner
from costofprivacy.noisyhead import covariance_head, head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import boosting
from costofprivacy.rivals.bounds import Bounds

CELL = Cell(10.0, 300, 17, 3, (1.0, 8.0), 1e-5)
MILD = ApproximateDP(1e3, 1e-5)


@pytest.fixture(scope="module")
def seen() -> Seen:
    rng = np.random.default_rng(0)
    law = law_of(1.0, 3, rng=rng)
    return Seen(law, token_laws.sample(law, 400, 20, rng=rng), MILD)


def test_descents_are_a_literal_loop(seen: Seen) -> None:
    T, c, eta = 6, 0.05, 4.0
    found = methods.descents(seen, [(T, c, eta)], rng=np.random.default_rng(3))[:, 0].reshape(2, -1)
    rng, Gamma, path = np.random.default_rng(3), np.zeros(9), []
    std = 2 * c * math.sqrt(T) / (seen.N * seen.mu.mu)
    for _ in range(T):
        total = np.zeros(9)
        for z, y in zip(seen.Z, seen.statistics.response, strict=True):
            gradient = (y - Gamma @ z) * z
            total += gradient * min(1.0, c / np.linalg.norm(gradient))
        Gamma = Gamma + eta * (total / seen.N + std * rng.standard_normal(9))
        path.append(Gamma)
    np.testing.assert_allclose(found, [path[-1], np.mean(path[T // 2 :], axis=0)], rtol=1e-9)


@pytest.mark.parametrize(
    ("heads", "option", "most"),
    [
        (methods.passes, (0, 10.0, 8.0), 0.8),
        (methods.unclipped, (3.5, 0.9, 10.0, 640, 10.0), 0.4),
        (methods.ridges, (3.5, 0.9, 0.03), 0.9),
        (methods.sufficient, (0.9, 3.0), 0.4),
        (methods.boosted, (0.9, 0.1, 40), 0.4),
        (methods.perturbed, (0.9, 0.3, 0.5), 0.4),
    ],
)
def test_with_next_to_no_noise_the_other_rungs_learn(
    seen: Seen, heads: measure.Heads, option: tuple, most: float
) -> None:
    found = heads(seen, [option, option], rng=np.random.default_rng(0))
    assert found.shape == (2, 3, 3)
    assert head_error(seen.law, 20, found).max() < most


def test_a_descent_within_bounds_is_a_literal_loop(seen: Seen) -> None:
    C, G, R, T, eta = 1.5, 0.4, 2.0, 7, 3.0
    found = methods.unclipped(seen, [(C, G, R, T, eta)], rng=np.random.default_rng(3))[0].reshape(-1)
    rng, Gamma = np.random.default_rng(3), np.zeros(9)
    std = 2 * G * (C + R * G) * math.sqrt(T) / (seen.N * seen.mu.mu)
    y = np.clip(seen.statistics.response, -C, C)
    Z = head.project(head.statistics(seen.prompts, C), G).Z.reshape(seen.N, -1)
    assert np.linalg.norm(Z, axis=1).max() <= G * (1 + 1e-12)
    for _ in range(T):
        Gamma = Gamma + eta * ((y - Z @ Gamma) @ Z / seen.N + std * rng.standard_normal(9))
        Gamma = Gamma * min(1.0, R / np.linalg.norm(Gamma))
    np.testing.assert_allclose(found, Gamma, rtol=1e-9)


def test_an_edge_is_one_of_any_axis_that_has_an_inside() -> None:
    inside = (320, 0.01, methods.DISTANCES[2] / (0.01 * 320))
    assert not measure.at_edge(measure.CLIPPED, inside)
    assert measure.at_edge(measure.CLIPPED, (320, 0.01, methods.DISTANCES[0] / (0.01 * 320)))
    assert measure.at_edge(measure.AVERAGED, (1280, 0.01, methods.DISTANCES[2] / (0.01 * 1280)))
    assert not measure.at_edge(measure.ONE_PASS, (1, 0.03, 300.0))
    assert measure.at_edge(measure.ONE_PASS, (1, 0.03, 2000.0))
    assert not measure.at_edge(measure.DEEP, (1.0,))


def test_the_moment_of_contexts_on_the_sphere_is_that_of_prompts() -> None:
    rng, L, D = np.random.default_rng(4), 6, 3
    law, weights = token_laws.sphere(D), np.array([0.3, 1.0, 4.0])
    plain = token_laws.sample(law, 200_000, L, rng=rng)
    w = plain.w * np.sqrt(weights)
    y = np.matmul(plain.x, w[:, :, None])[:, :, 0]
    m = np.einsum("nl,nld->nd", y[:, :L], plain.x[:, :L]) / L
    wanted = measure.context_moment(law, np.diag(weights), L)
    products = m[:, :, None] * m[:, None, :]
    error = products.std(axis=0) / math.sqrt(len(m))
    assert (np.abs(products.mean(axis=0) - wanted) < 5 * error).all()
    gaussian = measure.context_moment(token_laws.gaussian(law.covariance), np.diag(weights), L)
    assert not (np.abs(products.mean(axis=0) - gaussian) < 5 * error).all()


def test_the_error_for_skewed_tasks_is_that_of_prompts() -> None:
    rng, L = np.random.default_rng(2), 12
    values, weights = token_laws.eigenvalues(3, 10.0), np.array([0.2, 1.0, 3.0])
    law, W = token_laws.gaussian(np.diag(values)), np.diag(weights)
    plain = token_laws.sample(law, 200_000, L, rng=rng)
    w = plain.w * np.sqrt(weights)
    prompts = Prompts(plain.x, np.matmul(plain.x, w[:, :, None])[:, :, 0], w)
    Gamma = measure.best_for(law, W, L)
    raw = head.statistics(prompts)
    square = (raw.response - head.predict(Gamma, raw)) ** 2
    assert abs(measure.error_for(law, W, L, Gamma) - square.mean()) < 4 * square.std() / math.sqrt(len(square))
    for bump in rng.standard_normal((5, 3, 3)):
        assert measure.error_for(law, W, L, Gamma + 0.05 * bump) > measure.error_for(law, W, L, Gamma)


def test_one_prompt_moves_the_head_less_than_the_bound_and_least_squares_far() -> None:
    cell = Cell(10.0, 200, 14, 3, (2.0,), 1e-5)
    table = measure.poison_table(Runner(1), [cell], (1000.0,), 4, 3)
    assert (table["shift_over_noise"] < table["mu"]).all()
    assert table["plain_poisoned"].max() > 3 * table["plain_clean"].max()
    assert (table["change"].abs() < 0.5 * table["clean"]).all()


def test_boosted_rounds_side_by_side_are_the_rival_s(seen: Seen) -> None:
    grid = [(0.4, 0.05, 7), (0.9, 0.1, 3), (0.4, 0.2, 12)]
    found = methods.boosted(seen, grid, rng=np.random.default_rng(3))
    rng = np.random.default_rng(3)
    for one, (features, clip_norm, rounds) in zip(found, grid, strict=True):
        bounds, y = Bounds(features, 1.0), seen.statistics.response
        wanted = boosting.release(bounds.clip(seen.Z, y)[0], y, bounds, clip_norm, rounds, seen.mu, rng=rng)
        np.testing.assert_allclose(one.reshape(-1), wanted, rtol=1e-8, atol=1e-10 * np.abs(wanted).max())


def test_a_trial_is_that_of_prompts_that_are_kept() -> None:
    """The same draws: prompts in memory, examples, and the private releases themselves."""
    rng = np.random.default_rng(2)
    law = law_of(CELL.condition, CELL.D, rng=rng)
    prompts = token_laws.sample(law, CELL.N, CELL.L, rng=rng)
    heads, moment = list(ends(law, CELL.L, head.statistics(prompts))), covariance_head.token_moment(prompts.x)
    for budget in CELL.budgets:
        told = whitened_plan.plan(CELL.D, CELL.L, CELL.N, budget, every_token=True)
        heads.append(whitened_descent.release(examples(prompts, every_token=True), told, rng=rng))
        heads.append(covariance_head.release(moment, CELL.N, CELL.L, budget, law.spread, rng=rng))
    wanted = head_error(law, CELL.L, np.stack(heads))
    np.testing.assert_allclose(measure.trial(CELL, rng=np.random.default_rng(2)), wanted, rtol=1e-8)


# ---- Audits ----

PLANS = {every: plan(audit.D, audit.L, audit.N, GaussianDP(1.5), every_token=every) for every in (False, True)}
TOLD = PLANS[False]
KINDS = [(every, name) for every in PLANS for name in audit.pairs(every_token=every)]
RELEASES = 6_000


@pytest.mark.slow
def test_the_table_acquits_the_head_and_finds_each_fault() -> None:
    table = audit.table(1.5, 0.2, RELEASES, rng=np.random.default_rng(1)).set_index(["fault", "every_token", "pair"])
    exact = GaussianDP(1.5).epsilon(0.2)
    assert (table["exact_epsilon"] == exact).all()
    assert (table["releases"] == RELEASES).all()
    assert list(table.index.unique("fault")) == list(audit.FAULTS)
    assert set(table.index.unique("every_token")) == {True, False}
    found = table["found_epsilon"].unstack([1, 2])
    assert ((found.loc[audit.NONE] > 0.3 * exact) & (found.loc[audit.NONE] < exact)).all()
    by_mu = table["found_mu"].unstack([1, 2])
    assert ((by_mu.loc[audit.NONE] > 0.5 * 1.5) & (by_mu.loc[audit.NONE] < 1.5)).all()
    assert (by_mu[False].loc[list(audit.FAULTS)[1:]].max(axis=1) > 1.5).all()
    assert (table["least_deficit"] < 0.15).all()
    for every in (True, False):
        assert (found[every].loc[list(audit.FAULTS)[1:]].max(axis=1) > exact).all()


@pytest.mark.parametrize("fault", audit.FAULTS)
def test_a_faulty_plan_is_the_right_one_but_for_its_fault(fault: str) -> None:
    noise, slack = audit.FAULTS[fault]
    wrong = audit.faulty(TOLD, fault)
    assert (wrong.gains, wrong.N, wrong.budget) == (TOLD.gains, TOLD.N, TOLD.budget)
    for ours, right in zip((*wrong.clip_norms, wrong.context_norm), (*TOLD.clip_norms, TOLD.context_norm)):
        assert ours == slack * right
        assert wrong.step_std(ours) == pytest.approx(noise * TOLD.step_std(right), rel=1e-12)
        assert wrong.moment_std(ours) == pytest.approx(noise * TOLD.moment_std(right), rel=1e-12)


def test_the_score_is_the_log_likelihood_ratio() -> None:
    """Its law where the means are constants apart: normal with mean ±s/2 and variance s, s the sum that is spent."""
    first, second = audit.pairs(every_token=False)["response"]
    ratios = []
    for data, sign in ((first, 1), (second, -1)):
        seen = whitened_descent.releases(data, TOLD, 4000, rng=np.random.default_rng(0))
        spent = audit.spent(TOLD, (first, second), seen)
        assert spent.std() < 1e-6
        ratio = audit.log_ratio(TOLD, (first, second), seen)
        assert ratio.mean() == pytest.approx(sign * spent.mean() / 2, abs=5 * math.sqrt(spent.mean() / 4000))
        assert ratio.var() == pytest.approx(spent.mean(), rel=0.1)
        ratios.append(ratio)
    assert np.exp(-ratios[0]).mean() == pytest.approx(1.0, abs=0.1)  # of a likelihood ratio, and of no other score


@pytest.mark.parametrize(("every", "name"), KINDS)
def test_a_pair_comes_near_to_the_sensitivity_and_never_beyond(every: bool, name: str) -> None:
    """It is worth auditing on, and the proof's sum over the releases is a bound."""
    pair = audit.pairs(every_token=every)[name]
    seen = whitened_descent.releases(pair[0], PLANS[every], 500, rng=np.random.default_rng(0))
    spent = audit.spent(PLANS[every], pair, seen) / 1.5**2
    assert spent.max() <= 1 + 1e-9
    assert spent.mean() > 0.5
