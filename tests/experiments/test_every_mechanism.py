"""The page on every mechanism: its audits see what is wrong, its tables and words, and other people's software."""

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

from costofprivacy.book import notebooks
from costofprivacy.experiments.privacy.every_mechanism import audits, figures, page, rows, software, transcriptions
from costofprivacy.experiments.privacy.every_mechanism import tables as shown
from costofprivacy.experiments.privacy.every_mechanism.records import SOUND, data, pair
from costofprivacy.experiments.privacy.every_mechanism.rows import Row
from costofprivacy.privacy import ApproximateDP, GaussianDP, exact_noise_multiplier
from costofprivacy.running.extras import Extra
from costofprivacy.streams import generator
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import committed

ROOT = Path(__file__).parents[2]
TABLES = committed("privacy/every-mechanism")
MU, DELTA = 1.0, 1e-5
ROWS = {row.name: row for row in rows.ours(MU, DELTA)}
BUDGET = ApproximateDP(1.0, 1e-5)


def cell(name: str, tried: str, releases: int = 4000, **other: Any) -> audits.Cell:
    known = audits.Cell(name, tried, MU, DELTA, releases, 1 - 1e-4, (0.3, 0.9), 0)
    return replace(known, **other)


def tried(asked: audits.Cell) -> np.ndarray:
    return audits.trial(asked, rng=generator(1, asked.key, 0))


# audits


def test_a_sound_release_is_acquitted_and_gross_faults_are_detected() -> None:
    assert not tried(cell("Gaussian mechanism", audits.AS_IT_IS))[2]
    assert tried(cell("Gaussian mechanism", rows.FORGOTTEN))[2]
    assert tried(cell("output perturbation", rows.SCALED))[2]


def test_of_deficits_the_first_is_told_that_is_detected() -> None:
    epsilon, mu, refuted, deficit = tried(cell("Gaussian mechanism", audits.NOISE))
    assert (refuted, deficit) == (1, 0.3)
    assert mu > 1
    assert epsilon > 0
    assert tried(cell("Gaussian mechanism", audits.NOISE, deficits=(0.001,)))[2:].tolist() == [0, 0.001]


def test_of_hostile_pairs_the_largest_bounds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS["Gaussian mechanism"]
    alone = replace(row, hostile=row.hostile[1:2])
    monkeypatch.setattr(audits, "_ours", lambda mu, delta: {row.name: alone})
    one = tried(cell(row.name, audits.HOSTILE))
    again = replace(row, hostile=(row.hostile[1], pair(rows.OTHER, rows.PLAIN, rows.PLAIN)))
    monkeypatch.setattr(audits, "_ours", lambda mu, delta: {row.name: again})
    both = tried(cell(row.name, audits.HOSTILE))
    assert both[1] == one[1] > 0.3


def test_a_claim_is_refuted_by_the_bound_that_belongs_to_it() -> None:
    gaussian, other = ROWS["AdaSSP"], ROWS["TukeyEM"]
    standard = rows.standard(MU, DELTA)
    assert gaussian.exceeded(0.0, 1.01, standard)
    assert gaussian.exceeded(5.0, 0.0, standard)
    assert not gaussian.exceeded(4.0, 0.99, standard)
    assert other.exceeded(5.0, 0.0, standard)
    assert not other.exceeded(4.0, 9.0, standard)
    assert replace(other, at=ApproximateDP(1.0, 0.05)).exceeded(2.0, 0.0, standard)


def test_the_standard_setting_is_the_exact_profile() -> None:
    told = rows.standard(MU, DELTA)
    assert GaussianDP(MU).delta(told.epsilon) == pytest.approx(DELTA, rel=1e-6)


def test_every_row_has_its_own_stream_and_all_audits_share_the_confidence() -> None:
    asked = audits.cells(MU, DELTA, 100, 100, (0.1,))
    assert len({one.key for one in asked}) == len(asked)
    sound = sum(1 + len(row.hostile) for row in ROWS.values())
    assert {round((1 - one.confidence) * sound, 12) for one in asked} == {0.001}


