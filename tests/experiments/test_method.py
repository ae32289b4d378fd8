"""The page that chooses a method: its numbers against other ways to them, its words against its tables."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.experiments.method import (
    calculator,
    experiment,
    figures,
    one_delta,
    page,
    reads,
    regression,
    tables_heads,
    two_errors,
    winning,
)
from costofprivacy.experiments.method import tables as shown
from costofprivacy.experiments.privacy.best_method import cases as judged
from costofprivacy.judging.tables import select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead import population, private_ridge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import piloted_perturbation
from costofprivacy.rivals.piloted_perturbation import Shares
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import committed
from tests.trees import write_tree

TABLES = committed("method")


def test_the_algorithms_run_as_the_closed_forms_say() -> None:
    """The formula has no clipping: what is left of the difference is a few parts in a hundred."""
    formula = select(TABLES["prompts"], choice=experiment.BEST).set_index(["N", "epsilon", "method"])["test_error"]
    run = TABLES["checked"].set_index(["N", "epsilon", "method"])
    difference = (run["test_error"] - formula[run.index]).abs()
    assert (difference <= CONSISTENT * run["standard_error"] + 0.03).all()
    assert (run["norm_over_R"] < 1).all()


def test_a_trial_depends_on_its_privacy_and_its_penalty() -> None:
    def errors(epsilon: float, penalty: float) -> np.ndarray:
        cell = experiment.Cell(400, 3, 1e-5, 1.0, 0.0, ((epsilon, penalty, penalty),))
        return experiment.trial(cell, rng=np.random.default_rng(0))[:-1]

    assert (errors(0.5, 0.05) > errors(50.0, 0.05)).all()
    np.testing.assert_allclose(errors(1.0, 1e4), 1.0, atol=1e-3)  # nothing is learned, so that 0 is answered


def test_least_squares_has_the_risk_of_simulated_regressions() -> None:
    rng, n, d, noise = np.random.default_rng(1), 400, 100, 0.3
    risks = []
    for _ in range(60):
        x = rng.standard_normal((n, d))
        error = np.linalg.lstsq(x, noise * rng.standard_normal(n), rcond=None)[0]
        risks.append(error @ error / 2)
    mean, spread = np.mean(risks), np.std(risks) / math.sqrt(len(risks))
    assert abs(mean - regression.least_squares(d / n, noise)) < CONSISTENT * spread + mean / (n - d)
    assert abs(mean - 2 * regression.least_squares(d / n, noise)) > CONSISTENT * spread


@pytest.mark.parametrize(
    ("way", "make"),
    [
        (regression.NOISE_AT_END, Constant),
        (regression.HARMONIC, lambda rate: Harmonic(0.05 * rate, 0.05)),
        (regression.UNCLIPPED, lambda rate: Harmonic(0.05 * rate, 0.05)),
    ],
)
def test_no_rate_of_a_fine_grid_beats_the_one_that_is_found(way: str, make: Callable[[float], Any]) -> None:
    schedule, risk = regression.best_schedule(way, 0.05, 1.0, 0.3)
    clip, equations = regression.WAYS[way][1], system.isotropic(0.5, 0.05, 0.3)
    assert risk == pytest.approx(equivalent.final_risk(equations, schedule, clip, 1.0), rel=1e-3)
    tried = [equivalent.final_risk(equations, make(rate), clip, 1.0) for rate in np.geomspace(0.2, 500, 40)]
    assert risk <= min(tried) * 1.001


@pytest.mark.slow
def test_the_opening_names_the_winner_over_all_methods_and_where_no_data_are_better() -> None:
    told = opening_of(page)(TABLES)
    found = winning.measured(page.saved_of(reads.CAMPAIGN)["cases"])
    assert found.best
    assert found.words in told
    assert "it explains 91 % of the variance" in told
    assert "a head without data is better: its test error is 0.0597, against 0.0605." in told
    saved = page.saved_of(reads.HEADS)
    worse = saved["ladder"].assign(test_error=lambda t: t["test_error"].mask(t["rung"] == "no-data", 0.5))
    assert "a head without data is not better" in " ".join(tables_heads.opening({"ladder": worse}, 1e-5))


def cases(*rows: tuple[str, float, float, float, float]) -> pd.DataFrame:
    """Measured cases of one data set: a method, its excess, its distance to the best with its error, the constant."""
    names = ["method", "excess", "behind", "behind_error", "constant", "epsilon"]
    return pd.DataFrame([(*row, float(k // 2)) for k, row in enumerate(rows)], columns=names).assign(
        data="a", n=100, d=3
    )


def test_the_winner_is_counted_where_a_method_beats_the_mean() -> None:
    first, second = "objective perturbation", "clipped descent"
    told = winning.measured(
        cases(
            (first, 0.1, 0.0, 0.0, 0.5),
            (second, 0.2, 0.1, 0.01, 0.5),
            (first, 0.11, 0.01, 0.01, 0.5),
            (second, 0.1, 0.0, 0.0, 0.5),
            (first, 0.7, 0.1, 0.0, 0.5),
            (second, 0.6, 0.0, 0.0, 0.5),
        )
    )
    assert told == winning.Winner(first, 2, 2, 1)
    assert "use objective perturbation with a *pilot*, " in told.words
    assert "is best in 1 of 2 [measured cases](privacy/best-method.ipynb) where" in told.words
    assert "and not significantly worse in 1 more" in told.words


def test_the_winner_is_best_as_often_as_the_page_that_measures_says() -> None:
    table = page.saved_of(reads.CAMPAIGN)["cases"]
    found, told = winning.measured(table), judged.compared(table)
    assert (found.best, found.cases) == ((told["best"] == found.method).sum(), len(told))


def test_the_winner_by_forecast_is_that_of_the_table_that_is_shown() -> None:
    found, table = winning.forecast(), calculator.show_forecasts()
    assert f"has the largest expected $R^2$ in {found.front} of {found.cases} forecasts" in found.words
    cells = table.filter(like="varepsilon").to_numpy().ravel()
    assert found.cases == sum(cell != "0" for cell in cells)
    assert found.front == sum("," not in cell and cell != "0" for cell in cells)
    assert found.method == calculator.usual() == "clipped descent"


def test_the_paper_s_bounds_are_told_from_the_tables() -> None:
    prompts, one = TABLES["prompts"], TABLES["regression"]
    assert "DP-ridge is best with a public penalty, but explains only 24 %" in str(page.read_papers(prompts, 1e-5).data)
    private = prompts["method"] == experiment.HEAD
    better = prompts.assign(test_error=prompts["test_error"].mask(private, 0.2))
    told = str(page.read_papers(better, 1e-5).data)
    assert "NoisyHead, last iterate is best with a public penalty, and explains 80 %" in told
    even = one.assign(excess_risk=one["excess_risk"].mask(one["method"] == regression.EVEN, 0.0))
    words = str(page.read_regression(even).data)
    assert f"*DP-GD, even noise* is best in {len(even.groupby(['records', 'rho']))} of 12 cases." in words


def test_all_tables_have_one_delta() -> None:
    same = GaussianDP(ApproximateDP(1.0, 1e-5).to_gaussian().mu)
    assert same.delta(one_delta.restated(1.0, 1e-5)) == pytest.approx(one_delta.DELTA, rel=1e-6)
    assert one_delta.restated(0.7, one_delta.DELTA) == pytest.approx(0.7, rel=1e-6)
    shown_budgets = set(shown.show_prompts(TABLES["prompts"], TABLES["checked"], 1e-5).reset_index()[r"$\varepsilon$"])
    assert shown_budgets == {one_delta.shown(epsilon, 1e-5) for epsilon in TABLES["prompts"]["epsilon"]}
    assert set(page.rivals_errors()["delta"]) == {one_delta.DELTA, 0.0}  # diffprivlib's method has pure ε


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 4.0])
def test_objective_perturbation_keeps_a_restated_budget(epsilon: float) -> None:
    """For any κ: its δ at the restated ε is at most the page's."""
    target = one_delta.restated(epsilon, 1e-5)
    for share in (0.05, 0.1, 0.5, 0.9):
        v = piloted_perturbation.strength(ApproximateDP(epsilon, 1e-5), Shares(share))
        assert 2 * GaussianDP(math.sqrt(v)).delta(target - share * epsilon) <= one_delta.DELTA


