"""Figures and short tables for the page on Theorem 4.1, its proof and Remarks 4.1-4.3 of arXiv:2504.16000v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from costofprivacy import figures
from costofprivacy.experiments.noisyhead.cost_of_privacy.verdicts import BIAS, NOISE, quantity
from costofprivacy.plates import Plate


def show_events(events: pd.DataFrame) -> pd.DataFrame:
    """Counts of failed events and shares of cut prompts by L, for the page."""
    columns = ["data_sets", "D2_fails", "D2_lemma_fails", "D3_fails", "A4_violated", "A4_ratio", "mean_norm"]
    shares = [name for name in events if name.startswith("share above")]
    return events.set_index("L")[[*columns, *shares]].T.map("{:.3g}".format)


def show_recursion(recursion: pd.DataFrame) -> pd.DataFrame:
    """The worst case of each step of the proof, for the page."""
    wide = recursion.pivot(index="check", columns="setting", values="worst")
    return wide[["printed", "corrected"]].map("{:.2g}".format)


def show_split(split: pd.DataFrame) -> pd.DataFrame:
    """The extra test error beside the squared difference of predictions, for the page."""
    shown = split.assign(ratio=split["error_gap"] / split["excess_risk"])
    names = {BIAS: "bias: rest at ridge(2λ)", NOISE: "noise of mean zero"}
    wide = shown.pivot(index="penalty", columns="difference", values="ratio")[list(names)].rename(columns=names)
    return wide.rename_axis(index="λ", columns="extra test error / squared difference").map("{:.3g}".format)


def show_pairs(paired: pd.DataFrame) -> pd.DataFrame:
    """Prompts whose features cancel, for the page."""
    names = {"sum_norm": "‖Σxᵢ‖", "largest_response": "max |y|", "allowed": "bound of (A.4)", "statistic_norm": "‖Z‖"}
    return paired.set_index("L")[list(names)].rename(columns=names).map("{:.3g}".format)


def show_projection_step(table: pd.DataFrame) -> pd.DataFrame:
    """The largest ratios of (A.2) and the share of steps that the projection moved, for the page."""
    names = {"outside": "share projected", "left_over_middle": "left / middle", "middle_over_right": "middle / right"}
    return table.set_index(["D", "C0"])[list(names)].rename(columns=names).map("{:.3g}".format)


def show_conditional(table: pd.DataFrame) -> pd.DataFrame:
    """Left over right of (A.9) at both ends of each axis, for the page."""
    right = table["bound_noise"] + table["bound_descent"]
    ratios = {
        "noise / its part": table["noise"] / table["bound_noise"],
        "descent, λ / right side": table["descent_printed"] / right,
        "descent, λ/2 / right side": table["descent_halved"] / right,
    }
    ends = table.groupby("axis", sort=False).nth([0, -1]).index
    sizes = table[["axis", "N", "L", "D", "T"]].loc[ends].set_index("axis").map("{:g}".format)
    shown = pd.DataFrame(ratios).loc[ends].map("{:.2g}".format)
    return sizes.assign(**{name: shown[name].to_numpy() for name in ratios})


def draw_norms(norms: pd.DataFrame) -> Plate:
    """‖Z‖ over G₀ and ‖Γ*‖ over R along N, L and D, in closed form."""
    ratios = {"‖Z‖ / $G_0$": ("statistic_norm", "query_bound"), "‖Γ*‖ / R": ("ridge_norm", "weight_bound")}
    names = {"N": "$N$ (prompts)", "L": "$L$ (tokens in a prompt)", "D": "$D$ (dimension)"}
    with figures.style():
        figure, panels = plt.subplots(1, 3, figsize=(9.2, 3.8))
        for axes, (axis, label) in zip(panels, names.items()):
            rows = norms[norms["axis"] == axis]
            for (name, (norm, bound)), look in zip(ratios.items(), figures.looks(ratios).values()):
                axes.plot(rows[axis], rows[norm] / rows[bound], label=name, **look)
            axes.axhline(1, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, label, "norm / radius" if axis == "N" else "")
        panels[0].legend()
        return Plate(
            figure,
            caption=(
                "**The two norms of the proof over their radii**, root mean squares in closed form, along each "
                "size with the others fixed. Along $N$ and $D$ both stay below their radii or fall; along $L$ "
                "both outgrow them, like about $L^{1/2}$."
            ),
            alt=(
                "Three log-log panels. Along N and D the ratios are level or fall. Along L both rise: the "
                "statistic passes one below a thousand tokens, the ridge solution at about a billion."
            ),
        )


def draw_dominance(dominance: pd.DataFrame) -> Plate:
    """The noise part beside what is left without noise, along N, for short prompts and for L = √N."""
    parts = {"noise": "noise", "descent_printed": "descent as printed", "projection": r"$\Pi_G$ shortens $Z$"}
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        for axes, (axis, title) in zip(
            panels, (("N, short prompts", "short prompts"), ("N, L = √N", r"$L = \sqrt{N}$"))
        ):
            rows = dominance[dominance["axis"] == axis]
            for (part, label), look in zip(parts.items(), figures.looks(parts).values()):
                seen = rows[rows[part] > 1e-30]
                axes.plot(seen["N"], seen[part], label=label, **look)
            figures.log_axes(axes, "$N$ (training prompts)", "excess risk" if axes is panels[0] else "")
            axes.set_ylim(1e-30, 1e4)
            axes.set_title(title)
        panels[1].legend()
        return Plate(
            figure,
            caption=(
                "**Noise and what is left without it**, at the step count of Theorem 4.2(i), in closed form. "
                "Left: prompts of a fixed short length; the noise passes below the rest at "
                r"$\Gamma_{2\lambda}$, which half the penalty removes. Right: $L = \sqrt N$; the noise passes "
                "below both, and no penalty removes what the projection costs."
            ),
            alt=(
                "Two log-log panels against N. Noise falls steeply in both. Left it crosses a flat line of "
                "descent late; right it crosses that line and a rising line of the projection early."
            ),
        )


def draw_steps(sides: pd.DataFrame) -> Plate:
    """Cost of descent and of noise against T, printed and corrected, with the bounds."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.4), sharey=True)
        for axes, setting in zip(panels, ("printed", "corrected")):
            for name, look in figures.looks(("descent", "noise", "total")).items():
                rows = quantity(sides, setting, "T", str(name))
                figures.points(axes, rows, "T", "value", label=str(name), **look)
            rows = quantity(sides, setting, "T", "total")
            if setting == "printed":
                axes.plot(rows["T"], rows["bound_descent"], "--", color="C0", lw=1, label="(4.2), descent")
                axes.plot(rows["T"], rows["bound_noise"], "--", color="C1", lw=1, label="(4.2), noise")
            else:
                axes.plot(rows["T"], rows["bound_amended"], "k--", lw=1, label="amended bound on the total")
            figures.log_axes(axes, "$T$ (steps)", "excess risk" if setting == "printed" else "")
            axes.set_title(setting)
            axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**Cost of descent and cost of noise against the number of steps**, $(\varepsilon, \delta)$ "
                "fixed; bars of two standard errors. Left, as printed: descent falls, then rests on a floor "
                "that the bound does not have; the noise part has the slope of $T^2$. Right, corrected: "
                "descent falls to 0, and the total keeps to the amended bound (dashed) within the errors."
            ),
            alt=(
                "Two log-log panels of excess risk against T. Printed: descent levels off while its bound "
                "keeps falling. Corrected: descent keeps falling, total below the bound."
            ),
        )


