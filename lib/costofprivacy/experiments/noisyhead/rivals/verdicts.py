"""Verdicts on Remark 3.1, Appendix B and Table 1 of arXiv:2504.16000v2: pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead.authors import TRIALS
from costofprivacy.findings import CONSISTENT
from costofprivacy.experiments.noisyhead.rivals.closed_forms import CORRECTED, LAST_ITERATE, PATHS, PUBLISHED
from costofprivacy.experiments.noisyhead.rivals.experiment import DESCENT, DP_RIDGE, LAST, NOISYHEAD
from costofprivacy.experiments.noisyhead.rivals.guarantees import FAR, PRINTED, RIGHT
from costofprivacy.settings import Setting

ROUNDING = 1e-9
PRECISE = 0.2  # relative standard error beyond which agreement says nothing
FAR_BELOW = 1000.0  # the least ratio that carries "thousands of times below"
MAIN_SHARE = 0.5  # the part of an excess risk that explains it
POWER = 0.05  # within which an exponent is 0, logarithms apart
ASYMPTOTIC = 1e10  # sizes from which on local exponents are extrapolated

FOUND = ["flipped", "typical", "constructed", "largest_found"]
OWN_PATH, SHORT_PATH, CHOSEN_PATH = list(PATHS)[:3]


def _found(sensitivity: pd.DataFrame) -> pd.Series:
    return sensitivity[FOUND].max(axis=1)


def judge_remark_31(sensitivity: pd.DataFrame, privacy: pd.DataFrame) -> Judgement:
    """Remark 3.1: the minimiser of (2.6) plus Gaussian noise calibrated to its sensitivity is (ε, δ)-DP."""
    over = (_found(sensitivity) / sensitivity["bound"]).max()
    right = privacy[privacy["calibration"] == RIGHT]
    spent = (right["delta_spent"] / right["delta"]).max()
    if over > 1 + ROUNDING or spent > 1 + ROUNDING:
        return Judgement(Verdict.FAILS, f"neighbours were found at {over:.3f} times the sensitivity derived here")
    unbounded = (sensitivity["unclipped"] / sensitivity["flipped"]).min()
    evidence = (
        f"with the sensitivity derived here (the constructed pair reaches "
        f"{(sensitivity['constructed'] / sensitivity['bound']).min():.4f} of it, a random search "
        f"{(sensitivity['largest_found'] / sensitivity['bound']).max():.3f}, nothing exceeds it) and the exact "
        f"Gaussian mechanism the δ spent is {spent:.4f} of the δ claimed"
    )
    if unbounded <= 1 + ROUNDING:
        return Judgement(Verdict.HOLDS, evidence)
    return Judgement(
        Verdict.AMENDED,
        f"(2.6) has to be solved on clipped and projected statistics: as it stands a response {FAR:g} times as large "
        f"moves its minimiser {unbounded:.1f} times as far, without end; {evidence}",
    )


def judge_appendix_b_sensitivity(sensitivity: pd.DataFrame) -> Judgement:
    """Appendix B: CG/(λN) bounds the sensitivity with high probability."""
    drawn = (sensitivity["drawn"] / sensitivity["printed"]).max()
    over, bound = _found(sensitivity) / sensitivity["printed"], sensitivity["bound"] / sensitivity["printed"]
    typical, removed = (sensitivity[name] / sensitivity["printed"] for name in ("typical", "removed"))
    if over.max() <= 1 + ROUNDING:
        return Judgement(Verdict.HOLDS, f"the largest move found is {over.max():.3f} of CG/(λN)")
    reading = "true" if drawn <= 1 else "not even true"
    evidence = (
        f"{reading} of neighbours drawn from the model (the largest of {sensitivity['pairs'].max()} moves for each N "
        f"and G is {drawn:.3f} of CG/(λN)), but Definition 3.1 speaks of all: neighbours at up to {over.max():.3f} "
        f"times it exist, and in every drawn data set one flipped response moves the solution by {typical.min():.3f} "
        f"or more times it; it would be right for leaving a prompt out of an otherwise empty data set (share "
        f"{removed.max():.4f}), not for replacing one"
    )
    if (_found(sensitivity) > sensitivity["bound"] * (1 + ROUNDING)).any():
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; the bound derived here has the same form with {bound.min():.3f} to {bound.max():.3f} in front, "
        f"and {(sensitivity['constructed'] / sensitivity['bound']).min():.4f} of it is attained",
    )


def judge_appendix_b_privacy(privacy: pd.DataFrame, audit: pd.DataFrame) -> Judgement:
    """Appendix B: Gaussian noise of the printed form makes the release (ε, δ)-DP."""
    printed = privacy[privacy["calibration"] == PRINTED]
    spent, times = printed["epsilon_spent"] / printed["epsilon"], printed["delta_spent"] / printed["delta"]
    if times.max() <= 1 + ROUNDING:
        return Judgement(Verdict.HOLDS, f"the δ spent is at most {times.max():.2g} of the δ claimed")
    right = privacy[privacy["calibration"] == RIGHT]
    short = (right["noise_std"].to_numpy() / printed["noise_std"].to_numpy()) ** 2
    rows = audit[audit["calibration"] == PRINTED]
    sure = rows[rows["epsilon_found"] > rows["epsilon"]]
    seen = "; ".join(f"{r['epsilon_found']:.2f} where {r['epsilon']:g} is claimed" for _, r in sure.iterrows())
    shown = f"an audit by {rows['releases'].max():.0f} releases finds ε of at least {seen}" if seen else ""
    evidence = (
        f"at the claimed ε the release spends {times.min():.0f} to {times.max():.0f} times the claimed δ, at the "
        f"claimed δ {spent.min():.2f} to {spent.max():.2f} times the claimed ε (exactly, on constructed neighbours)",
        shown,
        f"the variance lacks the 2 of the Gaussian mechanism and the square of the 2 of the sensitivity; with the "
        f"exact Gaussian mechanism {short.min():.2f} to {short.max():.2f} times the variance is needed",
    )
    text = "; ".join(part for part in evidence if part)
    kept = (right["delta_spent"] / right["delta"]).max()
    if kept > 1 + ROUNDING:
        return Judgement(Verdict.FAILS, f"{text}, and even that spends {kept:.3g} times the claimed δ")
    return Judgement(Verdict.AMENDED, f"{text}, and is enough: it spends at most {kept:.4f} of the claimed δ")


def _ratios(table: pd.DataFrame, setting: Setting, method: str, rival: Setting) -> pd.Series:
    """NoisyHead's excess risk in one setting over DP-ridge's in another, by N and ε."""
    rows = table.set_index(["N", "epsilon"])
    own, other = (
        rows.loc[(rows["setting"] == s) & (rows["method"] == m), "excess_risk"]
        for s, m in ((setting, method), (rival, DP_RIDGE))
    )
    return own / other


def printed_power(comparison: pd.DataFrame) -> float:
    """Exponent in N of DP-ridge's column of Table 1, by least squares; NaN for a single N."""
    own = comparison[(comparison["setting"] == Setting.PUBLISHED) & (comparison["method"] == DP_RIDGE)]
    if own["N"].nunique() < 2:
        return float("nan")
    noise = own["excess_risk_theirs"] * own["epsilon"] ** 2
    return _fits.power_law(own["N"], noise, noise)[0]


