"""Verdicts on Figure 4 of arXiv:2504.16000v2, its caption, and what section 6.3 and the abstract conclude from it."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.robustness import arithmetic, measure
from chapters.noisyhead.robustness.measure import BOUNDED, NOISYHEAD, RESPONSES, RIDGE, SMALL
from companion import _fits
from companion.judging import growth, prose
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.prose import compact
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ROUNDING, worse
from costofprivacy.settings import Setting

# ---- Rates ----
# How fast a measured side outgrows a claimed one, with the error of the fit, for the verdicts on robustness.

SIZES = {"N": "the number of prompts", "L": "prompt length", "D": "the dimension"}


def rates_fitted(table: pd.DataFrame, value: str, error: str, over: str = "", by: Sequence[str] = ()) -> pd.DataFrame:
    """The power of ``value`` over ``over`` along each axis and group: axis, ``by``, power, error.

    An axis with a single size has none. Where all errors are nought all rows weigh the same and the power has none.
    """
    found = []
    for (axis, *group), rows in table.groupby(["axis", *by], sort=False):
        scale = rows[over] if over else 1.0
        ratio, size = rows[value] / scale, rows[str(axis)]
        if growth.several(size):
            power, own = _fits.power_law(size, ratio, np.maximum(rows[error] / scale, 1e-9 * ratio))
            own = own if rows[error].any() else 0.0
            found.append({"axis": axis, **dict(zip(by, group)), "power": power, "error": own})
    return pd.DataFrame(found, columns=["axis", *by, "power", "error"])


def grows(rates: pd.DataFrame) -> pd.DataFrame:
    """Those that are a lost power beyond doubt."""
    return rates[rates["power"] - 2 * rates["error"] > LOST_POWER_SIMULATED]


def falls(rates: pd.DataFrame) -> pd.DataFrame:
    """Those that fall by as much."""
    return rates[rates["power"] + 2 * rates["error"] < -LOST_POWER_SIMULATED]


def steepest(rates: pd.DataFrame) -> pd.DataFrame:
    """The fastest of each axis, in either direction."""
    return rates.loc[rates["power"].abs().groupby(rates["axis"], sort=False).idxmax()]


def worded(rates: pd.DataFrame) -> str:
    """The fastest of the first axis in words, "the power 2 of prompt length"; empty where there is none."""
    if rates.empty:
        return ""
    worst = steepest(rates).iloc[0]
    return f"the power {compact(worst['power'])} of {SIZES[worst['axis']]}"


def as_numbers(rates: pd.DataFrame, name: str, table: str) -> list[Number]:
    """Fitted powers as data, the fastest of each axis."""
    told = [column for column in rates.columns if column not in ("power", "error")]
    found = []
    for _, rate in steepest(rates).iterrows():
        row, size = ", ".join(f"{column} = {rate[column]}" for column in told), SIZES[rate["axis"]]
        found.append(Number(f"power of {size} in {name}", rate["power"], rate["error"] or None, None, table, row))
    return found


def far(rows: pd.DataFrame, size: str, value: str) -> float:
    """The power of a closed form at its largest sizes."""
    return growth.power(rows, size, value, "")


def far_powers(sizes: pd.DataFrame) -> dict[str, float]:
    """By axis, the power of its size that a claim's left over its right side ends with."""
    return growth.powers(sizes, {str(axis): str(axis) for axis in sizes["axis"].unique()})


def far_lost(sizes: pd.DataFrame) -> set[str]:
    """The axes along which that is a lost power."""
    return {axis for axis, power in far_powers(sizes).items() if power > LOST_POWER}


def far_numbers(sizes: pd.DataFrame) -> list[Number]:
    """Those powers as data."""
    claim = sizes["claim"].iloc[0]
    return [
        Number(f"power of {SIZES[axis]} far out", power, None, LOST_POWER, "sizes", f"claim = {claim}, axis = {axis}")
        for axis, power in far_powers(sizes).items()
    ]


# ---- Theorem ----
# Verdicts on Theorem 5.1 and Remark 5.1 of arXiv:2504.16000v2.

OF_ORDER = math.e  # T and log N are of one order if their ratio is at most this
HIDDEN = 10.0  # what a hidden constant may be where a claim is asked at sizes of its condition
LEFT, SHIFTED = RESPONSES


