"""Can Figure 3 be reproduced, how many steps are best as the prompts grow, and is Proposition 4.1 a bound?"""

from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.early_stopping.judge import noise_exponents
from chapters.noisyhead.early_stopping.measure import FROM_R, FROM_ZERO
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import along, compact, compared, percent, span
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, LAST
from costofprivacy.settings import Setting

STEPS = "$T$ (steps)"
PROMPTS = "$N$ (training prompts)"
BARS = "Bars: two standard errors."
NAMES = {account: account.replace(" it", "\nit") for account in ACCOUNTS}
LOOKS = figures.looks(ACCOUNTS)


def _least(rows: pd.DataFrame, risk: str = "total") -> pd.Series:
    return rows.loc[rows[risk].idxmin()]


def caption_figure_3(tables: Tables) -> str:
    """What Figure 3, re-run from both starts, shows."""
    table, theirs = tables["figure-3"], select(tables["comparison"], setting=Setting.PUBLISHED)
    published, printed = (
        select(table, setting=setting, method="noisyhead").sort_values("T")
        for setting in (Setting.PUBLISHED, Setting.PRINTED)
    )
    zero = select(table, setting=Setting.PRINTED, method="zero")["excess_risk"].iloc[0]
    best, at_once = (_least(rows, "excess_risk") for rows in (published, printed))
    worst = theirs["deviation"].abs().max()
    near = f" The authors' numbers (circles) lie within {compact(worst)} standard errors of ours." if worst >= 0 else ""
    return (
        f"**The best number of steps is {best['T']} from a random start, and {at_once['T']} from 0.** Figure 3 of the "
        "paper, re-run: excess risk over "
        f"$\\Gamma^*$ against the number of steps. Left, from the random start behind the published numbers, the risk "
        f"is least with {compact(best['excess_risk'])}; dashed is the noise's part, in closed form.{near} Right, from "
        f"$\\Gamma^0 = 0$, it {along(printed, 'excess_risk')}, where always predicting 0 has {compact(zero)}. {BARS}"
    )


def draw_accounts(accounts: pd.DataFrame, curves: pd.DataFrame, limits: pd.DataFrame) -> Plate:
    """The published algorithm by account from both starts, simulated and in closed form."""
    titles = {"random": r"$\Gamma^0$ random, entries $N(0, 0.1^2)$", "zero": r"$\Gamma^0 = 0$"}
    best = {}
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, panels):
        for axes, (start, title) in zip(panels, titles.items(), strict=True):
            for account, label in NAMES.items():
                line, look = select(curves, start=start, account=account), LOOKS[account]
                axes.plot(line["T"], line["total"], color=look["color"], lw=1)
                rows = select(accounts, start=start, account=account).sort_values("T")
                figures.points(axes, rows[::3], "T", "excess_risk", ls="", label=label, **look)
                best[start, account] = _least(line)["T"]
            axes.set(yscale="log", xlabel=STEPS, title=title)
        panels[0].set_ylabel("excess risk")
    told = "; ".join(f"{account}: {best['random', account]}" for account in ACCOUNTS)
    far = limits.set_index("start").loc["random"]
    return Plate(
        figure,
        "**If only the last iterate is released, from a random start never stopping adds "
        f"{percent(far['for_ever_over_least'] - 1)} to the least risk.** One budget, three accounts, simulated and in "
        r"closed form (lines). The noise is calibrated to the same $(\varepsilon, \delta)$ as in Algorithm 1, exactly "
        "for the release of every iterate, and exactly for the last iterate alone. From the random start the risk is "
        f"least at these numbers of steps: {told}. From $\\Gamma^0 = 0$ they are "
        f"{', '.join(str(best['zero', account]) for account in ACCOUNTS)}. With the last iterate alone the risk tends "
        f"to $A$ = {compact(far['A'])} of {{eq}}`eq-last-iterate`; before the first step it is $B$ = "
        f"{compact(far['B'])} (left) or {compact(limits.set_index('start').loc['zero', 'B'])} (right). {BARS}",
        alt=f"{described(figure)} Marks at every third number of steps measured.",
    )


