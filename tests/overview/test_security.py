import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from costofprivacy.experiments.privacy.what_this_does_not_protect import page as chapter
from costofprivacy.overview import security as page
from costofprivacy.overview.saved import Saved
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.advantage import largest_advantage

ROOT = Path(__file__).parents[2]
SAVED = Saved(ROOT / "book")
TABLES = {name: SAVED.table(page.CHAPTER, name) for name in page.TABLES}


def test_each_limit_of_the_table_is_one_of_the_list() -> None:
    listed = re.findall(r"^- \*\*([^*]+)\.\*\*", (ROOT / ".github/SECURITY.md").read_text("utf-8"), re.MULTILINE)
    assert set(page.rows(TABLES)["limit"]) <= set(listed)


def test_the_chapter_s_figure_has_the_same_advantages() -> None:
    ours, theirs = page.rows(TABLES), chapter.gaps(TABLES)
    assert set(ours["advantage"]) <= set(theirs["advantage"])
    assert (ours["bound"] == theirs["bound"].iloc[0]).all()


def test_the_answer_counts_what_is_beyond_one_release() -> None:
    assert "the 6 attacks on these limits; all of them gained more than one Gaussian" in page.answer(TABLES)
    weak = {name: table.assign(advantage=0.0) if "advantage" in table else table for name, table in TABLES.items()}
    assert page.answer(weak) == "None of the 6 attacks gained more than one Gaussian release permits."
    one = weak | {"seeds": TABLES["seeds"]}
    assert "the 6 attacks on these limits; 1 of them gained more than one Gaussian" in page.answer(one)
    assert page.answer(one).count("up to 100 %") == 1


def test_the_controls_are_those_attacks_of_the_chapter_that_the_page_leaves_out() -> None:
    assert "The chapter makes 9 attacks in all. The other 3 break no rule of the list" in page.answer(TABLES)
    assert "controls; none of them gained more than is permitted." in page.answer(TABLES)
    bad = TABLES | {"population": TABLES["population"].assign(advantage=1.0)}
    assert "controls; 1 of them gained more." in page.answer(bad)


def test_both_limits_are_computed_from_the_budget_that_was_attacked() -> None:
    told = page.values(SAVED)
    assert (told["promise"], told["alone"]) == ("11 %", "46 %")
    mu = ApproximateDP(1.0, 1e-5).to_gaussian()
    assert chapter.permitted(TABLES) == pytest.approx((largest_advantage(mu), chapter.most(1.0, 1e-5)))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.3, 0.05), (3.0, 1e-3), (1e-9, 0.0)])
def test_no_smaller_limit_follows_from_epsilon_and_delta(epsilon: float, delta: float) -> None:
    """The best attack on any two laws of four results, by linear programming over all that (ε, δ) permits."""
    events = np.array(list(product([0.0, 1.0], repeat=4)))
    kept = np.block([[events, -math.exp(epsilon) * events], [-math.exp(epsilon) * events, events]])
    laws = np.kron(np.eye(2), np.ones(4))
    gain = np.array([1.0, 1.0, 0.0, 0.0])
    best = linprog(np.r_[-gain, gain], kept, np.full(len(kept), delta), A_eq=laws, b_eq=[1, 1])
    assert chapter.most(epsilon, delta) == pytest.approx(-best.fun, abs=1e-7)


@pytest.mark.parametrize(
    ("advantages", "bits"),
    [((0.9, 0.05, 0.0), 44), ((0.0, 0.0, 0.0), 48), ((0.9, 0.05, 0.9), 40), ((0.0, 0.9, 0.0), 40)],
)
def test_a_rounding_is_coarse_enough_if_all_coarser_ones_are(advantages: tuple[float, ...], bits: int) -> None:
    table = pd.DataFrame({"advantage": advantages, "bits": (48, 44, 40), "attack": chapter.ROUNDED})
    assert page.coarse_enough(table.assign(standard_error=0.001, bound=0.1))["bits"] == bits


def test_a_gain_is_told_where_one_release_does_not_permit_it() -> None:
    row = pd.Series({"advantage": 0.894, "standard_error": 0.0138, "bound": 0.1})
    assert page.gained(row) == "89 %"
    assert page.gained(row.replace(0.894, 0.11)) == "no more than one release permits"


def test_the_largest_error_is_told() -> None:
    assert page.errors(TABLES | {"repeats": TABLES["repeats"].assign(standard_error=0.044)}) == "4.4 percentage points"


def test_times_that_differ_are_counted() -> None:
    timing = TABLES["timing"]
    assert "3 unusual ones: none of these took over 20 % more" in page.time(timing.assign(shows=False))
    assert "2 of these took" in page.time(timing.assign(shows=[False, True, True, False]))


def test_a_guarantee_that_is_false_now_is_counted() -> None:
    table = TABLES["repaired"]
    assert "repeats 7 attacks on these faults. Against the present version, all of them stay" in page.repaired(table)
    assert "5 of them stay" in page.repaired(table.assign(now=[*table["allowed"][:5], 99.0, 99.0], now_error=0.0))


def test_the_page_has_the_whole_file_for_those_who_report_a_fault() -> None:
    """In three parts, between the file's marks, in another order."""
    text, written = ((ROOT / name).read_text("utf-8") for name in (".github/SECURITY.md", "book/security.md"))
    included = re.findall(r"```\{include\} \.\./\.github/SECURITY\.md\n(.*?)```", written, re.DOTALL)
    marks = [dict(re.findall(r"^:([\w-]+): \"?(.*?)\"?$", options, re.MULTILINE)) for options in included]
    parts = []
    for mark in marks:
        assert all(text.count(words) == 1 or words == "# Security" for words in mark.values())
        part = text.split(mark["start-after"], 1)[1]
        parts.append(part.split(mark["end-before"], 1)[0] if "end-before" in mark else part)
    assert sorted(line for part in parts for line in part.splitlines() if line.strip()) == sorted(
        line for line in text.splitlines() if line.strip() and line != "# Security" and not line.startswith("<!--")
    )