def few_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the T nearest to log N, if one is of its order."""
    rows = select(heads, noise="independent")
    off = np.log(rows["T"] / np.log(rows["N"])).abs()
    return rows[(off == off.min()) & (off <= np.log(OF_ORDER))]


def many_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the largest T."""
    return select(heads, noise="independent", T=heads["T"].max())


@judges("noisyhead/theorem-5.1-noisyhead")
def theorem_51_noisyhead(tables: Tables) -> Ruling:
    """NoisyHead moves by at most the order of N L⁻² log²(NL/κ), whatever T, ε and λ; Algorithm 1 has λ ≥ c > 0."""
    heads, sizes = tables["heads"], select(tables["sizes"], claim=measure.FEW_STEPS)
    few, many = few_steps(heads), many_steps(heads)
    short, long = (rates_fitted(rows, "displacement", "standard_error", "bound_theorem") for rows in (few, many))
    if "L" not in set(short["axis"]) or few["T"].iloc[0] == many["T"].iloc[0]:
        return Ruling(Verdict.UNTESTABLE)
    free = sizes[sizes["axis"] != measure.LEAST_AXIS]
    kept, grown = _keeps(short, free), grows(long)
    everywhere = kept and grown.empty and not far_lost(free)
    alone = select(heads, noise="common")["displacement"].max()
    found = (
        *as_numbers(short, f"measured over claimed, T = {few['T'].iloc[0]}", "heads"),
        *as_numbers(long, f"measured over claimed, T = {many['T'].iloc[0]}", "heads"),
        *numbers("heads", {"the attack's own part, at most": alone}, "noise = common"),
    )
    verdict, grounds = reads(everywhere, narrower=kept), "" if grown.empty else "many steps"
    return Ruling(verdict, found, {"worst": worded(grown)}, grounds)


def _keeps(short: pd.DataFrame, free: pd.DataFrame) -> bool:
    """Whether runs of few steps keep to the claim: as measured, and in closed form on all but very long prompts."""
    beyond = (free.loc[free["length_over"] <= 1, "ratio"] > HIDDEN).any()
    return grows(short).empty and not beyond and far_lost(free) <= {"L"}


@judges("noisyhead/theorem-5.1-gap")
def theorem_51_gap(tables: Tables) -> Ruling:
    """At the lower end of (5.2), constant one, α²μ²/(Nλ) lies above N L⁻² log²(NL/κ)."""
    windows, sizes = tables["windows"], select(tables["sizes"], claim=measure.GAP)
    rows = windows[windows["penalty_over_least"] > 1]
    if not any(several(penalties) for _, penalties in rows.groupby("L")["penalty"]):
        return Ruling(Verdict.UNTESTABLE)
    power = float(np.mean([far(group, "penalty", "gap") for _, group in rows.groupby("L")]))
    log = rows["penalty"] / rows["penalty_over_least"] * rows["L"] / 2  # log(NL/κ), as C² = 2 log(NL/κ)
    small, every = rows[rows["penalty"] ** 2 <= log]["gap"].min(), rows["gap"].min()
    named = {
        "power of the penalty in right over left": (power, 0.0),
        "least right over left": (every, 1.0),
        "least right over left at small penalties": (small, 1.0),
    }
    along = numbers("sizes", {"largest left over right along N, L and D": (sizes["ratio"].max(), 1.0)}, "")
    kept = not (small < 1 or sizes["ratio"].max() > 1)
    verdict = reads(printed=kept and every >= 1, narrower=kept)
    return Ruling(verdict, numbers("windows", named, "") + along, {"least": every})


@judges("noisyhead/theorem-5.1-ridge")
def theorem_51_ridge(tables: Tables) -> Ruling:
    """An admissible perturbation moves ridge by α²μ²/(Nλ) at least."""
    rows = tables["perturbations"].assign(ratio=lambda r: r["displacement"] / r["claimed"])
    rows["error"] = rows["standard_error"] / rows["claimed"]
    return at_least(rows)


