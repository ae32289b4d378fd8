"""Verdicts on Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.low_dimensional import measure
from companion import _fits
from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT

IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows
POWER = 0.05  # within which an exponent at N = 1e30 is that power
WHAT_STAYS = {"floor": "bias of the projection", "minimiser": "distance between the two ridge solutions"}
SIZES = {"N": "the number of prompts", "L": "the length of prompts", "D": "the dimension"}


@judges("noisyhead/figure-1")
def figure_1(tables: Tables) -> Ruling:
    """Does the risk fall with N and with ε, and which settings give the published numbers?"""
    rows, found = select(tables["figure-1"], setting="published"), agreement.agreements(tables["comparison"])
    private = select(rows, method="noisyhead")
    scores, rises = agreement.trend(private), agreement.rises(private)
    capped = rises.merge(capped_cells(tables["noise-part"]), on=["epsilon", "N"])
    caps = {"of these, where the projection caps the noise": (len(capped), len(rises))}
    published, printed = (name not in found or found[name].complete for name in ("published", "printed"))
    wrong = bool((scores > CONSISTENT).any()) or len(capped) < len(rises)
    sure = scores.size > 0 and not (scores > -CONSISTENT).any()
    narrower = published and not wrong
    falls = narrower and rises.empty
    verdict = reads(printed=falls and printed, corrected=falls, narrower=narrower, decided=wrong or sure)
    every = (*_course(rows, scores, rises), *numbers("noise-part", caps, ""), *agreement.numbers(found))
    return Ruling(verdict, every, _where_it_rises(rises))


def _course(rows: pd.DataFrame, scores: np.ndarray, rises: pd.DataFrame) -> tuple[Number, ...]:
    """How low the risk of the published setting is, how surely it falls, and how often it rises."""
    private, trivial = select(rows, method="noisyhead"), select(rows, method="zero").set_index("N")["excess_risk"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    named = {
        "least excess risk over that of always predicting 0": (least, 1.0),
        "weakest fall, in standard errors": (-scores.max() if scores.size else 0.0, CONSISTENT, ""),
        "steps in N at which the risk rises": (len(rises), 0.0),
    }
    return numbers("figure-1", named, "setting = published")


def _where_it_rises(rises: pd.DataFrame) -> dict[str, Any]:
    """The cells at which the risk rises, and the factor of the surest rise; nothing where it does not rise."""
    if rises.empty:
        return {}
    worst = rises.loc[rises["score"].idxmax()]
    places = ", ".join(f"$\\varepsilon = {r.epsilon:g}$ from $N = {r.N:.0f}$" for r in rises.itertuples())
    return {"factor": worst["last"] / worst["first"], "places": places}


@judges("noisyhead/section-6.1-hyperparameters")
def section_61_hyperparameters(tables: Tables) -> Ruling:
    """Do κ and η₀ of Figure 1 meet the conditions of Theorem 4.1, or miss them by constants only?"""
    rows = select(tables["conditions"], setting="printed").sort_values("N")
    promised, rate = rows["probability"].max(), rows["eta0_over_limit"]
    grows = growth.power(rows, "N", "eta0_over_limit", "")
    named = {
        "largest probability that Theorem 4.1 promises": (promised, 0.0),
        "least learning rate over the largest that it allows": (rate.min(), 1.0),
        "largest learning rate over the largest that it allows": (rate.max(), 1.0),
        "power of N with which this ratio grows": (grows, LOST_POWER_SIMULATED),
    }
    met = bool(promised > 0 and rate.max() < 1)
    constant = grows <= LOST_POWER_SIMULATED
    verdict = reads(printed=met, corrected=constant, decided=met or not np.isnan(grows))
    return Ruling(verdict, numbers("conditions", named, "setting = printed"), {"least": rate.min(), "rate": rate.max()})


def capped_cells(noise: pd.DataFrame) -> pd.DataFrame:
    """N and ε of the published cells in which Π_R holds the noise back."""
    capped = noise.drop(idle_rows(noise).index)
    return select(capped, setting="published")[["epsilon", "N"]]


@judges("noisyhead/theorem-1.1-low")
def theorem_11_low(tables: Tables) -> Ruling:
    """The cost of privacy N^{-3/2}L^{-2} up to logarithms: the noise part's power, and what is left without noise."""
    floors, exponents = tables["floors"], tables["exponents"].sort_values("N")
    last, far = exponents.groupby("algorithm")["exponent"].last(), _last_projection(floors)
    claimed, bare, idle = (last[name] for name in (measure.CLAIMED, measure.OWN_LOGS, measure.FIXED))
    powers = {
        "power of N in the noise, its logarithms divided out": (bare, claimed),
        "the same with a projection that changes nothing": (idle, claimed),
    }
    gap, error = far["test_error_gap"], far["gap_error"]
    costs = {"test-error gap that the projection leaves": {"value": gap, "error": error, "against": 0.0}}
    found = (
        *numbers("exponents", powers, f"N = {exponents['N'].max():.0e}"),
        *numbers("floors", costs, f"part = projection, L = {far['L']:.0f}"),
        *_fitted(tables["noise-part"]),
    )
    slow, stays = bare > claimed + POWER, projection_stays(floors, "test_error_gap", "gap_error")
    quoted = {"beyond": _last_within(floors, "test_error_gap")}
    return Ruling(reads(printed=not (slow or stays)), found, quoted, "slow noise" if slow else "")


