"""Every verdict on algorithm depends on its tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.dpgd import algorithm as al
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = al.Experiment(
    gammas=(0.1, 0.03, 0.01), sizes=(1000, 3000), pairs=5000, others=100, placements=10, trials=1
)


def along_n(rates: pd.DataFrame, algorithm_name: str, column: str, to: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    return change(rates, column, to, (rates["axis"] == "n") & (rates["algorithm"] == algorithm_name))


CASES: list[Case] = [
    (
        al.judge_equation_11,
        ("identity",),
        HOLDS,
        lambda t: {"identity": change(t["identity"], "ratio", lambda r: 1 + 9 * r["standard_error"])},
        {FAILS},
    ),
    (
        al.judge_equation_12,
        ("rates", "translation"),
        UNTESTABLE,
        lambda t: {"translation": change(t["translation"], "ratio", lambda r: np.log(r["n"]))},
        {UNTESTABLE},
    ),
    (
        al.judge_equation_13,
        ("rates",),
        UNTESTABLE,
        lambda t: {"rates": along_n(t["rates"], "clipping rarely active", "excess_risk", lambda r: r["n"] / 1e5)},
        {UNTESTABLE},
    ),
    (
        al.judge_equation_14,
        ("rates",),
        HOLDS,
        lambda t: {"rates": change(t["rates"], "excess_risk", lambda r: 2 * r["limit"])},
        {FAILS},
    ),
    (
        al.judge_equation_14,
        ("rates",),
        HOLDS,
        lambda t: {"rates": along_n(t["rates"], "c constant", "excess_risk", lambda r: r["limit"] / r["n"])},
        {FAILS},
    ),
    (
        al.judge_equation_14,
        ("rates",),
        HOLDS,
        lambda t: {
            "rates": change(t["rates"], "excess_risk", lambda r: 2 * r["limit"], t["rates"]["spectrum"] == "two levels")
        },
        {FAILS},
    ),
    (
        al.judge_proposition_41,
        ("outputs", "sensitivity", "schedules"),
        HOLDS,
        lambda t: {"outputs": change(t["outputs"], "delta_share", lambda r: 1.01, [0])},
        {FAILS},
    ),
    (
        al.judge_proposition_41,
        ("outputs", "sensitivity", "schedules"),
        HOLDS,
        lambda t: {"sensitivity": change(t["sensitivity"], "largest_found", lambda r: 1.01 * r["bound"])},
        {FAILS},
    ),
    (
        al.judge_equation_41,
        ("schedules",),
        AMENDED,
        lambda t: {"schedules": change(t["schedules"], "last_rate", lambda r: 0.1)},
        {HOLDS},
    ),
    (
        al.judge_equation_41,
        ("schedules",),
        AMENDED,
        lambda t: {"schedules": change(t["schedules"], "rho_recomputed", lambda r: 1.01 * r["rho"])},
        {FAILS},
    ),
    (
        al.judge_equation_42,
        ("schedules", "placement"),
        HOLDS,
        lambda t: {"schedules": change(t["schedules"], "least_tail", lambda r: 0.99)},
        {FAILS},
    ),
    (
        al.judge_equation_42,
        ("schedules", "placement"),
        HOLDS,
        lambda t: {"schedules": change(t["schedules"], "spent_least", lambda r: 0.9)},
        {FAILS},
    ),
    (
        al.judge_equation_42,
        ("schedules", "placement"),
        HOLDS,
        lambda t: {"placement": change(t["placement"], "above", lambda r: -9 * r["above_error"])},
        {FAILS},
    ),
    (
        al.judge_proposition_a3,
        ("conversions",),
        HOLDS,
        lambda t: {"conversions": change(t["conversions"], "renyi", lambda r: 0.9 * r["exact"])},
        {FAILS},
    ),
    (
        al.judge_proposition_a3,
        ("conversions",),
        HOLDS,
        lambda t: {"conversions": change(t["conversions"], "proposition_a3", lambda r: 0.9 * r["renyi"])},
        {FAILS},
    ),
    (
        al.judge_equation_a3,
        ("conversions",),
        HOLDS,
        lambda t: {"conversions": change(t["conversions"], "equation_a3", lambda r: 0.9 * r["proposition_a3"])},
        {FAILS},
    ),
    (
        al.judge_equation_a9,
        ("steps", "expansion"),
        HOLDS,
        lambda t: {"steps": change(t["steps"], "worst", lambda r: 1.01)},
        {FAILS},
    ),
    (
        al.judge_equation_a9,
        ("steps", "expansion"),
        HOLDS,
        lambda t: {"expansion": change(t["expansion"], "shortened", lambda r: r["bare"])},
        {FAILS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_a_proxy_that_disagrees_says_so_and_decides_nothing_on_earlier_theorems(tables: Tables) -> None:
    rates, translation = (tables[name] for name in ("rates", "translation"))
    bare, rare = "c constant", "clipping rarely active"
    told = [
        (al.judge_equation_12(rates, translation), "agrees"),
        (al.judge_equation_12(along_n(rates, bare, "rate_1.2", lambda r: 2 * r["n"]), translation), "disagrees"),
        (al.judge_equation_12(rates, change(translation, "ratio", lambda r: np.log(r["n"]))), "disagrees"),
        (al.judge_equation_13(rates), "agrees"),
        (al.judge_equation_13(along_n(rates, rare, "excess_risk", lambda r: r["n"] / 1e5)), "disagrees"),
        (al.judge_equation_13(along_n(rates, rare, "excess_risk", lambda r: 1 / r["n"])), "disagrees"),
        (al.judge_equation_13(along_n(rates, rare, "rate_1.3", lambda r: 1.0)), "disagrees"),
    ]
    for judgement, word in told:
        assert judgement.verdict == UNTESTABLE
        assert f"what can be checked {word}:" in judgement.evidence


def test_what_proposition_41_says_of_attainment_and_of_released_iterates_is_computed(tables: Tables) -> None:
    outputs, sensitivity, schedules = (tables[name] for name in ("outputs", "sensitivity", "schedules"))
    lower = change(outputs, "renyi_share", lambda r: 0.5 * r["renyi_share"])
    assert "the first record reaches 1.000" in al.judge_proposition_41(outputs, sensitivity, schedules).evidence
    assert "the first record reaches 0.500" in al.judge_proposition_41(lower, sensitivity, schedules).evidence
    later = outputs[outputs["k"] > 1]
    assert "first record" not in al.judge_proposition_41(later, sensitivity, schedules).evidence
    for part, absent in (
        (np.isfinite(schedules["rho_every"]), "everything"),
        (schedules["schedule"] == "constant", " ρ over"),
    ):
        assert absent in al.judge_proposition_41(outputs, sensitivity, schedules).evidence
        assert absent not in al.judge_proposition_41(outputs, sensitivity, schedules[part]).evidence


def test_rates_are_not_judged_on_one_size_or_an_unbounded_limit(tables: Tables) -> None:
    rates, translation = (tables[name] for name in ("rates", "translation"))
    one = rates.query("axis == 'gamma' or n == 1000")
    assert al.judge_equation_12(one, translation).verdict == Verdict.UNTESTABLE
    assert "fewer than two" in al.judge_equation_13(one).evidence
    assert al.judge_equation_14(one).verdict == Verdict.UNTESTABLE
    assert al.judge_equation_14(rates.assign(limit=np.inf)).verdict == Verdict.UNTESTABLE
    large = tables["conversions"].assign(condition=False)
    assert al.judge_equation_a3(large).verdict == Verdict.UNTESTABLE
