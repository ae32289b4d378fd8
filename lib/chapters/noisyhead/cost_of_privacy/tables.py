"""Short tables for the page on Theorem 4.1, its proof and Remarks 4.1-4.3 of arXiv:2504.16000v2."""

import pandas as pd

from chapters.noisyhead.cost_of_privacy.verdicts import BIAS, NOISE
from companion.judging.prose import compact, percent


def show_events(events: pd.DataFrame) -> pd.DataFrame:
    """What Π_G cuts and how often the events of the proof fail, by L."""
    counts = {
        "D2_fails": r"data sets in which $\mathcal{D}_2$ fails",
        "D2_lemma_fails": "the same with the radius of Lemma A.2",
        "D3_fails": r"data sets in which $\mathcal{D}_3$ fails",
        "A4_violated": "data sets in which (A.4) fails",
    }
    shares = {
        "share above G, theorem": "prompts beyond $G$ of the theorem",
        "share above G, proof": "prompts beyond $G$ of its proof",
        "share above G0, proof": "prompts beyond $G_0$",
        "share above G, uniform in L": "prompts beyond $G$ for every $L$",
    }
    rows = events.set_index("L").T
    told = {name: rows.loc[column].map("{:.0f}".format) for column, name in counts.items()}
    told[r"largest $\|Z\|_F$ over the bound of (A.4)"] = rows.loc["A4_ratio"].map(compact)
    told |= {name: rows.loc[column].map(percent) for column, name in shares.items()}
    return pd.DataFrame(told).T.rename_axis(columns=f"$L$, {events['data_sets'].min():.0f} data sets each")


def show_recursion(recursion: pd.DataFrame) -> pd.DataFrame:
    """The worst case of each step of the proof."""
    wide = recursion.pivot(index="check", columns="setting", values="worst")
    shown = wide[["printed", "corrected"]].rename(columns={"corrected": r"with $\lambda/2$"})
    return shown.map(compact).rename_axis(index=None, columns="worst case, update")


def show_split(split: pd.DataFrame) -> pd.DataFrame:
    """The extra test error beside the squared difference of predictions."""
    shown = split.assign(ratio=split["error_gap"] / split["excess_risk"])
    names = {BIAS: r"bias: rest at $\Gamma_{2\lambda}$", NOISE: "noise of mean zero"}
    wide = shown.pivot(index="penalty", columns="difference", values="ratio")[list(names)].rename(columns=names)
    wide.index = pd.Index([rf"$\lambda = {penalty:g}$" for penalty in wide.index])
    return wide.map(compact).rename_axis(columns="extra test error over squared difference")


def show_pairs(paired: pd.DataFrame) -> pd.DataFrame:
    """Prompts whose features cancel."""
    names = {
        "sum_norm": r"$\|\sum_i x_i\|$",
        "largest_response": r"$\max_i|y_i|$",
        "allowed": "bound of (A.4)",
        "statistic_norm": r"$\|Z\|_F$",
    }
    return paired.set_index("L")[list(names)].rename(columns=names).map(compact).rename_axis("$L$")


def show_projection_step(table: pd.DataFrame) -> pd.DataFrame:
    """The largest ratios of (A.2) and the share of steps that the projection moved."""
    names = {"left_over_middle": "left over middle", "middle_over_right": "middle over right"}
    rows = table.set_index(["D", "C0"]).rename_axis(index=["$D$", "$C_0$"])
    shown = rows[list(names)].rename(columns=names).map(compact)
    shown.insert(0, "steps that the projection moved", rows["outside"].map(percent))
    return shown


def show_conditional(table: pd.DataFrame) -> pd.DataFrame:
    """Left over right of (A.9) at both ends of each axis."""
    right = table["bound_noise"] + table["bound_descent"]
    ratios = {
        "noise over its part": table["noise"] / table["bound_noise"],
        r"descent with $\lambda$ over the right side": table["descent_printed"] / right,
        r"descent with $\lambda/2$ over the right side": table["descent_halved"] / right,
    }
    ends = table.groupby("axis", sort=False).nth([0, -1])
    shown = pd.DataFrame(ratios).loc[ends.index].map(compact)
    shown.index = pd.Index([f"${row['axis']}$ = {compact(row[row['axis']])}" for _, row in ends.iterrows()])
    return shown


def show_radius(radius: pd.DataFrame) -> pd.DataFrame:
    """The norm of Γ* and the radii that are to bound it, by N."""
    names = {
        "norm_mean": r"mean of $\|\Gamma^*\|_F$",
        "norm_max": r"largest $\|\Gamma^*\|_F$",
        "R_printed": "$R$ of (4.1)",
        "R_with_1_over_N": "(A.12) with its $1/N$",
        "R_objective": r"$C/\sqrt\lambda$",
        "R_singular": r"$C/(2\sqrt\lambda)$",
        "variance_saved": r"variance of the noise, $R$ of (4.1) over $C/(2\sqrt\lambda)$",
    }
    return radius.set_index("N")[list(names)].rename(columns=names).map(compact).T.rename_axis(columns="$N$")
