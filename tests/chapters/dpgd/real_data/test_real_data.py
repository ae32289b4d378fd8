"""The machinery behind the chapter on real data, on made-up rows, and on the data itself where it is there."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from chapters.dpgd.real_data import judge, measure, show
from chapters.dpgd.real_data.measure import Population, Problem
from companion.chapters import LONGEST_ANSWER
from companion.judging.findings import word_count
from companion.running.montecarlo import Runner, generator
from costofprivacy import datasets
from costofprivacy.datasets import DIABETES, DIGITS, HOUSING, MNIST, Regression
from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd.schedule import Constant, Polynomial, learning_rates, noise_multipliers
from tests.chapters.machinery import committed
from tests.chapters.reading import opening_of
from tests.oracles import dpgd

ROWS = 900
COMMITTED = committed("dpgd/real-data")


def made_up(name: str, d: int, rows: int = ROWS) -> Regression:
    """Gaussian rows with a constant column, a rare one, and a heavy one."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((rows, d)) * np.linspace(0.5, 2, d)
    X[:, 0] = 4.0
    X[:, 1] = rng.standard_t(1.5, rows)
    return Regression(name, X, X[:, 2:] @ rng.standard_normal(d - 2) + rng.standard_normal(rows))


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Regression]]:
    """Made-up rows under the names of the paper's data sets."""
    sets = {MNIST: made_up(MNIST, 8), HOUSING: made_up(HOUSING, 5)}
    measure.loaded.cache_clear()
    monkeypatch.setattr(datasets, "regression", lambda name, **_: sets[name])
    yield sets
    measure.loaded.cache_clear()


def literal(cell: Problem, alpha: float, rate: float, clip: float, rho: float, rng: np.random.Generator) -> float:
    """𝒫 of one place, by a split and a run that share no code with the chapter's."""
    rows, noise = rng.spawn(2)
    X, y = (getattr(measure.loaded(cell.asked), name) for name in ("X", "y"))
    order = rows.permutation(len(y))
    basis, train, test = np.split(order, [cell.normalisation, cell.normalisation + cell.n])
    with np.errstate(invalid="ignore", divide="ignore"):
        Z = (X - X[basis].mean(axis=0)) / X[basis].std(axis=0)
    Z[:, (X[basis] == X[basis][0]).all(axis=0)] = 0
    Z, z = np.clip(Z, -cell.limit, cell.limit), (y - y[basis].mean()) / y[basis].std()
    plan = Polynomial(rate, alpha) if alpha else Constant(rate)
    eta = learning_rates(plan, cell.n)
    b = noise.standard_normal((cell.n, X.shape[1]))
    theta = dpgd(Z[train], z[train], eta, clip * math.sqrt(X.shape[1]), noise_multipliers(eta, rho), b)[-1]
    return float(((Z[test] @ theta - z[test]) ** 2).mean() / 2)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("limit", [math.inf, 2.0])
def test_every_place_of_a_map_is_algorithm_1_on_the_records(data: dict, alpha: float, limit: float) -> None:
    cell = measure.Map(Problem(MNIST, MNIST, 150, 100, limit), alpha, 0.5, 5)
    other = dataclasses.replace(cell, problem=dataclasses.replace(cell.problem, n=90))
    found = measure.trial(measure.Together((other, cell)), rng=generator(0, 0, 0))[1]
    assert len(found) == len(cell.places) == 25
    for k in (3, 12, 21):
        clip, rate = cell.places[k]
        known = literal(cell.problem, alpha, rate, clip, 0.5, generator(0, 0, 0))
        assert found[k] == pytest.approx(known, rel=1e-9)


