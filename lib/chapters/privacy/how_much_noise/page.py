"""The answer and the sentences of the page on noise and cost."""

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.how_much_noise.conversions import EXACT, PROPOSITION, RULE
from chapters.privacy.how_much_noise.prompts import BEST, PRINTED
from companion.judging.prose import compact, percent, span, times
from companion.judging.tables import Tables, nearest, pick, select
from costofprivacy.privacy.groups import BLANK, REPLACE

EXAMPLE = {"epsilon": 1.0, "records": 1000}  # what the answer speaks of, or the nearest that was measured


def example(tables: Tables) -> dict[str, float]:
    """The budget and the size that the answer speaks of."""
    table = tables["regression"]
    delta = {"delta": float(tables["budgets"]["delta"].iloc[0])}
    return {name: nearest(table[name], value) for name, value in EXAMPLE.items()} | delta


def answer(tables: Tables) -> list[str]:
    """The noise and the cost at one budget, what the printed formulas waste there, and what the reader will see."""
    where = example(tables)
    budget = {name: where[name] for name in ("epsilon", "delta")}
    exact, rule = (pick(tables["budgets"], route=route, **budget) for route in (EXACT, RULE))
    risk, printed = (pick(tables["regression"], route=r, relation=REPLACE, **where) for r in (EXACT, RULE))
    steps = tables["composition"].query("epsilon == @budget['epsilon'] and T >= 10")
    return [
        f"A budget of $\\varepsilon = {budget['epsilon']:g}$ and $\\delta = $ {compact(budget['delta'])} needs "
        f"Gaussian noise of {compact(exact['noise_multiplier'])} times the sensitivity.",
        f"DP-GD's rule (A.3) takes {compact(rule['noise_over_exact'])} times that noise. At {risk['records']:.0f} "
        f"records a feature its excess risk is {compact(printed['excess_risk'] / risk['excess_risk'])} times as large.",
        f"NoisyHead's formula takes {span(steps['printed'] / steps['least'])} times the least noise from ten steps on.",
        "We derive the exact noise from the trade-off of two Gaussians, and check it by an attack.",
        "Tables and code give the noise and its cost for other budgets.",
    ]


def read_waste(tables: Tables) -> Markdown:
    """What the printed formulas waste, in a sentence each."""
    where, prompts = example(tables), tables["prompts"]
    rows = select(tables["regression"], epsilon=where["epsilon"], delta=where["delta"], relation=REPLACE)
    risks = rows.pivot(index="records", columns="route", values="excess_risk")
    at = select(prompts, epsilon=nearest(prompts["epsilon"], where["epsilon"]), choice=BEST)
    explained = 1 - at["test_error"] / at["response_variance"]
    printed, tight = explained[at["account"] == PRINTED].max(), explained.max()
    return Markdown(
        f"At $\\varepsilon = {where['epsilon']:g}$ Proposition A.3 multiplies DP-GD's risk by "
        f"{span(risks[PROPOSITION] / risks[EXACT])}, and the rule (A.3) by {span(risks[RULE] / risks[EXACT])}, "
        f"depending on $n/d$. NoisyHead with its printed noise explains at most {percent(max(0.0, printed))} of the "
        f"responses' variance at any of these $N$; with the tightest account {percent(tight)}."
    )


def read_relations(inclusion: pd.DataFrame, regression: pd.DataFrame) -> Markdown:
    """What the neighbouring relation costs in each algorithm."""
    ratio = inclusion["replaced"] / inclusion["left_out"]
    exact = select(regression, route=EXACT)
    risks = exact.pivot(index=["records", "epsilon", "delta"], columns="relation", values="excess_risk")
    return Markdown(
        f"For DP-GD the factor in the noise is exactly 2, since clipped gradients fill a ball. It multiplies the "
        f"excess risk by {span(risks[REPLACE] / risks[BLANK])}. For NoisyHead a replaced prompt moves a step only "
        f"{span(ratio)} times as far as one that is left blank, so there the choice of relation costs at most "
        f"{times(ratio.max())} in noise."
    )
