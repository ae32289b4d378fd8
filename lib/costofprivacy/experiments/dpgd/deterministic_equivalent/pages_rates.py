"""How fast the risk closes in on the equations of arXiv:2505.16329v2: a figure and a table for the page."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import _fits
from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.experiments.dpgd.deterministic_equivalent.rates import KINK
from costofprivacy.judging.prose import compared, listed, measured, plain
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

NAMES = {"constant": "constant", "square root": "square root", KINK: "constant\nat $2/\\gamma$"}
CURED = "at $2/\\gamma$, with\nthe mean cap"
DEVIATIONS = {
    "path": "a run",
    "path, 99 %": "a run, 99 % quantile",
    "bias": "bias of the mean",
    "bias, cap smoothed": "bias, with the mean cap",
    "released": "the release",
}
APART = 2.0  # factor between the first points and the reference lines above and below


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: the supremum of the deviation of a run. Right: of the deviation of the mean. Both against n."""
    chosen = rates[rates["spectrum"] == rates["spectrum"].iloc[0]]
    runs, means = _series(chosen, "path"), _series(chosen, "bias")
    means[CURED] = chosen[chosen["quantity"] == "bias, cap smoothed"].sort_values("n")
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 4.0))
        _draw_falls(left, runs, -0.5, "$n^{-1/2}$")
        _draw_falls(right, means, -1.0, "$n^{-1}$")
        left.set(ylabel=r"largest $|\mathcal{R}(\theta) - R(t)|$", title="a run")
        right.set(ylabel="largest bias", title="the mean of many runs")
    return Plate(figure, _caption(runs, means), _alt(runs, means))


def _draw_falls(axes: Axes, series: dict[str, pd.DataFrame], exponent: float, name: str) -> None:
    """Deviations along n between the shape of the claimed bound above them and a power of n below."""
    looks = figures.looks([*NAMES.values(), CURED])
    for label, rows in series.items():
        figures.points(axes, rows.assign(value=rows["value"].abs()), "n", "value", label=label, **looks[label])
    first, starts = next(iter(series.values())), [abs(rows["value"].iloc[0]) for rows in series.values()]
    shape = APART * max(starts) * first["bound"] / first["bound"].iloc[0]
    axes.plot(first["n"], shape, ":", color="0.35", lw=1.5, label="claimed:\n$\\log^2n/\\sqrt{n}$")
    figures.slope(axes, first["n"].to_numpy(), min(starts) / APART, exponent, name)
    figures.log_axes(axes, "$n$ (records)", "")
    figures.plain_ticks(axes, first["n"].unique(), most=3)
    figures.end_labels(axes)


def _series(chosen: pd.DataFrame, quantity: str) -> dict[str, pd.DataFrame]:
    """The rows of one deviation by schedule, along n."""
    rows = chosen[chosen["quantity"] == quantity].sort_values("n")
    return {name: rows[rows["schedule"] == schedule] for schedule, name in NAMES.items()}


def _caption(runs: dict[str, pd.DataFrame], means: dict[str, pd.DataFrame]) -> str:
    parts = []
    for place, series in (("Left, the largest deviation along a run", runs), ("Right, that of the mean", means)):
        powers = listed(f"{_power(rows)} ({' '.join(name.split())})" for name, rows in series.items())
        parts.append(f"{place}: over all sizes it goes like {powers}.")
    every = [*runs.values(), *means.values()]
    (slowest, error), bound = max(power(rows) for rows in every), bound_power(every[0])
    words = ("All fall faster than", "Not all fall faster than", "Not all fall as fast as")
    return (
        "**Distance from the equations** against $n$ at $d = \\gamma n$, isotropic spectrum; bars of two standard "
        f"errors. {' '.join(parts)} {compared(slowest, bound, words, error)} the claimed bound (dotted), which goes "
        f"like {trends.power(bound)} here."
    )


def power(rows: pd.DataFrame) -> tuple[float, float]:
    """The power of n of a deviation over all sizes, with its standard error."""
    return _fits.power_law(rows["n"], rows["value"].abs(), rows["standard_error"])


def _power(rows: pd.DataFrame) -> str:
    return trends.power(power(rows)[0])


def bound_power(rows: pd.DataFrame) -> float:
    """The power of n of log²n/√n between the first and the last size."""
    ends = rows.sort_values("n").iloc[[0, -1]]
    return float(np.diff(np.log(ends["bound"]))[0] / np.diff(np.log(ends["n"]))[0])


def _alt(runs: dict[str, pd.DataFrame], means: dict[str, pd.DataFrame]) -> str:
    texts = []
    for place, series in (("Left", runs), ("Right", means)):
        ends = [(name, rows.iloc[0], rows.iloc[-1]) for name, rows in series.items()]
        told = [f"{_spoken(name)} from {_size(first)} to {_size(last)}" for name, first, last in ends]
        texts.append(f"{place}: {listed(told)}.")
    first, last = ends[0][1], ends[0][2]
    return f"Two panels of deviations, from n = {first['n']} to n = {last['n']}. {' '.join(texts)}"


def _size(row: pd.Series) -> str:
    return plain(abs(row["value"]))


def _spoken(name: str) -> str:
    """A label without mathematics."""
    return " ".join(name.replace(r"$2/\gamma$", "2/γ").split())


def show_exponents(rates: pd.DataFrame) -> pd.DataFrame:
    """Powers of n with their standard errors, fitted over all n and between the last two, for the page.

    The last line has those of log²n/√n. A dash stands where the last two n do not resolve a power; a released bias is
    too often noise.
    """
    keys = ["deviation", "schedule", "spectrum"]
    chosen = rates[rates["quantity"].isin(list(DEVIATIONS))]
    chosen = chosen.assign(deviation=chosen["quantity"].map(DEVIATIONS))
    lines = []
    for names, rows in chosen.groupby(keys, sort=False):
        last = trends.fall("", "rates", rows)
        resolved = measured(last.exponent, last.error) if last.resolved else "–"
        lines.append(dict(zip(keys, names)) | {"all n": measured(*power(rows)), "last two n": resolved})
    for spectrum, rows in chosen.groupby("spectrum", sort=False):
        ends = rows.drop_duplicates("n").sort_values("n")
        powers = {"all n": bound_power(ends), "last two n": bound_power(ends.tail(2))}
        shown = {name: f"{value:.3f}".replace("-", "−") for name, value in powers.items()}
        lines.append({"deviation": "log²n/√n", "schedule": "", "spectrum": spectrum} | shown)
    return pd.DataFrame(lines).set_index(keys).unstack("spectrum", sort=False)
