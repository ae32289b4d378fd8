"""The answer and the figures for the page on the lower bound of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.lower_bound.attacks import HARMONIC, LEAST_SQUARES, OUTPUT, RIDGE, ZERO
from costofprivacy.experiments.dpgd.lower_bound.optimality import ALONG_NOISE, ALONG_RHO, BALL, ISOTROPIC, PATHS, PRIOR
from costofprivacy.experiments.dpgd.lower_bound.verdicts import section_8_optimality
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.prose import compact, course, measured, percent, plain
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

CONSTANT_RHO = next(iter(PATHS))
CURVES = {
    "trivial": "always 0",
    "harmonic": "DP-GD,\nharmonic",
    "two_stage": "pilot and\none step",
    "lower": "lower bound",
}
SPOKEN = {"harmonic": "DP-GD", "two_stage": "pilot and one step", "lower": "lower bound"}
ATTACKED = (LEAST_SQUARES, RIDGE, HARMONIC, OUTPUT)


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    bounds = select(tables["bounds"], start=BALL)
    slow = select(bounds, path=CONSTANT_RHO, spectrum=ISOTROPIC).sort_values("gamma").iloc[0]
    worst = bounds[bounds["path"] != ALONG_NOISE]["factor"].max()
    _, gain = best_gain(tables["bounds"])
    grows = section_8_optimality(tables).verdict != Verdict.HOLDS
    taken = f"takes up to {compact(gain)} of it" if gain > 1 else "takes nothing of it"
    return (
        f"At $\\rho = {_tex(slow['rho'])}$ and $\\gamma = {_tex(slow['gamma'])}$ no private algorithm can beat tuned "
        f"DP-GD by more than {compact(slow['factor'])} times. Over all settings tried the proof leaves up to "
        f"{compact(worst)} times; a pilot followed by one averaged step {taken}. Towards small $\\gamma$ the factor "
        f"{'keeps growing' if grows else 'stays bounded'} on {'some path' if grows else 'every path tried'}."
    )


def _isotropic(bounds: pd.DataFrame) -> pd.DataFrame:
    """What is drawn and told: Σ = I, the worst target in the ball, the paper's label noise."""
    rows = select(bounds, spectrum=ISOTROPIC, start=BALL)
    return rows[rows["path"] != ALONG_NOISE]


def best_gain(bounds: pd.DataFrame) -> tuple[pd.Series, float]:
    """Where a pilot with one averaged step gains most over the harmonic schedule, and how much."""
    rows = _isotropic(bounds)
    gain = rows["harmonic"] / rows["two_stage"]
    return rows.loc[gain.idxmax()], float(gain.max())


def _tex(value: float) -> str:
    """A number inside a formula."""
    return compact(value).strip("$")


def draw_bounds(bounds: pd.DataFrame) -> Plate:
    """What DP-GD reaches and what no private algorithm beats: along γ at constant ρ, along ρ at one γ."""
    rows = _isotropic(bounds)
    along_gamma = select(rows, path=CONSTANT_RHO).sort_values("gamma")
    along_rho = select(rows, path=ALONG_RHO).sort_values("rho")
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.9))
        _draw_sides(left, along_gamma.assign(x=1 / along_gamma["gamma"]))
        figures.log_axes(left, r"$1/\gamma = n/d$ (records over dimension)", "excess risk (units of $y^2$)")
        _draw_sides(right, along_rho.assign(x=along_rho["rho"]))
        figures.log_axes(right, r"$\rho$ (privacy parameter)", "excess risk (units of $y^2$)")
        left.set_title(rf"$\rho = {along_gamma['rho'].iloc[0]:g}$")
        right.set_title(rf"$\gamma = {_tex(along_rho['gamma'].iloc[0])}$")
        for axes in (left, right):
            figures.end_labels(axes)
    slow, peak = along_gamma.iloc[0], along_rho.loc[along_rho["factor"].idxmax()]
    return Plate(
        figure,
        caption=(
            "**Upper and lower bound.** The worst mean risk over the unit ball, $\\Sigma = I$, $\\zeta = "
            f"{slow['label_noise']:g}$: the best harmonic schedule of DP-GD and a pilot with one averaged step, by "
            "their deterministic equivalents, above what is proven of every private algorithm. Left: DP-GD over the "
            f"lower bound {course(along_gamma.iloc[-1]['factor'], slow['factor'])} as records grow. Right: it is at "
            f"most {compact(peak['factor'])}, at $\\rho = {_tex(peak['rho'])}$. No simulation, so no error bars."
        ),
        alt=_sides_alt("gamma", along_gamma) + " " + _sides_alt("rho", along_rho),
    )


def _draw_sides(axes: Axes, rows: pd.DataFrame) -> None:
    shown = rows.assign(two_stage=rows["two_stage"].where(rows["two_stage"] <= rows["trivial"])).sort_values("x")
    for (column, label), look in zip(CURVES.items(), figures.looks(CURVES).values()):
        line = {"trivial": ":", "lower": "--"}.get(column, "-")
        axes.plot(shown["x"], shown[column], line, label=label, **look)


