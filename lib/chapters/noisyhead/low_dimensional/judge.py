"""Verdicts on Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.low_dimensional.measure import CLAIMED, CONSTANT, FIXED, NONE, OWN_LOGS, SMALL
from companion import _fits
from companion.judging import growth
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import pick, select
from companion.judging.tolerances import Cases, Declared, Relative, Squares
from companion.judging.vocabulary import CONSISTENT

IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows
POWER = 0.05  # within which an exponent at N = 1e30 is that power
WHAT_STAYS = {"floor": "bias of the projection", "minimiser": "distance between the two ridge solutions"}


@judges("noisyhead/figure-1")
def figure_1(found: Record) -> Ruling:
    """Does the risk fall with N and with ε, and which settings give the published numbers?"""
    rows, agreed = select(found["figure-1"], setting="published"), agreement.agreements(found["comparison"])
    private, trivial = select(rows, method="noisyhead"), select(rows, method="zero").set_index("N")["excess_risk"]
    scores, rises = agreement.trend(private), agreement.rises(private)
    noise = found["noise-part"]
    held = select(noise.drop(idle_rows(noise).index), setting="published")[["epsilon", "N"]]
    capped, row = rises.merge(held, on=["epsilon", "N"]), "setting = published"
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    name = "least excess risk over that of always predicting 0"
    found.number(name, least, against=1.0, table="figure-1", row=row)
    fall = -scores.max() if scores.size else 0.0
    found.number("weakest fall, in standard errors", fall, against=CONSISTENT, table="figure-1", row="")
    found.number("steps in N at which the risk rises", len(rises), against=0.0, table="figure-1", row=row)
    name = "of these, where the projection caps the noise"
    found.number(name, len(capped), against=len(rises), table="noise-part", row="")
    found.numbers += agreement.numbers(agreed)
    published, printed = (name not in agreed or agreed[name].complete for name in ("published", "printed"))
    wrong = bool((scores > CONSISTENT).any()) or len(capped) < len(rises)
    sure = scores.size > 0 and not (scores > -CONSISTENT).any()
    narrower = published and not wrong
    falls, quoted = narrower and rises.empty, {}
    if len(rises):
        worst = rises.loc[rises["score"].idxmax()]
        places = ", ".join(f"$\\varepsilon = {r.epsilon:g}$ from $N = {r.N:.0f}$" for r in rises.itertuples())
        quoted = {"factor": worst["last"] / worst["first"], "places": places}
    return found.ruling(falls and printed, corrected=falls, narrower=narrower, decided=wrong or sure, **quoted)


@judges("noisyhead/section-6.1-hyperparameters")
def section_61_hyperparameters(found: Record) -> Ruling:
    """Do κ and η₀ of Figure 1 meet the conditions of Theorem 4.1, or miss them by constants only?"""
    rows = select(found["conditions"], setting="printed").sort_values("N")
    promised, rate = rows["probability"].max(), rows["eta0_over_limit"]
    grows = growth.power(rows, "N", "eta0_over_limit", "")
    named = {
        "largest probability that Theorem 4.1 promises": (promised, 0.0),
        "least learning rate over the largest that it allows": (rate.min(), 1.0),
        "largest learning rate over the largest that it allows": (rate.max(), 1.0),
        "power of N with which this ratio grows": (grows, LOST_POWER_SIMULATED),
    }
    for name, (value, against) in named.items():
        found.number(name, value, against=against, table="conditions", row="setting = printed")
    met, decided = promised > 0 and rate.max() < 1, not np.isnan(grows)
    constant = grows <= LOST_POWER_SIMULATED
    return found.ruling(met, corrected=constant, decided=met or decided, least=rate.min(), rate=rate.max())


@judges("noisyhead/theorem-1.1-low")
def theorem_11_low(found: Record) -> Ruling:
    """The cost of privacy N^{-3/2}L^{-2} up to logarithms: the noise part's power, and what is left without noise."""
    floors, exponents = found["floors"], found["exponents"].sort_values("N")
    last, far = exponents.groupby("algorithm")["exponent"].last(), last_projection(floors)
    claimed, bare, idle = (last[name] for name in (CLAIMED, OWN_LOGS, FIXED))
    name, row = "power of N in the noise, its logarithms divided out", f"N = {exponents['N'].max():.0e}"
    found.number(name, bare, against=claimed, table="exponents", row=row)
    name = "the same with a projection that changes nothing"
    found.number(name, idle, against=claimed, table="exponents", row=row)
    name, row = "test-error gap that the projection leaves", f"part = projection, L = {far['L']:.0f}"
    found.number(name, far["test_error_gap"], error=far["gap_error"], against=0.0, table="floors", row=row)
    fitted = select(slopes(found["noise-part"]), setting="published")
    if len(fitted):  # there is no slope for a single N
        best = fitted.loc[fitted["sizes"].idxmax()]
        name = "fitted power of N in the simulated noise, with its logarithms"
        row = f"setting = published, epsilon = {best['epsilon']:g}"
        found.number(name, best["exponent"], error=best["standard_error"], table="noise-part", row=row)
    slow, stays = bare > claimed + POWER, projection_stays(floors, "test_error_gap", "gap_error")
    since = first_beyond(floors, "test_error_gap")
    return found.ruling(not (slow or stays), grounds="slow noise" if slow else "", since=since)


