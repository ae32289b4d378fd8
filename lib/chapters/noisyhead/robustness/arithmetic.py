"""What double precision makes of the attacked ridge: one problem, every evaluation, against fifty digits."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import mpmath
import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from chapters.noisyhead import authors
from companion import _fits
from costofprivacy.noisyhead import accounts, head, hyperparameters, population, recipes
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead.attack import NONE, Attack, candidates, direction, pretrain_each, with_each
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import Prompts, sample
from costofprivacy.noisyhead.ridge import RidgeWithOneMore
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

# ---- One ridge problem, (2.7), through several evaluations: what the arithmetic makes of an outlier ----
# The normal equations λN I + Σ vec(Z) vec(Z)ᵀ with one prompt of size ‖Z'‖ have a condition number of about ‖Z'‖²/(λN);
# their entries near ‖Z'‖² are rounded to multiples of ‖Z'‖² times the rounding unit, the clean prompts' with them. An
# evaluation takes Z (N, p), y (N,), λ and the outlier's row, and returns Γ, shape (p,).

CHUNK = 100  # prompts in a chunk
DIGITS = 50
BITS = 200  # kept after the binary point by the exact sums behind the 50 digits
RANK_ONE = "rank-one update"

Evaluation = Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]


def regularised(gram: np.ndarray, N: int, penalty: float) -> np.ndarray:
    """Gram matrix + λN I."""
    return gram + penalty * N * np.eye(len(gram))


def in_order(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, without BLAS: so einsum adds along an axis that is not the last one kept; elimination."""
    gram, cross = np.einsum("ni,nj->ij", Z, Z), np.einsum("ni,n->i", Z, y)
    return np.linalg.solve(regularised(gram, len(y), penalty), cross)


