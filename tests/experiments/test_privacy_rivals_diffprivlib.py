"""diffprivlib beside the rivals: which runs are read, which are said to be missing, and its rows in the tables."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.privacy.rivals import cells, diffprivlib, methods, problems
from costofprivacy.experiments.privacy.rivals import tables as shown
from costofprivacy.experiments.privacy.rivals.diffprivlib import RECORD, Run
from costofprivacy.experiments.privacy.rivals.experiment import Experiment
from costofprivacy.experiments.privacy.rivals.joined import LABEL, METHODS, failures, joined, origin
from costofprivacy.judging.tables import select
from costofprivacy.running.extras import ANEW, Extra, ExtraMissing
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("privacy/rivals")
RUNS = TABLES[diffprivlib.NAME]
JOINED = joined(TABLES)


class NoRunner:
    """Runs nothing."""

    def run(self, *arguments: Any) -> dict[Any, Any]:
        raise AssertionError(arguments)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment, and nothing asked anew."""
    monkeypatch.setattr(Extra, "present", False)
    monkeypatch.delenv("COSTOFPRIVACY_EXTRAS", raising=False)


def gaussian(**other: Any) -> list[Run]:
    experiment = Experiment(**other)
    return experiment._runs(experiment._gaussian())


@pytest.mark.usefixtures("absent")
def test_the_first_of_the_committed_runs_are_read_where_there_is_no_environment() -> None:
    found = diffprivlib.table([(gaussian(records=[100], epsilon=[1.0]), 6)], NoRunner())
    assert found["trial"].tolist() == [0, 1, 2, 3, 4, 5] * 2
    known = set(RUNS["digest"])
    assert set(found["digest"]) <= known
    assert all(RECORD.committed(run, 20) is not None for run in gaussian())


@pytest.mark.usefixtures("absent")
def test_runs_that_are_missing_are_left_out_and_the_page_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = diffprivlib.table([(gaussian(seed=1), 2)], NoRunner())
    assert found.empty
    tables = TABLES | {diffprivlib.NAME: found}
    assert "18 of 22 cases are not measured" in origin(tables)
    assert " extra NAME=diffprivlib" in origin(tables)
    assert "no case" in failures(tables)
    pd.testing.assert_frame_equal(joined(tables).drop(columns="failed"), TABLES["errors"])
    assert (shown.show_rivals(joined(tables), 1.0).loc[methods.HARMONIC] != "–").all()
    monkeypatch.setenv("COSTOFPRIVACY_EXTRAS", ANEW)
    with pytest.raises(ExtraMissing, match=r" extra NAME=diffprivlib$"):
        diffprivlib.table([(gaussian(), 2)], NoRunner())


def test_the_page_says_where_it_ran_and_where_it_was_not_run() -> None:
    said = origin(TABLES)
    assert f"Of its {len(RUNS)} runs here, {len(RUNS)} are read from the committed run and 0 were measured" in said
    assert "diffprivlib 0.6.6" in said
    assert "not run beyond 100 features (4 of 22 cases): it would share $\\varepsilon$ among 308,505 at $d=784$" in said
    assert "are not measured" not in said


def test_every_case_has_ten_trials_or_more_and_each_setting() -> None:
    assert set(RUNS["problem"]) >= set(problems.SYNTHETIC)
    assert (RUNS.groupby("digest").size() >= 10).all()
    assert len(JOINED) == len(TABLES["errors"]) + RUNS["digest"].nunique() * diffprivlib.SETTINGS
    assert JOINED["lost_error"].notna().all()


def test_a_row_is_the_mean_of_its_runs_with_their_standard_error() -> None:
    runs = select(RUNS, problem=problems.ISOTROPIC, n=20000, epsilon=4.0)
    row = select(JOINED, method=LABEL, problem=problems.ISOTROPIC, n=20000, epsilon=4.0, setting=0).iloc[0]
    lost = (runs["error_0"] - 0.09) / 1.0
    assert row["lost"] == pytest.approx(lost.mean())
    assert row["lost_error"] == pytest.approx(lost.std(ddof=1) / math.sqrt(len(runs)))
    rows = shown.show_rivals(JOINED, 4.0).loc[LABEL]
    assert rows["isotropic, 20000"].startswith(f"{100 * row['lost']:.0f}"[:1])
    assert (rows[[name for name in rows.index if name.startswith("MNIST")]] == "–").all()


def test_where_it_fails_the_table_says_how_often() -> None:
    rows = shown.show_rivals(JOINED, 1.0).loc[LABEL]
    assert rows["isotropic, 200"].replace(shown.NARROW_SPACE, " ") == "fails in 20 of 20"


def test_where_it_is_best_the_others_are_behind_it_and_where_it_fails_it_is_not_tied() -> None:
    runs = change(RUNS, "error_0", lambda r: r["floor"] * (1 + 1e-6))
    runs = change(runs, "unsolved_0", lambda r: 0.0)
    rows = joined(TABLES | {diffprivlib.NAME: runs})
    winners = cells.winners(rows[rows["problem"] == problems.ISOTROPIC])
    assert (winners["least"] == LABEL).all()
    assert winners["beaten"].all()
    failing = change(JOINED, "failed", lambda r: 0.05, JOINED["method"] == LABEL)
    wide = change(failing, "behind_error", lambda r: 1e9)
    assert not cells.winners(wide)["tied"].map(lambda tied: LABEL in tied).any()


def test_the_label_is_no_method_that_is_measured_here() -> None:
    assert LABEL not in methods.METHODS
    assert METHODS[-1] == LABEL


def test_the_expected_risk_counts_clipping_as_a_simulation_does() -> None:
    rng, d, n = np.random.default_rng(0), 20, 200_000
    theta = np.full(d, math.sqrt(2 * problems.INITIAL_RISK / d))
    x = rng.standard_normal((n, d))
    y = x @ theta + problems.LABEL_NOISE * rng.standard_normal(n)
    for b, bound in ((1.0, 3.0), (2.0, 1.5)):
        box = np.clip(x, -b, b)
        fitted = np.linalg.solve(box.T @ box, box.T @ np.clip(y, -bound, bound))
        risk = ((fitted - theta) ** 2).sum() / 2
        run = Run(problems.ISOTROPIC, n, d, 1e9, 0, 0)
        assert risk == pytest.approx(diffprivlib.expected_risk(b, bound, run)[0], rel=0.15, abs=0.003)


def test_the_public_choice_is_the_first_setting_and_all_differ() -> None:
    run = Run(problems.ISOTROPIC, 20000, 20, 4.0, 0, 0)
    tried = diffprivlib.settings(run, 6.7, 3.13)
    assert len(set(tried)) == len(tried) == diffprivlib.SETTINGS
    assert {b for b, _ in tried} == {1.0, 2.0, 3.0, 6.7}
    every = [diffprivlib.expected_risk(b, y, run) for b in (1.0, 2.0, 3.0, 6.7) for y in (3.13, 1.565)]
    assert diffprivlib.expected_risk(*tried[0], run) == min(every)