def judge_table_1(table: pd.DataFrame, comparison: pd.DataFrame, readings: pd.DataFrame) -> Judgement:
    """Table 1: its numbers, and its order by a factor of thousands; amended if a factor for each column mends it."""
    mended = _ratios(table, Setting.PUBLISHED, NOISYHEAD, Setting.CORRECTED)
    order = _order(table, mended)
    if comparison.empty:
        return Judgement(Verdict.UNTESTABLE, f"no printed number belongs to these parameters; {order}")
    near = comparison["deviation"].abs().le(CONSISTENT).groupby([comparison["setting"], comparison["method"]])
    matched, numbers = near.sum().unstack("setting"), near.size().unstack("setting")
    if (matched == numbers)[[Setting.PRINTED, Setting.PUBLISHED]].all(axis=0).any():
        coarse = (comparison["standard_error"] / comparison["excess_risk"]).max()
        if coarse > PRECISE:
            return Judgement(Verdict.UNTESTABLE, f"standard errors of up to {coarse:.2f} of a number decide nothing")
        return Judgement(Verdict.HOLDS, f"all numbers lie within {CONSISTENT:g} standard errors; {order}")
    power = f"DP-ridge's column falls like N^{printed_power(comparison):.2f}"
    evidence = f"{_numbers(comparison, matched)}; {power}, {_nearest(readings)}; {order}"
    amended = mended.min() > FAR_BELOW and _one_factor(comparison)
    return Judgement(Verdict.AMENDED if amended else Verdict.FAILS, evidence)


