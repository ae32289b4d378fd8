"""Which learning rate schedule should one use, and how much does it matter?"""

from typing import Any

import pandas as pd

from chapters.dpgd.schedules import measure as m
from chapters.dpgd.schedules.judge import excess, wide
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent, plain, times
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate

BASE = "0"  # α = 0, to which the lower panels are relative
NAMES = {"0": r"$\alpha=0$", "0.5": r"$\alpha=\frac{1}{2}$", "1": r"$\alpha=1$", "2": r"$\alpha=2$",
         m.HARMONIC: "harmonic", m.OPTIMUM: "the best of all"}  # fmt: skip
MODERATE = 1.0  # ρ up to which the two-parameter family is spoken of
FAMILIES = {m.HARMONIC: r"harmonic, $\beta/(t+\tau)$", m.FLAT: r"flat, then a power, $\beta\,\max(t,\tau)^{-1.1}$"}
PATHS = {"rho = 1": r"$\rho=1$", "rho = gamma^(1/2)": r"$\rho=\sqrt{\gamma}$"}
FIRST = next(iter(PATHS))
CLIPS = {"following": "c follows the risk", "fixed": "best constant c", "proportional": r"best $c\leq10\zeta$"}
LEVEL: dict[str, Any] = {"color": "0.35", "ls": "--", "lw": 1}


def risks_and_ratios(tables: Tables) -> pd.DataFrame:
    """Risks of the tuned schedules, and the same over those of α = 0: solved, and simulated with their deviation."""
    rows = pd.concat([tables["figure-7"], tables["optimum"]], ignore_index=True)
    place = rows[["spectrum", "n"]]
    base = place.merge(select(rows, schedule=BASE))  # a deviation is relative to the mean
    names = {"ode_risk": "solved", "risk_mean": "simulated", "risk_sd": "sd"}
    risks = rows[list(names)].rename(columns=names)
    mean = base["risk_mean"]
    ratios = risks / pd.DataFrame({"solved": base["ode_risk"], "simulated": mean, "sd": mean})
    place = place.assign(schedule=rows["schedule"].map(NAMES))
    told = {"excess risk": risks, r"over that of $\alpha=0$": ratios}
    return pd.concat([place.assign(measure=name, **part) for name, part in told.items()], ignore_index=True)


def caption_figure_7(tables: Tables) -> str:
    """What the tuned schedules of Figure 7 show."""
    table, optimum = tables["figure-7"], tables["optimum"]
    run = table[table["trials"] > 0]
    off = (run["risk_mean"] / run["ode_risk"] - 1).abs()
    harmonic = select(table, spectrum=m.ISOTROPIC, schedule=m.HARMONIC).set_index("n")["ode_risk"]
    gain = (harmonic / optimum.set_index("n")["ode_risk"]).max() - 1
    last = select(table, n=table["n"].max()).sort_values("ode_risk").drop_duplicates("spectrum")
    best = {spectrum: "the harmonic one" if name == m.HARMONIC else f"$\\alpha = {name}$"
            for spectrum, name in zip(last["spectrum"], last["schedule"], strict=True)}  # fmt: skip
    return (
        f"**With many records the best of the paper's schedules is {best[m.ISOTROPIC]} on the isotropic spectrum, "
        f"{best[m.UNIFORM]} on the uniform one.** Figure 7 of the paper, re-run. "
        f"{words.headline(judges_of(__package__)['dpgd/figure-7'], tables)} Lines: the equations, tuned. Points: means "
        f"of {int(run['trials'].max())} runs, bars of one standard deviation. The means differ from the lines by "
        f"{percent(off.median())} in the median. The best of all schedules for isotropic data saves up to "
        f"{percent(gain / (1 + gain))} of the harmonic risk."
    )


def caption_gains(tables: Tables) -> str:
    """What two families cost against the best schedule, along n/d, by ρ."""
    gains = tables["gains"]
    worst = gains.groupby("family")["excess"].max()
    near = gains[(gains["rho"] <= MODERATE) & (gains["family"] == m.FLAT)]["excess"].max()
    return (
        f"**The harmonic schedule costs up to {percent(worst[m.HARMONIC])} against the best one, a flat start with a "
        f"power after it {percent(worst[m.FLAT])}.** Isotropic data, tuned, by the equations. A flat start, with the "
        f"power 1.1, costs up to {percent(near)} for $\\rho\\le{MODERATE:g}$; with a free power, "
        f"{percent(worst[m.FLAT_FREE])} for all $\\rho$. The equations are solved, so there is no sampling error."
    )


