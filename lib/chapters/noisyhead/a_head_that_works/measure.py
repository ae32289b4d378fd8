"""The ladder from Algorithm 1 to a head that works, its curves, where it is worth anything, and an attack on it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.optimize import nnls

from chapters.noisyhead.a_head_that_works import audit, methods
from chapters.noisyhead.a_head_that_works.methods import FIXED, Option, Seen
from chapters.ranges import DELTA, EPSILON, SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner, generator
from costofprivacy._validate import within
from costofprivacy.noisyhead import (
    covariance_head,
    elliptical,
    head,
    quadratic,
    token_laws,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.best_head import best_error, best_head, head_error, scale_without_data
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import Statistics, statistics
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_descent import Tokens
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.advantage import largest_advantage

# ---- The prompts, by the name of their covariance, and the four ends ----

ISOTROPIC, UNKNOWN = "isotropic", "unknown-"
ZERO, NO_DATA, NON_PRIVATE, BEST = "zero", "no-data", "non-private", "best"
ENDS = (ZERO, NO_DATA, NON_PRIVATE, BEST)
ROUNDING = 1e-12  # a smaller share of a mean is no spread: what does not depend on the trial
TINY = 1e-12  # of the trace, added to a Gram matrix with fewer prompts than it has rows


def name_of(condition: float) -> str:
    """``isotropic``, or ``unknown-κ``."""
    return ISOTROPIC if condition == 1 else f"{UNKNOWN}{condition:g}"


def law_of(condition: float, D: int, *, rng: np.random.Generator) -> TokenLaw:
    """The unit sphere for condition number 1; else Gaussian tokens with E‖x‖² = 1 and directions that are drawn."""
    return token_laws.sphere(D) if condition == 1 else token_laws.unknown(D, condition, rng=rng)


def ends(law: TokenLaw, L: int, raw: Statistics) -> np.ndarray:
    """The heads of `ENDS`, shape (4, D, D): 0; gI by what is public; least squares; the best there is."""
    D = law.D
    return np.stack([np.zeros((D, D)), scale_without_data(law, L) * np.eye(D), least_squares(raw), best_head(law, L)])


def least_squares(raw: Statistics) -> np.ndarray:
    """The head with the least mean square on N prompts, shape (D, D); the shortest one where there are several."""
    seen = head.moments(raw)
    return seen.matrices(seen.solve(TINY * seen.trace)[None])[0]


def settled(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means over trials and their standard errors, 0 where the spread is rounding alone."""
    mean, error = _fits.mean_and_error(values)
    return mean, np.where(error > ROUNDING * np.abs(mean), error, 0.0)


# ---- The private head beside the four ends ----

PRIVATE, LAST_TOKEN, COVARIANCE = "private-head", "last-token", "covariance-alone"
METHODS = (PRIVATE, COVARIANCE)


@dataclass(frozen=True)
class Cell:
    """One size and covariance, all budgets on the same prompts.

    Args:
        condition: κ; 1 for the sphere. N, L, D: sizes. epsilon: budgets. delta: δ. stream: tells apart what has the
            same N and κ.
    """

    condition: float
    N: int
    L: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    stream: int = 0

    @property
    def key(self) -> int:
        """The same prompts in whichever list the cell stands."""
        return hash_of(self.stream, self.N, self.L, self.D, round(1000 * self.condition))

    @property
    def budgets(self) -> list[GaussianDP]:
        """μ of each ε."""
        return [ApproximateDP(e, self.delta).to_gaussian() for e in self.epsilon]


class OfCell:
    """What is measured on the prompts of a cell, with its random stream."""

    cell: Cell

    @property
    def key(self) -> int:
        """The cell's."""
        return self.cell.key


