"""Every verdict on high dimensional depends on its tables."""

import numpy as np
import pandas as pd
import pytest

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import high_dimensional as hi
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics as asy
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = hi.Experiment(
    N=(1000, 1500), epsilon=(0.01, 1.0), trials=20, bound_N=(100, 225), bound_trials=3, lemma_trials=40
)
FIGURE_2 = ("figure-2", "comparison", "starts")
THEOREM_42II = ("both-sides", "progress", "narrow")


def at_rest(powers: pd.DataFrame, regime: str, quantity: str, column: str, value: float) -> pd.DataFrame:
    """Powers of N with one quantity's column set throughout."""
    return change(powers, column, lambda _: value, (powers["regime"] == regime) & (powers["quantity"] == quantity))


def gone(narrow: pd.DataFrame, part: str) -> pd.DataFrame:
    """What no step removes, without one of its parts."""
    return change(narrow, "floor", lambda _: 0.0, narrow["part"] == part)


def all_fail(lemmas: pd.DataFrame, name: str) -> pd.DataFrame:
    """Lemmas of which one fails with √2 in every data set of every cell with N ≥ D²."""
    rows = (lemmas["lemma"] == name) & (lemmas["N"] >= lemmas["D"] ** 2)
    return change(lemmas, "fails_at_root_2", lambda r: r["data_sets"], rows)