def at_least(every: pd.DataFrame) -> Ruling:
    """Is ``ratio``, measured over claimed, at least 1 for every admissible perturbation, or for those of the query?"""
    rows, amended = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates_fitted(rows, "ratio", "error", by=["perturbation", "response"])
    if powers.empty:
        return Ruling(Verdict.UNTESTABLE)
    short, kept = (part[part["ratio"] + CONSISTENT * part["error"] < 1] for part in (rows, amended))
    fall = falls(powers)
    named = {
        "admissible attacks that fall short": (len(short), 0.0),
        "least measured over claimed": (rows["ratio"].min(), 1.0),
        "attacks of the amended (5.2) that fall short": (len(kept), 0.0),
        "least measured over claimed there": (amended["ratio"].min(), 1.0),
    }
    fitted = as_numbers(powers if fall.empty else fall, "measured over claimed", "perturbations")
    corrected = SHIFTED not in set(short["response"]) or fall.empty
    found = (*numbers("perturbations", named, ""), *fitted)
    return Ruling(reads(short.empty, corrected=corrected), found, {"short": len(short), "admissible": len(rows)})


@judges("noisyhead/remark-5.1-window")
def remark_51_window(tables: Tables) -> Ruling:
    """For λ ≍ 1, (5.2) reduces to N²/L² ≲ α²μ² ≤ α²μ⁴ ≲ NL."""
    simplified, windows, every = tables["simplified"], tables["windows"], tables["perturbations"]
    grown = {float(str(q)): far(rows, "N", "ratio") for q, rows in simplified.groupby("power")}
    lost = [q for q, power in grown.items() if power > LOST_POWER]
    below = every[every["admissible"] & (every["mu"] < 1)]
    shut = (~windows.loc[windows["penalty_over_least"] > 1, "open_at_mu_1"]).sum()
    found = (
        *_lower_ends(grown),
        *numbers("perturbations", {"admissible attacks with a shift below 1": (len(below), 0.0)}, ""),
        *numbers("windows", {"windows that are empty at a shift of 1": shut}, ""),
    )
    printed, decided = not lost and below.empty, several(simplified["N"])
    verdict = reads(printed, narrower=len(lost) < len(grown), decided=decided)
    grounds = " and ".join(ground for ground, there in (("long prompts", lost), ("small shifts", len(below))) if there)
    return Ruling(verdict, found, {"least": min(lost, default=None)}, grounds)


def _lower_ends(grown: Mapping[float, float]) -> Iterator[Number]:
    """The power of N that each power of the prompt length loses."""
    for q, power in grown.items():
        named = {"power of N in the lower end over $N^2/L^2$": (power, LOST_POWER)}
        yield from numbers("simplified", named, f"power = {q:g}")


@judges("noisyhead/remark-5.1-divergence")
def remark_51_divergence(tables: Tables) -> Ruling:
    """Some admissible perturbation sends ridge's displacement to infinity, while NoisyHead's tends to zero.

    The remark leaves D free. With v = vec V of the page's limit, ‖V‖² = ‖x + μ1‖²‖x̄ + μ1‖² is of order 1/L at least, so
    that no shift of the responses, the query's included, moves ridge by more than the order of L/D³.
    """
    every, path = tables["perturbations"], tables["path"]
    small = select(every, perturbation=SMALL, admissible=True)
    ridge = {r: rates_fitted(select(small, response=r), "displacement", "standard_error") for r in RESPONSES}
    private = rates_fitted(select(few_steps(tables["heads"]), axis="L"), "displacement", "standard_error")
    if private.empty or any("L" not in set(rows["axis"]) for rows in ridge.values()) or not several(path["N"]):
        return Ruling(Verdict.UNTESTABLE)
    few, many = (far(path, "N", name) for name in ("bound_few_steps", "limit_many_steps"))
    left = select(every, response=LEFT)[["displacement", "bound"]].max()
    ends = {
        "power of N in NoisyHead's bound after few steps": (few, -LOST_POWER),
        "power of N in NoisyHead's limit of many steps": (many, -LOST_POWER),
    }
    found = (
        *as_numbers(ridge[LEFT], f"ridge's displacement, y {LEFT}", "perturbations"),
        *as_numbers(ridge[SHIFTED], f"ridge's displacement, y {SHIFTED}", "perturbations"),
        *numbers("perturbations", {f"ridge at most, y {LEFT}": (left["displacement"], left["bound"])}, ""),
        *as_numbers(private, "NoisyHead's displacement after few steps", "heads"),
        *numbers("path", ends, ""),
    )
    diverges = {response for response, rows in ridge.items() if "L" in set(grows(rows)["axis"])}
    apart = bool(diverges) and not (falls(private).empty or few > -LOST_POWER)
    always = apart and not many > -LOST_POWER
    everywhere = {response for response in diverges if falls(ridge[response]).empty}
    verdict = reads(always and LEFT in everywhere, corrected=always and bool(everywhere), narrower=apart)
    return Ruling(verdict, found, {}, "" if LEFT in diverges else "shifted response")


