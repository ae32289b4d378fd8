r"""Each release audited by its exact law on two neighbours: nothing is counted, so that little noise too few is found.

An audit by counts (`costofprivacy.privacy.audit`) finds a fault only if the events that show it are frequent. Where it
is known from which numbers a release is drawn, its law on a data set can be computed, and hence the μ or the δ that it
spends. Such an audit believes in the arithmetic of the release, which is the library's, or a transcription that a test
holds to it. It is done in one of four ways.

* **A mean and Gaussian noise** (`along`). The score is m + c·z for standard normals z, with one c for both data sets.
  Then the likelihood ratio is a function of the score, and the release is |m − m'|/‖c‖-Gaussian DP on this pair,
  neither more nor less. m and c are read off the function that draws, which is called with unit vectors for z.
* **Several Gaussian mechanisms.** A guarantee covers all that they show, not only the last number. Their μ² add.
* **A perturbed minimum** (`minimum`). θ̂ determines the noise b = −∇J(θ̂), on either data set. So the law of θ̂ is that
  of b, and the density has the second derivative as a factor. With a pilot this is so around each of its ends.
* **Choices and sketches**: the probabilities of the outcomes, or the law of the eigenvalues.

A continuous release is read in cells. That is post-processing, so what the cells spend is a lower bound. The noise that
pays for rounding is left out: it is for 10⁻³ of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh
from scipy.special import ndtr, ndtri, softmax
from scipy.stats import chi2

from chapters.noisyhead.a_head_that_works import audit as whitened_audit
from chapters.privacy.every_mechanism import descents, heads, newer, rows, solutions
from chapters.privacy.every_mechanism.records import EMPTY, FAR, SOUND, Data, Knobs, Pair, pair
from costofprivacy.noisyhead import head, whitened_descent
from costofprivacy.noisyhead.whitened_plan import plan as whitened_plan
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.rivals import batch_descent, guarded_descent, huber, piloted_perturbation, private_quantile, tukey
from costofprivacy.rivals import sufficient_statistics as statistics
from costofprivacy.rivals.bounds import prepare
from costofprivacy.rivals.objective_perturbation import Perturbation

Law = tuple[np.ndarray, np.ndarray]
"""Probabilities of the same outcomes on two neighbours."""

REACH, CELLS = 9.0, 500  # standard deviations around a mean that are read, and in how many cells
BEYOND = 1e-9  # probabilities below it prove no μ here
DEFICITS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.7, 0.9)  # that are tried, of the noise
PATHS = 20  # of descents whose next step depends on the noise
FOUND = 1e-6  # by how much a spent budget has to exceed the claimed one: what cells and functions may be wrong by
PLACES = np.arange(1.0, 6.0, 0.25)  # of a response, in standard deviations of a minimiser
STARTS = 120  # cells of a pilot's end
TIPPING = (np.array([50.5, 0.5]), np.array([50.5, 1000.0]))  # values on either side of a grid, and one between
GRID = np.arange(1.0, 101.0)  # so fine that its points between the two values hardly count
DEEP = (
    (0.0, 39),
    (0.025474794386374075, 10),
    (0.08081672831260425, 23),
    (429.4277694448821, 8),
    (529.7491476591711, 10),
)
STEEP = ((2.0, 0.2),) * 400  # records with which a step is twice too long
ORTHOGONAL = np.eye(2)
AT_ONCE = 12  # releases side by side: more than one has normals
TURNED = {  # the record has to be one of those that make a step, in the order as it is
    name: pair((EMPTY,) * 9, *rows.OPPOSITE, place=5) for name in ("DP-AMBSSGD, adaptive clip", "robust clipping")
}
RELEASE, STEPS, PARTS, SKETCHES = "the release", "every step", "its three parts", "the whole sketches"
BOTH, PILOT = "both stages", "the pilot alone"


def delta(law: Law, epsilon: float) -> float:
    """The least δ with which two laws are (ε, δ)-close in both directions.

    >>> round(delta((np.array([0.5, 0.5]), np.array([0.25, 0.75])), math.log(1.5)), 3)
    0.125
    """
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum()) for a, b in (law, law[::-1]))


def mu(law: Law) -> float:
    """The largest Φ⁻¹(P) − Φ⁻¹(Q) over the events of the likelihood ratio.

    >>> round(mu((np.array([ndtr(0.5), ndtr(-0.5)]), np.array([0.5, 0.5]))), 6)
    0.5
    """
    P, Q = (side.cumsum() for side in _ordered(law))
    told = (np.minimum(P, Q) > BEYOND) & (np.maximum(P, Q) < 1 - BEYOND)
    return float((ndtri(P[told]) - ndtri(Q[told])).max(initial=0.0))


def _ordered(law: Law) -> Law:
    """The outcomes that prefer the first data set come first."""
    p, q = (side.ravel() for side in law)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(p / q, nan=1.0, posinf=np.inf))
    return p[order], q[order]


def composed(first: Law, *others: Law) -> Law:
    """Independent releases together; outcomes of nearly the same likelihood ratio are taken for one."""
    for other in others:
        p, q = _ordered((np.outer(first[0], other[0]), np.outer(first[1], other[1])))
        starts = np.unique(np.linspace(0, len(p), 2 * CELLS, endpoint=False).astype(int))
        first = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    return first


def gaussian(shift: float) -> Law:
    """N(0, 1) and N(shift, 1), in cells."""
    cuts = _cuts(-REACH, abs(shift) + REACH)
    return np.diff(ndtr(cuts)), np.diff(ndtr(cuts - abs(shift)))


def _cuts(low: float, high: float, cells: int = CELLS) -> np.ndarray:
    return np.concatenate([[-np.inf], np.linspace(low, high, cells), [np.inf]])


# releases that are a mean and Gaussian noise


class Units:
    """A source of noise for `AT_ONCE` releases side by side, the k-th with the k-th unit vector for its normals.

    All else that is drawn is the same for each: no permutation, and the likeliest choice.
    """

    def __init__(self) -> None:
        self.drawn = 0

    def standard_normal(self, size: Any) -> np.ndarray:
        """All normals of all releases, shape (k, `AT_ONCE`), one of each, or one of a single release."""
        found = np.zeros(size)
        if found.ndim == 2 and found.shape[1] == AT_ONCE:
            np.fill_diagonal(found, 1.0)
        elif len(found) == AT_ONCE:
            found[self.drawn] = 1.0
        elif self.drawn == 0:
            found[:] = 1.0
        self.drawn += 1
        return found

    def gumbel(self, size: Any) -> np.ndarray:
        """No noise on a choice."""
        return np.zeros(size)

    def permutation(self, n: int) -> np.ndarray:
        """The records in their order."""
        return np.arange(n)


def along(draw: rows.Draw, two: Any, knobs: Knobs = SOUND) -> float:
    """μ on a pair of neighbours, of a release that is a mean and Gaussian noise: |m − m'|/‖c‖.

    Args:
        draw: (data, count, rng, knobs) ↦ scores; fewer than `AT_ONCE` normals a release. two: the neighbours. knobs:
            what is wrong.

    Raises:
        ValueError: if the noise moves the two differently.
    """
    first, second = (draw(one, AT_ONCE, Units(), knobs) for one in two)  # type: ignore[arg-type]
    middles, moved = (first[-1], second[-1]), (first - first[-1], second - second[-1])
    if not np.allclose(*moved, rtol=1e-6):
        raise ValueError("noise must move the release in the same way on both data sets")
    return float(abs(middles[0] - middles[1]) / np.linalg.norm(moved[0]))


# several Gaussian mechanisms


def whitened(claimed: float, noise: float) -> float:
    """μ of all that `noisyhead.whitened_descent.releases` shows: the least over some paths."""
    size = whitened_audit.D, whitened_audit.L, whitened_audit.N
    told = whitened_plan(*size, GaussianDP(claimed), every_token=False)
    seen = whitened_descent.releases(heads.WHITENED_PAIR[0], told, PATHS, rng=np.random.default_rng(0))
    return math.sqrt(float(whitened_audit.spent(told, heads.WHITENED_PAIR, seen).min())) / noise


def noisy_head(claimed: float, noise: float) -> float:
    """μ of all updates of Algorithm 1 on a pair with one Gram matrix, whose updates move by the cross moments alone."""
    first, second = (
        head.moments(heads.bounded(one, SOUND)) for one in pair((EMPTY,) * (heads.PROMPTS - 1), *rows.OPPOSITE)
    )
    assert (first.gram == second.gram).all()
    moved = heads.HYPER.learning_rate * float(np.abs(first.cross - second.cross).max())
    return moved * math.sqrt(heads.HYPER.steps) / (noise * heads.noisy_head_std(claimed, heads.PROMPTS))


class Replayed:
    """A descent along with its own noise, or with the noise that makes its noisy sums those of another one.

    It is handed to `rivals.guarded_descent.descend` twice: for its sums of gradients, and for its source of noise.

    Args:
        data: records. stages: of the descent. other: the descent whose noisy sums are wanted, or a source of noise.
    """

    def __init__(self, data: Data, stages: Sequence[batch_descent.Plan], other: Replayed | np.random.Generator) -> None:
        told = prepare(*data)
        slack = 1 + sums.slack(*told.shape)
        self.stds = [2 * each.clip_norm * slack * each.noise_multiplier for each in stages for _ in each.learning_rates]
        self.told, self.other = told, other
        self.iterates: list[np.ndarray] = []
        self.pulled: list[np.ndarray] = []
        self.noisy: list[np.ndarray] = []
        end = guarded_descent.descend(self.pulls, *told.shape, *stages, rng=self)  # type: ignore[arg-type]
        self.iterates.append(end[:, None])

    def pulls(self, theta: np.ndarray, clips: np.ndarray) -> np.ndarray:
        """The sum of gradients, which is remembered."""
        self.iterates.append(theta)
        self.pulled.append(self.told.pulls(theta, clips))
        return self.pulled[-1]

    def standard_normal(self, size: Any) -> np.ndarray:
        """The noise of the step."""
        t, pull = len(self.noisy), self.pulled[-1]
        other = self.other
        noise = (other.noisy[t] - pull) / self.stds[t] if isinstance(other, Replayed) else other.standard_normal(size)
        self.noisy.append(pull + self.stds[t] * noise)
        return noise


def replayed(two: Pair, stages: Sequence[batch_descent.Plan]) -> float:
    """μ of all noisy sums of a guarded descent, on the least of some paths; ∞ if they do not determine the iterates.

    Both data sets are given the same noisy sums. What is done with these is the same then, unless something looks at
    the records besides. If it does, the iterates tell the data sets apart.
    """
    least = math.inf
    for path in range(PATHS):
        first = Replayed(two[0], stages, np.random.default_rng(path))
        second = Replayed(two[1], stages, first)
        if not np.allclose(first.iterates, second.iterates, rtol=1e-9, atol=1e-12):
            return math.inf
        moved = zip(first.pulled, second.pulled, first.stds, strict=True)
        least = min(least, math.sqrt(sum(float(((a - b) ** 2).sum()) / std**2 for a, b, std in moved)))
    return least


def guarded(claimed: float, noise: float) -> float:
    """μ of `rivals.guarded_descent` where steps are too long: on opposite records, and where the records turn."""
    stages = descents.guarded_plan(claimed).plans
    return max(replayed(pair(STEEP, *each), stages) for each in (rows.OPPOSITE, (STEEP[0], rows.OPPOSITE[0]))) / noise


def sufficient(claimed: float, noise: float) -> float:
    """μ of the three parts of AdaSSP, or of its boosted form: matrix, least eigenvalue, and a vector or all rounds.

    With two features, a record that turns by a right angle moves the first two as far as one can. It moves Xᵀy by
    √2 BY, and with a response that is clipped the gradients by √2 C.
    """
    other, one = ORTHOGONAL[:1], np.ones(2)
    moments = [statistics.moments(np.vstack([other, turned]), one, solutions.BOUNDS) for turned in ORTHOGONAL]
    moved = (
        float(np.linalg.norm(moments[0].square - moments[1].square)) / math.sqrt(2),
        abs(statistics.smallest_eigenvalue(moments[0].square) - statistics.smallest_eigenvalue(moments[1].square)),
        float(np.linalg.norm(moments[0].product - moments[1].product)) / 2,
    )
    return claimed * math.hypot(*moved) / math.sqrt(3) / noise


# perturbed minima


def minimum(two: Pair, added: Perturbation, noise: float, starts: np.ndarray | float = 0.0) -> Law:
    """The law of θ̂ around some points, shape (starts, cells), through the noise that it determines on either data set.

    Args:
        two: neighbours whose features are within the bound. added: Λ, σ and C. noise: factor of σ. starts: θ_0.
    """
    starts = np.atleast_1d(starts)
    std, (low, high) = noise * added.noise_std, (starts.min(), starts.max())
    reach = REACH * std + added.penalty * max(abs(low), abs(high))
    values = np.linspace(-reach, reach, CELLS)
    kinks = [(y + side * added.clip_norm / x[:, 0]) / x[:, 0] for x, y in two for side in (-1.0, 1.0)]
    cuts = np.unique(np.concatenate([*kinks, *(_minimiser(one, added, values) for one in two)]))
    sides = []
    for x, y in two:
        slope = newer.gradients(x[:, 0], y, cuts, added.clip_norm) + added.penalty * cuts
        below = ndtr((slope - added.penalty * starts[:, None]) / std)  # θ̂ ≤ θ exactly if −b ≤ ∇J(θ) without b
        sides.append(np.diff(below, axis=1, prepend=0.0, append=1.0))
    return sides[0], sides[1]


def _minimiser(data: Data, added: Perturbation, values: np.ndarray) -> np.ndarray:
    limits = huber.limits(data[0], added.clip_norm)
    return solutions.inverse_gradient(data[0][:, 0], data[1], limits, added.penalty, values)


def piloted(two: Pair, plan: piloted_perturbation.Plan, noises: tuple[float, float]) -> Law:
    """The law of the pilot's end, one step from 0, together with that of θ̂ around it; `newer.piloted` draws θ̂.

    Args:
        two: neighbours whose features are within the bound. plan: of both stages. noises: factors of the noise of each.
    """
    assert plan.pilot is not None
    std, factor = 2 * plan.pilot.clip_norm * plan.pilot.noise_multiplier * noises[0], newer.RATE / len(two[0][1])
    pulls = [float(newer.gradients(x[:, 0], y, np.zeros(1), plan.pilot.clip_norm)[0]) for x, y in two]
    cuts = _cuts(min(pulls) - REACH * std, max(pulls) + REACH * std, STARTS)
    shown = np.array([np.diff(ndtr((cuts - pull) / std)) for pull in pulls])
    middles = np.concatenate([cuts[1:2], (cuts[1:-2] + cuts[2:-1]) / 2, cuts[-2:-1]])
    first, second = minimum(two, plan.added, noises[1], -factor * middles)
    return shown[0][:, None] * first, shown[1][:, None] * second


# samples, choices and sketches


def sampled(multiplier: float, noise: float) -> Law:
    """All noisy sums of `rivals.batch_descent` on samples: the record is drawn or not, on opposite sides."""
    shift = 1 / (2 * multiplier * noise)
    cuts = _cuts(-REACH - shift, REACH + shift)
    middle = np.diff(ndtr(cuts))
    q = descents.SAMPLING
    one, two = ((1 - q) * middle + q * np.diff(ndtr(cuts - side)) for side in (shift, -shift))
    return composed(*[(one, two)] * len(descents.SAMPLED_RATES))


def quantile(claimed: float, noise: float) -> Law:
    """A grid of two points, between which a record tips the scale."""
    eta = private_quantile.exponent(GaussianDP(claimed)) / noise
    first, second = (softmax(-eta * private_quantile.misses(values, newer.LEVEL, GRID)) for values in TIPPING)
    return first, second


def deep_point(budget: ApproximateDP, noise: float) -> Law:
    """TukeyEM's point, in cells between the solutions of either data set; the first outcome is no draw."""
    told = ApproximateDP(budget.epsilon / noise, budget.delta)
    others = [place for place, times in DEEP for _ in range(times)]
    points = [np.sort(np.array([*others, one])) for one in (DEEP[-1][0], DEEP[0][0])]
    cuts = np.unique(np.concatenate(points))
    first, second = (_deep(ordered, told, cuts) for ordered in points)
    return first, second


