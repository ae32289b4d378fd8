"""Verdicts on Lemmas A.1 to A.3 and on the tail that stands before them."""

import numpy as np
import pandas as pd
from scipy import stats

from companion.judging import growth
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select

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
