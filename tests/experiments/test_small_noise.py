"""The chapter on vanishing label noise: its cells, its rows, what is drawn and shown."""

import math

import numpy as np
import pytest

from costofprivacy.chapters import LONGEST_ANSWER
from costofprivacy.dpgd import control
from costofprivacy.experiments.dpgd.small_noise import experiment, figures, page, tables
from costofprivacy.experiments.dpgd.small_noise.experiment import FIXED, NONE, Cell, Experiment
from costofprivacy.judging.headlines import words
from costofprivacy.streams import generator
from tests.experiments.reading import check_plate, check_table, opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLE = committed("dpgd/small-noise")["small-noise-full-batch"]


def test_every_cell_has_its_own_stream() -> None:
    cells = Experiment().cells
    assert len({cell.key for cell in cells}) == len(cells) == len(TABLE)
    assert [cell.n for cell in cells] == list(TABLE["n"])


def test_a_trial_is_the_risk_of_a_release_in_unshifted_coordinates() -> None:
    """With labels of order 1, at label noise that doubles resolve beside them: the same mean risk."""
    cell = Cell(0, FIXED, 1200, 30, 0.01, 1.0)
    shifted = np.array([experiment.trial(cell, rng=generator(0, 0, i))[0] for i in range(40)])
    target, risks = np.full(30, -(30**-0.5)), []
    for i in range(40):
        rng = generator(1, 0, i)
        x = rng.standard_normal((1200, 30))
        y = x @ target + 0.01 * rng.standard_normal(1200)
        error = experiment.shrinking_clip.release(x, y, cell.plan, rng=rng) - target
        risks.append(error @ error / 2)
    spread = math.hypot(shifted.std(), np.std(risks)) / math.sqrt(40)
    assert abs(shifted.mean() - np.mean(risks)) < 4 * spread


def test_a_row_has_the_mean_and_the_exponent_of_its_risks() -> None:
    cell = Cell(0, NONE, 600, 60, 0.0, 2.0)
    row = experiment.row(cell, np.array([[1e-3], [1e-5]]))
    assert row["risk"] == pytest.approx(5.05e-4)
    assert row["exponent"] == pytest.approx(math.log(1e-4) / 400)
    assert (row["order"], row["size"], row["rounds"]) == (0.0, pytest.approx(10.0), 20)


def test_one_pass_at_no_label_noise_is_the_limit_and_above_its_bound() -> None:
    cell = Cell(0, NONE, 6000, 60, 0.0, 1.0)
    near = min(control.least(control.following_clip(0.5, 0.01, 1e-40, ratio, 1.0)).risk for ratio in experiment.RATIOS)
    assert experiment.one_pass(cell) == pytest.approx(near, rel=1e-3)
    assert (TABLE["one_pass"] > TABLE["one_pass_floor"]).all()


def test_the_answer_follows_the_table() -> None:
    found = opening_of(page)({"small-noise-full-batch": TABLE})
    assert words(found) <= LONGEST_ANSWER
    end = TABLE["zeta"] == 1e-8
    other = change(TABLE, "risk", lambda rows: 3 * rows["order"], end)
    assert "its risk is 3 times" in opening_of(page)({"small-noise-full-batch": other})


def test_the_plate_is_computed_and_typeset() -> None:
    check_plate(figures.draw_risks(TABLE))
    other = change(TABLE, "exponent", lambda rows: -0.5, TABLE["axis"] == NONE)
    assert "at 0.5 and DP-GD" in figures.draw_risks(other).caption


def test_tables_are_for_readers() -> None:
    check_table(tables.show_exponents(TABLE))
    check_table(tables.show_orders(TABLE))
