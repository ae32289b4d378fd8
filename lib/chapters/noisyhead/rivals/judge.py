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
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
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

FOUND = ["flipped", "typical", "constructed", "largest_found"]
OWN_PATH, SHORT_PATH = list(PATHS)[:2]


@judges("noisyhead/remark-3.1")
def remark_31(tables: Tables) -> Ruling:
    """The minimiser of (2.6) on data as in Appendix B is private with Gaussian noise calibrated to its sensitivity."""
    sensitivity, right = tables["sensitivity"], select(tables["privacy"], calibration=RIGHT)
    over = (_largest(sensitivity) / sensitivity["bound"]).max()
    spent = (right["delta_spent"] / right["delta"]).max()
    unclipped = (sensitivity["unclipped"] / sensitivity["flipped"]).min()
    budget = {"δ spent over δ claimed, right calibration": (spent, 1.0)}
    found = (
        *numbers("sensitivity", {"largest move found over the bound derived here": (over, 1.0)}, ""),
        *numbers("privacy", budget, f"calibration = {RIGHT}"),
        *numbers("sensitivity", {"move without clipping over that with it": unclipped}, ""),
    )
    return Ruling(reads(printed=over <= 1 + ROUNDING and spent <= 1 + ROUNDING), found)


@judges("noisyhead/appendix-b-sensitivity")
def appendix_b_sensitivity(tables: Tables) -> Ruling:
    """CG/(λN) bounds the sensitivity with high probability; Definition 3.1 speaks of all neighbours."""
    rows = tables["sensitivity"]
    over = (_largest(rows) / rows["printed"]).max()
    lost = _power_of_n(rows.assign(bound_over=rows["bound"] / rows["printed"]), "bound_over")
    short = _with_twice_the_penalty(rows) - 1
    named = {
        "largest move found over the printed bound": (over, 1.0),
        "largest move of a drawn neighbour over it": ((rows["drawn"] / rows["printed"]).max(), 1.0),
        "largest move found over the bound derived here": ((_largest(rows) / rows["bound"]).max(), 1.0),
        "power of $N$ in derived over printed bound": (lost, LOST_POWER),
        r"share by which the printed bound is short with $2\lambda N I$, at most": (short.max(), 0.0),
    }
    beyond = (_largest(rows) > rows["bound"] * (1 + ROUNDING)).any()
    verdict = reads(printed=over <= 1 + ROUNDING, corrected=not (beyond or lost > LOST_POWER))
    return Ruling(verdict, numbers("sensitivity", named, ""), {"over": over, "short": short.max()})


def _with_twice_the_penalty(rows: pd.DataFrame) -> pd.Series:
    """The bound derived here for the estimator with 2λN I, which (2.7) should have, over the printed one."""
    penalty = rows["clip_norm"] * rows["feature_bound"] / (rows["printed"] * rows["N"])
    told = (PrivateRidge(*each) for each in zip(rows["clip_norm"], rows["feature_bound"], 2 * penalty, rows["N"]))
    return np.array([private_ridge.sensitivity(each) for each in told]) / rows["printed"]


@judges("noisyhead/appendix-b-privacy")
def appendix_b_privacy(tables: Tables) -> Ruling:
    """Gaussian noise of the printed form makes the release (ε, δ)-DP."""
    printed, right = (select(tables["privacy"], calibration=name).reset_index(drop=True) for name in (PRINTED, RIGHT))
    times, kept = printed["delta_spent"] / printed["delta"], (right["delta_spent"] / right["delta"]).max()
    short = right.assign(short=(right["noise_std"] / printed["noise_std"]) ** 2)
    spent = {
        "δ spent over δ claimed, at most": (times.max(), 1.0),
        "δ spent over δ claimed, at least": (times.min(), 1.0),
        "ε spent over ε claimed": ((printed["epsilon_spent"] / printed["epsilon"]).max(), 1.0),
    }
    needed = {
        "variance that is needed over the printed one": (short["short"].max(), 1.0, ""),
        "δ spent over δ claimed with the right noise": (kept, 1.0, f"calibration = {RIGHT}"),
    }
    doubled = _spent_with_twice_the_penalty(tables)
    fair = {
        rf"δ spent over δ claimed with $2\lambda N I$, ε = {epsilon:g}": (share, 1.0)
        for epsilon, share in doubled.items()
    }
    first = numbers("privacy", spent, f"calibration = {PRINTED}")
    found = (*first, *_audited(tables["audit"]), *numbers("privacy", needed), *numbers("privacy", fair, "as printed"))
    corrected = not (kept > 1 + ROUNDING or _power_of_n(short, "short") > LOST_POWER)
    quoted = {"times": times.max(), "variance": short["short"].max(), "fair": doubled.max()}
    return Ruling(reads(printed=times.max() <= 1 + ROUNDING, corrected=corrected), found, quoted)


