"""What does privacy cost in prediction, and do the bound on it and the steps of its proof hold along every size?"""

import pandas as pd
from matplotlib.axes import Axes

from chapters.noisyhead.cost_of_privacy.judge import quantity
from chapters.noisyhead.cost_of_privacy.measure import BIAS, NOISE
from companion import _fits
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import along, compact, compared, percent, span
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

# ---- Figures ----

LENGTH, STEPS, PROMPTS = "$L$ (tokens in a prompt)", "$T$ (steps)", "$N$ (training prompts)"
SETTINGS = {"printed": "as printed", "corrected": "corrected"}
PARTS = ("descent", "noise", "total")
BARS = "Bars: two standard errors."
APART = 3  # between the lengths of the last two shares that are written into a figure
SEEN = 1e-30  # excess risks below it are left out of a figure


def ratio(sides: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Measured cost along L over its bound: (4.2) for the printed setting, the corrected one for the other."""
    rows = quantity(sides, setting, "L", "total")
    bound = rows["bound_descent"] + rows["bound_noise"] if setting == "printed" else rows["bound_amended"]
    return pd.DataFrame(
        {"L": rows["L"], "ratio": rows["value"] / bound, "standard_error": rows["standard_error"] / bound}
    )


def draw_lengths(events: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Left: ‖Z‖ and G against L, with the share of prompts that Π_G cuts. Right: left side of (4.2) over its right."""
    events, printed, corrected = events.sort_values("L"), ratio(sides, "printed"), ratio(sides, "corrected")
    with figures.panels(2, figsize=(9.2, 3.9)) as (figure, (left, right)):
        names = {
            "mean_norm": r"mean $\|Z\|_F$",
            "G, proof": "$G$, proof",
            "G, theorem": "$G$, theorem",
            "G, uniform in L": "$G$ for\nevery $L$",
        }
        for (column, label), look in zip(names.items(), figures.looks(names).values(), strict=True):
            norms = events if column == "mean_norm" else events.drop(columns="standard_error")
            figures.points(left, norms, "L", column, label=label, ls="" if column == "mean_norm" else "-", **look)
        left.plot(events["L"], events["root_energy"], color=figures.COLOURS[0], lw=1)
        last = events["L"].max()
        for _, row in events[(events["L"] == last) | (APART * events["L"] < last)].iterrows():
            share = percent(round(row["share above G, proof"], 2))
            left.annotate(share, (row["L"], 0.02), xycoords=("data", "axes fraction"), ha="center", fontsize=9)
        figures.log_axes(left, LENGTH, r"norm (bottom: share cut by $\Pi_G$)")
        figures.few_decades(left)
        left.set_ylim(bottom=left.get_ylim()[0] / 1.6)
        looks = figures.looks(("(4.2) as\nprinted", "corrected\nbound"))
        for rows, (label, look) in zip((printed, corrected), looks.items(), strict=True):
            figures.points(right, rows, "L", "ratio", label=label, **look)
        right.axhline(1, color="0.35", ls="--", lw=1)
        figures.log_axes(right, LENGTH, "measured cost / bound")
    cut = [percent(share) for share in events["share above G, proof"].iloc[[0, -1]]]
    end = printed.iloc[-1]
    word = compared(end["ratio"], 1, ("within it", "on it", "beyond it"), end["standard_error"])
    caption = (
        f"**Prompts and their summaries, for $L$ of {span(events['L'])}.** Left: the mean of $\\|Z\\|_F$ "
        f"{along(events, 'mean_norm')}, while the proof's $G$ {along(events, 'G, proof')}. At the end $\\Pi_G$ cuts "
        f"{cut[1]} of the prompts (shares at the bottom; line: root mean square, closed form). "
        f"Right: the measured cost over (4.2), constants one, {along(printed, 'ratio')}, {word}. Over the corrected "
        f"bound it is at most {compact(corrected['ratio'].max())}. {BARS}"
    )
    return Plate(figure, caption, f"{described(figure)} The share of prompts cut goes from {cut[0]} to {cut[1]}.")


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
        f"**Cost of descent and cost of noise for $T$ of {steps}.** As printed, descent "
        f"{along(printed['descent'], 'value')} where its bound {along(printed['descent'], 'bound_descent')}. The noise "
        f"{along(printed['noise'], 'value')}, and the sum of both is least at $T = {best}$. Corrected, descent "
        f"{along(corrected['descent'], 'value')}, and the total {kept} the corrected bound. {BARS}"
    )
    return Plate(figure, caption)


def draw_dimensions(response: pd.DataFrame) -> Plate:
    """What unit noise in every step leaves in the weights and in the excess risk, against D."""
    labels = {"weights": "squared error\nof the weights", "excess_risk": "excess risk"}
    parts = {name: select(response, quantity=name).sort_values("D") for name in labels}
    with figures.panels() as (figure, [axes]):
        for (name, rows), look in zip(parts.items(), figures.looks(labels).values(), strict=True):
            figures.points(axes, rows, "D", "value", label=labels[name], ls="", **look)
            axes.plot(rows["D"], rows["closed_form"], color=look["color"], lw=1)
        weights = parts["weights"]
        figures.slope(axes, weights["D"].to_numpy(), weights["value"].iloc[0], 1, "slope 1,\nbefore (A.9)")
        figures.log_axes(axes, "$D$ (dimension)", "response to unit noise")
        figures.plain_ticks(axes, response["D"].unique())
    caption = (
        r"**What unit noise in every step leaves behind**, $\Pi_R$ taken away. In the weights, "
        r"$\|\hat\Gamma - \hat\Gamma_{\text{noiseless}}\|_F^2$ "
        f"{_power_in_words(weights)}, where the display before (A.9) has the first power (dashed). The excess risk "
        f"{_power_in_words(parts['excess_risk'])}. Lines: closed form. {BARS}"
    )
    return Plate(figure, caption)