# ---- Judges ----

GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
WRONG = 1e-2  # relative error of a solution from which on it is nothing but rounding
SMALLEST_SAMPLE = 3  # trials below which nothing is decided
OF_THE_PAPER = (str(Setting.PRINTED), str(Setting.PUBLISHED))


@judges("noisyhead/figure-4")
def figure_4(tables: Tables) -> Ruling:
    """Is NoisyHead's displacement below ridge's throughout, and does ridge's grow with p?"""
    table, comparison = tables["figure-4"], tables["comparison"]
    decided = several(table["p"]) and table["trials"].min() >= SMALLEST_SAMPLE
    grown = bool((_growth(table, "ridge") > 1 + GROWS).all())
    published = grown and _is_below(table, "published") and _comes_out_again(comparison)
    verdict = reads(published and _is_below(table, "printed"), corrected=published, decided=decided)
    textbook = _growth(select(table, setting="published"), "ridge-normal-equations").max()
    rounding = decided and not grown and textbook > 1 + GROWS and _is_rounding(tables["digits"])
    found = (*_displacements(table), *_published(comparison), *_errors(tables["test-error"]))
    quoted = {"growth": textbook, "printed": _over_ridge(table, "printed")}
    return Ruling(verdict, found, quoted, "rounding" if rounding else "")


@judges("noisyhead/figure-4-caption")
def figure_4_caption(tables: Tables) -> Ruling:
    """Is NoisyHead's test error after the attack below ridge's, in both settings of the paper?"""
    rows = select(tables["test-error"], prompts="attacked").set_index(["setting", "method"])
    noisy, ridge = (rows.xs(method, level="method").loc[list(OF_THE_PAPER)] for method in ("noisyhead", "ridge"))
    distance = noisy["test_error"] - ridge["test_error"]
    error = CONSISTENT * np.hypot(noisy["standard_error"], ridge["standard_error"])
    lower, higher = bool((distance < -error).all()), bool((distance > error).any())
    found = tuple(
        Number("test error after the attack", row.test_error, row.standard_error, row.response_variance,
               "test-error", f"setting = {setting}, method = {method}")
        for method, side in (("noisyhead", noisy), ("ridge", ridge))
        for setting, row in zip(OF_THE_PAPER, side.itertuples())
    )  # fmt: skip
    quoted = {"noisyhead": noisy["test_error"].min(), "ridge": ridge["test_error"].max()}
    return Ruling(reads(printed=lower, decided=lower or higher), found, quoted)


@judges("noisyhead/section-6.3-validation")
def section_63_validation(tables: Tables) -> Ruling:
    """Is Figure 4 inside Theorem 5.1's conditions, hidden constants up to `HIDDEN`, and does it show (5.3)?"""
    conditions, table = tables["conditions"], tables["figure-4"]
    low, high = conditions.min(), conditions.max()
    noisy = select(table, method="noisyhead").groupby("setting")["displacement"].max().loc[list(OF_THE_PAPER)].min()
    ridge = select(table, method="ridge")["displacement"].max() / low["claimed_for_ridge"]
    shown = {"ridge's displacement over the least that (5.3) claims, at most": (ridge, 1.0)}
    ordered = high["claimed_for_noisyhead"] < low["claimed_for_ridge"]
    kept = noisy <= HIDDEN * low["claimed_for_noisyhead"] and ordered and ridge >= 1
    found = (*_met(conditions), *numbers("figure-4", shown, "method = ridge"))
    verdict = reads(printed=bool(_is_inside(conditions) and kept))
    return Ruling(verdict, found, {"upper": high["over_upper_end"], "ridge": 1 / ridge})


@judges("noisyhead/abstract-simulations")
def abstract_simulations(tables: Tables) -> Ruling:
    """Has Theorem 5.1, one finding of all, a simulation inside its conditions? Figure 4 is the only one there is."""
    conditions = tables["conditions"]
    upper = conditions["over_upper_end"].min()
    return Ruling(reads(printed=_is_inside(conditions)), _met(conditions), {"upper": upper})