CASES: list[Case] = [
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {"figure-2": change(t["figure-2"], "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 6)},
        {FAILS},
    ),
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {
            "figure-2": change(t["figure-2"], "excess_risk", lambda r: r["excess_risk"] * (100 * r["epsilon"]) ** 2)
        },
        {FAILS},
    ),
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 9.0, t["comparison"]["setting"] == "published")
        },
        {FAILS},
    ),
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 0.5),
            "starts": change(t["starts"], "excess_risk", lambda r: r["N"] ** -2.0),
        },
        {HOLDS},
    ),
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {"figure-2": change(t["figure-2"], "standard_error", lambda r: 10 * r["excess_risk"])},
        {UNTESTABLE},
    ),
    (
        hi.judge_figure_2,
        FIGURE_2,
        AMENDED,
        lambda t: {"figure-2": t["figure-2"][t["figure-2"]["N"] == 1000]},
        {UNTESTABLE},
    ),
    (
        hi.judge_theorem_11_high,
        ("powers",),
        HOLDS,
        lambda t: {"powers": at_rest(t["powers"], asy.HIGH, asy.BARE, "exponent", -1.9)},
        {FAILS},
    ),
    (
        hi.judge_theorem_11_high,
        ("powers",),
        HOLDS,
        lambda t: {"powers": at_rest(t["powers"], asy.HIGH, asy.AT_T, "exponent", 0.1)},
        {FAILS},
    ),
    (
        hi.judge_section_11,
        ("powers",),
        FAILS,
        lambda t: {"powers": at_rest(t["powers"], asy.HIGH, asy.BARE, "exponent", -2.0)},
        {AMENDED},
    ),
    (hi.judge_theorem_42ii, THEOREM_42II, FAILS, lambda t: {"narrow": gone(t["narrow"], "projection")}, {AMENDED}),
    (
        hi.judge_theorem_42ii,
        THEOREM_42II,
        FAILS,
        lambda t: {
            "narrow": t["narrow"].assign(floor=0.0),
            "progress": change(t["progress"], "excess_risk", lambda r: r["bound"] / 2),
        },
        {HOLDS},
    ),
    (
        hi.judge_theorem_42ii,
        THEOREM_42II,
        FAILS,
        lambda t: {"narrow": t["narrow"].assign(floor=0.0)},
        {AMENDED},
    ),
    (
        hi.judge_theorem_42ii,
        THEOREM_42II,
        FAILS,
        lambda t: {"both-sides": t["both-sides"][t["both-sides"]["N"] == 100]},
        {UNTESTABLE},
    ),
    (
        hi.judge_lemma_a1,
        ("lemmas",),
        HOLDS,
        lambda t: {"lemmas": all_fail(t["lemmas"], "A.1")},
        {FAILS},
    ),
    (
        hi.judge_lemma_a2,
        ("lemmas",),
        HOLDS,
        lambda t: {"lemmas": all_fail(t["lemmas"], "A.2")},
        {FAILS},
    ),
    (
        hi.judge_lemma_a3,
        ("lemmas", "lemma-a3-tail"),
        AMENDED,
        lambda t: {"lemmas": all_fail(t["lemmas"], "A.3")},
        {FAILS},
    ),
    (
        hi.judge_lemma_a3,
        ("lemmas", "lemma-a3-tail"),
        AMENDED,
        lambda t: {"lemma-a3-tail": change(t["lemma-a3-tail"], "constant_A3", lambda r: 1.1)},
        {HOLDS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_what_falls_in_figure_2_is_the_start(tables: Tables) -> None:
    figure, comparison, starts = (tables[name] for name in FIGURE_2)
    near = change(comparison, "deviation", lambda r: 0.5)
    found = hi.judge_figure_2(figure, near, starts)
    assert found.verdict == AMENDED
    idle = change(starts, "excess_risk", lambda r: r["N"] ** -2.0)
    assert hi.judge_figure_2(figure, comparison, idle).verdict == AMENDED
    last = starts.query("N == 1500 and epsilon == 1 and method == 'noisyhead'").set_index("start")["excess_risk"]
    share = 1 - last["zero"] / last["random"]
    assert share > 0.99
    assert f"it makes {100 * share:.2f} % of the excess risk" in found.evidence
    slopes = hi.start_slopes(starts).set_index("start")
    one = starts.query("N == 1000 and epsilon == 1 and method == 'noisyhead'").set_index("start")["excess_risk"]
    for start in ("random", "zero"):
        expected = np.log(last[start] / one[start]) / np.log(1.5)
        assert slopes["exponent"][start] == pytest.approx(expected)
        assert f"N^{expected:.{2 if start == 'random' else 1}f}" in found.evidence
    zero = figure.query("setting == 'published' and method == 'zero'").set_index("N")["excess_risk"]
    private = figure.query("setting == 'published' and method == 'noisyhead'")
    assert f"{min(private['excess_risk'] / zero[private['N']].to_numpy()):.1e} times" in found.evidence


def test_figure_2_needs_more_than_one_N_whatever_epsilon_says(tables: Tables) -> None:
    figure = tables["figure-2"]
    for part in (figure[figure["epsilon"].isna() | (figure["epsilon"] == 1)], figure):
        one = part[part["N"] == 1500]
        assert hi.judge_figure_2(one, tables["comparison"].head(0), tables["starts"]).verdict == UNTESTABLE
    assert hi.judge_figure_2(figure, tables["comparison"].head(0), tables["starts"]).verdict == AMENDED


def test_lemmas_may_fail_as_often_as_they_say(tables: Tables) -> None:
    """Of forty data sets at κ = 0.01, four or more fail with probability 6e-4, five or more with 5e-5.

    Lemma A.3 is not judged below N = D².
    """
    for failures, verdict in ((4, HOLDS), (5, FAILS)):
        several = tables["lemmas"].assign(fails_at_root_2=failures)
        assert hi.judge_lemma_a1(several).verdict == verdict
    once = change(tables["lemmas"], "fails_at_root_2", lambda r: 1)
    for judge in (hi.judge_lemma_a1, hi.judge_lemma_a2):
        assert judge(once).verdict == HOLDS
    assert hi.judge_lemma_a3(once, tables["lemma-a3-tail"]).verdict == AMENDED
    few = change(tables["lemmas"], "fails_at_root_2", lambda r: r["data_sets"], tables["lemmas"]["N"] == 1)
    assert hi.judge_lemma_a3(few, tables["lemma-a3-tail"]).verdict == AMENDED
    assert hi.judge_lemma_a2(few).verdict == FAILS


def test_no_constant_may_grow_with_N_in_theorem_42ii(tables: Tables) -> None:
    sides, progress, clean = tables["both-sides"], tables["progress"], tables["narrow"].assign(floor=0.0)
    for first, second, verdict in ((1e-3, 1.9, AMENDED), (1e-3, 2.1, FAILS), (3.0, 5.9, AMENDED), (3.0, 6.1, FAILS)):
        pair = np.where(sides["N"] == 100, first, second)
        found = hi.judge_theorem_42ii(sides.assign(excess_risk=sides["bound"] * pair), progress, clean)
        assert found.verdict == verdict


def test_what_stays_must_be_beyond_doubt_and_grow(tables: Tables) -> None:
    sides, progress, narrow = tables["both-sides"], tables["progress"], tables["narrow"]
    assert "the bias of Π_G" in hi.judge_theorem_42ii(sides, progress, narrow).evidence
    doubtful = narrow.assign(standard_error=narrow["floor"] / 3)
    assert hi.judge_theorem_42ii(sides, progress, doubtful).verdict == AMENDED
    steady = narrow.assign(floor=10 * narrow["bound_44"], standard_error=0.0)
    assert hi.judge_theorem_42ii(sides, progress, steady).verdict == AMENDED


def test_powers_are_judged_at_the_largest_N(tables: Tables) -> None:
    powers = tables["powers"]
    early = change(powers, "exponent", lambda r: 0.0, powers["N"] < 1e24)
    assert hi.judge_theorem_11_high(early).verdict == HOLDS
    for seed in range(5):
        shuffled = powers.sample(frac=1, random_state=seed)
        assert hi.judge_theorem_11_high(shuffled) == hi.judge_theorem_11_high(powers)
        assert hi.judge_section_11(shuffled) == hi.judge_section_11(powers)
    for exponent, verdict in ((-2.04, HOLDS), (-1.96, HOLDS), (-1.94, FAILS)):
        other = at_rest(powers, asy.HIGH, asy.BARE, "exponent", exponent)
        assert hi.judge_theorem_11_high(other).verdict == verdict
    for exponent, verdict in ((-2.46, FAILS), (-2.44, AMENDED)):
        assert hi.judge_section_11(at_rest(powers, asy.HIGH, asy.BARE, "exponent", exponent)).verdict == verdict