def draw_noise_power(curves: pd.DataFrame) -> Plate:
    """Local exponent in T of the noise part by account, with the two powers that the paper states."""
    powers = {account: noise_exponents(curves, account).to_frame("power") for account in ACCOUNTS}
    free = np.sqrt(curves["T"].max())  # no curve is near these powers there
    stated = {3: ("Proposition 4.1's text", curves["T"].max(), "right"), 2: ("Remark 4.1", free, "left")}
    with figures.panels() as (figure, (axes,)):
        for account, own in powers.items():
            axes.plot(own.index, own["power"].to_numpy(), markevery=8, label=NAMES[account], **LOOKS[account])
        for power, (place, x, ha) in stated.items():
            axes.axhline(power, color="0.35", ls="--", lw=1)
            look: dict[str, Any] = {"ha": ha, "fontsize": figures.LETTERS, "color": "0.35"}
            axes.annotate(place, (x, power), (0, 4), textcoords="offset points", **look)
        axes.set(xscale="log", xlabel=STEPS, ylabel="local exponent of the noise part in $T$")
    others = {account: own for account, own in powers.items() if account != ALGORITHM}
    told = " and ".join(f"{along(own, 'power')} ({account})" for account, own in others.items())
    return Plate(
        figure,
        f"**Under Algorithm 1's account the exponent of the noise part in $T$ {along(powers[ALGORITHM], 'power')}.** "
        f"Local exponent in closed form, for $T$ of {span(curves['T'])}. By the other accounts it {told}. Under "
        "Algorithm 1's account each of the paper's two powers (dashed) is right on its side of "
        r"$T \approx 1/(4\eta_0\lambda)$.",
    )


def draw_stopping(stopping: pd.DataFrame) -> Plate:
    """From the far start, by account: the best T as N grows, and what staying far beyond it costs; beside Γ⁰ = 0."""
    far = {account: select(stopping, start=FROM_R, account=account).sort_values("N") for account in ACCOUNTS}
    zero = select(stopping, start=FROM_ZERO, account=ALGORITHM).sort_values("N")
    with figures.panels(2, figsize=(9.2, 4.2)) as (figure, panels):
        for axes, column in zip(panels, ("best_T", "risk_at_longest_over_best"), strict=True):
            for account, rows in far.items():
                axes.plot(rows["N"], rows[column], label=NAMES[account], **LOOKS[account])
            axes.plot(zero["N"], zero[column], "k:", label="$\\Gamma^0 = 0$")
        growth = np.log(far[ALGORITHM]["N"])
        claimed = far[ALGORITHM]["best_T"].iloc[-1] / growth.iloc[-1] * growth
        panels[0].plot(far[ALGORITHM]["N"], claimed, "--", color="0.35", lw=1)
        panels[0].set(xscale="log", xlabel=PROMPTS, ylabel="best $T$")
        panels[0].set_title(r"dashed: the claimed growth, $T \propto \log N$")
        figures.log_axes(panels[1], PROMPTS, "risk far beyond the best $T$, over the best")
    over_log = " and ".join(span(far[account]["best_T_over_log_N"].tail(4)) for account in (ALGORITHM, LAST))
    return Plate(
        figure,
        f"**From the longest start the best number of steps {along(far[ALGORITHM], 'best_T')} as $N$ grows; from 0 it "
        f"is {span(zero['best_T'])}.** In closed form, for $N$ of {span(zero['N'])}. Left, from the longest start, "
        f"$\\|\\Gamma^0\\|_F = R$: over the last four sizes the best $T$ over $\\log N$ is {over_log} under the first "
        f"and the last account. Right, going on far beyond "
        f"the best $T$: the factor that it costs {along(far[ALGORITHM], 'risk_at_longest_over_best')} under Algorithm "
        f"1's account, and is {span(far[LAST]['risk_at_longest_over_best'])} for the last iterate alone.",
    )


