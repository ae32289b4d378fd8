"""What *DP-GD in ten minutes* says."""

from chapters.dpgd.schedules.measure import HARMONIC
from chapters.method import measure as method_measure
from chapters.overview import index
from chapters.overview.drawings import clipping, schedule
from chapters.overview.saved import Saved
from companion.judging.prose import compact, compared, percent
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``dpgd-in-ten-minutes.md``."""
    return saved.found | {
        "clipped": clipping.plate(),
        "noise": schedule.plate(),
        "path": path(saved),
        "ways": ways(saved),
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
    small, large = (
        pick(rows, method=name)["excess_risk"] for name in (method_measure.HARMONIC, method_measure.UNCLIPPED)
    )
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
        f"standard deviation over {ends['trials'].max():.0f} runs; the dashed curves solve the equations.",
    )


def ways(saved: Saved) -> Plate:
    """Released risk of each way to spend the budget against the number of records per feature."""
    table = saved.table("method", "regression")
    table = table[table["rho"] == table["rho"].min()]
    last = table[table["records"] == table["records"].max()].set_index("method")["excess_risk"]
    with figures.panels(figsize=(7.2, 4.2)) as (figure, (axes,)):
        for name, look in figures.looks(method_measure.WAYS).items():
            rows = table[table["method"] == name]
            axes.plot(rows["records"], rows["excess_risk"], label=name, **look)
        free = table[table["method"] == method_measure.LEAST_SQUARES]
        axes.plot(free["records"], free["excess_risk"], "k:", lw=1.5, label=method_measure.LEAST_SQUARES)
        figures.log_axes(axes, "$n/d$ (records per feature)", "excess risk")
    best = last[list(method_measure.WAYS)].idxmin()
    return Plate(
        figure,
        f"**With the most records per feature, *{best}* has the smallest excess risk, {compact(last[best])}.** "
        f"Schedules and clipping constants at $\\rho = {table['rho'].iloc[0]:g}$, each with its best learning rate. "
        f"The curves are solutions of the equations and have no sampling error.",
    )
