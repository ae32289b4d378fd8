"""Every verdict on clipping factors depends on its tables."""

import pandas as pd

from costofprivacy.claims import Verdict
from costofprivacy.experiments.dpgd import clipping_factors as cf
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = cf.Experiment(d=(10, 100, 300), trials=10)


def landmark(table: pd.DataFrame, name: str, value: float) -> pd.DataFrame:
    return change(table, "value", lambda _: value, table["landmark"] == name)


def far_from_closed_form(definition: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """One Gaussian row of ``quantity`` six standard errors from its closed form."""
    row = definition[(definition["law"] == "Gaussian") & (definition["quantity"] == quantity)].index[:1]
    return change(definition, "value", lambda r: r["closed_form"] + 6 * r["standard_error"], row)


CASES: list[Case] = [
    (
        cf.judge_equation_45,
        ("dimension",),
        HOLDS,
        lambda t: {"dimension": change(t["dimension"], "value", lambda r: r["value"] * r["d"])},
        {FAILS},
    ),
    (
        cf.judge_equation_45,
        ("dimension",),
        HOLDS,
        lambda t: {"dimension": change(t["dimension"], "value", lambda r: 1.5 * r["value"])},
        {FAILS},
    ),
    (
        cf.judge_equation_46,
        ("definition", "factors"),
        HOLDS,
        lambda t: {"definition": far_from_closed_form(t["definition"], "nu")},
        {FAILS},
    ),
    (
        cf.judge_equation_46,
        ("definition", "factors"),
        HOLDS,
        lambda t: {"factors": change(t["factors"], "nu", lambda r: r["nu_over_ratio"])},
        {FAILS},
    ),
    (
        cf.judge_equation_46,
        ("definition", "factors"),
        HOLDS,
        lambda t: {"factors": change(t["factors"], "mu", lambda r: 0.9 * r["mu"])},
        {FAILS},
    ),
    (
        cf.judge_lemma_b1_mu,
        ("precision", "definition"),
        HOLDS,
        lambda t: {"precision": change(t["precision"], "mu_error", lambda r: 1e-10)},
        {FAILS},
    ),
    (
        cf.judge_lemma_b1_mu,
        ("precision", "definition"),
        HOLDS,
        lambda t: {"definition": far_from_closed_form(t["definition"], "share whole")},
        {FAILS},
    ),
    (
        cf.judge_lemma_b1_nu,
        ("precision", "definition"),
        HOLDS,
        lambda t: {"precision": change(t["precision"], "nu_error", lambda r: r["printed_nu_error"])},
        {FAILS},
    ),
    (
        cf.judge_lemma_b1_nu,
        ("precision", "definition"),
        HOLDS,
        lambda t: {"definition": far_from_closed_form(t["definition"], "nu")},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_bounds,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(t["bounds"], "mu_high", lambda r: 0.8)},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_bounds,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(t["bounds"], "nu_low", lambda r: 0.9 * r["nu_sharp"])},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_bounds,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(change(t["bounds"], "mu_sharp", lambda r: 0.01), "nu_sharp", lambda r: 0.001)},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_limits,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(t["bounds"], "nu_low", lambda r: 1 - (r["clip"] / r["label_noise"]) ** 0.5)},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_limits,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(t["bounds"], "nu_low", lambda r: 1 - 2 * (1 - r["nu_low"]))},
        {FAILS},
    ),
    (
        cf.judge_lemma_b2_half,
        ("bounds",),
        HOLDS,
        lambda t: {"bounds": change(t["bounds"], "nu_half_unclipped", lambda r: 0.49)},
        {FAILS},
    ),
    (
        cf.judge_figure_9,
        ("factors", "landmarks"),
        AMENDED,
        lambda t: {"factors": change(t["factors"], "nu_over_ratio", lambda r: r["nu_over_square"])},
        {HOLDS},
    ),
    (
        cf.judge_figure_9,
        ("factors", "landmarks"),
        AMENDED,
        lambda t: {"factors": change(t["factors"], "nu_over_square", lambda r: r["nu_over_ratio"])},
        {FAILS},
    ),
    (
        cf.judge_equation_b24,
        ("landmarks",),
        HOLDS,
        lambda t: {"landmarks": landmark(t["landmarks"], "ν at c' = 1, quadrature", 0.52)},
        {FAILS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_the_factors_are_not_judged_on_one_dimension_or_one_ratio(tables: Tables) -> None:
    assert cf.judge_equation_45(tables["dimension"].query("d == 10")).verdict == Verdict.UNTESTABLE
    assert cf.judge_lemma_b2_limits(tables["bounds"].query("clip >= 1")).verdict == Verdict.UNTESTABLE
    assert cf.judge_lemma_b2_half(tables["bounds"].query("clip < 0.01")).verdict == Verdict.UNTESTABLE