def _order(table: pd.DataFrame, mended: pd.Series) -> str:
    """How far apart the two methods are, as published and rightly calibrated, in words."""
    asked = _ratios(table, Setting.PUBLISHED, NOISYHEAD, Setting.PUBLISHED)
    best = _ratios(table, Setting.CORRECTED, LAST, Setting.CORRECTED)
    survives = "its order survives" if mended.min() > FAR_BELOW else "its order does not survive"
    return (
        f"{survives}: the published NoisyHead's excess risk is {asked.min():.1e} to {asked.max():.1e} times that of "
        f"DP-ridge as published, {mended.min():.1e} to {mended.max():.1e} times that of DP-ridge rightly calibrated; "
        f"where NoisyHead is as well, to its last iterate alone, {best.min():.2f} to {best.max():.2f} times"
    )


def _one_factor(comparison: pd.DataFrame) -> bool:
    """Whether one factor for each method takes our numbers to Table 1's, within the errors: all powers are right."""
    rows = comparison[comparison["setting"] == Setting.PUBLISHED]
    error = rows["standard_error"] / rows["excess_risk"] * np.sqrt(1 + rows["trials"] / TRIALS)
    distance = np.log(rows["ratio"])
    distance -= distance.groupby(rows["method"]).transform("mean")
    return bool((distance.abs() <= CONSISTENT * error).all())


def _numbers(comparison: pd.DataFrame, matched: pd.DataFrame) -> str:
    """How Table 1's columns compare with ours and NoisyHead's with Figure 1, in words."""
    theirs = comparison[comparison["setting"] == Setting.PUBLISHED]
    own = theirs[theirs["method"] == DP_RIDGE].sort_values(["N", "epsilon"])
    figure = theirs["excess_risk_figure_1"] / theirs["excess_risk_theirs"]
    counts = ", ".join(
        f"{int(matched.loc[m, s])} of {name}'s as {s}"
        for m, name in ((DP_RIDGE, "DP-ridge"), (NOISYHEAD, "NoisyHead"))
        for s in (Setting.PRINTED, Setting.PUBLISHED)
    )
    return (
        f"of its {len(theirs)} numbers these lie within {CONSISTENT:g} standard errors of ours: {counts}; the paper's "
        f"own numbers behind Figure 1 are {figure.min():.0f} to {figure.max():.0f} times its column of NoisyHead, and "
        f"its DP-ridge is {own['ratio'].iloc[0]:.2f} times ours at N = {own['N'].iloc[0]}, {own['ratio'].iloc[-1]:.2f} "
        f"at N = {own['N'].iloc[-1]}"
    )


def _nearest(readings: pd.DataFrame) -> str:
    """How many readings of Appendix B give DP-ridge's column, and what they have in common, in words."""
    near, ours = readings[readings["deviation"] <= CONSISTENT], readings[readings["departures"] == 0]
    tried = readings["tried"].iloc[0]
    text = f"the text gives DP-ridge the power N^{ours['power'].iloc[0]:.2f}"
    if near.empty:
        return f"{text}; none of {tried} readings gives its column"
    penalties = " or ".join(near["λ"].unique())
    return (
        f"{text}; of {tried} readings tried {len(near)} come within {CONSISTENT:g} standard errors of that column, at "
        f"{near['departures'].min()} or more departures from the text, all with λ = {penalties}; among so many that "
        "may be chance, and no reading is inferred"
    )


