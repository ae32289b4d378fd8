"""Figures and short tables for the page on early stopping."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import figures
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.early_stopping.verdicts import noise_exponents
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM
from costofprivacy.plates import Plate
from costofprivacy.settings import Setting

STEPS = "$T$ (steps)"


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison)


def draw_figure_3(figure_3: pd.DataFrame, comparison: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """Left: the published setting beside the authors' numbers. Right: from Γ⁰ = 0, printed and corrected."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        looks = figures.looks(["noisyhead", "gradient-descent", "corrected"])
        mine = figure_3[figure_3["setting"] == Setting.PUBLISHED]
        for method, label in (("noisyhead", "NoisyHead"), ("gradient-descent", "no noise")):
            rows = mine[mine["method"] == method]
            figures.points(left, rows, "T", "excess_risk", ls="none", label=label, **looks[method])
        own = curves[(curves["start"] == "random") & (curves["account"] == ALGORITHM)]
        for part, method in (("total", "noisyhead"), ("descent", "gradient-descent")):
            left.plot(own["T"], own[part], color=looks[method]["color"], lw=1)
        left.plot(own["T"], own["noise"], color="0.35", ls="--", lw=1, label="cost of noise, closed form")
        theirs = comparison[comparison["setting"] == Setting.PUBLISHED]
        left.plot(theirs["T"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="authors'")
        for setting, key in ((Setting.PRINTED, "noisyhead"), (Setting.CORRECTED, "corrected")):
            rows = figure_3[(figure_3["setting"] == setting) & (figure_3["method"] == "noisyhead")]
            figures.points(right, rows, "T", "excess_risk", label=f"NoisyHead, {setting}", **looks[key])
        plain = figure_3[(figure_3["setting"] == Setting.PRINTED) & (figure_3["method"] == "gradient-descent")]
        figures.points(right, plain, "T", "excess_risk", label="no noise, printed", **looks["gradient-descent"])
        zero = figure_3[(figure_3["setting"] == Setting.PRINTED) & (figure_3["method"] == "zero")]
        right.plot(zero["T"], zero["excess_risk"], "k:", label=r"$\Gamma = 0$")
        left.set_title(r"behind the published numbers: $\Gamma^0$ random")
        right.set_title(r"$\Gamma^0 = 0$")
        for axes in (left, right):
            axes.set(yscale="log", xlabel=STEPS, ylabel="excess risk", xlim=(0, 1.04 * figure_3["T"].max()))
            axes.legend(fontsize=8)
        left.set_ylim(bottom=1e-9)
        return Plate(
            figure,
            caption=(
                r"**Figure 3 of the paper, re-run.** Excess risk over $\Gamma^*$ against the number of steps. "
                "Left: in the settings behind the published numbers (open circles), with the closed form of "
                r"the same dynamics as lines: descent and noise add up to the turn. Right: from $\Gamma^0 = 0$, "
                "with the excess risk of always answering 0 as dotted line; there is nothing to descend, and "
                "noise alone makes the curve. Bars of two standard errors over the trials."
            ),
            alt=(
                "Left: NoisyHead's excess risk falls, turns and rises, the noiseless curve falls "
                "exponentially, the authors' points on both. Right: from zero, NoisyHead rises from the first "
                "step, printed and corrected, above the dotted line of the zero predictor."
            ),
        )


def draw_accounts(accounts: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """The published algorithm by account from both starts, simulated and in closed form."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.4), sharey=True)
        looks = figures.looks(ACCOUNTS)
        for axes, start in zip(panels, ("random", "zero"), strict=True):
            for account in ACCOUNTS:
                rows = accounts[(accounts["start"] == start) & (accounts["account"] == account)]
                figures.points(axes, rows, "T", "excess_risk", ls="none", label=account, **looks[account])
                line = curves[(curves["start"] == start) & (curves["account"] == account)]
                axes.plot(line["T"], line["total"], color=looks[account]["color"], lw=1)
            axes.set(yscale="log", xlabel=STEPS)
        panels[0].set(title=r"$\Gamma^0$ random, entries $N(0, 0.1^2)$", ylabel="excess risk")
        panels[1].set(title=r"$\Gamma^0 = 0$")
        panels[1].legend()
        return Plate(
            figure,
            caption=(
                "**One budget, three accounts.** The published algorithm against $T$ from both starts, "
                "simulated (bars of two standard errors) and in closed form (lines), calibrated to the same "
                r"$(\varepsilon, \delta)$ as in Algorithm 1, exactly for every iterate, and exactly for the "
                "last iterate alone. Exact composition moves the turn to the right; with the last iterate "
                "alone the risk tends to $A$ of {eq}`eq-last-iterate`."
            ),
            alt=(
                "Two panels. From a random start: Algorithm 1 turns early, exact composition later and lower, "
                "the last iterate levels off. From zero: all rise, the last iterate levels off."
            ),
        )


def draw_bounds(limits: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """The closed form beside the right sides of (4.2) and (4.5), each with its two parts."""
    with figures.style():
        figure, axes = plt.subplots(figsize=(7.2, 4.6))
        own = curves[(curves["start"] == "random") & (curves["account"] == ALGORITHM)]
        colors = [look["color"] for look in figures.looks(["closed", "42", "45"]).values()]
        axes.plot(own["T"], own["total"], color=colors[0], lw=2, label=r"closed form, $\Pi_R$ idle")
        axes.axhline(own["limit_of_R"].iloc[0], color="k", lw=1, label="what $R$ allows")
        for suffix, color in (("42", colors[1]), ("45", colors[2])):
            descent, noise = limits[f"descent_{suffix}"], limits[f"noise_{suffix}"]
            name = f"(4.{suffix[1]})"
            axes.plot(limits["T"], descent + noise, color=color, lw=2, label=name)
            axes.plot(limits["T"], descent, color=color, lw=1, ls="--")
            axes.plot(limits["T"], noise, color=color, lw=1, ls=":")
        figures.log_axes(axes, STEPS, "excess risk, and its bounds")
        axes.set_ylim(1e-9, 1e2)
        axes.legend()
        return Plate(
            figure,
            caption=(
                "**The risk of Figure 3 and the paper's bounds** (4.2) and (4.5), constants one: solid, with "
                "descent (dashed) and noise (dotted) apart. The horizontal line is what $R$ allows. The bounds "
                "turn as well, but at a larger $T$."
            ),
            alt=("Log-log plot against T: the algorithm's risk turns first, the two bounds lie higher and turn later."),
        )


def draw_noise_power(curves: pd.DataFrame) -> Plate:
    """Local exponent in T of the noise part by account, with the two powers that the paper states."""
    with figures.style():
        figure, axes = plt.subplots()
        for account, look in figures.looks(ACCOUNTS).items():
            powers = noise_exponents(curves, str(account))
            axes.plot(powers.index, powers.to_numpy(), markevery=8, label=account, **look)
        end = curves["T"].max()
        for power, place, x, ha in ((3, "Proposition 4.1's text", end, "right"), (2, "Remark 4.1", 1, "left")):
            axes.axhline(power, color="0.35", ls="--", lw=1)
            axes.annotate(place, (x, power + 0.03), ha=ha, fontsize=8, color="0.35")
        axes.set(xscale="log", xlabel=STEPS, ylabel="local exponent of the noise part in $T$")
        axes.legend()
        return Plate(
            figure,
            caption=(
                "**The local exponent in $T$ of the cost of noise**, in closed form, by account, with the two "
                "powers that the paper states. Under Algorithm 1's account each statement is right on its side "
                r"of $T \approx 1/(4\eta_0\lambda)$; exact accounts take one power off, and the last iterate's "
                "all in the end."
            ),
            alt=(
                "Three falling curves of local exponents against T on a log axis: Algorithm 1 from three to "
                "two, every iterate from two to one, last iterate from two to zero."
            ),
        )


def draw_stopping(stopping: pd.DataFrame) -> Plate:
    """The best T over log N, and what staying far beyond it costs, by start and account."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        _by_start_and_account(left, stopping, "best_T_over_log_N")
        _by_start_and_account(right, stopping, "risk_at_longest_over_best")
        left.set(xscale="log", xlabel="$N$", ylabel=r"best $T$ over $\log N$")
        figures.log_axes(right, "$N$", "risk far beyond the best $T$, over the best")
        figure.legend(*left.get_legend_handles_labels(), fontsize=7, ncols=3, loc="outside lower center")
        return Plate(
            figure,
            caption=(
                r"**The best number of steps** in closed form. Left: over $\log N$, which stays between "
                r"constants where there is a start to forget; from $\Gamma^0 = 0$ the best $T$ is always the "
                "first. Right: what it costs to go on far beyond the best $T$, relative to the best: without "
                "limit under basic and exact composition; for the last iterate alone it is the factor $1 + "
                "A/B$, which tends to one where there is a start to forget."
            ),
            alt=(
                "Left: best T over log N against N levelling off between one and three for nonzero starts and "
                "falling to zero for the zero start. Right: cost of running on, from ten million times down to "
                "one."
            ),
        )


def _by_start_and_account(axes: Axes, stopping: pd.DataFrame, column: str) -> None:
    lines = dict(zip(ACCOUNTS, ("-", "--", ":"), strict=True))
    for start, look in figures.looks(stopping["start"].unique()).items():
        for account in ACCOUNTS:
            rows = stopping[(stopping["start"] == start) & (stopping["account"] == account)]
            axes.plot(rows["N"], rows[column], ls=lines[account], label=f"{start}, {account}", ms=4, **look)


def draw_descent(descent: pd.DataFrame) -> Plate:
    """Descent without noise far beyond the figure, from both starts and with λ/2, and where it rests."""
    with figures.style():
        figure, axes = plt.subplots()
        runs = (
            ("published", "random", r"$\lambda$ in the update, $\Gamma^0$ random"),
            ("published", "zero", r"$\lambda$ in the update, $\Gamma^0 = 0$"),
            ("corrected", "zero", r"$\lambda/2$ in the update, $\Gamma^0 = 0$"),
        )
        for (setting, start, label), look in zip(runs, figures.looks(runs).values(), strict=True):
            rows = descent[(descent["setting"] == setting) & (descent["start"] == start)]
            figures.points(axes, rows, "T", "excess_risk", ls="none", label=label, **look)
            axes.plot(rows["T"], rows["closed_form"], color=look["color"], lw=1)
        axes.set(yscale="log", xlabel=STEPS, ylabel="excess risk without noise")
        axes.legend()
        return Plate(
            figure,
            caption=(
                "**Descent without noise** far beyond Figure 3, mean excess risk over the data sets (bars of "
                r"two standard errors, smaller than the marks) with the closed form as lines. With $\lambda$ in "
                r"the update it comes to rest away from $\Gamma^*$, whatever the start; with $\lambda/2$ it "
                "goes on to fall."
            ),
            alt=(
                "Excess risk without noise against T up to three thousand: two curves meet at a level, the "
                "third falls along a straight line on the log axis."
            ),
        )


def show_best(best_steps: pd.DataFrame) -> pd.DataFrame:
    """The best T by source, start and account, for the page."""
    shown = best_steps.fillna({"start": ""}).set_index(["source", "start", "account"])[
        ["best_T", "least", "first_T", "last_T"]
    ]
    return shown.assign(least=shown["least"].map(lambda v: f"{v:.3g}"))


def show_last_iterate(limits: pd.DataFrame) -> pd.DataFrame:
    """A, B and the best T of the last iterate's account by start, for the page."""
    names = {"best_T": "best T", "least": "least risk", "for_ever_over_least": "for ever, over the least"}
    return limits.set_index("start").rename(columns=names).map("{:.3g}".format)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) predicted, in parts per million, at the first, the best published and the last T."""
    published = table[(table["setting"] == Setting.PUBLISHED) & (table["method"] == "noisyhead")]
    chosen = [table["T"].min(), published.loc[published["test_error"].idxmin(), "T"], table["T"].max()]
    rows = table[table["T"].isin(chosen) & (table["method"] != "zero")]
    rows = rows[(rows["method"] != "ridge") | (rows["setting"] == Setting.PRINTED)]
    ppm = 1e6 * (1 - rows["test_error"] / rows["response_variance"])
    label = (rows["method"] + ", " + rows["setting"]).where(rows["method"] != "ridge", "reference Γ*")
    shown = rows.assign(ppm=ppm, head=label).pivot_table(index="head", columns="T", values="ppm", sort=False)
    shown.loc["best linear head"] = 1e6 * (1 - rows["best_linear_head"].iloc[0] / rows["response_variance"].iloc[0])
    return shown.map(lambda v: f"{v:.3g}")


def show_stopped(stopped: pd.DataFrame) -> pd.DataFrame:
    """Risk over (4.6) at r = N by N and ε, for the page."""
    ratio = stopped.assign(ratio=stopped["excess_risk"] / stopped["bound_46"])
    shown = ratio.pivot_table(index="N", columns="epsilon", values="ratio")
    return shown.map("{:.1e}".format).rename(index="{:.0e}".format)


def show_parts(parts: pd.DataFrame) -> pd.DataFrame:
    """Noise over descent by start and learning rate at the best and the last T of three N, for the page."""
    sizes = parts["N"].unique()
    rows = parts[parts["N"].isin(sizes[[1, len(sizes) // 2, -1]])]
    best = rows.loc[rows.groupby(["N", "start", "rate_share"], sort=False)["noise_over_descent"].idxmin()]
    names = {
        "start": "start",
        "rate_share": "share of the learning rate",
        "N": "N",
        "T": "T",
        "noise_over_descent": "noise over descent",
        "descent_over_zero": "descent over answering 0",
    }
    shown = best.sort_values(["start", "rate_share", "N"], ascending=[False, False, True])[list(names)]
    formats = {"rate_share": "{:g}", "N": "{:.0e}", "noise_over_descent": "{:.3g}", "descent_over_zero": "{:.5g}"}
    told = shown.assign(**{name: shown[name].map(form.format) for name, form in formats.items()})
    return told.rename(columns=names).set_index(["start", "share of the learning rate"])


def show_any_steps(any_steps: pd.DataFrame) -> pd.DataFrame:
    """Risk over (4.5) at the first, the worst and the last place of each axis, for the page."""
    table = any_steps.assign(ratio=any_steps["excess_risk"] / any_steps["bound_45"])
    rows = []
    for axis, own in table.groupby("axis", sort=False):
        places = {"first": own.iloc[0], "worst": own.loc[own["ratio"].idxmax()], "last": own.iloc[-1]}
        told = {name: f"{at['ratio']:.2g} at T = {at['T']}, ε = {at['epsilon']:.2g}" for name, at in places.items()}
        rows.append({"along": axis} | told)
    return pd.DataFrame(rows).set_index("along")


def show_section_62(section: pd.DataFrame) -> pd.DataFrame:
    """The costs of section 6.2 beside (4.5) at r = N, for the page."""
    names = {
        "descent": "C_Descent",
        "noise_45": "second term of (4.5)",
        "noise_printed": "C_Noise as printed",
        "exponent_noise_45": "exponent of (4.5)",
        "exponent_noise_printed": "exponent as printed",
    }
    shown = section.set_index("N")[list(names)].rename(columns=names)
    return shown.map("{:.3g}".format).rename(index="{:.0e}".format)