def _deep(ordered: np.ndarray, budget: ApproximateDP, cuts: np.ndarray) -> np.ndarray:
    """Probabilities of no draw, of each cell and of each solution, as `tukey.release` makes them."""
    half, m, volumes = budget.epsilon / 2, len(ordered), tukey.log_volumes(ordered[:, None])
    depth = m // 4
    above = tukey.count_threshold(budget) - tukey.stable_count(volumes, depth, half, budget.delta)
    drawn = 1 - math.exp(half * above) / 2 if above < 0 else math.exp(-half * above) / 2
    within = np.exp(volumes[depth - 1 :])
    shells = within - np.append(within[1:], 0.0)
    weights = shells * np.exp(half / 2 * np.arange(1.0 - len(within), 1.0))
    density, points = np.zeros(len(cuts) - 1), np.zeros(len(cuts))
    if not weights.any():  # all of the box is one point
        points[cuts == ordered[depth - 1]] = drawn
    for k in np.flatnonzero(weights) + depth:
        inside = _between(cuts, ordered[k - 1], ordered[m - k])
        if k < len(volumes):
            inside &= ~_between(cuts, ordered[k], ordered[m - 1 - k])
        density[inside] += weights[k - depth] / weights.sum() / shells[k - depth]
    return np.concatenate([[1 - drawn], drawn * density * np.diff(cuts), points])


