"""Every verdict depends on its table: on the measured one it is what the book says, on a contradicting one it turns."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from costofprivacy import experiments
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd import algorithm, clipping_factors, deterministic_equivalent
from costofprivacy.experiments.dpgd.deterministic_equivalent import verdicts_theory as th
from costofprivacy.experiments.foundations import in_context_regression
from costofprivacy.experiments.noisyhead import cost_of_privacy, low_dimensional, mechanism
from costofprivacy.experiments.noisyhead.mechanism.experiment import MINIMISER_CHECKS
from costofprivacy.montecarlo import Runner

Tables = dict[str, pd.DataFrame]
HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict


@pytest.fixture(scope="module")
def measured() -> dict[str, Tables]:
    """A small run of every chapter's experiment."""
    small = {
        in_context_regression: in_context_regression.Experiment(L=(5, 31), D=(2, 5), trials=4, test_prompts=500, N=500),
        mechanism: mechanism.Experiment(N=(1000, 4000), pairs=1000, trials=2),
        cost_of_privacy: cost_of_privacy.Experiment(
            N=(250, 1000, 4000), L=(10, 100, 2000), D=(2, 5, 20), trials=20, event_trials=10
        ),
        low_dimensional: low_dimensional.Experiment(N=(1000, 1500, 4000), epsilon=(0.2, 1.0), trials=30),
        clipping_factors: clipping_factors.Experiment(d=(10, 100, 300), trials=10),
        algorithm: algorithm.Experiment(
            gammas=(0.1, 0.03, 0.01), sizes=(1000, 3000), pairs=5000, others=100, placements=10, trials=1
        ),
        deterministic_equivalent: deterministic_equivalent.Experiment(
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
        ),
    }
    return {module.__name__: experiment.run(Runner(workers=2)) for module, experiment in small.items()}


def change(
    table: pd.DataFrame, column: str, to: Callable[[pd.DataFrame], Any], where: Any = slice(None)
) -> pd.DataFrame:
    """A copy with ``column`` set to ``to(rows)`` in the rows ``where``."""
    copy = table.copy()
    rows = copy.loc[where]
    copy.loc[where, column] = to(rows)
    return copy


def identity(table: pd.DataFrame, name: str, value: float) -> pd.DataFrame:
    return change(table, "relative_difference", lambda _: value, table["identity"] == name)


def check(table: pd.DataFrame, name: str, value: float, column: str = "value") -> pd.DataFrame:
    return change(table, column, lambda _: value, table["check"] == name)


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


