"""Verdicts on Lemmas A.1 to A.3 and on the tail that stands before them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

IMPROBABLE = 1e-4  # probability under the lemma below which its failures contradict it
SIZES = {"N": "the number of prompts", "L": "the length of prompts", "D": "the dimension"}
CHANGE = "Data sets that break the lemma more often than it allows, with every constant."


@judges("noisyhead/lemma-a.1")
def lemma_a1(tables: Tables) -> Finding:
    """Lemma A.1: a union bound gives the constant √2."""
    return _lemma(tables["lemmas"], "A.1")


@judges("noisyhead/lemma-a.2")
def lemma_a2(tables: Tables) -> Finding:
    """Lemma A.2: the moment generating function gives the constant √2."""
    return _lemma(tables["lemmas"], "A.2")


@judges("noisyhead/lemma-a.3")
def lemma_a3(tables: Tables) -> Finding:
    """Lemma A.3 where N ≥ log(1/κ), and its constant at N = 1 far in the tail."""
    lemmas, tail = tables["lemmas"], tables["lemma-a3-tail"].sort_values("D")
    many = _lemma(lemmas[lemmas["N"] >= -np.log(lemmas["kappa"])], "A.3")
    lost, last = growth.power(tail, "D", "constant_A3", ""), tail.iloc[-1]
    at_end = (last["constant_A3"], None, last["constant_A2_form"], "lemma-a3-tail", f"D = {last['D']:.0f}")
    numbers = (
        *many.numbers,
        Number("constant needed for a single prompt", *at_end),
        Number("power of D that it grows with", lost, None, LOST_POWER, "lemma-a3-tail"),
    )
    if many.verdict == Verdict.HOLDS and lost > LOST_POWER:
        constant = compact(last["constant_A3"])
        headline = (
            f"The lemma needs many prompts: with one of them its constant grows with the dimension, to {constant}."
        )
        condition = r"For $\log(1/\kappa) \lesssim N$, which excludes tiny $\kappa$ with few prompts."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NONE, condition, CHANGE)
    return replace(many, numbers=numbers)


def _lemma(lemmas: pd.DataFrame, name: str) -> Finding:
    """Whether one constant serves the lemma's form: √2 in every cell, or another that grows with no size."""
    rows = select(lemmas, lemma=name)
    broken, sets = int(rows["fails_at_root_2"].sum()), int(rows["data_sets"].sum())
    chance = stats.binom.sf(rows["fails_at_root_2"] - 1, rows["data_sets"], rows["kappa"])
    size, power = max(_powers(rows).items(), key=lambda item: item[1])
    row, largest = f"lemma = {name}", compact(rows["constant"].max())
    numbers = (
        Number("data sets broken with the constant √2", broken, None, sets, "lemmas", row),
        Number("least chance of so many under the lemma", chance.min(), None, IMPROBABLE, "lemmas", row),
        Number("least constant needed", rows["constant"].min(), None, None, "lemmas", row),
        Number("largest constant needed", rows["constant"].max(), None, np.sqrt(2), "lemmas", row),
        Number(f"power of {size} in the constant", power, None, LOST_POWER, "lemmas", row),
    )
    if (chance >= IMPROBABLE).all():
        headline = f"The lemma holds with one constant at all sizes, broken in {broken} of {sets} data sets."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)
    if power > LOST_POWER:
        headline = f"No constant serves the lemma: the one needed grows with {SIZES[size]}, to {largest}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=CHANGE)
    headline = f"The lemma holds with one constant at all sizes, {largest}."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)


def _powers(rows: pd.DataFrame) -> dict[str, float]:
    """The powers of N, L and D in the constant that the data sets need, by least squares on log axes."""
    sizes = np.log(rows[list(SIZES)].to_numpy(float))
    design = np.column_stack([np.ones(len(rows)), sizes])
    fitted = np.linalg.lstsq(design, np.log(rows["constant"].to_numpy()), rcond=None)[0]
    return dict(zip(SIZES, fitted[1:].tolist()))


@judges("noisyhead/tail-before-lemma-a.2")
def tail_before_lemma_a2(tables: Tables) -> Finding:
    """P(|aᵀ Σ x_i| > √(L/D) t) over e^{−t²} and over 2e^{−t²/2}, along t at each D and L."""
    tail = tables["sum-tail"]
    seen = tail[tail["probability"] > 0]
    lost = max(growth.power(own, "t", "over_printed", "") for _, own in _several(seen))
    printed, halved = seen.loc[seen["over_printed"].idxmax()], seen.loc[seen["over_halved"].idxmax()]
    numbers = (
        Number("power of t in probability over the printed tail, at most", lost, None, LOST_POWER, "sum-tail"),
        Number(
            "probability over the printed tail, at most",
            printed["over_printed"],
            None,
            1.0,
            "sum-tail",
            _place(printed),
        ),
        Number(
            "probability over twice the tail with half the exponent",
            halved["over_halved"],
            None,
            1.0,
            "sum-tail",
            _place(halved),
        ),
    )
    change = "A level, length and dimension at which the tail with half the exponent is exceeded."
    if lost <= LOST_POWER:
        headline = "Sums of features have the stated tail, up to one constant."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if halved["over_halved"] > 1:
        headline = "Sums of features exceed even twice the tail with half the stated exponent."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = "Sums of features have the stated tail only with half its exponent."
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NONE, r"$\lesssim \exp(-t^2/2)$.", change)


def _several(seen: pd.DataFrame) -> list[tuple[object, pd.DataFrame]]:
    """The places (D, L) with the tails at several levels t."""
    return [(place, own) for place, own in seen.groupby(["D", "L"]) if len(own) > 1]


def _place(row: pd.Series) -> str:
    return f"D = {row['D']:.0f}, L = {row['L']:g}, t = {row['t']:g}"