def _between(cuts: np.ndarray, low: float, high: float) -> np.ndarray:
    found: np.ndarray = (cuts[:-1] >= low) & (cuts[1:] <= high)
    return found


def sketched(covariances: Sequence[np.ndarray], rows: int) -> Law:
    """The law of so many rows of N(0, Σ) and N(0, Σ'): where both are diagonal, the squares of each coordinate."""
    laws = []
    least, most = chi2.ppf(BEYOND**2, rows), chi2.isf(BEYOND**2, rows)
    for ratio in eigvalsh(*covariances):
        cuts = np.concatenate([[0.0], np.linspace(least * min(1, ratio), most * max(1, ratio), CELLS), [np.inf]])
        laws.append((np.diff(chi2.cdf(cuts / ratio, rows)), np.diff(chi2.cdf(cuts, rows))))
    return composed(*laws)


def mixing(budget: ApproximateDP, noise: float) -> Law:
    """The whole sketch of a record whose features and response turn by a right angle."""
    plan = newer.mixing_plan(budget, noise)
    turned = np.array([[1.0, plan.response_scale], [1.0, -plan.response_scale]])
    return sketched([np.outer(one, one) + newer.least(plan) * np.eye(2) for one in turned], plan.rows)


def iterated_mixing(budget: ApproximateDP, noise: float) -> Law:
    """The sketches and gradients of all rounds, of a record whose features turn by a right angle."""
    plan = newer.iterated_plan(budget, noise)
    both = sketched([np.outer(one, one) + newer.least(plan) * np.eye(2) for one in ORTHOGONAL], plan.rows * plan.rounds)
    return composed(both, gaussian(plan.gradients.mu / math.sqrt(2)))


