"""What the pages around the chapters say follows the saved tables and findings."""

import math
import re
from itertools import product
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from chapters.overview import (
    appendix_c,
    dpgd_in_ten_minutes,
    noisyhead_in_ten_minutes,
    on_a_cluster,
)
from chapters.overview import index as front
from chapters.overview import security as page
from chapters.overview.drawings import clipping, head, schedule
from chapters.overview.saved import Saved
from chapters.privacy.what_this_does_not_protect import measure, show
from companion.build.project import LEDGER, Project, chapters, is_plain
from companion.build.staging import VALUE
from companion.judging.cards import title_of
from companion.judging.findings import Verdict
from companion.judging.prose import compact
from companion.showing.plates import Plate
from costofprivacy.dpgd.schedule import privacy_parameter
from costofprivacy.noisyhead.head import LinearAttentionHead, predict_by_attention
from costofprivacy.noisyhead.prompts import embed
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.advantage import largest_advantage

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "book"
SAVED = Saved(BOOK)

# the front page and the pages of ten minutes


@pytest.mark.parametrize(("page", "most"), [(dpgd_in_ten_minutes, 4), (noisyhead_in_ten_minutes, 3)])
def test_every_claim_is_judged_and_there_are_few_figures(page: ModuleType, most: int) -> None:
    values = page.values(SAVED)
    assert set(SAVED.findings) <= set(values)
    assert 1 <= sum(isinstance(value, Plate) for value in values.values()) <= most


def test_the_readme_says_what_the_front_page_says_of_each_paper() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    for name in SAVED.papers:
        finding = title_of(front.values(SAVED)[name].caption)
        assert finding[0].lower() + finding[1:] in readme


# the letters: ten points, none of which holds as printed, and what they promise is so

CLAIM = re.compile(r"\{\{ (\w+/[\w.-]+?)(?:_correction)? \}\}")
POINTS = 10


@pytest.mark.parametrize("paper", ["noisyhead", "dpgd"])
def test_a_letter_has_ten_points_that_do_not_hold_as_printed(paper: str) -> None:
    text = (BOOK / f"letter-{paper}.md").read_text("utf-8")
    points = re.findall(r"^\d+\. .*(?:\n   .*)*", text, re.MULTILINE)
    assert len(points) == POINTS
    for point in points:
        assert CLAIM.search(point)
        for claim in CLAIM.findall(point):
            assert SAVED.findings[claim].verdict not in (Verdict.HOLDS, Verdict.UNTESTABLE), claim


@pytest.mark.parametrize("paper", ["noisyhead", "dpgd"])
def test_a_letter_quotes_no_correction_that_there_is_not(paper: str) -> None:
    values = SAVED.letter(paper)
    assert all(values[key] for key in VALUE.findall((BOOK / f"letter-{paper}.md").read_text("utf-8")) if "/" in key)


def test_what_the_letter_confirms_to_the_authors_of_dp_gd_holds() -> None:
    quoted = CLAIM.findall((BOOK / "letter-dpgd.md").read_text("utf-8").partition("\n1. ")[0])
    assert len(quoted) == 3
    for claim in (*quoted, *(f"dpgd/{name}" for name in ("proposition-4.1", "theorem-1-mean", "theorem-2"))):
        assert SAVED.findings[claim].verdict == Verdict.HOLDS


# the proofs of the deterministic equivalent, and costs


def test_every_claim_of_appendix_c_is_one_of_the_chapter_and_is_named_once() -> None:
    names = [f"dpgd/{name}" for group in appendix_c.JUDGED.values() for name in group]
    assert len(set(names)) == len(names)
    assert {SAVED.register[name].chapter for name in names} == {appendix_c.CHAPTER}
    assert set(names) <= set(SAVED.findings)


def test_every_table_of_appendix_c_has_rows_and_there_is_one_figure() -> None:
    values = appendix_c.values(SAVED)
    assert sum(isinstance(value, Plate) for value in values.values()) == 1
    assert all(str(values[key]).count("\n") >= 3 for key in appendix_c.TABLES)


def test_every_chapter_that_measures_something_has_its_costs() -> None:
    costs = SAVED.table("costs", "chapters")
    project = Project(ROOT)
    assert set(costs["chapter"]) == {
        name for name in chapters(project) if name != LEDGER and not is_plain(project, name)
    }


def test_the_exponents_are_those_of_the_table() -> None:
    size = 2.0 ** np.arange(6)
    table = pd.DataFrame({"size": size, "seconds": 3 * size**1.5, "memory_mb": np.r_[0.0, 9 * size[1:]]})
    assert on_a_cluster.power(table, "seconds") == pytest.approx(1.5)
    assert on_a_cluster.power(table, "memory_mb") == pytest.approx(1.0)
    assert np.isnan(on_a_cluster.power(table.assign(seconds=0.0), "seconds"))


def test_each_size_has_a_row_and_a_curve() -> None:
    growth = SAVED.table("costs", "growth")
    values = on_a_cluster.values(SAVED)
    assert str(values["exponents"]).count("\n") == 1 + len(growth.groupby(["subject", "axis"]))
    assert {"N", "L", "D", "n", "d", "trials", "workers"} == set(growth["axis"])


# what the page on security says


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


# the drawings of ideas: each number in their words is computed from what is drawn


def test_the_head_that_is_drawn_predicts_what_attention_predicts() -> None:
    shown = head.passage()
    D = head.MODEL.D
    value, key = np.zeros((D + 1, D + 1)), np.zeros((D + 1, D + 1))
    value[-1, -1], key[:D, :D] = 1.0, shown.Gamma.T
    attended = predict_by_attention(embed(shown.prompt), LinearAttentionHead(value, key))
    assert shown.prediction == pytest.approx(float(attended[0]), rel=1e-12)
    assert shown.prediction == pytest.approx(float(shown.prompt.x[0, -1] @ shown.task), rel=1e-12)
    assert f"predicts {compact(shown.prediction)}" in head.plate().caption
    plt.close("all")


@pytest.mark.parametrize("clip", [0.3, 1.0, 3.0])
def test_clipping_shortens_what_is_outside_the_ball_and_leaves_the_rest(clip: float) -> None:
    raw, clipped, norm = clipping.gradients(clip=clip)
    before, after = (np.linalg.norm(vectors, axis=1) for vectors in (raw, clipped))
    np.testing.assert_allclose(after, np.minimum(before, norm), rtol=1e-12)
    np.testing.assert_allclose(raw * after[:, None], clipped * before[:, None], rtol=1e-12, atol=1e-12)


def test_both_schedules_go_equally_far_and_their_noise_keeps_the_budget() -> None:
    courses = {name: schedule.course(of) for name, of in schedule.pair().items()}
    far = [one["rates"].mean() for one in courses.values()]
    assert far[0] == pytest.approx(far[1], rel=0.01)
    scale = 2 * schedule.CLIP * np.sqrt(schedule.DIMENSION)
    for one in courses.values():
        spent = privacy_parameter(one["rates"] / schedule.RECORDS, one["noise"] / scale)
        assert spent == pytest.approx(schedule.RHO, rel=1e-9)
    assert not courses["constant"]["noise"][:-1].any()
    assert courses["harmonic"]["noise"].all()
    assert courses["harmonic"]["noise"][-1] < courses["constant"]["noise"][-1]
