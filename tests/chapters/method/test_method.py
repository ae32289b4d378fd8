"""The page that chooses a method: its numbers against other ways to them."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.method import measure, reads, show
from chapters.privacy.best_method import show as best_method_show
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import piloted_perturbation
from costofprivacy.rivals.piloted_perturbation import Shares
from tests.chapters.machinery import committed
from tests.trees import write_tree

TABLES = committed("method")


def test_the_algorithms_run_as_the_closed_forms_say() -> None:
    """The formula has no clipping: what is left of the difference is a few parts in a hundred."""
    formula = select(TABLES["prompts"], choice=measure.BEST).set_index(["N", "epsilon", "method"])["test_error"]
    run = TABLES["checked"].set_index(["N", "epsilon", "method"])
    difference = (run["test_error"] - formula[run.index]).abs()
    assert (difference <= CONSISTENT * run["standard_error"] + 0.03).all()
    assert (run["norm_over_R"] < 1).all()


def test_a_trial_depends_on_its_privacy_and_its_penalty() -> None:
    def errors(epsilon: float, penalty: float) -> np.ndarray:
        cell = measure.Cell(400, 3, 1e-5, 1.0, 0.0, ((epsilon, penalty, penalty),))
        return measure.trial(cell, rng=np.random.default_rng(0))[:-1]

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
    assert abs(mean - measure.least_squares(d / n, noise)) < CONSISTENT * spread + mean / (n - d)
    assert abs(mean - 2 * measure.least_squares(d / n, noise)) > CONSISTENT * spread


def harmonic(rate: float) -> Harmonic:
    return Harmonic(0.05 * rate, 0.05)


WAYS = [(measure.NOISE_AT_END, Constant), (measure.HARMONIC, harmonic), (measure.UNCLIPPED, harmonic)]


@pytest.mark.parametrize(("way", "make"), WAYS)
def test_no_rate_of_a_fine_grid_beats_the_one_that_is_found(way: str, make: Callable[[float], Any]) -> None:
    schedule, risk = measure.best_schedule(way, 0.05, 1.0, 0.3)
    clip, equations = measure.WAYS[way][1], system.isotropic(0.5, 0.05, 0.3)
    assert risk == pytest.approx(equivalent.final_risk(equations, schedule, clip, 1.0), rel=1e-3)
    tried = [equivalent.final_risk(equations, make(rate), clip, 1.0) for rate in np.geomspace(0.2, 500, 40)]
    assert risk <= min(tried) * 1.001


def test_the_calculator_for_prompts_forecasts_what_the_chapter_on_heads_simulated() -> None:
    rows = show.forecast_prompts(show.saved_of(reads.HEADS), show.HEADS_DELTA)
    assert len(rows) >= 30
    np.testing.assert_allclose(rows["forecast"], rows["test_error"], rtol=0.06)


def cases(*rows: tuple[str, float, float, float, float]) -> pd.DataFrame:
    """Measured cases of one data set: a method, its excess, its distance to the best with its error, the constant."""
    names = ["method", "excess", "behind", "behind_error", "constant", "epsilon"]
    return pd.DataFrame([(*row, float(k // 2)) for k, row in enumerate(rows)], columns=names).assign(
        data="a", n=100, d=3, chosen=lambda rows: rows["method"] == "clipped descent"
    )


def test_the_winner_is_counted_where_a_method_beats_the_mean() -> None:
    first, second = "objective perturbation", "clipped descent"
    ahead = (first, 0.1, 0.0, 0.0, 0.5), (second, 0.2, 0.1, 0.01, 0.5)
    near = (first, 0.11, 0.01, 0.01, 0.5), (second, 0.1, 0.0, 0.0, 0.5)
    useless = (first, 0.7, 0.1, 0.0, 0.5), (second, 0.6, 0.0, 0.0, 0.5)
    told = show.measured(cases(*ahead, *near, *useless))
    assert told == {"method": first, "front": 2, "cases": 2, "best": 1, "chosen": 0}


def test_the_winner_is_best_as_often_as_the_page_that_measures_says() -> None:
    table = show.saved_of(reads.CAMPAIGN)["cases"]
    found, told = show.measured(table), best_method_show.compared(table)
    assert (found["best"], found["cases"]) == ((told["best"] == found["method"]).sum(), len(told))
    assert found["chosen"] == (told["chosen"] == found["method"]).sum()


def test_all_tables_have_one_delta() -> None:
    same = GaussianDP(ApproximateDP(1.0, 1e-5).to_gaussian().mu)
    assert same.delta(show.restated(1.0, 1e-5)) == pytest.approx(show.DELTA, rel=1e-6)
    assert show.restated(0.7, show.DELTA) == pytest.approx(0.7, rel=1e-6)
    shown_budgets = set(show.show_prompts(TABLES["prompts"], TABLES["checked"], 1e-5).reset_index()[r"$\varepsilon$"])
    assert shown_budgets == {show.shown(epsilon, 1e-5) for epsilon in TABLES["prompts"]["epsilon"]}


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 4.0])
def test_objective_perturbation_keeps_a_restated_budget(epsilon: float) -> None:
    """For any κ: its δ at the restated ε is at most the page's."""
    target = show.restated(epsilon, 1e-5)
    for share in (0.05, 0.1, 0.5, 0.9):
        v = piloted_perturbation.strength(ApproximateDP(epsilon, 1e-5), Shares(share))
        assert 2 * GaussianDP(math.sqrt(v)).delta(target - share * epsilon) <= show.DELTA


def test_a_tree_that_has_not_come_to_a_chapter_reads_the_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation executes this page before other chapters, in a tree of its own."""
    book, own = (tmp_path / tree / reads.HEADS for tree in ("book", "_build/validate"))
    names = reads.TABLES[reads.HEADS]
    empty = ("_toc.yml", "requirements.txt", "book/claims.yml", "_build/validate/claims.yml")
    write_tree(tmp_path, dict.fromkeys(empty, ""))
    for folder, value in ((book, 1), (own, 2)):
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.csv").write_text(f"value\n{value}\n")
    last = own / f"{names[-1]}.csv"
    last.unlink()
    monkeypatch.chdir(own.parents[1])
    assert show.saved_of(reads.HEADS)[names[0]]["value"].tolist() == [1]
    last.write_text("value\n2\n")
    assert show.saved_of(reads.HEADS)[names[0]]["value"].tolist() == [2]