# the numbers that a release was drawn from


def recovered(data: Data, plan: piloted_perturbation.Plan, released: piloted_perturbation.Released) -> np.ndarray:
    """The standard normals from which a release was drawn if its noise is that of the plan, shape (2d,).

    Args:
        data: what was released from. plan: with a pilot of one step. released: by `rivals.piloted_perturbation`.
    """
    assert plan.pilot is not None
    x, y = piloted_perturbation.weighted(*data, plan.added.feature_bound)
    around = prepare(x, y - x @ released.centre)
    own, left, (n, d) = plan.pilot, released.theta - released.centre, x.shape
    pull = prepare(x, y).pulls(np.zeros((d, 1)), np.array([own.clip_norm]))[:, 0]
    first = -released.centre * n / own.learning_rates[0] - pull
    slope = around.pulls(left[:, None], np.array([plan.added.clip_norm]))[:, 0] + plan.added.penalty * left
    std = 2 * own.clip_norm * (1 + sums.slack(n, d)) * own.noise_multiplier
    return np.concatenate([first / std, -slope / plan.added.noise_std])


def most_noise(normals: np.ndarray, confidence: float) -> float:
    """The largest factor that the noise of the plan can have had, by the χ² law of its squares.

    Args:
        normals: `recovered` of independent releases, of any shape. confidence: in (0, 1).
    """
    return math.sqrt(float((normals**2).sum() / chi2.ppf(1 - confidence, normals.size)))


