"""diffprivlib beside the rivals: which runs are read, which are said to be missing, and its rows in the tables."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.privacy.rivals import measure, show
from chapters.privacy.rivals.measure import RECORD, Experiment, Run
from chapters.privacy.rivals.show import LABEL, failures, joined, origin
from companion.judging.tables import select
from companion.running.extras import ANEW, Extra, ExtraMissing
from tests.chapters.machinery import committed

TABLES = committed("privacy/rivals")
RUNS = TABLES[measure.NAME]
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
    found = measure.table([(gaussian(records=[100], epsilon=[1.0]), 6)], NoRunner())
    assert found["trial"].tolist() == [0, 1, 2, 3, 4, 5] * 2
    known = set(RUNS["digest"])
    assert set(found["digest"]) <= known
    assert all(RECORD.committed(run, 20) is not None for run in gaussian())


@pytest.mark.usefixtures("absent")
def test_runs_that_are_missing_are_left_out_and_the_page_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = measure.table([(gaussian(seed=1), 2)], NoRunner())
    assert found.empty
    tables = TABLES | {measure.NAME: found}
    assert "18 of 22 cases are not measured" in origin(tables)
    assert " extra NAME=diffprivlib" in origin(tables)
    assert "no case" in failures(tables)
    pd.testing.assert_frame_equal(joined(tables).drop(columns="failed"), TABLES["errors"])
    assert (show.show_rivals(joined(tables), 1.0).loc[measure.HARMONIC] != "–").all()
    monkeypatch.setenv("COSTOFPRIVACY_EXTRAS", ANEW)
    with pytest.raises(ExtraMissing, match=r" extra NAME=diffprivlib$"):
        measure.table([(gaussian(), 2)], NoRunner())


def test_a_row_is_the_mean_of_its_runs_with_their_standard_error() -> None:
    runs = select(RUNS, problem=measure.ISOTROPIC, n=20000, epsilon=4.0)
    row = select(JOINED, method=LABEL, problem=measure.ISOTROPIC, n=20000, epsilon=4.0, setting=0).iloc[0]
    lost = (runs["error_0"] - 0.09) / 1.0
    assert row["lost"] == pytest.approx(lost.mean())
    assert row["lost_error"] == pytest.approx(lost.std(ddof=1) / math.sqrt(len(runs)))
    rows = show.show_rivals(JOINED, 4.0).loc[LABEL]
    assert rows["isotropic, 20000"].startswith(f"{100 * row['lost']:.0f}"[:1])
    assert (rows[[name for name in rows.index if name.startswith("MNIST")]] == "–").all()


def test_the_expected_risk_counts_clipping_as_a_simulation_does() -> None:
    rng, d, n = np.random.default_rng(0), 20, 200_000
    theta = np.full(d, math.sqrt(2 * measure.INITIAL_RISK / d))
    x = rng.standard_normal((n, d))
    y = x @ theta + measure.LABEL_NOISE * rng.standard_normal(n)
    for b, bound in ((1.0, 3.0), (2.0, 1.5)):
        box = np.clip(x, -b, b)
        fitted = np.linalg.solve(box.T @ box, box.T @ np.clip(y, -bound, bound))
        risk = ((fitted - theta) ** 2).sum() / 2
        run = Run(measure.ISOTROPIC, n, d, 1e9, 0, 0)
        assert risk == pytest.approx(measure.expected_risk(b, bound, run)[0], rel=0.15, abs=0.003)
