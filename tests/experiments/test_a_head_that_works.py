"""The chapter on a private head that works: its measurements against other code."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.a_head_that_works import (
    algorithm_one,
    curves,
    floor,
    ladder,
    literature,
    options,
    poison,
    tasks,
    theory,
)
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, METHODS, PRIVATE, Cell
from costofprivacy.experiments.noisyhead.a_head_that_works.experiment import Experiment
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import (
    BEST,
    ENDS,
    NO_DATA,
    ends,
    law_of,
    least_squares,
    name_of,
    settled,
)
from costofprivacy.experiments.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.noisyhead import accounts, covariance_head, head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import boosting
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.running.montecarlo import Runner
from costofprivacy.streams import Precision, generator

CELL = Cell(10.0, 300, 17, 3, (1.0, 8.0), 1e-5)
MILD = ApproximateDP(1e3, 1e-5)


@pytest.fixture(scope="module")
def seen() -> Seen:
    rng = np.random.default_rng(0)
    law = law_of(1.0, 3, rng=rng)
    return Seen(law, token_laws.sample(law, 400, 20, rng=rng), MILD)


def test_names_and_laws_go_together() -> None:
    rng = np.random.default_rng(0)
    assert [name_of(k) for k in (1.0, 10.0, 2.5)] == ["isotropic", "unknown-10", "unknown-2.5"]
    np.testing.assert_allclose(law_of(1.0, 4, rng=rng).covariance, np.eye(4) / 4)
    law = law_of(25.0, 4, rng=rng)
    assert np.linalg.cond(law.covariance) == pytest.approx(25)
    assert law.energy == pytest.approx(1)


def test_least_squares_is_numpy_s(seen: Seen) -> None:
    wanted = np.linalg.lstsq(seen.Z, seen.statistics.response)[0]
    np.testing.assert_allclose(least_squares(seen.statistics).reshape(-1), wanted, rtol=1e-6)


def test_the_best_end_is_below_all_others_and_isotropic_needs_no_data(seen: Seen) -> None:
    errors = dict(zip(ENDS, head_error(seen.law, 20, ends(seen.law, 20, seen.statistics)), strict=True))
    assert min(errors, key=lambda name: errors[name]) in (BEST, NO_DATA)
    assert errors[NO_DATA] == pytest.approx(errors[BEST])
    law = law_of(50.0, 3, rng=np.random.default_rng(1))
    errors = dict(zip(ENDS, head_error(law, 20, ends(law, 20, seen.statistics)), strict=True))
    assert errors[NO_DATA] > 1.2 * errors[BEST]


@pytest.mark.slow
def test_a_cell_does_not_depend_on_other_cells() -> None:
    other = Cell(1.0, 200, 14, 3, (1.0,), 1e-5)
    one, two = (curves.table(Runner(1), cells, 3, 5) for cells in ([CELL], [other, CELL]))
    pd.testing.assert_frame_equal(one, two[two["N"] == 300].reset_index(drop=True))
    assert len(one) == 2 * (len(ENDS) + len(METHODS))


@pytest.mark.slow
def test_more_budget_is_better_and_none_is_the_best_head_s_neighbour() -> None:
    cell = Cell(10.0, 1000, 31, 3, (0.1, 50.0), 1e-5)
    rows = curves.table(Runner(1), [cell], 3, 5).pivot(index="method", columns="epsilon", values="test_error")
    for method in (PRIVATE, COVARIANCE):
        assert rows.loc[method, 50.0] < rows.loc[method, 0.1]
        assert rows.loc[method, 50.0] < 1.25 * rows.loc[BEST, 50.0]


def test_descents_are_a_literal_loop(seen: Seen) -> None:
    T, c, eta = 6, 0.05, 4.0
    found = options.descents(seen, [(T, c, eta)], rng=np.random.default_rng(3))[:, 0].reshape(2, -1)
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
        (options.passes, (0, 10.0, 8.0), 0.8),
        (options.unclipped, (3.5, 0.9, 10.0, 640, 10.0), 0.4),
        (literature.ridges, (3.5, 0.9, 0.03), 0.9),
        (literature.sufficient, (0.9, 3.0), 0.4),
        (literature.boosted, (0.9, 0.1, 40), 0.4),
        (literature.perturbed, (0.9, 0.3, 0.5), 0.4),
    ],
)
def test_with_next_to_no_noise_the_other_rungs_learn(
    seen: Seen, heads: ladder.Heads, option: tuple, most: float
) -> None:
    found = heads(seen, [option, option], rng=np.random.default_rng(0))
    assert found.shape == (2, 3, 3)
    assert head_error(seen.law, 20, found).max() < most


def test_each_mend_of_algorithm_one_does_what_it_says(seen: Seen) -> None:
    printed, radius, tuned = algorithm_one._printed(seen), algorithm_one._radius(seen), algorithm_one._tuned(seen)
    penalty, steps = algorithm_one._penalty(seen), algorithm_one._steps(seen)
    assert penalty.penalty < radius.penalty
    assert steps.penalty == penalty.penalty
    for name in ("clip_norm", "feature_bound", "learning_rate"):
        assert getattr(penalty, name) == getattr(steps, name) == getattr(radius, name)
    assert penalty.steps == radius.steps
    assert radius.weight_bound < printed.weight_bound
    assert (radius.penalty, radius.steps, radius.clip_norm) == (printed.penalty, printed.steps, printed.clip_norm)
    stds = [accounts.noise_std(a, radius, MILD, seen.N, radius.steps) for a in accounts.ACCOUNTS]
    assert stds[0] > stds[1] > stds[2]
    assert tuned.penalty < radius.penalty
    start = algorithm_one.started(seen, rng=np.random.default_rng(0))
    assert not np.array_equal(start, algorithm_one.tuned(seen, rng=np.random.default_rng(0)))


def test_a_rung_takes_what_public_prompts_say(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: (heads, grid[:: max(1, len(grid) // 3)]) for name, (heads, grid) in ladder.CHOSEN.items()}
    monkeypatch.setattr(ladder, "CHOSEN", few)
    case = ladder.Steps(Cell(1.0, 200, 14, 2, (2.0,), 1e-5))
    (chosen,) = ladder.chosen(Runner(1), [case], 2, 7)
    grids = [ladder._grid(name) for name in ladder.SEARCHED]
    assert all(option in grid for option, grid in zip(chosen.chosen, grids, strict=True))
    public = ladder.public_trial(case, rng=np.random.default_rng(0))
    assert len(public) == sum(len(grid) for grid in grids)
    samples = np.stack([ladder.public_trial(case, rng=generator(7, public_key(case), k)) for k in range(2)]).mean(
        axis=0
    )
    parts = np.split(samples, np.cumsum([len(grid) for grid in grids])[:-1])
    assert chosen.chosen == tuple(grid[int(part.argmin())] for grid, part in zip(grids, parts, strict=True))


def public_key(case: ladder.Steps) -> int:
    return replace(case, cell=replace(case.cell, stream=ladder.PUBLIC_STREAM)).key


def test_a_descent_within_bounds_is_a_literal_loop(seen: Seen) -> None:
    C, G, R, T, eta = 1.5, 0.4, 2.0, 7, 3.0
    found = options.unclipped(seen, [(C, G, R, T, eta)], rng=np.random.default_rng(3))[0].reshape(-1)
    rng, Gamma = np.random.default_rng(3), np.zeros(9)
    std = 2 * G * (C + R * G) * math.sqrt(T) / (seen.N * seen.mu.mu)
    y = np.clip(seen.statistics.response, -C, C)
    Z = head.project(head.statistics(seen.prompts, C), G).Z.reshape(seen.N, -1)
    assert np.linalg.norm(Z, axis=1).max() <= G * (1 + 1e-12)
    for _ in range(T):
        Gamma = Gamma + eta * ((y - Z @ Gamma) @ Z / seen.N + std * rng.standard_normal(9))
        Gamma = Gamma * min(1.0, R / np.linalg.norm(Gamma))
    np.testing.assert_allclose(found, Gamma, rtol=1e-9)


def test_a_descent_within_bounds_pays_for_the_prompt_that_moves_it_most(seen: Seen) -> None:
    """The sensitivity that its noise is scaled to is attained: y = ±C, Z along Γ of norm R, opposite to it."""
    C, G, R = 1.5, 0.4, 2.0
    Z, Gamma = G * np.eye(9)[0], -R * np.eye(9)[0]
    pull, other = ((y - z @ Gamma) * z for y, z in ((C, Z), (-C, -Z)))
    assert np.linalg.norm(pull) == pytest.approx(G * (C + R * G))
    assert np.linalg.norm(pull - -pull) == pytest.approx(2 * G * (C + R * G))
    assert np.linalg.norm(pull - other) <= 2 * G * (C + R * G) * (1 + 1e-12)


def test_tukey_s_answer_is_0_where_there_are_too_few_parts(seen: Seen) -> None:
    found = literature.deep(seen, [(1.0,), (9.0,)], rng=np.random.default_rng(0))
    assert found.shape == (2, 3, 3)
    assert not found[1].any()
    assert found[0].any()


def test_an_edge_is_one_of_any_axis_that_has_an_inside() -> None:
    inside = (320, 0.01, options.DISTANCES[2] / (0.01 * 320))
    assert not ladder.at_edge(ladder.CLIPPED, inside)
    assert ladder.at_edge(ladder.CLIPPED, (320, 0.01, options.DISTANCES[0] / (0.01 * 320)))
    assert ladder.at_edge(ladder.AVERAGED, (1280, 0.01, options.DISTANCES[2] / (0.01 * 1280)))
    assert not ladder.at_edge(ladder.ONE_PASS, (1, 0.03, 300.0))
    assert ladder.at_edge(ladder.ONE_PASS, (1, 0.03, 2000.0))
    assert not ladder.at_edge(ladder.DEEP, (1.0,))


def test_each_change_is_made_to_a_rung_that_stands_before_it() -> None:
    places = {name: k for k, name in enumerate(ladder.RUNGS)}
    assert all(places[before] < places[name] for name, before in ladder.BEFORE.items())
    assert ladder.BEFORE[ladder.CLIPPED] == ladder.UNCLIPPED


def test_what_does_not_depend_on_the_trial_has_no_error() -> None:
    same = np.full((5, 2), 0.23316742176307548) * (1 + 1e-15 * np.arange(5)[:, None])
    assert (settled(same)[1] == 0).all()
    assert (settled(np.arange(10.0).reshape(5, 2))[1] > 0).all()


def test_without_noise_or_clipping_the_head_is_nearer_to_the_best() -> None:
    rows = floor.table(Runner(1), [Cell(10.0, 600, 24, 3, (0.5,), 1e-5)], 4, 3)
    wide = rows.pivot(index="method", columns="way", values="test_error")
    assert set(wide.index) == {PRIVATE, LAST_TOKEN}
    assert (wide[floor.QUIET] < wide[floor.NOISY]).all()
    assert (wide[floor.FREE] > rows["best"].iloc[0]).all()
    assert (rows["non_private"] > rows["best"]).all()


@pytest.mark.parametrize("features", theory.KINDS)
def test_a_closed_form_has_its_minimum_at_the_best_head(features: str) -> None:
    condition = 1.0 if features == theory.SPHERE else 20.0
    case = theory.Case(features, condition, 4, 9, 0.0, 10)
    assert case.exact[0] == pytest.approx(case.least)
    assert (case.exact[1:] >= case.least - 1e-12).all()


def test_shortened_features_have_the_moments_that_the_quadrature_says() -> None:
    case = theory.Case(theory.SHORTENED, 30.0, 4, 3, 0.0, 100_000)
    x = theory.drawn(case, rng=np.random.default_rng(0)).x.reshape(-1, 4)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0)
    wanted = np.diag(case.law.covariance)
    assert wanted.sum() == pytest.approx(1)
    assert (np.abs((x**2).mean(axis=0) - wanted) < 5 * (x**2).std(axis=0) / math.sqrt(len(x))).all()


def test_the_moment_of_contexts_on_the_sphere_is_that_of_prompts() -> None:
    rng, L, D = np.random.default_rng(4), 6, 3
    law, weights = token_laws.sphere(D), np.array([0.3, 1.0, 4.0])
    plain = token_laws.sample(law, 200_000, L, rng=rng)
    w = plain.w * np.sqrt(weights)
    y = np.matmul(plain.x, w[:, :, None])[:, :, 0]
    m = np.einsum("nl,nld->nd", y[:, :L], plain.x[:, :L]) / L
    wanted = tasks.context_moment(law, np.diag(weights), L)
    products = m[:, :, None] * m[:, None, :]
    error = products.std(axis=0) / math.sqrt(len(m))
    assert (np.abs(products.mean(axis=0) - wanted) < 5 * error).all()
    gaussian = tasks.context_moment(token_laws.gaussian(law.covariance), np.diag(weights), L)
    assert not (np.abs(products.mean(axis=0) - gaussian) < 5 * error).all()


def test_the_error_for_skewed_tasks_is_that_of_prompts() -> None:
    rng, L = np.random.default_rng(2), 12
    values, weights = token_laws.eigenvalues(3, 10.0), np.array([0.2, 1.0, 3.0])
    law, W = token_laws.gaussian(np.diag(values)), np.diag(weights)
    plain = token_laws.sample(law, 200_000, L, rng=rng)
    w = plain.w * np.sqrt(weights)
    prompts = Prompts(plain.x, np.matmul(plain.x, w[:, :, None])[:, :, 0], w)
    Gamma = tasks.best_for(law, W, L)
    raw = head.statistics(prompts)
    square = (raw.response - head.predict(Gamma, raw)) ** 2
    assert abs(tasks.error_for(law, W, L, Gamma) - square.mean()) < 4 * square.std() / math.sqrt(len(square))
    for bump in rng.standard_normal((5, 3, 3)):
        assert tasks.error_for(law, W, L, Gamma + 0.05 * bump) > tasks.error_for(law, W, L, Gamma)


def test_isotropic_tasks_are_the_special_case() -> None:
    law = token_laws.gaussian(np.diag(token_laws.eigenvalues(4, 30.0)))
    Gamma = np.random.default_rng(0).standard_normal((4, 4))
    assert tasks.error_for(law, np.eye(4), 9, Gamma) == pytest.approx(float(head_error(law, 9, Gamma)))


@pytest.mark.parametrize("kind", poison.KINDS)
def test_a_poison_replaces_one_prompt(seen: Seen, kind: str) -> None:
    dirty = poison.poisoned(seen.prompts, seen.law, kind, 10.0)
    changed = (dirty.x != seen.prompts.x).any(axis=(1, 2)) | (dirty.y != seen.prompts.y).any(axis=1)
    assert changed.tolist() == [True] + [False] * (seen.N - 1)


def test_one_prompt_moves_the_head_less_than_the_bound_and_least_squares_far() -> None:
    cell = Cell(10.0, 200, 14, 3, (2.0,), 1e-5)
    table = poison.table(Runner(1), [cell], (1000.0,), 4, 3)
    assert (table["shift_over_noise"] < table["mu"]).all()
    assert table["plain_poisoned"].max() > 3 * table["plain_clean"].max()
    assert (table["change"].abs() < 0.5 * table["clean"]).all()


def test_an_experiment_has_a_private_head_for_each_cell() -> None:
    asked = Experiment(condition=(1.0, 10.0), N=(50, 100), epsilon=(1.0,), trials=2)
    cells = [asked.cell(k, n, asked.epsilon) for k in asked.condition for n in asked.N]
    assert len({cell.key for cell in cells}) == 4
    assert [cell.L for cell in cells] == [7, 10, 7, 10]
    assert asked.ill == (10.0,)
    assert Experiment(condition=(1.0,)).ill == (1.0,)


def test_boosted_rounds_side_by_side_are_the_rival_s(seen: Seen) -> None:
    grid = [(0.4, 0.05, 7), (0.9, 0.1, 3), (0.4, 0.2, 12)]
    found = literature.boosted(seen, grid, rng=np.random.default_rng(3))
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
    np.testing.assert_allclose(curves.trial(CELL, rng=np.random.default_rng(2)), wanted, rtol=1e-8)


@pytest.mark.slow
def test_a_cell_has_the_trials_that_its_precision_needs() -> None:
    told = {"condition": (10.0,), "N": (60, 4000), "D": 2, "epsilon": (1.0,)}
    asked = Experiment(**told, trials=60, precision=0.02)
    cells = [asked.cell(10.0, n, asked.epsilon) for n in asked.N]
    table = curves.table(Runner(1), cells, Precision(asked.precision, asked.trials), 3)
    trials = table.groupby("N")["trials"].first()
    assert trials[60] == 60
    assert trials[4000] == 25
    assert (table["standard_error"][table["N"] == 4000] < 0.02 * table["test_error"][table["N"] == 4000]).all()
