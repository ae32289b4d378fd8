"""The numbers behind the verdicts of the chapter on high dimension, computed again from its tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics as asy
from costofprivacy.experiments.noisyhead.high_dimensional import axes
from costofprivacy.experiments.noisyhead.high_dimensional.verdicts_bounds import comparable
from costofprivacy.judging.tables import pick
from tests.experiments.verdicts.lemma_cases import A1, A2, A3, TAIL
from tests.experiments.verdicts.machinery import both, committed, judge
from tests.experiments.verdicts.test_high_dimensional import (
    A18,
    A19,
    CHAPTER,
    FIGURE_2,
    NO_SLIP,
    SECTION_11,
    THEOREM_11,
    THEOREM_42,
    kept,
    larger,
)


def slope(rows: pd.DataFrame, left: str, right: str, size: str = "size") -> float:
    """The power of a size in left/right over the last three sizes."""
    end = rows.sort_values(size).tail(3)
    return float(stats.linregress(np.log(end[size]), np.log(end[left] / end[right])).slope)


def along(regimes: pd.DataFrame, axis: str, budget: str) -> pd.DataFrame:
    return regimes[(regimes["axis"] == axis) & (regimes["budget"] == budget)]


def numbers(claim: str) -> list[tuple[float, float | None]]:
    """Value and what it is held against, of each number of a finding."""
    found = judge(CHAPTER, claim, committed(CHAPTER)).numbers
    assert all(n.name for n in found)
    return [(n.value, n.against) for n in found]


def test_the_numbers_on_figure_2_are_those_of_the_tables() -> None:
    t = committed(CHAPTER)
    end = t["starts"].query("N == 2100 and epsilon == 1 and method == 'noisyhead'").set_index("start")["excess_risk"]
    low = t["powers"].query("regime == 'low' and quantity == 'noise' and N == 1e4")["exponent"].iloc[0]
    own = t["figure-2"].query("setting == 'published'").pivot_table(index=["N", "epsilon"], values="excess_risk")
    zero = t["figure-2"].query("setting == 'published' and method == 'zero'").set_index("N")["excess_risk"]
    least = min(risk / zero[N] for (N, _), risk in own["excess_risk"].items())
    found = numbers(FIGURE_2)
    assert found[0] == (pytest.approx(1 - end["zero"] / end["random"]), 0.5)
    assert found[1] == (pytest.approx(-0.995, abs=1e-3), low)
    assert found[2] == (pytest.approx(-4.063, abs=1e-3), low)
    assert found[3] == (pytest.approx(least), 1.0)
    assert judge(CHAPTER, FIGURE_2, t).numbers[0].row == "N = 2100, epsilon = 1"
    assert [found[i] for i in (4, 6, 8)] == [(0.0, 30.0), (1.0, 30.0), (30.0, 30.0)]
    grown = judge(CHAPTER, FIGURE_2, t | dict(larger(t))).numbers[1]
    assert grown.against == pick(t["powers"], regime="low", quantity="noise", N=1e6)["exponent"]
    errors = [n.error for n in judge(CHAPTER, FIGURE_2, t).numbers[1:3]]
    assert errors == [pytest.approx(0.0029, abs=1e-4), pytest.approx(0.0030, abs=1e-4)]


def test_the_numbers_on_the_rates_are_those_of_the_tables() -> None:
    t = committed(CHAPTER)
    at_end = t["powers"][t["powers"]["N"] == 1e24].set_index(["regime", "quantity"])["exponent"]
    high, at_T = at_end["high", asy.BARE], at_end["high", asy.AT_T]
    claimed = {regime: at_end[regime, asy.RATE_11] for regime in ("low", "high")}
    worst = [
        max(slope(along(t["regime-axes"], axis, b), "error_gap", "rate_11") for axis in axes.PATHS)
        for b in (axes.FIXED, axes.LARGEST)
    ]
    expected = [(high, claimed["high"]), (at_T, 0.0), *((pytest.approx(w, abs=1e-9), 0.1) for w in worst)]
    assert numbers(THEOREM_11)[:4] == expected
    expected = [(claimed["low"], None), (claimed["high"], claimed["low"])]
    assert numbers(SECTION_11) == expected


def test_the_numbers_on_the_bounds_are_those_of_the_tables() -> None:
    t = committed(CHAPTER)
    ratio = t["both-sides"].assign(ratio=lambda r: r["excess_risk"] / r["bound"], one=1.0)
    path = slope(ratio.groupby("N", as_index=False)[["ratio", "one"]].max(), "ratio", "one", "N")
    end = {update: rows.nlargest(1, "r").iloc[0] for update, rows in t["progress"].groupby("update")}
    last = {part: rows.nlargest(1, "N").iloc[0] for part, rows in t["narrow"].groupby("part")}
    found = numbers(THEOREM_42)
    assert found[0] == (pytest.approx(path), 0.25)
    for i, column, axis in ((1, "halved", axes.PENALTY), (2, "printed", "N"), (3, "halved", axes.SMALL_PENALTY)):
        power = max(
            slope(along(t["regime-axes"], axis, b), f"risk_{column}", "bound_44") for b in (axes.FIXED, axes.LARGEST)
        )
        assert found[i] == (pytest.approx(power, abs=1e-9), 0.1)
    assert found[4:6] == [(r["excess_risk"] / r["bound"], 1.0) for r in end.values()]
    assert found[6:] == [(r["floor"] / r["bound_44"], 1.0) for r in last.values()]
    steps = t["proof-steps"].query("step == '(A.19)'")
    small, variance = (slope(steps[steps["axis"] == axis], "left", "right") for axis in (axes.SMALL_PENALTY, "ν"))
    along_N = slope(steps[steps["axis"] == "N"], "left", "right")
    assert numbers(A19) == [(pytest.approx(p), 0.1) for p in (variance, along_N, small)]
    assert len(numbers(A18)) == 2
    assert list(comparable(pd.DataFrame({"feature_over_penalty": [0.9, 1.0, 1.1]}))) == [True, True, False]


def test_the_numbers_on_the_lemmas_are_those_of_the_tables() -> None:
    t = committed(CHAPTER)
    for claim, name in ((A1, "A.1"), (A2, "A.2"), (A3, "A.3")):
        rows = t["lemmas"].query(f"lemma == '{name}'" + " and N > 1" * (claim == A3))
        chance = min(stats.binom.sf(k - 1, 400, 0.01) for k in rows["fails_at_root_2"])
        sizes = np.log(rows[["N", "L", "D"]].assign(one=np.e).to_numpy(float))
        powers = np.linalg.pinv(sizes) @ np.log(rows["constant"])
        found = numbers(claim)
        assert found[0] == (rows["fails_at_root_2"].sum(), rows["data_sets"].sum())
        assert found[1] == (pytest.approx(chance), 1e-4)
        assert found[2:4] == [(rows["constant"].min(), None), (rows["constant"].max(), np.sqrt(2))]
        assert found[4] == (pytest.approx(max(powers[:3])), 0.1)
    last, tail = t["lemma-a3-tail"].iloc[-1], t["sum-tail"]
    grows = slope(t["lemma-a3-tail"].assign(one=1.0), "constant_A3", "one", "D")
    assert numbers(A3)[5:] == [(last["constant_A3"], last["constant_A2_form"]), (pytest.approx(grows), 0.1)]
    long = slope(tail[np.isinf(tail["L"]) & (tail["D"] == 2)].assign(one=1.0), "over_printed", "one", "t")
    largest = [(tail["over_printed"].max(), 1.0), (tail["over_halved"].max(), 1.0)]
    assert numbers(TAIL) == [(pytest.approx(long), 0.1), *largest]


@pytest.mark.parametrize(("claim", "vacuous"), [(THEOREM_11, True), (THEOREM_42, False), (SECTION_11, False)])
def test_a_bound_is_vacuous_where_always_predicting_0_meets_it(claim: str, vacuous: bool) -> None:
    assert judge(CHAPTER, claim, committed(CHAPTER)).vacuous == vacuous


def test_a_rate_that_always_predicting_0_misses_is_not_vacuous() -> None:
    t = committed(CHAPTER)
    regimes = t["regime-axes"].assign(rate_11=lambda r: r["rate_11"] * r["size"] ** -0.2)
    smaller = regimes.assign(error_gap=1e-9 * regimes["rate_11"])
    found = judge(CHAPTER, THEOREM_11, t | {"regime-axes": smaller})
    assert (found.verdict, found.vacuous) == ("holds", False)


def test_which_update_a_bound_needs_is_said_where_it_needs_it() -> None:
    t = committed(CHAPTER)
    for unneeded in (NO_SLIP, (kept("projection", 0.0),)):
        assert "other than in the book" in judge(CHAPTER, THEOREM_42, t | dict(both(*unneeded)(t))).headline
    assert [n.name.endswith("power 5") for n in judge(CHAPTER, A19, t).numbers] == [False, True, False]
