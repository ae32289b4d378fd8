"""The high-dimensional bounds and the steps of their proof in closed form, along each size with the others fixed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.high_dimensional.asymptotics import noise_std
from costofprivacy.noisyhead import bounds, dynamics, hyperparameters, population, recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

STEP_NOISE = 0.5  # label noise behind the steps of the proof, where no axis moves it
DESCENT_STEP, NOISE_STEP = "(A.18)", "(A.19)"
PENALTY, SMALL_PENALTY, VARIANCE = "λ", "1/λ", "ν"
FIXED, LARGEST = "fixed", "ε = T"
PATHS = {  # the powers of D that N and L are
    "D": (0, 0),
    "D, L ~ D": (0, 1),
    "D, N ~ D": (1, 0),
    "D, N ~ D, L ~ D": (1, 1),
    "D, N ~ D²": (2, 0),
    "D, N ~ D², L ~ D": (2, 1),
}


@dataclass(frozen=True)
class Place:
    """Algorithm 1 at one place of an axis: ``size`` is the value of what moves there."""

    axis: str
    size: float
    N: int
    L: int
    D: int
    penalty: float
    r: float
    failure: float
    label_noise: float

    @property
    def model(self) -> PromptModel:
        """The law of a prompt."""
        return PromptModel(self.D, self.L, self.label_noise)

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's, stopped as Theorem 4.2(ii) says."""
        hyper = recipes.theorem(self.model, self.N, self.failure, self.penalty)
        return replace(hyper, steps=bounds.high_dimensional_iterations(self.r, hyper.learning_rate, self.penalty))

    @property
    def labels(self) -> dict[str, object]:
        """What a row says of its place; G²/λ is small where η₀λ is of the order of one."""
        sizes = {"N": float(self.N), "L": float(self.L), "D": float(self.D), "penalty": self.penalty, "r": self.r}
        share = self.hyper.feature_bound**2 / self.penalty
        return {"axis": self.axis, "size": self.size} | sizes | {"feature_over_penalty": share}


def regimes(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The whole risk beside Theorem 1.1's rate and (4.4), for this ε and for ε = T, the largest that is private.

    It starts at ‖Γ⁰‖ = R, with λ and with λ/2 in the update, and is at most what Π_R allows, 4R²E‖Z‖²/D².
    ``error_gap`` is the most that the difference of the prediction errors can be: to the risk comes a part of first
    order, at most 2g/D = 2E⟨Γ*, yZ⟩, since the mean weights stay between 0 and Γ* = gI.
    """
    rows = []
    for place in _regime_places(failure, label_noise):
        first_order = 2 * population.ridge_scale(place.model, place.penalty) / place.D
        for name, epsilon in ((FIXED, budget.epsilon), (LARGEST, float(place.hyper.steps))):
            spent = ApproximateDP(epsilon, budget.delta)
            printed, halved = (_risk(place, penalty, spent) for penalty in (place.penalty, place.penalty / 2))
            risk = {"risk_printed": printed, "risk_halved": halved, "error_gap": printed + first_order}
            bound = sum(bounds.high_dimensional_cost(place.model, place.N, place.penalty, place.r, spent))
            rate = bounds.high_dimensional_rate(place.model, place.N, spent)
            spending = {"budget": name, "epsilon": epsilon}
            rows.append(place.labels | spending | risk | {"rate_11": rate, "bound_44": bound})
    return pd.DataFrame(rows)


def _risk(place: Place, update_penalty: float, budget: ApproximateDP) -> float:
    hyper, model, h = place.hyper, place.model, dynamics.curvature(place.model)
    steps, energy = np.array([hyper.steps]), hyper.weight_bound**2
    told = replace(hyper, penalty=update_penalty)
    descent = dynamics.descent_risk(told, model, place.N, place.penalty, energy, steps)[0]
    std = noise_std(hyper, place.N, budget)
    return float(min(dynamics.noise_risk(told, model, std, h) + descent, 4 * energy * h))


def _regime_places(failure: float, label_noise: float) -> Iterator[Place]:
    """D growing, with N ≲ D², L ≲ D and λ = √N, as Theorem 1.1 allows; then the other sizes of (4.4), one by one."""

    def place(axis: str, size: float, N: int, L: int, D: int, penalty: float, r: float) -> Place:
        return Place(axis, float(size), N, L, D, penalty, r, failure, label_noise)

    for k in range(2, 25, 2):
        for axis, (n, length) in PATHS.items():
            N = 100 * 10 ** (k * n)
            yield place(axis, 10**k, N, max(10, 10 ** (k * length)), 10**k, math.sqrt(N), float(N))
    for k in range(2, 13):
        yield place("L", 10 ** (k / 2), 10**4, round(10 ** (k / 2)), 10**9, 100.0, 1e4)
        yield place("r", 10**k, 10**4, 100, 100, 100.0, 10.0**k)
    for k in range(4, 42, 4):
        yield place("N", 10**k, 10**k, 1000, 1000, 1.0, 10.0 ** (2 * k))
    for k in range(7):
        for axis, penalty in ((PENALTY, 10.0**k), (SMALL_PENALTY, 10.0**-k)):
            yield place(axis, 10**k, 10**4, 100, 100, penalty, 1e30)


def proof_steps() -> pd.DataFrame:
    """Both sides of (A.18) and of (A.19), constants one, κ = 1/(NL); (A.19) without its factor log(1/δ)/ε²."""
    rows = []
    for place in _step_places():
        hyper, model, N = place.hyper, place.model, place.N
        nu, logs, lam = model.response_variance, math.log(N * model.L), place.penalty
        G0 = hyperparameters.query_bound_theorem(model, N, place.failure)
        scale = nu**3 * logs**3 * N / (model.L * lam) ** 2
        noise = (G0 * hyper.sigma * hyper.learning_rate) ** 2 * model.D * hyper.steps**3 / N**2
        rounds = math.log(place.r) ** 3 * model.D / N**3 * (1 + N * logs**2 / (lam * model.L) ** 2)
        common = place.labels | {"response_variance": nu}
        rows.append(
            common | {"step": DESCENT_STEP, "left": bounds.cost_of_descent(hyper, G0), "right": scale / place.r}
        )
        rows.append(common | {"step": NOISE_STEP, "left": noise, "right": scale * rounds})
    return pd.DataFrame(rows)


def _step_places() -> Iterator[Place]:
    def place(axis: str, size: float, **moved: float) -> Place:
        known = {"N": 10**6, "L": 1000, "D": 40, "penalty": 1.0, "r": 100.0, "label_noise": STEP_NOISE} | moved
        return Place(axis, float(size), failure=1 / (known["N"] * known["L"]), **known)  # type: ignore[arg-type]

    for k in range(2, 13):
        yield place("N", 10**k, N=10**k)
        yield place("L", 10**k, L=10**k)
        yield place("r", 10**k, r=10.0**k)
        yield place(PENALTY, 10.0**k, penalty=10.0**k)
    for k in range(1, 7):
        yield place("D", 10**k, D=10**k)
        yield place(SMALL_PENALTY, 10.0**k, penalty=10.0**-k)
        # where the second bracket of (A.19) counts and λ stays above G²
        yield place(VARIANCE, 1 + 10.0**k, N=10**36, penalty=1e12, label_noise=10 ** (k / 2))
