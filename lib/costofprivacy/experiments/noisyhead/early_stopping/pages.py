"""The answer and the figures of the page on early stopping."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.early_stopping import verdicts
from costofprivacy.judging import words
from costofprivacy.judging.prose import along, compact, compared, percent, plain, span
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, LAST
from costofprivacy.settings import Setting
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

STEPS = "$T$ (steps)"
BARS = "Bars: two standard errors."
FAR, NOWHERE = "‖Γ⁰‖ = R", "Γ⁰ = 0"  # starts of the table on the best number of steps
BEYOND = "risk far beyond the best $T$, over the best"
RIVALS = ("worse than", "no better than", "better than")


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    theirs = select(tables["comparison"], setting=Setting.PUBLISHED)
    met = int((theirs["deviation"].abs() <= CONSISTENT).sum())
    errors = select(tables["test-error"], setting=Setting.PUBLISHED, method="noisyhead")
    best = errors.loc[errors["test_error"].idxmin()]
    word = compared(best["response_variance"], best["test_error"], RIVALS, best["standard_error"])
    forever = pick(tables["last-iterate"], start="random")["for_ever_over_least"]
    return (
        f"{words.headline(verdicts.figure_3, tables)} {met} of the {len(theirs)} published numbers come out again. "
        f"At its best step the published head is {word} always answering 0. With noise calibrated for releasing the "
        f"last step alone, never stopping adds {percent(forever - 1)} to the least risk."
    )


def draw_figure_3(figure_3: pd.DataFrame, comparison: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """Left: the published setting beside the authors' numbers. Right: from Γ⁰ = 0, printed and corrected."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.9))
        _draw_random_start(panels[0], figure_3, comparison, curves)
        _draw_zero_start(panels[1], figure_3)
        for axes in panels:
            axes.set(yscale="log", xlabel=STEPS, ylabel="excess risk", xlim=(0, 1.04 * figure_3["T"].max()))
        panels[0].set_ylim(bottom=1e-9)
        for axes in panels:
            figures.end_labels(axes)
    return Plate(figure, *_words_on_figure_3(figure_3, comparison))


