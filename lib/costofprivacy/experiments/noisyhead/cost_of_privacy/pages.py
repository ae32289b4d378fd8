"""The answer and the figures of the page on Theorem 4.1 and its proof, arXiv:2504.16000v2."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.cost_of_privacy.verdicts import quantity, theorem_41
from costofprivacy.judging import words
from costofprivacy.judging.prose import along, compact, compared, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

LENGTH, STEPS, PROMPTS = "$L$ (tokens in a prompt)", "$T$ (steps)", "$N$ (training prompts)"
BARS = "Bars: two standard errors."
APART = 3  # between the lengths of the last two shares that are written into a figure
SEEN = 1e-30  # excess risks below it are left out of a figure


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    events = tables["events"].sort_values("L")
    lengths = span(events["L"])
    rows = select(tables["both-sides"], setting="corrected", quantity="total")
    exceeded = (rows["value"] > rows["bound_amended"] + CONSISTENT * rows["standard_error"]).sum()
    amended = "holds at every size tried" if exceeded == 0 else f"is exceeded at {exceeded} of {len(rows)} sizes"
    return (
        f"{words.headline(theorem_41, tables)} The proof lets a prompt's summary, $\\|Z\\|_F$, shrink with the "
        f"prompt's length $L$. For $L$ of {lengths} its mean {along(events, 'mean_norm')}. An amended bound, without "
        f"hidden constants, {amended}."
    )


def ratio(sides: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Measured cost along L over the bound that is held against it: (4.2) for the printed setting, else the amended."""
    rows = quantity(sides, setting, "L", "total")
    bound = rows["bound_descent"] + rows["bound_noise"] if setting == "printed" else rows["bound_amended"]
    return pd.DataFrame(
        {"L": rows["L"], "ratio": rows["value"] / bound, "standard_error": rows["standard_error"] / bound}
    )