def draw_lengths(events: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Left: ‖Z‖ and G against L, with the share of prompts that Π_G cuts. Right: left side of (4.2) over its right."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        left.errorbar(
            events["L"], events["mean_norm"], 2 * events["standard_error"], fmt="o", label=r"mean $\|Z\|_F$, simulated"
        )
        left.plot(events["L"], events["root_energy"], color="C0", lw=1, label=r"$(E\|Z\|_F^2)^{1/2}$, closed form")
        left.plot(events["L"], events["G, proof"], "s--", color="C1", label="$G$, proof")
        left.plot(events["L"], events["G, theorem"], "D--", color="C2", label="$G$, theorem")
        left.plot(events["L"], events["G, uniform in L"], "^:", color="C3", label="$G$, uniform in $L$")
        for _, row in events.iterrows():
            share = f"{100 * row['share above G, proof']:.0f} %"
            left.annotate(share, (row["L"], 0.01), xycoords=("data", "axes fraction"), ha="center", fontsize=8)
        figures.log_axes(left, "$L$ (tokens in a prompt)", "norm (below: share cut by $\\Pi_G$)")
        low, high = left.get_ylim()
        left.set_ylim(low / 1.6, high * 5)
        left.legend(fontsize=8, loc="upper right")
        rows = quantity(sides, "printed", "L", "total")
        ratio = rows["value"] / (rows["bound_descent"] + rows["bound_noise"])
        right.plot(rows["L"], ratio, "o-", label="printed: left over right of (4.2)")
        rows = quantity(sides, "corrected", "L", "total")
        right.plot(rows["L"], rows["value"] / rows["bound_amended"], "s-", label="corrected: over the amended bound")
        right.axhline(1, color="0.35", ls="--", lw=1)
        figures.log_axes(right, "$L$ (tokens in a prompt)", "left side / right side")
        right.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**The statistic does not shrink.** Left: mean $\|Z\|_F$ of the prompts (bars of two standard "
                r"errors, smaller than the marks), the root of $\mathbb{E}\|Z\|_F^2$ in closed form, the two "
                "printed forms of $G$ and one that holds for every $L$; the percentages at the bottom are the "
                r"share of prompts that $\Pi_G$ cuts with the proof's $G$. Right: the measured left side of "
                "(4.2) over its right, hidden constants one; as printed, and amended as below. At the smallest "
                r"$L$ the printed ratio is low because $\Pi_R$ holds the noise back."
            ),
            alt=(
                "Left: the mean norm of Z is flat in L while the printed bounds fall and cross it. Right: "
                "ratio of both sides, rising through one for the printed bound and tending to one from below "
                "for the amended bound."
            ),
        )


