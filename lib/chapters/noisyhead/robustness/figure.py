"""One trial of Figure 4: all heads on one data set, before and after the attack."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.robustness import arithmetic
from costofprivacy.noisyhead import accounts, attack, head, hyperparameters, population, recipes
from costofprivacy.noisyhead.attack import NONE, Attack, candidates, direction, pretrain_each, with_each
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.noisyhead.ridge import RidgeWithOneMore
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

RATE = 0.007  # η₀(λ + G²)² of section 6.3
PUBLISHED_RADIUS = 0.1  # R over C²√(N/L) behind the published numbers
GROWTH = tuple(10.0 ** np.arange(-2, 12.5, 0.5))  # α of the curve over many decades
RIDGE_SETTINGS = (Setting.PRINTED, Setting.PUBLISHED)  # ridge knows no other difference than the attack's
PARTS = ("attack", "start", "noise")  # what may differ between the two runs, one at a time


@dataclass(frozen=True)
class Problem:
    """A data set of Figure 4 and the attacks on it: all that ridge depends on."""

    N: int
    L: int
    D: int
    failure: float
    penalty: float
    label_noise: float
    mu: float
    alpha: tuple[float, ...]
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @property
    def model(self) -> PromptModel:
        """The law of a clean prompt."""
        return PromptModel(self.D, self.L, self.label_noise)

    def attack(self, setting: Setting, alpha: float) -> Attack:
        """As (5.1) prints it, or with y_{L+1} shifted as well."""
        return Attack(alpha, self.mu, 0.0 if setting == Setting.PRINTED else alpha)

    def attacks(self, setting: Setting) -> list[Attack]:
        """One for each α."""
        return [self.attack(setting, alpha) for alpha in self.alpha]


@dataclass(frozen=True)
class Cell(Problem):
    """The same with the budget of Algorithm 1: everything that a trial needs."""

    epsilon: float
    delta: float

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return settings(self.model, self.N, self.failure, self.penalty)

    @cached_property
    def noise(self) -> dict[Setting, float]:
        """Standard deviation of an entry of z_t in each setting."""
        budget = ApproximateDP(self.epsilon, self.delta)
        return {s: accounts.setting_noise_std(s, hyper, budget, self.N) for s, hyper in self.hyper.items()}

    @cached_property
    def columns(self) -> pd.DataFrame:
        """setting, method, part, alpha of each number that a trial returns."""
        nan = math.nan
        shared = [("clean", nan), *(("attacked", a) for a in self.alpha)]
        parts = [(part, self.alpha[0]) for part in PARTS]
        far = [*(("growth", a) for a in GROWTH), ("limit", math.inf)]
        rows = [(s, "noisyhead", *part) for s in Setting for part in (*shared, *parts)]
        rows += [(s, "ridge", *part) for s in RIDGE_SETTINGS for part in (*shared, *far)]
        rows += [(s, "ridge-normal-equations", "attacked", a) for s in RIDGE_SETTINGS for a in self.alpha]
        rows += [(s, "noisyhead", f"{part}, closed form", nan) for s in Setting for part in PARTS[1:]]
        return pd.DataFrame(rows, columns=["setting", "method", "part", "alpha"]).astype({"setting": str})


def settings(model: PromptModel, N: int, failure: float, penalty: float) -> dict[Setting, Hyperparameters]:
    """What Algorithm 1 is told in each setting.

    ``printed``: G and R of Theorem 4.1, T = ⌊log N⌋. ``published``: G of its proof, R = 0.1·C²√(N/L), read off the
    authors' public code. ``corrected``: a head that has time to learn: penalty λ/2 in the update, so that it rests at
    Γ*, R = C/(2√λ), η₀ = 1/(λ + G²) and T = ⌈1/(η₀λ)⌉, the steps in which Γ⁰ is forgotten by a factor e at least.
    """

    G = hyperparameters.feature_bound_proof(model, N, failure)
    theorem = recipes.theorem(model, N, failure, penalty, max(1, math.floor(math.log(N))))
    printed = replace(theorem, learning_rate=RATE / (penalty + theorem.feature_bound**2) ** 2)
    C, fast = theorem.clip_norm, 1 / (penalty + G**2)
    R, R_right = PUBLISHED_RADIUS * C**2 * math.sqrt(N / model.L), hyperparameters.weight_bound_singular(C, penalty)
    published = Hyperparameters(C, G, R, penalty, RATE / (penalty + G**2) ** 2, theorem.steps)
    corrected = Hyperparameters(C, G, R_right, penalty / 2, fast, math.ceil(1 / (fast * penalty)))
    return {Setting.PRINTED: printed, Setting.PUBLISHED: published, Setting.CORRECTED: corrected}


def initial_std(setting: Setting) -> float:
    """Standard deviation of an entry of Γ⁰: 0 but behind the published numbers."""
    return authors.INITIAL_STD if setting == Setting.PUBLISHED else 0.0


@dataclass(frozen=True)
class Draw:
    """One data set: N − 1 prompts that stay clean, raw and clipped, the one that is attacked, and test prompts."""

    raw: Statistics
    clipped: Statistics
    prompt: Prompts
    row: int
    test: Moments

    @cached_property
    def rest(self) -> Moments:
        """Moments of the prompts that stay clean, raw."""
        return head.moments(self.raw)


def draw(problem: Problem, rng: np.random.Generator) -> Draw:
    """The prompts are exchangeable, so the last one drawn may be the one attacked; ``row`` says where it stands."""
    model, N = problem.model, problem.N
    clip_norm = hyperparameters.clip_norm(model, N, problem.failure)
    raw, clipped = head.sample_statistics(model, N - 1, clip_norm, rng=rng)
    prompt = sample(model, 1, rng=rng)
    test, _ = head.sample_statistics(model, problem.test_prompts, rng=rng)
    return Draw(raw, clipped, prompt, int(rng.integers(N)), head.moments(test))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One data set, clean and attacked, all methods: shape (2, columns), displacement and test error.

    The displacement is the mean of ⟨Γ_bad − Γ, Z⟩² over the test prompts; its two heads share all clean prompts.
    """
    return measured(cell, draw(cell, rng), rng)


