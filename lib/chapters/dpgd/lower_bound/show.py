"""Could any private algorithm do much better than DP-GD, and how sure is that?"""

import numpy as np
import pandas as pd

from chapters.dpgd.lower_bound import measure as m
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, course, percent, plain, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate

CONSTANT_RHO = next(iter(m.PATHS))


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    bounds = select(tables["bounds"], start=m.BALL)
    slow = select(bounds, path=CONSTANT_RHO, spectrum=m.ISOTROPIC).sort_values("gamma").iloc[0]
    worst = bounds[bounds["path"] != m.ALONG_NOISE]["factor"].max()
    rows = drawn(bounds)
    gain = (rows["harmonic"] / rows["two_stage"]).max()
    grows = judges_of(__package__)["dpgd/section-8-optimality"](tables).verdict != Verdict.HOLDS
    better = f"up to {compact(gain)} times less risk" if gain > 1 else "no less risk"
    return [
        f"For isotropic data, $\\rho = {tex(slow['rho'])}$ and the smallest $\\gamma$ the risk of tuned DP-GD is at "
        f"most {compact(slow['factor'])} times the least possible for a private algorithm.",
        f"At $\\zeta = {slow['label_noise']:g}$ the lower bound leaves room for a factor of {compact(worst)}. As "
        f"$\\gamma$ falls, the factor {'keeps growing on some path' if grows else 'stays bounded on our paths'}.",
        f"A pilot with one averaged step has {better} than DP-GD.",
    ]


def drawn(bounds: pd.DataFrame) -> pd.DataFrame:
    """What is drawn and told: Σ = I, the worst target in the ball, the paper's label noise."""
    rows = select(bounds, spectrum=m.ISOTROPIC, start=m.BALL)
    return rows[rows["path"] != m.ALONG_NOISE]


def tex(value: float) -> str:
    """A number inside a formula."""
    return compact(value).strip("$")


CURVES = {
    "trivial": ("always 0", ":"),
    "harmonic": ("DP-GD,\nharmonic", "-"),
    "two_stage": ("pilot and\none step", "-"),
    "lower": ("lower bound", "--"),
}


def draw_bounds(bounds: pd.DataFrame) -> Plate:
    """What DP-GD reaches and what no private algorithm beats: along γ at constant ρ, along ρ at one γ."""
    rows = drawn(bounds)
    along_gamma = select(rows, path=CONSTANT_RHO).sort_values("gamma")
    along_rho = select(rows, path=m.ALONG_RHO).sort_values("rho")
    slow, peak = along_gamma.iloc[0], along_rho.loc[along_rho["factor"].idxmax()]
    with figures.panels(2, figsize=(9.4, 3.9)) as (figure, (left, right)):
        sides = (left, along_gamma, 1 / along_gamma["gamma"]), (right, along_rho, along_rho["rho"])
        for axes, rows, x in sides:
            told = rows["two_stage"] <= rows["trivial"]
            shown = rows.assign(two_stage=rows["two_stage"].where(told), x=x).sort_values("x")
            for (column, (label, line)), look in zip(CURVES.items(), figures.looks(CURVES).values()):
                axes.plot(shown["x"], shown[column], line, label=label, **look)
            figures.log_axes(axes, "", "excess risk (units of $y^2$)")
        left.set(xlabel=r"$1/\gamma = n/d$ (records over dimension)", title=rf"$\rho = {slow['rho']:g}$")
        right.set(xlabel=r"$\rho$ (privacy parameter)", title=rf"$\gamma = {tex(peak['gamma'])}$")
    return Plate(
        figure,
        f"**The risk of DP-GD is here at most {compact(max(along_gamma['factor'].max(), peak['factor']))} times the "
        f"lower bound.** The worst mean risk over the unit ball, $\\Sigma = I$, $\\zeta = {slow['label_noise']:g}$: "
        "the best harmonic schedule of DP-GD and a pilot with one averaged step, by their deterministic equivalents, "
        "above what is proven of every private algorithm. Left: DP-GD over the lower bound "
        f"{course(along_gamma.iloc[-1]['factor'], slow['factor'])} as records grow. Right: it is at most "
        f"{compact(peak['factor'])}, at $\\rho = {tex(peak['rho'])}$. No simulation, so no error bars.",
    )


