"""Noise parts in closed form: the steps from DP-ridge to NoisyHead, the powers of both, and the choice of λ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from companion import _fits
from costofprivacy.noisyhead import dynamics, hyperparameters, population, private_ridge, recipes
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

FeatureBound = Callable[[PromptModel, int, float], float]


def published_at(
    model: PromptModel,
    N: int,
    failure: float,
    penalty: float,
    bound: FeatureBound = hyperparameters.feature_bound_proof,
) -> Hyperparameters:
    """NoisyHead's published setting at any λ and G (the printed η₀ would take ηλ beyond 1 for λ ≥ 10)."""
    C, G = hyperparameters.clip_norm(model, N, failure), bound(model, N, failure)
    R = hyperparameters.weight_bound(model, N, failure, penalty)
    rate = hyperparameters.learning_rate_published(G, penalty)
    return Hyperparameters(C, G, R, penalty, rate, hyperparameters.iterations(recipes.POWER_OF_N, N, rate, penalty))


def corrected_at(model: PromptModel, N: int, failure: float, penalty: float) -> Hyperparameters:
    """The same with λ/2 in the update and R = C/(2√λ)."""
    asked = published_at(model, N, failure, penalty)
    R = hyperparameters.weight_bound_singular(asked.clip_norm, penalty)
    return replace(asked, weight_bound=R, penalty=penalty / 2)


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

    def step_std(account: str, run: Hyperparameters) -> float:
        return noise_std(account, run, budget, N, run.steps)

    stages = [
        ("DP-ridge, noise as printed", None, private_ridge.noise_std_printed(told, budget)),
        ("DP-ridge, right sensitivity, exact Gaussian mechanism", None, private_ridge.noise_std(told, budget)),
        ("NoisyHead, last iterate, R = C/(2√λ), λ/2 in the update", right, step_std(LAST, right)),
        ("… every iterate, exact composition", right, step_std(EVERY, right)),
        ("… R = C²√(N/L)/λ", wide, step_std(EVERY, wide)),
        ("… classical mechanism, basic composition", wide, step_std(ALGORITHM, wide)),
        ("… λ in the update: NoisyHead as published", asked, step_std(ALGORITHM, asked)),
    ]
    rows = []
    for name, run, std in stages:
        risk = std**2 * energy if run is None else dynamics.noise_risk(run, model, std, energy / model.D**2)
        limit = math.inf if run is None else run.weight_bound**2 * energy / model.D**2
        row = {"stage": name, "N": N, "epsilon": budget.epsilon, "noise_std": std, "noise_risk": risk}
        rows.append(row | {"limit_of_R": limit})
    table = pd.DataFrame(rows)
    return table.assign(factor=table["noise_risk"] / table["noise_risk"].shift())


@dataclass(frozen=True)
class Path:
    """A way to infinity: N, L and D at a size, and by what λ is multiplied there."""

    sizes: Callable[[int, int], tuple[int, PromptModel]]
    growth: Callable[[int, PromptModel], float] = lambda N, model: 1.0


def _quarter(size: int, D: int) -> tuple[int, PromptModel]:
    return size, PromptModel(D, math.isqrt(math.isqrt(size)))


PATHS = {
    "N, with L = N^(1/2)": Path(lambda size, D: (size, PromptModel(D, math.isqrt(size)))),
    "N, with L = N^(1/4)": Path(_quarter),
    "N, with L = N^(1/4), λ ∝ √N/L": Path(_quarter, lambda N, model: math.sqrt(N) / model.L),
    "N, with L = N": Path(lambda size, D: (size, PromptModel(D, size))),
    "D, with L² = N = 10⁶": Path(lambda size, D: (10**6, PromptModel(size, 1000))),
}
SIZES = tuple(10**k for k in range(3, 31))
PUBLISHED, CORRECTED, LAST_ITERATE = "NoisyHead, published", "NoisyHead, corrected", "NoisyHead, last iterate"


def powers(D: int, penalty: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise parts of DP-ridge (rightly calibrated) and of NoisyHead along `PATHS`, in closed form.

    ``over_ridge`` is NoisyHead's over DP-ridge's, ``exponent`` its local exponent along the path; ``rests_at`` the
    excess risk at which NoisyHead stays without noise, because its update rests elsewhere.
    """
    tables = []
    for name, path in PATHS.items():
        rows = []
        for size in SIZES:
            N, model = path.sizes(size, D)
            parts = _noise_parts(model, N, penalty * path.growth(N, model), failure, budget)
            rows += [{"path": name, "size": float(size)} | part for part in parts]
        table = pd.DataFrame(rows)
        table["over_ridge"] = table["noise_risk"] / table["ridge_risk"]
        table["exponent"] = table.groupby("algorithm", sort=False)["over_ridge"].transform(
            lambda ratio: _fits.local_exponents(np.array(SIZES, dtype=float), ratio.to_numpy())
        )
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _noise_parts(
    model: PromptModel, N: int, penalty: float, failure: float, budget: ApproximateDP
) -> list[dict[str, object]]:
    """DP-ridge's noise part, its own, and where it rests, of three NoisyHeads with the same C and G."""
    asked, right = (f(model, N, failure, penalty) for f in (published_at, corrected_at))
    told = PrivateRidge(asked.clip_norm, asked.feature_bound, penalty, N)
    energy, gap = population.context_energy(model), population.minimiser_gap(model, penalty)
    ridge_risk = private_ridge.noise_std(told, budget) ** 2 * energy
    algorithms = [
        (PUBLISHED, ALGORITHM, asked, gap),
        (CORRECTED, EVERY, right, 0.0),
        (LAST_ITERATE, LAST, right, 0.0),
    ]
    rows = []
    for name, account, hyper, rest in algorithms:
        std = noise_std(account, hyper, budget, N, hyper.steps)
        noise_risk = dynamics.noise_risk(hyper, model, std, energy / model.D**2)
        rows.append({"algorithm": name, "ridge_risk": ridge_risk, "noise_risk": noise_risk, "rests_at": rest})
    return rows


GRID = tuple(np.geomspace(1e-3, 1e2, 41))


def penalties(
    model: PromptModel, failure: float, N: int, budget: ApproximateDP, grid: Sequence[float] = GRID
) -> pd.DataFrame:
    """Test error against λ, in closed form (no clipping): without privacy, DP-ridge, NoisyHead with its last iterate.

    The population's ridge solution at λ, and the noise part of each method, rightly calibrated, added to its error.
    """
    rows = []
    for penalty in grid:
        hyper = corrected_at(model, N, failure, penalty)
        told = PrivateRidge(hyper.clip_norm, hyper.feature_bound, penalty, N)
        energy, plain = population.context_energy(model), population.ridge_prediction_error(model, penalty)
        once = private_ridge.noise_std(told, budget) ** 2 * energy
        std = noise_std(LAST, hyper, budget, N, hyper.steps)
        stepwise = dynamics.noise_risk(hyper, model, std, energy / model.D**2)
        errors = {
            "ridge, no privacy": plain,
            "DP-ridge": plain + once,
            "NoisyHead, last iterate": plain + stepwise,
        }
        rows += [{"penalty": penalty, "method": method, "test_error": error} for method, error in errors.items()]
    table = pd.DataFrame(rows)
    return table.assign(N=N, epsilon=budget.epsilon, response_variance=model.response_variance)
