import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from chapters.overview import security as page
from chapters.overview.saved import Saved
from chapters.privacy.what_this_does_not_protect import measure, show
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.advantage import largest_advantage

ROOT = Path(__file__).parents[3]
SAVED = Saved(ROOT / "book")
TABLES = {name: SAVED.table(page.CHAPTER, name) for name in page.TABLES}


def test_each_limit_of_the_table_is_one_of_the_list() -> None:
    listed = re.findall(r"^- \*\*([^*]+)\.\*\*", (ROOT / ".github/SECURITY.md").read_text("utf-8"), re.MULTILINE)
    assert set(page.rows(TABLES)["limit"]) <= set(listed)


def test_the_chapter_s_figure_has_the_same_advantages() -> None:
    ours, theirs = page.rows(TABLES), show.gaps(TABLES)
    assert set(ours["advantage"]) <= set(theirs["advantage"])
    assert (ours["bound"] == theirs["bound"].iloc[0]).all()


def test_both_limits_are_computed_from_the_budget_that_was_attacked() -> None:
    told = page.values(SAVED)
    assert (told["promise"], told["alone"]) == ("11 %", "46 %")
    mu = ApproximateDP(1.0, 1e-5).to_gaussian()
    assert show.permitted(TABLES) == pytest.approx((largest_advantage(mu), show.most(1.0, 1e-5)))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.3, 0.05), (3.0, 1e-3), (1e-9, 0.0)])
def test_no_smaller_limit_follows_from_epsilon_and_delta(epsilon: float, delta: float) -> None:
    """The best attack on any two laws of four results, by linear programming over all that (ε, δ) permits."""
    events = np.array(list(product([0.0, 1.0], repeat=4)))
    kept = np.block([[events, -math.exp(epsilon) * events], [-math.exp(epsilon) * events, events]])
    laws = np.kron(np.eye(2), np.ones(4))
    gain = np.array([1.0, 1.0, 0.0, 0.0])
    best = linprog(np.r_[-gain, gain], kept, np.full(len(kept), delta), A_eq=laws, b_eq=[1, 1])
    assert show.most(epsilon, delta) == pytest.approx(-best.fun, abs=1e-7)


@pytest.mark.parametrize(
    ("advantages", "bits"),
    [((0.9, 0.05, 0.0), 44), ((0.0, 0.0, 0.0), 48), ((0.9, 0.05, 0.9), 40), ((0.0, 0.9, 0.0), 40)],
)
def test_a_rounding_is_coarse_enough_if_all_coarser_ones_are(advantages: tuple[float, ...], bits: int) -> None:
    table = pd.DataFrame({"advantage": advantages, "bits": (48, 44, 40), "attack": measure.ROUNDED})
    assert page.coarse_enough(table.assign(standard_error=0.001, bound=0.1))["bits"] == bits