@judges("noisyhead/theorem-4.2i")
def theorem_42i(found: Record) -> Ruling:
    """At ε = ∞ the bound (4.3) tends to 0 with N and with L, for any constant; does the left side?"""
    floors, far = found["floors"], last_projection(found["floors"])
    rest = select(found["figure-1"], setting="published", method="gradient-descent").sort_values("N").iloc[-1]
    name, row = "excess risk of descent without noise", f"setting = published, N = {rest['N']:.0f}"
    found.number(name, rest["excess_risk"], error=rest["standard_error"], against=0.0, table="figure-1", row=row)
    name, row = "bias of the projection", f"part = projection, L = {far['L']:.0f}"
    found.number(name, far["floor"], error=far["standard_error"], against=far["bound"], table="floors", row=row)
    found.number("excess risk of always predicting 0", far["zero_risk"], table="floors", row=row)
    lost = {left: growth.powers(found["floor-axes"], {"N": "N", "L": "L"}, left, "bound") for left in WHAT_STAYS}
    for left, words in WHAT_STAYS.items():
        for size, power in lost[left].items():
            name = f"power of {size} in the {words} over the bound"
            found.number(name, power, against=LOST_POWER, table="floor-axes", row=f"axis = {size}")
    stays = max(lost["floor"].values()) > LOST_POWER or projection_stays(floors)
    longer = [size for size, power in lost["floor"].items() if power > LOST_POWER] or ["N"]  # N by simulation alone
    return found.ruling(
        not stays and not max(lost["minimiser"].values()) > LOST_POWER,
        corrected=not stays,
        decided=not any(np.isnan(power) for powers in lost.values() for power in powers.values()),
        lasting=" or ".join({"N": "more", "L": "longer"}[size] for size in longer),
        since=first_beyond(floors, "floor"),
    )


