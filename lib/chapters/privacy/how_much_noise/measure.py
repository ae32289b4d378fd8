"""What a budget asks for and what it costs, in both algorithms: nothing is drawn but the prompts that are left out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from chapters.noisyhead.mechanism.measure import FAR, contribution, neighbour
from chapters.noisyhead.rivals import measure as rivals_measure
from chapters.ranges import KAPPA, NOISE, NOISE_OR_NONE, PENALTY, SEED, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy._validate import within
from costofprivacy.dpgd import accounting, system, tuning
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule, noise_multipliers
from costofprivacy.noisyhead import dynamics, population, pretraining, recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    ZeroConcentratedDP,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate_noise_multiplier,
)
from costofprivacy.privacy.groups import BLANK, RELATIONS, REPLACE

# ---- What NoisyHead pays: noise for each iterate and test error, by account and relation, in closed form ----

PRINTED, EVERY, LAST = "Algorithm 1 as printed", "every iterate, exactly", "last iterate alone"
BOUND, SHARP = "bound (A.1)", "exact"
BEST, PAPERS = "best", "the paper's"
PENALTIES = tuple(np.geomspace(1e-5, 1e2, 57))  # tried for λ


def blank_sensitivity(hyper: Hyperparameters, N: int) -> float:
    """How far leaving one prompt blank can move an update, N announced: η₀(RG² + CG)/N, for ‖Z‖ ≤ C too; attained."""
    A, B = pretraining.reach(hyper.weight_bound, hyper.clip_norm, hyper.feature_bound)
    return hyper.learning_rate * (A + B) / N


def multiplier(account: str, hyper: Hyperparameters, budget: ApproximateDP) -> float:
    """Standard deviation of an iterate's noise over the sensitivity of an update."""
    if account == LAST:
        return last_iterate_noise_multiplier(budget, min(1.0, hyper.contraction), hyper.steps)
    return {PRINTED: basic_noise_multiplier, EVERY: exact_composed_noise_multiplier}[account](budget, hyper.steps)


# The account, sensitivity and relation of each way to make Algorithm 1 (ε, δ)-DP, and how far an update moves there.
WAYS: dict[tuple[str, str, str], Callable[[Hyperparameters, int], float]] = {
    (PRINTED, BOUND, REPLACE): pretraining.update_sensitivity,
    (EVERY, BOUND, REPLACE): pretraining.update_sensitivity,
    (LAST, BOUND, REPLACE): pretraining.update_sensitivity,
    (LAST, SHARP, REPLACE): pretraining.update_sensitivity_exact,
    (LAST, SHARP, BLANK): blank_sensitivity,
}


def table(
    sizes: Sequence[int], epsilons: Sequence[float], deltas: Sequence[float], told: tuple[int, float, float, float]
) -> pd.DataFrame:
    """Noise and test error of each way, at its own best public penalty and at the paper's.

    ``noise_multiplier`` is the standard deviation of an iterate's noise over the bound (A.1) at the row's penalty.

    Args:
        sizes: N, with L = ⌊√N⌋. told: D, κ, λ of the paper and τ.
    """
    D, failure, penalty, label_noise = told
    rows = []
    for N in sizes:
        model = recipes.square_model(D, N, label_noise)
        for epsilon, delta, way in product(epsilons, deltas, WAYS):
            budget = ApproximateDP(epsilon, delta)
            tried = [_row(way, model, N, failure, at, budget) for at in PENALTIES]
            best = tried[int(np.argmin([row["test_error"] for row in tried]))]
            papers = _row(way, model, N, failure, penalty, budget)
            rows += [best | {"choice": BEST}, papers | {"choice": PAPERS}]
    return pd.DataFrame(rows)


def _row(
    way: tuple[str, str, str], model: PromptModel, N: int, failure: float, penalty: float, budget: ApproximateDP
) -> dict[str, Any]:
    hyper = rivals_measure.corrected_at(model, N, failure, penalty)
    account, sensitivity, relation = way
    std = multiplier(account, hyper, budget) * WAYS[way](hyper, N)
    noise = dynamics.noise_risk(hyper, model, std, dynamics.curvature(model))
    own: dict[str, Any] = {"N": N, "epsilon": budget.epsilon, "delta": budget.delta}
    own |= {"account": account, "sensitivity": sensitivity, "relation": relation}
    own |= {"penalty": penalty, "steps": hyper.steps}
    own |= {"noise_multiplier": std / pretraining.update_sensitivity(hyper, N), "noise_std": std, "noise_risk": noise}
    error = population.ridge_prediction_error(model, penalty) + noise
    return own | {"test_error": error, "response_variance": model.response_variance}


