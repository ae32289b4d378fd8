"""Verdicts on Figure 2, on Theorem 1.1 (high dimension), its second half 4.2(ii) and its proof, and on the lemmas."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead import agreement
from chapters.noisyhead.high_dimensional import measure
from chapters.noisyhead.high_dimensional.measure import FIXED, HALVED, HIGH, LARGEST, LOW, PRINTED, RATE_11
from companion import _fits
from companion.judging import growth
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import pick, select
from companion.judging.tolerances import Declared, Relative
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.prompts import PromptModel

# ---- Theorem 4.2(ii) and the steps of its proof ----

COMPARABLE = 1.0  # G²/λ up to which η₀λ is of the order of one


class Growing(NamedTuple):
    """An axis, and the power of its size by which the left side outgrows the right."""

    axis: str
    power: float


NOWHERE = Growing("", -np.inf)


def grows_fastest(rows: pd.DataFrame, left: str = "left", right: str = "right") -> Growing:
    """The axis along which left/right grows fastest; one of a single size is no axis."""
    every = [Growing(str(axis), growth.power(own, "size", left, right)) for axis, own in rows.groupby("axis")]
    return max((g for g in every if not np.isnan(g.power)), key=lambda g: g.power, default=NOWHERE)


def bounded(found: Record, name: str, worst: Growing, table: str = "regime-axes", row: str = "") -> bool:
    """Keep the largest power by which a left side outgrows its right side, and say whether it is none."""
    return found.at_most(name, worst.power, LOST_POWER, table=table, row=f"{row}axis = {worst.axis}")


def comparable(rows: pd.DataFrame) -> pd.Series:
    """Where λ is not below the order of G², so that η₀λ is of the order of one."""
    return rows["feature_over_penalty"] <= COMPARABLE


def largest_ratios(sides: pd.DataFrame) -> pd.DataFrame:
    """By N, the largest left over right of (4.4), constants one, of all r, λ and methods."""
    ratio = (sides["excess_risk"] / sides["bound"]).groupby(sides["N"]).max()
    return pd.DataFrame({"N": ratio.index, "left": ratio.to_numpy(), "right": 1.0})


@judges("noisyhead/theorem-4.2ii")
def theorem_42ii(found: Record) -> Ruling:
    """(4.4) at D = L = √N in simulation; along each size in closed form; and where prompts are long.

    That it is lost as λ tends to 0 is no fault of the theorem: Algorithm 1 asks for λ ≥ c > 0.
    """
    regimes = found["regime-axes"]
    inside, outside = regimes[comparable(regimes)], regimes[~comparable(regimes)]

    def worst(rows: pd.DataFrame, left: str) -> Growing:  # of the fixed ε and ε = T
        over = [grows_fastest(own, left, "bound_44") for _, own in rows.groupby("budget")]
        return max(over, key=lambda each: each.power, default=NOWHERE)

    name, path = "power of N in the simulated cost over (4.4)", growth.power(largest_ratios(found["both-sides"]), "N")
    found.number(name, path, against=LOST_POWER_SIMULATED, table="both-sides", row="")
    name = "power of the cost over (4.4) with half the penalty, at most"
    halved = bounded(found, name, worst(inside, "risk_halved"))
    printed = bounded(found, "the same with the penalty as printed, at most", worst(inside, "risk_printed"))
    name = "the same as the penalty tends to 0, which Algorithm 1 excludes"
    bounded(found, name, worst(outside, "risk_halved"))
    above, stays = {}, {}
    for update, rows in found["progress"].groupby("update"):
        end, name = pick(rows.nlargest(1, "r")), "noiseless cost over (4.4) at the largest r"
        ratio = end["excess_risk"] / end["bound"]
        above[update] = found.number(name, ratio, against=1.0, table="progress", row=f"update = {update}") > 1
    for part, rows in found["narrow"].groupby("part"):
        last, name = rows.nlargest(1, "N").iloc[0], "what no step removes over (4.4), longest prompts"
        found.number(name, last["floor"] / last["bound_44"], against=1.0, table="narrow", row=f"part = {part}")
        stays[part] = growth.stays(rows, "N", "floor", "bound_44", "standard_error")
    kept = not (path > LOST_POWER_SIMULATED or not halved or above[HALVED])
    slips, long = not printed or above[PRINTED] or stays["minimiser"], stays["projection"]
    return found.ruling(
        kept and not long and not slips,
        corrected=kept and not long,
        narrower=kept,
        decided=not np.isnan(path),
        grounds="both conditions" if long and slips else "",
    )


@judges("noisyhead/equation-a.18", step=measure.DESCENT_STEP, lost_variances=0)
@judges("noisyhead/equation-a.19", step=measure.NOISE_STEP, lost_variances=2)
def proof_step(found: Record, step: str, lost_variances: int) -> Ruling:
    """The two parts of (4.4) in its proof: bounded along each size, as printed or with ν to a higher power?

    The noise part's last line has ν³ where the theorem has ν⁵. A λ that tends to 0 does not count: Algorithm 1 asks
    for λ ≥ c > 0.
    """
    table, row, rows = "proof-steps", f"step = {step}, ", select(found["proof-steps"], step=step)
    mended, inside = rows.assign(right=rows["right"] * rows["response_variance"] ** lost_variances), comparable(rows)
    kept = grows_fastest(mended[inside])
    printed = bounded(found, "power of left over right, at most", grows_fastest(rows[inside]), table, row)
    if lost_variances:
        bounded(found, f"the same with ν to the power {3 + lost_variances}", kept, table, row)
    name = "the same as the penalty tends to 0, which Algorithm 1 excludes"
    bounded(found, name, grows_fastest(mended[~inside]), table, row)
    corrected = kept.power <= LOST_POWER
    return found.ruling(corrected and printed, corrected=corrected, decided=kept != NOWHERE)


# ---- Figure 2 and Theorem 1.1 ----

POWER = 0.05  # within which an exponent at the largest N is that power
HALF = 0.5  # the power of N that section 1.1 speaks of
START_DOMINATES = 0.5  # share of the excess risk above which it is that of Γ⁰


@judges("noisyhead/figure-2")
def figure_2(found: Record) -> Ruling:
    """Does the risk fall with N and ε, more slowly than in low dimension, and what is it that falls?

    It rises if it does so beyond the allowed error: between neighbouring N at some ε, or the ends in ε at some N.
    """
    starts, own = found["starts"], select(found["figure-2"], setting="published")
    private, again = select(own, method="noisyhead"), agreement.agreements(found["comparison"])
    slopes, noisy = start_slopes(starts), start_slopes(starts, starts["epsilon"].min())
    noise = select(found["powers"], regime=LOW, quantity=measure.NOISE).sort_values("N")
    low = float(noise.loc[noise["N"] >= starts["N"].max(), "exponent"].iloc[0])  # of the noise in low dimension
    largest = f"epsilon = {starts['epsilon'].max():g}"
    last = select(starts, method="noisyhead", N=starts["N"].max(), epsilon=starts["epsilon"].max())
    risk = last.set_index("start")["excess_risk"]
    name, row = "share of the excess risk that the random start makes", f"N = {starts['N'].max()}, {largest}"
    share = found.number(name, 1 - risk["zero"] / risk["random"], against=START_DOMINATES, table="starts", row=row)
    for budget, of_budget in ((starts["epsilon"].max(), slopes), (starts["epsilon"].min(), noisy)):
        for r in of_budget.itertuples():
            name = f"power of N in the excess risk from the {r.start} start"
            row = f"start = {r.start}, epsilon = {budget:g}"
            found.number(name, r.exponent, error=r.standard_error, against=low, table="starts", row=row)
    trivial = select(own, method="zero").set_index("N")["excess_risk"]
    name, least = (
        "least excess risk over that of always predicting 0",
        private["excess_risk"] / private["N"].map(trivial),
    )
    found.number(name, least.min(), against=1.0, table="figure-2", row="setting = published")
    found.numbers += agreement.numbers(again)
    scores = np.concatenate([agreement.trend(rows) for _, rows in private.groupby("N")])
    rising = not agreement.rises(private).empty or bool((scores > CONSISTENT).any())
    if not rising and (not several(private["N"]) or (agreement.trend(private) > -CONSISTENT).any()):
        return found.ruling(decided=False)  # too few trials, sizes or budgets to show a trend

    def falls_slower(start: str, of_budget: pd.DataFrame = slopes) -> bool:
        slope = pick(of_budget, start=start)
        return bool(slope["exponent"] - CONSISTENT * slope["standard_error"] > low)

    missed = {setting for setting, agreed in again.items() if not agreed.complete}
    slow = not rising and "published" not in missed and falls_slower("random")
    of_the_start = slow and share > START_DOMINATES and not falls_slower("zero")
    own_slow = slow and not of_the_start and falls_slower("random", noisy)
    printed = own_slow and "printed" not in missed
    steepest = float(pick(noisy, start="random")["exponent"])
    return found.ruling(printed, corrected=own_slow, narrower=slow, percent=100 * share, noisy=steepest)


def start_slopes(starts: pd.DataFrame, epsilon: float | None = None) -> pd.DataFrame:
    """Fitted exponent in N of the excess risk, from each start, at the largest ε or another; none for a single N."""
    budget = starts["epsilon"].max() if epsilon is None else epsilon
    rows = []
    for start, own in select(starts, method="noisyhead", epsilon=budget).groupby("start"):
        if several(own["N"]):
            exponent, error = _fits.power_law(own["N"], own["excess_risk"], own["standard_error"])
            rows.append({"start": start, "exponent": exponent, "standard_error": error})
    return pd.DataFrame(rows, columns=["start", "exponent", "standard_error"])


def at_largest(found: Record, regime: str, quantity: str, name: str, against: float | None = None) -> float:
    """Keep a quantity's local exponent at the largest N of the closed form."""
    N = found["powers"]["N"].max()
    return found.cite(name, "exponent", table="powers", against=against, regime=regime, quantity=quantity, N=N)


