"""The page on every mechanism: its audits see what is wrong, and other people's software."""

import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

from chapters.privacy.every_mechanism import measure, mechanisms, show, software
from chapters.privacy.every_mechanism.mechanisms import data, pair
from companion.build import notebooks
from companion.running.extras import Extra
from companion.streams import generator
from costofprivacy.privacy import ApproximateDP
from tests.chapters.machinery import committed

ROOT = Path(__file__).parents[4]
TABLES = committed("privacy/every-mechanism")
MU, DELTA = 1.0, 1e-5
ROWS = {row.name: row for row in measure.ours(MU, DELTA)}
BUDGET = ApproximateDP(1.0, 1e-5)


def cell(name: str, tried: str, releases: int = 4000, **other: Any) -> measure.Cell:
    known = measure.Cell(name, tried, MU, DELTA, releases, 1 - 1e-4, (0.3, 0.9), 0)
    return replace(known, **other)


def tried(asked: measure.Cell) -> np.ndarray:
    return measure.trial(asked, rng=generator(1, asked.key, 0))


# audits


def test_a_sound_release_is_acquitted_and_gross_faults_are_detected() -> None:
    assert not tried(cell("Gaussian mechanism", measure.AS_IT_IS))[2]
    assert tried(cell("Gaussian mechanism", measure.FORGOTTEN))[2]
    assert tried(cell("output perturbation", measure.SCALED))[2]


def test_of_hostile_pairs_the_largest_bounds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS["Gaussian mechanism"]
    alone = replace(row, hostile=row.hostile[1:2])
    monkeypatch.setattr(measure, "_ours", lambda mu, delta: {row.name: alone})
    one = tried(cell(row.name, measure.HOSTILE))
    again = replace(row, hostile=(row.hostile[1], pair(measure.OTHER, mechanisms.PLAIN, mechanisms.PLAIN)))
    monkeypatch.setattr(measure, "_ours", lambda mu, delta: {row.name: again})
    both = tried(cell(row.name, measure.HOSTILE))
    assert both[1] == one[1] > 0.3


def test_a_claim_is_refuted_by_the_bound_that_belongs_to_it() -> None:
    gaussian, other = ROWS["AdaSSP"], ROWS["TukeyEM"]
    standard = measure.standard(MU, DELTA)
    assert gaussian.exceeded(0.0, 1.01, standard)
    assert gaussian.exceeded(5.0, 0.0, standard)
    assert not gaussian.exceeded(4.0, 0.99, standard)
    assert other.exceeded(5.0, 0.0, standard)
    assert not other.exceeded(4.0, 9.0, standard)
    assert replace(other, at=ApproximateDP(1.0, 0.05)).exceeded(2.0, 0.0, standard)


def test_every_row_has_its_own_stream_and_all_audits_share_the_confidence() -> None:
    asked = measure.cells(MU, DELTA, 100, 100, (0.1,))
    assert len({one.key for one in asked}) == len(asked)
    sound = sum(1 + len(row.hostile) for row in ROWS.values())
    assert {round((1 - one.confidence) * sound, 12) for one in asked} == {0.001}


# what is told


def test_every_release_has_its_sensitivity_and_a_proof_that_exists() -> None:
    assert set(show.SENSITIVITY) == set(ROWS)
    for row in ROWS.values():
        assert (ROOT / "lib/costofprivacy" / f"{row.module.replace('.', '/')}.py").is_file()
    assert show.proof("rivals.tukey") == "../reference/rivals.html#module-costofprivacy.rivals.tukey"


def test_the_committed_table_has_every_release() -> None:
    assert TABLES["releases"]["release"].tolist() == list(ROWS)
    assert not TABLES["releases"]["refuted"].any()
    assert show.statements(TABLES).sentences[0] == "No audit refutes a guarantee of this book."


# other people's software


def test_dppack_minimises_its_objective() -> None:
    given, normals = data((0.5, 0.4), (1.0, -0.2), (-0.3, 0.1)), np.array([-1.0, 0.0, 0.02, 3.0])
    found = software.dppack(given, BUDGET, normals)
    scale = 2.0 * math.sqrt(8 * math.log(2 / BUDGET.delta) + 4 * BUDGET.epsilon) / BUDGET.epsilon
    for theta, z in zip(found, normals, strict=True):

        def objective(t: float, z: float = z) -> float:
            losses = 0.5 * ((given[0][:, 0] * t - given[1]) ** 2).sum()
            return losses + 0.5 * (software.PENALTY + 2 / BUDGET.epsilon) * t**2 + scale * z * t

        assert theta == pytest.approx(minimize_scalar(objective, bounds=(-1, 1), method="bounded").x, abs=1e-4)


def test_transcribed_packages_are_audited() -> None:
    found = software.transcribed(20_000, 1).set_index(["software", "case"])["epsilon_found"]
    assert found["DPpack", "objective perturbation"] < 1
    assert found["DPrivStats", "a response is replaced"] < 1
    assert found["DPrivStats", "a record is replaced"] > 1


@pytest.mark.parametrize("name", software.CASES)
def test_the_committed_runs_are_those_of_this_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extra, "present", False)
    found = software.table(name)
    assert found["case"].tolist() == [one.case for one in software.CASES[name]]
    pd.testing.assert_frame_equal(found, TABLES[f"{name}-runs"], check_dtype=False)


def test_false_guarantees_are_refuted_and_no_other() -> None:
    found = show.software_audits(TABLES)
    broken = set(found.loc[show.refuted(found), ["software", "case"]].itertuples(index=False, name=None))
    assert broken == {("diffprivlib", "bounds (0, 100)"), ("DPrivStats", "a record is replaced")}


@pytest.mark.skipif(not Extra("diffprivlib").present, reason="the extra environment diffprivlib is not installed")
def test_the_reproduction_on_the_page_runs() -> None:
    cells = notebooks.read(ROOT / "book/privacy/every-mechanism.ipynb").cells
    (code,) = [found for one in cells for found in re.findall(r"~~~python\n(.*?diffprivlib.*?)~~~", one.source, re.S)]
    assert len(code.splitlines()) <= 10
    ended = subprocess.run(
        [str(Extra("diffprivlib").python), "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    shares = [float(line.split()[1]) for line in ended.stdout.splitlines()]
    assert shares[0] < 0.1 < 0.9 < shares[1]
