"""The tables of the page on noise and cost."""

from collections.abc import Iterable

import pandas as pd

from chapters.privacy.how_much_noise.conversions import EXACT
from chapters.privacy.how_much_noise.figures import VIEWS, of_view
from chapters.privacy.how_much_noise.page import EXAMPLE
from chapters.privacy.how_much_noise.prompts import BEST
from chapters.privacy.how_much_noise.regression import ZERO_RISK
from companion.judging.prose import plain
from companion.judging.tables import nearest, select
from costofprivacy.privacy.groups import REPLACE

BUDGET = ["$\\varepsilon$", "$\\delta$", "neighbours"]
NOISE = ["$\\rho$", "noise over step"]


def show_lookup(regression: pd.DataFrame) -> pd.DataFrame:
    """DP-GD by budget, calibrated exactly: ρ, noise over a step, and the excess risk at each n/d, in both relations."""
    rows = []
    exact = select(regression, route=EXACT)
    for (epsilon, delta, relation), group in exact.groupby(["epsilon", "delta", "relation"], sort=False):
        risks = group.sort_values("records").set_index("records")
        noise = risks.iloc[0][["rho", "noise_over_step"]].map(plain)
        told = (plain(epsilon), plain(delta), relation.removesuffix(" one record"), *noise)
        rows.append(_named(told) | _by_records(risks["excess_risk"].items()))
    free = regression.groupby("records")["free_risk"].first()
    rows.append(_named(("∞", "–", "–", "∞", "0")) | _by_records(free.items()))
    rows.append(_named(("–", "–", "–", "answering 0", "–")) | _by_records((n, ZERO_RISK) for n in free.index))
    return pd.DataFrame(rows).set_index(BUDGET)


def _named(told: tuple[str, ...]) -> dict[str, str]:
    return dict(zip((*BUDGET, *NOISE), told, strict=True))


def _by_records(values: Iterable[tuple[object, float]]) -> dict[str, str]:
    return {f"$n/d={records}$": plain(value) for records, value in values}


def show_waste(budgets: pd.DataFrame, regression: pd.DataFrame) -> pd.DataFrame:
    """Each route over the exact one: its noise and DP-GD's excess risk, and the ε that it really spends."""
    rows = []
    delta = budgets["delta"].iloc[0]
    risks = select(regression, relation=REPLACE, delta=delta)
    risks = risks.pivot(index="records", columns=["epsilon", "route"], values="excess_risk")
    for row in select(budgets[budgets["route"] != EXACT], delta=delta).itertuples():
        at = row.epsilon, row.route
        over = _by_records((risks[at] / risks[row.epsilon, EXACT]).items()) if at in risks else {}
        told = {"$\\varepsilon$ asked": plain(row.epsilon), "route": row.route, "noise": plain(row.noise_over_exact)}
        rows.append(told | {"$\\varepsilon$ spent": plain(row.epsilon_spent)} | over)
    return pd.DataFrame(rows).fillna("–").set_index(["$\\varepsilon$ asked", "route"])


def show_prompts(prompts: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead by size and account at one ε, each at its best public penalty."""
    best = select(prompts, choice=BEST, epsilon=nearest(prompts["epsilon"], EXAMPLE["epsilon"]))
    views = [of_view(best, view).assign(account=label.replace("\n", " ")) for label, view in VIEWS.items()]
    rows = pd.concat(views).sort_values("N", kind="stable")
    told = {
        "$N$": rows["N"],
        "$\\varepsilon$": rows["epsilon"].map(plain),
        "account": rows["account"],
        "penalty $\\lambda$": rows["penalty"].map(plain),
        "steps $T$": rows["steps"].astype(int),
        "noise of an entry": rows["noise_std"].map(plain),
        "noise over (A.1)": rows["noise_multiplier"].map(plain),
        "test error": rows["test_error"].map(plain),
        "answering 0": rows["response_variance"].map(plain),
    }
    return pd.DataFrame(told).set_index(["$N$", "$\\varepsilon$", "account"])


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """DP-GD at ρ = 1: what the last iterate spends, and what all of them would."""
    spent = {
        f"{name}, {which}": outputs[f"{which}_{column}"].map(plain)
        for name, column in (("$\\rho$", "mu"), ("$\\varepsilon$", "epsilon"))
        for which in ("last", "every")
    }
    return pd.DataFrame({"schedule": outputs["schedule"], "$n$": outputs["n"]} | spent).set_index(["schedule", "$n$"])


def show_steps(limits: pd.DataFrame) -> pd.DataFrame:
    """Up to which ε one classical step is private."""
    until = limits["epsilon_limit"].map(plain)
    shown = pd.DataFrame({"$\\delta/T$": limits["delta"].map(plain), "private up to $\\varepsilon/T$": until})
    return shown.set_index("$\\delta/T$")