def judge_appendix_b_early_stopping(table: pd.DataFrame, steps: pd.DataFrame, ladder: pd.DataFrame) -> Judgement:
    """Appendix B: NoisyHead's larger error is the bias that early stopping leaves."""
    rows = table[table["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    bias = rows[rows["method"] == DESCENT].set_index(["setting", "N"])["excess_risk"]
    total = rows[rows["method"] == NOISYHEAD].set_index(["setting", "N", "epsilon"])["excess_risk"]
    share = bias.reindex(total.index.droplevel("epsilon")).to_numpy() / total
    if share.min() >= MAIN_SHARE:
        return Judgement(Verdict.HOLDS, f"without noise {share.min():.2f} or more of NoisyHead's excess risk remains")
    evidence = f"without noise a share of {share.min():.1e} to {share.max():.1e} of NoisyHead's excess risk remains"
    if share.max() >= MAIN_SHARE:
        return Judgement(Verdict.AMENDED, f"{evidence}: in some cells only the bias is what separates the methods")
    largest = ladder.loc[ladder["factor"].idxmax()]
    return Judgement(
        Verdict.FAILS,
        f"{evidence}, the rest is noise; {_more_steps(steps)}; in closed form the factor between the two methods comes "
        f"from the accounting, from R and from DP-ridge's missing noise, the largest part, {largest['factor']:.0f}, at "
        f"the step “{largest['stage'].removeprefix('… ')}”",
    )


def _more_steps(steps: pd.DataFrame) -> str:
    """What stopping later or earlier does in the published setting, in words."""
    rows = steps[(steps["setting"] == Setting.PUBLISHED) & (steps["method"] == NOISYHEAD)]
    risk = rows.pivot_table(index=["N", "epsilon"], columns="share", values="excess_risk")
    last, first = risk.columns.max(), risk.columns.min()
    if last <= 1 or first >= 1:
        return "T is not varied here"
    later, earlier = risk[last] / risk[1.0], risk[first] / risk[1.0]
    return (
        f"with {last:g} times the steps it is {later.min():.2f} to {later.max():.2f} times as large, with {first:g} of "
        f"them {earlier.min():.3f} to {earlier.max():.3f} times"
    )


def asymptotic_exponents(powers: pd.DataFrame) -> pd.Series:
    """Exponent of NoisyHead's noise part over DP-ridge's by path and algorithm, powers of logarithms taken out.

    A factor size^a · log^b(size) has the local exponent a + b/log(size): the intercept of a fitted line.
    """
    rows = powers[(powers["size"] >= ASYMPTOTIC) & (powers["size"] < powers["size"].max())]
    return rows.groupby(["path", "algorithm"], sort=False)[["size", "exponent"]].apply(
        lambda g: float(np.polyfit(1 / np.log(g["size"]), g["exponent"], 1)[1])
    )


def judge_appendix_b_scaling(powers: pd.DataFrame) -> Judgement:
    """Appendix B: with well-chosen T, λ and η₀ the two methods' excess risks differ by logarithms alone."""
    exponents = asymptotic_exponents(powers).unstack("algorithm")
    own, short, chosen = (exponents.loc[path] for path in (OWN_PATH, SHORT_PATH, CHOSEN_PATH))
    rests = powers.loc[(powers["algorithm"] == PUBLISHED) & (powers["path"] == OWN_PATH), "rests_at"]
    limit = powers.loc[(powers["algorithm"] == LAST_ITERATE) & (powers["path"] == OWN_PATH), "over_ridge"].iloc[-1]
    alike = exponents[[CORRECTED, LAST_ITERATE]].abs().to_numpy().max()
    evidence = (
        f"at L = √N the ratio of the noise parts has the power {own[PUBLISHED]:.2f} as published; corrected, it has "
        f"at most {alike:.2f} along all {len(exponents)} paths, and accounted for its last iterate alone NoisyHead's "
        f"noise part tends to {limit:.3f} times DP-ridge's"
    )
    if max(abs(own[PUBLISHED]), alike) > POWER:
        return Judgement(Verdict.FAILS, evidence)
    conditions = []
    if rests.min() > 0:
        conditions.append(f"λ/2 in the update, or the excess risk stays at {rests.iloc[-1]:.1e} for every N")
    if abs(short[PUBLISHED]) > POWER:
        enough = abs(chosen[PUBLISHED]) <= POWER
        conditions.append(
            f"{'λ of the order of √N/L at least, or ' if enough else ''}R = C/(2√λ): at L = N^(1/4) and with the R of "
            f"(4.1) the ratio goes like N^{short[PUBLISHED]:.2f} for a fixed λ, like N^{chosen[PUBLISHED]:.2f} for "
            f"λ ∝ √N/L, and for a fixed λ with the other R like N^{short[CORRECTED]:.2f}, but for logarithms"
        )
    if not conditions:
        return Judgement(Verdict.HOLDS, evidence)
    return Judgement(Verdict.AMENDED, f"{evidence}; it takes {'; and '.join(conditions)}")
