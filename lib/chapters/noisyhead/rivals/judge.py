"""Verdicts on Remark 3.1, Appendix B and Table 1 of arXiv:2504.16000v2."""

import numpy as np
import pandas as pd

from chapters.noisyhead.authors import TRIALS
from chapters.noisyhead.rivals.measure import (
    CORRECTED,
    DESCENT,
    DP_RIDGE,
    EXPERIMENT_LAST,
    LAST_ITERATE,
    NOISYHEAD,
    PATHS,
    PRINTED,
    PUBLISHED,
    RIGHT,
)
from companion import _fits
from companion.judging import growth
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Declared, Relative
from companion.judging.vocabulary import CONSISTENT, ROUNDING
from costofprivacy.noisyhead import private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.privacy import GaussianDP
from costofprivacy.settings import Setting

PRECISE = 0.2  # relative standard error beyond which agreement says nothing
FAR_BELOW = 1000.0  # the least ratio that carries "thousands of times below"
MAIN_SHARE = 0.5  # the part of an excess risk that explains it
POWER = 0.05  # within which an exponent is 0, logarithms apart
ASYMPTOTIC = 1e10  # sizes from which on local exponents are extrapolated

OWN_PATH, SHORT_PATH = list(PATHS)[:2]


def largest_move(sensitivity: pd.DataFrame) -> pd.Series:
    """The largest move found in each row."""
    return sensitivity[["flipped", "typical", "constructed", "largest_found"]].max(axis=1)


def with_twice_the_penalty(rows: pd.DataFrame) -> pd.Series:
    """The bound derived here for the estimator with 2λN I, which (2.7) should have, over the printed one."""
    penalty = rows["clip_norm"] * rows["feature_bound"] / (rows["printed"] * rows["N"])
    told = (PrivateRidge(*each) for each in zip(rows["clip_norm"], rows["feature_bound"], 2 * penalty, rows["N"]))
    return np.array([private_ridge.sensitivity(each) for each in told]) / rows["printed"]


def power_of_n(table: pd.DataFrame, column: str) -> float:
    """The largest power of N in a column over the settings or budgets of a table; 0 for a single N."""
    others = [name for name in ("setting", "epsilon") if name in table]
    return float(np.nan_to_num(np.max([growth.power(g, "N", column, "") for _, g in table.groupby(others)])))


@judges("noisyhead/remark-3.1")
def remark_31(found: Record) -> Ruling:
    """The minimiser of (2.6) on data as in Appendix B is private with Gaussian noise calibrated to its sensitivity."""
    sensitivity, right = found["sensitivity"], select(found["privacy"], calibration=RIGHT)
    name, over = (
        "largest move found over the bound derived here",
        (largest_move(sensitivity) / sensitivity["bound"]).max(),
    )
    bounded = found.at_most(name, over, 1.0, table="sensitivity", row="", slack=ROUNDING)
    name, spent = "δ spent over δ claimed, right calibration", (right["delta_spent"] / right["delta"]).max()
    private = found.at_most(name, spent, 1.0, table="privacy", row=f"calibration = {RIGHT}", slack=ROUNDING)
    return found.ruling(bounded and private)


@judges("noisyhead/appendix-b-sensitivity")
def appendix_b_sensitivity(found: Record) -> Ruling:
    """CG/(λN) bounds the sensitivity with high probability; Definition 3.1 speaks of all neighbours."""
    table, rows = "sensitivity", found["sensitivity"]
    moved, short = largest_move(rows), with_twice_the_penalty(rows).max() - 1
    over = (moved / rows["printed"]).max()
    printed = found.at_most("largest move found over the printed bound", over, 1.0, table=table, row="", slack=ROUNDING)
    name, drawn = "largest move of a drawn neighbour over it", (rows["drawn"] / rows["printed"]).max()
    found.number(name, drawn, against=1.0, table=table, row="")
    name = "largest move found over the bound derived here"
    found.number(name, (moved / rows["bound"]).max(), against=1.0, table=table, row="")
    lost = power_of_n(rows.assign(bound_over=rows["bound"] / rows["printed"]), "bound_over")
    found.number("power of $N$ in derived over printed bound", lost, against=LOST_POWER, table=table, row="")
    name = r"share by which the printed bound is short with $2\lambda N I$, at most"
    found.number(name, short, against=0.0, table=table, row="")
    beyond = (moved > rows["bound"] * (1 + ROUNDING)).any()
    return found.ruling(printed, corrected=not (beyond or lost > LOST_POWER), over=over, short=short)