# the table


def pilot(told: ApproximateDP, noise: float) -> float:
    """μ of the pilot alone over what its plan claims, by `rivals.guarded_descent.release`."""
    plan = newer.piloted_plan(told).pilot
    assert plan is not None
    faulty = replace(plan, noise_multiplier=noise * plan.noise_multiplier)

    def release(data: Data, knobs: Knobs, rng: np.random.Generator) -> float:
        return float(guarded_descent.release(*data, faulty, rng=rng)[0])

    claimed = math.sqrt(len(plan.learning_rates)) / plan.noise_multiplier
    return along(newer.one_by_one(release), pair((), *rows.OPPOSITE)) / claimed


def both_stages(told: ApproximateDP, first: float, second: float) -> float:
    """δ of a pilot and its perturbed minimum at the claimed ε, over the claimed δ, with factors of their noise."""
    plan = newer.piloted_plan(told)
    return worst(lambda two: piloted(two, plan, (first, second)), told, plan.added)


def objective(told: ApproximateDP, noise: float) -> float:
    """The same of objective perturbation alone."""
    added = solutions.objective_plan(told)
    return worst(lambda two: minimum(two, added, noise), told, added)


def worst(law: Callable[[Pair], Law], told: ApproximateDP, added: Perturbation) -> float:
    """The largest δ over δ on pairs of which one record bends the loss where the other one is clipped."""
    scale = added.noise_std / added.penalty  # by which the noise moves a minimum
    pairs = (pair((), (1.0, place * scale), (1.0, -FAR)) for place in PLACES)
    return max(delta(law(two), told.epsilon) for two in pairs) / told.delta