def test_a_row_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(given: Any, count: int, rng: np.random.Generator, knobs: Any) -> np.ndarray:
        return given + rng.standard_normal(count)

    lying = Row("liar", rows.OURS, "privacy.mechanisms", GaussianDP(0.1), rows.OWN, draw, (0.0, 3.0), True, ((0, 1),))
    monkeypatch.setattr(audits, "_ours", lambda mu, delta: {"liar": lying})
    asked = audits.cells(0.1, DELTA, 2000, 1000, (0.5,))

    class Runner:
        def run(self, trial: Any, cells: Any, trials: int, seed: int) -> dict[Any, np.ndarray]:
            return {one: trial(one, rng=generator(seed, one.key, 0))[None] for one in cells}

    found = audits.measure(asked, Runner(), 1)["releases"]  # type: ignore[arg-type]
    assert found["refuted"].tolist() == [True]
    assert not page._kept({"releases": found})


# what is told


def test_the_page_opens_with_an_answer() -> None:
    assert "No audit refutes a guarantee of this book." in opening_of(page)(TABLES)


def test_the_page_opens_with_how_little_its_audit_says_of_objective_perturbation() -> None:
    told, releases = opening_of(page)(TABLES), TABLES["releases"]
    row = figures.shares(releases).set_index("release").loc[page.ALONE]
    assert f"proves {row['worst']:.0%} of the claim".replace("%", " %") in told
    assert f"only noise that is {100 * row['deficit']:g} % too small would be found" in told
    blind = releases.assign(deficit=releases["deficit"].mask(releases["release"] == page.ALONE))
    assert "and no noise that is too small would be found" in opening_of(page)(TABLES | {"releases": blind})


def test_releases_that_attain_their_sensitivity_are_marked_where_they_are_counted() -> None:
    releases = TABLES["releases"]
    count = int(releases["attained"].sum())
    assert f"In the {count} releases that attain their sensitivity" in opening_of(page)(TABLES)
    table, plate = shown.show_table(releases).data, figures.draw_releases(releases)
    assert table.count(figures.ATTAINED) == count
    assert table.count(shown.TRANSCRIBED) == (~releases["run"].isin(shown.RUNS)).sum()
    assert plate.narrow is not None
    for figure in (plate.figure, plate.narrow):
        ticks = figure.axes[0].get_yticklabels()
        assert sum(tick.get_text().endswith(figures.ATTAINED) for tick in ticks) == count


def test_every_release_has_its_sensitivity_and_a_proof_that_exists() -> None:
    assert set(shown.SENSITIVITY) == set(ROWS)
    for row in ROWS.values():
        assert (ROOT / "lib/costofprivacy" / f"{row.module.replace('.', '/')}.py").is_file()
    assert shown.proof("rivals.tukey") == "../reference/rivals.html#module-costofprivacy.rivals.tukey"


def test_the_committed_table_has_every_release() -> None:
    assert TABLES["releases"]["release"].tolist() == list(ROWS)
    assert not TABLES["releases"]["refuted"].any()
    assert page.statements(TABLES).sentences[0] == "No audit refutes a guarantee of this book."


def test_sentences_turn_with_the_tables() -> None:
    worse = TABLES | {"releases": TABLES["releases"].assign(refuted=True, deficit=math.nan, clip="not detected")}
    yes, no = page.statements(TABLES).sentences, page.statements(worse).sentences
    assert [a != b for a, b in zip(yes, no, strict=True)][:4] == [True, True, True, False]


def test_the_table_is_whole() -> None:
    lines = shown.show_table(TABLES["releases"]).data.splitlines()
    assert len(lines) == len(ROWS) + 2
    assert len({line.count(" | ") for line in lines}) == 1
    faults = shown.show_faults(TABLES)
    assert set(faults["breaks the guarantee"]) == {"yes"}


def test_the_figure_names_each_release() -> None:
    plate = figures.draw_releases(TABLES["releases"])
    assert all(name in plate.alt for name in ROWS)


# other people's software