def _met(conditions: pd.DataFrame) -> tuple[Number, ...]:
    """How far inside or outside the conditions of Theorem 5.1 the attacks of Figure 4 are."""
    low, high = conditions.min(), conditions.max()
    named = {
        r"penalty over the least that the theorem admits": (low["penalty_over_least"], 1.0),
        r"$\alpha^2\mu^4$ over the upper end of (5.2), at most": (high["over_upper_end"], HIDDEN),
        r"$\alpha^2\mu^2$ over the lower end of (5.2), at least": (low["over_lower_end"], 1 / HIDDEN),
        "probability with which the theorem is claimed": (low["probability"], 0.0),
    }
    return numbers("conditions", named, "")


def _is_inside(conditions: pd.DataFrame) -> bool:
    """Whether they meet these conditions at every α, with hidden constants up to `HIDDEN` and some probability."""
    attack = (conditions["over_upper_end"] <= HIDDEN) & (conditions["over_lower_end"] >= 1 / HIDDEN)
    return bool((attack & (conditions["penalty_over_least"] > 1) & (conditions["probability"] > 0)).all())


def _growth(table: pd.DataFrame, method: str) -> pd.Series:
    """Displacement at the largest p over that at the least, by setting and c."""
    rows = select(table, method=method).sort_values("p").groupby(["setting", "c"])["displacement"]
    return rows.last() / rows.first()


def _is_below(table: pd.DataFrame, setting: str) -> bool:
    """Whether NoisyHead's displacement is below ridge's at every p and c beyond doubt."""
    rows = select(table, setting=setting).set_index(["c", "p"])
    noisy, ridge = (select(rows, method=method) for method in ("noisyhead", "ridge"))
    error = np.hypot(noisy["standard_error"], ridge["standard_error"])
    return bool((ridge["displacement"] - noisy["displacement"] > CONSISTENT * error).all())


def _comes_out_again(comparison: pd.DataFrame) -> bool:
    """Whether all published displacements of NoisyHead do, if there are any."""
    noisy = agreement.agreements(select(comparison, method="noisyhead")).get("published")
    return noisy is None or noisy.complete


def _over_ridge(table: pd.DataFrame, setting: str) -> float:
    mean = select(table, setting=setting).groupby("method")["displacement"].mean()
    return float(mean["noisyhead"] / mean["ridge"])


def _is_rounding(digits: pd.DataFrame) -> bool:
    """Whether, against fifty digits, the rank-one update is right and the normal equations are not, at every α."""
    errors = digits.pivot_table(index="alpha", columns="evaluation", values="median_error")
    right = errors[arithmetic.RANK_ONE] < ROUNDING
    return bool((right & (errors[arithmetic.REPORTED] > WRONG)).all())


def _displacements(table: pd.DataFrame) -> Iterator[Number]:
    """Ridge's growth by method, and NoisyHead over ridge by setting."""
    for method in ("ridge", "ridge-normal-equations"):
        growth = _growth(table, method).max()
        yield from numbers(
            "figure-4", {"displacement at the largest $p$ over that at the least": (growth, 1.0)}, f"method = {method}"
        )
    for setting in ("printed", "published"):
        over = _over_ridge(table, setting)
        yield from numbers("figure-4", {"NoisyHead's displacement over ridge's": (over, 1.0)}, f"setting = {setting}")


def _published(comparison: pd.DataFrame) -> Iterator[Number]:
    """How many published numbers come out again, and the largest deviation, by method."""
    for method, rows in select(comparison, setting="published").groupby("method"):
        match = agreement.agreements(rows)["published"]
        named = {
            f"published numbers within {CONSISTENT:g} standard errors": (match.near, match.numbers),
            "largest deviation, in standard errors": (match.worst, CONSISTENT),
        }
        yield from numbers("comparison", named, f"setting = published, method = {method}")


def _errors(errors: pd.DataFrame) -> Iterator[Number]:
    """The test errors beside the variance of the responses."""
    for error in errors[(errors["setting"] != "printed") & (errors["method"] != "ridge-normal-equations")].itertuples():
        row = f"setting = {error.setting}, method = {error.method}, prompts = {error.prompts}"
        against = error.response_variance
        yield Number("test error", error.test_error, error.standard_error, against, "test-error", row)