# ---- What the papers say of their calibrations: single steps, their composition, the least noise, orders ----

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
    for delta, epsilon in product(DELTA_PER_STEP, EPSILON_PER_STEP):
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
    for epsilon, T in product(epsilons, STEPS):
        budget, step = ApproximateDP(epsilon, delta), ApproximateDP(epsilon / T, delta / T).to_gaussian()
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
    for (name, schedule), n in product(SCHEDULES.items(), sizes):
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


# ---- From ε and δ to ρ: exactly, by Rényi divergences, and as arXiv:2505.16329v2 prints it ----

EXACT, RENYI, PROPOSITION, RULE = "exact", "Rényi divergences", "Proposition A.3", "(A.3)"
CLASSICAL = "classical"  # the Gaussian mechanism as NoisyHead's single step has it
GRID = tuple(np.geomspace(0.01, 10.0, 25))  # ρ of the curves


def rho_renyi(budget: ApproximateDP) -> float:
    """The largest ρ such that dp-accounting derives (ε, δ) from ρ²/2-zCDP."""

    def surplus(log_rho: float) -> float:
        return ZeroConcentratedDP(math.exp(2 * log_rho) / 2).epsilon_best(budget.delta) - budget.epsilon

    exact = math.log(budget.to_gaussian().mu)
    return math.exp(brentq(surplus, exact - math.log(10.0), exact + 1e-9, xtol=1e-10))


ROUTES: dict[str, Callable[[ApproximateDP], float]] = {
    # The largest ρ whose Gaussian mechanism is (ε, δ)-DP.
    EXACT: lambda budget: budget.to_gaussian().mu,
    RENYI: rho_renyi,
    # ρ²/2 + ρ√(2 ln(1/δ)) = ε, solved for ρ.
    PROPOSITION: lambda budget: math.sqrt(2 * budget.to_zero_concentrated().rho),
    # ρ = ε/(2√ln(1/δ)), what (A.3) says to put; meant for ρ ≤ √ln(1/δ).
    RULE: lambda budget: budget.epsilon / (2 * math.sqrt(-math.log(budget.delta))),
}