def _spent_with_twice_the_penalty(tables: Tables) -> pd.Series:
    """δ that the printed noise spends, over δ claimed, if the estimator has 2λN I; the largest over N, by ε."""
    bounds = tables["sensitivity"]
    moved = (_with_twice_the_penalty(bounds) * bounds["printed"]).where(bounds["setting"] == Setting.PUBLISHED)
    rows = select(tables["privacy"], calibration=PRINTED)
    mu = rows["N"].map(moved.groupby(bounds["N"]).max()) / rows["noise_std"]
    spent = [float(GaussianDP(m).delta(e)) / d for m, e, d in zip(mu, rows["epsilon"], rows["delta"])]
    return pd.Series(spent, index=rows["epsilon"]).groupby("epsilon").max()


def _audited(audit: pd.DataFrame) -> tuple[Number, ...]:
    """How much an audit of the printed noise proves, over what is claimed."""
    own = select(audit, calibration=PRINTED)
    proven = {
        "ε that an audit proves over ε claimed": ((own["epsilon_found"] / own["epsilon"]).max(), 1.0),
        "μ that an audit proves over that of the claim": ((own["mu_found"] / own["mu"]).max(), 1.0),
    }
    return numbers("audit", proven, f"calibration = {PRINTED}")


@judges("noisyhead/table-1")
def table_1(tables: Tables) -> Ruling:
    """Table 1: its numbers. Those that cannot be reproduced contradict nothing, as long as its order is not lost."""
    comparison = tables["comparison"]
    mended = _ratios(tables["table-1"], Setting.PUBLISHED, NOISYHEAD, Setting.CORRECTED).min()
    order = numbers("table-1", {"NoisyHead over rightly calibrated DP-ridge, at least": (mended, FAR_BELOW)}, "")
    if comparison.empty:
        return Ruling(Verdict.UNTESTABLE, order)
    matched, total = _matches(comparison)
    every, survives = max(matched.values()) == total, bool(mended > FAR_BELOW)
    vague = (comparison["standard_error"] / comparison["excess_risk"]).max() > PRECISE
    corrected = survives and _one_factor(comparison)
    decided = not vague if every else corrected or not survives
    verdict = reads(every, corrected=corrected, decided=decided)
    found = (*order, *_matched_numbers(matched, total), *_column_numbers(comparison, tables["readings"]))
    own = select(comparison, method=NOISYHEAD)
    apart = (own["excess_risk_figure_1"] / own["excess_risk_theirs"]).min()
    return Ruling(verdict, found, {"matched": max(matched.values()), "apart": apart})


@judges("noisyhead/table-1-order")
def table_1_order(tables: Tables) -> Ruling:
    """DP-ridge has a lower excess risk than NoisyHead in every setting, even where its noise is rightly calibrated."""
    table = tables["table-1"]
    over = {setting: _ratios(table, setting, NOISYHEAD, Setting.CORRECTED) for setting in Setting}
    least = min(ratio.min() for ratio in over.values())
    rows = table[table["method"].isin([NOISYHEAD, DP_RIDGE])]
    error = CONSISTENT * np.sqrt(2) * (rows["standard_error"] / rows["excess_risk"]).max()
    last = _ratios(table, Setting.CORRECTED, EXPERIMENT_LAST, Setting.CORRECTED).min()
    named = {f"NoisyHead over DP-ridge, at least, {setting}": (ratio.min(), 1.0) for setting, ratio in over.items()}
    named |= {"the same with NoisyHead accounted for its last iterate alone": (last, 1.0)}
    verdict = reads(printed=least > 1 + error, decided=abs(least - 1) > error)
    return Ruling(
        verdict, numbers("table-1", named, ""), {"least": least, "paper": float(f"{over[Setting.PUBLISHED].min():.2g}")}
    )