def test_the_two_errors_of_dp_ridge_are_taken_apart() -> None:
    """The noise's part, from the algorithm itself: heads with and without noise, on one draw of prompts."""
    papers, tuned = two_errors.errors(TABLES["prompts"], page.saved_of(reads.HEADS))
    assert (papers.told.N, tuned.told.N) == (4000, 4000)
    assert papers.test_error == pytest.approx(0.763, abs=5e-4)
    assert tuned.test_error == pytest.approx(0.0768, abs=5e-5)
    for each in (papers, tuned):
        energy, budget = each.typical**2, ApproximateDP(1.0, 1e-5)
        std = private_ridge.noise_std(each.told, budget)
        noise = std * np.random.default_rng(0).standard_normal((4000, 25))
        assert each.noise == pytest.approx((noise**2).sum(axis=1).mean() * energy / 25, rel=0.02)
    assert papers.rest == pytest.approx(population.ridge_prediction_error(PromptModel(5, 63), papers.told.penalty))
    words = str(two_errors.read(TABLES["prompts"], page.saved_of(reads.HEADS)).data)
    assert "the same problem ($N = 4000$ isotropic prompts) and the same budget" in words
    assert "without noise, the test error is 0.644" in words


def test_the_page_says_how_the_tables_are_read() -> None:
    errors = page.rivals_errors()
    told = str(page.read_rivals(errors).data)
    assert "objective perturbation in 21" in told
    assert "That is 200 records per feature" in told
    assert "*clipped descent, all records* for isotropic data ($n/d = 100$)" in told
    assert "housing" in told
    assert "*objective perturbation* is the safest of these forms: it is best, or not significantly worse" in told
    assert "MNIST" not in told.partition("**An example.**")[2]  # it has seven records per feature at most
    few = page.read_rivals(errors[errors["problem"].str.startswith("MNIST")])
    assert "further away than the table goes" in str(few.data)
    budgets = str(page.read_regression(TABLES["regression"]).data)
    assert f"$\\varepsilon = {GaussianDP(1.0).epsilon(1e-6):.2g}$ for $\\mu = 1$" in budgets
    assert page.in_front(pd.DataFrame({"least": ["a", "b"], "tied": [["c"], ["a"]]})) == {"a": 2, "b": 1}