def along_paths(regimes: pd.DataFrame, budget: str, left: str = "error_gap", right: str = "rate_11") -> Growing:
    """Where a side outgrows another fastest of all paths on which N ≲ D² and L ≲ D."""
    paths = regimes[regimes["axis"].isin(list(measure.PATHS))]
    return grows_fastest(select(paths, budget=budget), left, right)


def with_zero(regimes: pd.DataFrame) -> pd.DataFrame:
    """The rows with what always predicting 0 has: its excess risk and its excess in prediction error over Γ*."""
    places = [(PromptModel(int(r.D), int(r.L)), r.penalty) for r in regimes.itertuples()]
    risk = np.array([population.zero_excess_risk(*place) for place in places])
    first_order = np.array([2 * population.ridge_scale(*place) / place[0].D for place in places])
    return regimes.assign(zero_risk=risk, zero_gap=first_order - risk)


@judges("noisyhead/theorem-1.1-high")
def theorem_11_high(found: Record) -> Ruling:
    """Is the cost of privacy below D²(NL)⁻² log(1/δ)/ε², for N ≲ D², L ≲ D and ε up to the largest private one?

    It is vacuous if the head that always predicts 0 meets this rate, too, by the same criterion.
    """
    powers, regimes = found["powers"], with_zero(found["regime-axes"])
    claimed = pick(powers, regime=HIGH, quantity=RATE_11, N=powers["N"].max())["exponent"]
    bare = at_largest(found, HIGH, measure.BARE, "power of N in the noise, its logarithms divided out", claimed)
    whole = at_largest(found, HIGH, measure.AT_T, "power of N in the excess risk over the claim, at ε = T", 0.0)
    name = "power of the cost over the claim at fixed ε, at most"
    fixed = bounded(found, name, along_paths(regimes, FIXED))
    largest = bounded(found, "power of the cost over the claim at ε = T, at most", along_paths(regimes, LARGEST))
    worst = max((along_paths(regimes, b, "zero_gap") for b in (FIXED, LARGEST)), key=lambda each: each.power)
    vacuous = bounded(found, "the same for always predicting 0, at most", worst)
    narrower = bare <= claimed + POWER and fixed
    return found.ruling(narrower and whole <= POWER and largest, narrower=narrower, vacuous=vacuous)