def test_the_population_has_the_least_squares_fit(data: dict) -> None:
    split, _ = Problem(HOUSING, HOUSING, 200, 100).split(generator(1, 1, 0))
    law = measure.population(split)
    X, y = np.vstack([split.X, split.test_X]), np.concatenate([split.y, split.test_y])
    theta = np.linalg.lstsq(X, y)[0]
    assert law.floor == pytest.approx(((X @ theta - y) ** 2).mean() / 2)
    assert np.linalg.norm(law.target) == pytest.approx(np.linalg.norm(theta))
    assert len(law.eigenvalues) == 4
    assert law.trace == pytest.approx((X**2).sum(axis=1).mean())
    excess = law.system(200, law.d).initial_risk
    assert excess + law.floor == pytest.approx((y**2).mean() / 2)


def test_records_of_another_length_are_a_change_of_scale() -> None:
    """With Σ = sI the step is that of Σ = I with sη̃ and c/√s; the equations with ‖x‖² = sd have to agree."""
    d, n, s = 10, 100, 4.0
    law = Population(np.full(d, s), np.full(d, 0.2), 0.05, s * d, d)
    shorter = math.sqrt(1 / s)
    for rate, clip in ((0.5, 0.3), (8.0, 3.0), (2.0, 0.01)):
        ours = equivalent.final_risk(law.system(n, law.typical), Constant(rate), clip * shorter, 0.7 * shorter)
        plain = system.isotropic(s * d * 0.04 / 2, d / n, math.sqrt(0.1))
        assert ours == pytest.approx(equivalent.final_risk(plain, Constant(s * rate), clip * shorter, 0.7), rel=1e-5)


def test_equations_are_solved_in_each_place(data: dict) -> None:
    cell = measure.Map(Problem(HOUSING, HOUSING, 100, 100), 0.5, 0.5, 4)
    found = measure.solve(measure.Together((cell,)), rng=generator(0, 1, 0))[0]
    law = measure.population(cell.problem.split(generator(0, 1, 0))[0])
    clip, rate = cell.places[6]
    known = equivalent.final_risk(law.system(100, law.d), Polynomial(rate, 0.5), clip, 0.5, 1e-3) + law.floor
    assert found.shape == (2, 16)
    assert found[0, 6] == pytest.approx(known, rel=1e-9)


def test_hyper_parameters_are_told_by_the_other_half() -> None:
    values = np.array([[1.0, 5.0], [9.0, 2.0], [1.5, 6.0], [8.0, 3.0]])
    np.testing.assert_array_equal(measure.cross_fitted(values), [5.0, 9.0, 6.0, 8.0])


def test_kept_seeds_are_those_below_the_cap_at_the_safe_place(data: dict) -> None:
    cell = measure.Map(Problem(HOUSING, HOUSING, 100, 100), 0.0, 0.5, 4)
    limited, raw = np.full((3, 16), 0.5), np.full((3, 16), 0.1)
    limited[:, 6], raw[:, 6], raw[2, 7] = 0.2, (0.3, 0.7, 0.5), 9.0
    table = measure.kept({cell: raw}, {cell: limited})
    assert sorted(table["seed"].unique()) == [0, 2]
    assert list(table.columns) == measure.COLUMNS


def test_seeds_are_measured_with_and_without_a_limit(data: dict) -> None:
    cell = measure.Many(Problem(HOUSING, HOUSING, 200, 100), 0.1, 0.5)
    found = measure.seeds_trial(cell, rng=generator(2, 1, 0))
    measures = dict(zip(measure.MEASURES, found.T))
    limited = dataclasses.replace(cell.problem, limit=measure.LIMIT)
    for k, rate in enumerate(measure.RATES):
        for name, one in (("risk", cell.problem), ("limited", limited)):
            known = literal(one, 0.0, rate, 0.1, 0.5, generator(2, 1, 0))
            assert measures[name][k] == pytest.approx(known, rel=1e-9)
    assert (measures["without_worst"] < measures["risk"]).all()
    assert (measures["typical"] < measures["risk"]).all()