def outlier_first(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, beginning with the outlier."""
    order = np.r_[row, np.delete(np.arange(len(y)), row)]
    return in_order(Z[order], y[order], penalty, 0)


def outlier_last(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, ending with the outlier."""
    order = np.r_[np.delete(np.arange(len(y)), row), row]
    return in_order(Z[order], y[order], penalty, len(y) - 1)


def by_chunks(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """BLAS products of `CHUNK` prompts, added up; Gaussian elimination."""
    gram, cross = np.zeros((Z.shape[1], Z.shape[1])), np.zeros(Z.shape[1])
    for start in range(0, len(y), CHUNK):
        part = Z[start : start + CHUNK]
        gram += part.T @ part
        cross += part.T @ y[start : start + CHUNK]
    return np.linalg.solve(regularised(gram, len(y), penalty), cross)


def by_qr(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """QR factorisation of Z over √(λN) I: no product of Z with itself is formed."""
    p = Z.shape[1]
    stacked = np.vstack([Z, np.sqrt(penalty * len(y)) * np.eye(p)])
    Q, R = np.linalg.qr(stacked)
    return np.linalg.solve(R, Q[: len(y)].T @ y)


def triangles(rows: np.ndarray, edges: Sequence[int]) -> list[np.ndarray]:
    """The factors R of QR factorisations of stretches of rows, those between two edges each, as far as there are."""
    return [triangle(rows[a:b]) for a, b in itertools.pairwise(edges) if b <= len(rows)]


def triangle(rows: np.ndarray) -> np.ndarray:
    """The factor R of the QR factorisation of some rows."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """R of the rows of two factors together; by Householder's reflections, the larger rows had better come first."""
    return triangle(np.concatenate([first, second]))


def ridge_of(R: np.ndarray, shrink: float) -> np.ndarray:
    """Γ, shape (p,), of rows (vec(Z), y) with the factor R of shape (·, p + 1), for λN = ``shrink``: as `by_qr`.

    QR of (Z, y) over (√(λN) I, 0) has R of Z in its first p columns and Qᵀy beside it.
    """
    p = R.shape[1] - 1
    whole = joined(R, np.sqrt(shrink) * np.eye(p, p + 1))
    return solve_triangular(whole[:p, :p], whole[:p, p])


NORMAL_EQUATIONS: dict[str, Evaluation] = {  # "one product" is BLAS's; the inverse is how (2.7) is printed
    "one product, elimination": lambda Z, y, penalty, row: np.linalg.solve(
        regularised(Z.T @ Z, len(y), penalty), Z.T @ y
    ),
    "one product, inverse": lambda Z, y, penalty, row: np.linalg.inv(regularised(Z.T @ Z, len(y), penalty)) @ (Z.T @ y),
    "one product, Cholesky": lambda Z, y, penalty, row: cho_solve(
        cho_factor(regularised(Z.T @ Z, len(y), penalty)), Z.T @ y
    ),
    "divided by N, elimination": lambda Z, y, penalty, row: np.linalg.solve(
        regularised(Z.T @ Z / len(y), 1, penalty), Z.T @ y / len(y)
    ),
    "chunks of products": by_chunks,
    "prompt by prompt": in_order,
    "outlier first": outlier_first,
    "outlier last": outlier_last,
}
EVALUATIONS: dict[str, Evaluation] = {**NORMAL_EQUATIONS, "QR": by_qr}
REPORTED = "one product, elimination"  # the evaluation that Figure 4's table reports as ridge-normal-equations


def attempt(evaluation: Evaluation, Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """The evaluation's Γ, NaN where rounding made its matrix singular or not positive definite."""
    try:
        return evaluation(Z, y, penalty, row)
    except np.linalg.LinAlgError:
        return np.full(Z.shape[1], np.nan)


def finite_mean(values: np.ndarray) -> tuple[float, float, int]:
    """Mean, standard error and number of the values that are numbers: an evaluation may have broken down."""
    kept = values[np.isfinite(values)]
    if len(kept) < 2:
        return np.nan, np.nan, len(kept)
    mean, error = _fits.mean_and_error(kept)
    return float(mean), float(error), len(kept)


def fifty_digits(
    rest: np.ndarray, responses: np.ndarray, candidates: np.ndarray, their_responses: np.ndarray, penalty: float
) -> Iterator[np.ndarray]:
    """Γ of (2.7) in `DIGITS` digits for the prompts ``rest`` and each candidate in turn, rounded to double at the end.

    By Sherman and Morrison's formula (`noisyhead.ridge.RidgeWithOneMore`), which is exact: one matrix is solved, that
    of ``rest``, whose condition number is moderate; ten further digits are more than it can lose.

    Args:
        rest, responses: vec(Z) and y of the clean prompts, shapes (N − 1, p) and (N − 1,).
        candidates, their_responses: of the prompts to add one at a time, shapes (B, p) and (B,).
    """
    p, N = rest.shape[1], len(responses) + 1
    columns = _scaled(np.column_stack([rest, responses]))
    products = columns[:, :p].T @ columns
    with mpmath.workdps(DIGITS + 10):
        known = np.frompyfunc(lambda v: mpmath.ldexp(mpmath.mpf(v), -2 * BITS), 1, 1)(products)
        added = np.frompyfunc(lambda v: mpmath.ldexp(mpmath.mpf(v), -BITS), 1, 1)(_scaled(candidates))
        A = known[:, :p] + mpmath.mpf(penalty) * N * np.frompyfunc(mpmath.mpf, 1, 1)(np.eye(p))
        solved = _solved(A, np.column_stack([known[:, p], added.T]))
        without, moved = solved[:, 0], solved[:, 1:]
        for z, u, response in zip(added, moved.T, their_responses):
            found = without + u * ((mpmath.mpf(float(response)) - z @ without) / (1 + z @ u))
            yield found.astype(float)


def _solved(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A⁻¹B for a positive definite A, shape (p, p), and B, shape (p, q), of any kind of numbers: Gauss and Jordan."""
    p = len(A)
    both = np.column_stack([A, right])
    for i in range(p):
        both[i, i:] = both[i, i:] / both[i, i]
        for k in (*range(i), *range(i + 1, p)):
            both[k, i + 1 :] = both[k, i + 1 :] - both[k, i] * both[i, i + 1 :]
    return both[:, p:]


def _scaled(values: np.ndarray) -> np.ndarray:
    """2^BITS times doubles as Python's integers, whose products and sums are exact (to 2^-BITS in each value)."""
    return np.frompyfunc(lambda v: int(math.ldexp(v, BITS)), 1, 1)(values)


# ---- One trial of Figure 4: all heads on one data set, before and after the attack ----

RATE = 0.007  # η₀(λ + G²)² of section 6.3
GROWTH = tuple(10.0 ** np.arange(-2, 12.5, 0.5))  # α of the curve over many decades
RIDGE_SETTINGS = (Setting.PRINTED, Setting.PUBLISHED)  # ridge knows no other difference than the attack's
PARTS = ("attack", "start", "noise")  # what may differ between the two runs, one at a time


@dataclass(frozen=True)
class Problem(authors.BySize, authors.OfPrompts):
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
        """What Algorithm 1 is told in each setting.

        ``printed``: G and R of Theorem 4.1, T = ⌊log N⌋. ``published``: G of its proof, R = 0.1·C²√(N/L), read off the
        authors' public code. ``corrected``: a head that has time to learn: penalty λ/2 in the update, so that it rests
        at Γ*, R = C/(2√λ), η₀ = 1/(λ + G²) and T = ⌈1/(η₀λ)⌉, the steps in which Γ⁰ is forgotten by a factor e at
        least.
        """
        model, N, penalty = self.model, self.N, self.penalty
        G = hyperparameters.feature_bound_proof(model, N, self.failure)
        theorem = recipes.theorem(model, N, self.failure, penalty, max(1, math.floor(math.log(N))))
        printed = replace(theorem, learning_rate=RATE / (penalty + theorem.feature_bound**2) ** 2)
        C, fast = theorem.clip_norm, 1 / (penalty + G**2)
        R, R_right = 0.1 * C**2 * math.sqrt(N / model.L), hyperparameters.weight_bound_singular(C, penalty)
        published = Hyperparameters(C, G, R, penalty, RATE / (penalty + G**2) ** 2, theorem.steps)
        corrected = Hyperparameters(C, G, R_right, penalty / 2, fast, math.ceil(1 / (fast * penalty)))
        return {Setting.PRINTED: printed, Setting.PUBLISHED: published, Setting.CORRECTED: corrected}

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
    textbook = []
    for setting, (_, exact) in zip(RIDGE_SETTINGS, solved):
        rows = attacked_rows(cell, setting, data)
        each = [attempt(EVALUATIONS[REPORTED], Z, y, cell.penalty, data.row) for Z, y in rows]
        Gamma = np.stack(each).reshape(-1, cell.D, cell.D)
        textbook.append((Gamma - exact[0], Gamma))
    moved = np.concatenate([difference for difference, _ in (*noisy, *solved, *textbook)])
    heads = np.concatenate([Gamma for _, Gamma in (*noisy, *solved, *textbook)])
    flat = moved.reshape(len(moved), -1)
    displacement = np.einsum("kp,pq,kq->k", flat, data.test.gram, flat, optimize=True)
    both = np.stack([displacement, population.prediction_error(cell.model, heads)])
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
    return Gamma - Gamma[0], Gamma, attack_bounds.rerun_displacement(clean, hyper, cell.model, std, width)


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


def attacked_rows(problem: Problem, setting: Setting, data: Draw) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """vec(Z) and y of all N prompts, shapes (N, p) and (N,), the attacked one in its row, for each α in turn."""
    last = candidates(data.prompt, problem.attacks(setting))
    Z = np.insert(data.raw.Z.reshape(problem.N - 1, -1), data.row, 0.0, axis=0)
    y = np.insert(data.raw.response, data.row, 0.0)
    for bad, response in zip(last.Z, last.response):
        Z[data.row], y[data.row] = bad.reshape(-1), response
        yield Z, y


# ---- Rounding ----

DECADES = tuple(10.0 ** np.arange(0, 13))  # α at which every evaluation is tried, besides Figure 4's
METHODS = (RANK_ONE, *EVALUATIONS)
DIGIT_METHODS = (RANK_ONE, "QR", *NORMAL_EQUATIONS)
SETTING = Setting.PUBLISHED  # whose attack is evaluated


def rounding_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """Displacement over a fresh prompt for each α and method, and the condition number: shape (α, methods + 1)."""
    data = draw(cell, rng)
    solver, steps = rank_one(cell, data, [NONE, *cell.attacks(SETTING)])
    clean, true = solver.without + steps[0], solver.without + steps[1:]
    R = np.linalg.qr(data.raw.Z.reshape(cell.N - 1, -1), mode="r")
    measured = []
    for (Z, y), Gamma in zip(attacked_rows(cell, SETTING, data), true, strict=True):
        found = [attempt(f, Z, y, cell.penalty, data.row) for f in EVALUATIONS.values()]
        moved = np.stack([Gamma, *(g.reshape(Gamma.shape) for g in found)]) - clean
        # The condition number of λN I + ZᵀZ, from the singular values of Z or of QZ, Q orthogonal: so R is enough.
        square = np.linalg.svd(np.vstack([Z[data.row], R]), compute_uv=False) ** 2
        condition = (square[0] + cell.penalty * cell.N) / (square[-1] + cell.penalty * cell.N)
        measured.append([*population.excess_risk(cell.model, moved), condition])
    return np.array(measured)


def digit_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ − Γ₅₀‖/‖Γ₅₀‖ of each method for each α, Γ₅₀ from fifty digits: shape (α, methods)."""
    data = draw(cell, rng)
    attacks, count = cell.attacks(SETTING), cell.N - 1
    solver, steps = rank_one(cell, data, [NONE, *attacks])
    last = candidates(data.prompt, attacks)
    clean = data.raw.Z.reshape(count, -1), data.raw.response
    exact = fifty_digits(*clean, last.Z.reshape(len(attacks), -1), last.response, cell.penalty)
    evaluations = [EVALUATIONS[name] for name in DIGIT_METHODS[1:]]
    errors = []
    for (Z, y), step, truth in zip(attacked_rows(cell, SETTING, data), steps[1:], exact, strict=True):
        found = [attempt(f, Z, y, cell.penalty, data.row) for f in evaluations]
        each = np.stack([(solver.without + step).reshape(-1), *found])
        errors.append(np.linalg.norm(each - truth, axis=1) / np.linalg.norm(truth))
    return np.array(errors)


def table(cell: Problem, samples: np.ndarray) -> pd.DataFrame:
    """Displacement by α and evaluation: mean, median, trials that broke down, condition number (median)."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        condition = float(np.median(samples[:, a, -1]))
        for m, name in enumerate(METHODS):
            values = samples[:, a, m]
            mean, error, kept = finite_mean(values)
            row = {
                "alpha": alpha,
                "evaluation": name,
                "displacement": mean,
                "standard_error": error,
                "trials": len(values),
                "median": float(np.median(values[np.isfinite(values)])) if kept else np.nan,
                "breakdowns": len(values) - kept,
                "condition": condition,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def digit_table(cell: Problem, samples: np.ndarray) -> pd.DataFrame:
    """Relative error against fifty digits by α and evaluation: median and worst of the trials."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        for m, name in enumerate(DIGIT_METHODS):
            errors = np.nan_to_num(samples[:, a, m], nan=np.inf)
            row = {"median_error": float(np.median(errors)), "worst_error": float(errors.max()), "trials": len(errors)}
            rows.append({"alpha": alpha, "evaluation": name} | row)
    return pd.DataFrame(rows)
