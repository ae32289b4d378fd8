"""Every verdict on robustness depends on its tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import robustness as ro
from costofprivacy.experiments.noisyhead.robustness.theorem import SMALL, SMALL_LOWER
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = ro.Experiment(
    trials=4, arithmetic_trials=2, digit_trials=1, bound_L=(1000, 10000), bound_D=(5,), bound_trials=4
)
FIGURE_4 = ("figure-4", "comparison", "arithmetic", "test-error", "conditions")


def with_method(table: pd.DataFrame, method: str, to: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    return change(table, "displacement", to, table["method"] == method)


def everywhere(name: str, column: str, to: Callable[[pd.DataFrame], Any]) -> Callable[[Tables], dict]:
    """A contradiction that sets a whole column of a table."""
    return lambda t: {name: change(t[name], column, to)}


def moved_by(share: float) -> Callable[[Tables], dict]:
    """Ridge's displacement at a share of its claimed lower bound, without error."""
    return lambda t: {
        "perturbations": t["perturbations"].assign(
            displacement=share * t["perturbations"]["claimed"], standard_error=0.0
        )
    }


def energy_like(power_of_L: float, powerless: Callable[[pd.DataFrame], pd.Series]) -> Callable[[Tables], dict]:
    """‖Z_bad‖² over its claimed order like a power of L, but constant in the rows ``powerless``."""

    def contradict(t: Tables) -> dict:
        rows = t["perturbations"]
        power = np.where(powerless(rows), 0.0, power_of_L)
        return {"perturbations": rows.assign(energy=rows["energy_claimed"] * rows["L"] ** power)}

    return contradict


def amended_is_kept(t: Tables) -> dict:
    """Ridge moves by twice what is claimed wherever the amended (5.2) holds."""
    rows = t["perturbations"]
    return {"perturbations": change(rows, "displacement", lambda r: 2 * r["claimed"], rows["admissible_amended"])}


def bounded_and_open(t: Tables) -> dict:
    return {
        "simplified": t["simplified"].assign(ratio=7.0),
        "windows": t["windows"].assign(open_at_mu_1=True),
    }


def falling_for_all_steps(t: Tables) -> dict:
    rows = t["perturbations"]
    return {
        "perturbations": rows.assign(displacement=1.0 * rows["L"]),
        "path": t["path"].assign(limit_many_steps=1 / t["path"]["N"]),
    }