def draw_lengths(events: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Left: ‖Z‖ and G against L, with the share of prompts that Π_G cuts. Right: left side of (4.2) over its right."""
    events, ratios = events.sort_values("L"), [ratio(sides, setting) for setting in ("printed", "corrected")]
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9))
        _draw_norms_of_prompts(left, events)
        names = ("(4.2) as\nprinted", "amended\nbound")
        for rows, (label, look) in zip(ratios, figures.looks(names).items(), strict=True):
            figures.points(right, rows, "L", "ratio", label=label, **look)
        right.axhline(1, color="0.35", ls="--", lw=1)
        figures.log_axes(right, LENGTH, "measured cost / bound")
        figures.end_labels(right)
    return Plate(figure, *_words_on_lengths(events, *ratios))


def _words_on_lengths(events: pd.DataFrame, printed: pd.DataFrame, corrected: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_lengths`."""
    end, shares = printed.iloc[-1], events["share above G, proof"]
    word = compared(end["ratio"], 1, ("within it", "on it", "beyond it"), end["standard_error"])
    caption = (
        f"**Prompts and their summaries, for $L$ of {span(events['L'])}.** Left: the mean of $\\|Z\\|_F$ "
        f"{along(events, 'mean_norm')}, while the proof's $G$ {along(events, 'G, proof')}. At the end $\\Pi_G$ cuts "
        f"{percent(shares.iloc[-1])} of the prompts (shares at the bottom; line: root mean square, closed form). "
        f"Right: the measured cost over (4.2), constants one, {along(printed, 'ratio')}, {word}. Over the amended "
        f"bound it is at most {compact(corrected['ratio'].max())}. {BARS}"
    )
    alt = (
        f"Left, for L of {span(events['L'])}: the mean norm of Z {along(events, 'mean_norm', plain)}, G of the "
        f"proof {along(events, 'G, proof', plain)}, G for every length {along(events, 'G, uniform in L', plain)}, "
        f"the share of prompts cut goes from {percent(shares.iloc[0])} to {percent(shares.iloc[-1])}. Right: measured "
        f"cost over (4.2) {along(printed, 'ratio', plain)}; over the amended bound "
        f"{along(corrected, 'ratio', plain)}."
    )
    return caption, alt


def _draw_norms_of_prompts(axes: Axes, events: pd.DataFrame) -> None:
    names = {
        "mean_norm": r"mean $\|Z\|_F$",
        "G, proof": "$G$, proof",
        "G, theorem": "$G$, theorem",
        "G, uniform in L": "$G$ for\nevery $L$",
    }
    for (column, label), look in zip(names.items(), figures.looks(names).values(), strict=True):
        rows = events if column == "mean_norm" else events.drop(columns="standard_error")
        figures.points(axes, rows, "L", column, label=label, ls="" if column == "mean_norm" else "-", **look)
    axes.plot(events["L"], events["root_energy"], color=figures.COLOURS[0], lw=1)
    last = events["L"].max()
    for _, row in events[(events["L"] == last) | (APART * events["L"] < last)].iterrows():
        share = percent(round(row["share above G, proof"], 2))
        axes.annotate(share, (row["L"], 0.02), xycoords=("data", "axes fraction"), ha="center", fontsize=9)
    figures.log_axes(axes, LENGTH, r"norm (bottom: share cut by $\Pi_G$)")
    figures.few_decades(axes)
    axes.set_ylim(bottom=axes.get_ylim()[0] / 1.6)
    figures.end_labels(axes)


def draw_steps(sides: pd.DataFrame) -> Plate:
    """Cost of descent and of noise against T, printed and corrected, with the bounds."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        for axes, setting in zip(panels, ("printed", "corrected"), strict=True):
            for part, look in figures.looks(("descent", "noise")).items():
                rows = quantity(sides, setting, "T", str(part))
                figures.points(axes, rows, "T", "value", label=str(part), **look)
                if setting == "printed":
                    bound = {"color": look["color"], "ls": "--", "lw": 1, "label": f"{part},\n(4.2)"}
                    axes.plot(rows["T"], rows[f"bound_{part}"], **bound)
            figures.log_axes(axes, STEPS, "excess risk" if setting == "printed" else "")
            axes.set_title({"printed": "as printed", "corrected": "corrected"}[setting])
        panels[1].plot(rows["T"], rows["bound_amended"], "k--", lw=1, label="amended,\ntotal")
        for axes in panels:
            figures.end_labels(axes)
    return Plate(figure, *_words_on_steps(sides))


def _words_on_steps(sides: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_steps`."""
    settings = {"printed": "As printed", "corrected": "Corrected"}
    parts = {
        setting: {part: quantity(sides, setting, "T", part) for part in ("descent", "noise", "total")}
        for setting in settings
    }
    printed, corrected = parts.values()
    total = corrected["total"]
    beyond = ((total["value"] - total["bound_amended"]) / total["standard_error"]).max()
    kept = "stays within" if beyond <= 0 else f"comes at most {compact(beyond)} standard errors beyond"
    steps, best = span(total["T"]), printed["total"].set_index("T")["value"].idxmin()
    caption = (
        f"**Cost of descent and cost of noise for $T$ of {steps}.** As printed, descent "
        f"{along(printed['descent'], 'value')} where its bound {along(printed['descent'], 'bound_descent')}. The noise "
        f"{along(printed['noise'], 'value')}, and the sum of both is least at $T = {best}$. Corrected, descent "
        f"{along(corrected['descent'], 'value')}, and the total {kept} the amended bound. {BARS}"
    )
    told = (
        f"{settings[setting]}, {part} {along(rows, 'value', plain)}."
        for setting, own in parts.items()
        for part, rows in own.items()
    )
    return caption, f"For T of {steps}. " + " ".join(told)


def draw_dimensions(response: pd.DataFrame) -> Plate:
    """What unit noise in every step leaves in the weights and in the excess risk, against D."""
    labels = {"weights": "squared error\nof the weights", "excess_risk": "excess risk"}
    parts = {name: select(response, quantity=name).sort_values("D") for name in labels}
    with figures.style():
        figure, axes = plt.subplots()
        for (name, rows), look in zip(parts.items(), figures.looks(labels).values(), strict=True):
            figures.points(axes, rows, "D", "value", label=labels[name], ls="", **look)
            axes.plot(rows["D"], rows["closed_form"], color=look["color"], lw=1)
        weights = parts["weights"]
        figures.slope(axes, weights["D"].to_numpy(), weights["value"].iloc[0], 1, "slope 1,\nbefore (A.9)")
        figures.log_axes(axes, "$D$ (dimension)", "response to unit noise")
        figures.plain_ticks(axes, response["D"].unique())
        figures.end_labels(axes)
    return Plate(
        figure,
        caption=(
            r"**What unit noise in every step leaves behind**, $\Pi_R$ taken away. In the weights, "
            r"$\|\hat\Gamma - \hat\Gamma_{\text{noiseless}}\|_F^2$ "
            f"{_power_in_words(weights)}, where the display before (A.9) has the first power (dashed). The excess risk "
            f"{_power_in_words(parts['excess_risk'])}. Lines: closed form. {BARS}"
        ),
        alt=(
            f"For D of {span(response['D'])}: the squared error of the weights {along(weights, 'value', plain)}, the "
            f"excess risk {along(parts['excess_risk'], 'value', plain)}."
        ),
    )


def _power_in_words(rows: pd.DataFrame) -> str:
    if rows["D"].nunique() < 2:
        return f"is {compact(rows['value'].iloc[0])}"
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    return f"goes like $D^a$ with $a$ = {compact(power)} ± {compact(error)}"


def draw_radius(radius: pd.DataFrame) -> Plate:
    """‖Γ*‖ and the radii that are to bound it."""
    names = {
        "R_printed": ("$R$ of (4.1)", "the printed radius"),
        "R_objective": (r"$C/\sqrt{\lambda}$", "C over root lambda"),
        "R_singular": (r"$C/(2\sqrt{\lambda})$", "half of that"),
        "norm_mean": (r"$\|\Gamma^*\|_F$", "the norm"),
        "R_with_1_over_N": ("(A.12), $1/N$", "the radius of (A.12) with its factor 1 over N"),
    }
    radius = radius.sort_values("N")
    with figures.style():
        figure, axes = plt.subplots()
        for (column, (label, _)), look in zip(names.items(), figures.looks(names).values(), strict=True):
            rows = radius if column == "norm_mean" else radius.drop(columns="standard_error")
            figures.points(axes, rows, "N", column, label=label, **look)
        figures.log_axes(axes, PROMPTS, "Frobenius norm")
        figures.plain_ticks(axes, radius["N"].unique())
        figures.end_labels(axes)
    last = radius.iloc[-1]
    word = compared(last["R_with_1_over_N"], last["norm_max"], ("does not bound", "just bounds", "bounds"))
    return Plate(
        figure,
        caption=(
            f"**The norm of $\\Gamma^*$ and the radii that are to bound it**, for $N$ of {span(radius['N'])}. The "
            f"norm's mean {_plain_course(radius, 'norm_mean')}; the printed $R$ {_plain_course(radius, 'R_printed')}. "
            f"What (A.12) would give with its factor $1/N$ {_plain_course(radius, 'R_with_1_over_N')} and {word} the "
            f"largest norm. $C/(2\\sqrt\\lambda)$, sure for every data set, is {compact(last['R_singular'])}. Bars of "
            "two standard errors lie within the marks where they are not seen."
        ),
        alt=f"For N of {span(radius['N'])}: "
        + "; ".join(f"{name} {_plain_course(radius, column, plain)}" for column, (_, name) in names.items())
        + ".",
    )


def _plain_course(rows: pd.DataFrame, column: str, tell: Callable[[float], str] = compact) -> str:
    """As `along`, for a column that the table's standard error does not belong to."""
    return along(rows[[column]], column, tell)


def draw_norms(norms: pd.DataFrame) -> Plate:
    """‖Z‖ over G₀ and ‖Γ*‖ over R along N, L and D, in closed form."""
    names = {"N": "$N$ (prompts)", "L": LENGTH, "D": "$D$ (dimension)"}
    rows = norms.assign(Z=norms["statistic_norm"] / norms["query_bound"], Γ=norms["ridge_norm"] / norms["weight_bound"])
    labels = {"Z": r"$\|Z\|/G_0$", "Γ": r"$\|\Gamma^*\|/R$"}
    with figures.style():
        figure, panels = plt.subplots(1, 3, figsize=(9.2, 3.6))
        for axes, (axis, label) in zip(panels, names.items(), strict=True):
            own = select(rows, axis=axis)
            for (ratio_name, name), look in zip(labels.items(), figures.looks(labels).values(), strict=True):
                axes.plot(own[axis], own[ratio_name], label=name, **look)
            axes.axhline(1, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, label, "norm / radius" if axis == "N" else "")
            figures.end_labels(axes)
    told = {axis: select(rows, axis=axis).sort_values(axis) for axis in names}
    return Plate(
        figure,
        caption=(
            "**The two norms of the proof over their radii**, root mean squares in closed form, along each size with "
            "the others fixed; beyond one (dashed) the radius is too small. "
            + " ".join(
                f"Along ${axis}$, of {span(own[axis])}, $\\|Z\\|/G_0$ {along(own, 'Z')} and $\\|\\Gamma^*\\|/R$ "
                f"{along(own, 'Γ')}."
                for axis, own in told.items()
            )
        ),
        alt=" ".join(
            f"Along {axis}, norm of Z over its radius {along(own, 'Z', plain)}, norm of the ridge solution over its "
            f"radius {along(own, 'Γ', plain)}."
            for axis, own in told.items()
        ),
    )


def draw_dominance(dominance: pd.DataFrame) -> Plate:
    """The noise part beside what is left without noise, along N, for short prompts and for L = √N."""
    parts = {"noise": "noise", "descent_printed": "descent", "projection": r"$\Pi_G$"}
    titles = {"N, short prompts": "short prompts", "N, L = √N": r"$L = \lfloor\sqrt{N}\rfloor$"}
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.0), sharey=True)
        for axes, (axis, title) in zip(panels, titles.items(), strict=True):
            rows = select(dominance, axis=axis)
            for (part, label), look in zip(parts.items(), figures.looks(parts).values(), strict=True):
                seen = rows[rows[part] > SEEN]
                axes.plot(seen["N"], seen[part], label=label, **look)
            figures.log_axes(axes, PROMPTS, "excess risk" if axes is panels[0] else "")
            axes.set_title(title)
        for axes in panels:
            figures.end_labels(axes)
    short, long = (select(dominance, axis=axis).sort_values("N") for axis in titles)
    return Plate(
        figure,
        caption=(
            "**Noise and what is left without it**, at the step count of Theorem 4.2(i), in closed form. Left, at "
            f"$L = {short['L'].iloc[0]:g}$: the noise {_crossing(short, 'descent_printed')} what descent leaves at "
            r"$\Gamma_{2\lambda}$, which half the penalty removes. Right, at $L = \sqrt N$: the noise "
            f"{_crossing(long, 'descent_printed')} that, and {_crossing(long, 'projection')} what $\\Pi_G$ costs, "
            "which no penalty removes."
        ),
        alt=" ".join(
            f"{title}: noise {along(rows, 'noise', plain)}, descent {along(rows, 'descent_printed', plain)}, the "
            f"projection's cost {along(rows, 'projection', plain)}."
            for title, rows in (("Short prompts", short), ("Prompts of length root N", long))
        ),
    )


def _crossing(rows: pd.DataFrame, part: str) -> str:
    """From which N on the noise is below another part, in words to be followed by its name."""
    above = rows[rows["noise"] >= rows[part]]["N"].max()
    below = rows[~(rows["N"] <= above)]["N"]
    return f"is from $N$ = {compact(below.min())} on below" if len(below) else "does not fall below"
