"""Every verdict on deterministic equivalent depends on its tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd import deterministic_equivalent
from costofprivacy.experiments.dpgd.deterministic_equivalent import verdicts_theory as th
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = deterministic_equivalent.Experiment(
    gamma=0.2,
    d=(10, 100),
    n=(80, 160, 320),
    chain_steps=1,
    law_d=(20,),
    law_trials=2,
    axis_d=(1, 2),
    theory_n=(160, 480),
    step_d=(10, 100),
    theory_trials=3,
)
de = deterministic_equivalent


def identity(table: pd.DataFrame, name: str, value: float) -> pd.DataFrame:
    return change(table, "relative_difference", lambda _: value, table["identity"] == name)


def within(table: pd.DataFrame, column: str, starts: str, value: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    """``column`` set to ``value(rows)`` where the quantity starts with ``starts``."""
    return change(table, column, value, table["quantity"].str.startswith(starts))


def bounds(table: pd.DataFrame, reading: str, margin: float) -> pd.DataFrame:
    """An enclosure with this margin on both sides in all cases of a reading."""
    both = change(table, "lower_margin", lambda _: margin, table["reading"] == reading)
    return change(both, "upper_margin", lambda _: margin, table["reading"] == reading)


def deviation(rates: pd.DataFrame, quantity: str, value: float) -> pd.DataFrame:
    """Rates of which one deviation is the same at every n, and known well."""
    sure = change(rates, "standard_error", lambda _: value / 100, rates["quantity"] == quantity)
    return change(sure, "value", lambda _: value, rates["quantity"] == quantity)


CASES: list[Case] = [
    (
        th.judge_definition_42,
        ("one-step", "identities"),
        HOLDS,
        lambda t: {"one-step": change(t["one-step"], "value", lambda r: 1.2 * r["value"])},
        {FAILS},
    ),
    (
        th.judge_definition_42,
        ("one-step", "identities"),
        HOLDS,
        lambda t: {"identities": identity(t["identities"], "(4.7), exponential integrator and LSODA", 1e-3)},
        {FAILS},
    ),
    (
        th.judge_equation_c7,
        ("one-step",),
        AMENDED,
        lambda t: {"one-step": change(t["one-step"], "value", lambda r: r["printed"])},
        {HOLDS},
    ),
    (
        th.judge_equation_c7,
        ("one-step",),
        AMENDED,
        lambda t: {"one-step": change(t["one-step"], "value", lambda r: 4 * r["printed"])},
        {FAILS},
    ),
    (
        th.judge_equation_411,
        ("identities",),
        HOLDS,
        lambda t: {"identities": identity(t["identities"], "(4.11), d equations and one", 1e-3)},
        {FAILS},
    ),
    (
        th.judge_equation_412,
        ("enclosure",),
        AMENDED,
        lambda t: {"enclosure": t["enclosure"].assign(lower=t["enclosure"]["risk"], upper=t["enclosure"]["risk"])},
        {HOLDS},
    ),
    (
        th.judge_equation_412,
        ("enclosure",),
        AMENDED,
        lambda t: {"enclosure": t["enclosure"].assign(upper=2 * t["enclosure"]["risk"])},
        {FAILS},
    ),
    *(
        (
            judge,
            ("enclosure",),
            AMENDED,
            lambda t, r=reading, m=margin: {"enclosure": bounds(t["enclosure"], r, m)},
            {to},
        )
        for judge in (th.judge_equation_413, th.judge_proposition_d1)
        for reading, margin, to in (("printed", 0.1, HOLDS), ("corrected", -0.1, FAILS), ("printed", -0.1, FAILS))
    ),
    *(
        (
            judge,
            ("homogenised",),
            AMENDED,
            lambda t, q=f"{quantity}, {drift}", f=factor: {
                "homogenised": within(
                    t["homogenised"], "value", q, lambda r: f * r["value"] * (r["n"] / 160) ** (f > 1)
                )
            },
            {to},
        )
        for judge, quantity in (
            (th.judge_equation_414, "risk"),
            (th.judge_definition_c1, "risk"),
            (th.judge_remark_43, "risk"),
            (th.judge_theorem_5, "resolvents"),
        )
        for drift, factor, to in (("printed", 0.01, HOLDS), ("derived", 2.0, FAILS))
    ),
    (
        th.judge_equation_422,
        ("sums",),
        HOLDS,
        lambda t: {"sums": within(t["sums"], "value", "last over the one before, harm", lambda r: 1.0)},
        {FAILS},
    ),
    (
        th.judge_equation_422,
        ("sums",),
        HOLDS,
        lambda t: {"sums": within(t["sums"], "value", "(4.22), harmonic", lambda r: 0.01)},
        {FAILS},
    ),
    (
        th.judge_lemma_c2,
        ("sums", "homogenised"),
        AMENDED,
        lambda t: {"sums": within(t["sums"], "value", "(C.16)", lambda r: r[["printed", "derived"]].min(axis=1) / 2)},
        {HOLDS},
    ),
    (
        th.judge_lemma_c2,
        ("sums", "homogenised"),
        AMENDED,
        lambda t: {"sums": within(t["sums"], "value", "(C.16)", lambda r: 2 * r["derived"])},
        {FAILS},
    ),
    *(
        (
            judge,
            names,
            expected,
            lambda t, q=f"martingale of the {which}": {
                "homogenised": within(t["homogenised"], "value", q, lambda r: 1.0)
            },
            {FAILS},
        )
        for judge, names, expected, which in (
            (th.judge_lemma_c2, ("sums", "homogenised"), AMENDED, "private noise"),
            (th.judge_lemma_c3, ("homogenised",), HOLDS, "diffusion"),
        )
    ),
    *(
        (
            judge,
            names,
            expected,
            lambda t, q=f"martingale of the {which}": {
                "homogenised": within(t["homogenised"], "tail", q, lambda r: 2.5 * r["scale"])
            },
            {FAILS},
        )
        for judge, names, expected, which in (
            (th.judge_lemma_c2, ("sums", "homogenised"), AMENDED, "private noise"),
            (th.judge_lemma_c3, ("homogenised",), HOLDS, "diffusion"),
        )
    ),
    (
        th.judge_lemma_c4,
        ("growth",),
        AMENDED,
        lambda t: {"growth": t["growth"].assign(value=0.1)},
        {HOLDS},
    ),
    (
        th.judge_lemma_c4,
        ("growth",),
        AMENDED,
        lambda t: {"growth": t["growth"].assign(value=-np.log(t["growth"]["squared_norm"]))},
        {FAILS},
    ),
    *(
        (
            th.judge_lemma_c5,
            ("sums",),
            HOLDS,
            lambda t, q=quantity: {"sums": within(t["sums"], "value", q, lambda r: r["n"] / 100)},
            {FAILS},
        )
        for quantity in ("(C.32)", "(C.32), at the cap, squares")
    ),
    (
        de.judge_figure_1,
        ("figure-1",),
        HOLDS,
        lambda t: {"figure-1": change(t["figure-1"], "ode_risk", lambda r: 1.5 * r["ode_risk"])},
        {FAILS},
    ),
    (
        de.judge_figure_1,
        ("figure-1",),
        HOLDS,
        lambda t: {"figure-1": change(t["figure-1"], "risk_sd", lambda r: r["d"] / 100)},
        {FAILS},
    ),
    *(
        (judge, ("rates",), HOLDS, lambda t, q=quantity: {"rates": deviation(t["rates"], q, 0.05)}, {FAILS})
        for judge, quantity in (
            (de.judge_theorem_1_path, "path"),
            (de.judge_theorem_1_path, "path, 99 %"),
            (de.judge_theorem_1_mean, "bias"),
            (de.judge_proposition_44_path, "released"),
            (de.judge_proposition_44_mean, "released bias"),
        )
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


@pytest.mark.parametrize("judge", [th.judge_equation_414, th.judge_theorem_5, th.judge_lemma_c3])
def test_a_single_size_tells_nothing_of_the_diffusion(judge: Callable[..., Judgement], tables: Tables) -> None:
    table = tables["homogenised"]
    assert judge(table[table["n"] == table["n"].min()]).verdict == Verdict.UNTESTABLE


def test_noise_that_hides_the_drift_decides_nothing(tables: Tables) -> None:
    table = tables["homogenised"]
    assert th.judge_equation_414(table.assign(standard_error=1.0)).verdict == Verdict.UNTESTABLE
    steps = tables["one-step"]
    assert th.judge_equation_c7(steps.assign(standard_error=1.0)).verdict == Verdict.UNTESTABLE


def test_a_single_size_tells_nothing_of_the_sums(tables: Tables) -> None:
    sums = tables["sums"][tables["sums"]["n"] == tables["sums"]["n"].min()]
    assert th.judge_equation_422(sums).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c5(sums).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c2(sums, tables["homogenised"]).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c4(tables["growth"].head(2)).verdict == Verdict.UNTESTABLE