@judges("noisyhead/section-1.1-common-weight")
def section_11_common_weight(found: Record) -> Ruling:
    """With one w in all prompts and privacy of a prompt, does the cost have the expected rate, or exceed it always?"""
    rows, *quieter = (select(found["common-weight"], label_noise=noise) for noise in (CONSTANT, SMALL, NONE))
    ratios = [("lower", "expected"), ("upper", "expected"), ("upper", "claimed")]
    excluded, attained, own = (growth.power(rows, "N", left, right) for left, right in ratios)
    small, none = (growth.power(few, "N", "upper", "expected") for few in quieter)
    run = rows.dropna(subset=["cost"])
    named = {
        "power of N in the least cost of any private release over the expected rate": (excluded, LOST_POWER),
        "power of N in the cost of our mechanism over the expected rate": (attained, LOST_POWER),
        "the same over the rate of Theorem 1.1": (own, LOST_POWER),
        "power of N in the cost of our mechanism over the expected rate, label noise L^{-1/2}": (small, LOST_POWER),
        "the same without label noise": (none, LOST_POWER),
        "measured cost over its closed form, largest": ((run["cost"] / run["upper"]).max(), 1.0),
        "power of N in the least cost": (growth.power(rows, "N", "lower", ""), None),
    }
    for name, (value, against) in named.items():
        found.number(name, value, against=against, table="common-weight", row="L = √N")
    quiet = max(small, none) <= LOST_POWER
    printed = quiet and attained <= LOST_POWER
    grounds = "" if own <= LOST_POWER else "slower"
    return found.ruling(printed, narrower=quiet, decided=printed or excluded > LOST_POWER, grounds=grounds)


@judges("noisyhead/equation-a.15", step="(A.15)")
@judges("noisyhead/equation-a.16", step="(A.16)")
@judges("noisyhead/equation-a.17", step="(A.17)", short=True)
def proof_step(found: Record, step: str, short: bool = False) -> Ruling:
    """Does left/right of a step of the proof stay bounded along N, along L and along N with the largest D?

    The steps are the descent part of the low-dimensional bound, the noise part as the proof first writes it, and that
    with CG + RG² replaced. For the last it matters whether L ≲ N: growth beyond L = N alone makes the claim narrower.
    """
    rows = select(found["proof-steps"], step=step)
    lost = growth.powers(rows, {"N": "N", "L": "L", "D": "N"})
    along = {"N": "the number of prompts", "L": "the length of prompts", "D": "that number with the largest D"}
    for axis, size in along.items():
        name, row = f"power of left over right along {size}", f"step = {step}, axis = {axis}"
        found.number(name, lost[axis], against=LOST_POWER, table="proof-steps", row=row)
    growing = [axis for axis, power in lost.items() if power > LOST_POWER]
    narrower = short and growing == ["L"]
    if short:
        inside = growth.power(rows[(rows["axis"] == "L") & (rows["L"] <= rows["N"])], "L")
        name, row = "the same along the length up to the number of prompts", f"step = {step}, axis = L"
        narrower &= not found.number(name, inside, against=LOST_POWER, table="proof-steps", row=row) > LOST_POWER
    return found.ruling(not growing, narrower=narrower, decided=not any(map(np.isnan, lost.values())))


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
            rows.append((setting, epsilon, exponent, bare, error, len(g)))
    return pd.DataFrame(rows, columns=["setting", "epsilon", "exponent", "without_logs", "standard_error", "sizes"])


def last_projection(floors: pd.DataFrame) -> pd.Series:
    """The bias of Π_G at the largest N."""
    return pick(select(floors, part="projection").nlargest(1, "N"))


def first_beyond(floors: pd.DataFrame, left: str) -> float:
    """The first N of the table at which what Π_G leaves exceeds (4.3), constant one and ε = ∞; else infinity."""
    rows = select(floors, part="projection")
    return float(rows["N"].where(rows[left] > rows["bound"], np.inf).min())


def projection_stays(floors: pd.DataFrame, left: str = "floor", error: str = "standard_error") -> bool:
    """Whether what Π_G leaves is beyond doubt at the largest N and grows like a power against the bound (4.3)."""
    return growth.stays(select(floors, part="projection"), "N", left, "bound", error)


# ---- How near this chapter's numbers come on another machine ----

BITS = 2e-18  # of weights whose norm is 0.002; descent with half the penalty comes near them, to 1e-12
DESCENT = {"excess_risk": Squares(BITS), "standard_error": Squares(BITS / 10, of="excess_risk")}

TOLERANCES: Declared = {
    "figure-1": DESCENT,
    "comparison": DESCENT | {"deviation": Cases("setting", {"corrected": Relative(5e-5)})},  # over that standard error
    "verdicts": {"noisyhead/figure-1: largest deviation, corrected": Relative(5e-5)},
}
