"""Verdicts on Remark 3.1, Appendix B and Table 1 of arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.authors import TRIALS
from costofprivacy.experiments.noisyhead.rivals.closed_forms import CORRECTED, LAST_ITERATE, PATHS, PUBLISHED
from costofprivacy.experiments.noisyhead.rivals.experiment import DESCENT, DP_RIDGE, LAST, NOISYHEAD
from costofprivacy.experiments.noisyhead.rivals.guarantees import PRINTED, RIGHT
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.settings import Setting

ROUNDING = 1e-9
PRECISE = 0.2  # relative standard error beyond which agreement says nothing
FAR_BELOW = 1000.0  # the least ratio that carries "thousands of times below"
MAIN_SHARE = 0.5  # the part of an excess risk that explains it
POWER = 0.05  # within which an exponent is 0, logarithms apart
ASYMPTOTIC = 1e10  # sizes from which on local exponents are extrapolated

FOUND = ["flipped", "typical", "constructed", "largest_found"]
OWN_PATH, SHORT_PATH, CHOSEN_PATH = list(PATHS)[:3]


@judges("noisyhead/remark-3.1")
def remark_31(tables: Tables) -> Finding:
    """The minimiser of (2.6) plus Gaussian noise calibrated to its sensitivity is (ε, δ)-DP."""
    sensitivity, right = tables["sensitivity"], select(tables["privacy"], calibration=RIGHT)
    over = (_largest(sensitivity) / sensitivity["bound"]).max()
    spent = (right["delta_spent"] / right["delta"]).max()
    unclipped = (sensitivity["unclipped"] / sensitivity["flipped"]).min()
    numbers = (
        Number("largest move found over the bound derived here", over, None, 1.0, "sensitivity"),
        Number("δ spent over δ claimed, right calibration", spent, None, 1.0, "privacy", f"calibration = {RIGHT}"),
        Number("move without clipping over that with it", unclipped, None, 1.0, "sensitivity"),
    )
    change = "Neighbours beyond the bound, or a solution that an unclipped response does not move further."
    if over > 1 + ROUNDING or spent > 1 + ROUNDING:
        headline = "Even with the derived sensitivity, noise on the exact solution spends more than its budget."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if unclipped > 1 + ROUNDING:
        headline = (
            "Noise on the exact solution gives privacy only after clipping: otherwise one large response moves it "
            f"{compact(unclipped)} times as far."
        )
        condition = (
            "Responses clipped to $[-C, C]$ and statistics projected on $\\|Z\\|_F \\le G$, as Appendix B has it; "
            "as (2.6) stands, nothing bounds the sensitivity."
        )
        return Finding(Verdict.NARROWER, headline, numbers, correction=condition, would_change=change)
    headline = "Noise on the exact solution is a second way to privacy."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("noisyhead/appendix-b-sensitivity")
def appendix_b_sensitivity(tables: Tables) -> Finding:
    """CG/(λN) bounds the sensitivity with high probability; Definition 3.1 speaks of all neighbours."""
    rows = tables["sensitivity"]
    over, bound = _largest(rows) / rows["printed"], rows["bound"] / rows["printed"]
    drawn, lost = (rows["drawn"] / rows["printed"]).max(), _power_of_n(rows.assign(bound_over=bound), "bound_over")
    numbers = (
        Number("largest move found over the printed bound", over.max(), None, 1.0, "sensitivity"),
        Number("largest move of a drawn neighbour over it", drawn, None, 1.0, "sensitivity"),
        Number("largest move found over the bound derived here", (_largest(rows) / rows["bound"]).max(), None, 1.0,
               "sensitivity"),
        Number("power of N in derived over printed bound", lost, None, LOST_POWER, "sensitivity"),
    )  # fmt: skip
    change = "A definition of privacy that speaks of drawn neighbours only, or of leaving a prompt out."
    if over.max() <= 1 + ROUNDING:
        headline = "Replacing a prompt moves the ridge solution no further than claimed."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = f"Replacing one prompt can move the ridge solution {compact(over.max())} times as far as claimed."
    if (_largest(rows) > rows["bound"] * (1 + ROUNDING)).any() or lost > LOST_POWER:
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    correction = (
        r"$\frac{2\mathcal{C}G}{\lambda N}\big(1 + \frac{G}{2\sqrt\lambda}\big)$, or the sharp bound of the chapter."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.CONCLUSION, correction, change)


@judges("noisyhead/appendix-b-privacy")
def appendix_b_privacy(tables: Tables) -> Finding:
    """Gaussian noise of the printed form makes the release (ε, δ)-DP."""
    printed, right = (select(tables["privacy"], calibration=name).reset_index(drop=True) for name in (PRINTED, RIGHT))
    times, spent = printed["delta_spent"] / printed["delta"], printed["epsilon_spent"] / printed["epsilon"]
    short = right.assign(short=(right["noise_std"] / printed["noise_std"]) ** 2)
    kept, lost = (right["delta_spent"] / right["delta"]).max(), _power_of_n(short, "short")
    audit = select(tables["audit"], calibration=PRINTED)
    proven, sharper = audit["epsilon_found"] / audit["epsilon"], audit["mu_found"] / audit["mu"]
    row = f"calibration = {PRINTED}"
    numbers = (
        Number("δ spent over δ claimed, at most", times.max(), None, 1.0, "privacy", row),
        Number("δ spent over δ claimed, at least", times.min(), None, 1.0, "privacy", row),
        Number("ε spent over ε claimed", spent.max(), None, 1.0, "privacy", row),
        Number("ε that an audit proves over ε claimed", proven.max(), None, 1.0, "audit", row),
        Number("μ that an audit proves over that of the claim", sharper.max(), None, 1.0, "audit", row),
        Number("variance that is needed over the printed one", short["short"].max(), None, 1.0, "privacy"),
        Number("δ spent over δ claimed with the right noise", kept, None, 1.0, "privacy", f"calibration = {RIGHT}"),
    )
    change = "Neighbours that move the solution by no more than the printed sensitivity."
    if times.max() <= 1 + ROUNDING:
        headline = "Private ridge regression spends no more than its budget."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if kept > 1 + ROUNDING or lost > LOST_POWER:
        headline = "Private ridge regression spends more than its budget, and no constant on its noise mends that."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"With the printed noise, private ridge regression spends up to {compact(times.max())} times the claimed "
        f"probability; it needs {compact(short['short'].max())} times the variance."
    )
    correction = (
        r"Variance $8\mathcal{C}^2G^2(1 + G/(2\sqrt\lambda))^2\log(1.25/\delta)/(\lambda N\varepsilon)^2$ for "
        r"$\varepsilon \le 1$: it lacks the 2 of the Gaussian mechanism and the square of the sensitivity's 2."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.CONCLUSION, correction, change)


@judges("noisyhead/table-1")
def table_1(tables: Tables) -> Finding:
    """Table 1: its numbers, and its order by a factor of thousands."""
    comparison = tables["comparison"]
    mended = _ratios(tables["table-1"], Setting.PUBLISHED, NOISYHEAD, Setting.CORRECTED)
    survives = mended.min() > FAR_BELOW
    numbers = [
        Number("NoisyHead over rightly calibrated DP-ridge, at least", mended.min(), None, FAR_BELOW, "table-1"),
        Number("the same with NoisyHead accounted for its last iterate",
               _ratios(tables["table-1"], Setting.CORRECTED, LAST, Setting.CORRECTED).max(), None, 1.0, "table-1"),
    ]  # fmt: skip
    change = "Settings that give both of its columns."
    if comparison.empty:
        headline = "No printed number belongs to these parameters."
        return Finding(Verdict.UNTESTABLE, headline, tuple(numbers), would_change=change)
    matched, total = _matches(comparison)
    best = max(matched, key=lambda setting: matched[setting])
    readings = tables["readings"]
    numbers += [
        Number(f"numbers matched, {s}", matched[s], None, total, "comparison", f"setting = {s}") for s in matched
    ]
    numbers += [
        Number("power of N of DP-ridge's column", printed_power(comparison), None,
               select(readings, departures=0)["power"].iloc[0], "comparison"),
        Number("readings that come near it", (readings["deviation"] <= CONSISTENT).sum(), None,
               readings["tried"].iloc[0], "readings"),
    ]  # fmt: skip
    if matched[best] == total:
        if (comparison["standard_error"] / comparison["excess_risk"]).max() > PRECISE:
            headline = "The standard errors are too large to tell whether the table comes out again."
            return Finding(Verdict.UNTESTABLE, headline, tuple(numbers), would_change=change)
        headline = f"The table comes out again, all {total} numbers."
        return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=change)
    if survives and _one_factor(comparison):
        headline = "The table comes out again up to one constant factor for each column."
        correction = "One factor on each column: see the ratios of the chapter's table."
        return Finding(Verdict.CORRECTED, headline, tuple(numbers), Consequence.NUMBERS, correction, change)
    order = "private ridge regression still wins by far" if survives else "private ridge regression does not win by far"
    headline = f"Of the table's {total} numbers, the text gives {matched[best]} again; {order}."
    weight = Consequence.NUMBERS if survives else Consequence.CONCLUSION
    return Finding(Verdict.FAILS, headline, tuple(numbers), weight, would_change=change)


@judges("noisyhead/appendix-b-early-stopping")
def appendix_b_early_stopping(tables: Tables) -> Finding:
    """NoisyHead's larger error is the bias that early stopping leaves."""
    table = tables["table-1"]
    rows = table[table["setting"].isin([Setting.PRINTED, Setting.PUBLISHED])]
    bias = select(rows, method=DESCENT).set_index(["setting", "N"])["excess_risk"]
    total = select(rows, method=NOISYHEAD).set_index(["setting", "N", "epsilon"])["excess_risk"]
    share = bias.reindex(total.index.droplevel("epsilon")).to_numpy() / total
    ladder = tables["ladder"]
    worst = ladder.loc[ladder["factor"].idxmax()]
    numbers = (
        Number("largest share that remains without noise", share.max(), None, MAIN_SHARE, "table-1"),
        Number("least share that remains without noise", share.min(), None, MAIN_SHARE, "table-1"),
        *_other_steps(tables["steps"]),
        Number("largest factor on the way from DP-ridge", worst["factor"], None, None, "ladder", worst["stage"]),
    )
    change = "A penalty at which the bias of the stopped run is a visible part of its error."
    if share.min() >= MAIN_SHARE:
        headline = "The private head's larger error is the bias that early stopping leaves."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if share.max() >= MAIN_SHARE:
        within = int((share >= MAIN_SHARE).sum())
        headline = f"Early stopping explains the private head's larger error in {within} of {len(share)} cells only."
        condition = "Where noise is small beside the bias: " + ", ".join(
            f"$N = {N}$, $\\varepsilon = {epsilon:g}$ ({setting})"
            for setting, N, epsilon in share[share >= MAIN_SHARE].index
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, f"{condition}.", change)
    headline = (
        "The private head's larger error is noise, not early stopping: without noise at most a share of "
        f"{compact(share.max())} remains."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("noisyhead/appendix-b-scaling")
def appendix_b_scaling(tables: Tables) -> Finding:
    """With well-chosen T, λ and η₀ the two methods' excess risks differ by logarithms alone."""
    powers = tables["powers"]
    exponents = asymptotic_exponents(powers).unstack("algorithm")
    own = select(powers, algorithm=PUBLISHED, path=OWN_PATH)
    limit = select(powers, algorithm=LAST_ITERATE, path=OWN_PATH)["over_ridge"].iloc[-1]
    alike = exponents[[CORRECTED, LAST_ITERATE]].abs().to_numpy().max()
    chosen = exponents[PUBLISHED].drop(SHORT_PATH).abs()  # λ may be chosen: the short path with a fixed one may not
    rests = own["rests_at"].min()
    numbers = (
        Number("largest power, as published, λ well chosen", chosen.max(), None, POWER, "powers", chosen.idxmax()),
        Number("power at L = N^(1/4) with a fixed λ", exponents.loc[SHORT_PATH, PUBLISHED], None, POWER, "powers"),
        Number("largest power, corrected", alike, None, POWER, "powers"),
        Number("excess risk at which the update rests", rests, None, 0.0, "powers", f"path = {OWN_PATH}"),
        Number("noise of the last iterate over DP-ridge's", limit, None, 1.0, "powers", f"path = {OWN_PATH}"),
    )
    change = "Another power of a size between the two methods, or an update that rests at its target."
    if alike > POWER:
        headline = f"The two methods' noise differs by a power of the size {compact(alike)}, even corrected."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    half = r"$\lambda/2$ in the update"
    if chosen.max() > POWER:
        headline = "The two methods scale alike only with a smaller radius for the weights."
        condition = rf"$R = \mathcal{{C}}/(2\sqrt\lambda)$, which (4.1) exceeds; and {half}."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, condition, change)
    if rests > 0:
        headline = "The two methods scale alike once the penalty in the private head's update is halved."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, f"{half}.", change)
    headline = "The private head and private ridge regression scale alike in every size."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


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


def _other_steps(steps: pd.DataFrame) -> list[Number]:
    """What stopping later or earlier does in the published setting; nothing where T is not varied."""
    rows = select(steps, setting=Setting.PUBLISHED, method=NOISYHEAD)
    risk = rows.pivot_table(index=["N", "epsilon"], columns="share", values="excess_risk")
    return [
        Number(f"excess risk with {share:g} times the steps, over that with all", (risk[share] / risk[1.0]).min(), None,
               1.0, "steps", f"share = {share:g}")
        for share in sorted({risk.columns.min(), risk.columns.max()} - {1.0})
    ]  # fmt: skip


def asymptotic_exponents(powers: pd.DataFrame) -> pd.Series:
    """Exponent of NoisyHead's noise part over DP-ridge's by path and algorithm, powers of logarithms taken out.

    A factor size^a · log^b(size) has the local exponent a + b/log(size): the intercept of a fitted line.
    """
    rows = powers[(powers["size"] >= ASYMPTOTIC) & (powers["size"] < powers["size"].max())]
    return rows.groupby(["path", "algorithm"], sort=False)[["size", "exponent"]].apply(
        lambda g: float(np.polyfit(1 / np.log(g["size"]), g["exponent"], 1)[1])
    )