def test_a_larger_error_at_a_larger_budget_is_marked_and_explained() -> None:
    errors = page.rivals_errors()
    told, table = str(page.read_rivals(errors).data), shown.show_rivals(errors)
    starred = table[table["lost, %"].str.endswith("*")].reset_index()
    assert starred[["data", "ε", "n/d"]].to_numpy().tolist() == [["MNIST 1, 7", "4", "6.38"]]
    assert "has a larger error at $\\varepsilon = 4$ than at $\\varepsilon = 1$ (the star" in told
    assert "least squares without privacy loses 129 %. Another setting that the chapter tried loses 2.4 %" in told
    usual = errors[~errors["problem"].str.startswith("MNIST")]
    assert "star" not in str(page.read_rivals(usual).data)
    assert not shown.show_rivals(usual)["lost, %"].str.contains("*", regex=False).any()


def test_where_nothing_is_learned_the_page_says_to_answer_zero() -> None:
    useless = TABLES["prompts"].assign(test_error=lambda t: t["test_error"].mask(t["method"] != "zero", 2.0))
    assert page.winner(useless, **page.example(useless))["method"] == "zero"
    assert set(shown.show_prompts(useless, TABLES["checked"], 1e-5)["worth using"]) == {"no"}


def test_what_to_use_is_the_least_of_what_may_be_used() -> None:
    told = shown.show_regression(TABLES["regression"]).reset_index()
    for (records, rho), rows in TABLES["regression"].groupby(["records", "rho"]):
        allowed = rows[rows["method"] != regression.LEAST_SQUARES].set_index("method")["excess_risk"]
        used = told[(told["$n/d$"] == records) & (told[r"$\mu$"] == f"{rho:g}")]["use"].item()
        assert used == allowed.idxmin()


def test_the_caption_speaks_of_the_errors_that_are_drawn() -> None:
    changed: pd.DataFrame = TABLES["prompts"].assign(response_variance=2.0)
    plate = figures.draw_methods(changed, TABLES["regression"])
    assert "predicting 0 has 2." in plate.caption
    assert len(plate.figure.axes) == 2


def test_a_tree_that_has_not_come_to_the_rivals_reads_the_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Validation executes this page before the chapter on rivals, in a tree of its own."""
    names = ("errors", "diffprivlib")
    book = tmp_path / "book" / "privacy" / "rivals"
    own = tmp_path / "_build" / "validate" / "privacy" / "rivals"
    monkeypatch.setattr(page, "joined", lambda tables: tables["errors"])
    empty = ("_toc.yml", "requirements.txt", "book/claims.yml", "_build/validate/claims.yml")
    write_tree(tmp_path, dict.fromkeys(empty, ""))
    for folder, value in ((book, 1), (own, 2)):
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.csv").write_text(f"value\n{value}\n")
    last = own / f"{names[-1]}.csv"
    last.unlink()
    monkeypatch.chdir(own.parents[1])
    assert page.rivals_errors()["value"].tolist() == [1]
    last.write_text("value\n2\n")
    assert page.rivals_errors()["value"].tolist() == [2]