@judges("noisyhead/appendix-b-privacy")
def appendix_b_privacy(found: Record) -> Ruling:
    """Gaussian noise of the printed form makes the release (ε, δ)-DP."""
    rows, bounds, as_printed = found["privacy"], found["sensitivity"], f"calibration = {PRINTED}"
    printed, right = (select(rows, calibration=name).reset_index(drop=True) for name in (PRINTED, RIGHT))
    times, audit = printed["delta_spent"] / printed["delta"], select(found["audit"], calibration=PRINTED)
    name = "δ spent over δ claimed, at most"
    private = found.at_most(name, times.max(), 1.0, table="privacy", row=as_printed, slack=ROUNDING)
    for table, name, share in (
        ("privacy", "δ spent over δ claimed, at least", times.min()),
        ("privacy", "ε spent over ε claimed", (printed["epsilon_spent"] / printed["epsilon"]).max()),
        ("audit", "ε that an audit proves over ε claimed", (audit["epsilon_found"] / audit["epsilon"]).max()),
        ("audit", "μ that an audit proves over that of the claim", (audit["mu_found"] / audit["mu"]).max()),
    ):
        found.number(name, share, against=1.0, table=table, row=as_printed)
    short = right.assign(short=(right["noise_std"] / printed["noise_std"]) ** 2)
    name = "variance that is needed over the printed one"
    variance = found.number(name, short["short"].max(), against=1.0, table="privacy", row="")
    name, spent = "δ spent over δ claimed with the right noise", (right["delta_spent"] / right["delta"]).max()
    kept = found.number(name, spent, against=1.0, table="privacy", row=f"calibration = {RIGHT}")
    # the largest over N, by ε, if the estimator has 2λN I
    moved = (with_twice_the_penalty(bounds) * bounds["printed"]).where(bounds["setting"] == Setting.PUBLISHED)
    mu = printed["N"].map(moved.groupby(bounds["N"]).max()) / printed["noise_std"]
    doubled = [float(GaussianDP(m).delta(e)) / d for m, e, d in zip(mu, printed["epsilon"], printed["delta"])]
    fair = pd.Series(doubled, index=printed["epsilon"]).groupby("epsilon").max()
    for epsilon, share in fair.items():
        name = rf"δ spent over δ claimed with $2\lambda N I$, ε = {epsilon:g}"
        found.number(name, share, against=1.0, table="privacy", row="as printed")
    corrected = not (kept > 1 + ROUNDING or power_of_n(short, "short") > LOST_POWER)
    return found.ruling(private, corrected=corrected, times=times.max(), variance=variance, fair=fair.max())