@judges("noisyhead/section-1.1-formal")
def section_11_formal(found: Record) -> Ruling:
    """Does (4.4), which bounds a squared difference of predictions, give Theorem 1.1's rate, and for which cost?

    Always predicting 0 shows the difference: its excess prediction error is of first order, its excess risk of second.
    """
    regimes = with_zero(found["regime-axes"])
    worst = max((along_paths(regimes, b, "bound_44") for b in (FIXED, LARGEST)), key=lambda each: each.power)
    follows = bounded(found, "power of (4.4) over the rate of Theorem 1.1, with its logarithms, at most", worst)
    name = "power of the difference of errors over the squared difference, at most"
    same = bounded(found, name, along_paths(regimes, FIXED, "zero_gap", "zero_risk"))
    return found.ruling(follows and same, narrower=follows)


@judges("noisyhead/section-1.1-regimes")
def section_11(found: Record) -> Ruling:
    """Do the two rates of Theorem 1.1 differ by √N at L = √N, and D = √N in high dimension, and in which direction?"""
    low = at_largest(found, LOW, RATE_11, "power of N in the low-dimensional bound")
    high = at_largest(found, HIGH, RATE_11, "power of N in the high-dimensional bound", low)
    divides, multiplies = (abs(high - low - power) <= POWER for power in (-HALF, HALF))
    return found.ruling(divides, corrected=multiplies, low=low, high=high)


