"""How much of its mean and of its square does clipping leave a gradient, and does that depend on the risk alone?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.dpgd.clipping_factors.measure import PEAK, PEAK_HEIGHT
from companion import _fits
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import compact, listed, percent, plain, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    judges = judges_of(__package__)
    verdicts = [judge(tables).verdict for judge in judges.values()]
    row = furthest(tables["definition"])
    return [
        words.headline(judges["dpgd/equation-4.6"], tables),
        "Five steps derive both factors. That of the mean is the share of the residuals that clipping leaves whole.",
        "Averages of clipped residuals, by hand, test the formulas.",
        f"These need Gaussian features. With {row['law']} features and the error in {row['direction']}, clipping "
        f"leaves {compact(row['value'])} of the descent, where the formula predicts {compact(row['closed_form'])}.",
        f"Of the paper's {len(verdicts)} claims, {tally(verdicts)}.",
    ]


def furthest(definition: pd.DataFrame) -> pd.Series:
    """The row whose μ is furthest from the closed form: what other laws of the features may cost."""
    rows = select(definition, quantity="mu")
    return rows.loc[(rows["value"] - rows["closed_form"]).abs().idxmax()]


# ---- Figures ----

CURVES = {
    "mu": (r"$\mu_c$", "-"),
    "mu_over_ratio": (r"$\mu_c/c'$", "--"),
    "nu": (r"$\nu_c$", "-"),
    "nu_over_ratio": (r"$\nu_c/c'$", "--"),
    "nu_over_square": ("$\\nu_c/c'^2$", ":"),
}
COLOURS = dict(zip(CURVES, (figures.COLOURS[i] for i in (0, 0, 1, 1, 2))))
PRECISION = {
    "printed_F_error": ("$F$ as (B.3) prints it", "--"),
    "printed_nu_error": ("$\\nu_c$ with it", "--"),
    "nu_error": ("$\\nu_c$ as computed here", "-"),
}
SHIFTS = {"distance": "squared distance", "mu shift": r"change of $\mu$", "nu shift": r"change of $\nu$"}
FACTORS = {"mu": r"$\mu_c$", "nu": r"$\nu_c$"}


def draw_figure_9(factors: pd.DataFrame, landmarks: pd.DataFrame, definition: pd.DataFrame) -> Plate:
    """Left: Figure 9 of the paper, with ν/c'² and the peak of ν/c'. Right: simulated factors by law and direction."""
    with figures.panels(2, ends=False, figsize=(7.8, 3.7), width_ratios=(1.15, 1)) as (figure, (left, right)):
        _draw_curves(left, factors, landmarks.set_index("landmark")["value"])
        _draw_laws(right, definition)
    row, monotone = furthest(definition), judges_of(__package__)["dpgd/lemma-b.2-monotone"]
    return Plate(
        figure,
        "**Figure 9, re-computed, and what it rests on.** Left: closed forms, with one curve more, $\\nu_c/c'^2$. "
        f"{words.headline(monotone, {'factors': factors, 'landmarks': landmarks})} Right: factors of "
        "simulated gradients at one risk, two spectra, bars of two standard errors. The furthest from the formula "
        f"(dashed) is $\\mu_c$ for {row['law']} features and the error in {row['direction']}.",
    )


def _draw_curves(axes: Axes, factors: pd.DataFrame, value: pd.Series) -> None:
    drawn = factors.iloc[::3]
    axes.axhline(0.5, color="0.6", lw=0.8)
    axes.axvline(1, color="0.6", lw=0.8)
    for name, (label, line) in CURVES.items():
        axes.plot(drawn["ratio"], drawn[name], line, color=COLOURS[name], label=label)
    axes.plot(value[PEAK], value[PEAK_HEIGHT], "o", color=COLOURS["nu_over_ratio"])
    axes.set(xlabel=r"$c' = c/\sqrt{2R + \zeta^2}$", ylabel="factor", title="the formulas")
    axes.set(xlim=(0, drawn["ratio"].max()), ylim=(0, 1.02))
    figures.end_labels(axes)


def _draw_laws(axes: Axes, definition: pd.DataFrame) -> None:
    places = list(dict.fromkeys(zip(definition["law"], definition["direction"])))
    heights = {place: -float(i) for i, place in enumerate(places)}
    for (name, label), look in zip(FACTORS.items(), figures.looks(FACTORS).values()):
        rows = select(definition, quantity=name)
        y = [heights[place] for place in zip(rows["law"], rows["direction"])]
        axes.errorbar(rows["value"], y, xerr=2 * rows["standard_error"], ls="", label=label, **look)
        axes.axvline(rows["closed_form"].iloc[0], color=look["color"], ls="--", lw=1)
    axes.set_yticks(list(heights.values()), [f"{law},\n{direction}" for law, direction in places])
    axes.set(xlabel="factor", ylabel="features, place of the error", title="simulated at one risk")
    axes.margins(y=0.08)
    axes.legend(loc="upper right")


def draw_dimension(dimension: pd.DataFrame) -> Plate:
    """Clipping whole gradients against clipping residuals, against the dimension."""
    spectra = dimension.groupby("spectrum", sort=False)
    with figures.panels(len(spectra), ends=False, figsize=(7.6, 4.2), sharey=True) as (figure, panels):
        for axes, (name, rows) in zip(panels, spectra):
            sizes = rows.assign(value=rows["value"].abs())
            figures.curves(axes, sizes, "d", "value", "quantity", SHIFTS, ls="")
            distance = select(rows, quantity="distance").sort_values("d")
            axes.plot(distance["d"], distance["closed_form"], "--", color="0.35", lw=1, label="leading order, $1/d$")
            figures.log_axes(axes, "$d$ (dimension)", "relative difference" if axes is panels[0] else "")
            figures.plain_ticks(axes, dimension["d"].unique())
            axes.set(title=f"{name} spectrum", ylim=(dimension["closed_form"].min() / 10, None))
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    fits = {
        name: _fits.power_law(rows["d"], rows["value"], rows["standard_error"])
        for name, rows in select(dimension, quantity="distance").groupby("spectrum", sort=False)
    }
    powers = listed(f"$d^{{{power:.2f}}}$ ({name})" for name, (power, _) in fits.items())
    largest = select(dimension, d=dimension["d"].max())
    shift = largest.loc[largest["quantity"] != "distance", "value"].abs().max()
    return Plate(
        figure,
        r"**Clipping whole gradients at $c\sqrt d$ against clipping residuals at $c$**, on the same records. The "
        f"mean squared distance relative to the gradient's square goes like {powers} over all $d$. At "
        f"$d = {dimension['d'].max()}$ the factors move by at most {percent(shift)}. Absolute values; bars of two "
        "standard errors.",
    )


def draw_precision(precision: pd.DataFrame) -> Plate:
    """Relative error of F, as printed and by the incomplete gamma function, and of ν."""
    with figures.panels(ends=False, figsize=(6.6, 3.6)) as (figure, (axes,)):
        for (column, (label, line)), look in zip(PRECISION.items(), figures.looks(PRECISION).values()):
            error = precision[column].clip(lower=np.finfo(float).eps / 8)  # where an error of 0 is drawn
            axes.plot(precision["ratio"], error, line, label=label, markersize=3, **look)
        figures.log_axes(axes, r"$c' = c/\sqrt{2\mathcal{P}}$", "relative error")
        axes.legend(loc="upper right")
    printed_F, printed_nu, ours = (compact(precision[column].max()) for column in PRECISION)
    return Plate(
        figure,
        "**What cancellation costs.** Relative error against quadrature of the defining moments. The difference "
        f"that (B.3) prints has errors of $F$ up to {printed_F}, and with them errors of $\\nu_c$ up to "
        f"{printed_nu}. The relative error of the form used here is at most {ours} over the whole range. Errors "
        "below the smallest shown are 0.",
    )


def show_definition(definition: pd.DataFrame) -> pd.DataFrame:
    """Simulated factors with their standard errors, and the closed form, for the page."""
    shown = definition.assign(simulated=with_errors(definition, "value")).rename(columns={"direction": "error in"})
    index = ["law", "spectrum", "error in"]
    table = shown.pivot(index=index, columns="quantity", values="simulated")
    table = table.loc[list(map(tuple, shown[index].drop_duplicates().to_numpy()))]
    closed = definition.drop_duplicates("quantity").set_index("quantity")["closed_form"]
    table.loc[("closed form", "", "")] = closed.map(plain)
    names = {"mu": "μ", "nu": "ν", "share whole": "share left whole"}
    return table.rename(columns=names).rename_axis(columns=None)


def show_landmarks(landmarks: pd.DataFrame) -> pd.DataFrame:
    """Landmarks to ten digits: agreement is what they show."""
    return landmarks.set_index("landmark").map("{:.10f}".format)


def show_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Both ratios of (B.15) over all risks, between the best constants, at the middle ζ."""
    middle = sorted(bounds["label_noise"].unique())[bounds["label_noise"].nunique() // 2]
    columns = {
        "mu_sharp": "best constant, μ",
        "mu_low": "least μ/c'",
        "mu_high": "largest μ/c'",
        "nu_sharp": "best constant, ν",
        "nu_low": "least ν/c'²",
        "nu_high": "largest ν/c'²",
    }
    rows = select(bounds, label_noise=middle).assign(share=lambda r: r["clip"] / r["label_noise"])
    shown = rows.sort_values("share").set_index("share").rename_axis("c/ζ")[list(columns)].rename(columns=columns)
    return shown.map("{:.4g}".format).rename(index=plain)