def _matched_numbers(matched: dict[str, int], total: int) -> tuple[Number, ...]:
    """How many of the table's numbers each setting gives again."""
    named = {f"numbers matched, {setting}": (near, total, f"setting = {setting}") for setting, near in matched.items()}
    return numbers("comparison", named)


def _column_numbers(comparison: pd.DataFrame, readings: pd.DataFrame) -> tuple[Number, ...]:
    """The power of N of DP-ridge's column beside that of the text, and how many readings come near the column."""
    power, near = select(readings, departures=0)["power"].iloc[0], (readings["deviation"] <= CONSISTENT).sum()
    return (
        *numbers("comparison", {"power of $N$ in DP-ridge's column": (printed_power(comparison), power)}, ""),
        *numbers("readings", {"combinations of settings that come near it": (near, readings["tried"].iloc[0])}, ""),
    )


@judges("noisyhead/appendix-b-early-stopping")
def appendix_b_early_stopping(tables: Tables) -> Ruling:
    """NoisyHead's larger error is the bias that early stopping leaves."""
    share, ladder = _without_noise(tables["table-1"]), tables["ladder"]
    worst = ladder.loc[ladder["factor"].idxmax()]
    shares = {
        "largest share that remains without noise": (share.max(), MAIN_SHARE),
        "least share that remains without noise": (share.min(), MAIN_SHARE),
    }
    found = (
        *numbers("table-1", shares, ""),
        *_other_steps(tables["steps"]),
        *numbers("ladder", {"largest factor on the way from DP-ridge": worst["factor"]}, worst["stage"]),
    )
    verdict = reads(printed=share.min() >= MAIN_SHARE, narrower=share.max() >= MAIN_SHARE)
    return Ruling(verdict, found, {"share": share.max()})