# ---- Lemmas A.1 to A.3 and the tail that stands before them ----

IMPROBABLE = 1e-4  # probability under the lemma below which its failures contradict it


def one_constant(found: Record, lemmas: pd.DataFrame, name: str) -> Ruling:
    """Whether √2 serves the lemma's form in every cell; if not, a constant that grows with a size refutes it.

    The powers of N, L and D in the constant that the data sets need are fitted together, on log axes.
    """
    rows, table, row = select(lemmas, lemma=name), "lemmas", f"lemma = {name}"
    broken, sets, sizes = int(rows["fails_at_root_2"].sum()), int(rows["data_sets"].sum()), ["N", "L", "D"]
    chance = stats.binom.sf(rows["fails_at_root_2"] - 1, rows["data_sets"], rows["kappa"])
    design = np.column_stack([np.ones(len(rows)), np.log(rows[sizes].to_numpy(float))])
    fitted = np.linalg.lstsq(design, np.log(rows["constant"].to_numpy()), rcond=None)[0]
    size, power = max(zip(sizes, fitted[1:].tolist()), key=lambda item: item[1])
    found.number("data sets broken with the constant √2", broken, against=sets, table=table, row=row)
    found.number("least chance of so many under the lemma", chance.min(), against=IMPROBABLE, table=table, row=row)
    found.number("least constant needed", rows["constant"].min(), table=table, row=row)
    found.number("largest constant needed", rows["constant"].max(), against=np.sqrt(2), table=table, row=row)
    grows = not found.at_most(f"power of {size} in the constant", power, LOST_POWER, table=table, row=row)
    as_often = bool((chance >= IMPROBABLE).all())
    return found.ruling(as_often, decided=as_often or grows, broken=broken, sets=sets)


@judges("noisyhead/lemma-a.1", name="A.1")
@judges("noisyhead/lemma-a.2", name="A.2")
def lemma(found: Record, name: str) -> Ruling:
    """A union bound gives A.1 the constant √2, and the moment generating function A.2."""
    return one_constant(found, found["lemmas"], name)


@judges("noisyhead/lemma-a.3")
def lemma_a3(found: Record) -> Ruling:
    """Lemma A.3 where N ≥ log(1/κ), and its constant at N = 1 far in the tail."""
    lemmas, table, tail = found["lemmas"], "lemma-a3-tail", found["lemma-a3-tail"].sort_values("D")
    holds = one_constant(found, lemmas[lemmas["N"] >= -np.log(lemmas["kappa"])], "A.3").verdict == Verdict.HOLDS
    last, name = tail.iloc[-1], "constant needed for a single prompt"
    needed, row = last["constant_A3"], f"D = {last['D']:.0f}"
    found.number(name, needed, against=last["constant_A2_form"], table=table, row=row)
    grows = growth.power(tail, "D", "constant_A3", "")
    found.number("power of D that it grows with", grows, against=LOST_POWER, table=table, row="")
    return found.ruling(holds and not grows > LOST_POWER, narrower=holds, constant=needed, dimension=last["D"])


@judges("noisyhead/tail-before-lemma-a.2")
def tail_before_lemma_a2(found: Record) -> Ruling:
    """P(|aᵀ Σ x_i| > √(L/D) t) over e^{−t²} and over 2e^{−t²/2}, along t at each D and L."""
    table, tail = "sum-tail", found["sum-tail"]
    seen = tail[tail["probability"] > 0]
    lost = max(growth.power(own, "t", "over_printed", "") for _, own in seen.groupby(["D", "L"]) if len(own) > 1)
    name = "power of t in probability over the printed tail, at most"
    printed = found.at_most(name, lost, LOST_POWER, table=table, row="")
    worst = {}
    for column, name in (
        ("over_printed", "probability over the printed tail, at most"),
        ("over_halved", "probability over twice the tail with half the exponent"),
    ):
        at = seen.loc[seen[column].idxmax()]
        row = f"D = {at['D']:.0f}, L = {at['L']:g}, t = {at['t']:g}"
        worst[column] = found.number(name, at[column], against=1.0, table=table, row=row)
    return found.ruling(printed, corrected=worst["over_halved"] <= 1)


# ---- How near this chapter's numbers come on another machine ----

TOLERANCES: Declared = {"powers": {"exponent": Relative(scale=1e-3)}}  # slopes of logarithms, some of them nearly 0