def test_stand_ins_are_named_in_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    measure.loaded.cache_clear()
    for asked, name in ((MNIST, DIGITS), (HOUSING, DIABETES)):
        found = measure.problems(asked, (1.0, 0.1), 2000, gammas=True)
        rows = len(measure.loaded(asked).y)
        assert [each.data for each in found] == [name, name]
        assert found[0].n < found[1].n
        assert found[1].n + 2 * (rows // 4) <= rows
        table = measure.long(measure.risks([measure.Map(found[0], 0.0, 0.5, 4)], 2, 0, Runner(workers=1)))
        assert (table["data"] == name).all()
    measure.loaded.cache_clear()


def test_a_panel_reads_its_valley_and_what_lies_beyond() -> None:
    clips, rates = np.geomspace(1e-3, 10, 9), np.geomspace(0.1, 600, 19)
    shape = (np.log(np.outer(clips, rates)) - math.log(0.5)) ** 2 / 50 + 0.1 + 0.05 * np.maximum(0, clips - 1)[:, None]
    risks = shape * (1 + 0.01 * np.random.default_rng(0).standard_normal((6, 1, 1)))
    panel = judge.Panel(0.01, 0.0, clips, rates, risks)
    assert panel.slope == pytest.approx(-1, abs=0.25)
    assert panel.slope_error < 0.05
    assert panel.product == pytest.approx(0.5, rel=0.4)
    assert panel.largest_clip.above
    assert panel.gains[0].above == (panel.mean[0][~panel.inside].min() < panel.mean[0][panel.inside].min())
    assert judge.ratio(np.array([2.0, 8.0]), np.array([1.0, 2.0])).error == math.inf
    assert judge.ratio(np.full(4, 3.0), np.full(4, 1.5)).value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("asked", "n", "trials"), [(HOUSING, 800, 12), pytest.param(MNIST, 784, 3, marks=pytest.mark.slow)]
)
def test_real_data_agree_with_an_independent_run(asked: str, n: int, trials: int) -> None:
    """Other shuffles, other noise, other code: the mean risks agree to Monte Carlo error, another place's do not."""
    if not datasets.is_cached(asked):
        pytest.skip(f"{asked} is not in scikit-learn's data folder")
    measure.loaded.cache_clear()
    cell = measure.Map(Problem(asked, asked, n, 2000, measure.LIMIT), 0.5, 0.5, 4)
    clip, rate = cell.places[5]
    ours = [measure.trial(measure.Together((cell,)), rng=generator(5, cell.key, k))[0] for k in range(3)]
    theirs = [literal(cell.problem, 0.5, rate, clip, 0.5, generator(77, 0, k)) for k in range(trials)]
    error = math.hypot(np.std(theirs, ddof=1) / math.sqrt(3), pd.Series(theirs).sem())
    means = np.mean(ours, axis=0)
    assert abs(means[5] - np.mean(theirs)) < 4 * error
    assert abs(means[6] - np.mean(theirs)) > 4 * error
    measure.loaded.cache_clear()


# ---- The page where stand-ins took the place of the data ----


def instead(names: dict[str, str]) -> dict[str, pd.DataFrame]:
    """The tables as stand-ins would leave them."""
    found = {}
    for name, table in COMMITTED.items():
        found[name] = table.assign(data=table["data"].replace(names)) if "data" in table else table
    for name, asked in (("figure-5", MNIST), ("figure-6", HOUSING), ("kept", HOUSING)):
        found[name] = COMMITTED[name].assign(data=names[asked])
    return found


def test_stand_ins_are_named_and_nothing_is_said_of_the_papers_data() -> None:
    tables = instead({MNIST: DIGITS, HOUSING: DIABETES})
    assert word_count(opening_of(show)(tables)) <= LONGEST_ANSWER
    assert "says nothing of the paper's data" in opening_of(show)(tables)
    assert f"{DIGITS}, 784 features (in the place of {MNIST}" in show.said_of_data(tables)
    plate = show.draw_map(tables["figure-5"], tables["rows"], MNIST)
    assert "Maps of a stand-in" in plate.caption
    assert DIGITS in plate.caption
    assert "MNIST" not in plate.caption + plate.alt
    assert "Schedules on stand-ins" in show.draw_figure_8(tables["figure-8"], tables["rows"]).caption