# ---- Introduction ----
# Verdicts on what the abstract and section 1.1 of arXiv:2504.16000v2 say of attacked prompts.

FEW = 0.1  # the fraction of the prompts up to which "a fraction" is few of them


@judges("noisyhead/abstract-robust")
def abstract_robust(tables: Tables) -> Ruling:
    """Does one prompt move NoisyHead by a bounded amount and ridge without bound, under (5.1) or another attack?"""
    own, alone = select(tables["growth"], response=RESPONSES[0]), tables["query-alone"]
    parts = select(tables["parts"], part="attack")
    over = (parts["displacement"] / parts["bound"]).max()
    attacked, other = growth.power(own, "alpha", "displacement", ""), growth.power(alone, "alpha", "ridge", "")
    clipped = growth.power(alone, "alpha", "bound", "")
    limit = own.sort_values("alpha")["displacement"].iloc[-1]
    claimed = tables["conditions"].sort_values("alpha")["claimed_for_ridge"].iloc[0]
    found = (
        *numbers("parts", {"displacement of NoisyHead by the attack over its bound": (over, 1.0)}, "part = attack"),
        *numbers(
            "growth", {"power of α in ridge's displacement under (5.1)": (attacked, growth.LOST_POWER)}, "largest α"
        ),
        *numbers("growth", {"ridge's displacement under (5.1), largest α": (limit, claimed)}, "largest α"),
        *numbers("query-alone", {"power of α if only the query's response is shifted": (other, growth.LOST_POWER)}),
        *numbers("query-alone", {"power of α in NoisyHead's bound": (clipped, growth.LOST_POWER)}),
    )
    resists = over <= 1 + ROUNDING and clipped <= growth.LOST_POWER
    verdict = reads(
        printed=bool(resists and attacked > growth.LOST_POWER),
        narrower=bool(resists and other > growth.LOST_POWER),
        decided=not np.isnan([attacked, other, clipped]).any(),
    )
    return Ruling(verdict, found, {"limit": limit})


@judges("noisyhead/section-1.1-fraction")
def fraction(tables: Tables) -> Ruling:
    """Does NoisyHead's test error rise by less than ridge's, whatever fraction of the prompts is attacked?"""
    every, attack = tables["fractions"], ["response", "alpha", "fraction"]
    ridge = select(every, method=RIDGE).set_index(attack)[["rise", "rise_error"]]
    rows = select(every, method=NOISYHEAD).join(ridge.add_suffix("_ridge"), on=attack)
    distance = rows["rise"] - rows["rise_ridge"]
    error = CONSISTENT * np.hypot(rows["rise_error"], rows["rise_error_ridge"])
    more, less, few = distance > error, distance < -error, rows["fraction"] <= FEW
    worst = rows.loc[distance.idxmax()]
    bounded = select(every, method=BOUNDED).query("fraction <= @FEW")["rise"].max()
    named = {
        "attacks under which NoisyHead rises more": (more.sum(), 0.0),
        f"the same, with at most {prose.percent(FEW)} of the prompts": ((more & few).sum(), 0.0),
        "attacks under which it rises less": (less.sum(), len(rows)),
        "largest rise of NoisyHead, few attacked, and of ridge": tuple(rows.loc[few, ["rise", "rise_ridge"]].max()),
        "rise of ridge on clipped and projected prompts, few attacked": bounded,
    }
    at = f"setting = {worst['setting']}, fraction = {worst['fraction']:g}, α = {worst['alpha']:g}"
    beyond = (worst["rise"], worst["rise_error"], worst["rise_ridge"], "fractions", at)
    found = (*numbers("fractions", named, ""), Number("rise of NoisyHead where it most exceeds ridge's", *beyond))
    narrower, decided = few.any() and not (more & few).any(), less.any() or more.any()
    verdict = reads(not more.any(), narrower=bool(narrower), decided=bool(decided))
    own = select(rows, setting=str(Setting.PUBLISHED))
    learnt = (own["before"] / own["response_variance"]).max()
    return Ruling(verdict, found, {"before": learnt})