def budgets(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """ρ and the noise multiplier of each route from (ε, δ), and how many times the least noise that is.

    The classical Gaussian mechanism stands beside them where it is proven, for ε ≤ 1; ``rho`` is there 1 over its noise
    multiplier, and ``epsilon_spent`` what the noise spends at δ, exactly.
    """
    rows = []
    for epsilon, delta in product(epsilons, deltas):
        budget = ApproximateDP(epsilon, delta)
        rhos = {route: rho_of(budget) for route, rho_of in ROUTES.items()}
        if epsilon <= 1:
            rhos[CLASSICAL] = 1 / classical_noise_multiplier(budget)
        for route, rho in rhos.items():
            spent = {"epsilon_spent": GaussianDP(rho).epsilon(delta), "noise_over_exact": rhos[EXACT] / rho}
            told = {"epsilon": epsilon, "delta": delta, "route": route}
            rows.append(told | {"rho": rho, "noise_multiplier": 1 / rho} | spent)
    return pd.DataFrame(rows)


def curves(deltas: Sequence[float]) -> pd.DataFrame:
    """ε at each δ along ρ: exactly, by Rényi divergences, by Proposition A.3 and, for ρ² ≤ ln(1/δ), by (A.3)."""
    rows = []
    for delta, rho in product(deltas, GRID):
        told = ZeroConcentratedDP(rho**2 / 2)
        found = {
            EXACT: GaussianDP(rho).epsilon(delta),
            RENYI: told.epsilon_best(delta),
            PROPOSITION: told.epsilon(delta),
        }
        if rho**2 <= -math.log(delta):
            found[RULE] = 2 * rho * math.sqrt(-math.log(delta))
        rows += [{"delta": delta, "rho": rho, "route": name, "epsilon": value} for name, value in found.items()]
    return pd.DataFrame(rows)


# ---- What DP-GD pays: the best excess risk of its deterministic equivalent, by route and relation ----

ZERO_RISK = 0.5  # R(0) of the paper's figures, and the excess risk of answering 0
CLIP = 0.1  # c: the risk hardly depends on it where it is small
COSTED = (EXACT, PROPOSITION, RULE)  # the routes whose cost is computed


@dataclass(frozen=True)
class Cell:
    """One number of records for each feature, with every ρ that is asked for; ∞ is no privacy."""

    records: int
    label_noise: float
    rhos: tuple[float, ...]
    key: ClassVar[int] = 0  # nothing is drawn


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """For each ρ the excess risk of the best harmonic schedule, and its η̃(1); shape (rhos, 2)."""
    equations = system.isotropic(ZERO_RISK, 1 / cell.records, cell.label_noise)
    found = [tuning.best_harmonic(equations, CLIP, rho) for rho in cell.rhos]
    return np.array([[best.risk, float(best.schedule(1.0))] for best in found])


def regression_table(
    runner: Runner, epsilons: Sequence[float], deltas: Sequence[float], records: Sequence[int], label_noise: float
) -> pd.DataFrame:
    """The cost of each budget, a row for each n/d, budget and route; one left blank for the exact route alone.

    ``noise_over_step`` is the standard deviation of all the noise that protects a record, in each coordinate, over the
    longest step ηC that the record can make: 2/ρ as the paper has it. ``noise_rho`` is the ρ of Algorithm 1's noise
    (4.2): twice ρ for a blank record, since a step moves by at most 2ηC where its record is replaced and by at most ηC
    where it is left blank. ``released_noise`` is the length of the last step's noise in θ, whose target has length 1,
    ``private_risk`` the excess risk beyond that of no privacy.
    """
    asked: list[dict[str, Any]] = []
    for epsilon, delta, route in product(epsilons, deltas, COSTED):
        rho = ROUTES[route](ApproximateDP(epsilon, delta))
        for relation in RELATIONS if route == EXACT else (REPLACE,):
            noise = 2 * rho if relation == BLANK else rho
            told = {"epsilon": epsilon, "delta": delta, "route": route, "relation": relation, "rho": rho}
            asked.append(told | {"noise_rho": noise, "noise_over_step": 2 / noise})
    rhos = (*sorted({row["noise_rho"] for row in asked}), math.inf)
    cells = [Cell(ratio, label_noise, rhos) for ratio in records]
    rows = []
    for cell, values in runner.run(solve, cells, 1, 0).items():
        risks = dict(zip(rhos, values[0], strict=True))
        free = risks[math.inf][0]
        for row in asked:
            risk, rate = risks[row["noise_rho"]]
            length = 2 * CLIP * rate / cell.records / row["noise_rho"]
            found = {"released_noise": length, "excess_risk": risk, "free_risk": free, "private_risk": risk - free}
            rows.append({"records": cell.records} | row | found)
    half_noise = label_noise**2 / 2
    found_rows = pd.DataFrame(rows)
    halves = {"half_test_error": found_rows["excess_risk"] + half_noise}
    return found_rows.assign(**halves, half_response_variance=ZERO_RISK + half_noise)


class Experiment(Parameters):
    """Noise and cost of a budget (ε, δ) for NoisyHead and DP-GD, by how it is calibrated and who is a neighbour."""

    epsilon: tuple[float, ...] = many(within(0.01, 20), 0.1, 0.3, 1.0, 3.0, 10.0, ascending=True)
    """Budgets ε that a user may ask for."""
    delta: tuple[float, ...] = many(chance(1e-50, 0.1), 1e-5, 1e-8)
    """Probabilities δ that a user may ask for; the first is that of the papers."""
    records: tuple[int, ...] = many(count(2, 10**9), 10, 100, 1000, 10000, ascending=True)
    """Records for each feature, n/d, of DP-GD."""
    regression_noise: float = parameter(NOISE, 0.3)
    """Standard deviation of the label noise of DP-GD's regression."""
    N: tuple[int, ...] = many(count(4, 10**9), 1000, 4000, 16000, 64000, ascending=True)
    """Numbers of NoisyHead's training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5)
    failure: float = parameter(KAPPA, 1.0)
    penalty: float = parameter(PENALTY, 5.0)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    n: tuple[int, ...] = many(count(2, 10**9), 100, 10000, ascending=True)
    """Records of a pass of DP-GD of which every iterate is released, or the last alone."""
    seed: int = parameter(SEED, 5)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``budgets`` and ``curves`` (ρ, ε, δ), ``regression`` and ``prompts`` (cost), and what claims say."""
        told = (self.D, self.failure, self.penalty, self.label_noise)
        return {
            "budgets": budgets(self.epsilon, self.delta),
            "curves": curves(self.delta),
            "regression": regression_table(runner, self.epsilon, self.delta, self.records, self.regression_noise),
            "prompts": table(self.N, self.epsilon, self.delta[:1], told),
            "single-steps": single_steps(),
            "limits": limits(),
            "composition": composition(self.epsilon, self.delta[0]),
            "inclusion": inclusion(self.N, told, self.seed),
            "outputs": outputs(1.0, self.n, self.delta[0]),
            "orders": orders(),
        }
