"""Every verdict on mechanism depends on its tables."""

import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import mechanism as me
from costofprivacy.experiments.noisyhead.mechanism.experiment import MINIMISER_CHECKS
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, draw, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = me.Experiment(N=(1000, 4000), pairs=1000, trials=2)


def check(table: pd.DataFrame, name: str, value: float, column: str = "value") -> pd.DataFrame:
    return change(table, column, lambda _: value, table["check"] == name)


CASES: list[Case] = [
    (
        me.judge_equation_a1,
        ("sensitivity",),
        HOLDS,
        lambda t: {"sensitivity": change(t["sensitivity"], "largest_found", lambda r: 1.01 * r["bound"])},
        {FAILS},
    ),
    (
        me.judge_theorem_32,
        ("single-steps", "sensitivity", "composition"),
        AMENDED,
        lambda t: {"single-steps": change(t["single-steps"], "delta_spent", lambda r: r["delta"] / 2)},
        {HOLDS},
    ),
    (
        me.judge_theorem_32,
        ("single-steps", "sensitivity", "composition"),
        AMENDED,
        lambda t: {"single-steps": change(t["single-steps"], "delta_spent", lambda r: 2 * r["delta"])},
        {FAILS},
    ),
    (
        me.judge_theorem_32,
        ("single-steps", "sensitivity", "composition"),
        AMENDED,
        lambda t: {
            "composition": change(
                t["composition"], "epsilon", lambda r: 2.0, t["composition"]["accounting"] == "every iterate, exactly"
            )
        },
        {FAILS},
    ),
    (
        me.judge_theorem_32,
        ("single-steps", "sensitivity", "composition"),
        AMENDED,
        lambda t: {"sensitivity": change(t["sensitivity"], "largest_found", lambda r: 1.01 * r["bound"])},
        {FAILS},
    ),
    (
        me.judge_algorithm_1,
        ("noise",),
        HOLDS,
        lambda t: {"noise": change(t["noise"], "printed_std", lambda r: 1.01 * r["printed_std"])},
        {FAILS},
    ),
    (
        me.judge_equation_27,
        ("minimisers",),
        HOLDS,
        lambda t: {"minimisers": check(t["minimisers"], MINIMISER_CHECKS[0], 0.1)},
        {FAILS},
    ),
    (
        me.judge_section_3_update,
        ("minimisers",),
        AMENDED,
        lambda t: {"minimisers": check(t["minimisers"], MINIMISER_CHECKS[1], 1e-15)},
        {HOLDS},
    ),
    (
        me.judge_section_3_update,
        ("minimisers",),
        AMENDED,
        lambda t: {"minimisers": check(t["minimisers"], MINIMISER_CHECKS[3], 0.1)},
        {FAILS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_figures_are_drawn_from_tables(tables: Tables) -> None:
    draw(me.draw_composition(tables["composition"]), me.draw_single_steps(tables["single-steps"]))
