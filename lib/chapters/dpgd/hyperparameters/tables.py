"""Tables for readers of the page on the hyper-parameters of arXiv:2505.16329v2."""

from typing import Any

import pandas as pd

from chapters.dpgd.hyperparameters.verdicts_steps import excess
from companion.judging.prose import percent, plain
from companion.judging.vocabulary import ROUNDING

FEW = 0.05  # aspect ratios below it are those at which learning pays for every ρ that was tried
USUAL = 0.1  # c of the paper's Figure 7


def advice(valley: pd.DataFrame) -> pd.DataFrame:
    """For each problem what several choices cost, over the least risk of all c and η̃(0)."""
    keys = ["rho", "alpha", "gamma"]
    rows = []
    for place, group in valley.groupby(keys):
        best = group.loc[group["risk"].idxmin()]
        usual, one = (group.loc[(group["clip"] - clip).abs().idxmin()] for clip in (USUAL, 1))
        costs = {"line": usual["line_risk"], "rule": usual["rule_risk"], "usual": usual["risk"], "one": one["risk"]}
        rows.append(
            dict(zip(keys, place, strict=True))
            | {"clip": best["clip"], "product": best["product"], "best": best["risk"]}
            | {"share": best["product"] / best["line"]}
            | {name: risk / best["risk"] for name, risk in costs.items()}
        )
    return pd.DataFrame(rows).sort_values(keys, ascending=[True, True, False])


def show_advice(valley: pd.DataFrame) -> pd.DataFrame:
    """The best choice by γ, and what three others cost."""
    names = {
        "rho": "ρ",
        "alpha": "α",
        "gamma": "γ",
        "clip": "best c",
        "product": "best c·η̃(0)",
        "share": "over ln(1/γ)",
        "best": "least risk",
        "usual": f"cost of c = {USUAL:g}",
        "line": "cost of c·η̃(0) = ln(1/γ)",
        "rule": "cost of the rule",
    }
    return advice(valley)[list(names)].map(plain).rename(columns=names).set_index(["ρ", "α", "γ"])


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Each step of the proofs: in how many cases it stands as printed, and once corrected."""
    found: dict[str, dict[str, Any]] = {}
    for (step, reading), rows in steps.groupby(["step", "reading"], sort=False):
        shares = excess(rows)
        missed = int((shares > ROUNDING).sum())
        cell = {"cases": len(rows), "missed as printed": 0, "worst miss": "–", "missed once corrected": "–"}
        row = found.setdefault(f"({step})", cell)
        if reading == "printed":
            row["missed as printed"] = missed
            row["worst miss"] = percent(float(shares.max())) if missed else "–"
        else:
            row["missed once corrected"] = str(missed)
    return pd.DataFrame(found).T.rename_axis("step")


def show_reduced(reduced: pd.DataFrame) -> pd.DataFrame:
    """The constant with which (5.13) encloses the risk, at the largest and the smallest γ."""
    ends = {gamma: f"γ = {plain(gamma)}" for gamma in (reduced["gamma"].max(), reduced["gamma"].min())}
    rows = reduced[reduced["gamma"].isin(list(ends))]
    table = rows.pivot(index=["alpha", "clip_rule", "rho_rule"], columns=["reach", "gamma"], values="stretch")
    table = table.map(plain)[[(reach, gamma) for reach in rows["reach"].unique() for gamma in ends]]
    table.columns = [f"η̃(0) up to {reach}, {ends[gamma]}" for reach, gamma in table.columns]
    return table.rename_axis(index=["α", "c", "ρ"]).rename(index={0.0: "0", 0.5: "½"}, level=0)
