"""Verdicts on Figure 2, on Theorem 1.1 (high dimension) and on what section 1.1 says of both of its halves."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead import agreement
from chapters.noisyhead.high_dimensional import measure
from chapters.noisyhead.high_dimensional.measure import HALVED, PRINTED
from companion import _fits
from companion.judging import growth
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, pick, select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.prompts import PromptModel

# ---- Bounds ----
# Verdicts on Theorem 4.2(ii) and on (A.18) and (A.19), the steps of its proof.

COMPARABLE = 1.0  # G²/λ up to which η₀λ is of the order of one


class Growing(NamedTuple):
    """An axis, and the power of its size by which the left side outgrows the right."""

    axis: str
    power: float


NOWHERE = Growing("", -np.inf)


def grows_fastest(rows: pd.DataFrame, left: str = "left", right: str = "right") -> Growing:
    """The axis along which left/right grows fastest; one of a single size is no axis."""
    found = [Growing(str(axis), growth.power(own, "size", left, right)) for axis, own in rows.groupby("axis")]
    return max((g for g in found if not np.isnan(g.power)), key=lambda g: g.power, default=NOWHERE)


def lost(name: str, worst: Growing, table: str, row: str = "") -> Number:
    """The largest power by which a left side outgrows its right side."""
    return Number(name, worst.power, None, LOST_POWER, table, f"{row}axis = {worst.axis}")


def comparable(rows: pd.DataFrame) -> pd.Series:
    """Where λ is not below the order of G², so that η₀λ is of the order of one."""
    return rows["feature_over_penalty"] <= COMPARABLE


class Floor(NamedTuple):
    """What no step removes at the longest prompts, over (4.4); whether that is beyond doubt and grows like a power."""

    ratio: float
    stays: bool


def floor(rows: pd.DataFrame) -> Floor:
    """One part of the rows on long prompts."""
    last = rows.nlargest(1, "N").iloc[0]
    return Floor(last["floor"] / last["bound_44"], growth.stays(rows, "N", "floor", "bound_44", "standard_error"))


class Sides(NamedTuple):
    """What the tables say of Theorem 4.2(ii).

    Args:
        path: power of N in measured over claimed, simulated at D = L = √N.
        printed, halved: where left over right grows fastest, λ ≳ G², with λ and with λ/2 in the update.
        small: the same, with λ/2, where λ is smaller. at_rest: left over right at ε = ∞ and the largest r, by update.
        floors: what no step removes, by part, for long prompts.
    """

    path: float
    printed: Growing
    halved: Growing
    small: Growing
    at_rest: dict[str, float]
    floors: dict[str, Floor]

    @property
    def broken(self) -> bool:
        """Whether a power is lost where the theorem should hold with λ/2 in the update."""
        return self.path > LOST_POWER_SIMULATED or self.halved.power > LOST_POWER or self.at_rest[HALVED] > 1

    @property
    def slips(self) -> bool:
        """Whether the update needs λ/2."""
        return self.printed.power > LOST_POWER or self.at_rest[PRINTED] > 1 or self.floors["minimiser"].stays

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All of it as data."""
        return (
            Number("power of N in the simulated cost over (4.4)", self.path, None, LOST_POWER_SIMULATED, "both-sides"),
            lost("power of the cost over (4.4) with half the penalty, at most", self.halved, "regime-axes"),
            lost("the same with the penalty as printed, at most", self.printed, "regime-axes"),
            lost("the same as the penalty tends to 0, which Algorithm 1 excludes", self.small, "regime-axes"),
            *(
                Number("noiseless cost over (4.4) at the largest r", value, None, 1.0, "progress", f"update = {update}")
                for update, value in self.at_rest.items()
            ),
            *(
                Number("what no step removes over (4.4), longest prompts", ratio, None, 1.0, "narrow", f"part = {part}")
                for part, (ratio, _) in self.floors.items()
            ),
        )


def largest_ratios(sides: pd.DataFrame) -> pd.DataFrame:
    """By N, the largest left over right of (4.4), constants one, of all r, λ and methods."""
    ratio = (sides["excess_risk"] / sides["bound"]).groupby(sides["N"]).max()
    return pd.DataFrame({"N": ratio.index, "left": ratio.to_numpy(), "right": 1.0})


