"""Every verdict on cost of privacy depends on its tables."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import cost_of_privacy as co
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, draw, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = co.Experiment(N=(250, 1000, 4000), L=(10, 100, 2000), D=(2, 5, 20), trials=20, event_trials=10)


def like(setting: str, quantity: str, axis: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda t: (t["setting"] == setting) & (t["quantity"] == quantity) & (t["axis"] == axis)


def trade_off(sides: pd.DataFrame) -> pd.DataFrame:
    """Sides in which descent follows its bound down and an interior T beats answering 0."""
    descent = change(sides, "value", lambda r: r["bound_descent"] / 2, like("printed", "descent", "T")(sides))
    return change(
        descent, "value", lambda r: r["zero_risk"] * np.abs(r["T"] - 10) / 20, like("printed", "total", "T")(descent)
    )


def noise_in_D(sides: pd.DataFrame, exponent: float) -> pd.DataFrame:
    """Sides in which the noise part goes like a power of D, Π_R idle throughout."""
    rows = like("printed", "noise", "D")(sides)
    return change(sides, "value", lambda r: 0.05 * r["limit_of_R"].min() * (r["D"] / 20.0) ** exponent, rows)


CASES: list[Case] = [
    (
        co.judge_theorem_41,
        ("both-sides",),
        AMENDED,
        lambda t: {"both-sides": change(t["both-sides"], "value", lambda r: 1e-15)},
        {HOLDS},
    ),
    (
        co.judge_theorem_41,
        ("both-sides",),
        AMENDED,
        lambda t: {"both-sides": change(t["both-sides"], "bound_amended", lambda r: r["bound_amended"] / 100)},
        {FAILS},
    ),
    (
        co.judge_remark_41,
        ("both-sides",),
        AMENDED,
        lambda t: {
            "both-sides": change(
                t["both-sides"],
                "value",
                lambda r: r["value"].iloc[0] * (r["T"] / 30),
                like("printed", "noise", "T")(t["both-sides"]),
            )
        },
        {FAILS},
    ),
    (
        co.judge_remark_41,
        ("both-sides",),
        AMENDED,
        lambda t: {"both-sides": trade_off(t["both-sides"])},
        {HOLDS},
    ),
    (
        co.judge_remark_42,
        ("both-sides",),
        AMENDED,
        lambda t: {
            "both-sides": change(t["both-sides"], "value", lambda r: 1e3, t["both-sides"]["quantity"] == "descent")
        },
        {FAILS},
    ),
    (
        co.judge_remark_42,
        ("both-sides",),
        AMENDED,
        lambda t: {"both-sides": noise_in_D(t["both-sides"], 1.0)},
        {FAILS},
    ),
    (
        co.judge_remark_42,
        ("both-sides",),
        AMENDED,
        lambda t: {"both-sides": noise_in_D(t["both-sides"], 0.0)},
        {HOLDS},
    ),
    (
        co.judge_equation_a4,
        ("events",),
        FAILS,
        lambda t: {"events": change(t["events"], "A4_violated", lambda r: 0)},
        {HOLDS},
    ),
    (
        co.judge_equation_a5,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 1.0, t["recursion"]["check"] == "(A.5)")},
        {HOLDS},
    ),
    (
        co.judge_equation_a5,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: -1.0, t["recursion"]["check"] == "(A.5)")},
        {FAILS},
    ),
    (
        co.judge_equation_a6,
        ("recursion",),
        HOLDS,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 1.1, t["recursion"]["check"] == "(A.6)")},
        {FAILS},
    ),
    (
        co.judge_equation_a7,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 0.9, t["recursion"]["check"] == "(A.7)")},
        {HOLDS},
    ),
    (
        co.judge_equation_a7,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 2.0, t["recursion"]["check"] == "(A.7)")},
        {FAILS},
    ),
    (
        co.judge_equation_a8,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 1e-30, t["recursion"]["check"] == "(A.8)")},
        {HOLDS},
    ),
    (
        co.judge_equation_a8,
        ("recursion",),
        AMENDED,
        lambda t: {"recursion": change(t["recursion"], "worst", lambda r: 1e-3, t["recursion"]["check"] == "(A.8)")},
        {FAILS},
    ),
    (
        co.judge_equation_a9,
        ("noise-response",),
        FAILS,
        lambda t: {"noise-response": change(t["noise-response"], "value", lambda r: 3.0 * r["D"])},
        {HOLDS},
    ),
    (
        co.judge_equation_a10,
        ("events",),
        HOLDS,
        lambda t: {"events": change(t["events"], "D3_fails", lambda r: r["data_sets"])},
        {FAILS},
    ),
    (
        co.judge_equation_a11,
        ("events", "constants"),
        AMENDED,
        lambda t: {"constants": change(t["constants"], "constant_proof", lambda r: 1.4)},
        {HOLDS},
    ),
    (
        co.judge_equation_a11,
        ("events", "constants"),
        AMENDED,
        lambda t: {"events": change(t["events"], "D2_lemma_fails", lambda r: r["data_sets"])},
        {FAILS},
    ),
    (
        co.judge_equation_a12,
        ("radius",),
        HOLDS,
        lambda t: {"radius": change(t["radius"], "norm_max", lambda r: 2 * r["R_printed"])},
        {FAILS},
    ),
    (
        co.judge_equation_a13,
        ("events",),
        FAILS,
        lambda t: {"events": change(t["events"], "share above G0, proof", lambda r: 0.0)},
        {HOLDS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_untestable_is_said_where_nothing_can_be_fitted(tables: Tables) -> None:
    sides = tables["both-sides"]
    assert co.judge_remark_41(sides[sides["T"] <= 1]).verdict == Verdict.UNTESTABLE
    assert co.judge_theorem_41(sides[sides["L"] == 2000]).verdict == Verdict.UNTESTABLE
    assert co.judge_remark_42(sides[sides["D"] == 5]).verdict == Verdict.UNTESTABLE
    response = tables["noise-response"]
    assert co.judge_equation_a9(response[response["D"] == 5]).verdict == Verdict.UNTESTABLE


def test_figures_are_drawn_from_tables(tables: Tables) -> None:
    draw(
        co.draw_steps(tables["both-sides"]),
        co.draw_lengths(tables["events"], tables["both-sides"]),
        co.draw_dimensions(tables["noise-response"]),
        co.draw_radius(tables["radius"]),
    )


def test_closed_forms_meet_the_simulation(tables: Tables) -> None:
    response = tables["noise-response"]
    score = (response["value"] - response["closed_form"]).abs() / response["standard_error"]
    assert score.max() < 4.5
