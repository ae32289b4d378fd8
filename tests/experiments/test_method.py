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
from costofprivacy.experiments.method import experiment, figures, page, regression
from costofprivacy.experiments.method import tables as shown
from costofprivacy.judging.tables import select
from costofprivacy.judging.vocabulary import CONSISTENT
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import committed

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


def test_the_answer_follows_the_tables() -> None:
    prompts, one = TABLES["prompts"], TABLES["regression"]
    assert "DP-ridge is best with a public penalty, but explains only 24 %" in opening_of(page)(TABLES)
    private = prompts["method"] == experiment.HEAD
    better = prompts.assign(test_error=prompts["test_error"].mask(private, 0.2))
    assert "NoisyHead, last iterate is best with a public penalty, and explains 80 %" in opening_of(page)(
        TABLES | {"prompts": better}
    )
    even = one.assign(excess_risk=one["excess_risk"].mask(one["method"] == regression.EVEN, 0.0))
    words = opening_of(page)(TABLES | {"regression": even})
    assert words.endswith(f"*DP-GD, even noise* is best in {len(even.groupby(['records', 'rho']))} of 12 cases.")


def test_the_page_says_how_the_tables_are_read() -> None:
    errors = page.rivals_errors()
    told = str(page.read_rivals(errors).data)
    assert "objective perturbation in 21" in told
    assert "That is 200 records per feature" in told
    assert "*clipped descent, all records* for isotropic data ($n/d = 100$)" in told
    assert "housing" in told
    assert "use *objective perturbation*: it is best, or not significantly worse, in 3 of these 4" in told
    assert "MNIST" not in told  # it has seven records per feature at most
    few = page.read_rivals(errors[errors["problem"].str.startswith("MNIST")])
    assert "further away than the table goes" in str(few.data)
    budgets = str(page.read_regression(TABLES["regression"]).data)
    assert "$\\varepsilon = 4.4$ for $\\rho = 1$" in budgets  # dp-accounting: 4.377
    assert page.in_front(pd.DataFrame({"least": ["a", "b"], "tied": [["c"], ["a"]]})) == {"a": 2, "b": 1}


def test_where_nothing_is_learned_the_page_says_to_answer_zero() -> None:
    useless = TABLES["prompts"].assign(test_error=lambda t: t["test_error"].mask(t["method"] != "zero", 2.0))
    assert page.winner(useless, **page.example(useless))["method"] == "zero"
    assert set(shown.show_prompts(useless, TABLES["checked"])["worth using"]) == {"no"}


def test_what_to_use_is_the_least_of_what_may_be_used() -> None:
    told = shown.show_regression(TABLES["regression"]).reset_index()
    for (records, rho), rows in TABLES["regression"].groupby(["records", "rho"]):
        allowed = rows[rows["method"] != regression.LEAST_SQUARES].set_index("method")["excess_risk"]
        used = told[(told["$n/d$"] == records) & (told[r"$\rho$"] == f"{rho:g}")]["use"].item()
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
    for name in ("_toc.yml", "requirements.txt", "book/claims.yml", "_build/validate/claims.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
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
