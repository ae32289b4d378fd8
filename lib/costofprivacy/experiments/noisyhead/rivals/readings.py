"""Appendix B in closed form: readings of Table 1, the steps from DP-ridge to NoisyHead, and the powers of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead._low_dimension import POWER_OF_N
from costofprivacy.noisyhead import bounds, hyperparameters, population, pretraining, private_ridge
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
)
from costofprivacy.settings import Setting

# What each symbol of Appendix B could have been when Table 1 was made; the first is what the text says.
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
FEATURE_BOUNDS: dict[str, Callable[[PromptModel, int, float], float]] = {
    "theorem": hyperparameters.feature_bound_theorem,
    "proof": hyperparameters.feature_bound_proof,
    "C/√L": lambda model, N, kappa: hyperparameters.clip_norm(model, N, kappa) / math.sqrt(model.L),
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
PAPERS = {name: {next(iter(options))} for name, options in OPTIONS.items()} | {"G": {"theorem", "proof"}}


def predicted(reading: Mapping[str, str], N: int, epsilon: float) -> float:
    """DP-ridge's noise in the reading's measure: C²G² log(1.25/δ)/(λNε)², times the factor, times E‖m‖² or D²."""
    model, kappa = PromptModel(DIMENSIONS[reading["D"]](N), LENGTHS[reading["L"]](N)), FAILURES[reading["κ"]]
    C = hyperparameters.clip_norm(model, N, kappa)
    G = FEATURE_BOUNDS[reading["G"]](model, N, kappa)
    told = PrivateRidge(C, G, PENALTIES[reading["λ"]](model, N), N)
    std = private_ridge.noise_std_printed(told, ApproximateDP(epsilon, DELTAS[reading["δ"]]))
    return std**2 * FACTORS[reading["factor"]] * MEASURES[reading["measure"]](model)


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
        rows.append((*choice, departures, power, ratio.min(), ratio.max(), worst))
    columns = [*OPTIONS, "departures", "power", "least", "largest", "deviation"]
    return pd.DataFrame(rows, columns=columns).sort_values("deviation", kind="stable", ignore_index=True)


NEAREST = {"λ": "5N/1000", "κ": "1e-5"}  # what the reading nearest to DP-ridge's column changes for NoisyHead too


def published_at(model: PromptModel, N: int, kappa: float, penalty: float) -> Hyperparameters:
    """NoisyHead's published setting at any λ (the printed η₀ is none for λ ≥ 10: it would take ηλ beyond 1)."""
    C, G = (f(model, N, kappa) for f in (hyperparameters.clip_norm, hyperparameters.feature_bound_proof))
    R, rate = (
        hyperparameters.weight_bound(model, N, kappa, penalty),
        hyperparameters.learning_rate_published(G, penalty),
    )
    return Hyperparameters(C, G, R, penalty, rate, hyperparameters.iterations(POWER_OF_N, N, rate, penalty))


def corrected_at(model: PromptModel, N: int, kappa: float, penalty: float) -> Hyperparameters:
    """The same with λ/2 in the update and R = C/(2√λ)."""
    asked = published_at(model, N, kappa, penalty)
    R = hyperparameters.weight_bound_singular(asked.clip_norm, penalty)
    return replace(asked, weight_bound=R, penalty=penalty / 2)