@judges("noisyhead/table-1")
def table_1(found: Record) -> Ruling:
    """Table 1: its numbers; with one factor for each method, all powers and the order are right."""
    comparison, readings = found["comparison"], found["readings"]
    mended = ratios(found["table-1"], Setting.PUBLISHED, NOISYHEAD, Setting.CORRECTED).min()
    name = "NoisyHead over rightly calibrated DP-ridge, at least"
    survives = found.number(name, mended, against=FAR_BELOW, table="table-1", row="") > FAR_BELOW
    found.needs(not comparison.empty)
    asked = comparison[comparison["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    near = asked["deviation"].abs().le(CONSISTENT).groupby(asked["setting"])
    matched, total = near.sum(), near.size().max()
    for setting, count in matched.items():
        row = f"setting = {setting}"
        found.number(f"numbers matched, {setting}", count, against=total, table="comparison", row=row)
    column = select(comparison, setting=Setting.PUBLISHED, method=DP_RIDGE)
    noise = column["excess_risk_theirs"] * column["epsilon"] ** 2
    power = _fits.power_law(column["N"], noise, noise)[0] if growth.several(column["N"]) else float("nan")
    name, text = "power of $N$ in DP-ridge's column", select(readings, departures=0)["power"].iloc[0]
    found.number(name, power, against=text, table="comparison", row="")
    name, close = "combinations of settings that come near it", (readings["deviation"] <= CONSISTENT).sum()
    found.number(name, close, against=readings["tried"].iloc[0], table="readings", row="")
    published = select(comparison, setting=Setting.PUBLISHED)
    error = published["standard_error"] / published["excess_risk"] * np.sqrt(1 + published["trials"] / TRIALS)
    distance = np.log(published["ratio"])
    distance -= distance.groupby(published["method"]).transform("mean")
    corrected = survives and (distance.abs() <= CONSISTENT * error).all()
    vague = (comparison["standard_error"] / comparison["excess_risk"]).max() > PRECISE
    own = select(comparison, method=NOISYHEAD)
    return found.ruling(
        matched.max() == total,
        corrected=corrected,
        decided=not vague,
        matched=int(matched.max()),
        apart=(own["excess_risk_figure_1"] / own["excess_risk_theirs"]).min(),
    )


@judges("noisyhead/table-1-order")
def table_1_order(found: Record) -> Ruling:
    """DP-ridge has a lower excess risk than NoisyHead in every setting, even where its noise is rightly calibrated."""
    table, least = found["table-1"], {}
    for setting in Setting:
        name, over = (
            f"NoisyHead over DP-ridge, at least, {setting}",
            ratios(table, setting, NOISYHEAD, Setting.CORRECTED),
        )
        least[setting] = found.number(name, over.min(), against=1.0, table="table-1", row="")
    name = "the same with NoisyHead accounted for its last iterate alone"
    last = ratios(table, Setting.CORRECTED, EXPERIMENT_LAST, Setting.CORRECTED).min()
    found.number(name, last, against=1.0, table="table-1", row="")
    rows = table[table["method"].isin([NOISYHEAD, DP_RIDGE])]
    error = CONSISTENT * np.sqrt(2) * (rows["standard_error"] / rows["excess_risk"]).max()
    worst, paper = min(least.values()), float(f"{least[Setting.PUBLISHED]:.2g}")
    return found.ruling(worst > 1 + error, decided=abs(worst - 1) > error, least=worst, paper=paper)


def ratios(table: pd.DataFrame, setting: Setting, method: str, rival: Setting) -> pd.Series:
    """NoisyHead's excess risk in one setting over DP-ridge's in another, by N and ε."""
    rows = table.set_index(["N", "epsilon"])
    own, other = (
        rows.loc[(rows["setting"] == s) & (rows["method"] == m), "excess_risk"]
        for s, m in ((setting, method), (rival, DP_RIDGE))
    )
    return own / other


@judges("noisyhead/appendix-b-early-stopping")
def appendix_b_early_stopping(found: Record) -> Ruling:
    """NoisyHead's larger error is the bias that early stopping leaves: its part without noise, in the paper's settings.

    Stopping later or earlier is told where T is varied.
    """
    rows, ladder = found["table-1"], found["ladder"]
    rows = rows[rows["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    bias = select(rows, method=DESCENT).set_index(["setting", "N"])["excess_risk"]
    total = select(rows, method=NOISYHEAD).set_index(["setting", "N", "epsilon"])["excess_risk"]
    share = bias.reindex(total.index.droplevel("epsilon")).to_numpy() / total
    name = "largest share that remains without noise"
    narrower = found.at_least(name, share.max(), MAIN_SHARE, table="table-1", row="")
    printed = found.at_least("least share that remains without noise", share.min(), MAIN_SHARE, table="table-1", row="")
    steps = select(found["steps"], setting=Setting.PUBLISHED, method=NOISYHEAD)
    risk = steps.pivot_table(index=["N", "epsilon"], columns="share", values="excess_risk")
    for part in sorted({risk.columns.min(), risk.columns.max()} - {1.0}):
        name, over = f"excess risk with {part:g} times the steps, over that with all", (risk[part] / risk[1.0]).min()
        found.number(name, over, against=1.0, table="steps", row=f"share = {part:g}")
    worst = ladder.loc[ladder["factor"].idxmax()]
    found.number("largest factor on the way from DP-ridge", worst["factor"], table="ladder", row=worst["stage"])
    return found.ruling(printed, narrower=narrower, share=share.max())


@judges("noisyhead/appendix-b-scaling")
def appendix_b_scaling(found: Record) -> Ruling:
    """With well-chosen T, λ and η₀ the two methods' excess risks differ by logarithms alone."""
    table, powers, own = "powers", found["powers"], f"path = {OWN_PATH}"
    exponents = asymptotic_exponents(powers).unstack("algorithm")
    chosen = exponents[PUBLISHED].drop(SHORT_PATH).abs()  # λ may be chosen: the short path with a fixed one may not
    name = "largest power, as published, λ well chosen"
    found.number(name, chosen.max(), against=POWER, table=table, row=str(chosen.idxmax()))
    name = "power at $L = N^{1/4}$ with a fixed penalty"
    found.number(name, exponents.loc[SHORT_PATH, PUBLISHED], against=POWER, table=table, row="")
    alike = exponents[[CORRECTED, LAST_ITERATE]].abs().to_numpy().max()
    found.number("largest power, corrected", alike, against=POWER, table=table, row="")
    rests = select(powers, algorithm=PUBLISHED, path=OWN_PATH)["rests_at"].min()
    found.number("excess risk at which the update rests", rests, against=0.0, table=table, row=own)
    limit = select(powers, algorithm=LAST_ITERATE, path=OWN_PATH)["over_ridge"].iloc[-1]
    found.number("noise of the last iterate over DP-ridge's", limit, against=1.0, table=table, row=own)
    narrower = not alike > POWER
    halved = narrower and not chosen.max() > POWER
    decided = bool(np.isfinite([alike, chosen.max(), rests]).all())
    return found.ruling(halved and not rests > 0, corrected=halved, narrower=narrower, decided=decided)


def asymptotic_exponents(powers: pd.DataFrame) -> pd.Series:
    """Exponent of NoisyHead's noise part over DP-ridge's by path and algorithm, powers of logarithms taken out.

    A factor size^a · log^b(size) has the local exponent a + b/log(size): the intercept of a fitted line.
    """
    rows = powers[(powers["size"] >= ASYMPTOTIC) & (powers["size"] < powers["size"].max())]
    return rows.groupby(["path", "algorithm"], sort=False)[["size", "exponent"]].apply(
        lambda g: float(np.polyfit(1 / np.log(g["size"]), g["exponent"], 1)[1])
    )


# ---- How near this chapter's numbers come on another machine ----

TOLERANCES: Declared = {"powers": {"exponent": Relative(scale=1e-3)}}  # slopes of logarithms, some of them 0