@judges("noisyhead/section-1.1-degradation")
def degradation(tables: Tables) -> Ruling:
    """Does one attacked prompt raise NoisyHead's test error by less than ridge's, where NoisyHead predicts at all?

    Always predicting 0 never degrades: a setting counts only if the head's error before the attack is below Var(y) by
    more than a factor `WORSE`, beyond the errors.
    """
    risen = _risen(tables["test-error"])
    ridge = risen.xs("ridge", level="method")
    noisy = risen.xs("noisyhead", level="method")
    least = ridge.loc[ridge["rise"].idxmin()]
    distance, error = noisy["rise"] - least["rise"], CONSISTENT * np.hypot(noisy["error"], least["error"])
    learns = pd.Series([worse(1.0, row.before, row.before_error) for row in noisy.itertuples()], noisy.index)
    less, more = learns & (distance < -error), bool((distance > error).any())
    found = tuple(
        Number("rise of the test error under the attack", row.rise, row.error, None, "test-error",
               f"setting = {setting}, method = {method}")
        for (setting, method), row in zip(risen.index, risen.itertuples())
    )  # fmt: skip
    heads = {
        f"test error before the attack, setting = {setting}, over Var(y)": (row.before, 1.0, "method = noisyhead")
        for setting, row in noisy.iterrows()
    }
    verdict = reads(printed=bool(less.any()) and not more, decided=bool(less.any()) or more)
    return Ruling(verdict, (*found, *numbers("test-error", heads)), {"ridge": least["rise"]})


def _risen(errors: pd.DataFrame) -> pd.DataFrame:
    """Test error after the attack less that before it, by setting and method, and that before it over Var(y)."""
    rows = errors.set_index(["setting", "method", "prompts"])
    before, after = (rows.xs(prompts, level="prompts") for prompts in ("clean", "attacked"))
    after = after.loc[before.index]
    error = np.hypot(before["standard_error"], after["standard_error"])
    rise = pd.DataFrame({"rise": after["test_error"] - before["test_error"], "error": error})
    shares = before[["test_error", "standard_error"]].div(before["response_variance"], axis=0)
    return rise.join(shares.set_axis(["before", "before_error"], axis=1))


@judges("noisyhead/section-1.1-truncation")
def truncation(tables: Tables) -> Ruling:
    """Is what the attack itself moves below the bound that clipping and projection give, and far below ridge's?"""
    parts, table = select(tables["parts"], part="attack"), tables["figure-4"]
    over = (parts["displacement"] / parts["bound"]).max()
    beside = parts["displacement"].max() / select(table, method="ridge")["displacement"].min()
    named = {
        "displacement by the attack alone over its bound, at most": (over, 1.0),
        "the same over ridge's displacement, at most": (beside, MUCH_SMALLER),
    }
    verdict = reads(printed=over <= 1 + ROUNDING and beside <= MUCH_SMALLER)
    return Ruling(verdict, numbers("parts", named, "part = attack"), {"beside": beside})


# ---- Proof ----
# Verdicts on the proof of Theorem 5.1, (A.20)-(A.24) of arXiv:2504.16000v2.

OPPOSITE = 4.0  # (2R)² over R²: what two points at opposite ends of the ball add to (A.20), whatever the sizes
CERTAIN = 0.99  # share of the trials in which an event of high probability has to occur


@judges("noisyhead/equation-a.20")
def equation_a20(tables: Tables) -> Ruling:
    """Two heads in the ball of radius R differ by at most C²R²/L on a clean prompt."""
    rows = many_steps(tables["heads"]).rename(columns={"displacement": "left", "bound_ball": "right"})
    log = rows["L"] * np.sqrt(rows["bound_theorem"] / rows["N"])  # log(NL/κ), as that bound is N L⁻² log²(NL/κ)
    short = rows.assign(short=rows["L"] <= rows["D"] ** 3 * log)
    return _bounded(short, "heads", select(tables["sizes"], claim=measure.BALL), OPPOSITE)


@judges("noisyhead/equation-a.21")
def equation_a21(tables: Tables) -> Ruling:
    """The clean prompts' Gram matrix has norm at most C²N/L, below Nλ."""
    rows = tables["gram"].rename(columns={"norm": "left", "bound": "right"})
    short = rows.assign(short=rows["right"] * rows["D"] ** 2 >= 2)  # L up to D² log(NL/κ), as C² = 2 log(NL/κ)
    return _bounded(short, "gram", select(tables["sizes"], claim=measure.GRAM), 1.0)