def other_column(theirs: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's column of Table 1 beside what the reading of `NEAREST`, and the text's own, give NoisyHead.

    In closed form: the noise part as far as Π_R lets it go, the lesser of ``noise_risk`` and ``limit_of_R``.
    """
    printed, rows = theirs[theirs["method"] == "noisyhead"], []
    for name, penalty, kappa in (("the text", "5", "1"), ("nearest for DP-ridge", NEAREST["λ"], NEAREST["κ"])):
        for N, epsilon, risk in zip(printed["N"], printed["epsilon"], printed["excess_risk"]):
            model = PromptModel(5, math.isqrt(N))
            hyper = published_at(model, N, FAILURES[kappa], PENALTIES[penalty](model, N))
            std = pretraining.noise_std_printed(hyper, ApproximateDP(epsilon, 1e-5), N)
            energy = population.context_energy(model) / model.D**2
            noise = bounds.noise_risk(hyper, model, std, energy)
            rows.append((name, N, epsilon, hyper.penalty, risk, noise, hyper.weight_bound**2 * energy))
    columns = ["reading", "N", "epsilon", "penalty", "excess_risk_theirs", "noise_risk", "limit_of_R"]
    return pd.DataFrame(rows, columns=columns)


def last_iterate_noise_std(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Least noise of a step for which the last iterate, and only it, is (ε, δ)-DP; all iterates start at one point."""
    together = last_iterate(GaussianDP(1.0), min(1.0, hyper.contraction), hyper.steps).mu
    return pretraining.update_sensitivity(hyper, N) * together * exact_noise_multiplier(budget)


def exact_noise_std(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Least noise of a step for which all iterates together are (ε, δ)-DP."""
    return pretraining.update_sensitivity(hyper, N) * exact_composed_noise_multiplier(budget, hyper.steps)


def ladder(
    model: PromptModel, hyper: Mapping[Setting, Hyperparameters], penalty: float, N: int, budget: ApproximateDP
) -> pd.DataFrame:
    """Noise part of the excess risk in closed form (Π_R idle), from DP-ridge as printed to NoisyHead as published.

    One thing changes from each row to the next; ``factor`` says what it costs. ``limit_of_R`` is the excess risk of
    weights on the sphere of radius R, beyond which Π_R holds NoisyHead back.
    """
    told = PrivateRidge(hyper[Setting.PUBLISHED].clip_norm, hyper[Setting.PUBLISHED].feature_bound, penalty, N)
    right, asked = hyper[Setting.CORRECTED], hyper[Setting.PUBLISHED]
    wide = replace(right, weight_bound=asked.weight_bound)
    energy = population.context_energy(model)
    stages = [
        ("DP-ridge, noise as printed", None, private_ridge.noise_std_printed(told, budget)),
        ("DP-ridge, right sensitivity, exact Gaussian mechanism", None, private_ridge.noise_std(told, budget)),
        ("NoisyHead, last iterate, R = C/(2√λ), λ/2 in the update", right, last_iterate_noise_std(right, budget, N)),
        ("… every iterate, exact composition", right, exact_noise_std(right, budget, N)),
        ("… R = C²√(N/L)/λ", wide, exact_noise_std(wide, budget, N)),
        ("… classical mechanism, basic composition", wide, pretraining.noise_std_printed(wide, budget, N)),
        ("… λ in the update: NoisyHead as published", asked, pretraining.noise_std_printed(asked, budget, N)),
    ]
    rows = []
    for name, run, std in stages:
        risk = std**2 * energy if run is None else bounds.noise_risk(run, model, std, energy / model.D**2)
        limit = math.inf if run is None else run.weight_bound**2 * energy / model.D**2
        rows.append((name, N, budget.epsilon, std, risk, limit))
    table = pd.DataFrame(rows, columns=["stage", "N", "epsilon", "noise_std", "noise_risk", "limit_of_R"])
    return table.assign(factor=table["noise_risk"] / table["noise_risk"].shift())


PATHS: dict[str, Callable[[int, int], tuple[int, PromptModel]]] = {
    "N, with L = N^(1/2)": lambda size, D: (size, PromptModel(D, math.isqrt(size))),
    "N, with L = N^(1/4)": lambda size, D: (size, PromptModel(D, math.isqrt(math.isqrt(size)))),
    "N, with L = N": lambda size, D: (size, PromptModel(D, size)),
    "D, with L² = N = 10⁶": lambda size, D: (10**6, PromptModel(size, 1000)),
}
SIZES = tuple(10**k for k in range(3, 31))
PUBLISHED, CORRECTED, LAST_ITERATE = "NoisyHead, published", "NoisyHead, corrected", "NoisyHead, last iterate"


def powers(D: int, penalty: float, kappa: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise parts of DP-ridge (rightly calibrated) and of NoisyHead along four paths to infinity, in closed form.

    ``over_ridge`` is NoisyHead's over DP-ridge's, ``exponent`` its local exponent along the path; ``rests_at`` the
    excess risk at which NoisyHead stays without noise, because its update rests elsewhere.
    """
    tables = []
    for path, at in PATHS.items():
        rows = []
        for size in SIZES:
            N, model = at(size, D)
            rows += [(path, float(size), *row) for row in _noise_parts(model, N, penalty, kappa, budget)]
        columns = ["path", "size", "algorithm", "ridge_risk", "noise_risk", "rests_at"]
        table = pd.DataFrame(rows, columns=columns)
        table["over_ridge"] = table["noise_risk"] / table["ridge_risk"]
        table["exponent"] = table.groupby("algorithm", sort=False)["over_ridge"].transform(
            lambda ratio: _fits.local_exponents(np.array(SIZES, dtype=float), ratio.to_numpy())
        )
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _noise_parts(
    model: PromptModel, N: int, penalty: float, kappa: float, budget: ApproximateDP
) -> list[tuple[str, float, float, float]]:
    """(algorithm, DP-ridge's noise part, its own, where it rests) for three NoisyHeads with the same C and G."""
    asked, right = (f(model, N, kappa, penalty) for f in (published_at, corrected_at))
    told = PrivateRidge(asked.clip_norm, asked.feature_bound, penalty, N)
    energy, gap = population.context_energy(model), population.minimiser_gap(model, penalty)
    ridge_risk = private_ridge.noise_std(told, budget) ** 2 * energy
    algorithms = [
        (PUBLISHED, asked, pretraining.noise_std_printed(asked, budget, N), gap),
        (CORRECTED, right, exact_noise_std(right, budget, N), 0.0),
        (LAST_ITERATE, right, last_iterate_noise_std(right, budget, N), 0.0),
    ]
    curvature = energy / model.D**2
    return [(name, ridge_risk, bounds.noise_risk(h, model, std, curvature), rest) for name, h, std, rest in algorithms]


GRID = tuple(np.geomspace(1e-3, 1e2, 41))


def penalties(model: PromptModel, kappa: float, N: int, budget: ApproximateDP) -> pd.DataFrame:
    """Test error against λ, in closed form (no clipping): without privacy, DP-ridge, NoisyHead with its last iterate.

    The population's ridge solution at λ, and the noise part of each method, rightly calibrated, added to its error.
    """
    rows = []
    for penalty in GRID:
        hyper = corrected_at(model, N, kappa, penalty)
        told = PrivateRidge(hyper.clip_norm, hyper.feature_bound, penalty, N)
        energy, plain = population.context_energy(model), population.ridge_prediction_error(model, penalty)
        once = private_ridge.noise_std(told, budget) ** 2 * energy
        std = last_iterate_noise_std(hyper, budget, N)
        stepwise = bounds.noise_risk(hyper, model, std, energy / model.D**2)
        rows += [
            (penalty, "ridge, no privacy", plain),
            (penalty, "DP-ridge", plain + once),
            (penalty, "NoisyHead, last iterate", plain + stepwise),
        ]
    table = pd.DataFrame(rows, columns=["penalty", "method", "test_error"])
    return table.assign(N=N, epsilon=budget.epsilon, response_variance=model.response_variance)
