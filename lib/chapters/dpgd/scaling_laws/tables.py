"""Short tables for the page on the scaling laws of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.scaling_laws.curves import PLACE
from chapters.dpgd.scaling_laws.verdicts_proof import tested
from companion.judging.prose import plain
from companion.judging.tables import select

CASES = {1: "privacy free, (6.4)", 2: "privacy costs, (6.5)", 3: "free, φ(α+1) ≥ 2", 4: "costs, (6.6)"}


def show_decades(slopes: pd.DataFrame, points: pd.DataFrame, psi: float) -> pd.DataFrame:
    """The distance of the local slope from h, a row a curve, a column a decade of γ, three digits after the point."""
    rows = select(slopes.merge(points[PLACE].drop_duplicates(), on=PLACE), psi=psi)
    table = rows.pivot_table(index=["phi", "b", "alpha"], columns="gamma", values="distance", sort=True)
    table = table[sorted(table.columns, reverse=True)]
    capped = rows.pivot_table(index=["phi", "b", "alpha"], columns="gamma", values="at_cap", aggfunc="max")
    shown = table.map("{:+.3f}".format).where(~capped[table.columns].astype(bool), table.map("{:+.3f} cap".format))
    shown = shown.map(lambda text: text.replace("-", "−")).rename(columns=plain)
    return _named(shown, ["φ", "b", "α"], "γ")


def show_settled(settled: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """For each curve h, the distance of the local slope at the least solved γ, and the γ where it settles."""
    rows = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    rows = rows.assign(cell=rows["settles_at"].map(plain))
    table = rows.pivot_table(index="alpha", columns=["phi", "psi"], values="cell", aggfunc="first")
    table.columns = [f"φ = {phi:g}, ψ = {psi:g}" for phi, psi in table.columns]
    table.index = pd.Index([f"{alpha:g}" for alpha in table.index], name="α")
    return table


def show_starts(starts: pd.DataFrame) -> pd.DataFrame:
    """Local slopes at the largest and the least γ for several risks of the start, R(0)."""
    found = []
    for place, rows in starts.groupby([*PLACE, "initial_risk"], sort=False):
        rows = rows.sort_values("gamma")
        found.append((*place, _slope(rows.iloc[-2:]), _slope(rows.iloc[:2]), rows["h"].iloc[0]))
    decades = ["first decade", "last decade"]
    curves = pd.DataFrame(found, columns=[*PLACE, "R(0)", *decades, "h"]).groupby(PLACE, sort=False)
    low, high = (curves[[*decades, "h"]].agg(end).map("{:.3f}".format) for end in ("min", "max"))
    return _named((low[decades] + " to " + high[decades]).assign(h=low["h"]), ["φ", "ψ", "α", "b"], "")


def _slope(pair: pd.DataFrame) -> float:
    (low, high), (first, last) = pair["gamma"], pair["risk"]
    return math.log(last / first) / math.log(high / low)


def show_theorem(powers: pd.DataFrame) -> pd.DataFrame:
    """The risk at v = γ^a over γ^h along γ, c = 1, a row a curve."""
    table = powers.pivot_table(index=["case", *PLACE], columns="gamma", values="ratio")
    table = table[sorted(table.columns, reverse=True)].map(plain).rename(columns=plain)
    return _named(table.rename(index=CASES, level="case"), ["case", "φ", "ψ", "α", "b"], "γ")


def show_clips(clips: pd.DataFrame) -> pd.DataFrame:
    """The best risk over γ^h by clipping constant at the largest and the least γ."""
    ends = clips[clips["gamma"].isin([clips["gamma"].min(), clips["gamma"].max()])]
    table = ends.pivot_table(index=["case", "gamma"], columns="clip", values="ratio", sort=False)
    table = table.rename(index=CASES, level="case").rename(index=plain, level="gamma")
    return table.rename(columns={"growing": "γ^(−1/4)"}).map(plain).rename_axis(index=["case", "γ"], columns="c")


def show_check(check: pd.DataFrame) -> pd.DataFrame:
    """How far the optimised risks are from LSODA on the same equations, and what its neighbours would gain."""
    rows = tested({"check": check})
    table = rows.groupby("gamma", sort=False).agg(
        curves=("apart", "size"), apart=("apart", "max"), better=("better", "max")
    )
    names = {"apart": "largest relative difference", "better": "largest gain at a neighbouring rate"}
    shown = table.rename(index=plain).rename_axis("γ").rename(columns=names)
    return shown.assign(**{name: shown[name].map(plain) for name in names.values()})


def _named(table: pd.DataFrame, names: list[str], columns: str) -> pd.DataFrame:
    """A table whose rows are named by numbers in few digits."""
    index = [tuple(v if isinstance(v, str) else plain(v) for v in place) for place in table.index]
    table.index = pd.MultiIndex.from_tuples(index, names=names)
    return table.rename_axis(columns=columns or None)
