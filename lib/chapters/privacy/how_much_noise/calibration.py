"""What the papers say of their calibrations, as numbers: single steps, their composition, the least noise, orders."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from chapters.noisyhead.mechanism.sensitivity import FAR, contribution, neighbour
from chapters.privacy.how_much_noise.prompts import blank_sensitivity
from companion.streams import generator
from costofprivacy.dpgd import accounting
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule, noise_multipliers
from costofprivacy.noisyhead import pretraining, recipes
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate_noise_multiplier,
)

EPSILON_PER_STEP = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 8.0, 10.0, 15.0, 20.0, 50.0)
DELTA_PER_STEP = (1e-3, 1e-5, 1e-7, 1e-9, 1e-12)
STEPS = (1, 2, 5, 10, 20, 50, 100, 1000)
CONTRACTION = 0.9  # of a step, for the last iterate beside the others
SMALL_DELTAS = tuple(10.0**-k for k in (2, 4, 8, 16, 32, 64, 100))
RHO_GIVEN, EPSILON_GIVEN = "ρ = 1", "ε = √ln(1/δ)"
SCHEDULES: dict[str, Schedule] = {
    "constant": Constant(3.0),
    "square root of 1 − t": Polynomial(3.0, 0.5),
    "square of 1 − t": Polynomial(3.0, 2.0),
    "harmonic": Harmonic(0.3, 0.1),
}
TRIED = 200  # directions and responses of the prompts that are left out


def single_steps() -> pd.DataFrame:
    """δ that one classical step spends at its ε, exactly, over the δ that it is made for."""
    rows = []
    for delta in DELTA_PER_STEP:
        for epsilon in EPSILON_PER_STEP:
            budget = ApproximateDP(epsilon, delta)
            spent = float(GaussianDP(1 / classical_noise_multiplier(budget)).delta(epsilon))
            rows.append({"epsilon": epsilon, "delta": delta, "delta_spent": spent, "spent_over_asked": spent / delta})
    return pd.DataFrame(rows)


def limits() -> pd.DataFrame:
    """The ε of a step up to which the classical formula is private at each δ: where it needs just the least noise."""

    def surplus(log_epsilon: float, delta: float) -> float:
        budget = ApproximateDP(math.exp(log_epsilon), delta)
        return math.log(classical_noise_multiplier(budget) / exact_noise_multiplier(budget))

    ends = [(delta, brentq(surplus, 0.0, math.log(100.0), args=(delta,), xtol=1e-9)) for delta in DELTA_PER_STEP]
    return pd.DataFrame([{"delta": delta, "epsilon_limit": math.exp(end)} for delta, end in ends])


def composition(epsilons: Sequence[float], delta: float) -> pd.DataFrame:
    """T steps at (ε/T, δ/T) each: the δ that they spend together at ε, and the noise multipliers of three accounts.

    ``delta_together`` is for steps with just the noise that (ε/T, δ/T) needs; ``printed`` is the classical formula's.
    """
    rows = []
    for epsilon in epsilons:
        budget = ApproximateDP(epsilon, delta)
        for T in STEPS:
            step = ApproximateDP(epsilon / T, delta / T).to_gaussian()
            found = {
                "delta_together": float(every_iterate(step, T).delta(epsilon)),
                "printed": basic_noise_multiplier(budget, T),
                "least": exact_composed_noise_multiplier(budget, T),
                "least_last": last_iterate_noise_multiplier(budget, CONTRACTION, T),
            }
            rows.append({"epsilon": epsilon, "delta": delta, "T": T} | found)
    return pd.DataFrame(rows)


def inclusion(sizes: Sequence[int], told: tuple[int, float, float, float], seed: int) -> pd.DataFrame:
    """How far one prompt moves an update when it is left out, N announced, beside what the noise is made for.

    ``bound`` is (A.1), for a replaced prompt; ``left_out`` the largest move of a prompt that is left blank,
    ``replaced`` that of a replaced one, both exact; ``found`` the largest move of blank prompts that was found.
    """
    D, failure, penalty, label_noise = told
    rows = []
    for N in sizes:
        model = recipes.square_model(D, N, label_noise)
        for setting, hyper in recipes.low_dimension(model, N, failure, penalty).items():
            rng = generator(seed, N, 0)
            frame, _ = np.linalg.qr(rng.standard_normal((D, D)))
            query, across = frame[:, 0], frame[:, 1]
            Gamma = hyper.weight_bound * np.outer(query, query)
            angles = np.append(rng.uniform(-math.pi, math.pi, TRIED), 0.0)
            moves = [
                np.linalg.norm(contribution(Gamma, neighbour(model.L, token, query, y), hyper))
                for token in (math.cos(a) * query + math.sin(a) * across for a in angles)
                for y in (-FAR, FAR)
            ]
            found = {
                "bound": pretraining.update_sensitivity(hyper, N),
                "replaced": pretraining.update_sensitivity_exact(hyper, N),
                "left_out": blank_sensitivity(hyper, N),
                "found": hyper.learning_rate / N * float(max(moves)),
            }
            rows.append({"setting": str(setting), "N": N} | found)
    return pd.DataFrame(rows)


def outputs(rho: float, sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """μ and ε of DP-GD with the noise (4.2): the last iterate released alone, and every iterate."""
    rows = []
    for name, schedule in SCHEDULES.items():
        for n in sizes:
            rates = schedule(np.arange(1, n + 1) / n) / n
            sigma = noise_multipliers(rates, rho)
            views = {"last": accounting.last_iterate(rates, sigma), "every": accounting.every_iterate(rates, sigma)}
            spent = {f"{view}_mu": told.mu for view, told in views.items()}
            spent |= {f"{view}_epsilon": told.epsilon(delta) for view, told in views.items()}
            rows.append({"schedule": name, "n": n, "rho": rho} | spent)
    return pd.DataFrame(rows)


def orders() -> pd.DataFrame:
    """ρ and ε/√ln(1/δ) as δ falls, the one or the other held constant; ``ratio`` is the second over the first."""
    rows = []
    for delta in SMALL_DELTAS:
        root = math.sqrt(-math.log(delta))
        pairs = {
            RHO_GIVEN: (1.0, GaussianDP(1.0).epsilon(delta)),
            EPSILON_GIVEN: (ApproximateDP(root, delta).to_gaussian().mu, root),
        }
        for given, (rho, epsilon) in pairs.items():
            found = {"rho": rho, "epsilon": epsilon, "ratio": epsilon / root / rho}
            rows.append({"given": given, "delta": delta, "log": root**2} | found)
    return pd.DataFrame(rows)