def _bounded(rows: pd.DataFrame, table: str, sizes: pd.DataFrame, constant: float) -> Ruling:
    """Is ``left`` below ``right``, measured and in closed form, along every size, or where ``short`` at least?"""
    powers = rates_fitted(rows, "left", "standard_error", "right")
    if "L" not in set(powers["axis"]):
        return Ruling(Verdict.UNTESTABLE)
    closed = sizes.loc[sizes["length_over"] <= 1, "ratio"].max()
    lost = {*grows(powers)["axis"], *far_lost(sizes)}
    least = rows["left"] - CONSISTENT * rows["standard_error"]
    beyond = closed > constant or (least > constant * rows["right"])[rows["short"]].any()
    printed = not lost and not (least > rows["right"]).any()
    found = (
        *as_numbers(powers, "measured over claimed", table),
        *far_numbers(sizes),
        *numbers(table, {"measured over claimed, at most": ((rows["left"] / rows["right"]).max(), 1.0)}, ""),
        *numbers("sizes", {"closed form over claimed on short prompts, at most": (closed, constant)}, ""),
    )
    verdict = reads(printed, corrected=not lost, narrower=lost == {"L"} and not beyond)
    return Ruling(verdict, found, {"power": far_powers(sizes).get("L", math.nan)})


@judges("noisyhead/equation-a.22")
def equation_a22(tables: Tables) -> Ruling:
    """‖Z_bad‖² is at most of the order α²μ⁴/L, below Nλ."""
    every, sizes = tables["perturbations"], select(tables["sizes"], claim=measure.OUTLIER)
    rows, amended = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates_fitted(rows, "energy", "energy_error", "energy_claimed", ["perturbation", "response"])
    if powers.empty:
        return Ruling(Verdict.UNTESTABLE)
    distance = ((every["energy"] - every["energy_closed_form"]) / every["energy_error"]).abs().max()
    named = {
        r"energy over $N\lambda$, at most": (rows["energy_over_N_penalty"].max(), 1.0),
        r"energy over $N\lambda$ under the amended (5.2), at most": (amended["energy_over_N_penalty"].max(), 1.0),
        "largest distance from the closed form, in errors": (distance, CONSISTENT),
    }
    claimed = as_numbers(powers, "energy over its claimed order", "perturbations")
    found = (*claimed, *far_numbers(sizes), *numbers("perturbations", named, ""))
    grown, bounded = grows(powers), not far_lost(sizes)
    steep = grown[~grown["perturbation"].isin(rows[rows["mu"] < 1]["perturbation"])]
    verdict = reads(printed=bounded and grown.empty, narrower=bounded and steep.empty)
    return Ruling(verdict, found, {"by": worded(steep) or "a power of its sizes, far out"})


@judges("noisyhead/equation-a.23")
def equation_a23(tables: Tables) -> Ruling:
    """‖Γ*_bad − Γ*‖ is at least ‖y'Z' − yZ‖/(Nλ), in the median over data sets."""
    return at_least(tables["perturbations"].assign(ratio=lambda r: r["a23_ratio"], error=0.0))


@judges("noisyhead/equation-a.24")
def equation_a24(tables: Tables) -> Ruling:
    """‖y'Z' − yZ‖ is at least α²μ², under all of (5.2) or where α is at least C."""
    names = ("perturbations", "long-prompts")
    rows = {name: select(tables[name], admissible=True) for name in names}
    every = pd.concat(rows.values())
    share, large = (
        part.groupby("response")["a24_frequency"].min() for part in (every, every[every["alpha_over_C"] >= 1])
    )
    if min(len(share), len(large)) < len(RESPONSES):
        return Ruling(Verdict.UNTESTABLE)
    found = [
        number
        for name in names
        for response, least in rows[name].groupby("response")["a24_frequency"].min().items()
        for number in numbers(name, {"least share of data sets": (least, CERTAIN)}, f"response = {response}")
    ]
    shifted = {"the same where the shift is at least C": (large[SHIFTED], CERTAIN)}
    found += numbers("perturbations", shifted, f"response = {SHIFTED}")
    verdict = reads(share[LEFT] >= CERTAIN, corrected=share[SHIFTED] >= CERTAIN, narrower=large[SHIFTED] >= CERTAIN)
    return Ruling(verdict, tuple(found))