def _sides_alt(name: str, rows: pd.DataFrame) -> str:
    first, last = rows.iloc[0], rows.iloc[-1]
    said = [f"{text} {plain(first[column])} and {plain(last[column])}" for column, text in SPOKEN.items()]
    return f"At {name} {plain(first[name])} and {plain(last[name])}: {'; '.join(said)}."


def draw_attack(attack: pd.DataFrame) -> Plate:
    """Left: the score of each algorithm over its largest value. Right: the ρ that score and risk certify."""
    middle = sorted(r for r in attack["rho"].unique() if math.isfinite(r))
    rho = middle[len(middle) // 2]
    shown = attack[(attack["rho"] == rho) | (attack["algorithm"].isin([LEAST_SQUARES, RIDGE]))]
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.9))
        for name, look in figures.looks(ATTACKED).items():
            rows = select(shown, algorithm=name).sort_values("n")
            ratio, whole = rows["n"] / rows["d"], rows["whole"]
            left.errorbar(ratio, rows["score"] / whole, yerr=2 * rows["score_error"] / whole, label=name, **look)
            left.plot(ratio, (rows["least_score"] / whole).clip(lower=0), ":", color=look["color"], lw=1)
        left.set(xscale="log", xlabel="$n/d$ (records over dimension)", ylabel=r"score $\div\ \zeta^2 d$")
        figures.plain_ticks(left, np.unique(shown["n"] / shown["d"]))
        left.set_title(rf"DP-GD at $\rho = {rho:g}$")
        _draw_certified(right, attack)
        figures.end_labels(left)
        figures.end_labels(right)
    row = certified_at(attack, max(middle))
    bare = select(attack, algorithm=LEAST_SQUARES).sort_values("n").iloc[-1]
    return Plate(
        figure,
        caption=(
            "**The tracing attack.** Left: the attack's score, summed over all records and averaged over targets from "
            "the prior; dotted, the least that (D.140) allows at the algorithm's risk. Right: the privacy parameter "
            f"that score and risk certify. At $\\rho = {row['rho']:g}$ and $n/d = {row['n'] / row['d']:g}$ harmonic "
            f"DP-GD shows {compact(row['certified'])}. Least squares, with no privacy at all, shows "
            f"{compact(bare['certified'])}: an average over records certifies little. Bars of two standard errors."
        ),
        alt=_attack_alt(shown) + f" Certified by harmonic DP-GD: {plain(row['certified'])} of {plain(row['rho'])}.",
    )


def _draw_certified(axes: Axes, attack: pd.DataFrame) -> None:
    private = attack[np.isfinite(attack["rho"]) & (attack["algorithm"] == HARMONIC)]
    ratios = sorted(private["n"].unique())
    for n, look in figures.looks(ratios).items():
        rows = select(private, n=n).sort_values("rho")
        axes.plot(rows["rho"], rows["certified"], label=f"$n/d = {n / rows['d'].iloc[0]:g}$", **look)
    ends = np.array(sorted(private["rho"].unique()))
    axes.plot(ends, ends, "--", color="0.35", lw=1, label="all of it")
    figures.log_axes(axes, r"$\rho$ (spent)", r"$\rho$ (certified)")
    figures.plain_ticks(axes, ends)
    axes.set_title("harmonic DP-GD")


def certified_at(attack: pd.DataFrame, rho: float) -> pd.Series:
    """Harmonic DP-GD at this ρ and the most records."""
    return select(attack, algorithm=HARMONIC, rho=rho).sort_values("n").iloc[-1]


def _attack_alt(shown: pd.DataFrame) -> str:
    texts = []
    for name in ATTACKED:
        rows = select(shown, algorithm=name).sort_values("n")
        texts.append(f"{name} {plain(rows['score'].iloc[0] / rows['whole'].iloc[0])} to "
                     f"{plain(rows['score'].iloc[-1] / rows['whole'].iloc[-1])}")  # fmt: skip
    return f"Scores as shares of the largest, from few to many records: {'; '.join(texts)}."


