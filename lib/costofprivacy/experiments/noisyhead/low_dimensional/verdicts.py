"""Verdicts on Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows
POWER = 0.05  # within which an exponent at N = 1e30 is that power
SETTINGS = (
    r"The published numbers belong to $G = \mathcal{C}L^{-1/2}\{1 + (\log(N/\kappa)/D^2)^{1/4}\}$, "
    r"$\eta_0 = 0.95\cdot2\lambda/\{3(\lambda + G^2)^2\}$ and a random $\Gamma^0$."
)


@judges("noisyhead/figure-1")
def figure_1(tables: Tables) -> Finding:
    """Does the risk fall with N and with ε, and which settings give the published numbers?"""
    rows = select(tables["figure-1"], setting="published")
    private, trivial = select(rows, method="noisyhead"), select(rows, method="zero").set_index("N")["excess_risk"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    scores, rises = agreement.trend(private), agreement.rises(private)
    capped = rises.merge(capped_cells(tables["noise-part"]), on=["epsilon", "N"])
    found = agreement.agreements(tables["comparison"])
    numbers = (
        Number("least excess risk over that of answering 0", least, None, 1.0, "figure-1", "setting = published"),
        Number("weakest fall, in standard errors", -scores.max() if scores.size else 0.0, None, CONSISTENT, "figure-1"),
        Number("steps in N at which the risk rises", len(rises), None, 0.0, "figure-1", "setting = published"),
        Number("of these, where the projection caps the noise", len(capped), None, len(rises), "noise-part"),
        *agreement.numbers(found),
    )
    change = "Printed settings that give the published numbers, and no size at which the risk rises."
    if (scores > CONSISTENT).any() or len(capped) < len(rises):
        headline = "The excess risk rises with the number of prompts or the budget where nothing holds the noise back."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if scores.size == 0 or (scores > -CONSISTENT).any():
        headline = "Too few trials, sizes or budgets to show a trend."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if found and not found["published"].complete:
        headline = f"The settings behind the figure give {_share(found['published'])} published numbers again."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if not rises.empty:
        worst = rises.loc[rises["score"].idxmax()]
        headline = (
            "The risk falls with more prompts but for where the projection caps the noise: there it rises by a factor "
            f"{compact(worst['last'] / worst['first'])}."
        )
        where = ", ".join(f"$\\varepsilon = {r.epsilon:g}$ from $N = {r.N:.0f}$" for r in rises.itertuples())
        correction = rf"Where $\Pi_R$ is idle; it is not at {where}. {SETTINGS}"
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)
    if found and not found["printed"].complete:
        headline = f"The fall comes out again, but the printed settings give only {_share(found['printed'])} numbers."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, SETTINGS, change)
    headline = "The excess risk falls with more prompts and with a larger privacy budget, as shown."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _share(found: agreement.Agreement) -> str:
    return f"{found.near} of {found.numbers}"


def capped_cells(noise: pd.DataFrame) -> pd.DataFrame:
    """N and ε of the published cells in which Π_R holds the noise back."""
    capped = noise.drop(idle_rows(noise).index)
    return select(capped, setting="published")[["epsilon", "N"]]


@judges("noisyhead/theorem-1.1-low")
def theorem_11_low(tables: Tables) -> Finding:
    """The cost of privacy N^{-3/2}L^{-2} up to logarithms: the noise part's power, and what is left without noise."""
    noise, floors, exponents = tables["noise-part"], tables["floors"], tables["exponents"]
    last = exponents.sort_values("N").groupby("algorithm")["exponent"].last()
    claimed, bare = last[limits.CLAIMED], last[limits.OWN_LOGS]
    largest = exponents["N"].max()
    far = _last_projection(floors)
    numbers = (
        Number("power of N, own logarithms out", bare, None, claimed, "exponents", f"N = {largest:.0e}"),
        Number("power of N, projection idle", last[limits.FIXED], None, claimed, "exponents", f"N = {largest:.0e}"),
        Number("prediction error that the projection costs", far["test_error_gap"], far["gap_error"], 0.0, "floors",
               f"part = projection, L = {far['L']:.0f}"),
        *_fitted(noise),
    )  # fmt: skip
    change = "A projection that bounds every statistic at every length and yet shrinks with the length."
    if bare > claimed + POWER:
        headline = f"Even the noise part alone falls only like ${{N}}^{{{bare:.2f}}}$, slower than claimed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if not projection_stays(floors, "test_error_gap", "gap_error"):
        headline = "The cost of privacy falls with the number of prompts at least as fast as claimed, up to logarithms."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    bought = " that buys this speed" if last[limits.FIXED] > claimed + POWER else ""
    headline = (
        f"The noise shrinks as claimed, but the projection{bought} leaves a test-error gap of "
        f"{compact(far['test_error_gap'])} that more prompts do not remove."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("noisyhead/theorem-4.2i")
def theorem_42i(tables: Tables) -> Finding:
    """At ε = ∞ the bound (4.3) tends to 0 with N and with L, for any constant; does the left side?"""
    floors, axes = tables["floors"], tables["floor-axes"]
    descent = select(tables["figure-1"], setting="published", method="gradient-descent").sort_values("N").iloc[-1]
    far = _last_projection(floors)
    lost = {left: growth.powers(axes, {"N": "N", "L": "L"}, left, "bound") for left in ("floor", "minimiser")}
    numbers = (
        Number("excess risk of descent without noise", descent["excess_risk"], descent["standard_error"], 0.0,
               "figure-1", f"setting = published, N = {descent['N']:.0f}"),
        Number("bias of the projection", far["floor"], far["standard_error"], far["bound"], "floors",
               f"part = projection, L = {far['L']:.0f}"),
        Number("excess risk of answering 0", far["zero_risk"], None, None, "floors",
               f"part = projection, L = {far['L']:.0f}"),
        *(Number(f"power of {size} that {left} over bound grows with", power, None, LOST_POWER, "floor-axes",
                 f"axis = {size}") for left, found in lost.items() for size, power in found.items()),
    )  # fmt: skip
    change = "Floors that stay below a multiple of the bound along the number and the length of prompts."
    if any(np.isnan(power) for found in lost.values() for power in found.values()):
        return Finding(Verdict.UNTESTABLE, "A single size shows no limit.", numbers, would_change=change)
    if max(lost["floor"].values()) > LOST_POWER or projection_stays(floors):
        lasting = [size for size, power in lost["floor"].items() if power > LOST_POWER] or ["N"]
        where = " or ".join({"N": "more", "L": "longer"}[size] for size in lasting)
        headline = f"Without any privacy the bound falls faster with {where} prompts than the error of the projection."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if max(lost["minimiser"].values()) > LOST_POWER:
        headline = f"Without noise the excess risk stops at {compact(descent['excess_risk'])}, beside its target."
        correction = r"$\lambda/2$ in the update, or $\Gamma^*$ as the minimiser of the loss with $1/(2N)$."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = "Without noise the excess risk falls with the bound."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("noisyhead/equation-a.15")
def equation_a15(tables: Tables) -> Finding:
    """The descent part of the low-dimensional bound."""
    return _step(tables, "(A.15)", "descent part of the bound")


@judges("noisyhead/equation-a.16")
def equation_a16(tables: Tables) -> Finding:
    """The noise part of the low-dimensional bound, as the proof first writes it."""
    return _step(tables, "(A.16)", "noise part of the bound")


@judges("noisyhead/equation-a.17")
def equation_a17(tables: Tables) -> Finding:
    """The noise part of the low-dimensional bound, with CG + RG² replaced."""
    correction = (
        r"$L \lesssim N$ up to logarithms, which excludes prompts longer than their number; for all $L$, "
        r"$\mathcal{C}G + RG^2 \lesssim \nu^2\log^3(NL)\{L^{-1/2} + \sqrt N L^{-3/2}D^{-2}\}$."
    )
    return _step(tables, "(A.17)", "noise part of the bound", correction)


def _step(tables: Tables, step: str, part: str, condition: str = "") -> Finding:
    """Whether left/right of a step of the proof stays bounded along N, along L and along N with the largest D.

    Where ``condition`` names L ≲ N, growth beyond L = N alone makes the claim narrower.
    """
    rows = select(tables["proof-steps"], step=step)
    lost = growth.powers(rows, {"N": "N", "L": "L", "D": "N"})
    inside = growth.power(rows[(rows["axis"] == "L") & (rows["L"] <= rows["N"])], "L")
    sizes = {"N": "the number of prompts", "L": "the length of prompts", "D": "the dimension"}
    numbers = (
        *(Number(f"power of left over right along {name}", lost[axis], None, LOST_POWER, "proof-steps",
                 f"step = {step}, axis = {axis}") for axis, name in sizes.items()),
        Number("the same along the length up to the number of prompts", inside, None, LOST_POWER, "proof-steps",
               f"step = {step}, axis = L"),
    )  # fmt: skip
    change = "Another power between the two sides along one of the sizes."
    growing = [axis for axis, power in lost.items() if power > LOST_POWER]
    if any(np.isnan(power) for power in lost.values()):
        return Finding(Verdict.UNTESTABLE, "A single size shows no power.", numbers, would_change=change)
    if not growing:
        headline = f"The {part} in low dimension is of the stated order along every size."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if condition and growing == ["L"] and not inside > LOST_POWER:
        headline = f"The {part} in low dimension is of the stated order while prompts are no longer than their number."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, condition, change)
    headline = f"The {part} in low dimension exceeds its stated order by a power of {sizes[growing[0]]}."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)


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


def _fitted(noise: pd.DataFrame) -> list[Number]:
    """The slope that the simulation shows in the published setting, at the ε with most sizes; none for a single N."""
    fitted = select(slopes(noise), setting="published")
    if fitted.empty:
        return []
    best = fitted.loc[fitted["sizes"].idxmax()]
    row = f"setting = published, epsilon = {best['epsilon']:g}"
    return [
        Number("fitted power of N, logarithms in", best["exponent"], best["standard_error"], None, "noise-part", row)
    ]


def _last_projection(floors: pd.DataFrame) -> pd.Series:
    """The bias of Π_G at the largest N."""
    return pick(select(floors, part="projection").nlargest(1, "N"))


def projection_stays(floors: pd.DataFrame, left: str = "floor", error: str = "standard_error") -> bool:
    """Whether what Π_G leaves is beyond doubt at the largest N and grows like a power against the bound (4.3)."""
    return growth.stays(select(floors, part="projection"), "N", left, "bound", error)