Spent = Callable[[float], float]
"""Factor of the noise ↦ what is spent over what is claimed: of μ, or of δ at the claimed ε."""


def audits(claimed: float, at: float) -> list[tuple[str, str, bool, Spent]]:
    """Of each release: its name, what is looked at, whether μ is compared, and what is spent.

    Args:
        claimed: μ of the standard setting. at: its δ.
    """
    told, multiplier = rows.standard(claimed, at), descents.sampled_multiplier(rows.standard(claimed, at))
    gaussian_parts: dict[str, tuple[str, Spent]] = {
        "NoisyHead": (STEPS, lambda noise: noisy_head(claimed, noise)),
        "whitened head": (STEPS, lambda noise: whitened(claimed, noise)),
        "guarded descent, two stages": (STEPS, lambda noise: guarded(claimed, noise)),
        "AdaSSP": (PARTS, lambda noise: sufficient(claimed, noise)),
        "boosted AdaSSP": (PARTS, lambda noise: sufficient(claimed, noise)),
        "private quantile": (RELEASE, lambda noise: mu(quantile(claimed, noise))),
    }
    deltas: dict[str, tuple[str, Spent]] = {
        "objective perturbation": (RELEASE, lambda noise: objective(told, noise)),
        "piloted objective perturbation": (BOTH, lambda noise: both_stages(told, noise, noise)),
    }
    laws: dict[str, tuple[str, Callable[[float], Law]]] = {
        "DP-SGD, Poisson samples": (STEPS, lambda noise: sampled(multiplier, noise)),
        "TukeyEM": (RELEASE, lambda noise: deep_point(told, noise)),
        "Gaussian mixing": (SKETCHES, lambda noise: mixing(told, noise)),
        "iterative Hessian mixing": (SKETCHES, lambda noise: iterated_mixing(told, noise)),
    }

    def of_law(row: rows.Row, law: Callable[[float], Law]) -> Spent:
        own = row.at or told
        return lambda noise: delta(law(noise), own.epsilon) / own.delta

    def of_mu(spent: Spent) -> Spent:
        return lambda noise: spent(noise) / claimed

    def of_draw(row: rows.Row) -> Spent:
        return lambda noise: along(row.draw, TURNED.get(row.name, row.worst), Knobs(noise)) / claimed

    found: list[tuple[str, str, bool, Spent]] = []
    for row in rows.ours(claimed, at):
        if row.name in gaussian_parts:
            seen, spent = gaussian_parts[row.name]
            found.append((row.name, seen, True, of_mu(spent)))
        elif row.name in laws:
            seen, law = laws[row.name]
            found.append((row.name, seen, False, of_law(row, law)))
        elif row.name in deltas:
            found.append((row.name, deltas[row.name][0], False, deltas[row.name][1]))
        else:
            found.append((row.name, RELEASE, True, of_draw(row)))
    return [*found, (found[-1][0], PILOT, True, lambda noise: pilot(told, noise))]


def table(claimed: float, at: float) -> pd.DataFrame:
    """Table ``exact``: what each release spends over its claim, and the first of `DEFICITS` with which it spends more.

    Args:
        claimed: μ of the standard setting. at: its δ.
    """
    lines = []
    for name, seen, gaussian_claim, spent in audits(claimed, at):
        found = next((deficit for deficit in DEFICITS if spent(1 - deficit) > 1 + FOUND), math.nan)
        told = {"release": name, "seen": seen, "compared": "μ" if gaussian_claim else "δ", "spent": spent(1.0)}
        lines.append(told | {"deficit": found})
    return pd.DataFrame(lines)