def _evidence(tables: Tables) -> Sides:
    regimes = tables["regime-axes"]
    inside = comparable(regimes)
    ends = {str(update): pick(rows.nlargest(1, "r")) for update, rows in tables["progress"].groupby("update")}
    return Sides(
        path=growth.power(largest_ratios(tables["both-sides"]), "N"),
        printed=_over_budgets(regimes[inside], "risk_printed"),
        halved=_over_budgets(regimes[inside], "risk_halved"),
        small=_over_budgets(regimes[~inside], "risk_halved"),
        at_rest={update: float(row["excess_risk"] / row["bound"]) for update, row in ends.items()},
        floors={str(part): floor(rows) for part, rows in tables["narrow"].groupby("part")},
    )


def _over_budgets(rows: pd.DataFrame, left: str) -> Growing:
    """The axis along which left over (4.4) grows fastest, at the fixed ε or at ε = T."""
    found = [grows_fastest(own, left, "bound_44") for _, own in rows.groupby("budget")]
    return max(found, key=lambda worst: worst.power, default=NOWHERE)


@judges("noisyhead/theorem-4.2ii")
def theorem_42ii(tables: Tables) -> Ruling:
    """(4.4) at D = L = √N in simulation; along each size in closed form; and where prompts are long.

    That it is lost as λ tends to 0 is no fault of the theorem: Algorithm 1 asks for λ ≥ c > 0.
    """
    found = _evidence(tables)
    long = found.floors["projection"]
    mended = not found.broken and not long.stays
    verdict = reads(
        printed=mended and not found.slips,
        corrected=mended,
        narrower=not found.broken,
        decided=not np.isnan(found.path),
    )
    grounds = "both conditions" if long.stays and found.slips else ""
    return Ruling(verdict, found.numbers, grounds=grounds)


@judges("noisyhead/equation-a.18")
def equation_a18(tables: Tables) -> Ruling:
    """The descent part of (4.4)."""
    return _step(tables, measure.DESCENT_STEP, 0)


@judges("noisyhead/equation-a.19")
def equation_a19(tables: Tables) -> Ruling:
    """The noise part of (4.4); its last line has ν³ where the theorem has ν⁵."""
    return _step(tables, measure.NOISE_STEP, 2)


def _step(tables: Tables, step: str, lost_variances: int) -> Ruling:
    """Whether left/right of a step of the proof is bounded along each size, as printed or with ν to a higher power.

    A λ that tends to 0 does not count: Algorithm 1 asks for λ ≥ c > 0.
    """
    rows, row = select(tables["proof-steps"], step=step), f"step = {step}, "
    mended = rows.assign(right=rows["right"] * rows["response_variance"] ** lost_variances)
    inside = comparable(rows)
    printed, kept, small = (grows_fastest(r) for r in (rows[inside], mended[inside], mended[~inside]))
    found = (
        lost("power of left over right, at most", printed, "proof-steps", row),
        *[lost(f"the same with ν to the power {3 + lost_variances}", kept, "proof-steps", row)] * (lost_variances > 0),
        lost("the same as the penalty tends to 0, which Algorithm 1 excludes", small, "proof-steps", row),
    )
    bounded = kept.power <= LOST_POWER
    verdict = reads(printed=bounded and not printed.power > LOST_POWER, corrected=bounded, decided=kept != NOWHERE)
    return Ruling(verdict, found)


# ---- Judges ----

POWER = 0.05  # within which an exponent at the largest N is that power
HALF = 0.5  # the power of N that section 1.1 speaks of
START_DOMINATES = 0.5  # share of the excess risk above which it is that of Γ⁰


@judges("noisyhead/figure-2")
def figure_2(tables: Tables) -> Ruling:
    """Does the risk fall with N and ε, more slowly than in low dimension, and what is it that falls?"""
    own = select(tables["figure-2"], setting="published")
    private, found = select(own, method="noisyhead"), agreement.agreements(tables["comparison"])
    told = (*_start_numbers(tables), _least(own), *agreement.numbers(found))
    rising = _rising(private)
    if not rising and _hidden(private):
        return Ruling(Verdict.UNTESTABLE, told)
    missed = {setting for setting, agreed in found.items() if not agreed.complete}
    slow = not rising and "published" not in missed and _falls_slower(tables, "random")
    share = start_share(tables["starts"])
    of_the_start = slow and share > START_DOMINATES and not _falls_slower(tables, "zero")
    own_slow = slow and not of_the_start
    verdict = reads(printed=own_slow and "printed" not in missed, corrected=own_slow, narrower=of_the_start)
    return Ruling(verdict, told, {"percent": 100 * share})


