"""Every verdict on rivals depends on its tables."""

import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import rivals as ri
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = ri.Experiment(trials=20, pairs=200, releases=200_000)


def exponents(powers: pd.DataFrame, algorithm: str, value: float) -> pd.DataFrame:
    return change(powers, "exponent", lambda r: value, powers["algorithm"] == algorithm)


def scaled(comparison: pd.DataFrame, factor: float) -> pd.DataFrame:
    """A Table 1 that is ours but for one factor, and far from it."""
    return comparison.assign(excess_risk_theirs=factor * comparison["excess_risk"], ratio=factor, deviation=99.0)


CASES: list[Case] = [
    (
        ri.judge_remark_31,
        ("sensitivity", "privacy"),
        AMENDED,
        lambda t: {"sensitivity": change(t["sensitivity"], "largest_found", lambda r: 1.01 * r["bound"])},
        {FAILS},
    ),
    (
        ri.judge_remark_31,
        ("sensitivity", "privacy"),
        AMENDED,
        lambda t: {"privacy": change(t["privacy"], "delta_spent", lambda r: 2 * r["delta"])},
        {FAILS},
    ),
    (
        ri.judge_remark_31,
        ("sensitivity", "privacy"),
        AMENDED,
        lambda t: {"sensitivity": change(t["sensitivity"], "unclipped", lambda r: r["flipped"])},
        {HOLDS},
    ),
    (
        ri.judge_appendix_b_sensitivity,
        ("sensitivity",),
        AMENDED,
        lambda t: {
            "sensitivity": t["sensitivity"].assign(
                **dict.fromkeys(
                    ["flipped", "typical", "constructed", "largest_found"], 0.9 * t["sensitivity"]["printed"]
                )
            )
        },
        {HOLDS},
    ),
    (
        ri.judge_appendix_b_sensitivity,
        ("sensitivity",),
        AMENDED,
        lambda t: {"sensitivity": change(t["sensitivity"], "largest_found", lambda r: 1.01 * r["bound"])},
        {FAILS},
    ),
    (
        ri.judge_appendix_b_privacy,
        ("privacy", "audit"),
        AMENDED,
        lambda t: {"privacy": change(t["privacy"], "delta_spent", lambda r: r["delta"] / 2)},
        {HOLDS},
    ),
    (
        ri.judge_appendix_b_privacy,
        ("privacy", "audit"),
        AMENDED,
        lambda t: {"privacy": change(t["privacy"], "delta_spent", lambda r: 2 * r["delta"])},
        {FAILS},
    ),
    (
        ri.judge_table_1,
        ("table-1", "comparison", "readings"),
        FAILS,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 1.0, t["comparison"]["setting"] == "printed")
        },
        {HOLDS},
    ),
    (
        ri.judge_table_1,
        ("table-1", "comparison", "readings"),
        FAILS,
        lambda t: {"comparison": scaled(t["comparison"], 3.0)},
        {AMENDED},
    ),
    (
        ri.judge_table_1,
        ("table-1", "comparison", "readings"),
        FAILS,
        lambda t: {
            "comparison": scaled(t["comparison"], 3.0),
            "table-1": change(t["table-1"], "excess_risk", lambda r: 1.0, t["table-1"]["method"] == "dp-ridge"),
        },
        {FAILS},
    ),
    (
        ri.judge_table_1,
        ("table-1", "comparison", "readings"),
        FAILS,
        lambda t: {"comparison": t["comparison"].head(0)},
        {Verdict.UNTESTABLE},
    ),
    (
        ri.judge_appendix_b_early_stopping,
        ("table-1", "steps", "ladder"),
        FAILS,
        lambda t: {"table-1": change(t["table-1"], "excess_risk", lambda r: 1.0, t["table-1"]["method"] != "dp-ridge")},
        {HOLDS},
    ),
    (
        ri.judge_appendix_b_early_stopping,
        ("table-1", "steps", "ladder"),
        FAILS,
        lambda t: {
            "table-1": change(
                t["table-1"],
                "excess_risk",
                lambda r: 1.0,
                (t["table-1"]["method"] != "dp-ridge") & (t["table-1"]["N"] == 2000),
            )
        },
        {AMENDED},
    ),
    (
        ri.judge_appendix_b_scaling,
        ("powers",),
        AMENDED,
        lambda t: {"powers": exponents(t["powers"], "NoisyHead, corrected", 0.5)},
        {FAILS},
    ),
    (
        ri.judge_appendix_b_scaling,
        ("powers",),
        AMENDED,
        lambda t: {"powers": change(t["powers"], "exponent", lambda r: -1.0, t["powers"]["path"].str.startswith("D"))},
        {FAILS},
    ),
    (
        ri.judge_appendix_b_scaling,
        ("powers",),
        AMENDED,
        lambda t: {"powers": exponents(t["powers"], "NoisyHead, published", 0.0).assign(rests_at=0.0)},
        {HOLDS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_agreement_within_wide_errors_is_none(tables: Tables) -> None:
    wide = tables["comparison"].assign(deviation=0.0, standard_error=tables["comparison"]["excess_risk"])
    assert ri.judge_table_1(tables["table-1"], wide, tables["readings"]).verdict == Verdict.UNTESTABLE


def test_the_conditions_on_the_powers_follow_the_paths(tables: Tables) -> None:
    """λ ≳ √N/L is offered only where it makes the published ratio lose its power."""
    powers = tables["powers"]
    assert "λ of the order of √N/L" in ri.judge_appendix_b_scaling(powers).evidence
    stubborn = change(powers, "exponent", lambda r: 0.3, published_along(powers, "N, with L = N^(1/4), λ ∝ √N/L"))
    judgement = ri.judge_appendix_b_scaling(stubborn)
    assert judgement.verdict == AMENDED
    assert "λ of the order" not in judgement.evidence


def published_along(powers: pd.DataFrame, path: str) -> pd.Series:
    return (powers["path"] == path) & (powers["algorithm"] == "NoisyHead, published")
