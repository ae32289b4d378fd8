"""Every verdict on in context regression depends on its tables."""

import numpy as np
import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.foundations import in_context_regression as ic
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, draw, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = ic.Experiment(L=(5, 31), D=(2, 5), trials=4, test_prompts=500, N=500)


def identity(table: pd.DataFrame, name: str, value: float) -> pd.DataFrame:
    return change(table, "relative_difference", lambda _: value, table["identity"] == name)


CASES: list[Case] = [
    (
        ic.judge_equation_23,
        ("identities",),
        HOLDS,
        lambda t: {"identities": identity(t["identities"], "(2.3), all weights", 1e-3)},
        {FAILS},
    ),
    (
        ic.judge_equation_24,
        ("identities",),
        AMENDED,
        lambda t: {"identities": identity(t["identities"], "(2.4), as printed", 1e-15)},
        {HOLDS},
    ),
    (
        ic.judge_equation_24,
        ("identities",),
        AMENDED,
        lambda t: {"identities": identity(t["identities"], "(2.4), with W11 transposed", 0.1)},
        {FAILS},
    ),
    (
        ic.judge_equation_25,
        ("identities",),
        AMENDED,
        lambda t: {"identities": identity(t["identities"], "(2.5), as printed", 1e-15)},
        {HOLDS},
    ),
    (
        ic.judge_equation_25,
        ("identities",),
        AMENDED,
        lambda t: {"identities": identity(t["identities"], "(2.5), Γ = w22 W11 transposed", 0.1)},
        {FAILS},
    ),
    (
        ic.judge_appendix_a1,
        ("dropped-terms", "identities"),
        HOLDS,
        lambda t: {
            "dropped-terms": change(
                t["dropped-terms"],
                "mean",
                lambda r: 9 * r["standard_error"],
                t["dropped-terms"]["product"] == "even terms × y",
            )
        },
        {FAILS},
    ),
    (
        ic.judge_appendix_a1,
        ("dropped-terms", "identities"),
        HOLDS,
        lambda t: {"identities": identity(t["identities"], "task + rank-one = ⟨Γ', Z⟩", 0.1)},
        {FAILS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_figures_are_drawn_from_tables(tables: Tables) -> None:
    draw(ic.draw_test_error(tables["test-error"]))


def test_closed_forms_meet_the_simulation(tables: Tables) -> None:
    errors = tables["test-error"]
    ridge = errors[errors["penalty"] >= 1]
    assert np.abs(ridge["test_error"] / ridge["closed_form"] - 1).max() < 0.15