def _rising(private: pd.DataFrame) -> bool:
    """Whether the risk rises beyond the allowed error: between neighbouring N at some ε, or the ends in ε at some N."""
    scores = [agreement.trend(rows) for _, rows in private.groupby("N")]
    return not agreement.rises(private).empty or bool((np.concatenate(scores) > CONSISTENT).any())


def _hidden(private: pd.DataFrame) -> bool:
    """Whether there are too few trials, sizes or budgets to show a trend."""
    return not several(private["N"]) or bool((agreement.trend(private) > -CONSISTENT).any())


def start_share(starts: pd.DataFrame) -> float:
    """Share of the excess risk, at the largest N and ε, that is gone when Γ⁰ = 0."""
    last = select(starts, method="noisyhead", N=starts["N"].max(), epsilon=starts["epsilon"].max())
    risk = last.set_index("start")["excess_risk"]
    return float(1 - risk["zero"] / risk["random"])


def start_slopes(starts: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent in N of the excess risk at the largest ε, from each start; none for a single N."""
    largest = select(starts, method="noisyhead", epsilon=starts["epsilon"].max())
    rows = []
    for start, own in largest.groupby("start"):
        if several(own["N"]):
            exponent, error = _fits.power_law(own["N"], own["excess_risk"], own["standard_error"])
            rows.append({"start": start, "exponent": exponent, "standard_error": error})
    return pd.DataFrame(rows, columns=["start", "exponent", "standard_error"])


def low_exponent(powers: pd.DataFrame, N: float) -> float:
    """The power of N with which the noise falls in low dimension at the first size of the closed form from N on."""
    noise = select(powers, regime=measure.LOW, quantity=measure.NOISE).sort_values("N")
    return float(noise.loc[noise["N"] >= N, "exponent"].iloc[0])


def _falls_slower(tables: Tables, start: str) -> bool:
    """Whether the risk from this start falls more slowly than the noise in low dimension, beyond doubt."""
    slope = pick(start_slopes(tables["starts"]), start=start)
    low = low_exponent(tables["powers"], tables["starts"]["N"].max())
    return bool(slope["exponent"] - CONSISTENT * slope["standard_error"] > low)


def _start_numbers(tables: Tables) -> tuple[Number, ...]:
    starts = tables["starts"]
    low, largest = low_exponent(tables["powers"], starts["N"].max()), f"epsilon = {starts['epsilon'].max():g}"
    slopes = {
        f"power of N in the excess risk from the {r.start} start": {
            "value": r.exponent,
            "error": r.standard_error,
            "against": low,
            "row": f"start = {r.start}, {largest}",
        }
        for r in start_slopes(starts).itertuples()
    }
    share = (start_share(starts), START_DOMINATES, f"N = {starts['N'].max()}, {largest}")
    return numbers("starts", {"share of the excess risk that the random start makes": share} | slopes)


def _least(own: pd.DataFrame) -> Number:
    trivial = select(own, method="zero").set_index("N")["excess_risk"]
    private = select(own, method="noisyhead")
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    name = "least excess risk over that of always predicting 0"
    return Number(name, least, None, 1.0, "figure-2", "setting = published")


def at_largest(tables: Tables, regime: str, quantity: str, name: str, against: float | None = None) -> Number:
    """A quantity's local exponent at the largest N of the closed form."""
    where = {"regime": regime, "quantity": quantity, "N": tables["powers"]["N"].max()}
    return cite(name, tables, "powers", "exponent", against=against, **where)


@judges("noisyhead/theorem-1.1-high")
def theorem_11_high(tables: Tables) -> Ruling:
    """Is the cost of privacy below D²(NL)⁻² log(1/δ)/ε², for N ≲ D², L ≲ D and ε up to the largest private one?

    It is vacuous if the head that always predicts 0 meets this rate, too, by the same criterion.
    """
    a = measure
    claimed = at_largest(tables, a.HIGH, a.RATE_11, "power of N that is claimed")
    bare = at_largest(tables, a.HIGH, a.BARE, "power of N in the noise, its logarithms divided out", claimed.value)
    whole = at_largest(tables, a.HIGH, a.AT_T, "power of N in the excess risk over the claim, at ε = T", 0.0)
    fixed, largest = (_along_paths(tables["regime-axes"], budget) for budget in (measure.FIXED, measure.LARGEST))
    found = (
        *(bare, whole),
        lost("power of the cost over the claim at fixed ε, at most", fixed, "regime-axes"),
        lost("power of the cost over the claim at ε = T, at most", largest, "regime-axes"),
    )
    bounded = bare.value <= claimed.value + POWER and fixed.power <= LOST_POWER
    to_the_end = whole.value <= POWER and largest.power <= LOST_POWER
    trivial = [_along_paths(with_zero(tables["regime-axes"]), b, "zero_gap") for b in (measure.FIXED, measure.LARGEST)]
    worst = max(trivial, key=lambda found: found.power)
    zero = lost("the same for always predicting 0, at most", worst, "regime-axes")
    verdict = reads(printed=bounded and to_the_end, narrower=bounded)
    return Ruling(verdict, (*found, zero), {}, vacuous=verdict != Verdict.FAILS and worst.power <= LOST_POWER)


def _along_paths(regimes: pd.DataFrame, budget: str, left: str = "error_gap", right: str = "rate_11") -> Growing:
    """Where a side outgrows another fastest of all paths on which N ≲ D² and L ≲ D."""
    paths = regimes[regimes["axis"].isin(list(measure.PATHS))]
    return grows_fastest(select(paths, budget=budget), left, right)


def with_zero(regimes: pd.DataFrame) -> pd.DataFrame:
    """The rows with what always predicting 0 has: its excess risk and its excess in prediction error over Γ*."""
    places = [(PromptModel(int(r.D), int(r.L)), r.penalty) for r in regimes.itertuples()]
    risk = np.array([population.zero_excess_risk(*place) for place in places])
    first_order = np.array([2 * population.ridge_scale(*place) / place[0].D for place in places])
    return regimes.assign(zero_risk=risk, zero_gap=first_order - risk)


@judges("noisyhead/section-1.1-formal")
def section_11_formal(tables: Tables) -> Ruling:
    """Does (4.4), which bounds a squared difference of predictions, give Theorem 1.1's rate, and for which cost?

    Always predicting 0 shows the difference: its excess prediction error is of first order, its excess risk of second.
    """
    regimes = with_zero(tables["regime-axes"])
    paths = [_along_paths(regimes, budget, "bound_44") for budget in (measure.FIXED, measure.LARGEST)]
    worst = max(paths, key=lambda found: found.power)
    apart = _along_paths(regimes, measure.FIXED, "zero_gap", "zero_risk")
    found = (
        lost("power of (4.4) over the rate of Theorem 1.1, at most", worst, "regime-axes"),
        lost("power of the difference of errors over the squared difference, at most", apart, "regime-axes"),
    )
    follows, same = worst.power <= LOST_POWER, apart.power <= LOST_POWER
    return Ruling(reads(printed=follows and same, narrower=follows), found)


@judges("noisyhead/section-1.1-regimes")
def section_11(tables: Tables) -> Ruling:
    """Do the two rates of Theorem 1.1 differ by √N at L = √N, and D = √N in high dimension, and in which direction?"""
    a = measure
    low = at_largest(tables, a.LOW, a.RATE_11, "power of N in the low-dimensional bound")
    high = at_largest(tables, a.HIGH, a.RATE_11, "power of N in the high-dimensional bound", low.value)
    factor = high.value - low.value
    divides, multiplies = (abs(factor - power) <= POWER for power in (-HALF, HALF))
    return Ruling(reads(printed=divides, corrected=multiplies), (low, high), {"low": low.value, "high": high.value})


# ---- Lemmas ----
# Verdicts on Lemmas A.1 to A.3 and on the tail that stands before them.

IMPROBABLE = 1e-4  # probability under the lemma below which its failures contradict it
SIZES = ("N", "L", "D")


@judges("noisyhead/lemma-a.1")
def lemma_a1(tables: Tables) -> Ruling:
    """Lemma A.1: a union bound gives the constant √2."""
    return _lemma(tables["lemmas"], "A.1")


@judges("noisyhead/lemma-a.2")
def lemma_a2(tables: Tables) -> Ruling:
    """Lemma A.2: the moment generating function gives the constant √2."""
    return _lemma(tables["lemmas"], "A.2")


@judges("noisyhead/lemma-a.3")
def lemma_a3(tables: Tables) -> Ruling:
    """Lemma A.3 where N ≥ log(1/κ), and its constant at N = 1 far in the tail."""
    lemmas, tail = tables["lemmas"], tables["lemma-a3-tail"].sort_values("D")
    many = _lemma(lemmas[lemmas["N"] >= -np.log(lemmas["kappa"])], "A.3")
    grows, last = growth.power(tail, "D", "constant_A3", ""), tail.iloc[-1]
    named = {
        "constant needed for a single prompt": (last["constant_A3"], last["constant_A2_form"], f"D = {last['D']:.0f}"),
        "power of D that it grows with": (grows, LOST_POWER, ""),
    }
    holds, lost = many.verdict == Verdict.HOLDS, grows > LOST_POWER
    found = (*many.numbers, *numbers("lemma-a3-tail", named))
    return Ruling(reads(printed=holds and not lost, narrower=holds), found, {"constant": last["constant_A3"]})


def _lemma(lemmas: pd.DataFrame, name: str) -> Ruling:
    """Whether one constant serves the lemma's form: √2 in every cell, or another that grows with no size."""
    rows = select(lemmas, lemma=name)
    broken, sets = int(rows["fails_at_root_2"].sum()), int(rows["data_sets"].sum())
    chance = stats.binom.sf(rows["fails_at_root_2"] - 1, rows["data_sets"], rows["kappa"])
    size, power = max(_powers(rows).items(), key=lambda item: item[1])
    named = {
        "data sets broken with the constant √2": (broken, sets),
        "least chance of so many under the lemma": (chance.min(), IMPROBABLE),
        "least constant needed": rows["constant"].min(),
        "largest constant needed": (rows["constant"].max(), np.sqrt(2)),
        f"power of {size} in the constant": (power, LOST_POWER),
    }
    as_often = bool((chance >= IMPROBABLE).all())
    verdict = reads(printed=as_often or power <= LOST_POWER)
    quoted, grounds = {"broken": broken, "sets": sets}, "" if as_often else "another constant"
    return Ruling(verdict, numbers("lemmas", named, f"lemma = {name}"), quoted, grounds)


def _powers(rows: pd.DataFrame) -> dict[str, float]:
    """The powers of N, L and D in the constant that the data sets need, by least squares on log axes."""
    sizes = np.log(rows[list(SIZES)].to_numpy(float))
    design = np.column_stack([np.ones(len(rows)), sizes])
    fitted = np.linalg.lstsq(design, np.log(rows["constant"].to_numpy()), rcond=None)[0]
    return dict(zip(SIZES, fitted[1:].tolist()))


@judges("noisyhead/tail-before-lemma-a.2")
def tail_before_lemma_a2(tables: Tables) -> Ruling:
    """P(|aᵀ Σ x_i| > √(L/D) t) over e^{−t²} and over 2e^{−t²/2}, along t at each D and L."""
    tail = tables["sum-tail"]
    seen = tail[tail["probability"] > 0]
    lost = max(growth.power(own, "t", "over_printed", "") for _, own in _several(seen))
    printed, halved = (seen.loc[seen[column].idxmax()] for column in ("over_printed", "over_halved"))
    named = {
        "power of t in probability over the printed tail, at most": (lost, LOST_POWER, ""),
        "probability over the printed tail, at most": (printed["over_printed"], 1.0, _place(printed)),
        "probability over twice the tail with half the exponent": (halved["over_halved"], 1.0, _place(halved)),
    }
    verdict = reads(printed=lost <= LOST_POWER, corrected=halved["over_halved"] <= 1)
    return Ruling(verdict, numbers("sum-tail", named))


def _several(seen: pd.DataFrame) -> list[tuple[object, pd.DataFrame]]:
    """The places (D, L) with the tails at several levels t."""
    return [(place, own) for place, own in seen.groupby(["D", "L"]) if len(own) > 1]


def _place(row: pd.Series) -> str:
    return f"D = {row['D']:.0f}, L = {row['L']:g}, t = {row['t']:g}"