@judges("noisyhead/theorem-4.2i")
def theorem_42i(tables: Tables) -> Ruling:
    """At ε = ∞ the bound (4.3) tends to 0 with N and with L, for any constant; does the left side?"""
    floors, axes = tables["floors"], tables["floor-axes"]
    lost = {left: growth.powers(axes, {"N": "N", "L": "L"}, left, "bound") for left in ("floor", "minimiser")}
    powers = {
        f"power of {size} in the {WHAT_STAYS[left]} over the bound": (power, LOST_POWER, f"axis = {size}")
        for left, found in lost.items()
        for size, power in found.items()
    }
    stays = max(lost["floor"].values()) > LOST_POWER or projection_stays(floors)
    verdict = reads(
        printed=not stays and not max(lost["minimiser"].values()) > LOST_POWER,
        corrected=not stays,
        decided=not any(np.isnan(power) for power, *_ in powers.values()),
    )
    quoted = {"lasting": _lasting(lost["floor"]), "beyond": _last_within(floors, "floor")}
    return Ruling(verdict, (*_left_over(tables), *numbers("floor-axes", powers)), quoted)


def _last_within(floors: pd.DataFrame, left: str) -> float:
    """The last N of the table before what Π_G leaves first exceeds (4.3), constant one and ε = ∞; else infinity."""
    rows = select(floors, part="projection").sort_values("N")
    over = rows[left] > rows["bound"]
    return float(rows["N"].where(~over.cummax(), 0).max()) if over.any() else np.inf


def _left_over(tables: Tables) -> tuple[Number, ...]:
    """What descent without noise leaves in the published setting, and the bias of the projection, at the largest N."""
    descent = select(tables["figure-1"], setting="published", method="gradient-descent").sort_values("N").iloc[-1]
    far = _last_projection(tables["floors"])
    rest = {"value": descent["excess_risk"], "error": descent["standard_error"], "against": 0.0}
    bias = {"value": far["floor"], "error": far["standard_error"], "against": far["bound"]}
    descends = {"excess risk of descent without noise": rest}
    projects = {"bias of the projection": bias, "excess risk of always predicting 0": far["zero_risk"]}
    return (
        *numbers("figure-1", descends, f"setting = published, N = {descent['N']:.0f}"),
        *numbers("floors", projects, f"part = projection, L = {far['L']:.0f}"),
    )


def _lasting(powers: dict[str, float]) -> str:
    """Along which sizes the bound falls faster than the projection's bias, in words; N if simulation alone says so."""
    sizes = [size for size, power in powers.items() if power > LOST_POWER] or ["N"]
    return " or ".join({"N": "more", "L": "longer"}[size] for size in sizes)


@judges("noisyhead/section-1.1-common-weight")
def section_11_common_weight(tables: Tables) -> Ruling:
    """With one w in all prompts and privacy of a prompt, does the cost have the expected rate, or exceed it always?"""
    noises = (measure.CONSTANT, measure.SMALL, measure.NONE)
    rows, *quieter = (select(tables["common-weight"], label_noise=noise) for noise in noises)
    ratios = [("lower", "expected"), ("upper", "expected"), ("upper", "claimed")]
    excluded, attained, own = (growth.power(rows, "N", left, right) for left, right in ratios)
    small, none = (growth.power(few, "N", "upper", "expected") for few in quieter)
    run = rows.dropna(subset=["cost"])
    powers = {
        "power of N in the least cost of any private release over the expected rate": (excluded, LOST_POWER),
        "power of N in the cost of our mechanism over the expected rate": (attained, LOST_POWER),
        "the same over the rate of Theorem 1.1": (own, LOST_POWER),
        "power of N in the cost of our mechanism over the expected rate, label noise L^{-1/2}": (small, LOST_POWER),
        "the same without label noise": (none, LOST_POWER),
        "measured cost over its closed form, largest": ((run["cost"] / run["upper"]).max(), 1.0),
        "power of N in the least cost": growth.power(rows, "N", "lower", ""),
    }
    quiet = max(small, none) <= LOST_POWER
    printed = quiet and attained <= LOST_POWER
    verdict = reads(printed, narrower=quiet, decided=bool(printed or excluded > LOST_POWER))
    return Ruling(verdict, numbers("common-weight", powers, "L = √N"), grounds="" if own <= LOST_POWER else "slower")


