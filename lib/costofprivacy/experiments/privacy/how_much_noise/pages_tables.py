"""The tables of the page on noise and cost."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.privacy.how_much_noise.conversions import EXACT
from costofprivacy.experiments.privacy.how_much_noise.pages import EXAMPLE, VIEWS, nearest, of_view
from costofprivacy.experiments.privacy.how_much_noise.prompts import BEST
from costofprivacy.experiments.privacy.how_much_noise.regression import ZERO_RISK
from costofprivacy.judging.prose import plain
from costofprivacy.judging.tables import select
from costofprivacy.privacy.groups import REPLACE

NO_NOISE = "∞"


def show_lookup(regression: pd.DataFrame) -> pd.DataFrame:
    """DP-GD by budget, calibrated exactly: ρ, noise over a step, and the excess risk at each n/d, in both relations."""
    rows = []
    for (epsilon, delta, relation), group in select(regression, route=EXACT).groupby(
        ["epsilon", "delta", "relation"], sort=False
    ):
        by_records = group.sort_values("records")
        risks = {f"$n/d={row.records}$": plain(row.excess_risk) for row in by_records.itertuples()}
        first = by_records.iloc[0]
        told = {
            "$\\varepsilon$": plain(epsilon),
            "$\\delta$": plain(delta),
            "neighbours": relation.removesuffix(" one record"),
        }
        noise = {"$\\rho$": plain(first["rho"]), "noise over step": plain(first["noise_over_step"])}
        rows.append(told | noise | risks)
    free = regression.groupby("records")["free_risk"].first()
    last = {
        "$\\varepsilon$": NO_NOISE,
        "$\\delta$": "–",
        "neighbours": "–",
        "$\\rho$": NO_NOISE,
        "noise over step": "0",
    }
    rows.append(last | {f"$n/d={records}$": plain(risk) for records, risk in free.items()})
    rows.append(
        last
        | {"$\\varepsilon$": "–", "$\\rho$": "answering 0", "noise over step": "–"}
        | {f"$n/d={records}$": plain(ZERO_RISK) for records in free.index}
    )
    return pd.DataFrame(rows).set_index(["$\\varepsilon$", "$\\delta$", "neighbours"])


def show_waste(budgets: pd.DataFrame, regression: pd.DataFrame) -> pd.DataFrame:
    """Each route over the exact one: its noise, the ε it really spends, and DP-GD's excess risk over the exact "
    "one's."""
    rows = []
    delta = budgets["delta"].iloc[0]
    risks = select(regression, relation=REPLACE, delta=delta)
    exact = select(risks, route=EXACT).set_index(["records", "epsilon"])["excess_risk"]
    for row in select(budgets, delta=delta).itertuples():
        if row.route == EXACT:
            continue
        own = select(risks, route=row.route, epsilon=row.epsilon).set_index(["records", "epsilon"])["excess_risk"]
        over = {f"$n/d={r}$": plain(v) for (r, _), v in (own / exact.loc[own.index]).items()} if len(own) else {}
        told = {"$\\varepsilon$ asked": plain(row.epsilon), "route": row.route}
        rows.append(
            told | {"noise": plain(row.noise_over_exact), "$\\varepsilon$ spent": plain(row.epsilon_spent)} | over
        )
    return pd.DataFrame(rows).fillna("–").set_index(["$\\varepsilon$ asked", "route"])


def show_prompts(prompts: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead by size and account at one ε, each at its best public penalty."""
    rows, at = [], nearest(prompts["epsilon"], EXAMPLE["epsilon"])
    for (N, epsilon), group in select(prompts, choice=BEST, epsilon=at).groupby(["N", "epsilon"], sort=False):
        for label, view in VIEWS.items():
            row = of_view(group, view).iloc[0]
            rows.append(
                {
                    "$N$": N,
                    "$\\varepsilon$": plain(epsilon),
                    "account": label.replace("\n", " "),
                    "penalty $\\lambda$": plain(row["penalty"]),
                    "steps $T$": int(row["steps"]),
                    "noise of an entry": plain(row["noise_std"]),
                    "noise over (A.1)": plain(row["noise_multiplier"]),
                    "test error": plain(row["test_error"]),
                    "answering 0": plain(row["response_variance"]),
                }
            )
    return pd.DataFrame(rows).set_index(["$N$", "$\\varepsilon$", "account"])


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """DP-GD at ρ = 1: what the last iterate spends, and what all of them would."""
    return pd.DataFrame(
        {
            "schedule": outputs["schedule"],
            "$n$": outputs["n"],
            "$\\rho$, last": outputs["last_mu"].map(plain),
            "$\\rho$, every": outputs["every_mu"].map(plain),
            "$\\varepsilon$, last": outputs["last_epsilon"].map(plain),
            "$\\varepsilon$, every": outputs["every_epsilon"].map(plain),
        }
    ).set_index(["schedule", "$n$"])


def show_steps(limits: pd.DataFrame) -> pd.DataFrame:
    """Up to which ε one classical step is private."""
    return pd.DataFrame(
        {
            "$\\delta/T$": limits["delta"].map(plain),
            "private up to $\\varepsilon/T$": limits["epsilon_limit"].map(plain),
        }
    ).set_index("$\\delta/T$")
