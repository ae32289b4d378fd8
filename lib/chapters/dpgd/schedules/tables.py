"""Tables for readers of the page on schedules of arXiv:2505.16329v2."""

import numpy as np
import pandas as pd

from chapters.dpgd.schedules.figure_seven import HARMONIC
from chapters.dpgd.schedules.orders import DEGREE
from companion.judging.prose import plain
from companion.judging.tables import select


def show_figure_7(figure: pd.DataFrame) -> pd.DataFrame:
    """Tuned risks at whole decades: by the equations, and the mean of the runs with its standard deviation."""
    decades = _whole_decades(figure, "n")
    runs = [f"{plain(row.risk_mean)} ± {plain(row.risk_sd)}" if row.trials else "–" for row in decades.itertuples()]
    rows = decades.assign(
        equations=decades["ode_risk"].map(plain),
        runs=runs,
        schedule=decades["schedule"].map(lambda name: "harmonic" if name == HARMONIC else f"α = {name}"),
    )
    table = rows.pivot(index=["spectrum", "n"], columns="schedule", values=["equations", "runs"])
    return table.swaplevel(axis=1).sort_index(axis=1).rename_axis(columns=[None, None])


def _whole_decades(table: pd.DataFrame, column: str, every: int = 1) -> pd.DataFrame:
    return table[np.isclose(np.log10(table[column]) % every, 0)]


def show_search(search: pd.DataFrame) -> pd.DataFrame:
    """What a search without the theorem finds, beside the theorem's schedule and the best harmonic one."""
    names = {
        "n_over_d": "n/d",
        "searched": "searched",
        "least": "by the theorem",
        "harmonic": "best harmonic",
        "over": "harmonic over searched",
    }
    over = (search["harmonic"] / search["searched"]).map("{:.3f}".format)
    return _shown(search.assign(over=over), {"spectrum": "spectrum"} | names, ["spectrum", "n/d"])


def show_limits(rates: pd.DataFrame) -> pd.DataFrame:
    """The tuned harmonic schedule as γ falls: its constants in units of their limits."""
    rows = _whole_decades(select(rates, schedule=HARMONIC), "gamma", every=2)
    rows = rows.sort_values(["path", "gamma"], ascending=[True, False])
    names = {
        "path": "path",
        "gamma": "γ",
        "descent": "2μβ",
        "start": "τρ/γ",
        "over": "risk over its limit",
    }
    told = rows.assign(
        path=rows["path"].map(_path),
        start=rows["offset"] * rows["rho"] / rows["gamma"],
        over=(rows["risk"] / rows["least"]).map("{:.3f}".format),
    )
    return _shown(told, names, ["path", "γ"])


def _path(name: str) -> str:
    return name.replace("rho", "ρ").replace("gamma^(1/2)", "√γ").replace("gamma^(3/4)", "γ^¾")


def show_decay(decay: pd.DataFrame) -> pd.DataFrame:
    """Where (5.16) breaks: exponents as large as (5.14) admits, with strict privacy."""
    rows = select(decay, axis=DEGREE).sort_values("size")
    names = {
        "gamma": "γ",
        "alpha": "α",
        "condition": "condition (5.14)",
        "privacy": "αγ/ρ",
        "left": "risk",
        "right": "bound (5.16)",
        "over": "risk over bound",
    }
    return _shown(rows.assign(over=rows["left"] / rows["right"]), names, ["γ"])


def show_constants(constants: pd.DataFrame) -> pd.DataFrame:
    """What the proofs print, and what is needed there."""
    places = constants["constant"].str.replace("alpha", "α").str.replace("sqrt(pi e)", "√(πe)", regex=False)
    names = {"constant": "place", "printed": "printed", "needed": "needed"}
    return _shown(constants.assign(constant=places), names, ["place"])


def _shown(rows: pd.DataFrame, names: dict[str, str], index: list[str]) -> pd.DataFrame:
    """Columns under other names, their numbers written out."""
    return rows[list(names)].map(_written).rename(columns=names).set_index(index)


def _written(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "–" if np.isnan(value) else plain(value)