def _draw_random_start(axes: Axes, figure_3: pd.DataFrame, comparison: pd.DataFrame, curves: pd.DataFrame) -> None:
    own = select(curves, start="random", account=ALGORITHM)
    parts = {"noisyhead": ("total", "NoisyHead"), "gradient-descent": ("descent", "no noise")}
    for (method, (part, label)), look in zip(parts.items(), figures.looks(parts).values(), strict=True):
        rows = select(figure_3, setting=Setting.PUBLISHED, method=method).sort_values("T")
        figures.points(axes, rows[::2], "T", "excess_risk", ls="", label=label, **look)
        axes.plot(own["T"], own[part], color=look["color"], lw=1)
    axes.plot(own["T"], own["noise"], color="0.35", ls="--", lw=1)
    theirs = select(comparison, setting=Setting.PUBLISHED)
    axes.plot(theirs["T"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10)
    axes.set_title(r"random $\Gamma^0$ (circles: the authors' numbers)")


def _draw_zero_start(axes: Axes, figure_3: pd.DataFrame) -> None:
    names = {
        ("noisyhead", Setting.PRINTED): "NoisyHead,\nprinted",
        ("gradient-descent", Setting.PRINTED): "no noise",
        ("noisyhead", Setting.CORRECTED): "NoisyHead,\ncorrected",
        ("zero", Setting.PRINTED): "answering 0",
    }
    for ((method, setting), label), look in zip(names.items(), figures.looks(names).values(), strict=True):
        rows = select(figure_3, setting=setting, method=method).sort_values("T")
        if method == "zero":
            axes.plot(rows["T"], rows["excess_risk"], "k:", label=label)
        else:
            figures.points(axes, rows[::2], "T", "excess_risk", label=label, **look)
    axes.set_title(r"$\Gamma^0 = 0$")


def _words_on_figure_3(figure_3: pd.DataFrame, comparison: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_figure_3`."""
    private = {setting: select(figure_3, setting=setting, method="noisyhead").sort_values("T") for setting in Setting}
    turn = {setting: rows.loc[rows["excess_risk"].idxmin()] for setting, rows in private.items()}
    worst = select(comparison, setting=Setting.PUBLISHED)["deviation"].abs().max()
    near = "" if np.isnan(worst) else f"; the authors' numbers lie within {compact(worst)} standard errors of ours"
    published, printed = turn[Setting.PUBLISHED], turn[Setting.PRINTED]
    zero = select(figure_3, setting=Setting.PRINTED, method="zero")["excess_risk"].iloc[0]
    caption = (
        f"**Figure 3 of the paper, re-run**: excess risk over $\\Gamma^*$ against the number of steps. Left, from the "
        f"random start, the risk is least at $T = {published['T']}$, where it is {compact(published['excess_risk'])}"
        f"{near} (lines: closed form; dashed: the noise's part). Right, from $\\Gamma^0 = 0$, it is least at "
        f"$T = {printed['T']}$ and {along(private[Setting.PRINTED], 'excess_risk')}; answering 0 has {compact(zero)}. "
        f"{BARS}"
    )
    alt = (
        f"For T of {span(figure_3['T'])}. From the random start NoisyHead's excess risk begins at "
        f"{plain(private[Setting.PUBLISHED]['excess_risk'].iloc[0])}, is least at T = {published['T']} with "
        f"{plain(published['excess_risk'])} and ends at "
        f"{plain(private[Setting.PUBLISHED]['excess_risk'].iloc[-1])}. From zero it "
        f"{along(private[Setting.PRINTED], 'excess_risk', plain)} as printed, and "
        f"{along(private[Setting.CORRECTED], 'excess_risk', plain)} corrected; answering 0 has {plain(zero)}."
    )
    return caption, alt


def draw_accounts(accounts: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """The published algorithm by account from both starts, simulated and in closed form."""
    titles = {"random": r"$\Gamma^0$ random, entries $N(0, 0.1^2)$", "zero": r"$\Gamma^0 = 0$"}
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.0), sharey=True)
        for axes, (start, title) in zip(panels, titles.items(), strict=True):
            for account, look in figures.looks(ACCOUNTS).items():
                line = select(curves, start=start, account=account)
                axes.plot(line["T"], line["total"], color=look["color"], lw=1)
                rows = select(accounts, start=start, account=account).sort_values("T")
                figures.points(
                    axes, rows[::3], "T", "excess_risk", ls="", label=str(account).replace(" it", "\nit"), **look
                )
            axes.set(yscale="log", xlabel=STEPS, title=title)
        panels[0].set_ylabel("excess risk")
        for axes in panels:
            figures.end_labels(axes)
    lines = {(start, account): select(curves, start=start, account=account) for start in titles for account in ACCOUNTS}
    best = {key: line.loc[line["total"].idxmin()] for key, line in lines.items()}
    told = "; ".join(f"{account}: {best['random', account]['T']}" for account in ACCOUNTS)
    return Plate(
        figure,
        caption=(
            "**One budget, three accounts**, simulated and in closed form (lines). The noise is calibrated to the same "
            r"$(\varepsilon, \delta)$ as in Algorithm 1, exactly for the release of every iterate, and exactly for the "
            f"last iterate alone. From the random start the risk is least at these numbers of steps: {told}. From "
            f"$\\Gamma^0 = 0$ they are {', '.join(str(best['zero', account]['T']) for account in ACCOUNTS)}. With the "
            f"last iterate alone the risk tends to $A$ of {{eq}}`eq-last-iterate`. {BARS}"
        ),
        alt=" ".join(
            f"Start {start}, {account}: least at T = {row['T']} with {plain(row['total'])}, "
            f"{plain(lines[start, account]['total'].iloc[-1])} at T = {lines[start, account]['T'].iloc[-1]}."
            for (start, account), row in best.items()
        ),
    )


def draw_bounds(limits: pd.DataFrame, curves: pd.DataFrame) -> Plate:
    """The closed form beside the right sides of (4.2) and (4.5), each with its two parts."""
    own = select(curves, start="random", account=ALGORITHM)
    bounds = {name: limits[f"descent_{name}"] + limits[f"noise_{name}"] for name in ("42", "45")}
    with figures.style():
        figure, axes = plt.subplots(figsize=(7.2, 4.6))
        looks = figures.looks(("own", *bounds))
        axes.plot(own["T"], own["total"], color=looks["own"]["color"], lw=2, label="closed form")
        axes.axhline(own["limit_of_R"].iloc[0], color="k", lw=1, label="what $R$\nallows")
        for name, total in bounds.items():
            color = looks[name]["color"]
            axes.plot(limits["T"], total, color=color, lw=2, label=f"(4.{name[1]})")
            axes.plot(limits["T"], limits[f"descent_{name}"], color=color, lw=1, ls="--")
            axes.plot(limits["T"], limits[f"noise_{name}"], color=color, lw=1, ls=":")
        figures.log_axes(axes, STEPS, "excess risk, and its bounds")
        axes.set_ylim(1e-9, 1e2)
        figures.end_labels(axes)
    turn = own.loc[own["total"].idxmin()]
    least = {f"(4.{name[1]})": (limits["T"][total.idxmin()], total.min()) for name, total in bounds.items()}
    return Plate(
        figure,
        caption=(
            "**The risk of Figure 3 and the paper's bounds**, constants one; descent dashed, noise dotted. The risk is "
            f"least at $T = {turn['T']}$, "
            + ", ".join(f"{name} at $T = {T}$" for name, (T, _) in least.items())
            + ". The horizontal line is what $R$ allows. In the closed form $\\Pi_R$ is idle; it has no error."
        ),
        alt=(
            f"The risk is least at T = {turn['T']} with {plain(turn['total'])}; "
            + "; ".join(f"{name} at T = {T} with {plain(value)}" for name, (T, value) in least.items())
            + f". R allows {plain(own['limit_of_R'].iloc[0])}."
        ),
    )


def draw_noise_power(curves: pd.DataFrame) -> Plate:
    """Local exponent in T of the noise part by account, with the two powers that the paper states."""
    powers = {account: verdicts.noise_exponents(curves, account) for account in ACCOUNTS}
    stated = {3: ("Proposition 4.1's text", curves["T"].max(), "right"), 2: ("Remark 4.1", 1, "left")}
    with figures.style():
        figure, axes = plt.subplots()
        for (account, values), look in zip(powers.items(), figures.looks(powers).values(), strict=True):
            axes.plot(values.index, values.to_numpy(), markevery=8, label=str(account).replace(" it", "\nit"), **look)
        for power, (place, x, ha) in stated.items():
            axes.axhline(power, color="0.35", ls="--", lw=1)
            axes.annotate(place, (x, power + 0.03), ha=ha, fontsize=9, color="0.35")
        axes.set(xscale="log", xlabel=STEPS, ylabel="local exponent of the noise part in $T$")
        figures.end_labels(axes)
    rows = {account: pd.DataFrame({"power": values}) for account, values in powers.items()}
    return Plate(
        figure,
        caption=(
            f"**The local exponent in $T$ of the cost of noise**, in closed form, for $T$ of {span(curves['T'])}. By "
            "account it "
            + ", ".join(f"{along(own, 'power')} ({account})" for account, own in rows.items())
            + ". Under Algorithm 1's account each of the paper's two powers (dashed) is right on its side of "
            r"$T \approx 1/(4\eta_0\lambda)$."
        ),
        alt="The local exponent by account. "
        + " ".join(f"{account}: {along(own, 'power', plain)}." for account, own in rows.items()),
    )


def draw_stopping(stopping: pd.DataFrame) -> Plate:
    """From the far start, by account: the best T as N grows, and what staying far beyond it costs; beside Γ⁰ = 0."""
    far = {account: select(stopping, start=FAR, account=account).sort_values("N") for account in ACCOUNTS}
    zero = select(stopping, start=NOWHERE, account=ALGORITHM).sort_values("N")
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2))
        for axes, column in zip(panels, ("best_T", "risk_at_longest_over_best"), strict=True):
            for (account, rows), look in zip(far.items(), figures.looks(far).values(), strict=True):
                axes.plot(rows["N"], rows[column], label=str(account).replace(" it", "\nit"), **look)
            axes.plot(zero["N"], zero[column], "k:", label="$\\Gamma^0 = 0$")
        claimed = far[ALGORITHM]
        scale = claimed["best_T"].iloc[-1] / np.log(claimed["N"].iloc[-1])
        panels[0].plot(claimed["N"], scale * np.log(claimed["N"]), "--", color="0.35", lw=1)
        panels[0].set(xscale="log", xlabel="$N$ (training prompts)", ylabel="best $T$")
        panels[0].set_title(r"dashed: the claimed growth, $T \propto \log N$")
        figures.log_axes(panels[1], "$N$ (training prompts)", BEYOND)
        for axes in panels:
            figures.end_labels(axes)
    return Plate(figure, *_words_on_stopping(far, zero))


def _words_on_stopping(far: dict[str, pd.DataFrame], zero: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_stopping`."""
    sizes = span(zero["N"])
    over_log = " and ".join(span(far[account]["best_T_over_log_N"].tail(4)) for account in (ALGORITHM, LAST))
    caption = (
        f"**The best number of steps**, in closed form, for $N$ of {sizes}. Left, from the longest start, "
        f"$\\|\\Gamma^0\\|_F = R$: over the last four sizes the best $T$ over $\\log N$ is {over_log} under the first "
        f"and the last account. From $\\Gamma^0 = 0$ it is $T$ = {span(zero['best_T'])}. Right, going on far beyond "
        f"the best $T$: the factor that it costs {along(far[ALGORITHM], 'risk_at_longest_over_best')} under Algorithm "
        f"1's account, and is {span(far[LAST]['risk_at_longest_over_best'])} for the last iterate alone."
    )
    told = " ".join(
        f"{account}: best T {along(rows, 'best_T', plain)}, cost of going on "
        f"{along(rows, 'risk_at_longest_over_best', plain)}."
        for account, rows in far.items()
    )
    last = zero.iloc[-1]
    end = f"best T {plain(last['best_T'])}, cost {plain(last['risk_at_longest_over_best'])}."
    return caption, f"N up to {plain(last['N'])}. From the longest start: {told} From zero, at the largest N: {end}"


def draw_descent(descent: pd.DataFrame) -> Plate:
    """Descent without noise far beyond the figure, from both starts and with λ/2, and where it rests."""
    runs = {
        ("published", "random"): "$\\lambda$,\n$\\Gamma^0$ random",
        ("published", "zero"): "$\\lambda$,\n$\\Gamma^0 = 0$",
        ("corrected", "zero"): "$\\lambda/2$,\n$\\Gamma^0 = 0$",
    }
    told = {run: select(descent, setting=run[0], start=run[1]).sort_values("T") for run in runs}
    with figures.style():
        figure, axes = plt.subplots()
        for (run, rows), look in zip(told.items(), figures.looks(runs).values(), strict=True):
            figures.points(axes, rows[::3], "T", "excess_risk", ls="", label=runs[run], **look)
            axes.plot(rows["T"], rows["closed_form"], color=look["color"], lw=1)
        axes.set(yscale="log", xlabel=STEPS, ylabel="excess risk without noise")
        figures.end_labels(axes)
    random, zero, halved = told.values()
    return Plate(
        figure,
        caption=(
            f"**Descent without noise** for $T$ of {span(descent['T'])}, far beyond Figure 3; lines: closed form. With "
            f"$\\lambda$ in the update the risk {along(random, 'excess_risk')} from the random start and "
            f"{along(zero, 'excess_risk')} from $\\Gamma^0 = 0$. With $\\lambda/2$ it {along(halved, 'excess_risk')}. "
            "Bars of two standard errors lie within the marks."
        ),
        alt=(
            f"For T of {span(descent['T'])}, with lambda: {along(random, 'excess_risk', plain)} from the random "
            f"start, {along(zero, 'excess_risk', plain)} from zero; with half of lambda "
            f"{along(halved, 'excess_risk', plain)}."
        ),
    )
