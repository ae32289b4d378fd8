"""What *DP-GD in ten minutes* says."""

import pandas as pd

from chapters.dpgd.schedules.measure import HARMONIC
from chapters.method import measure as method_measure
from chapters.overview import index
from chapters.overview.drawings import clipping, schedule
from chapters.overview.saved import Saved
from companion.judging.prose import compact, compared, percent
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.privacy import GaussianDP


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``dpgd-in-ten-minutes.md``."""
    return saved.found | {
        "clipped": clipping.plate(),
        "noise": schedule.plate(),
        "path": path(saved),
        "price": price(saved),
        "zeta": f"{method_measure.Experiment.regression_noise:g}",
        "delta": f"{method_measure.Experiment.delta:g}",
        "d": f"{index.path_ends(saved)['d'].max()}",
        "off": index.off(saved),
        "clip_gain": clip_gain(saved),
        "harmonic_cost": percent(select(saved.table("dpgd/schedules", "gains"), family=HARMONIC)["excess"].max()),
        "slips": saved.errata("dpgd"),
    }


def clip_gain(saved: Saved) -> str:
    """The excess risk with a small clipping constant beside that with a large one, where privacy is costly."""
    table = saved.table("method", "regression")
    rows = select(table, records=table["records"].max(), rho=table["rho"].min())
    risks = rows.set_index("method")["excess_risk"]
    small, large = risks[method_measure.HARMONIC], risks[method_measure.UNCLIPPED]
    word = compared(small, large, ("a smaller", "the same", "a larger"))
    return (
        f"{word} excess risk: {compact(small)} instead of the {compact(large)} of a large one, for "
        f"{table['records'].max()} records per feature and $\\rho = {table['rho'].min():g}$"
    )


def path(saved: Saved) -> Plate:
    """Simulated and predicted risk over one pass."""
    ends = index.path_ends(saved)
    with figures.panels(figsize=(7.2, 4.0)) as (figure, (axes,)):
        index.draw_path(axes, saved.table("dpgd/deterministic-equivalent", "figure-1"))
    return Plate(
        figure,
        f"**The mean simulated risk ends within {index.off(saved)} of the predicted one.** Excess risk during one pass "
        f"in dimension {ends['d'].max()}, in two of the {len(ends)} panels of the paper's Figure 1. The bands are one "
        f"standard deviation over {ends['trials'].max():.0f} runs; the dashed curves solve the equations. {index.JUMP}",
    )


def price(saved: Saved) -> str:
    """The excess risk with the best form of DP-GD over that of least squares, by records per feature, ρ and its ε."""
    table = saved.table("method", "regression")
    risks = table.pivot_table(index="records", columns=["rho", "method"], values="excess_risk")
    rhos, delta = sorted(table["rho"].unique(), reverse=True), method_measure.Experiment.delta
    names = {rho: f"DP-GD, $\\rho = {rho:g}$, $\\varepsilon = {GaussianDP(rho).epsilon(delta):.1f}$" for rho in rhos}
    private = {names[rho]: risks[rho][list(method_measure.WAYS)].min(axis=1) for rho in rhos}
    shown = private | {"always predicting 0": risks[rhos[0]][method_measure.REGRESSION_ZERO]}
    rows = pd.DataFrame(shown).div(risks[rhos[0]][method_measure.LEAST_SQUARES], axis=0)
    lines = [f"| {name} | {' | '.join(map(compact, row))} |" for name, row in rows.iterrows()]
    return "\n".join([f"| $n/d = 1/\\gamma$ | {' | '.join(rows)} |", "|--:" * (len(rows.columns) + 1) + "|", *lines])