def draw_records(records: pd.DataFrame) -> Plate:
    """E(L_i − 1)² along the data over the most that zCDP allows, output perturbation at its best learning rate."""
    rows = select(records, multiple=1.0, n=records["n"].max())
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 3.9))
        for rho, look in figures.looks(sorted(rows["rho"].unique())).items():
            part = select(rows, rho=rho).sort_values("share")
            error = 2 * part["standard_error"] / part["most"]
            axes.errorbar(part["share"], part["value"] / part["most"], yerr=error, label=rf"$\rho = {rho:g}$", **look)
        axes.set(yscale="log", xlabel="place of the record in the pass ($i/n$)",
                 ylabel=r"$\mathbb{E}(L_i - 1)^2 \div (e^{\rho^2} - 1)$")  # fmt: skip
        figures.end_labels(axes)
    small = select(rows, rho=rows["rho"].min()).sort_values("share")
    share = (small["value"] / small["most"]).to_numpy()
    return Plate(
        figure,
        caption=(
            "**What each record's likelihood ratio shows of the budget.** Output perturbation at its best learning "
            f"rate, $n/d = {rows['n'].iloc[0] / rows['d'].iloc[0]:g}$, one random record replaced by another. At "
            f"$\\rho = {small['rho'].iloc[0]:g}$ the share "
            f"{course(share[0], share[-1], tell=percent)} from the first record to the last: later steps forget what "
            "came before, and typical records stay far from the worst pair. Bars of two standard errors."
        ),
        alt=(
            f"Shares of the largest value at rho {plain(small['rho'].iloc[0])}: {percent(share[0])} for the first "
            f"record, {percent(share[-1])} near the end; {len(small)} records."
        ),
    )


# --------------------------------------------------------------------------------------------------------- tables


def show_factors(bounds: pd.DataFrame) -> pd.DataFrame:
    """DP-GD over the lower bound along each path, for the page."""
    rows = bounds[bounds["path"].isin(list(PATHS))]
    place = rows["spectrum"].where(rows["start"] == BALL, PRIOR)
    rows = rows.assign(column=rows["path"].map(PATH_NAMES) + ", " + place, aspect=rows["gamma"])
    table = rows.pivot(index="aspect", columns="column", values="factor").sort_index(ascending=False)
    order = list(dict.fromkeys(rows["column"]))
    return table[order].rename_axis(index="γ", columns=None).map(plain).rename(index=plain)


PATH_NAMES = dict(zip(PATHS, ("ρ = 1", "ρ = √γ", "ρ = γ^¾")))


def show_chain(chain: pd.DataFrame) -> pd.DataFrame:
    """The links of (D.144) and (D.145) for output perturbation, at the most records."""
    rows = chain[chain["n"] == chain["n"].max()].sort_values(["multiple", "rho"])
    score = [measured(value, error) for value, error in zip(rows["score"], rows["score_error"])]
    return pd.DataFrame(
        {
            "ρ": rows["rho"].map(plain).to_numpy(),
            "learning rate over the best": rows["multiple"].map(plain).to_numpy(),
            "score": score,
            "by the first record's ratio, as printed": rows["first"].map(plain).to_numpy(),
            "by each record's own ratio": rows["each"].map(plain).to_numpy(),
            "by the worst pair of records": rows["most"].map(plain).to_numpy(),
        }
    ).set_index(["ρ", "learning rate over the best"])


def show_attack(attack: pd.DataFrame) -> pd.DataFrame:
    """Score on the data and on fresh records, risk and certified ρ at the most records."""
    rows = attack[attack["n"] == attack["n"].max()]
    return pd.DataFrame(
        {
            "algorithm": rows["algorithm"].to_numpy(),
            "ρ": [_spent(name, rho) for name, rho in zip(rows["algorithm"], rows["rho"])],
            "score": [measured(v, e) for v, e in zip(rows["score"], rows["score_error"])],
            "on fresh records": [measured(v, e) for v, e in zip(rows["fresh"], rows["fresh_error"])],
            "excess risk": [measured(v, e) for v, e in zip(rows["risk"], rows["risk_error"])],
            "certified ρ": rows["certified"].map(plain).to_numpy(),
        }
    ).set_index(["algorithm", "ρ"])


def _spent(algorithm: str, rho: float) -> str:
    """What an algorithm spends, in words."""
    if algorithm == ZERO:
        return "0"
    return "not private" if math.isinf(rho) else plain(rho)


def show_rivals(rivals: pd.DataFrame) -> pd.DataFrame:
    """Simulated and predicted risks of DP-GD and of a pilot with one averaged step."""
    simulated = [measured(v, e) for v, e in zip(rivals["risk"], rivals["standard_error"])]
    table = pd.DataFrame(
        {"algorithm": rivals["algorithm"], "simulated risk": simulated, "predicted": rivals["predicted"].map(plain)}
    )
    return table.set_index("algorithm")


def show_priors(priors: pd.DataFrame) -> pd.DataFrame:
    """κ of three priors, by dimension."""
    names = {"paper": "the paper's", "cube": "best of independent entries", "ball": "best on the ball"}
    return priors.set_index("d").rename(columns=names).map(plain).rename(index=plain)


def show_outside(outside: pd.DataFrame) -> pd.DataFrame:
    """How often the Gaussian prior of Lemma D.8 leaves the ball, at the fewest records per dimension."""
    rows = select(outside, ratio=outside["ratio"].min())
    table = rows.pivot(index="label_noise", columns="d", values="leaves")
    table.insert(0, "mean squared norm", rows.groupby("label_noise")["spread"].first())
    columns = {d: f"d = {d}" for d in table.columns if d != "mean squared norm"}
    return table.rename_axis(index="ζ", columns=None).rename(columns=columns).map(plain).rename(index=plain)