CASES: list[Case] = [
    (
        ro.judge_figure_4,
        FIGURE_4,
        FAILS,
        lambda t: {"figure-4": with_method(t["figure-4"], "ridge", lambda r: r["displacement"] * r["p"])},
        {AMENDED},
    ),
    (
        ro.judge_figure_4,
        FIGURE_4,
        FAILS,
        lambda t: {"figure-4": with_method(t["figure-4"], "ridge", lambda r: 1e9 * r["p"])},
        {HOLDS},
    ),
    (
        ro.judge_theorem_51_noisyhead,
        ("heads", "path"),
        AMENDED,
        everywhere("heads", "displacement", lambda r: 0.1 * r["bound_theorem"]),
        {HOLDS},
    ),
    (
        ro.judge_theorem_51_noisyhead,
        ("heads", "path"),
        AMENDED,
        everywhere("heads", "displacement", lambda r: r["bound_amended"]),
        {FAILS},
    ),
    (
        ro.judge_theorem_51_noisyhead,
        ("heads", "path"),
        AMENDED,
        everywhere("path", "bound_few_steps", lambda r: r["limit_many_steps"]),
        {FAILS},
    ),
    (
        ro.judge_theorem_51_noisyhead,
        ("heads", "path"),
        AMENDED,
        lambda t: {"heads": t["heads"][t["heads"]["T"] == t["heads"]["T"].max()]},
        {UNTESTABLE},
    ),
    (ro.judge_theorem_51_gap, ("windows",), AMENDED, everywhere("windows", "gap", lambda r: 5.0), {HOLDS}),
    (ro.judge_theorem_51_gap, ("windows",), AMENDED, everywhere("windows", "gap", lambda r: 1e-9 * r["gap"]), {FAILS}),
    (ro.judge_theorem_51_ridge, ("perturbations",), FAILS, moved_by(2.0), {HOLDS}),
    (ro.judge_theorem_51_ridge, ("perturbations",), FAILS, moved_by(0.1), {AMENDED}),
    (ro.judge_theorem_51_ridge, ("perturbations",), FAILS, amended_is_kept, {AMENDED}),
    (ro.judge_remark_51_window, ("simplified", "windows"), AMENDED, bounded_and_open, {HOLDS}),
    (
        ro.judge_remark_51_window,
        ("simplified", "windows"),
        AMENDED,
        everywhere("simplified", "ratio", lambda r: r["N"]),
        {FAILS},
    ),
    (
        ro.judge_remark_51_divergence,
        ("perturbations", "heads", "path"),
        AMENDED,
        falling_for_all_steps,
        {HOLDS},
    ),
    (
        ro.judge_remark_51_divergence,
        ("perturbations", "heads", "path"),
        AMENDED,
        everywhere("perturbations", "displacement", lambda r: 0.1),
        {FAILS},
    ),
    (
        ro.judge_remark_51_divergence,
        ("perturbations", "heads", "path"),
        AMENDED,
        everywhere("heads", "displacement", lambda r: 0.1),
        {FAILS},
    ),
    (
        ro.judge_remark_51_divergence,
        ("perturbations", "heads", "path"),
        AMENDED,
        everywhere("path", "bound_few_steps", lambda r: r["N"]),
        {FAILS},
    ),
    (
        ro.judge_equation_a20,
        ("heads",),
        AMENDED,
        everywhere("heads", "displacement", lambda r: 0.1 * r["bound_ball"]),
        {HOLDS},
    ),
    (
        ro.judge_equation_a20,
        ("heads",),
        AMENDED,
        everywhere("heads", "displacement", lambda r: 10 * r["bound_ball"]),
        {FAILS},
    ),
    (ro.judge_equation_a21, ("gram",), FAILS, everywhere("gram", "norm", lambda r: 0.5 * r["bound"]), {HOLDS}),
    (ro.judge_equation_a21, ("gram",), FAILS, everywhere("gram", "norm", lambda r: 2 * r["bound"]), {AMENDED}),
    (ro.judge_equation_a22, ("perturbations",), FAILS, energy_like(0.0, lambda r: r["mu"] > 0), {HOLDS}),
    (ro.judge_equation_a22, ("perturbations",), FAILS, energy_like(1.0, lambda r: r["mu"] >= 1), {AMENDED}),
    (
        ro.judge_equation_a23,
        ("perturbations",),
        FAILS,
        everywhere("perturbations", "a23_ratio", lambda r: 2.0),
        {HOLDS},
    ),
    (
        ro.judge_equation_a23,
        ("perturbations",),
        FAILS,
        everywhere("perturbations", "a23_ratio", lambda r: 0.3),
        {AMENDED},
    ),
    (
        ro.judge_equation_a24,
        ("perturbations",),
        AMENDED,
        everywhere("perturbations", "a24_frequency", lambda r: 1.0),
        {HOLDS},
    ),
    (
        ro.judge_equation_a24,
        ("perturbations",),
        AMENDED,
        everywhere("perturbations", "a24_frequency", lambda r: 0.0),
        {FAILS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_the_small_shift_alone_can_be_what_A22_misses(tables: Tables) -> None:
    small = energy_like(1.0, lambda r: ~r["perturbation"].isin([SMALL, SMALL_LOWER]))(tables)["perturbations"]
    found = ro.judge_equation_a22(small)
    assert found.verdict == AMENDED
    assert "a μ that does not fall with L" in found.evidence
