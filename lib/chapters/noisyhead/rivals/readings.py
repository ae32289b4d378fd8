"""Readings of Appendix B: what its symbols could have been when Table 1 was made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from chapters.noisyhead.rivals.closed_forms import FeatureBound, published_at
from costofprivacy.noisyhead import dynamics, hyperparameters, population, pretraining, private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

# The first option of each symbol is what the text says.
DIMENSIONS: dict[str, Callable[[int], int]] = {"5": lambda N: 5, "⌊√N⌋": math.isqrt}
LENGTHS: dict[str, Callable[[int], int]] = {"⌊√N⌋": math.isqrt, "31": lambda N: 31}
FAILURES = {"1": 1.0, "0.05": 0.05, "1e-5": 1e-5}
PENALTIES: dict[str, Callable[[PromptModel, int], float]] = {
    "5": lambda model, N: 5.0,
    "√N": lambda model, N: math.sqrt(N),
    "N/D²": lambda model, N: N / model.D**2,
    "N/D": lambda model, N: N / model.D,
    "5N/1000": lambda model, N: 5 * N / 1000,
    "0.01": lambda model, N: 0.01,
}
FEATURE_BOUNDS: dict[str, FeatureBound] = {
    "theorem": hyperparameters.feature_bound_theorem,
    "proof": hyperparameters.feature_bound_proof,
    "C/√L": lambda model, N, failure: hyperparameters.clip_norm(model, N, failure) / math.sqrt(model.L),
    "C": hyperparameters.clip_norm,
}
DELTAS = {"1e-5": 1e-5, "1e-2": 1e-2}
FACTORS = {"1": 1, "2": 2, "4": 4, "8": 8}  # on the variance: 2 for the Gaussian mechanism, 4 for replacing
MEASURES: dict[str, Callable[[PromptModel], float]] = {
    "excess risk": population.context_energy,
    "‖Γ̂ − Γ*‖²": lambda model: float(model.D**2),
}
OPTIONS: dict[str, Mapping[str, object]] = {
    "λ": PENALTIES,
    "κ": FAILURES,
    "G": FEATURE_BOUNDS,
    "L": LENGTHS,
    "D": DIMENSIONS,
    "δ": DELTAS,
    "factor": FACTORS,
    "measure": MEASURES,
}
KEPT = 100  # of the nearest readings
NEAR = 4.0  # standard errors within which a reading is kept whatever its rank
PAPERS = {name: {next(iter(options))} for name, options in OPTIONS.items()} | {"G": {"theorem", "proof"}}


def _model(reading: Mapping[str, str], N: int) -> PromptModel:
    return PromptModel(DIMENSIONS[reading["D"]](N), LENGTHS[reading["L"]](N))


def predicted(reading: Mapping[str, str], N: int, epsilon: float) -> float:
    """DP-ridge's noise in the reading's measure: C²G² log(1.25/δ)/(λNε)², times the factor, times E‖m‖² or D²."""
    std = _noise_std(*(reading[name] for name in ("λ", "κ", "G", "L", "D", "δ")), N, epsilon)
    return std**2 * FACTORS[reading["factor"]] * _measured(reading["measure"], reading["L"], reading["D"], N)


@cache
def _noise_std(
    penalty: str, kappa: str, bound: str, length: str, dimension: str, delta: str, N: int, epsilon: float
) -> float:
    model, failure = _model({"L": length, "D": dimension}, N), FAILURES[kappa]
    C, G = hyperparameters.clip_norm(model, N, failure), FEATURE_BOUNDS[bound](model, N, failure)
    told = PrivateRidge(C, G, PENALTIES[penalty](model, N), N)
    return private_ridge.noise_std_printed(told, ApproximateDP(epsilon, DELTAS[delta]))


@cache
def _measured(measure: str, length: str, dimension: str, N: int) -> float:
    return MEASURES[measure](_model({"L": length, "D": dimension}, N))


def readings(theirs: pd.DataFrame, relative_error: float) -> pd.DataFrame:
    """Every combination of `OPTIONS` against DP-ridge's column of Table 1, the nearest first.

    ``departures`` counts the choices that are not the text's, ``power`` is fitted from the first to the last N,
    ``least`` and ``largest`` are the extreme ratios of prediction to print, and ``deviation`` is the worst distance in
    standard errors of the print.

    Args:
        theirs: N, epsilon, method, excess_risk of Table 1.
        relative_error: standard error of one of its numbers, over the number.
    """
    printed = theirs[theirs["method"] == "dp-ridge"].sort_values(["N", "epsilon"])
    cells, risk = list(zip(printed["N"], printed["epsilon"])), printed["excess_risk"].to_numpy()
    span = math.log(cells[-1][0] / cells[0][0])
    rows = []
    for choice in product(*OPTIONS.values()):
        reading = dict(zip(OPTIONS, choice))
        ours = np.array([predicted(reading, N, epsilon) for N, epsilon in cells])
        ratio, departures = ours / risk, sum(value not in PAPERS[name] for name, value in reading.items())
        worst = np.abs(np.log(ratio)).max() / relative_error
        power = math.log(ours[-1] * cells[-1][1] ** 2 / (ours[0] * cells[0][1] ** 2)) / span
        against = {"power": power, "least": ratio.min(), "largest": ratio.max(), "deviation": worst}
        rows.append(reading | {"departures": departures} | against)
    return pd.DataFrame(rows).sort_values("deviation", kind="stable", ignore_index=True)


def nearest(table: pd.DataFrame) -> pd.DataFrame:
    """The text's own readings, the nearest ones and all that are consistent; ``tried`` says of how many."""
    kept = (table.index < KEPT) | (table["departures"] == 0) | (table["deviation"] <= NEAR)
    return table[kept].assign(tried=len(table)).reset_index(drop=True)


def other_column(theirs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's column of Table 1 beside what the nearest of the text's readings, and of all, give NoisyHead.

    In closed form: the noise part as far as Π_R lets it go, the lesser of ``noise_risk`` and ``limit_of_R``.

    Args:
        theirs: N, epsilon, method, excess_risk of Table 1.
        table: of `readings`.
    """
    nearest = {"nearest of the text's": table[table["departures"] == 0].iloc[0], "nearest of all": table.iloc[0]}
    printed, rows = theirs[theirs["method"] == "noisyhead"], []
    for name, reading in nearest.items():
        for N, epsilon, risk in zip(printed["N"], printed["epsilon"], printed["excess_risk"]):
            theirs_here = {"reading": name, "N": N, "epsilon": epsilon, "excess_risk_theirs": risk}
            rows.append(theirs_here | _noisyhead_under(reading[list(OPTIONS)].to_dict(), N, epsilon))
    return pd.DataFrame(rows)


def _noisyhead_under(reading: Mapping[str, str], N: int, epsilon: float) -> dict[str, float]:
    """Noise part of NoisyHead in closed form under a reading, and the excess risk of weights of norm R."""
    model, failure = _model(reading, N), FAILURES[reading["κ"]]
    penalty, bound = PENALTIES[reading["λ"]](model, N), FEATURE_BOUNDS[reading["G"]]
    hyper = published_at(model, N, failure, penalty, bound)
    std = pretraining.noise_std_printed(hyper, ApproximateDP(epsilon, DELTAS[reading["δ"]]), N)
    energy = population.context_energy(model) / model.D**2
    noise_risk = dynamics.noise_risk(hyper, model, std, energy)
    return {"noise_risk": noise_risk, "limit_of_R": hyper.weight_bound**2 * energy}