def hash_of(*numbers: int) -> int:
    """One whole number of several, each below 2³⁰."""
    found = 0
    for number in numbers:
        found = (found << 30) | number
    return found


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one draw of prompts: of the ends, then for each ε of `METHODS`."""
    law = law_of(cell.condition, cell.D, rng=rng)
    data, raw = quadratic.drawn(law, cell.N, cell.L, rng=rng)
    heads, moment = list(ends(law, cell.L, raw)), data.features(covariance_head.CLIP_NORM)[0]
    for budget in cell.budgets:
        told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=True)
        heads.append(whitened_descent.simulated(data, told, rng=rng))
        heads.append(covariance_head.release(moment, cell.N, cell.L, budget, law.spread, rng=rng))
    return head_error(law, cell.L, np.stack(heads))


def table(runner: Runner, cells: Sequence[Cell], trials: int | Precision, seed: int) -> pd.DataFrame:
    """Test error of each method: covariance, N, L, D, epsilon, method, test_error, standard_error, trials.

    The ends, which have no ε, stand with each.
    """
    rows = []
    for cell, values in runner.run(trial, cells, trials, seed).items():
        mean, error = settled(values)
        for k, epsilon in enumerate(cell.epsilon):
            places = {name: i for i, name in enumerate(ENDS)}
            places |= {name: len(ENDS) + len(METHODS) * k + i for i, name in enumerate(METHODS)}
            row = {"covariance": name_of(cell.condition), "N": cell.N, "L": cell.L, "D": cell.D, "epsilon": epsilon}
            for method, at in places.items():
                row |= {"method": method, "test_error": mean[at], "standard_error": error[at], "trials": len(values)}
                rows.append(dict(row))
    return pd.DataFrame(rows)


# ---- Where private pretraining is worth anything, against the head that uses no data, over N, ε and κ ----

AREA_STREAM = 1
AT = ["condition", "N", "epsilon"]


def area_table(
    runner: Runner, conditions: Sequence[float], N: Sequence[int], D: int, epsilon: tuple[float, ...],
    delta: float, trials: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """For each (κ, N, ε) and private method: its test error, and those of the ends that are not 1."""
    cells = [Cell(k, n, math.isqrt(n), D, epsilon, delta, AREA_STREAM) for k in conditions for n in N]
    found = table(runner, cells, trials, seed)
    names = {name_of(k): k for k in conditions}
    found = found.assign(condition=found["covariance"].map(names))
    wide = found.pivot(index=AT, columns="method", values="test_error")
    parts = []
    for method in METHODS:
        error = found[found["method"] == method].set_index(AT)["standard_error"]
        part = pd.DataFrame({"test_error": wide[method], "standard_error": error})
        ends = {"no_data": wide[NO_DATA], "non_private": wide[NON_PRIVATE], "best": wide[BEST]}
        parts.append(part.assign(method=method, **ends).reset_index())
    return pd.concat(parts, ignore_index=True).assign(trials=trials)


# ---- The ladder: which change closes how much of the gap, one rung after the other on the same prompts ----
# Rungs with free numbers take those that are best, on average, for public prompts: drawn from the same family, with
# directions of their own, by another seed. Nothing is chosen by the prompts that are learned from.

Heads = Callable[..., np.ndarray]
PUBLIC_STREAM = 4  # of the public prompts

PRINTED, RADIUS, EXACT, LAST, PENALTY, LENGTH, TUNED, START = FIXED
UNCLIPPED, CLIPPED = "no penalty, numbers searched", "each prompt's gradient clipped"
AVERAGED, ONE_PASS = "iterates averaged", "one pass (DP-GD)"
RIDGE, MOMENTS, BOOSTED = "DP-ridge", "sufficient statistics (AdaSSP)", "boosted AdaSSP"
PERTURBED, DEEP = "objective perturbation", "TukeyEM"
CHOSEN: dict[str, tuple[Heads, list[Option]]] = {
    UNCLIPPED: (methods.unclipped, methods.UNCLIPPED),
    CLIPPED: (methods.descents, methods.DESCENTS),
    ONE_PASS: (methods.passes, methods.PASSES),
    RIDGE: (methods.ridges, methods.RIDGES),
    MOMENTS: (methods.sufficient, methods.MOMENTS),
    BOOSTED: (methods.boosted, methods.BOOSTED),
    PERTURBED: (methods.perturbed, methods.PERTURBED),
    DEEP: (methods.deep, methods.DEEP),
}
SEARCHED = (UNCLIPPED, CLIPPED, AVERAGED, *list(CHOSEN)[2:])
RUNGS = (*FIXED, *SEARCHED, LAST_TOKEN, PRIVATE, COVARIANCE)
# Of each change to Algorithm 1 the rung that it is made to: one path, and what leads nowhere.
BEFORE = dict(zip(FIXED[1:], FIXED)) | {UNCLIPPED: TUNED, CLIPPED: UNCLIPPED, AVERAGED: CLIPPED}


@dataclass(frozen=True)
class Steps(OfCell):
    """A cell with one ε, and what the rungs with free numbers take: for each of `SEARCHED` an option."""

    cell: Cell
    chosen: tuple[Option, ...] = ()


def _grid(name: str) -> list[Option]:
    return CHOSEN[CLIPPED if name == AVERAGED else name][1]


def _draw(cell: Cell, rng: np.random.Generator) -> tuple[TokenLaw, Seen]:
    law = law_of(cell.condition, cell.D, rng=rng)
    prompts = token_laws.sample(law, cell.N, cell.L, rng=rng)
    return law, Seen(law, prompts, ApproximateDP(cell.epsilon[0], cell.delta))


def public_trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of every option on public prompts, all of `SEARCHED` one after the other.

    Averaging has the options of the descents that it averages.
    """
    law, seen = _draw(steps.cell, rng)
    found: dict[str, np.ndarray] = {}
    for (name, (heads, grid)), noise in zip(CHOSEN.items(), rng.spawn(len(CHOSEN)), strict=True):
        errors = head_error(law, steps.cell.L, heads(seen, grid, rng=noise))
        found |= dict(zip((CLIPPED, AVERAGED), errors, strict=True)) if name == CLIPPED else {name: errors}
    return np.concatenate([found[name] for name in SEARCHED])


