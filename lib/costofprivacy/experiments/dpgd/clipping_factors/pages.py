"""The answer, figures and short tables for the page on the reduction factors of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import _fits
from costofprivacy.experiments.dpgd.clipping_factors.experiment import DIMENSION_QUANTITIES, PEAK, PEAK_HEIGHT
from costofprivacy.experiments.dpgd.clipping_factors.verdicts import equation_46, figure_9
from costofprivacy.judging import words
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import compact, listed, measured, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

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
SPOKEN = {"distance": "squared distance", "mu shift": "change of mu", "nu shift": "change of nu"}
FACTORS = {"mu": r"$\mu_c$", "nu": r"$\nu_c$"}
EVERY = 3  # of the points of a smooth curve are drawn
FLOOR = np.finfo(float).eps / 8  # where an error of 0 is drawn


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    law, row = furthest(tables["definition"])
    return (
        f"{words.headline(equation_46, tables)} So it is for Gaussian features. With {law} features and the error in "
        f"{row['direction']}, the share of the descent that is left is {compact(row['value'])}, where the formula has "
        f"{compact(row['closed_form'])}. Of "
        f"{len(verdicts)} claims, {tally(verdicts)}."
    )


def furthest(definition: pd.DataFrame) -> tuple[str, pd.Series]:
    """The law of the features whose μ is furthest from the closed form, with its row: what other laws may cost."""
    rows = select(definition, quantity="mu")
    row = rows.loc[(rows["value"] - rows["closed_form"]).abs().idxmax()]
    return str(row["law"]), row


def draw_figure_9(factors: pd.DataFrame, landmarks: pd.DataFrame, definition: pd.DataFrame) -> Plate:
    """Left: Figure 9 of the paper, with ν/c'² and the peak of ν/c'. Right: simulated factors by law and direction."""
    value = landmarks.set_index("landmark")["value"]
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.7), width_ratios=(1.15, 1))
        _draw_curves(left, factors, value)
        _draw_laws(right, definition)
    law, row = furthest(definition)
    return Plate(
        figure,
        caption=(
            "**Figure 9, re-computed, and what it rests on.** Left: closed forms, with one curve more, $\\nu_c/c'^2$. "
            f"{words.headline(figure_9, {'factors': factors, 'landmarks': landmarks})} Right: factors of simulated "
            "gradients at one risk, two spectra, bars of two standard errors. The furthest from the formula (dashed) "
            f"is $\\mu_c$ for {law} features and the error in {row['direction']}."
        ),
        alt=_figure_9_alt(factors, value) + _laws_alt(definition),
    )


def _draw_curves(axes: Axes, factors: pd.DataFrame, value: pd.Series) -> None:
    drawn = factors.iloc[::EVERY]
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
    looks = figures.looks(FACTORS)
    for name, label in FACTORS.items():
        rows = select(definition, quantity=name)
        y = [heights[place] for place in zip(rows["law"], rows["direction"])]
        axes.errorbar(rows["value"], y, xerr=2 * rows["standard_error"], ls="", label=label, **looks[name])
        axes.axvline(rows["closed_form"].iloc[0], color=looks[name]["color"], ls="--", lw=1)
    axes.set_yticks(list(heights.values()), [f"{law},\n{direction}" for law, direction in places])
    axes.set(xlabel="factor", ylabel="features, place of the error", title="simulated at one risk")
    axes.margins(y=0.08)
    axes.legend(loc="upper right")


def _laws_alt(definition: pd.DataFrame) -> str:
    rows = definition[definition["quantity"].isin(list(FACTORS))]
    means = rows.groupby(["law", "direction"], sort=False)["value"].agg(list)
    texts = [f"{law}, error in {direction}: {span(values)}" for (law, direction), values in means.items()]
    return f" Simulated factors, from nu to mu: {'; '.join(texts)}."


def _figure_9_alt(factors: pd.DataFrame, value: pd.Series) -> str:
    said = dict(zip(CURVES, ("mu", "mu over c'", "nu", "nu over c'", "nu over c' squared")))
    first, last = factors.loc[factors["ratio"].idxmin()], factors.loc[factors["ratio"].idxmax()]
    ends = listed(f"{said[name]} from {plain(first[name])} to {plain(last[name])}" for name in CURVES)
    return (
        f"For c' from {plain(first['ratio'])} to {plain(last['ratio'])}: {ends}; the peak of nu over c' is "
        f"{plain(value[PEAK_HEIGHT])} at {plain(value[PEAK])}."
    )


def draw_dimension(dimension: pd.DataFrame) -> Plate:
    """Clipping whole gradients against clipping residuals, against the dimension."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(7.6, 4.2), sharey=True)
        for axes, (name, rows) in zip(panels, dimension.groupby("spectrum", sort=False)):
            for quantity, look in figures.looks(DIMENSION_QUANTITIES).items():
                chosen = select(rows, quantity=quantity)
                points = chosen.assign(value=chosen["value"].abs())
                figures.points(axes, points, "d", "value", label=SHIFTS[str(quantity)], ls="", **look)
            distance = select(rows, quantity="distance").sort_values("d")
            axes.plot(distance["d"], distance["closed_form"], "--", color="0.35", lw=1, label="leading order, $1/d$")
            figures.log_axes(axes, "$d$ (dimension)", "relative difference" if axes is panels[0] else "")
            figures.plain_ticks(axes, dimension["d"].unique())
            axes.set(title=f"{name} spectrum", ylim=(dimension["closed_form"].min() / 10, None))
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    powers = listed(f"$d^{{{power:.2f}}}$ ({name})" for name, power in distance_powers(dimension).items())
    return Plate(
        figure,
        caption=(
            r"**Clipping whole gradients at $c\sqrt d$ against clipping residuals at $c$**, on the same records. The "
            f"mean squared distance relative to the gradient's square goes like {powers} over all $d$. At "
            f"$d = {dimension['d'].max()}$ the factors move by at most {percent(_largest_shift(dimension))}. Absolute "
            "values; bars of two standard errors."
        ),
        alt=_dimension_alt(dimension),
    )


