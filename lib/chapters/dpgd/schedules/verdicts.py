"""Verdicts on Figure 7 and on what sections 5.1, 7 and 8 of arXiv:2505.16329v2 say of schedules."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from chapters.dpgd.schedules.figure_seven import HARMONIC, INITIAL_RISK, ISOTROPIC, OPTIMUM, UNIFORM
from chapters.dpgd.schedules.small_noise import ALONG_NOISE
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.prose import listed
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ON_A_PAR, WORSE, worse

WITHIN = 4.0  # a quotient of orders between this and its inverse is of order one
OUTPUT = "0"  # output perturbation, α = 0


def wide(figure: pd.DataFrame, spectrum: str) -> pd.DataFrame:
    """The deterministic equivalent's risks of Figure 7 by n, a column a schedule."""
    rows = select(figure, spectrum=spectrum)
    return rows.pivot(index="n", columns="schedule", values="ode_risk").sort_index()


def polynomial(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of the polynomial schedules."""
    return table.drop(columns=HARMONIC)


def excess(table: pd.DataFrame) -> pd.Series:
    """By what share the harmonic schedule is above the best polynomial one, by n."""
    return table[HARMONIC] / polynomial(table).min(axis=1) - 1


def by_row(name: str, table: str, values: Mapping[str, float], against: float | None = None) -> tuple[Number, ...]:
    """One number from several rows of a table."""
    return tuple(Number(name, value, None, against, table, row) for row, value in values.items())


def _at(spectrum: str, n: float) -> str:
    return f"spectrum = {spectrum}, n = {n:g}"


def _as_claimed(table: pd.DataFrame) -> bool:
    """Whether every risk falls with n, and output perturbation is the best power early and α ≥ 1 late."""
    powers = polynomial(table)
    falls = (table.diff().iloc[1:] < 0).all(axis=None)
    return bool(falls and powers.iloc[0].idxmin() == OUTPUT and float(powers.iloc[-1].idxmin()) >= 1)


@judges("dpgd/figure-7")
def figure_7(tables: Tables) -> Ruling:
    """Does every risk fall with n, and does output perturbation win early and lose to α ≥ 1 late?"""
    both = {name: wide(tables["figure-7"], name) for name in (ISOTROPIC, UNIFORM)}
    steps = {f"spectrum = {name}": (table / table.shift()).max(axis=None) for name, table in both.items()}
    best = {name: polynomial(table).idxmin(axis=1) for name, table in both.items()}
    ends = {_at(name, n): float(alphas[n]) for name, alphas in best.items() for n in alphas.index[[0, -1]]}
    found = (
        *by_row("largest risk over the risk at the next smaller n", "figure-7", steps, 1.0),
        *by_row("exponent of the best polynomial schedule", "figure-7", ends),
    )
    verdict = reads(
        printed=all(map(_as_claimed, both.values())),
        decided=all(several(table.index) for table in both.values()),
    )
    return Ruling(verdict, found, {"late": listed(sorted({alphas.iloc[-1] for alphas in best.values()}))})


@judges("dpgd/section-7-output-perturbation")
def output_perturbation(tables: Tables) -> Ruling:
    """Can output perturbation outperform the others where n is small? The harmonic schedule has it as a limit."""
    found: list[Number] = []
    wins, until = [], []
    for name in (ISOTROPIC, UNIFORM):
        table = wide(tables["figure-7"], name)
        best = polynomial(table).idxmin(axis=1) == OUTPUT
        until.append(best[best.cummin()].index.max())
        own, others = table[OUTPUT].iloc[0], table.drop(columns=OUTPUT).iloc[0]
        named = {
            "best other risk over that of output perturbation": (others.min() / own, 1.0),
            "best decaying power over output perturbation": (others.drop(HARMONIC).min() / own, 1.0),
        }
        found += numbers("figure-7", named, _at(name, table.index[0]))
        wins.append(worse(others.drop(HARMONIC).min(), own) and not worse(own, others[HARMONIC]))
    share = wide(tables["figure-7"], ISOTROPIC)[OUTPUT].iloc[0] / INITIAL_RISK
    quoted = {"factor": found[1].value, "share": share, "until": min(until)}  # isotropic data
    return Ruling(reads(printed=all(wins)), tuple(found), quoted)


@judges("dpgd/section-7-non-isotropic")
def non_isotropic(tables: Tables) -> Ruling:
    """Does a larger α pay more where the covariance is not isotropic, at large n? And from which n on?"""
    both = {name: polynomial(wide(tables["figure-7"], name)) for name in (ISOTROPIC, UNIFORM)}
    gains = pd.DataFrame({name: table[OUTPUT] / table.min(axis=1) for name, table in both.items()})
    ahead = (gains[UNIFORM] > gains[ISOTROPIC])[::-1].cummin()
    last, n = gains.iloc[-1], gains.index[-1]
    rows = {_at(name, n): last[name] for name in both}
    found, quoted = by_row("output perturbation over the best power", "figure-7", rows), {**last}
    verdict = reads(printed=worse(last[UNIFORM], last[ISOTROPIC]))
    return Ruling(verdict, found, quoted | {"since": ahead[ahead].index.min()})


@judges("dpgd/section-7-harmonic-isotropic")
def harmonic_isotropic(tables: Tables) -> Ruling:
    """Does the harmonic schedule pay at small and at large n on isotropic data?"""
    over = 1 + excess(wide(tables["figure-7"], ISOTROPIC))
    first, last, most = over.iloc[0], over.iloc[-1], over.max()
    named = {
        "harmonic over the best polynomial risk, smallest n": (first, WORSE, _at(ISOTROPIC, over.index[0])),
        "harmonic over the best polynomial risk, largest n": (last, 1 / ON_A_PAR, _at(ISOTROPIC, over.index[-1])),
        "harmonic over the best polynomial risk, at worst": (most, 1.0, _at(ISOTROPIC, over.idxmax())),
    }
    verdict = reads(printed=not worse(first, 1.0) and last * ON_A_PAR < 1, decided=several(over.index))
    return Ruling(verdict, numbers("figure-7", named), {"below": 1 - last, "above": max(most - 1, 0.0)})


@judges("dpgd/section-7-harmonic-uniform")
def harmonic_uniform(tables: Tables) -> Ruling:
    """Is it optimal at small n on the uniform spectrum, and on a par with the powers at n = 10⁴ d?"""
    table = wide(tables["figure-7"], UNIFORM)
    over, powers, risk = 1 + excess(table), polynomial(table).iloc[-1], table[HARMONIC].iloc[-1]
    near = [name for name, other in powers.items() if 1 / ON_A_PAR <= risk / other <= ON_A_PAR]
    first, last = (_at(UNIFORM, n) for n in over.index[[0, -1]])
    named = {
        "harmonic over the best polynomial risk, smallest n": (over.iloc[0], WORSE, first),
        "harmonic over the best polynomial risk, largest n": (over.iloc[-1], ON_A_PAR, last),
    }
    named |= {f"harmonic over alpha = {name}, largest n": (risk / powers[name], 1.0, last) for name in powers.index}
    starts, late = not worse(over.iloc[0], 1.0), over.iloc[-1] <= ON_A_PAR
    verdict = reads(printed=starts and late, narrower=starts and bool(near), decided=several(over.index))
    quoted = {"factor": over.iloc[-1], "par": next(iter(near), ""), "best": powers.idxmin()}
    return Ruling(verdict, numbers("figure-7", named), quoted)


class _Exponents(NamedTuple):
    """What one path to small γ shows of the exponents of decaying powers.

    Args:
        place: its end, in words. best: the best exponent there. share: the same over ln ln(1/γ).
        cost: the risk of the largest exponent over the best. rises: whether the best one rose all along.
    """

    place: str
    best: float
    share: float
    cost: float
    rises: bool


def _exponents(path: str, rows: pd.DataFrame) -> _Exponents:
    best = rows.loc[rows.groupby("inverse")["risk"].idxmin()].sort_values("inverse")
    first, last = best["alpha"].iloc[0], best.iloc[-1]
    largest = rows[rows["inverse"] == last["inverse"]].iloc[-1]
    return _Exponents(
        place=f"path = {path}, gamma = {last['gamma']:g}",
        best=last["alpha"],
        share=last["alpha"] / math.log(math.log(last["inverse"])),
        cost=largest["risk"] / last["risk"],
        rises=bool(best["alpha"].is_monotonic_increasing and last["alpha"] > first),
    )


def _told(path: _Exponents) -> tuple[Number, ...]:
    named = {
        "best exponent over ln ln(1/gamma)": (path.share, 1.0),
        "risk at the largest exponent over the least risk": (path.cost, ON_A_PAR),
    }
    return numbers("rates", named, path.place)


@judges("dpgd/section-5.1-larger-alpha")
def larger_alpha(tables: Tables) -> Ruling:
    """Does the best α grow as γ falls, like ln ln(1/γ), and does a much larger one hurt?"""
    rates = tables["rates"]
    rows = rates[~rates["schedule"].isin([HARMONIC, OPTIMUM])].assign(alpha=lambda r: r["schedule"].astype(float))
    paths = [_exponents(str(path), part) for path, part in rows.groupby("path", sort=False)]
    found = tuple(number for path in paths for number in _told(path))
    good = all(path.rises and 1 / WITHIN <= path.share <= WITHIN and path.cost > ON_A_PAR for path in paths)
    alpha, cost = max(path.best for path in paths), min(path.cost for path in paths)
    decided = all(several(part["inverse"]) for _, part in rows.groupby("path"))
    return Ruling(reads(printed=good, decided=decided), found, {"alpha": alpha, "cost": cost})


def _lost(table: pd.DataFrame, side: str, axes: Iterable[str]) -> dict[str, float]:
    """The power of the size that a risk loses against the conjectured order, along some axes."""
    return {f"axis = {axis}": power(select(table, axis=axis), "size", side, "order") for axis in axes}


@judges("dpgd/section-8-fixed-clip")
def fixed_clip(tables: Tables) -> Ruling:
    """Where ζ = o(γ), does a constant c = O(ζ) miss the order, and any constant c?"""
    table = tables["small-noise"]
    small, moderate = "zeta = gamma^2", "zeta = gamma^0.5"
    proportional = _lost(table, "proportional", [small, moderate])
    fixed = _lost(table, "fixed", [small, ALONG_NOISE])
    row = f"axis = {small}"
    left = select(table, axis=small).sort_values("size")["proportional"].iloc[-1]
    found = (
        *by_row("power by which the risk outgrows the order, c = O(zeta)", "small-noise", proportional, LOST_POWER),
        *by_row("power by which the risk outgrows the order, best constant c", "small-noise", fixed, LOST_POWER),
        *numbers("small-noise", {"risk left with c = O(zeta)": (left, INITIAL_RISK)}, row),
    )
    verdict = reads(printed=proportional[row] > LOST_POWER, decided=not math.isnan(proportional[row]))
    return Ruling(verdict, found, {"left": left}, "" if fixed[row] > LOST_POWER else "a larger constant")