def chosen(runner: Runner, cases: list[Steps], trials: int, seed: int) -> list[Steps]:
    """The cases with the options that are best on public prompts."""
    public = [replace(case, cell=replace(case.cell, stream=PUBLIC_STREAM)) for case in cases]
    found = runner.run(public_trial, public, trials, seed)
    ends_of = np.cumsum([len(_grid(name)) for name in SEARCHED])
    complete = []
    for case, samples in zip(cases, (found[case] for case in public), strict=True):
        parts = np.split(samples.mean(axis=0), ends_of[:-1])
        best = [_grid(name)[int(np.argmin(part))] for name, part in zip(SEARCHED, parts, strict=True)]
        complete.append(replace(case, chosen=tuple(best)))
    return complete


def ladder_trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of the ends, then of `RUNGS`, on one draw of prompts."""
    cell = steps.cell
    law, seen = _draw(cell, rng)
    noise = dict(zip(RUNGS, rng.spawn(len(RUNGS)), strict=True))
    heads = [methods.algorithm_1(seen, name, rng=noise[name]) for name in FIXED]
    for name, option in zip(SEARCHED, steps.chosen, strict=True):
        found = CHOSEN[CLIPPED if name == AVERAGED else name][0](seen, [option], rng=noise[name])
        heads.append(found[int(name == AVERAGED), 0] if name in (CLIPPED, AVERAGED) else found[0])
    for name, every in ((LAST_TOKEN, False), (PRIVATE, True)):
        told = whitened_plan.plan(cell.D, cell.L, cell.N, seen.mu, every_token=every)
        heads.append(whitened_descent.release(seen.examples(every_token=every), told, rng=noise[name]))
    moment = covariance_head.token_moment(seen.prompts.x)
    heads.append(covariance_head.release(moment, cell.N, cell.L, seen.mu, law.spread, rng=noise[COVARIANCE]))
    return head_error(law, cell.L, np.stack([*ends(law, cell.L, seen.statistics), *heads]))


def at_edge(name: str, option: Option) -> bool:
    """Whether a number with at least three values in its grid is the least or the largest of them."""
    values = [_axes(name, other) for other in _grid(name)]
    axes = [sorted(set(axis)) for axis in zip(*values, strict=True)]
    mine = zip(_axes(name, option), axes, strict=True)
    return any(value in (axis[0], axis[-1]) for value, axis in mine if len(axis) > 2)


def _axes(name: str, option: Option) -> Option:
    """The numbers that the grid is a product of: for a clipped descent T, c and ηcT."""
    if name not in (CLIPPED, AVERAGED):
        return option
    T, c, eta = option
    return T, c, round(eta * c * T, 6)


def ladder_table(runner: Runner, cells: list[Cell], trials: int, public_trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, epsilon, rung, test_error, standard_error, trials, option (what public prompts chose), edge.

    ``edge``: whether the option is at an edge of its grid.
    """
    cases = [Steps(replace(cell, epsilon=(e,))) for cell in cells for e in cell.epsilon]
    rows: list[dict[str, Any]] = []
    for case, values in runner.run(ladder_trial, chosen(runner, cases, public_trials, seed), trials, seed).items():
        mean, error = settled(values)
        cell, options_of = case.cell, dict(zip(SEARCHED, case.chosen, strict=True))
        where = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": cell.epsilon[0]}
        for rung, m, e in zip((*ENDS, *RUNGS), mean, error, strict=True):
            option = " ".join(f"{value:g}" for value in options_of.get(rung, ()))
            edge = rung in options_of and at_edge(rung, options_of[rung])
            rows.append(where | {"rung": rung, "test_error": m, "standard_error": e, "option": option, "edge": edge})
    return pd.DataFrame(rows).assign(trials=trials)


# ---- Tasks that are not isotropic: the covariance alone cannot know; the head that learns from responses can ----

ALONG, AGAINST, ALIKE, UNEVEN = "along", "against", "isotropic", "uneven"
TASKS_STREAM = 3
COLUMNS = ("best", "non-private", *METHODS)


