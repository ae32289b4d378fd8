"""What is measured of Theorem 4.1: both sides of (4.2), and the events and steps of its proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from costofprivacy import _fits, _validate
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import (
    accounts,
    bounds,
    dynamics,
    head,
    hyperparameters,
    population,
    pretraining,
    prompts,
    recipes,
)
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

RATE = 0.9  # share of the upper end of Theorem 4.1's interval for η₀
LONG = 10**12  # steps, in closed form, after which descent has come to rest
CHUNK = 100  # prompts drawn at a time where tokens are needed
RADII = np.logspace(-4, 0, 9)  # distances from Γ* over ‖Γ*‖ at which the recursion is tried
RESPONSE_STEPS = 100  # steps through which unit noise is followed
FREE = 1e9  # a radius that no iterate reaches
PROBES = 20  # directions at each distance


@dataclass(frozen=True)
class Cell:
    """One point of one axis with everything a trial needs."""

    axis: str
    N: int
    L: int
    D: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    kappa: float
    penalty: float
    tau: float

    @property
    def key(self) -> int:
        """(N, L, D) names the random stream: the axes meet in common prompts."""
        return (self.N * 10**6 + self.L) * 10**3 + self.D

    @property
    def model(self) -> PromptModel:
        """The law of this cell's prompts."""
        return PromptModel(self.D, self.L, self.tau)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """Theorem 4.1's hyperparameters, and the corrected ones, both with η₀ at 0.9 of its interval's end."""
        model, lam = self.model, self.penalty
        C = hyperparameters.clip_norm(model, self.N, self.kappa)
        G = hyperparameters.feature_bound_theorem(model, self.N, self.kappa)
        G_uniform = hyperparameters.feature_bound_uniform(model, self.N, self.kappa)
        R = hyperparameters.weight_bound_theorem(model, self.N, self.kappa, lam)
        R_right = hyperparameters.weight_bound_singular(C, lam)
        rate, rate_uniform = (RATE * hyperparameters.learning_rate_interval(g, lam) for g in (G, G_uniform))
        return {
            Setting.PRINTED: Hyperparameters(C, G, R, lam, rate, 1),
            Setting.CORRECTED: Hyperparameters(C, G_uniform, R_right, lam / 2, rate_uniform, 1),
        }

    def steps(self, hyper: Hyperparameters) -> tuple[int, ...]:
        """T of the axis, or that of Theorem 4.2(i)."""
        return self.T or (bounds.low_dimensional_iterations(self.model, self.N, hyper.learning_rate, self.penalty),)

    def noise_std(self, setting: Setting, T: int) -> float:
        """Standard deviation of an entry of z_t for T steps: as Algorithm 1 prints it, or exactly composed."""
        hyper = replace(self.hyper[setting], steps=T)
        return accounts.setting_noise_std(setting, hyper, ApproximateDP(self.epsilon, self.delta), self.N)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Descent, noise, total excess risk and squared weight error of the noise; shape (settings, T, 4) on one data set.

    *descent*: the noiseless twin against Γ*; *noise*: NoisyHead against its twin; both over a fresh prompt, in closed
    form. Followed by ‖Γ*‖_F in a further row of the last axis: shape (settings, T, 5).
    """
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.sample_statistics(cell.model, cell.N, clip, rng=rng)
    reference = ridge(head.moments(raw), cell.penalty)
    rows = []
    for setting, hyper in cell.hyper.items():
        T = cell.steps(hyper)
        std = [*(cell.noise_std(setting, t) for t in T), *np.zeros(len(T))]
        data = head.moments(head.project(clipped, hyper.feature_bound))
        private, twin = np.split(pretraining.pretrain(data, hyper, std, rng=rng, steps=[*T, *T]), 2)
        risks = [population.excess_risk(cell.model, d) for d in (twin - reference, private - twin, private - reference)]
        spread = ((private - twin) ** 2).sum(axis=(1, 2))
        rows.append(np.stack([*risks, spread, np.full(len(T), np.linalg.norm(reference))], axis=-1))
    return np.stack(rows)


QUANTITIES = ("descent", "noise", "total", "weight_noise", "ridge_norm")


def event_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """On one data set: max ‖Σx_i‖/√L, max |y|, max ‖Z‖, mean ‖Z‖, shares of ‖Z‖ above G and G₀; shape (8,)."""
    sums, responses, norms = [], [], []
    for start in range(0, cell.N, CHUNK):
        drawn = prompts.sample(cell.model, min(CHUNK, cell.N - start), rng=rng)
        sums.append(np.linalg.norm(drawn.x[:, :-1].sum(axis=1), axis=1))
        responses.append(np.abs(drawn.y).max(axis=1))
        norms.append(head.statistics(drawn).norm)
    Z = np.concatenate(norms)
    levels = [level for _, level in feature_levels(cell)]
    largest_sum = np.concatenate(sums).max() / np.sqrt(cell.L)
    return np.array(
        [largest_sum, np.concatenate(responses).max(), Z.max(), Z.mean(), *((g < Z).mean() for g in levels)]
    )


def feature_levels(cell: Cell) -> list[tuple[str, float]]:
    """The levels that ‖Z‖ is held against."""
    arguments = (cell.model, cell.N, cell.kappa)
    return [
        ("G, theorem", hyperparameters.feature_bound_theorem(*arguments)),
        ("G, proof", hyperparameters.feature_bound_proof(*arguments)),
        ("G0, proof", hyperparameters.query_bound_proof(*arguments)),
        ("G, uniform in L", hyperparameters.feature_bound_uniform(*arguments)),
    ]


def noise_response_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ‖²_F and E⟨Γ, Z⟩² of RESPONSE_STEPS steps that are fed unit noise and no responses, Π_R away; shape (2,)."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    silent = Moments(head.moments(raw).gram, np.zeros(cell.D**2))
    free = replace(cell.hyper[Setting.PRINTED], weight_bound=FREE, steps=RESPONSE_STEPS)
    Gamma = pretraining.pretrain(silent, free, [1.0], rng=rng)[0]
    return np.array([(Gamma**2).sum(), population.excess_risk(cell.model, Gamma)])


def recursion_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The steps (A.5)-(A.8) tried on one data set, as printed and with λ/2; shape (settings, 4)."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    data = head.moments(raw)
    reference = ridge(data, cell.penalty)
    hyper = cell.hyper[Setting.PRINTED]
    halved = replace(hyper, penalty=cell.penalty / 2)
    return np.stack([_recursion(data, reference, h, cell.penalty, rng) for h in (hyper, halved)])


def _recursion(
    data: Moments, reference: np.ndarray, hyper: Hyperparameters, penalty: float, rng: np.random.Generator
) -> np.ndarray:
    """Least ⟨∇, Γ − Γ*⟩/(λ‖Γ − Γ*‖²); λ_max(∇²)/(G² + 2λ); worst step over (A.3)'s factor; (A.8) at rest, over R²."""
    centre, norm = reference.reshape(-1), np.linalg.norm(reference)
    rest = pretraining.gradient_descent(data, replace(hyper, steps=LONG)).reshape(-1)
    away = rest - centre if np.linalg.norm(rest - centre) > 1e-12 * norm else rng.standard_normal(len(centre))
    directions = np.vstack([away, -away, rng.standard_normal((PROBES - 2, len(centre)))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offset = (RADII[:, None, None] * norm * directions).reshape(-1, len(centre))
    Gamma, square = centre + offset, (offset**2).sum(axis=1)
    gradient = Gamma @ data.gram - data.cross + 2 * hyper.penalty * Gamma
    convexity = (gradient * offset).sum(axis=1) / (penalty * square)
    smooth = hyper.feature_bound**2 + 2 * penalty
    factor = 1 - 2 * hyper.learning_rate * penalty + (hyper.learning_rate * smooth) ** 2
    stepped = ((offset - hyper.learning_rate * gradient) ** 2).sum(axis=1) / (factor * square)
    curvature = np.linalg.eigvalsh(data.gram)[-1] + 2 * hyper.penalty
    left_over = ((rest - centre) ** 2).sum() / hyper.weight_bound**2
    return np.array([convexity.min(), curvature / smooth, stepped.max(), left_over])


RECURSION_CHECKS = ("(A.5)", "(A.6)", "(A.7)", "(A.8)")


@dataclass(frozen=True)
class Experiment:
    """Both sides of (4.2) along T, N, D and L, and the events and steps of its proof.

    Args:
        N, L, D: numbers of training prompts, prompt lengths, dimensions; each axis runs through one of them with the
            others at their middle element. T: numbers of steps, at the middle of all three.
        epsilon, delta: the budget; ε at most the least T.
        kappa: κ in (0, 1). penalty: λ > 0. tau: label noise, ≥ 0.
        trials: data sets for both sides of (4.2), at least 2. event_trials: data sets for the events, at least 2.
        seed: root of all random streams, ≥ 0.
    """

    N: tuple[int, ...] = (250, 500, 1000, 2000, 4000)
    L: tuple[int, ...] = (10, 31, 100, 316, 1000, 2000)
    D: tuple[int, ...] = (2, 3, 5, 10, 20)
    T: tuple[int, ...] = (1, 2, 5, 10, 20, 30, 50, 75, 100)
    epsilon: float = 1.0
    delta: float = 1e-5
    kappa: float = 0.01
    penalty: float = 5.0
    tau: float = 0.0
    trials: int = 100
    event_trials: int = 20
    seed: int = 4

    def __post_init__(self) -> None:
        for name, least in (("N", 2), ("L", 1), ("D", 2), ("T", 1)):
            values = _validate.each(_validate.whole, name, getattr(self, name), at_least=least)
            object.__setattr__(self, name, tuple(sorted(values)))
        _validate.probability("delta", self.delta)
        _validate.between("epsilon", _validate.positive("epsilon", self.epsilon), 0, min(self.T))
        _validate.probability("kappa", self.kappa)
        _validate.finite_positive("penalty", self.penalty)
        _validate.nonnegative("tau", self.tau)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("event_trials", self.event_trials, at_least=2)
        _validate.whole("seed", self.seed, at_least=0)
        for cell in self.cells:
            recipes.check_steps(max(max(cell.steps(hyper)) for hyper in cell.hyper.values()), cell.penalty, cell.N)

    @property
    def base(self) -> dict[str, int]:
        """The middle of the three axes; of two middle elements the lower."""
        return {name: getattr(self, name)[(len(getattr(self, name)) - 1) // 2] for name in ("N", "L", "D")}

    def cell(self, axis: str, T: tuple[int, ...] = (), **sizes: int) -> Cell:
        """A cell at the middle of the axes but for ``sizes``."""
        fixed = (self.epsilon, self.delta, self.kappa, self.penalty, self.tau)
        at = self.base | sizes
        return Cell(axis, at["N"], at["L"], at["D"], T, *fixed)

    @property
    def cells(self) -> list[Cell]:
        """The axis of T, then those of N, L and D."""
        axes = [self.cell(axis, **{axis: value}) for axis in ("N", "L", "D") for value in getattr(self, axis)]
        return [self.cell("T", self.T), *axes]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``both-sides``, ``radius``, ``events``, ``noise-response``, ``recursion`` and ``constants``."""
        along = [self.cell("L", L=L) for L in self.L]
        sides = runner.run(trial, self.cells, self.trials, self.seed)
        events = runner.run(event_trial, along, self.event_trials, self.seed + 1)
        across = [self.cell("D", D=D) for D in self.D]
        response = runner.run(noise_response_trial, across, self.trials, self.seed + 3)
        recursion = runner.run(recursion_trial, [self.cell("T")], self.event_trials, self.seed + 2)
        return {
            "both-sides": pd.concat([side_rows(c, v) for c, v in sides.items()], ignore_index=True),
            "radius": pd.concat([radius_row(c, v) for c, v in sides.items() if c.axis == "N"], ignore_index=True),
            "events": pd.concat([event_rows(c, v) for c, v in events.items()], ignore_index=True),
            "noise-response": pd.concat([response_rows(c, v) for c, v in response.items()], ignore_index=True),
            "recursion": recursion_rows(next(iter(recursion.values()))),
            "constants": sum_constants(self.base["D"], self.kappa),
        }


def side_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Means over the data sets beside the two terms of (4.2), hidden constants one, and the amended bound."""
    rows = []
    budget = ApproximateDP(cell.epsilon, cell.delta)
    query_bound = hyperparameters.query_bound_theorem(cell.model, cell.N, cell.kappa)
    for s, (setting, hyper) in enumerate(cell.hyper.items()):
        for t, T in enumerate(cell.steps(hyper)):
            mean, error = _fits.mean_and_error(samples[:, s, t])
            told, std = replace(hyper, steps=T), cell.noise_std(setting, T)
            limit = hyper.weight_bound**2 * population.context_energy(cell.model) / cell.D**2
            sides = (
                bounds.cost_of_descent(told, query_bound),
                bounds.cost_of_noise(told, query_bound, cell.model, budget, cell.N),
                bounds.amended_cost(told, cell.model, std),
            )
            if setting == Setting.CORRECTED:
                sides = (np.nan, np.nan, sides[2])
            zero = population.zero_excess_risk(cell.model, cell.penalty)
            for name, m, e in zip(QUANTITIES[:4], mean, error):
                rows.append(
                    (
                        cell.axis,
                        str(setting),
                        cell.N,
                        cell.L,
                        cell.D,
                        T,
                        name,
                        m,
                        e,
                        len(samples),
                        *sides,
                        std,
                        limit,
                        zero,
                    )
                )
    columns = ["axis", "setting", "N", "L", "D", "T", "quantity", "value", "standard_error", "trials"]
    columns += ["bound_descent", "bound_noise", "bound_amended", "noise_std", "limit_of_R", "zero_risk"]
    return pd.DataFrame(rows, columns=columns)


def radius_row(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """‖Γ*‖_F over the data sets, the radii that are to bound it, and the noise variance that the right one saves."""
    norms = samples[:, 0, 0, -1]
    C, lam = cell.hyper[Setting.PRINTED].clip_norm, cell.penalty
    G = cell.hyper[Setting.PRINTED].feature_bound
    printed = hyperparameters.weight_bound_theorem(cell.model, cell.N, cell.kappa, lam)
    right = hyperparameters.weight_bound_singular(C, lam)
    saved = hyperparameters.sensitivity_scale(C, printed, G) / hyperparameters.sensitivity_scale(C, right, G)
    row = {
        "N": cell.N,
        "L": cell.L,
        "norm_mean": norms.mean(),
        "standard_error": norms.std(ddof=1) / np.sqrt(len(norms)),
        "norm_max": norms.max(),
        "trials": len(norms),
        "R_printed": printed,
        "R_with_1_over_N": hyperparameters.weight_bound_kept(cell.model, cell.N, cell.kappa, lam),
        "R_objective": hyperparameters.weight_bound_objective(C, lam),
        "R_singular": right,
        "variance_saved": saved**2,
    }
    return pd.DataFrame([row])


def event_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """How often the events of the proof fail, over data sets, and what share of prompts each level cuts."""
    names = [name for name, _ in feature_levels(cell)]
    levels = dict(feature_levels(cell))
    C = cell.hyper[Setting.PRINTED].clip_norm
    unit = C / np.sqrt(cell.L)
    sums, responses, largest = samples[:, 0], samples[:, 1], samples[:, 2]
    lemma = 1 + np.sqrt(np.log(cell.N / cell.kappa) / cell.D)
    row = {
        "N": cell.N,
        "L": cell.L,
        "D": cell.D,
        "data_sets": len(samples),
        "mean_norm": samples[:, 3].mean(),
        "standard_error": samples[:, 3].std(ddof=1) / np.sqrt(len(samples)),
        "root_energy": np.sqrt(population.context_energy(cell.model)),
        "D2_fails": int((sums > levels["G, proof"] / unit).sum()),
        "D2_lemma_fails": int((sums > lemma).sum()),
        "D3_fails": int((responses > C).sum()),
        "D3_union_bound": cell.N * (cell.L + 1) * 2 * stats.norm.sf(C / np.sqrt(cell.model.response_variance)),
        "A4_ratio": (largest / (responses * sums / np.sqrt(cell.L))).max(),
        "A4_violated": int((largest > responses * sums / np.sqrt(cell.L)).sum()),
        "kappa": cell.kappa,
    }
    row |= {name: levels[name] for name in names}
    row |= {f"share above {name}": samples[:, 4 + i].mean() for i, name in enumerate(names)}
    return pd.DataFrame([row])


def response_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean response to unit noise beside Σ_t (1 − η₀(2λ + h))^{2t}, times D² for the weights, E‖m‖² for the risk."""
    mean, error = _fits.mean_and_error(samples)
    energy = population.context_energy(cell.model)
    told = replace(cell.hyper[Setting.PRINTED], steps=RESPONSE_STEPS)
    risk = dynamics.noise_risk(told, cell.model, 1.0, energy / cell.D**2)
    closed = (risk / energy * cell.D**2, risk)
    rows = [
        (name, cell.D, m, e, len(samples), c) for name, m, e, c in zip(("weights", "excess_risk"), mean, error, closed)
    ]
    return pd.DataFrame(rows, columns=["quantity", "D", "value", "standard_error", "trials", "closed_form"])


def recursion_rows(samples: np.ndarray) -> pd.DataFrame:
    """The checks of (A.5)-(A.8): least, or largest, over the data sets."""
    rows = []
    for s, setting in enumerate((Setting.PRINTED, Setting.CORRECTED)):
        for i, name in enumerate(RECURSION_CHECKS):
            values = samples[:, s, i]
            rows.append((str(setting), name, values.min() if name == "(A.5)" else values.max(), len(samples)))
    return pd.DataFrame(rows, columns=["setting", "check", "worst", "data_sets"])


def sum_constants(D: int, kappa: float) -> pd.DataFrame:
    """The constant that D₂ needs in front of each form of G, as N grows (L → ∞, where ‖Σx_i‖²/L is χ²_D/D).

    The level that all N prompts respect with probability 1 − κ is the upper κ/N quantile, to first order. For the
    form of Lemma A.2 the constant is at most √2: P(χ_D > √D + √(2t)) ≤ e^{−t} by Gaussian concentration.
    """
    rows = []
    for power in range(3, 31, 3):
        N = 10.0**power
        level = np.sqrt(stats.chi2.isf(kappa / N, D) / D)
        odds = np.log(N / kappa)
        rows.append((N, odds, level / (1 + (odds / D**2) ** 0.25), level / (1 + np.sqrt(odds / D))))
    return pd.DataFrame(rows, columns=["N", "log_odds", "constant_proof", "constant_lemma"])