def test_dppack_minimises_its_objective() -> None:
    given, normals = data((0.5, 0.4), (1.0, -0.2), (-0.3, 0.1)), np.array([-1.0, 0.0, 0.02, 3.0])
    found = transcriptions.dppack(given, BUDGET, normals)
    scale = 2.0 * math.sqrt(8 * math.log(2 / BUDGET.delta) + 4 * BUDGET.epsilon) / BUDGET.epsilon
    for theta, z in zip(found, normals, strict=True):

        def objective(t: float, z: float = z) -> float:
            losses = 0.5 * ((given[0][:, 0] * t - given[1]) ** 2).sum()
            return losses + 0.5 * (transcriptions.PENALTY + 2 / BUDGET.epsilon) * t**2 + scale * z * t

        assert theta == pytest.approx(minimize_scalar(objective, bounds=(-1, 1), method="bounded").x, abs=1e-4)


def test_dprivstats_adds_its_noise_to_least_squares() -> None:
    given = data((0.5, 0.4), (1.0, -0.2), (-0.3, 0.1))
    x, y = given[0][:, 0], given[1]
    zero, one = transcriptions.dprivstats(given, BUDGET, np.array([0.0, 1.0]), public_design=True)
    assert zero == pytest.approx(np.linalg.lstsq(x[:, None], y, rcond=None)[0][0])
    assert one - zero == pytest.approx(2 / (x @ x) * exact_noise_multiplier(BUDGET))
    private = transcriptions.dprivstats(given, BUDGET, np.array([1.0]), public_design=False)[0]
    assert private - zero == pytest.approx(3 * (one - zero))


def test_a_response_moves_dprivstats_by_what_it_allows_and_a_record_moves_the_noise() -> None:
    one, two = transcriptions.RESPONSES
    apart = [transcriptions.dprivstats(each, BUDGET, np.zeros(1), public_design=True)[0] for each in (one, two)]
    x = one[0][:, 0]
    assert abs(apart[0] - apart[1]) == pytest.approx(2 / (x @ x))
    noises = [
        np.ptp(transcriptions.dprivstats(each, BUDGET, np.array([0.0, 1.0]), public_design=False))
        for each in transcriptions.ROUGH
    ]
    assert noises[1] > 50 * noises[0]


def test_transcribed_packages_are_audited() -> None:
    found = software.transcribed(20_000, 1).set_index(["software", "case"])["epsilon_found"]
    assert found["DPpack", "objective perturbation"] < 1
    assert found["DPrivStats", "a response is replaced"] < 1
    assert found["DPrivStats", "a record is replaced"] > 1


def test_scores_that_were_drawn_before_are_audited_once() -> None:
    scores = np.stack([np.random.default_rng(k).standard_normal(2000) + 3 * k for k in range(2)])
    assert software.audit_of_scores(scores, 1e-5, rng=np.random.default_rng(0)) > 2
    assert software.audit_of_scores(scores[[0, 0]], 1e-5, rng=np.random.default_rng(0)) == 0


@pytest.mark.parametrize("name", software.CASES)
def test_the_committed_runs_are_those_of_this_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extra, "present", False)
    found = software.table(name)
    assert found["case"].tolist() == [one.case for one in software.CASES[name]]
    pd.testing.assert_frame_equal(found, TABLES[f"{name}-runs"], check_dtype=False)


def test_runs_that_are_not_known_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extra, "present", False)
    other = tuple(replace(one, seed=1) for one in software.CASES["opendp"])
    monkeypatch.setitem(software.CASES, "opendp", other)
    assert software.table("opendp").empty
    shown.show_software(TABLES | {"opendp-runs": software.table("opendp")})


def test_opacus_promises_less_for_a_record_that_is_replaced() -> None:
    (row,) = TABLES["opacus-runs"].to_dict("records")
    assert row["own_claim"] < row["epsilon_found"] < row["claim"]


def test_false_guarantees_are_refuted_and_no_other() -> None:
    found = shown.software(TABLES)
    broken = set(found.loc[shown.refuted(found), ["software", "case"]].itertuples(index=False, name=None))
    assert broken == {("diffprivlib", "bounds (0, 100)"), ("DPrivStats", "a record is replaced")}
    assert "2 of 7" in page.read_software(TABLES).data


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


def test_sound_is_the_default() -> None:
    assert (SOUND.noise, SOUND.clip) == (1.0, True)