def caption_rates(tables: Tables) -> str:
    """Tuned risks over the least constant's order, along γ, by schedule."""
    rates = tables["rates"]
    rates = rates.assign(over=rates["risk"] / rates["least"]).sort_values("inverse")
    end = select(rates, path=FIRST, gamma=rates["gamma"].min()).set_index("schedule")["over"]
    head = "The harmonic schedule comes near the least order; a constant one does not"
    if not end[m.HARMONIC] < 2 <= end[BASE]:
        head = f"{'No schedule comes' if end[m.HARMONIC] >= 2 else 'Both schedules come'} near the least order"
    return (
        f"**{head}.** Risks of tuned schedules on isotropic data, as multiples of the least order "
        "$4b_1/a^2+27b_2/a^2$, as data grow. At the smallest $\\gamma$ of the left panel the harmonic schedule is at "
        f"{compact(end[m.HARMONIC])}, output perturbation at {compact(end[BASE])}. The equations are solved, so there "
        "is no sampling error."
    )


def draw_small_noise(small: pd.DataFrame) -> Plate:
    """Risks over ζ²(γ + γ²/ρ²) as ζ falls, at two aspect ratios, by how the clip is chosen."""
    over = small.assign(**{name: small[name] / small["order"] for name in CLIPS})
    with figures.panels(2, ends=False, figsize=(8.0, 3.9), sharey=True) as (drawn, panels):
        for axes, axis in zip(panels, (m.ALONG_NOISE, m.FAR), strict=True):
            rows = select(over, axis=axis)
            for name, look in figures.looks(CLIPS).items():
                figures.points(axes, rows, "size", name, label=CLIPS[name], **look)
            left = r"risk over $\zeta^2(\gamma+\gamma^2/\rho^2)$" if axis == m.ALONG_NOISE else ""
            figures.log_axes(axes, r"$1/\zeta$", left)
            axes.set_title(rf"$\gamma={rows['gamma'].iloc[0]:g}$")
        figures.end_labels(panels[1])
    near, far = (pick(over, axis=axis, size=select(over, axis=axis)["size"].max()) for axis in (m.ALONG_NOISE, m.FAR))
    return Plate(
        drawn,
        f"**Without label noise, a clip that follows the risk has {times(near['following'])} the conjectured order, a "
        f"constant clip {times(near['fixed'])}.** This is at the least $\\zeta$ of the left panel; $\\rho=1$, each "
        "time with the best schedule. On the right the clip that follows ends at "
        f"{times(far['following'])} the order. The equations are solved, so there is no sampling error.",
    )


def show_search(search: pd.DataFrame) -> pd.DataFrame:
    """What a search without the theorem finds, beside the theorem's schedule and the best harmonic one."""
    columns = {
        "spectrum": search["spectrum"],
        "n/d": search["n_over_d"],
        "searched": search["searched"],
        "by the theorem": search["least"],
        "best harmonic": search["harmonic"],
        "harmonic over searched": (search["harmonic"] / search["searched"]).map("{:.3f}".format),
    }
    return _shown(columns, 2)


def show_decay(decay: pd.DataFrame) -> pd.DataFrame:
    """Where (5.16) breaks: exponents as large as (5.14) admits, with strict privacy."""
    rows = select(decay, axis=m.DEGREE).sort_values("size")
    columns = {
        "γ": rows["gamma"],
        "α": rows["alpha"],
        "condition (5.14)": rows["condition"],
        "αγ/ρ": rows["privacy"],
        "risk": rows["left"],
        "bound (5.16)": rows["right"],
        "risk over bound": rows["left"] / rows["right"],
    }
    return _shown(columns)


def _shown(columns: dict[str, pd.Series], index: int = 1) -> pd.DataFrame:
    table = pd.DataFrame(columns).map(
        lambda value: value if isinstance(value, str) else plain(value), na_action="ignore"
    )
    return table.fillna("–").set_index(list(columns)[:index])


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    worst = tables["gains"].groupby("family")["excess"].max()
    behind = excess(wide(tables["figure-7"], m.UNIFORM)).max()
    return [
        "For isotropic data we derive the best schedule: it is constant at first and then falls like $1/t$, along an "
        "explicit curve.",
        f"In our settings tuned harmonic schedules have up to {percent(worst[m.HARMONIC])} more risk, constant ones up "
        f"to {times(1 + worst[m.CONSTANT])} the risk, and a constant start with a power of time after it costs at most "
        f"{percent(worst[m.FLAT_FREE])}.",
        f"On Figure 7's uniform spectrum harmonic ones have up to {times(1 + behind)} the best power's risk.",
    ]