def measured(cell: Cell, data: Draw, rng: np.random.Generator) -> np.ndarray:
    """`trial` on a data set that is drawn already."""
    found = [_noisyhead(cell, setting, data, rng) for setting in Setting]
    noisy, closed = [pair for *pair, _ in found], [of_parts for *_, of_parts in found]
    solved = [_ridge(cell, setting, data) for setting in RIDGE_SETTINGS]
    textbook = [_normal_equations(cell, s, data, weights[0]) for s, (_, weights) in zip(RIDGE_SETTINGS, solved)]
    moved = np.concatenate([difference for difference, _ in (*noisy, *solved, *textbook)])
    weights = np.concatenate([Gamma for _, Gamma in (*noisy, *solved, *textbook)])
    flat = moved.reshape(len(moved), -1)
    displacement = np.einsum("kp,pq,kq->k", flat, data.test.gram, flat, optimize=True)
    both = np.stack([displacement, population.prediction_error(cell.model, weights)])
    alone = np.concatenate(closed)
    return np.hstack([both, np.stack([alone, np.full_like(alone, np.nan)])])


def _noisyhead(
    cell: Cell, setting: Setting, data: Draw, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Γ_bad − Γ and Γ_bad: the clean head itself, one for each α, then for the first α one for each part alone.

    Last what two Γ⁰ and two noises alone are expected to make, on the clean data set.
    """
    hyper, std, width = cell.hyper[setting], cell.noise[setting], initial_std(setting)
    starts = width * rng.standard_normal((2, cell.D, cell.D))
    noises = np.stack([std * noise(seed, hyper.steps, cell.D) for seed in rng.integers(2**63, size=2)])
    clean, *attacked = training_sets(data.clipped, data.prompt, cell.attacks(setting), hyper)
    others = [1] * len(attacked)
    sets = [clean, *attacked, attacked[0], clean, clean]
    Gamma = pretrain_each(sets, hyper, noises, [0, *others, 0, 0, 1], starts[[0, *others, 0, 1, 0]])
    return Gamma - Gamma[0], Gamma, attack.rerun_displacement(clean, hyper, cell.model, std, width)


def noise(seed: int, steps: int, D: int) -> np.ndarray:
    """Standard normal noise of T steps, shape (T, D²), of its own stream."""
    return np.random.default_rng(seed).standard_normal((steps, D * D))


def training_sets(clipped: Statistics, prompt: Prompts, attacks: list[Attack], hyper: Hyperparameters) -> list[Moments]:
    """Moments of all prompts, clipped and projected: clean, then with the last one under each attack."""
    rest = head.project(clipped, hyper.feature_bound)
    last = head.project(candidates(prompt, [NONE, *attacks], hyper.clip_norm), hyper.feature_bound)
    return with_each(head.moments(rest), len(clipped.response), last)


def _ridge(cell: Cell, setting: Setting, data: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Γ*_bad − Γ* and Γ*_bad, by rank-one updates: clean, for each α, over many decades of α, and for α = ∞."""
    far = [cell.attack(setting, alpha) for alpha in GROWTH]
    solver, steps = rank_one(cell, data, [NONE, *cell.attacks(setting), *far])
    ratio = np.array([float(setting != Setting.PRINTED)])
    steps = np.concatenate([steps, solver.limit(direction(data.prompt, cell.mu), ratio)])
    return steps - steps[0], solver.without + steps


def rank_one(problem: Problem, data: Draw, attacks: list[Attack]) -> tuple[RidgeWithOneMore, np.ndarray]:
    """The solver that knows the clean prompts, and its step for the last prompt under each attack."""
    solver = RidgeWithOneMore(data.rest, problem.N - 1, problem.penalty)
    last = candidates(data.prompt, attacks)
    return solver, solver.step(last.Z, last.response)


def _normal_equations(cell: Cell, setting: Setting, data: Draw, clean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Γ*_bad − Γ* and Γ*_bad for each α, from the normal equations in double precision."""
    evaluate = arithmetic.EVALUATIONS[arithmetic.REPORTED]
    rows = attacked_rows(cell, setting, data)
    solutions = [arithmetic.attempt(evaluate, Z, y, cell.penalty, data.row) for Z, y in rows]
    Gamma = np.stack(solutions).reshape(-1, cell.D, cell.D)
    return Gamma - clean, Gamma


def attacked_rows(problem: Problem, setting: Setting, data: Draw) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """vec(Z) and y of all N prompts, shapes (N, p) and (N,), the attacked one in its row, for each α in turn."""
    last = candidates(data.prompt, problem.attacks(setting))
    Z = np.insert(data.raw.Z.reshape(problem.N - 1, -1), data.row, 0.0, axis=0)
    y = np.insert(data.raw.response, data.row, 0.0)
    for bad, response in zip(last.Z, last.response):
        Z[data.row], y[data.row] = bad.reshape(-1), response
        yield Z, y