def distance_powers(dimension: pd.DataFrame) -> dict[str, float]:
    """The power of d of the squared distance, by spectrum."""
    distances = select(dimension, quantity="distance").groupby("spectrum", sort=False)
    return {str(name): _fits.power_law(rows["d"], rows["value"], rows["standard_error"])[0] for name, rows in distances}


def _largest_shift(dimension: pd.DataFrame) -> float:
    last = dimension[(dimension["d"] == dimension["d"].max()) & (dimension["quantity"] != "distance")]
    return float(last["value"].abs().max())


def _dimension_alt(dimension: pd.DataFrame) -> str:
    texts = []
    for (name, quantity), rows in dimension.groupby(["spectrum", "quantity"], sort=False):
        first, last = rows.sort_values("d")["value"].iloc[[0, -1]]
        texts.append(f"{name}, {SPOKEN[quantity]}: {percent(first)} to {percent(last)}")
    return f"Relative differences from d = {dimension['d'].min()} to d = {dimension['d'].max()}. {'; '.join(texts)}."


def draw_precision(precision: pd.DataFrame) -> Plate:
    """Relative error of F, as printed and by the incomplete gamma function, and of ν."""
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 3.6))
        for (column, (label, line)), look in zip(PRECISION.items(), figures.looks(PRECISION).values()):
            error = precision[column].clip(lower=FLOOR)
            axes.plot(precision["ratio"], error, line, label=label, markersize=3, **look)
        figures.log_axes(axes, r"$c' = c/\sqrt{2\mathcal{P}}$", "relative error")
        axes.legend(loc="upper right")
    worst = {column: precision[column].max() for column in PRECISION}
    printed_F, printed_nu, ours = (compact(value) for value in worst.values())
    return Plate(
        figure,
        caption=(
            "**What cancellation costs.** Relative error against quadrature of the defining moments. The difference "
            f"that (B.3) prints has errors of $F$ up to {printed_F}, and with them errors of $\\nu_c$ up to "
            f"{printed_nu}. The form used here errs by at most {ours} over the whole range. Errors below the smallest "
            "shown are 0."
        ),
        alt=(
            f"Largest relative errors for c' from {plain(precision['ratio'].min())} to "
            f"{plain(precision['ratio'].max())}: F as printed {plain(worst['printed_F_error'])}, nu with it "
            f"{plain(worst['printed_nu_error'])}, nu as computed here {plain(worst['nu_error'])}."
        ),
    )


def show_definition(definition: pd.DataFrame) -> pd.DataFrame:
    """Simulated factors with their standard errors, and the closed form, for the page."""
    text = [measured(value, error) for value, error in zip(definition["value"], definition["standard_error"])]
    shown = definition.assign(simulated=text).rename(columns={"direction": "error in"})
    index = ["law", "spectrum", "error in"]
    table = shown.pivot(index=index, columns="quantity", values="simulated")
    table = table.loc[list(map(tuple, shown[index].drop_duplicates().to_numpy()))]
    table.loc[("closed form", "", "")] = (
        definition.drop_duplicates("quantity").set_index("quantity")["closed_form"].map(plain)
    )
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
