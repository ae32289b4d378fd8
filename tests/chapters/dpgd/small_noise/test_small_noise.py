import math
from typing import Any

import numpy as np
import pytest

from chapters.dpgd.small_noise import measure
from chapters.dpgd.small_noise.measure import FIXED, NONE, Cell
from companion.judging.findings import Verdict
from companion.streams import generator
from costofprivacy.dpgd import control
from tests.chapters.machinery import Case, both, committed, only, put, trials

CHAPTER, TABLE = "dpgd/small-noise", "small-noise-full-batch"


def test_a_trial_is_the_risk_of_a_release_in_unshifted_coordinates() -> None:
    """With labels of order 1, at label noise that doubles resolve beside them: the same mean risk."""
    cell = Cell(0, FIXED, 1200, 30, 0.01, 1.0)
    shifted = np.array([measure.trial(cell, rng=generator(0, 0, i))[0] for i in range(20)])
    target, risks = np.full(30, -(30**-0.5)), []
    for i in range(20):
        rng = generator(1, 0, i)
        x = rng.standard_normal((1200, 30))
        y = x @ target + 0.01 * rng.standard_normal(1200)
        error = measure.shrinking_clip.release(x, y, cell.plan, rng=rng) - target
        risks.append(error @ error / 2)
    spread = math.hypot(shifted.std(), np.std(risks)) / math.sqrt(20)
    assert abs(shifted.mean() - np.mean(risks)) < 4 * spread


def test_a_row_has_the_mean_and_the_exponent_of_its_risks() -> None:
    cell = Cell(0, NONE, 600, 60, 0.0, 2.0)
    row = measure.row(cell, np.array([[1e-3], [1e-5]]))
    assert row["risk"] == pytest.approx(5.05e-4)
    assert row["exponent"] == pytest.approx(math.log(1e-4) / 400)
    assert (row["order"], row["size"], row["rounds"]) == (0.0, pytest.approx(10.0), 20)


def test_one_pass_at_no_label_noise_is_the_limit_and_above_its_bound() -> None:
    cell = Cell(0, NONE, 6000, 60, 0.0, 1.0)
    near = min(control.least(control.following_clip(0.5, 0.01, 1e-40, ratio, 1.0)).risk for ratio in measure.RATIOS)
    assert measure.one_pass(cell) == pytest.approx(near, rel=1e-3)
    table = committed(CHAPTER)[TABLE]
    assert (table["one_pass"] > table["one_pass_floor"]).all()


# the judges

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CLAIM = "dpgd/section-8-small-noise"


def to(column: str, value: Any, axis: str) -> Any:
    return put(TABLE, column, value, axis=axis)


CASES = [
    Case(CLAIM, "no risk is left without label noise", to("risk", lambda r: 0.0, "zeta = 0"), HOLDS),
    Case(CLAIM, "without label noise it is as slow as DP-GD",
         to("exponent", lambda r: r["one_pass_exponent"], "zeta = 0"), FAILS),
    Case(CLAIM, "a risk of 0 where the order is missed",
         both(to("risk", 0.0, "zeta = 0"), to("risk", lambda r: r["one_pass"], "gamma fixed")), FAILS),
    Case(CLAIM, "one γ alone", only(TABLE, "axis == 'gamma fixed' or gamma == 0.1"), UNTESTABLE),
    Case(CLAIM, "one label noise alone", only(TABLE, "axis != 'gamma fixed' or zeta == 1"), UNTESTABLE),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