def _power_in_words(rows: pd.DataFrame) -> str:
    if rows["D"].nunique() < 2:
        return f"is {compact(rows['value'].iloc[0])}"
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    return f"goes like $D^a$ with $a$ = {compact(power)} ± {compact(error)}"


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
        f"**The norm of $\\Gamma^*$ and the radii that are to bound it**, for $N$ of {span(radius['N'])}. The "
        f"norm's mean {along(bounds, 'norm_mean')}; the printed $R$ {along(bounds, 'R_printed')}. "
        f"What (A.12) would give with its factor $1/N$ {along(bounds, 'R_with_1_over_N')} and {word} the "
        f"largest norm. $C/(2\\sqrt\\lambda)$, sure for every data set, is {compact(last['R_singular'])}. Bars of "
        "two standard errors lie within the marks where they are not seen."
    )
    return Plate(figure, caption)


def draw_norms(norms: pd.DataFrame) -> Plate:
    """‖Z‖ over G₀ and ‖Γ*‖ over R along N, L and D, in closed form."""
    names = {"N": "$N$ (prompts)", "L": LENGTH, "D": "$D$ (dimension)"}
    rows = norms.assign(Z=norms["statistic_norm"] / norms["query_bound"], Γ=norms["ridge_norm"] / norms["weight_bound"])
    labels = {"Z": r"$\|Z\|/G_0$", "Γ": r"$\|\Gamma^*\|/R$"}
    found = {axis: select(rows, axis=axis).sort_values(axis) for axis in names}
    with figures.panels(3, figsize=(9.2, 3.6)) as (figure, panels):
        for axes, (axis, own) in zip(panels, found.items(), strict=True):
            _draw_columns(axes, own, axis, labels)
            axes.axhline(1, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, names[axis], "norm / radius" if axis == "N" else "")
    told = (
        f"Along ${axis}$, of {span(own[axis])}, $\\|Z\\|/G_0$ {along(own, 'Z')} and $\\|\\Gamma^*\\|/R$ "
        f"{along(own, 'Γ')}."
        for axis, own in found.items()
    )
    caption = (
        "**The two norms of the proof over their radii**, root mean squares in closed form, along each size with "
        f"the others fixed; beyond one (dashed) the radius is too small. {' '.join(told)}"
    )
    return Plate(figure, caption)


def _draw_columns(axes: Axes, rows: pd.DataFrame, x: str, labels: dict[str, str], least: float = 0) -> None:
    """A curve for each column, where it is above ``least``."""
    for (column, label), look in zip(labels.items(), figures.looks(labels).values(), strict=True):
        seen = rows[rows[column] > least]
        axes.plot(seen[x], seen[column], label=label, **look)


def draw_dominance(dominance: pd.DataFrame) -> Plate:
    """The noise part beside what is left without noise, along N, for short prompts and for L = √N."""
    parts = {"noise": "noise", "descent_printed": "descent", "projection": r"$\Pi_G$"}
    titles = {"N, short prompts": "short prompts", "N, L = √N": r"$L = \lfloor\sqrt{N}\rfloor$"}
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, panels):
        for axes, (axis, title) in zip(panels, titles.items(), strict=True):
            _draw_columns(axes, select(dominance, axis=axis), "N", parts, SEEN)
            figures.log_axes(axes, PROMPTS, "excess risk" if axes is panels[0] else "")
            axes.set_title(title)
    short, long = (select(dominance, axis=axis) for axis in titles)
    caption = (
        "**Noise and what is left without it**, at the step count of Theorem 4.2(i), in closed form. Left, at "
        f"$L = {short['L'].iloc[0]:g}$: the noise {_crossing(short, 'descent_printed')} what descent leaves at "
        r"$\Gamma_{2\lambda}$, which half the penalty removes. Right, at $L = \sqrt N$: the noise "
        f"{_crossing(long, 'descent_printed')} that, and {_crossing(long, 'projection')} what $\\Pi_G$ costs, "
        "which no penalty removes."
    )
    return Plate(figure, caption)


def _crossing(rows: pd.DataFrame, part: str) -> str:
    """From which N on the noise is below another part, in words to be followed by its name."""
    above = rows[rows["noise"] >= rows[part]]["N"].max()
    below = rows[~(rows["N"] <= above)]["N"]
    return f"is from $N$ = {compact(below.min())} on below" if len(below) else "does not fall below"


# ---- Short tables ----


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


# ---- What opens the page ----


def answer(tables: Tables) -> list[str]:
    """The chapter's answer, and what a reader will see."""
    events = tables["events"].sort_values("L")
    lengths = span(events["L"])
    rows = select(tables["both-sides"], setting="corrected", quantity="total")
    exceeded = (rows["value"] > rows["bound_amended"] + CONSISTENT * rows["standard_error"]).sum()
    corrected = "holds at every size tried" if exceeded == 0 else f"is exceeded at {exceeded} of {len(rows)} sizes"
    return [
        words.headline(judges_of(__package__)["noisyhead/theorem-4.1"], tables),
        "The proof assumes that $\\|Z\\|_F$, the norm of a prompt's statistic, vanishes as prompts grow. "
        f"For $L$ of {lengths} its mean {along(events, 'mean_norm')}.",
        f"A corrected bound {corrected}.",
        "We derive the noise part of the cost as a geometric sum, and where descent rests without noise.",
        "A run by hand shows both.",
    ]