def along_n(rates: pd.DataFrame, algorithm_name: str, column: str, to: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    return change(rates, column, to, (rates["axis"] == "n") & (rates["algorithm"] == algorithm_name))


def landmark(table: pd.DataFrame, name: str, value: float) -> pd.DataFrame:
    return change(table, "value", lambda _: value, table["landmark"] == name)


def far_from_closed_form(definition: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """One Gaussian row of ``quantity`` six standard errors from its closed form."""
    row = definition[(definition["law"] == "Gaussian") & (definition["quantity"] == quantity)].index[:1]
    return change(definition, "value", lambda r: r["closed_form"] + 6 * r["standard_error"], row)


def within(table: pd.DataFrame, column: str, starts: str, value: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    """``column`` set to ``value(rows)`` where the quantity starts with ``starts``."""
    return change(table, column, value, table["quantity"].str.startswith(starts))


def bounds(table: pd.DataFrame, reading: str, margin: float) -> pd.DataFrame:
    """An enclosure with this margin on both sides in all cases of a reading."""
    both = change(table, "lower_margin", lambda _: margin, table["reading"] == reading)
    return change(both, "upper_margin", lambda _: margin, table["reading"] == reading)


ic, me, co, lo = in_context_regression, mechanism, cost_of_privacy, low_dimensional
al, cf = algorithm, clipping_factors
de = deterministic_equivalent


def deviation(rates: pd.DataFrame, quantity: str, value: float) -> pd.DataFrame:
    """Rates of which one deviation is the same at every n, and known well."""
    sure = change(rates, "standard_error", lambda _: value / 100, rates["quantity"] == quantity)
    return change(sure, "value", lambda _: value, rates["quantity"] == quantity)


# (judge, its tables, verdict on the measured ones, a contradiction of them, verdict then)
CASES: list[tuple[Callable[..., Judgement], tuple[str, ...], Verdict, Callable[[Tables], dict], set[Verdict]]] = [
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
        AMENDED,
        lambda t: {"noise-response": change(t["noise-response"], "value", lambda r: 3.0 * r["D"])},
        {HOLDS},
    ),
    (
        co.judge_equation_a9,
        ("noise-response",),
        AMENDED,
        lambda t: {"noise-response": change(t["noise-response"], "value", lambda r: r["value"] * r["D"] ** 2)},
        {FAILS},
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
        AMENDED,
        lambda t: {"events": change(t["events"], "share above G0, proof", lambda r: 0.0)},
        {HOLDS},
    ),
    (
        co.judge_equation_a13,
        ("events",),
        AMENDED,
        lambda t: {"events": change(t["events"], "share above G, uniform in L", lambda r: 0.5)},
        {FAILS},
    ),
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 9.0, t["comparison"]["setting"] == "published")
        },
        {FAILS},
    ),
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {"figure-1": change(t["figure-1"], "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 4)},
        {FAILS},
    ),
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {
            "figure-1": change(t["figure-1"], "excess_risk", lambda r: 1e3 / (r["N"] * r["epsilon"].fillna(1))),
            "comparison": change(t["comparison"], "deviation", lambda r: 0.5),
        },
        {HOLDS},
    ),
    (
        lo.judge_theorem_11_low,
        ("noise-part", "floors", "exponents"),
        FAILS,
        lambda t: {"floors": change(t["floors"], "floor", lambda r: 0.0)},
        {HOLDS},
    ),
    (
        lo.judge_theorem_42i,
        ("figure-1", "floors"),
        FAILS,
        lambda t: {"floors": change(t["floors"], "floor", lambda r: 0.0, t["floors"]["part"] == "projection")},
        {AMENDED},
    ),
    (
        lo.judge_theorem_42i,
        ("figure-1", "floors"),
        FAILS,
        lambda t: {
            "floors": change(t["floors"], "floor", lambda r: 0.0, t["floors"]["part"] == "projection"),
            "figure-1": change(
                t["figure-1"], "excess_risk", lambda r: 1e-20, t["figure-1"]["method"] == "gradient-descent"
            ),
        },
        {HOLDS},
    ),
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
    (
        th.judge_lemma_c5,
        ("sums",),
        HOLDS,
        lambda t: {"sums": within(t["sums"], "value", "(C.32)", lambda r: r["n"] / 100)},
        {FAILS},
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
        lambda t: {"rates": along_n(t["rates"], "c constant", "rate_1.2", lambda r: r["gamma"] * (1 + r["n"]))},
        {FAILS},
    ),
    (
        al.judge_equation_12,
        ("rates", "translation"),
        UNTESTABLE,
        lambda t: {"translation": change(t["translation"], "ratio", lambda r: np.log(r["n"]))},
        {FAILS},
    ),
    (
        al.judge_equation_13,
        ("rates",),
        UNTESTABLE,
        lambda t: {"rates": along_n(t["rates"], "clipping rarely active", "excess_risk", lambda r: r["n"] / 1e5)},
        {FAILS},
    ),
    (
        al.judge_equation_13,
        ("rates",),
        UNTESTABLE,
        lambda t: {"rates": along_n(t["rates"], "clipping rarely active", "rate_1.3", lambda r: 1.0)},
        {FAILS},
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


def name_of(judge: Callable[..., Judgement]) -> str:
    return f"{judge.__module__}.{judge.__name__}"


@pytest.mark.parametrize(
    ("judge", "names", "expected", "contradict", "turned"),
    CASES,
    ids=[f"{c[0].__name__}-{i}" for i, c in enumerate(CASES)],
)
def test_a_verdict_turns_when_its_table_is_contradicted(
    judge: Callable[..., Judgement],
    names: tuple[str, ...],
    expected: Verdict,
    contradict: Callable[[Tables], dict],
    turned: set[Verdict],
    measured: dict[str, Tables],
) -> None:
    tables = measured[judge.__module__.rsplit(".", 1)[0]]
    assert judge(*(tables[n] for n in names)).verdict == expected
    other = tables | contradict(tables)
    assert judge(*(other[n] for n in names)).verdict in turned


def test_every_verdict_function_is_contradicted() -> None:
    covered = {name_of(case[0]) for case in CASES}
    found = set()
    for info in pkgutil.walk_packages(experiments.__path__, experiments.__name__ + "."):
        module = importlib.import_module(info.name)
        found |= {
            name_of(f) for n, f in vars(module).items() if n.startswith("judge_") and f.__module__ == module.__name__
        }
    assert found == covered


def test_a_noise_part_of_another_power_refutes_theorem_11(measured: dict[str, Tables]) -> None:
    tables = measured[lo.__name__]
    slow = change(tables["exponents"], "exponent", lambda r: -2.0, tables["exponents"]["algorithm"] != "Theorem 1.1")
    found = lo.judge_theorem_11_low(tables["noise-part"], tables["floors"], slow)
    assert found.verdict == Verdict.FAILS
    assert "even the noise part" in found.evidence


def test_a_single_point_shows_no_trend(measured: dict[str, Tables]) -> None:
    tables = measured[lo.__name__]
    one = tables["figure-1"].query("N == 1000 and (epsilon == 1 or epsilon != epsilon)")
    found = lo.judge_figure_1(one, tables["comparison"].head(0), tables["conditions"])
    assert found.verdict == Verdict.UNTESTABLE


def test_too_few_trials_decide_nothing(measured: dict[str, Tables]) -> None:
    tables = measured[lo.__name__]
    noisy = change(tables["figure-1"], "standard_error", lambda r: 10 * r["excess_risk"])
    found = lo.judge_figure_1(noisy, tables["comparison"], tables["conditions"])
    assert found.verdict == Verdict.UNTESTABLE


def test_untestable_is_said_where_nothing_can_be_fitted(measured: dict[str, Tables]) -> None:
    sides = measured[co.__name__]["both-sides"]
    assert co.judge_remark_41(sides[sides["T"] <= 1]).verdict == Verdict.UNTESTABLE
    assert co.judge_theorem_41(sides[sides["L"] == 2000]).verdict == Verdict.UNTESTABLE
    assert co.judge_remark_42(sides[sides["D"] == 5]).verdict == Verdict.UNTESTABLE
    response = measured[co.__name__]["noise-response"]
    assert co.judge_equation_a9(response[response["D"] == 5]).verdict == Verdict.UNTESTABLE


def test_rates_are_not_judged_on_one_size_or_an_unbounded_limit(measured: dict[str, Tables]) -> None:
    rates, translation = (measured[al.__name__][name] for name in ("rates", "translation"))
    one = rates.query("axis == 'gamma' or n == 1000")
    assert al.judge_equation_12(one, translation).verdict == Verdict.UNTESTABLE
    assert "fewer than two" in al.judge_equation_13(one).evidence
    assert al.judge_equation_14(one).verdict == Verdict.UNTESTABLE
    assert al.judge_equation_14(rates.assign(limit=np.inf)).verdict == Verdict.UNTESTABLE
    large = measured[al.__name__]["conversions"].assign(condition=False)
    assert al.judge_equation_a3(large).verdict == Verdict.UNTESTABLE


def test_the_factors_are_not_judged_on_one_dimension_or_one_ratio(measured: dict[str, Tables]) -> None:
    tables = measured[cf.__name__]
    assert cf.judge_equation_45(tables["dimension"].query("d == 10")).verdict == Verdict.UNTESTABLE
    assert cf.judge_lemma_b2_limits(tables["bounds"].query("clip >= 1")).verdict == Verdict.UNTESTABLE
    assert cf.judge_lemma_b2_half(tables["bounds"].query("clip < 0.01")).verdict == Verdict.UNTESTABLE


@pytest.mark.parametrize("judge", [th.judge_equation_414, th.judge_theorem_5, th.judge_lemma_c3])
def test_a_single_size_tells_nothing_of_the_diffusion(
    judge: Callable[..., Judgement], measured: dict[str, Tables]
) -> None:
    table = measured[de.__name__]["homogenised"]
    assert judge(table[table["n"] == table["n"].min()]).verdict == Verdict.UNTESTABLE


def test_noise_that_hides_the_drift_decides_nothing(measured: dict[str, Tables]) -> None:
    table = measured[de.__name__]["homogenised"]
    assert th.judge_equation_414(table.assign(standard_error=1.0)).verdict == Verdict.UNTESTABLE
    steps = measured[de.__name__]["one-step"]
    assert th.judge_equation_c7(steps.assign(standard_error=1.0)).verdict == Verdict.UNTESTABLE


def test_a_single_size_tells_nothing_of_the_sums(measured: dict[str, Tables]) -> None:
    tables = measured[de.__name__]
    sums = tables["sums"][tables["sums"]["n"] == tables["sums"]["n"].min()]
    assert th.judge_equation_422(sums).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c5(sums).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c2(sums, tables["homogenised"]).verdict == Verdict.UNTESTABLE
    assert th.judge_lemma_c4(tables["growth"].head(2)).verdict == Verdict.UNTESTABLE


def test_figures_are_drawn_from_tables(measured: dict[str, Tables]) -> None:
    tables = measured[co.__name__]
    drawn = [
        co.draw_steps(tables["both-sides"]),
        co.draw_lengths(tables["events"], tables["both-sides"]),
        co.draw_dimensions(tables["noise-response"]),
        co.draw_radius(tables["radius"]),
        me.draw_composition(measured[me.__name__]["composition"]),
        me.draw_single_steps(measured[me.__name__]["single-steps"]),
        ic.draw_test_error(measured[ic.__name__]["test-error"]),
        al.draw_expansion(measured[al.__name__]["expansion"]),
        al.draw_noise(measured[al.__name__]["noise"]),
        al.draw_conversions(measured[al.__name__]["conversions"]),
        al.draw_rates(measured[al.__name__]["rates"]),
        cf.draw_figure_9(measured[cf.__name__]["factors"], measured[cf.__name__]["landmarks"]),
        cf.draw_dimension(measured[cf.__name__]["dimension"]),
        cf.draw_precision(measured[cf.__name__]["precision"]),
        de.draw_figure_1(measured[de.__name__]["figure-1"]),
        de.draw_rates(measured[de.__name__]["rates"]),
        de.draw_laws(measured[de.__name__]["laws"]),
        de.draw_axes(measured[de.__name__]["axes"]),
    ]
    for figure in drawn:
        assert all(axes.get_xlabel() for axes in figure.axes)
        figure.canvas.draw()


def test_closed_forms_meet_the_simulation(measured: dict[str, Tables]) -> None:
    response = measured[co.__name__]["noise-response"]
    score = (response["value"] - response["closed_form"]).abs() / response["standard_error"]
    assert score.max() < 4.5
    errors = measured[ic.__name__]["test-error"]
    ridge = errors[errors["penalty"] >= 1]
    assert np.abs(ridge["test_error"] / ridge["closed_form"] - 1).max() < 0.15
