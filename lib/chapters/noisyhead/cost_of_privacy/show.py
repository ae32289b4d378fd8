"""What does privacy cost in prediction, and do the bound on it and the steps of its proof hold along every size?"""

import pandas as pd

from chapters.noisyhead.cost_of_privacy.judge import quantity
from chapters.noisyhead.cost_of_privacy.measure import BIAS, NOISE
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import along, compact, compared, measured, percent, span, times
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate

LENGTH, STEPS, PROMPTS = "$L$ (tokens in a prompt)", "$T$ (steps)", "$N$ (training prompts)"
SETTINGS = {"printed": "as printed", "corrected": "corrected"}
PARTS = ("descent", "noise", "total")
BARS = "Bars: two standard errors."
SEEN = 1e-30  # excess risks below it are left out of a figure


def ratio(sides: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Measured cost along L over its bound: (4.2) for the printed setting, the corrected one for the other."""
    rows = quantity(sides, setting, "L", "total")
    bound = rows["bound_descent"] + rows["bound_noise"] if setting == "printed" else rows["bound_amended"]
    return pd.DataFrame(
        {"L": rows["L"], "ratio": rows["value"] / bound, "standard_error": rows["standard_error"] / bound}
    )


def caption_lengths(tables: Tables) -> str:
    """What becomes of ‖Z‖, and of the measured cost over its bounds, as prompts grow."""
    events = tables["events"].sort_values("L")
    printed, corrected = (ratio(tables["both-sides"], setting) for setting in SETTINGS)
    end, most = printed.iloc[-1], corrected.loc[corrected["ratio"].idxmax()]
    word = compared(end["ratio"], 1, ("is below", "equals", "exceeds"), end["standard_error"])
    return (
        f"**At the longest prompts the measured cost {word} the bound (4.2).** For $L$ of {span(events['L'])}. Left: "
        f"the mean of $\\|Z\\|_F$ {along(events, 'mean_norm')}, while the proof's $G$ {along(events, 'G, proof')}, so "
        f"that $\\Pi_G$ cuts {percent(events['share above G, proof'].iloc[-1])} of the longest prompts. Right: the "
        f"measured cost over (4.2), constants one, {along(printed, 'ratio')}. Over the corrected bound it is at most "
        f"{measured(most['ratio'], most['standard_error'])}, with its standard error. {BARS}"
    )


def draw_steps(sides: pd.DataFrame) -> Plate:
    """Cost of descent and of noise against T, printed and corrected, with the bounds."""
    printed, corrected = ({part: quantity(sides, setting, "T", part) for part in PARTS} for setting in SETTINGS)
    with figures.panels(2, figsize=(9.2, 4.2), sharey=True) as (figure, panels):
        for axes, (setting, title), found in zip(panels, SETTINGS.items(), (printed, corrected), strict=True):
            for part, look in figures.looks(PARTS[:2]).items():
                rows = found[str(part)]
                figures.points(axes, rows, "T", "value", label=str(part), **look)
                if setting == "printed":
                    bound = {"color": look["color"], "ls": "--", "lw": 1, "label": f"{part},\n(4.2)"}
                    axes.plot(rows["T"], rows[f"bound_{part}"], **bound)
            figures.log_axes(axes, STEPS, "excess risk" if setting == "printed" else "")
            axes.set_title(title)
        panels[1].plot(rows["T"], rows["bound_amended"], "k--", lw=1, label="corrected,\ntotal")
    total = corrected["total"]
    beyond = ((total["value"] - total["bound_amended"]) / total["standard_error"]).max()
    kept = "stays within" if beyond <= 0 else f"comes at most {compact(beyond)} standard errors beyond"
    steps, best = span(total["T"]), printed["total"].set_index("T")["value"].idxmin()
    caption = (
        f"**As printed, the cost of descent {along(printed['descent'], 'value')}, where its bound "
        f"{along(printed['descent'], 'bound_descent')}.** For $T$ of {steps}. The cost of noise "
        f"{along(printed['noise'], 'value')}, and the sum of both is least at $T = {best}$. Corrected, descent "
        f"{along(corrected['descent'], 'value')}, and the total {kept} the corrected bound. {BARS}"
    )
    return Plate(figure, caption)


def draw_radius(radius: pd.DataFrame) -> Plate:
    """‖Γ*‖ and the radii that are to bound it."""
    names = {
        "R_printed": "$R$ of (4.1)",
        "R_objective": r"$C/\sqrt{\lambda}$",
        "R_singular": r"$C/(2\sqrt{\lambda})$",
        "norm_mean": r"$\|\Gamma^*\|_F$",
        "R_with_1_over_N": "(A.12), $1/N$",
    }
    radius = radius.sort_values("N")
    bounds = radius.drop(columns="standard_error")
    with figures.panels() as (figure, [axes]):
        for (column, label), look in zip(names.items(), figures.looks(names).values(), strict=True):
            figures.points(axes, radius if column == "norm_mean" else bounds, "N", column, label=label, **look)
        figures.log_axes(axes, PROMPTS, "Frobenius norm")
        figures.plain_ticks(axes, radius["N"].unique())
    last = radius.iloc[-1]
    word = compared(last["R_with_1_over_N"], last["norm_max"], ("does not bound", "just bounds", "bounds"))
    caption = (
        f"**The printed $R$ is {times(last['R_printed'] / last['norm_max'])} the largest norm of $\\Gamma^*$ that we "
        f"drew at the largest $N$.** For $N$ of {span(radius['N'])}. The norm's mean {along(bounds, 'norm_mean')}; the "
        f"printed $R$ {along(bounds, 'R_printed')}. What (A.12) would give with its factor $1/N$ "
        f"{along(bounds, 'R_with_1_over_N')} and {word} the largest norm. $C/(2\\sqrt\\lambda)$, sure for every data "
        f"set, is {compact(last['R_singular'])}, and divides the variance of the noise by "
        f"{compact(last['variance_saved'])}. Bars of two standard errors lie within the marks where they are not seen."
    )
    return Plate(figure, caption)


def draw_dominance(dominance: pd.DataFrame) -> Plate:
    """The noise part beside what is left without noise, along N, for short prompts and for L = √N."""
    parts = {"noise": "noise", "descent_printed": "descent", "projection": r"$\Pi_G$"}
    titles = {"N, short prompts": "short prompts", "N, L = √N": r"$L = \lfloor\sqrt{N}\rfloor$"}
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, panels):
        for axes, (axis, title) in zip(panels, titles.items(), strict=True):
            rows = select(dominance, axis=axis)
            for (column, label), look in zip(parts.items(), figures.looks(parts).values(), strict=True):
                seen = rows[rows[column] > SEEN]
                axes.plot(seen["N"], seen[column], label=label, **look)
            figures.log_axes(axes, PROMPTS, "excess risk" if axes is panels[0] else "")
            axes.set_title(title)
    short, long = (select(dominance, axis=axis) for axis in titles)
    caption = (
        f"**At $L = \\sqrt N$ the noise {_crossing(long, 'projection')} what $\\Pi_G$ costs.** Noise and what is left "
        "without it, at the step count of Theorem 4.2(i), in closed form. Left, at "
        f"$L = {short['L'].iloc[0]:g}$: the noise {_crossing(short, 'descent_printed')} what descent leaves at "
        r"$\Gamma_{2\lambda}$, which half the penalty removes. Right, at $L = \sqrt N$: the noise "
        f"{_crossing(long, 'descent_printed')} that. No penalty removes the cost of $\\Pi_G$."
    )
    return Plate(figure, caption)


def _crossing(rows: pd.DataFrame, part: str) -> str:
    """From which N on the noise is below another part, in words to be followed by its name."""
    above = rows[rows["noise"] >= rows[part]]["N"].max()
    below = rows[~(rows["N"] <= above)]["N"]
    return f"is from $N$ = {compact(below.min())} on below" if len(below) else "does not fall below"


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


def answer(tables: Tables) -> list[str]:
    """The cost at the largest N, what becomes of the bound, and why."""
    sides, events = tables["both-sides"], tables["events"].sort_values("L")
    rows = select(sides, setting="corrected", quantity="total")
    beyond = ((rows["value"] - rows["bound_amended"]) / rows["standard_error"]).max()
    corrected = f"is exceeded by at most {compact(beyond)} standard errors" if beyond > 0 else "is not exceeded"
    cost = select(sides, axis="N", N=sides["N"].max(), quantity="total").set_index("setting")
    at, printed = cost.iloc[0], cost.loc["printed"]
    return [
        f"At $N = {at['N']}$, $L = {at['L']}$, $D = {at['D']}$ and this page's budget, privacy moves predictions by "
        f"{measured(printed['value'], printed['standard_error'])} (mean square) with the printed settings, and by "
        f"{compact(cost.loc['corrected', 'value'])} with corrected ones. Always predicting 0 moves them by "
        f"{compact(at['zero_risk'])}.",
        words.headline(judges_of(__package__)["noisyhead/theorem-4.1"], tables),
        "The proof assumes that $\\|Z\\|_F$, the norm of a prompt's statistic, vanishes as prompts grow. "
        f"For $L$ of {span(events['L'])} its mean {along(events, 'mean_norm')}. A corrected bound {corrected}.",
    ]
