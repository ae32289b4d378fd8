"""Verdicts on Figure 7 and on what sections 5.1, 7 and 8 of arXiv:2505.16329v2 say of schedules."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC, ISOTROPIC, OPTIMUM, UNIFORM
from costofprivacy.experiments.dpgd.schedules.small_noise import ALONG_NOISE, FAR
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, percent, times
from costofprivacy.judging.tables import Tables, select

PAR = 0.1  # a risk above the least by this share is not on a par with it
SAME = 0.01  # two tuned risks within this share are the same
WITHIN = 4.0  # a quotient of orders between this and its inverse is of order one
OUTPUT = "0"  # output perturbation, α = 0
AS_PRINTED = "Risks that a second solution of the equations puts in another order."


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


def _number(name: str, value: float, spectrum: str, n: float, against: float | None = None) -> Number:
    return Number(name, value, None, against, "figure-7", f"spectrum = {spectrum}, n = {n:g}")


@judges("dpgd/figure-7")
def figure_7(tables: Tables) -> Finding:
    """Does every risk fall with n, output perturbation win early and lose late, the harmonic schedule keep up?"""
    both = {name: wide(tables["figure-7"], name) for name in (ISOTROPIC, UNIFORM)}
    worst = {name: excess(table) for name, table in both.items()}
    numbers = tuple(
        _number("harmonic over the best power, at worst", 1 + s.max(), name, s.idxmax(), 1 + PAR)
        for name, s in worst.items()
    )
    falls = all((table.diff().iloc[1:] < 0).all(axis=None) for table in both.values())
    early = all(polynomial(table).iloc[0].idxmin() == OUTPUT for table in both.values())
    late = all(float(polynomial(table).iloc[-1].idxmin()) >= 1 for table in both.values())
    if not (falls and early and late):
        what = "rises somewhere" if not falls else "is not in the order that is claimed at an end of the range"
        headline = f"A tuned risk of Figure 7 {what}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)
    if max(s.max() for s in worst.values()) <= PAR:
        headline = f"All of it is seen; the harmonic schedule is never above the best by more than {percent(PAR)}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=AS_PRINTED)
    if worst[ISOTROPIC].max() > PAR:
        headline = "The harmonic schedule falls behind polynomial ones on isotropic data too."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)
    behind = worst[UNIFORM][worst[UNIFORM] > PAR]
    headline = (
        "The harmonic schedule keeps up on isotropic data; on the uniform spectrum it has up to "
        f"{times(1 + behind.max())} the best polynomial risk at large $n$."
    )
    correction = (
        f"The last part for isotropic data, and for the uniform spectrum below $n = {behind.index.min():.0f}$. "
        "Excluded is the right end of the second and fourth panel."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, AS_PRINTED)


@judges("dpgd/section-7-output-perturbation")
def output_perturbation(tables: Tables) -> Finding:
    """Can output perturbation outperform the other schedules where n is small?"""
    numbers, wins = [], []
    for name in (ISOTROPIC, UNIFORM):
        table = wide(tables["figure-7"], name)
        first = table.iloc[0]
        others = first.drop(OUTPUT)
        wins.append(first[OUTPUT] <= (1 + SAME * (others.idxmin() == HARMONIC)) * others.min())
        numbers.append(_number("best other risk over that of output perturbation", others.min() / first[OUTPUT], name,
                               table.index[0], 1.0))  # fmt: skip
        numbers.append(_number("best decaying power over output perturbation", others.drop(HARMONIC).min()
                               / first[OUTPUT], name, table.index[0], 1.0))  # fmt: skip
    if all(wins):
        headline = (
            f"At the smallest $n$ the best decaying power of time has {times(numbers[1].value)} the risk of output "
            "perturbation, and no schedule is better."
        )
        return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=AS_PRINTED)
    headline = "Another schedule beats output perturbation even at the smallest $n$."
    return Finding(Verdict.FAILS, headline, tuple(numbers), Consequence.CONCLUSION, would_change=AS_PRINTED)


@judges("dpgd/section-7-non-isotropic")
def non_isotropic(tables: Tables) -> Finding:
    """Does a larger α pay more where the covariance is not isotropic, at large n?"""
    gain = {}
    for name in (ISOTROPIC, UNIFORM):
        last = wide(tables["figure-7"], name).iloc[-1]
        gain[name] = float(last[OUTPUT] / polynomial(last.to_frame().T).iloc[0].min())
    n = float(tables["figure-7"]["n"].max())
    numbers = tuple(_number("output perturbation over the best power", v, name, n) for name, v in gain.items())
    if gain[UNIFORM] > gain[ISOTROPIC]:
        headline = (
            f"At the largest $n$ the best power divides output perturbation's risk by {compact(gain[UNIFORM])} on the "
            f"uniform spectrum, by {compact(gain[ISOTROPIC])} on isotropic data."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=AS_PRINTED)
    headline = "At the largest $n$ the best power gains more on isotropic data than on the uniform spectrum."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)


@judges("dpgd/section-7-harmonic-isotropic")
def harmonic_isotropic(tables: Tables) -> Finding:
    """Does the harmonic schedule pay at small and at large n on isotropic data?"""
    table = wide(tables["figure-7"], ISOTROPIC)
    over = excess(table)
    first, last, n = over.iloc[0], over.iloc[-1], over.index
    numbers = (
        _number("harmonic over the best power, smallest n", 1 + first, ISOTROPIC, n[0], 1.0),
        _number("harmonic over the best power, largest n", 1 + last, ISOTROPIC, n[-1], 1.0),
        _number("harmonic over the best power, at worst", 1 + over.max(), ISOTROPIC, over.idxmax(), 1.0),
    )
    if first <= SAME and last < -PAR:
        between = "" if over.max() <= SAME else f", in between up to {percent(over.max())} above"
        headline = f"It equals the best power at the smallest $n$, is {percent(-last)} below at the largest{between}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=AS_PRINTED)
    where = "smallest" if first > SAME else "largest"
    headline = f"At the {where} $n$ the harmonic schedule has no advantage over the best polynomial one."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)


@judges("dpgd/section-7-harmonic-uniform")
def harmonic_uniform(tables: Tables) -> Finding:
    """Is it optimal at small n on the uniform spectrum, and on a par with the powers at n = 10⁴ d?"""
    table = wide(tables["figure-7"], UNIFORM)
    over, last = excess(table), polynomial(table).iloc[-1]
    risk = table[HARMONIC].iloc[-1]
    near = [name for name in last.index if abs(risk / last[name] - 1) <= PAR]
    numbers = (
        _number("harmonic over the best power, smallest n", 1 + over.iloc[0], UNIFORM, over.index[0], 1.0),
        _number("harmonic over the best power, largest n", 1 + over.iloc[-1], UNIFORM, over.index[-1],
                1 + PAR),
        *(_number(f"harmonic over alpha = {name}, largest n", risk / last[name], UNIFORM, over.index[-1], 1.0)
          for name in last.index),
    )  # fmt: skip
    if over.iloc[0] > SAME:
        headline = f"It is {percent(over.iloc[0])} above the best at the smallest $n$ already."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)
    if over.iloc[-1] <= PAR:
        headline = "It is as good as the best at the smallest $n$, and on a par with the best power at the largest."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=AS_PRINTED)
    headline = (
        f"It is as good as the best at the smallest $n$, but at the largest it has {times(1 + over.iloc[-1])} the risk "
        "of the best power."
    )
    if not near:
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=AS_PRINTED)
    correction = (
        rf"On a par at $n=10^4d$ with $\alpha = {near[0]}$. Excluded is $\alpha = {last.idxmin()}$, whose risk is "
        f"{compact(last.min() / risk)} of the harmonic schedule's."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, AS_PRINTED)


@judges("dpgd/section-5.1-larger-alpha")
def larger_alpha(tables: Tables) -> Finding:
    """Does the best α grow as γ falls, like ln ln(1/γ), and does a much larger one hurt?"""
    rates = tables["rates"]
    rows = rates[~rates["schedule"].isin([HARMONIC, OPTIMUM])].assign(alpha=lambda r: r["schedule"].astype(float))
    found, numbers, good = [], [], True
    for path, part in rows.groupby("path", sort=False):
        best = part.loc[part.groupby("inverse")["risk"].idxmin()].sort_values("inverse")
        last = best.iloc[-1]
        end = part[part["inverse"] == last["inverse"]].set_index("alpha")["risk"]
        share = last["alpha"] / math.log(math.log(last["inverse"]))
        good &= bool(best["alpha"].is_monotonic_increasing and last["alpha"] > best["alpha"].iloc[0])
        good &= bool(1 / WITHIN <= share <= WITHIN and end.iloc[-1] > (1 + PAR) * last["risk"])
        found.append((last["alpha"], end.iloc[-1] / last["risk"]))
        row = f"path = {path}, gamma = {last['gamma']:g}"
        numbers.append(Number("best exponent over ln ln(1/gamma)", share, None, 1.0, "rates", row))
        numbers.append(Number("risk of the largest exponent over the best", found[-1][1], None, 1.0, "rates", row))
    alpha, loss = max(found)
    change = "A path on which the best exponent falls with the aspect ratio, or larger ones do no harm."
    if good:
        headline = (
            f"The best exponent rises as $\\gamma$ falls, up to {compact(alpha)} here; the largest tried costs "
            f"{times(loss)} the best risk."
        )
        return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=change)
    headline = "The best exponent does not rise as claimed while the aspect ratio falls, or larger ones do no harm."
    return Finding(Verdict.FAILS, headline, tuple(numbers), Consequence.CONCLUSION, would_change=change)


def _lost(table: pd.DataFrame, axis: str, side: str) -> float:
    """The power of the size that a risk loses against the conjectured order."""
    return growth.power(select(table, axis=axis), "size", side, "order")


@judges("dpgd/section-8-small-noise")
def small_noise(tables: Tables) -> Finding:
    """With a clip that follows the risk, is the risk of the order ζ²(γ + γ²/ρ²) as ζ → 0?"""
    table = tables["small-noise"]
    axes = [axis for axis in dict.fromkeys(table["axis"]) if axis != FAR]
    lost = {axis: _lost(table, axis, "following") for axis in [*axes, FAR]}
    end = select(table, axis=FAR).sort_values("size").iloc[-1]
    numbers = (
        *(Number("power lost with a clip that follows", v, None, growth.LOST_POWER, "small-noise", f"axis = {axis}")
          for axis, v in lost.items()),
        Number("risk over the order at the least label noise", end["following"] / end["order"], None, None,
               "small-noise", f"axis = {FAR}, zeta = {end['zeta']:g}"),
    )  # fmt: skip
    change = "A risk of another order along one of the paths on which the label noise vanishes."
    if max(lost[axis] for axis in axes) > growth.LOST_POWER:
        headline = "Even with a clip that follows the risk, a power is lost against the conjectured order."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if lost[FAR] <= growth.LOST_POWER:
        headline = "With a clip that follows the risk, the risk has the conjectured order along every path."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        "A clip that follows the risk attains the order, unless the label noise is exponentially small; what is left "
        "of the start then stays."
    )
    correction = (
        r"$O\big(\zeta^2(\gamma+\gamma^2/\rho^2)\big)$ where $\ln(1/\zeta)\lesssim\min(1,\rho)/\gamma$; in general "
        r"$e^{-C\min(1,\rho)/\gamma}$ is added. Excluded are smaller $\zeta$, such as $\zeta=0$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)


@judges("dpgd/section-8-fixed-clip")
def fixed_clip(tables: Tables) -> Finding:
    """Where ζ = o(γ), does a constant c = O(ζ) miss the order, and any constant c?"""
    table = tables["small-noise"]
    small, moderate = "zeta = gamma^2", "zeta = gamma^0.5"
    lost = {axis: _lost(table, axis, "proportional") for axis in (small, moderate)}
    other = _lost(table, small, "fixed")
    noise = _lost(table, ALONG_NOISE, "fixed")
    end = select(table, axis=small).sort_values("size").iloc[-1]
    numbers = (
        Number("power lost, c = O(zeta)", lost[small], None, growth.LOST_POWER, "small-noise", f"axis = {small}"),
        Number("power lost, c = O(zeta)", lost[moderate], None, growth.LOST_POWER, "small-noise", f"axis = {moderate}"),
        Number("power lost, any constant c", other, None, growth.LOST_POWER, "small-noise", f"axis = {small}"),
        Number("power lost, any constant c", noise, None, growth.LOST_POWER, "small-noise", f"axis = {ALONG_NOISE}"),
        Number("risk left with c = O(zeta)", end["proportional"], None, None, "small-noise", f"axis = {small}"),
    )
    change = "A constant clip of the order of the label noise that attains the order."
    if lost[small] > growth.LOST_POWER:
        rest = "no constant attains" if other > growth.LOST_POWER else "a larger constant attains"
        headline = (
            f"Such a clip leaves a risk of {compact(end['proportional'])} where the label noise is tiny, and {rest} "
            "the order."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = "A constant clip of the order of the label noise attains the order even where that noise is tiny."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