def _without_noise(table: pd.DataFrame) -> pd.Series:
    """The share of NoisyHead's excess risk that remains without noise, in the paper's two settings."""
    rows = table[table["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    bias = select(rows, method=DESCENT).set_index(["setting", "N"])["excess_risk"]
    total = select(rows, method=NOISYHEAD).set_index(["setting", "N", "epsilon"])["excess_risk"]
    return bias.reindex(total.index.droplevel("epsilon")).to_numpy() / total


@judges("noisyhead/appendix-b-scaling")
def appendix_b_scaling(tables: Tables) -> Ruling:
    """With well-chosen T, λ and η₀ the two methods' excess risks differ by logarithms alone."""
    powers = tables["powers"]
    exponents = asymptotic_exponents(powers).unstack("algorithm")
    alike = exponents[[CORRECTED, LAST_ITERATE]].abs().to_numpy().max()
    chosen = exponents[PUBLISHED].drop(SHORT_PATH).abs()  # λ may be chosen: the short path with a fixed one may not
    rests = select(powers, algorithm=PUBLISHED, path=OWN_PATH)["rests_at"].min()
    limit = select(powers, algorithm=LAST_ITERATE, path=OWN_PATH)["over_ridge"].iloc[-1]
    named = {
        "largest power, as published, λ well chosen": (chosen.max(), POWER, chosen.idxmax()),
        "power at $L = N^{1/4}$ with a fixed penalty": (exponents.loc[SHORT_PATH, PUBLISHED], POWER),
        "largest power, corrected": (alike, POWER),
        "excess risk at which the update rests": (rests, 0.0, f"path = {OWN_PATH}"),
        "noise of the last iterate over DP-ridge's": (limit, 1.0, f"path = {OWN_PATH}"),
    }
    narrower = not alike > POWER
    halved = narrower and not chosen.max() > POWER
    told = bool(np.isfinite([alike, chosen.max(), rests]).all())
    verdict = reads(printed=halved and not rests > 0, corrected=halved, narrower=narrower, decided=told)
    return Ruling(verdict, numbers("powers", named, ""))


def _largest(sensitivity: pd.DataFrame) -> pd.Series:
    """The largest move found in each row."""
    return sensitivity[FOUND].max(axis=1)


def _power_of_n(table: pd.DataFrame, column: str) -> float:
    """The largest power of N in a column over the settings or budgets of a table; 0 for a single N."""
    others = [name for name in ("setting", "epsilon") if name in table]
    found = [growth.power(g, "N", column, "") for _, g in table.groupby(others)]
    return float(np.nan_to_num(np.max(found)))


def _ratios(table: pd.DataFrame, setting: Setting, method: str, rival: Setting) -> pd.Series:
    """NoisyHead's excess risk in one setting over DP-ridge's in another, by N and ε."""
    rows = table.set_index(["N", "epsilon"])
    own, other = (
        rows.loc[(rows["setting"] == s) & (rows["method"] == m), "excess_risk"]
        for s, m in ((setting, method), (rival, DP_RIDGE))
    )
    return own / other


def _matches(comparison: pd.DataFrame) -> tuple[dict[str, int], int]:
    """How many of Table 1's numbers each of the paper's settings gives again, and how many there are."""
    asked = comparison[comparison["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    near = asked["deviation"].abs().le(CONSISTENT).groupby(asked["setting"])
    return {str(setting): int(count) for setting, count in near.sum().items()}, int(near.size().max())


def printed_power(comparison: pd.DataFrame) -> float:
    """Exponent in N of DP-ridge's column of Table 1, by least squares; NaN for a single N."""
    own = select(comparison, setting=Setting.PUBLISHED, method=DP_RIDGE)
    if not growth.several(own["N"]):
        return float("nan")
    noise = own["excess_risk_theirs"] * own["epsilon"] ** 2
    return _fits.power_law(own["N"], noise, noise)[0]


def _one_factor(comparison: pd.DataFrame) -> bool:
    """Whether one factor for each method takes our numbers to Table 1's, within the errors: all powers are right."""
    rows = select(comparison, setting=Setting.PUBLISHED)
    error = rows["standard_error"] / rows["excess_risk"] * np.sqrt(1 + rows["trials"] / TRIALS)
    distance = np.log(rows["ratio"])
    distance -= distance.groupby(rows["method"]).transform("mean")
    return bool((distance.abs() <= CONSISTENT * error).all())


def _other_steps(steps: pd.DataFrame) -> tuple[Number, ...]:
    """What stopping later or earlier does in the published setting; nothing where T is not varied."""
    rows = select(steps, setting=Setting.PUBLISHED, method=NOISYHEAD)
    risk = rows.pivot_table(index=["N", "epsilon"], columns="share", values="excess_risk")
    over = {
        share: (risk[share] / risk[1.0]).min() for share in sorted({risk.columns.min(), risk.columns.max()} - {1.0})
    }
    named = {
        f"excess risk with {share:g} times the steps, over that with all": (least, 1.0, f"share = {share:g}")
        for share, least in over.items()
    }
    return numbers("steps", named)


def asymptotic_exponents(powers: pd.DataFrame) -> pd.Series:
    """Exponent of NoisyHead's noise part over DP-ridge's by path and algorithm, powers of logarithms taken out.

    A factor size^a · log^b(size) has the local exponent a + b/log(size): the intercept of a fitted line.
    """
    rows = powers[(powers["size"] >= ASYMPTOTIC) & (powers["size"] < powers["size"].max())]
    return rows.groupby(["path", "algorithm"], sort=False)[["size", "exponent"]].apply(
        lambda g: float(np.polyfit(1 / np.log(g["size"]), g["exponent"], 1)[1])
    )