METHODS = {"noisyhead": "NoisyHead", "gradient-descent": "no noise", "ridge": r"reference $\Gamma^*$"}


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) predicted, in parts per million, at the first, the best published and the last T."""
    published = table[(table["setting"] == Setting.PUBLISHED) & (table["method"] == "noisyhead")]
    chosen = [table["T"].min(), published.loc[published["test_error"].idxmin(), "T"], table["T"].max()]
    rows = table[table["T"].isin(chosen) & (table["method"] != "zero")]
    rows = rows[(rows["method"] != "ridge") | (rows["setting"] == Setting.PRINTED)]
    ppm = 1e6 * (1 - rows["test_error"] / rows["response_variance"])
    names = rows["method"].map(METHODS)
    label = (names + ", " + rows["setting"]).where(rows["method"] != "ridge", names)
    told = [f"{compact(v)} ± {compact(e)}" for v, e in zip(ppm, 1e6 * rows["standard_error"], strict=True)]
    shown = rows.assign(ppm=told, head=label).pivot(index="head", columns="T", values="ppm").loc[label.unique()]
    shown.loc["best linear head"] = compact(1e6 * (1 - (rows["best_linear_head"] / rows["response_variance"]).max()))
    return shown.rename(columns="$T = {}$".format).rename_axis(index=None, columns="parts per million")


def show_parts(parts: pd.DataFrame) -> pd.DataFrame:
    """Noise over descent by start and learning rate at the best of three T, for three N."""
    sizes = parts["N"].unique()
    rows = parts[parts["N"].isin(sizes[[1, len(sizes) // 2, -1]])]
    best = rows.loc[rows.groupby(["N", "start", "rate_share"], sort=False)["noise_over_descent"].idxmin()]
    best = best.sort_values(["start", "rate_share", "N"], ascending=[False, False, True])

    def five_digits(value: float) -> str:  # they keep it apart from one; three where it needs a power of ten
        text = f"{value:.5g}"
        return compact(float(text)) if "e" in text else text

    shown = pd.DataFrame(
        {
            "start": best["start"].map({FROM_R: r"$\|\Gamma^0\|_F = R$", FROM_ZERO: r"$\Gamma^0 = 0$"}),
            "share of the learning rate": best["rate_share"].map(compact),
            "$N$": best["N"].map(compact),
            "$T$": best["T"],
            "noise over descent": best["noise_over_descent"].map(compact),
            "descent over answering 0": best["descent_over_zero"].map(five_digits),
        }
    )
    return shown.set_index(["start", "share of the learning rate"])


def show_any_steps(any_steps: pd.DataFrame) -> pd.DataFrame:
    """Risk over (4.5) at the first, the worst and the last place of each axis."""
    table = any_steps.assign(ratio=any_steps["excess_risk"] / any_steps["bound_45"])
    along = {"T": "along $T$", "ε": r"to small $\varepsilon$", "T, ε = T": r"along $T = \varepsilon$"}
    rows = []
    for axis, own in table.groupby("axis", sort=False):
        for place, at in (("first", own.iloc[0]), ("worst", own.loc[own["ratio"].idxmax()]), ("last", own.iloc[-1])):
            numbers = {"risk over (4.5)": at["ratio"], r"$\varepsilon$": at["epsilon"], "$T$": at["T"]}
            rows.append({"axis": along[axis], "place": place} | {name: compact(v) for name, v in numbers.items()})
    return pd.DataFrame(rows).set_index(["axis", "place"])


def show_section_62(section: pd.DataFrame) -> pd.DataFrame:
    """The costs of section 6.2 beside (4.5) at r = N."""
    names = {
        "descent": r"$C_{\mathrm{Descent}}$",
        "noise_45": "second term of (4.5)",
        "noise_printed": r"$C_{\mathrm{Noise}}$ as printed",
        "exponent_noise_45": "power of $N$, (4.5)",
        "exponent_noise_printed": "power of $N$, printed",
    }
    shown = section.set_index("N")[list(names)].rename(columns=names).map(compact)
    return shown.rename(index=compact).rename_axis("$N$")


def answer(tables: Tables) -> list[str]:
    """Where the fall comes from, what is reproduced, and whether to stop."""
    theirs = select(tables["comparison"], setting=Setting.PUBLISHED)
    met = int((theirs["deviation"].abs() <= CONSISTENT).sum())
    errors = select(tables["test-error"], setting=Setting.PUBLISHED, method="noisyhead")
    best = errors.loc[errors["test_error"].idxmin()]
    ways = ("worse than", "no better than", "better than")
    word = compared(best["response_variance"], best["test_error"], ways, best["standard_error"])
    forever = tables["last-iterate"].set_index("start")["for_ever_over_least"]
    return [
        words.headline(judges_of(__package__)["noisyhead/figure-3"], tables),
        f"We reproduce {met} of {len(theirs)} published numbers. At its best step the head is {word} always "
        "predicting 0.",
        "We derive the best number of steps from the balance of descent and noise. If only the last iterate is "
        f"released, never stopping adds {percent(forever['random'] - 1)} to the least excess risk from a random start; "
        f"from zero it leaves {compact(forever['zero'])} times the least excess risk.",
    ]