@dataclass(frozen=True)
class Law(OfCell):
    """Tasks w ~ N(0, W), W along the features' axes, scaled so that the response has variance 1.

    Args:
        cell: with one ε. tasks: W ∝ I, Σ or Σ⁻¹; ``uneven``: of condition number ``condition``, for isotropic features.
        condition: of W, where it is uneven.
    """

    cell: Cell
    tasks: str
    condition: float = 1.0

    def weights(self, values: np.ndarray) -> np.ndarray:
        """Eigenvalues of W for those of Σ, shape (D,)."""
        if self.tasks == UNEVEN:
            shares = token_laws.eigenvalues(len(values), self.condition)
            return np.asarray(shares / (values * shares).sum())
        power = {ALIKE: 0.0, ALONG: 1.0, AGAINST: -1.0}[self.tasks]
        return np.asarray(values**power / (values ** (1 + power)).sum())


def tasks_trial(case: Law, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of `COLUMNS` at the first ε."""
    cell = case.cell
    values, Q = token_laws.eigenvalues(cell.D, cell.condition), token_laws.rotation(cell.D, rng=rng)
    law = token_laws.gaussian((Q * values) @ Q.T) if cell.condition > 1 else token_laws.sphere(cell.D)
    weights = case.weights(values)
    plain = token_laws.sample(law, cell.N, cell.L, rng=rng)
    w = plain.w @ (Q * np.sqrt(weights)) @ Q.T
    prompts = Prompts(plain.x, np.matmul(plain.x, w[:, :, None])[:, :, 0], w)
    budget = cell.budgets[0]
    told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=True)
    data = quadratic.asked(prompts)
    moment = data.features(covariance_head.CLIP_NORM)[0]
    W = (Q * weights) @ Q.T
    heads = [
        best_for(law, W, cell.L),
        least_squares(statistics(prompts)),
        whitened_descent.simulated(data, told, rng=rng),
        covariance_head.release(moment, cell.N, cell.L, budget, law.spread, rng=rng),
    ]
    return np.array([error_for(law, W, cell.L, Gamma) for Gamma in heads])


def context_moment(law: TokenLaw, W: np.ndarray, L: int) -> np.ndarray:
    """E m mᵀ for E w wᵀ = W: (1 − 1/L) ΣWΣ + q (2ΣWΣ + tr(ΣW) Σ)/L, the last term being E xxᵀWxxᵀ/L.

    q = 1 for Gaussian features (Isserlis), D/(D + 2) on the sphere.
    """
    Sigma = law.covariance
    q = 1.0 if law.spread == token_laws.GAUSSIAN else law.D / (law.D + 2)
    return np.asarray((1 + (2 * q - 1) / L) * Sigma @ W @ Sigma + q * np.trace(Sigma @ W) / L * Sigma)


def best_for(law: TokenLaw, W: np.ndarray, L: int) -> np.ndarray:
    """Γ° = WΣ (E m mᵀ)⁻¹."""
    return np.asarray(W @ law.covariance @ np.linalg.inv(context_moment(law, W, L)))


def error_for(law: TokenLaw, W: np.ndarray, L: int, Gamma: np.ndarray) -> float:
    """tr(ΣW) − 2 tr(ΓᵀΣWΣ) + tr(ΓᵀΣΓ E m mᵀ)."""
    Sigma = law.covariance
    gain = 2 * np.trace(Gamma.T @ Sigma @ W @ Sigma)
    return float(np.trace(Sigma @ W) - gain + np.trace(Gamma.T @ Sigma @ Gamma @ context_moment(law, W, L)))


def tasks_table(runner: Runner, cells: list[Cell], uneven: float, trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, L, epsilon, tasks, method, test_error, standard_error, trials; response of variance 1.

    Args:
        cells: each with one ε. uneven: condition number of the tasks of isotropic features.
    """
    rows, cases = [], []
    for cell in cells:
        skewed = [Law(cell, tasks) for tasks in (ALIKE, ALONG, AGAINST)]
        cases += skewed if cell.condition > 1 else [Law(cell, UNEVEN, uneven)]
    for case, values in runner.run(tasks_trial, cases, trials, seed).items():
        mean, error = settled(values)  # the best head's does not depend on the trial
        cell = case.cell
        where = {"covariance": name_of(cell.condition), "N": cell.N, "L": cell.L, "epsilon": cell.epsilon[0]}
        for method, m, e in zip(COLUMNS, mean, error, strict=True):
            rows.append(where | {"tasks": case.tasks, "method": method, "test_error": m, "standard_error": e})
    return pd.DataFrame(rows).assign(trials=trials)


# ---- Is the closed form of `noisyhead.best_head` right? Test errors of heads on fresh prompts ----
# Four kinds of features, all with E‖x‖² = 1: the unit sphere, uniform; Gaussian; Gaussian ones brought to norm 1, which
# lie on the unit sphere unevenly and have the spread s = 0 like all of constant norm; and the stretched sphere √D Σ^½u,
# which has no spread at all: `noisyhead.elliptical` has its closed form.

GAUSSIAN, SPHERE, SHORTENED, STRETCHED = "gaussian", "sphere", "shortened", "stretched"
KINDS = (GAUSSIAN, SPHERE, SHORTENED, STRETCHED)
HEADS = ("best", "no-data", "inverse")


@dataclass(frozen=True)
class Case:
    """A law of features, L and τ. condition: κ, of what is shortened or stretched. prompts: fresh ones in a trial."""

    features: str
    condition: float
    D: int
    L: int
    label_noise: float
    prompts: int

    @property
    def key(self) -> int:
        """A stream for each case."""
        return hash_of(KINDS.index(self.features), round(1000 * self.condition), self.D, self.L)

    @property
    def values(self) -> np.ndarray:
        """Eigenvalues along the axes, of sum 1: rotations change no test error."""
        return token_laws.eigenvalues(self.D, self.condition)

    @property
    def law(self) -> TokenLaw:
        """Up to the moments that count; of a stretched sphere the covariance alone is right."""
        if self.features == SPHERE:
            return token_laws.sphere(self.D)
        if self.features == SHORTENED:
            return TokenLaw(np.diag(shortened_moments(self.values)), token_laws.CONSTANT_NORM)
        return token_laws.gaussian(np.diag(self.values))

    @property
    def heads(self) -> tuple[np.ndarray, np.ndarray, float]:
        """`HEADS`, shape (3, D, D), and in closed form their test errors, shape (3,), and the least there is."""
        law, noise, eye = self.law, self.label_noise, np.eye(self.D)
        inverse = np.linalg.inv(law.covariance)
        if self.features == STRETCHED:
            best, least = elliptical.best_linear(self.values, self.L, noise)
            flat = elliptical.public_linear(self.values, self.L, noise)[0]
            found = np.stack([np.diag(best), flat * eye, inverse])
            return found, elliptical.linear_error(found, eye, self.values, self.L, noise), least
        found = np.stack([best_head(law, self.L, noise), scale_without_data(law, self.L, noise) * eye, inverse])
        return found, head_error(law, self.L, found, noise), best_error(law, self.L, noise)


def shortened_moments(values: np.ndarray) -> np.ndarray:
    """E x_i²/‖x‖² for x ~ N(0, diag(values)), shape (D,), by 1/‖x‖² = ∫ exp(−t‖x‖²) dt over t > 0."""

    def part(t: float, value: float) -> float:
        return float(value / ((1 + 2 * t * value) * math.sqrt(np.prod(1 + 2 * t * values))))

    return np.array([quad(part, 0.0, math.inf, args=(value,))[0] for value in values])


CASES = [
    (SPHERE, 1.0, 5, 31, 0.0),
    (SPHERE, 1.0, 5, 31, 0.5),
    (SPHERE, 1.0, 20, 31, 0.0),
    (SHORTENED, 10.0, 5, 31, 0.0),
    (SHORTENED, 100.0, 5, 31, 0.0),
    (STRETCHED, 10.0, 5, 31, 0.0),
    (STRETCHED, 100.0, 5, 5, 0.0),
    (GAUSSIAN, 1.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 5, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.5),
    (GAUSSIAN, 100.0, 5, 63, 0.0),
]


def drawn(case: Case, *, rng: np.random.Generator) -> Prompts:
    """Fresh prompts of a case."""
    if case.features == STRETCHED:
        return elliptical.sample(np.diag(np.sqrt(case.values)), case.L, case.prompts, case.label_noise, rng=rng)
    if case.features == SHORTENED:
        long = token_laws.sample(token_laws.gaussian(np.diag(case.values)), case.prompts, case.L, rng=rng)
        x = long.x / np.linalg.norm(long.x, axis=2, keepdims=True)
        return Prompts(x, np.matmul(x, long.w[:, :, None])[:, :, 0], long.w)
    return token_laws.sample(case.law, case.prompts, case.L, case.label_noise, rng=rng)


def theory_trial(case: Case, *, rng: np.random.Generator) -> np.ndarray:
    """Mean square error of each of `HEADS` on fresh prompts."""
    prompts = drawn(case, rng=rng)
    seen = head.statistics(prompts)
    return np.stack([((prompts.y[:, -1] - head.predict(Gamma, seen)) ** 2).mean() for Gamma in case.heads[0]])


def theory_table(runner: Runner, prompts: int, trials: int, seed: int) -> pd.DataFrame:
    """features, condition, D, L, label_noise, head, closed_form, test_error, standard_error, trials, least."""
    rows = []
    for case, values in runner.run(theory_trial, [Case(*case, prompts) for case in CASES], trials, seed).items():
        (mean, error), (_, exact, least) = _fits.mean_and_error(values), case.heads
        where = {name: getattr(case, name) for name in ("features", "condition", "D", "L", "label_noise")}
        for name, closed, m, e in zip(HEADS, exact, mean, error, strict=True):
            rows.append(where | {"head": name, "closed_form": closed, "test_error": m, "standard_error": e})
            rows[-1] |= {"trials": len(values), "least": least}
    return pd.DataFrame(rows)


# ---- What is left of the private head's excess when all noise is taken away: the price of its clip norms ----
# The same descent on the same prompts by the plan of each ε, clip norms and gains as they are: with its noise, without,
# and without any clipping of gradients either. Only the first is private.

FLOOR_STREAM = 8
NOISY, QUIET, FREE = "as it is", "no noise", "no noise, no clipped gradient"
WAYS = (NOISY, QUIET, FREE)
ASKED = {PRIVATE: True, LAST_TOKEN: False}
QUIETEST = GaussianDP(1e9)  # noise below all else
FAR = 1e9  # a clip norm that no gradient reaches


def floor_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of the best head, of least squares, then for each ε of `ASKED` by `WAYS`."""
    law = law_of(cell.condition, cell.D, rng=rng)
    prompts = token_laws.sample(law, cell.N, cell.L, rng=rng)
    heads = [best_head(law, cell.L), least_squares(statistics(prompts))]
    data = {PRIVATE: quadratic.asked(prompts), LAST_TOKEN: Tokens(examples(prompts, every_token=False))}
    for budget in cell.budgets:
        for name, every in ASKED.items():
            told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=every)
            quiet = replace(told, budget=QUIETEST)
            free = replace(quiet, clip_norms=(FAR,) * len(told.clip_norms))
            heads += [whitened_descent.simulated(data[name], way, rng=rng) for way in (told, quiet, free)]
    return head_error(law, cell.L, np.stack(heads))


def floor_table(runner: Runner, cells: list[Cell], trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, epsilon, method, way, test_error, standard_error, best, non_private, trials."""
    rows = []
    for cell, values in runner.run(floor_trial, cells, trials, seed).items():
        mean, error = settled(values)
        ends = dict(zip((BEST, NON_PRIVATE.replace("-", "_")), mean, strict=False))
        names = [(epsilon, method, way) for epsilon in cell.epsilon for method in ASKED for way in WAYS]
        for (epsilon, method, way), m, e in zip(names, mean[2:], error[2:], strict=True):
            where = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": epsilon}
            rows.append(where | {"method": method, "way": way, "test_error": m, "standard_error": e} | ends)
    return pd.DataFrame(rows).assign(trials=trials)


# ---- One poisoned prompt: by how much does it move what is released? ----
# A μ-Gaussian private release moves, in mean, by at most μ of its own standard deviations in every direction, as far as
# it is Gaussian; and no event's probability moves by more than 2Φ(μ/2) − 1, whatever it is. Measured with the same
# noise in both runs, so that the difference is the prompt's alone.

OPPOSITE, LARGE, WEAK = "opposite answers", "large features", "weak direction alone"
POISON_STREAM = 5
RELEASES = 4  # with the same data, for the noise's own size


@dataclass(frozen=True)
class Attack(OfCell):
    """A poison of a size in one cell."""

    cell: Cell
    kind: str
    size: float


def poisoned(prompts: Prompts, law: TokenLaw, kind: str, size: float) -> Prompts:
    """The prompts with the first one replaced: the query's answer, the tokens, or all of it.

    The last puts all tokens along the direction of the smallest eigenvalue, one way and the other, with one answer.
    """
    x, y = prompts.x.copy(), prompts.y.copy()
    if kind == OPPOSITE:
        y[0, -1] *= -size
    elif kind == LARGE:
        x[0] *= size
    else:
        signs = np.where(np.arange(y.shape[1]) % 2, 1.0, -1.0)
        x[0], y[0] = signs[:, None] * np.linalg.eigh(law.covariance)[1][:, 0], size
    return Prompts(x, y, prompts.w)


def poison_trial(attack: Attack, *, rng: np.random.Generator) -> np.ndarray:
    """Per noise: test error before and after, and Γ's change; least squares before and after at the end."""
    cell = attack.cell
    law = law_of(cell.condition, cell.D, rng=rng)
    clean = token_laws.sample(law, cell.N, cell.L, rng=rng)
    dirty = poisoned(clean, law, attack.kind, attack.size)
    told = whitened_plan.plan(cell.D, cell.L, cell.N, cell.budgets[0], every_token=True)
    noise = rng.standard_normal((RELEASES, 2 + len(told.gains), cell.D, cell.D))
    before, after = (whitened_descent.simulate(quadratic.asked(data), told, noise) for data in (clean, dirty))
    errors = [head_error(law, cell.L, h).mean() for h in (before, after)]
    plain = [float(head_error(law, cell.L, least_squares(statistics(data)))) for data in (clean, dirty)]
    shift, spread = (after - before).mean(axis=0), before.std(axis=0, ddof=1)
    return np.array([*errors, *plain, np.sqrt((shift**2).sum() / (spread**2).sum())])


def poison_table(runner: Runner, cells: list[Cell], sizes: tuple[float, ...], trials: int, seed: int) -> pd.DataFrame:
    """By attack: test error before and after (private, least squares), the shift over the noise, and the bounds."""
    kinds = [(kind, size) for kind in (OPPOSITE, LARGE, WEAK) for size in sizes]
    kinds = [attack for attack in kinds if attack != (LARGE, 1.0)]  # which leaves a prompt as it was
    attacks = [Attack(cell, kind, size) for cell in cells for kind, size in kinds]
    rows = []
    for attack, values in runner.run(poison_trial, attacks, trials, seed).items():
        cell, budget, moved = attack.cell, attack.cell.budgets[0], values[:, 1] - values[:, 0]
        row = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": cell.epsilon[0]}
        row |= {"attack": attack.kind, "size": attack.size, "clean": values[:, 0].mean()}
        row |= {"poisoned": values[:, 1].mean(), "change": moved.mean()}
        row |= {"standard_error": moved.std(ddof=1) / np.sqrt(len(moved))}
        row |= {"plain_clean": values[:, 2].mean(), "plain_poisoned": values[:, 3].mean()}
        row |= {"shift_over_noise": values[:, 4].mean(), "largest_shift": values[:, 4].max(), "mu": budget.mu}
        rows.append(row | {"probability_bound": largest_advantage(budget), "trials": len(values)})
    return pd.DataFrame(rows)


# ---- Does DP-GD's rate γ + γ²/ρ² predict what the head costs, with d = D² and γ = D²/N, though Z is not Gaussian? ----
# The excess of the test error over the best head's is fitted by aγ + bγ²/ρ², a, b ≥ 0, on relative errors; the same L
# at every N, so that the problem is the same.

RATE_STREAM = 2


def rate_table(
    runner: Runner, conditions: Sequence[float], N: Sequence[int], L: int, D: int, epsilon: tuple[float, ...],
    delta: float, trials: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """covariance, N, epsilon, method, gamma, rho, excess, standard_error, trials, fitted, a, b."""
    cells = [Cell(k, n, L, D, epsilon, delta, RATE_STREAM) for k in conditions for n in N]
    found = table(runner, cells, trials, seed)
    at = ["covariance", "N", "epsilon"]
    best = found[found["method"] == BEST].set_index(at)["test_error"].rename("least")
    rows = found[found["method"].isin([*METHODS, NON_PRIVATE])].join(best, on=at)
    rho = {e: ApproximateDP(e, delta).to_gaussian().mu for e in epsilon}
    rows = rows.assign(excess=rows["test_error"] - rows["least"], gamma=D**2 / rows["N"], rho=rows["epsilon"].map(rho))
    fits = []
    for (_, method), group in rows.groupby(["covariance", "method"], sort=False):
        private = method != NON_PRIVATE  # which has no ρ
        terms = np.column_stack([group["gamma"], group["gamma"] ** 2 / group["rho"] ** 2 * private])
        (a, b), _ = nnls(terms / group["excess"].to_numpy()[:, None], np.ones(len(group)))
        fits.append(group.assign(fitted=terms @ [a, b], a=a, b=b))
    return pd.concat(fits, ignore_index=True).drop(columns=["test_error", "least"])


# ---- The experiment ----

CONDITION = within(1, 1e6)
SIZE_STREAM, AUDIT_STREAM = 6, 7


class Experiment(Parameters):
    """Private linear heads on isotropic prompts and on prompts with an unknown covariance."""

    condition: tuple[float, ...] = many(CONDITION, 1.0, 10.0, 100.0, ascending=True)
    """Condition numbers of the features' covariance; 1 is the unit sphere of the paper."""
    N: tuple[int, ...] = many(count(20, 10**6), 1000, 2000, 4000, ascending=True)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 50), 5)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.5, 1.0, ascending=True)
    delta: float = parameter(DELTA, 1e-5)
    ladder_epsilon: tuple[float, ...] = many(EPSILON, 0.4, 1.0, ascending=True)
    """Budgets at which the changes are compared one by one, at the largest N."""
    sizes: tuple[int, ...] = many(count(2, 50), 2, 5, 10, 20, ascending=True)
    """Dimensions at the largest N."""
    tokens: tuple[int, ...] = many(count(2, 10**4), 5, 15, 63, 250, ascending=True)
    """Labelled tokens at the largest N."""
    area_condition: tuple[float, ...] = many(CONDITION, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0, ascending=True)
    """Condition numbers at which pretraining is compared with a head that uses no data."""
    area_N: tuple[int, ...] = many(count(20, 10**6), 100, 300, 1000, 3000, ascending=True)
    """Numbers of prompts in the map."""
    area_epsilon: tuple[float, ...] = many(EPSILON, 0.1, 0.3, 1.0, 3.0, 10.0, ascending=True)
    """Budgets in the map."""
    rate_N: tuple[int, ...] = many(count(20, 10**6), 500, 1000, 2000, 4000, 8000, ascending=True)
    """Numbers of prompts at one L."""
    poison: tuple[float, ...] = many(amount(1e-3, 1e9), 1.0, 1000.0, ascending=True)
    """Sizes of a poisoned prompt."""
    trials: int = parameter(TRIALS, 500)
    """Most trials of a cell of the main table."""
    precision: float = parameter(chance(1e-5, 0.5), 0.001)
    """Largest standard error of a test error of the main table, as a share of it: what its trials are for."""
    few: int = parameter(TRIALS, 12)
    """Trials of every other table."""
    audits: int = parameter(count(1000, 10**7), 50_000)
    """Releases of each input in an audit."""
    test_prompts: int = parameter(count(10, 10**6), 4000)
    """Fresh prompts that test the closed form."""
    seed: int = parameter(SEED, 13)

    def cell(self, condition: float, N: int, epsilon: tuple[float, ...], **other: int) -> Cell:
        """A cell with L = ⌊√N⌋ unless another is given."""
        told = {"L": math.isqrt(N), "D": self.D, "stream": 0} | other
        return Cell(condition, N, told["L"], told["D"], epsilon, self.delta, told["stream"])

    @property
    def ill(self) -> tuple[float, ...]:
        """Condition numbers above 1; the largest there is, where there is none."""
        return tuple(k for k in self.condition if k > 1) or self.condition[-1:]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``test-error`` (the result), ``ladder``, ``sizes``, ``area``, ``rate``, ``tasks``, ``poison``, …"""
        largest, most, seed = self.N[-1], self.epsilon[-1:], self.seed
        middle = self.ill[0]
        sizes = [self.cell(middle, largest, most, D=D, stream=SIZE_STREAM) for D in self.sizes if D != self.D]
        sizes += [self.cell(middle, largest, most, L=L, stream=SIZE_STREAM) for L in self.tokens]
        main = [self.cell(k, n, self.epsilon) for k in self.condition for n in self.N]
        errors = table(runner, main, Precision(self.precision, self.trials), seed)
        told = (self.delta, self.few, seed)
        pair = (1.0, middle) if middle > 1 else (1.0,)
        ladders = [self.cell(k, largest, self.ladder_epsilon) for k in self.condition]
        skewed = [self.cell(k, largest, most, stream=TASKS_STREAM) for k in self.condition]
        poisons = [self.cell(k, self.N[0], most, stream=POISON_STREAM) for k in pair]
        quiet = [self.cell(k, largest, self.epsilon, stream=FLOOR_STREAM) for k in self.condition]
        return {
            "test-error": errors.drop(columns=["L", "D"]),
            "ladder": ladder_table(runner, ladders, self.few, min(3, self.few), seed),
            "sizes": table(runner, sizes, self.few, seed),
            "area": area_table(runner, self.area_condition, self.area_N, self.D, self.area_epsilon, *told),
            "rate": rate_table(runner, pair, self.rate_N, 31, self.D, self.epsilon, *told),
            "tasks": tasks_table(runner, skewed, self.ill[0], self.few, seed),
            "floor": floor_table(runner, quiet, self.few, seed),
            "poison": poison_table(runner, poisons, self.poison, self.few, seed),
            "theory": theory_table(runner, self.test_prompts, 20, seed),
            "audit": audit.table(1.5, 0.1, self.audits, rng=generator(seed, AUDIT_STREAM, 0)),
        }