def draw_dimensions(response: pd.DataFrame) -> Plate:
    """What unit noise in every step leaves in the weights and in the excess risk, against D."""
    with figures.style():
        figure, axes = plt.subplots()
        labels = {"weights": r"squared weight error", "excess_risk": "excess risk"}
        for name, look in figures.looks(labels).items():
            rows = response[response["quantity"] == name].sort_values("D")
            figures.points(axes, rows, "D", "value", label=labels[str(name)], ls="", **look)
            axes.plot(rows["D"], rows["closed_form"], color=look["color"], lw=1)
        rows = response[response["quantity"] == "weights"].sort_values("D")
        figures.slope(axes, rows["D"].to_numpy(), rows["value"].iloc[0], 1, "slope 1, before (A.9)")
        figures.log_axes(axes, "$D$ (dimension)", "response to unit noise")
        figures.plain_ticks(axes, response["D"].unique())
        axes.legend()
        return Plate(
            figure,
            caption=(
                r"**What unit noise in every step leaves behind**, against the dimension, $\Pi_R$ taken away: "
                r"in the weights, $\|\hat\Gamma - \hat\Gamma_{\text{noiseless}}\|_F^2$, and in the excess risk, "
                "with the closed form (lines) and the slope that the display before (A.9) states. Bars of two "
                "standard errors."
            ),
            alt=(
                "Squared weight error rises like the square of D, above a dashed line of slope one; excess "
                "risk falls with D."
            ),
        )


def draw_radius(radius: pd.DataFrame) -> Plate:
    """‖Γ*‖ and the radii that are to bound it."""
    with figures.style():
        figure, axes = plt.subplots()
        axes.errorbar(
            radius["N"], radius["norm_mean"], 2 * radius["standard_error"], fmt="ko", label=r"$\|\Gamma^*\|_F$"
        )
        names = {
            "R_printed": "R of (4.1)",
            "R_objective": r"$C/\sqrt{\lambda}$",
            "R_singular": r"$C/(2\sqrt{\lambda})$",
            "R_with_1_over_N": "(A.12) with its 1/N",
        }
        for (column, label), look in zip(names.items(), figures.looks(names).values()):
            axes.plot(radius["N"], radius[column], label=label, **look)
        figures.log_axes(axes, "$N$ (training prompts)", "Frobenius norm")
        figures.plain_ticks(axes, radius["N"].unique())
        axes.legend(fontsize=8, loc="center right", bbox_to_anchor=(1, 0.42))
        return Plate(
            figure,
            caption=(
                r"**The norm of $\Gamma^*$ and the radii that are to bound it**, against $N$. The printed $R$ "
                "grows with $N$, away from the norm; what (A.12) would give with its factor $1/N$ falls below "
                r"it; $C/(2\sqrt\lambda)$ bounds it for every data set. Bars of two standard errors, smaller "
                "than the marks."
            ),
            alt=(
                "Frobenius norms against N: printed R far above and rising, two constant bounds, the norm of "
                "the ridge solution, and a falling line that crosses it."
            ),
        )