def draw_attack(attack: pd.DataFrame) -> Plate:
    """Left: the score of each algorithm over its largest value. Right: the ρ that score and risk certify."""
    spent = sorted(attack.loc[np.isfinite(attack["rho"]), "rho"].unique())
    rho = spent[len(spent) // 2]
    shown = attack[(attack["rho"] == rho) | (attack["algorithm"].isin([m.LEAST_SQUARES, m.RIDGE]))]
    with figures.panels(2, figsize=(9.4, 3.9)) as (figure, (left, right)):
        for name, look in figures.looks((m.LEAST_SQUARES, m.RIDGE, m.HARMONIC, m.OUTPUT)).items():
            rows = select(shown, algorithm=name).sort_values("n")
            ratio, whole = rows["n"] / rows["d"], rows["whole"]
            left.errorbar(ratio, rows["score"] / whole, yerr=2 * rows["score_error"] / whole, label=name, **look)
            left.plot(ratio, (rows["least_score"] / whole).clip(lower=0), ":", color=look["color"], lw=1)
        left.set(xscale="log", xlabel="$n/d$ (records over dimension)", ylabel=r"score $\div\ \zeta^2 d$")
        figures.plain_ticks(left, np.unique(shown["n"] / shown["d"]))
        left.set_title(rf"DP-GD at $\rho = {rho:g}$")
        private = attack[np.isfinite(attack["rho"]) & (attack["algorithm"] == m.HARMONIC)]
        for n, look in figures.looks(sorted(private["n"].unique())).items():
            rows = select(private, n=n).sort_values("rho")
            right.plot(rows["rho"], rows["certified"], label=f"$n/d = {n / rows['d'].iloc[0]:g}$", **look)
        right.plot(spent, spent, "--", color="0.35", lw=1, label="all of it")
        figures.log_axes(right, r"$\rho$ (spent)", r"$\rho$ (certified)")
        figures.plain_ticks(right, np.array(spent))
        right.set_title("harmonic DP-GD")
    row = select(attack, algorithm=m.HARMONIC, rho=max(spent)).sort_values("n").iloc[-1]
    bare = select(attack, algorithm=m.LEAST_SQUARES).sort_values("n").iloc[-1]
    part = (private["certified"] < private["rho"]).all()
    certified = "a part of the privacy loss only" if part else "the whole privacy loss"
    return Plate(
        figure,
        f"**The attack certifies {certified}.** Left: the attack's score, summed over all records and averaged over "
        "targets from the prior; dotted, the least that (D.140) allows at the algorithm's risk. Right: the privacy "
        f"parameter that score and risk certify. At $\\rho = {row['rho']:g}$ and $n/d = {row['n'] / row['d']:g}$ "
        f"harmonic DP-GD shows {compact(row['certified'])}. Least squares, with no privacy at all, shows "
        f"{compact(bare['certified'])}: an average over records certifies little. Bars of two standard errors.",
    )


def caption_records(tables: Tables) -> str:
    """E(L_i − 1)² along the data over the most that zCDP allows, output perturbation at its best learning rate."""
    records = tables["records"]
    rows = select(records, multiple=1.0, n=records["n"].max())
    shares = rows.assign(value=rows["value"] / rows["most"], standard_error=rows["standard_error"] / rows["most"])
    small = select(shares, rho=rows["rho"].min()).sort_values("share")
    first, last = small["value"].iloc[[0, -1]]
    verb = compared(last, first, ("falls", "stays", "rises"))
    head = f"The share of its budget that a record shows {verb} along the pass"
    return (
        f"**{head}.** Output perturbation at its best learning rate, $n/d = "
        f"{rows['n'].iloc[0] / rows['d'].iloc[0]:g}$, one random record replaced by another. At $\\rho = "
        f"{small['rho'].iloc[0]:g}$ the share {course(first, last, tell=percent)} from the first record to the last: "
        "later steps forget what came before, and typical records stay far from the worst pair. Bars of two standard "
        "errors."
    )


def show_factors(bounds: pd.DataFrame) -> pd.DataFrame:
    """DP-GD over the lower bound along each path."""
    rows = bounds[bounds["path"].isin(list(m.PATHS))]
    place = rows["spectrum"].where(rows["start"] == m.BALL, m.PRIOR)
    rows = rows.assign(column=rows["path"].map(dict(zip(m.PATHS, ("ρ = 1", "ρ = √γ", "ρ = γ^¾")))) + ", " + place)
    table = rows.pivot(index="gamma", columns="column", values="factor").sort_index(ascending=False)
    return table[rows["column"].unique()].rename_axis(index="γ", columns=None).map(plain).rename(index=plain)


def show_chain(chain: pd.DataFrame) -> pd.DataFrame:
    """The links of (D.144) and (D.145) for output perturbation, at the most records."""
    rows = select(chain, n=chain["n"].max()).sort_values(["multiple", "rho"])
    columns = {
        "ρ": rows["rho"].map(plain),
        "learning rate over the best": rows["multiple"].map(plain),
        "score": with_errors(rows, "score", "score_error"),
        "by the first record's ratio, as printed": rows["first"].map(plain),
        "by each record's own ratio": rows["each"].map(plain),
        "by the worst pair of records": rows["most"].map(plain),
    }
    return pd.DataFrame(columns).set_index(["ρ", "learning rate over the best"])


def show_rivals(rivals: pd.DataFrame) -> pd.DataFrame:
    """Simulated and predicted risks of DP-GD and of a pilot with one averaged step."""
    columns = {
        "algorithm": rivals["algorithm"],
        "simulated risk": with_errors(rivals, "risk", "standard_error"),
        "predicted": rivals["predicted"].map(plain),
    }
    return pd.DataFrame(columns).set_index("algorithm")