@judges("noisyhead/equation-a.15")
def equation_a15(tables: Tables) -> Ruling:
    """The descent part of the low-dimensional bound."""
    return _step(tables, "(A.15)")


@judges("noisyhead/equation-a.16")
def equation_a16(tables: Tables) -> Ruling:
    """The noise part of the low-dimensional bound, as the proof first writes it."""
    return _step(tables, "(A.16)")


@judges("noisyhead/equation-a.17")
def equation_a17(tables: Tables) -> Ruling:
    """The noise part of the low-dimensional bound, with CG + RG² replaced, for which it matters whether L ≲ N."""
    return _step(tables, "(A.17)", short=True)


def _step(tables: Tables, step: str, short: bool = False) -> Ruling:
    """Whether left/right of a step of the proof stays bounded along N, along L and along N with the largest D.

    Where ``short``, growth beyond L = N alone makes the claim narrower.
    """
    rows = select(tables["proof-steps"], step=step)
    lost = growth.powers(rows, {"N": "N", "L": "L", "D": "N"})
    inside = growth.power(rows[(rows["axis"] == "L") & (rows["L"] <= rows["N"])], "L")
    named = {
        f"power of left over right along {name}": (lost[axis], LOST_POWER, f"step = {step}, axis = {axis}")
        for axis, name in SIZES.items()
    }
    if short:
        named["the same along the length up to the number of prompts"] = (
            inside,
            LOST_POWER,
            f"step = {step}, axis = L",
        )
    growing = [axis for axis, power in lost.items() if power > LOST_POWER]
    verdict = reads(
        printed=not growing,
        narrower=short and growing == ["L"] and not inside > LOST_POWER,
        decided=not any(np.isnan(power) for power in lost.values()),
    )
    return Ruling(verdict, numbers("proof-steps", named))


def idle_rows(noise: pd.DataFrame) -> pd.DataFrame:
    """The rows in which Π_R plays no part."""
    return noise[noise["closed_form"] < IDLE * noise["limit_of_R"]]


def slopes(noise: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent of the noise part in N by setting and ε, rows with an idle Π_R; empty for a single N.

    ``without_logs`` is the exponent that is left once the factor log¹⁰(NL) of (4.3) is divided out.
    """
    rows = []
    for (setting, epsilon), g in idle_rows(noise).groupby(["setting", "epsilon"], sort=False):
        if growth.several(g["N"]):
            exponent, error = _fits.power_law(g["N"], g["noise_risk"], g["standard_error"])
            logs = np.log(g["N"] * np.sqrt(g["N"]).astype(int)) ** 10
            bare, _ = _fits.power_law(g["N"], g["noise_risk"] / logs, g["standard_error"] / logs)
            fit = {"exponent": exponent, "without_logs": bare, "standard_error": error, "sizes": len(g)}
            rows.append({"setting": setting, "epsilon": epsilon} | fit)
    return pd.DataFrame(rows, columns=["setting", "epsilon", "exponent", "without_logs", "standard_error", "sizes"])


def _fitted(noise: pd.DataFrame) -> tuple[Number, ...]:
    """The slope that the simulation shows in the published setting, at the ε with most sizes; none for a single N."""
    fitted = select(slopes(noise), setting="published")
    if fitted.empty:
        return ()
    best = fitted.loc[fitted["sizes"].idxmax()]
    slope = {"value": best["exponent"], "error": best["standard_error"]}
    row = f"setting = published, epsilon = {best['epsilon']:g}"
    return numbers("noise-part", {"fitted power of N in the simulated noise, with its logarithms": slope}, row)


def _last_projection(floors: pd.DataFrame) -> pd.Series:
    """The bias of Π_G at the largest N."""
    return pick(select(floors, part="projection").nlargest(1, "N"))


def projection_stays(floors: pd.DataFrame, left: str = "floor", error: str = "standard_error") -> bool:
    """Whether what Π_G leaves is beyond doubt at the largest N and grows like a power against the bound (4.3)."""
    return growth.stays(select(floors, part="projection"), "N", left, "bound", error)
