"""Every verdict on early stopping depends on its tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import early_stopping
from costofprivacy.experiments.noisyhead.early_stopping import closed_forms
from costofprivacy.noisyhead.accounts import ALGORITHM
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = early_stopping.Experiment(T=(1, 161, 481), trials=8)
ANY_STEPS = ("accounts", "bounds", "stopped")
ea, CURVES = early_stopping, ("closed-form", "stopping")
FIGURE_3 = ("figure-3", "comparison", "accounts")


def started(
    table: pd.DataFrame, start: str, column: str, to: Callable[[pd.DataFrame], Any], **where: Any
) -> pd.DataFrame:
    """Rows of one start, and of what else is asked for, with one column changed."""
    rows = table["start"] == start
    for name, value in where.items():
        rows &= table[name] == value
    return change(table, column, to, rows)


def only_over(t: Tables, first: int, last: int, power: float) -> dict:
    """Figure 3 over some T in which the risk goes like a power of T."""
    figure = t["figure-3"]
    bent = change(figure, "excess_risk", lambda r: 1e-3 * r["T"] ** power, figure["method"] == "noisyhead")
    certain = change(bent, "standard_error", lambda r: 1e-6 * r["excess_risk"])
    return {"figure-3": certain[certain["T"].between(first, last)]}


CASES: list[Case] = [
    (ea.judge_figure_3, FIGURE_3, AMENDED, lambda t: only_over(t, 1, 481, 1.0), {FAILS}),
    (ea.judge_figure_3, FIGURE_3, AMENDED, lambda t: only_over(t, 1, 481, -1.0), {FAILS}),
    (ea.judge_figure_3, FIGURE_3, AMENDED, lambda t: only_over(t, 1, 161, 1.0), {FAILS}),
    (ea.judge_figure_3, FIGURE_3, AMENDED, lambda t: only_over(t, 1, 161, -1.0), {UNTESTABLE}),
    (ea.judge_figure_3, FIGURE_3, AMENDED, lambda t: only_over(t, 161, 481, 1.0), {UNTESTABLE}),
    (
        ea.judge_figure_3,
        FIGURE_3,
        AMENDED,
        lambda t: {"figure-3": change(t["figure-3"], "standard_error", lambda r: 10 * r["excess_risk"])},
        {UNTESTABLE},
    ),
    (
        ea.judge_figure_3,
        FIGURE_3,
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 9.0, t["comparison"]["setting"] == "published")
        },
        {FAILS},
    ),
    (
        ea.judge_figure_3,
        FIGURE_3,
        AMENDED,
        lambda t: {"comparison": change(t["comparison"], "deviation", lambda r: 0.5)},
        {AMENDED},
    ),
    (
        ea.judge_figure_3,
        FIGURE_3,
        AMENDED,
        lambda t: {
            "accounts": started(t["accounts"], "zero", "excess_risk", lambda r: 1e-3 * np.abs(r["T"] - 161) + 1e-9)
        },
        {AMENDED},
    ),
    (
        ea.judge_figure_3,
        FIGURE_3,
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 0.5),
            "accounts": started(t["accounts"], "zero", "excess_risk", lambda r: 1e-3 * np.abs(r["T"] - 161) + 1e-9),
        },
        {HOLDS},
    ),
    (
        ea.judge_monotone,
        ("descent",),
        HOLDS,
        lambda t: {"descent": started(t["descent"], "random", "excess_risk", lambda r: 1e-9 * r["T"])},
        {FAILS},
    ),
    (ea.judge_monotone, ("descent",), HOLDS, lambda t: {"descent": t["descent"].assign(risen=0.5)}, {AMENDED}),
    (
        ea.judge_optimal_stopping,
        CURVES,
        AMENDED,
        lambda t: {
            "stopping": started(
                t["stopping"], closed_forms.FROM_R, "best_T_over_log_N", lambda r: r["N"] ** 0.1, account=ALGORITHM
            ).pipe(
                started, closed_forms.FROM_R, "best_T", lambda r: np.rint(r["N"] ** 0.1 * np.log(r["N"])).astype(int)
            )
        },
        {FAILS},
    ),
    (
        ea.judge_optimal_stopping,
        CURVES,
        AMENDED,
        lambda t: {"stopping": change(t["stopping"], "best_T", lambda r: 1)},
        {UNTESTABLE},
    ),
    (
        ea.judge_optimal_stopping,
        CURVES,
        AMENDED,
        lambda t: {"closed-form": change(t["closed-form"], "noise", lambda r: 1e-12 * r["T"] ** 3)},
        {AMENDED},
    ),
    (
        ea.judge_optimal_stopping,
        CURVES,
        AMENDED,
        lambda t: {"stopping": started(t["stopping"], closed_forms.FROM_ZERO, "best_T", lambda r: 7)},
        {AMENDED},
    ),
    (
        ea.judge_optimal_stopping,
        CURVES,
        AMENDED,
        lambda t: {
            "closed-form": change(t["closed-form"], "noise", lambda r: 1e-12 * r["T"] ** 3),
            "stopping": started(t["stopping"], closed_forms.FROM_ZERO, "best_T", lambda r: 7),
        },
        {HOLDS},
    ),
    (
        ea.judge_c_noise,
        ("section-62",),
        FAILS,
        lambda t: {"section-62": change(t["section-62"], "exponent_noise_printed", lambda r: r["exponent_noise_45"])},
        {HOLDS},
    ),
    (
        ea.judge_any_steps,
        ANY_STEPS,
        HOLDS,
        lambda t: {"stopped": change(t["stopped"], "excess_risk", lambda r: r["bound_45"] * r["N"] ** 0.1)},
        {FAILS},
    ),
    (
        ea.judge_any_steps,
        ANY_STEPS,
        HOLDS,
        lambda t: {"stopped": t["stopped"].assign(rest=2 * t["stopped"]["least_45"])},
        {AMENDED},
    ),
    (
        ea.judge_stopped,
        ("stopped",),
        AMENDED,
        lambda t: {"stopped": change(t["stopped"], "excess_risk", lambda r: 2 * r["bound_46"])},
        {FAILS},
    ),
    (
        ea.judge_stopped,
        ("stopped",),
        AMENDED,
        lambda t: {"stopped": change(t["stopped"], "excess_risk", lambda r: r["bound_46"] / 2)},
        {HOLDS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_the_best_T_may_be_affine_in_log_N(tables: Tables) -> None:
    """T = α log N − β is of the order of log N though T/log N settles late; (log N)² is not."""
    curves, stopping = tables["closed-form"], tables["stopping"]

    def judge(best: Callable[[pd.Series], pd.Series]) -> Verdict:
        best_T = np.maximum(1, np.rint(best(np.log(stopping["N"])))).astype(int)
        other = stopping.assign(best_T=best_T, best_T_over_log_N=best_T / np.log(stopping["N"]))
        return ea.judge_optimal_stopping(curves, other).verdict

    assert judge(lambda logs: 1.6 * logs - 20) == AMENDED
    assert judge(lambda logs: 1.6 * logs - 50) == UNTESTABLE
    assert judge(lambda logs: 3 * logs) == AMENDED
    assert judge(lambda logs: logs**2) == FAILS
    assert judge(lambda logs: 50 - logs) == FAILS
    assert judge(lambda logs: np.exp(logs / 10)) == FAILS


def test_a_small_rise_within_the_error_is_none(tables: Tables) -> None:
    descent = tables["descent"]
    own = (descent["setting"] == "published") & (descent["start"] == "random") & (descent["T"] == 3000)
    error = descent["standard_error"] * 2**0.5
    for factor, verdict in ((3.5, HOLDS), (4.5, FAILS)):
        raised = change(descent, "excess_risk", lambda r, f=factor: r["excess_risk"] + f * error[own], own)
        assert ea.judge_monotone(raised).verdict == verdict


def test_what_the_evidence_on_figure_3_says(tables: Tables) -> None:
    found = ea.judge_figure_3(*(tables[name] for name in FIGURE_3))
    assert "least at T = 161 of these" in found.evidence
    assert "from Γ⁰ = 0 it is least at T = 1;" in found.evidence
    assert "at T = 481 (every iterate), 481 (last iterate)" in found.evidence
    assert "of 6 published numbers 6 lie" in found.evidence
    alone = ea.judge_figure_3(tables["figure-3"], tables["comparison"].head(0), tables["accounts"])
    assert alone.verdict == AMENDED
    assert "the trend alone" in alone.evidence


def test_where_section_62_and_46_are_broken(tables: Tables) -> None:
    assert "dominate descent at 8 of 8 N" in ea.judge_c_noise(tables["section-62"]).evidence
    stopped = tables["stopped"]
    ratio = stopped["excess_risk"] / stopped["bound_46"]
    assert f"{ratio.max():.1e} times (4.6) at N = 1e+02, ε = 0.01" in ea.judge_stopped(stopped).evidence
    one = change(stopped, "excess_risk", lambda r: 2 * r["bound_46"], stopped["epsilon"] == 0.01)
    assert ea.judge_stopped(one).verdict == FAILS
    here = ea.both_sides(tables["accounts"], tables["bounds"])["over_45"].max()
    evidence = ea.judge_any_steps(*(tables[name] for name in ANY_STEPS)).evidence
    assert f"at most {here:.2g} times (4.5)" in evidence
    for power, verdict in ((0.02, HOLDS), (0.025, FAILS)):  # 10^(14 power): 1.9 and 2.2
        steep = change(stopped, "excess_risk", lambda r, p=power: r["bound_45"] * r["N"] ** p)
        assert ea.judge_any_steps(tables["accounts"], tables["bounds"], steep).verdict == verdict
