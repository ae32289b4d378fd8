"""What each function on the way to a release claims: how far a replaced record moves it, as a share of what is allowed.

A claim takes data sets of which each two are neighbours, and draws its public arguments itself, once for all of them.
It returns the largest distance of two over the claimed bound, after what rounding at the size of the numbers may cost
(`FLOOR` of them) is taken off. NaN breaks every claim. Those of `READINGS` put all, cell by cell, into a container of
one kind: what a cell is read as depends on itself and on public types alone, so that a
replaced record changes one row at most.
"""

from __future__ import annotations

import copy
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.base import BaseEstimator

from costofprivacy.dpgd import onepass, update
from costofprivacy.dpgd.descent import Configuration, descend_records
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.update import averaged_step
from costofprivacy.estimators import gate
from costofprivacy.estimators.schema import Schema, SchemaWarning, boolean, category, date, number
from costofprivacy.estimators.search_plans import private_mean_loss
from costofprivacy.noisyhead import (
    covariance_head,
    head,
    per_prompt,
    pretraining,
    private_ridge,
    softmax,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.curvature import ProductMoments
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, records, sums
from costofprivacy.privacy.records import numbers
from costofprivacy.rivals import (
    adaptive_clipping,
    batch_descent,
    boosting,
    bounds,
    checkpoint_descent,
    correlated_noise,
    gaussian_mixing,
    guarded_descent,
    hessian_mixing,
    huber,
    objective_perturbation,
    output_perturbation,
    piloted_perturbation,
    private_quantile,
    robust_clipping,
    sandwich,
    shrinking_clip,
    streams,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds, prepare
from costofprivacy.rivals.correlated_noise import square_root
from tests.attacks import neighbours

FLOOR = 1e-13  # roundings of the largest number at hand
Share = Callable[[Any, np.random.Generator], float]


def share(found: Any, allowed: float, size: float = 0.0) -> float:
    """The largest distance of two of some arrays over what is allowed; ∞ where one is not finite."""
    flat = np.array([np.asarray(each, dtype=float).ravel() for each in found])
    if not np.isfinite(flat).all():
        return math.inf
    beyond = max(0.0, float(np.linalg.norm(flat[:, None] - flat, axis=2).max()) - FLOOR * size)
    return beyond / allowed if allowed > 0 else math.inf if beyond > 0 else 0.0


def most(distance: Callable[[Any, Any], float], found: Any) -> float:
    """The largest distance of two of them."""
    return float(np.max([distance(a, b) for a, b in itertools.combinations(found, 2)]))


def every(claim: Share) -> Share:
    """A claim about single data sets."""
    return lambda sets, rng: float(np.max([claim(data, rng) for data in sets]))


def scale(rng: np.random.Generator) -> float:
    """A public number over six orders of magnitude."""
    return float(10.0 ** rng.uniform(-3, 3))


def seeded(rng: np.random.Generator) -> Callable[[], np.random.Generator]:
    """Common random numbers for two runs."""
    seed = int(rng.integers(2**32))
    return lambda: np.random.default_rng(seed)


def largest(*arrays: np.ndarray) -> float:
    """The largest entry."""
    return max(float(np.abs(a).max(initial=0.0)) for a in arrays)


# ----------------------------------------------------------------------------------------------------- regression


def gradient(sets: list[Any], rng: np.random.Generator) -> float:
    C, penalty = scale(rng), scale(rng)
    theta = rng.standard_normal(sets[0][0].shape[1]) * scale(rng)
    found = [huber.gradient(theta, *data, C, penalty) for data in sets]
    return share(found, 2 * C, penalty * largest(theta))


def minimiser(sets: list[Any], rng: np.random.Generator) -> float:
    C, penalty = scale(rng), scale(rng)
    found = [huber.minimiser(*data, C, penalty) for data in sets]
    return share(found, output_perturbation.sensitivity(C, penalty), largest(*found))


def output(sets: list[Any], rng: np.random.Generator) -> float:
    C, penalty, draw = scale(rng), scale(rng), seeded(rng)
    found = [output_perturbation.release(*data, C, penalty, GaussianDP(1.0), rng=draw()) for data in sets]
    return share(found, output_perturbation.sensitivity(C, penalty), largest(*found))


def objective(sets: list[Any], rng: np.random.Generator) -> float:
    """With the same b the exact minimisers are 2C/Λ apart at most; the tolerance adds a millionth at most."""
    C, B, draw = scale(rng), scale(rng), seeded(rng)
    budget = ApproximateDP(float(10 ** rng.uniform(-1, 1)), 1e-5)
    added = objective_perturbation.calibrate(budget, float(rng.uniform(0.1, 0.9)), C, B)
    found = [objective_perturbation.release(*data, C, added, rng=draw()) for data in sets]
    return share(found, 2 * C / added.penalty * (1 + 1e-6), largest(*found))


def piloted(sets: list[Any], rng: np.random.Generator) -> float:
    """The pilot's end moves by 2ηC/n, and the minimum around it follows without expansion."""
    n, C, first, B, rate, draw = len(sets[0][1]), scale(rng), scale(rng), scale(rng), scale(rng), seeded(rng)
    budget = ApproximateDP(float(10 ** rng.uniform(-1, 1)), 1e-5)
    shares = piloted_perturbation.Shares(float(rng.uniform(0.1, 0.9)), 0.3, 0.1 * rng.integers(3))
    plan = piloted_perturbation.calibrate(budget, shares, B, C, first, (rate,))
    found = [piloted_perturbation.release(*data, plan, rng=draw()) for data in sets]
    allowed, size = rate * 2 * first / n, largest(*(part for each in found for part in (each.theta, each.centre)))
    around = share([each.theta for each in found], allowed + 2 * C / plan.added.penalty * (1 + 1e-6), size)
    return max(around, share([each.centre for each in found], allowed, size))


def kept(sets: list[Any], rng: np.random.Generator) -> float:
    """How many records of `piloted_perturbation.weighted` differ; one is allowed, and none beyond the bound."""
    B = scale(rng)
    found = [piloted_perturbation.weighted(*data, B) for data in sets]
    longest = max(float(np.linalg.norm(x, axis=1).max()) for x, _ in found)
    apart = most(lambda a, b: (a != b).any(axis=1).sum(), [np.column_stack(each) for each in found])
    return max(apart, longest / B - FLOOR)


def sandwiched(sets: list[Any], rng: np.random.Generator) -> float:
    """The curvature and the spread, in units of their sensitivities."""
    B, C, theta, draw = scale(rng), scale(rng), rng.standard_normal(sets[0][0].shape[1]) * scale(rng), seeded(rng)
    found = [sandwich.release(*data, theta, B, C, GaussianDP(1.0), rng=draw()) for data in sets]
    curvatures, spreads = [each.curvature for each in found], [each.spread for each in found]
    moved = share(curvatures, math.sqrt(2) * B**2, largest(*curvatures))
    return max(moved, share(spreads, math.sqrt(2) * C**2, largest(*spreads)))


def _read(data: Any, rng: np.random.Generator) -> streams.Read:
    """Batches of random sizes, empty ones among them but for lists, which have no width then."""
    x, y = data
    edges = [0, *np.sort(rng.integers(0, len(y) + 1, size=3)).tolist(), len(y)]
    cuts = [(i, j) for i, j in itertools.pairwise(edges) if i < j or isinstance(x, np.ndarray)]
    return lambda: [(x[start:stop], y[start:stop]) for start, stop in cuts]


def stepped(sets: list[Any], rng: np.random.Generator) -> float:
    """The gradient, the curvature and the spread behind a step, in units of their sensitivities; no refusal."""
    B, C, theta, draw = scale(rng), scale(rng), rng.standard_normal(sets[0][0].shape[1]) * scale(rng), seeded(rng)
    limits, found = sandwich.Limits(B, C), []
    for data in sets:
        streams.step(_read(data, rng), len(data[1]), theta, limits, GaussianDP(1.0), rng=draw())
        found.append(limits.terms(*piloted_perturbation.weighted(*data, B), theta))
    allowed = ((0, slice(-1), math.sqrt(2) * B**2), (1, slice(-1), math.sqrt(2) * C**2), (0, -1, 2 * C))
    parts = [([each[which, rows] for each in found], bound) for which, rows, bound in allowed]
    return max(share(pair, bound, largest(*pair)) for pair, bound in parts)


def _finite(run: Callable[[Any, Bounds, float, np.random.Generator], np.ndarray]) -> Share:
    def claim(sets: list[Any], rng: np.random.Generator) -> float:
        """Finite, and refused for neither."""
        told, C, draw = Bounds(scale(rng), scale(rng)), scale(rng), seeded(rng)
        return 0.0 if all(np.isfinite(run(data, told, C, draw())).all() for data in sets) else math.inf

    return claim


def adassp(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    moments = sufficient_statistics.moments(*data, told)
    return sufficient_statistics.release(moments, told, GaussianDP(1.0), rng=rng)


def boosted(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    return boosting.release(*data, told, C, 2, GaussianDP(1.0), rng=rng)


def boosted_stream(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    read, plan = _read(data, copy.deepcopy(rng)), boosting.Plan(C, 2, GaussianDP(1.0))
    return streams.boost(read, len(data[1]), told, plan, rng=rng)


def mixed(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    plan = gaussian_mixing.Plan(told, MIXED[rng.integers(2)], 64, C, 0.2 * rng.integers(2))
    return gaussian_mixing.release(*data, plan, rng=rng)


def hessian_mixed(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    told, budget, tested = Bounds(told.features, 1.0), MIXED[rng.integers(2)], 0.2 * rng.integers(2)
    plan = hessian_mixing.Plan(told, budget, 64, (C, C), (told.features, told.features), 0.5, tested)
    return hessian_mixing.release(*data, plan, rng=rng)


def deep_point(data: Any, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    n, d = data[0].shape
    found = tukey.fit(*data, n // d, ApproximateDP(30.0, 0.4), rng=rng) if n // d >= tukey.LEAST_MODELS else np.zeros(d)
    return np.asarray(found)


def covariance(data: Prompts, told: Bounds, C: float, rng: np.random.Generator) -> np.ndarray:
    moment, (N, tokens, _) = covariance_head.token_moment(data.x), data.x.shape
    return covariance_head.release(moment, N, tokens - 1, GaussianDP(1.0), 0.5, rng=rng)


def _step(run: Callable[[Any, float, float, np.random.Generator], np.ndarray], part: float = 1.0) -> Share:
    def claim(sets: list[Any], rng: np.random.Generator) -> float:
        """One step of length η on the mean of n gradients (or of a part of them) of norm at most C: 2ηC/n."""
        C, rate, draw, n = scale(rng), scale(rng), seeded(rng), len(sets[0][1])
        found = [run(data, C, rate, draw()) for data in sets]
        return share(found, rate * 2 * C / (part * n), largest(*found))

    return claim


def second_plan(data: Any, C: float, rate: float, rng: np.random.Generator) -> np.ndarray:
    plans = [batch_descent.Plan(9.0, (), 1.0), batch_descent.Plan(C, (rate,), 1.0)]
    return batch_descent.releases(*data, plans, rng=rng)[1]


def guarded(data: Any, C: float, rate: float, rng: np.random.Generator) -> np.ndarray:
    return guarded_descent.release(*data, batch_descent.Plan(C, (rate,), 1.0), rng=rng)


def shrinking(data: Any, C: float, rate: float, rng: np.random.Generator) -> np.ndarray:
    return shrinking_clip.release(*data, shrinking_clip.Plan((C,), (rate,), GaussianDP(1.0)), rng=rng)


def streamed(data: Any, C: float, rate: float, rng: np.random.Generator) -> np.ndarray:
    read = _read(data, copy.deepcopy(rng))
    return streams.descend(read, len(data[1]), len(data[0][0]), batch_descent.Plan(C, (rate,), 1.0), rng=rng)


def released_iterates(sets: list[Any], rng: np.random.Generator) -> float:
    """The first iterate, and the two numbers on the residuals at one θ, each in units of its noise."""
    C, rate, draw, (n, d) = scale(rng), scale(rng), seeded(rng), sets[0][0].shape
    known = checkpoint_descent.Knowledge(n, (1.0,) * d, scale(rng), 1.0)
    plan = checkpoint_descent.Plan(C, rate, 1, 0, GaussianDP(1.0), known, share=0.2)
    found = [checkpoint_descent.release(*data, plan, rng=draw()) for data in sets]
    moved = share([each.iterates for each in found], rate * 2 * C / n, largest(found[0].iterates))
    theta = rng.standard_normal(d) * scale(rng)
    told = [checkpoint_descent._diagnose(prepare(*data), theta, plan, draw()) for data in sets]
    units = [(each.square / each.square_std, each.clipped / each.clipped_std) for each in told]
    return max(moved, share(units, math.sqrt(0.2), n))


def square(sets: list[Any], rng: np.random.Generator) -> float:
    told = Bounds(scale(rng), scale(rng))
    found = [sufficient_statistics.moments(*data, told).square for data in sets]
    return share(found, math.sqrt(2) * told.features**2)


def product(sets: list[Any], rng: np.random.Generator) -> float:
    told = Bounds(scale(rng), scale(rng))
    found = [sufficient_statistics.moments(*data, told).product for data in sets]
    return share(found, 2 * told.features * told.response)


def solutions(sets: list[Any], rng: np.random.Generator) -> float:
    """How many of TukeyEM's parts have another solution; one is allowed."""
    n, d = sets[0][0].shape
    if n // d < tukey.LEAST_MODELS:
        return 0.0
    draw = seeded(rng)
    found = [tukey.models(*data, n // d, rng=draw()) for data in sets]
    if not all(np.isfinite(part).all() for part in found):
        return math.inf
    return most(lambda a, b: sum(map(operator.not_, map(np.array_equal, a, b))), found)


MIXED = (ApproximateDP(0.3, 1e-5), ApproximateDP(3.0, 1e-5))  # few, since a ratio is searched for once


def sketched(sets: list[Any], rng: np.random.Generator) -> float:
    """How far apart the covariances of two rows are: ln of their ratio in the worst direction, over ln(1 + s)."""
    told, c, n, p = Bounds(scale(rng), scale(rng)), scale(rng), len(sets[0][0]), sets[0][0].shape[1] + 1
    plan = gaussian_mixing.Plan(told, MIXED[rng.integers(2)], 64, c)
    covariances = []
    for data in sets:
        x, y = told.clip(*bounds.given(*data))
        rows = np.column_stack([x, c * y])
        square = sums.product(rows, rows)
        covariances.append(square + plan.sketching.added(square, n, rng=rng) * np.eye(p))
    return most(lambda a, b: np.abs(np.log(eigvalsh(a, b))).max(), covariances) / math.log1p(plan.sketching.ratio)


def ranks(sets: list[Any], rng: np.random.Generator) -> float:
    """By how many ranks a replaced value moves a point of the grid; one is allowed."""
    grid, level = private_quantile.geometric_grid(scale(rng)), float(rng.uniform(0.05, 0.95))
    found = [private_quantile.misses(data[1], level, grid) for data in sets]
    return most(lambda a, b: np.abs(a - b).max(), found) - FLOOR * len(sets[0][1])


def mean_loss(sets: list[Any], rng: np.random.Generator) -> float:
    """The mean of clipped losses, with the same noise."""
    bound, draw, n = scale(rng), seeded(rng), len(sets[0][1])
    budget = GaussianDP(float(10.0 ** rng.uniform(-1, 3)))  # noise far beyond the bound would hide it in its rounding
    found = [private_mean_loss(data[1], bound, budget, rng=draw()) for data in sets]
    return share(found, bound / n, bound * (1 + 1 / (n * budget.mu)))


def other_rows(sets: list[Any], rng: np.random.Generator) -> float:
    """How many rows of features a replaced record changes; one is allowed."""
    width = scale(rng)
    kinds = [
        number(-width, 2 * width, transform="asinh", indicator=True),
        category([0, 1, 3], unknown="other", missing="missing"),
        boolean(),
        date("2020-01-01", "2024-12-31", cycles=["month"], indicator=True),
        number(width, 3 * width, transform="log"),
    ]
    rng.shuffle(kinds)
    schema = Schema({f"c{k}": kinds[k] for k in range(sets[0][0].shape[1])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)  # an array of numbers holds no dates
        found = [schema.transformer().transform(data[0]) for data in sets]
    low, high = schema.feature_bounds()
    if not all(((features >= low) & (features <= high)).all() for features in found):
        return math.inf
    return most(lambda a, b: (a != b).any(axis=1).sum(), found)


def adaptive_step(sets: list[Any], rng: np.random.Generator) -> float:
    """One step at a clip that no record can choose."""
    C, rate, draw, n = scale(rng), scale(rng), seeded(rng), len(sets[0][0])
    if n < 2:
        return 0.0
    plan = adaptive_clipping.Plan(1, 1, rate, 0.5, (C,), GaussianDP(1.0))
    found = [adaptive_clipping.release(*data, plan, rng=draw()) for data in sets]
    return share(found, rate * 2 * C / (n - 1), largest(*found))


def robust_step(sets: list[Any], rng: np.random.Generator) -> float:
    """One step at clips that no record can choose."""
    width, C, rate, draw, n = scale(rng), scale(rng), scale(rng), seeded(rng), len(sets[0][0])
    if n < 3:
        return 0.0
    plan = robust_clipping.Plan(1, rate, 1, 1, 0.5, 0.5, (width,), (C,), GaussianDP(1.0))
    found = [robust_clipping.release(*data, plan, rng=draw()) for data in sets]
    return share(found, rate * 2 * width * C / (n - 2), largest(*found))


def correlated_steps(sets: list[Any], rng: np.random.Generator) -> float:
    """The iterates up to that of the replaced record's batch."""
    C, rate, draw, n = scale(rng), scale(rng), seeded(rng), len(sets[0][0])
    batch = max(1, n // 3)
    plan = correlated_noise.Plan(C, rate, batch, math.ceil(n / batch), square_root(9), GaussianDP(1.0))
    found = [correlated_noise.iterates(*data, plan, rng=draw()) for data in sets]
    last = min(_place(sets) // batch, plan.steps - 1)
    if not all(np.isfinite(path).all() for path in found):
        return math.inf
    return share([path[: last + 1] for path in found], rate * 2 * C / batch, largest(*found))


def clipped(data: Any, rng: np.random.Generator) -> float:
    """The longest clipped gradient over C."""
    C, theta = scale(rng), rng.standard_normal(data[0].shape[1]) * scale(rng)
    longest = np.linalg.norm(update.clipped_gradients(theta, *data, C), axis=1).max()
    return float(longest / C) if np.isfinite(longest) else math.inf


def rates(data: Any, rng: np.random.Generator) -> float:
    """The largest η̄‖x‖² over 2."""
    x = data[0]
    found = update.adapted_rates(scale(rng), x)
    exact = numbers("x", x, (None, None))
    with np.errstate(all="ignore"):
        length = np.array([math.hypot(*row) for row in exact.tolist()])
        reach = np.where(found > 0, (np.sqrt(found) * length) ** 2, 0.0)
    return float(np.nanmax(reach, initial=0.0) / 2) if np.isfinite(found).all() and (found >= 0).all() else math.inf


def expansion(data: Any, rng: np.random.Generator) -> float:
    """The distance of two parameters after one step with the same record, over that before."""
    C, rate = scale(rng), scale(rng)
    a, b = rng.standard_normal((2, data[0].shape[1])) * scale(rng)
    moved = [update.noiseless_step(theta, *data, rate, C) for theta in (a, b)]
    if not all(np.isfinite(part).all() for part in moved):
        return math.inf
    apart = np.linalg.norm(moved[0] - moved[1], axis=1).max() - FLOOR * largest(a, b, *moved)
    return float(apart / np.linalg.norm(a - b))


def step_length(data: Any, rng: np.random.Generator) -> float:
    C, rate = scale(rng), scale(rng)
    theta = rng.standard_normal(data[0].shape[1])
    moved = update.noiseless_step(theta, *data, rate, C) - theta
    return max(0.0, float(np.linalg.norm(moved, axis=1).max()) - FLOOR * largest(theta)) / (rate * C)


def averaged(sets: list[Any], rng: np.random.Generator) -> float:
    c, draw, (n, d) = scale(rng), seeded(rng), sets[0][0].shape
    theta = rng.standard_normal(d)
    found = [averaged_step(theta, *data, c, 1.0, 0.5, rng=draw()) for data in sets]
    return share(found, 2 * c * math.sqrt(d) / n / 0.5, largest(theta, *found))


def _pass(run: Callable[[Any, Configuration, np.random.Generator], np.ndarray]) -> Share:
    def claim(sets: list[Any], rng: np.random.Generator) -> float:
        """The step of the replaced record is allowed 2ηC; the schedule does not increase, so at most that of η_1."""
        (n, d), draw = sets[0][0].shape, seeded(rng)
        plan = [Constant(3.0), Polynomial(3.0, 2.0), Harmonic(2.0, 0.1)][rng.integers(3)]
        told = Configuration(scale(rng), plan, 1.0)
        k = _place(sets)
        found = [run(data, told, draw()) for data in sets]
        allowed = 2 * float(plan((k + 1) / n)) / n * told.clip_norm(d)
        travelled = 2 * float(plan(1 / n)) * told.clip_norm(d)  # all steps together: roundings are of that size
        return share(found, allowed, travelled + largest(*found))

    return claim


def _place(sets: list[Any]) -> int:
    """The record in which the data sets differ; the first if they are the same."""
    first, *others = (np.column_stack([numbers("x", x, (None, None)), numbers("y", y, (None,))]) for x, y in sets)
    return max(int((~_same(first, other)).argmax()) for other in others)


one_pass = _pass(lambda data, told, rng: onepass.release([data], told, *data[0].shape, rng=rng).theta)
descended = _pass(lambda data, told, rng: descend_records(*data, [told], rng=rng)[0])
on_a_grid = _pass(lambda data, told, rng: descend_grid(*data, [told], rng=rng)[0])

REGRESSION: dict[str, Share] = {
    "rivals.huber.gradient": gradient,
    "rivals.huber.minimiser": minimiser,
    "rivals.output_perturbation.release": output,
    "rivals.objective_perturbation.release": objective,
    "rivals.piloted_perturbation.release": piloted,
    "rivals.piloted_perturbation.weighted": kept,
    "rivals.sandwich.release": sandwiched,
    "rivals.streams.descend": _step(streamed),
    "rivals.streams.boost": _finite(boosted_stream),
    "rivals.streams.step": stepped,
    "rivals.batch_descent.releases": _step(second_plan),
    "rivals.guarded_descent.release": _step(guarded),
    "rivals.shrinking_clip.release": _step(shrinking),
    "rivals.checkpoint_descent.release": released_iterates,
    "rivals.batch_descent.release, sampled": _step(
        lambda data, C, rate, rng: batch_descent.release(*data, C, [rate], 1.0, 0.5, rng=rng), 0.5
    ),
    "rivals.sufficient_statistics.moments, square": square,
    "rivals.sufficient_statistics.moments, product": product,
    "rivals.sufficient_statistics.release": _finite(adassp),
    "rivals.boosting.release": _finite(boosted),
    "rivals.gaussian_mixing.Sketching.added": sketched,
    "rivals.gaussian_mixing.release": _finite(mixed),
    "rivals.hessian_mixing.release": _finite(hessian_mixed),
    "rivals.private_quantile.misses": ranks,
    "rivals.adaptive_clipping.release": adaptive_step,
    "estimators.search_plans.private_mean_loss": mean_loss,
    "estimators.schema.SchemaTransformer.transform": other_rows,
    "rivals.robust_clipping.release": robust_step,
    "rivals.correlated_noise.iterates": correlated_steps,
    "rivals.tukey.models": solutions,
    "rivals.tukey.fit": _finite(deep_point),
    "dpgd.update.clipped_gradients": every(clipped),
    "dpgd.update.adapted_rates": every(rates),
    "dpgd.update.noiseless_step, expansion": every(expansion),
    "dpgd.update.noiseless_step, length": every(step_length),
    "dpgd.update.averaged_step": averaged,
    "dpgd.onepass.release": one_pass,
    "dpgd.descent.descend_records": descended,
    "dpgd.families.descend_grid": on_a_grid,
}

# -------------------------------------------------------------------------------------------------------- prompts


def _bounded(prompts: Prompts, C: float, G: float) -> head.Statistics:
    return head.project(head.statistics(prompts, C), G)


def projected(data: Prompts, rng: np.random.Generator) -> float:
    """The longest projected prompt over G."""
    G = scale(rng)
    Z = _bounded(data, scale(rng), G).Z
    longest = np.linalg.norm(Z.reshape(len(Z), -1), axis=1).max()
    return float(longest / G) if np.isfinite(longest) else math.inf


def gram(sets: list[Prompts], rng: np.random.Generator) -> float:
    C, G = scale(rng), scale(rng)
    found = [head.moments(_bounded(data, C, G)).gram for data in sets]
    return share(found, 2 * G**2 / len(sets[0].x))


def cross(sets: list[Prompts], rng: np.random.Generator) -> float:
    C, G = scale(rng), scale(rng)
    found = [head.moments(_bounded(data, C, G)).cross for data in sets]
    return share(found, 2 * C * G / len(sets[0].x))


def _algorithm_one(form: Callable[[head.Statistics], Any]) -> Share:
    def claim(sets: list[Prompts], rng: np.random.Generator) -> float:
        N, D = len(sets[0].x), sets[0].x.shape[2]
        hyper = Hyperparameters(scale(rng), scale(rng), scale(rng), 0.1, 0.5, 1)
        start = rng.standard_normal((D, D))
        start *= hyper.weight_bound / np.linalg.norm(start)
        draw = seeded(rng)
        found = [
            pretraining.pretrain(
                form(_bounded(data, hyper.clip_norm, hyper.feature_bound)), hyper, [1.0], rng=draw(), initial=start
            )
            for data in sets
        ]
        return share(found, pretraining.update_sensitivity(hyper, N), hyper.weight_bound)

    return claim


def ridge_solution(sets: list[Prompts], rng: np.random.Generator) -> float:
    told = private_ridge.PrivateRidge(scale(rng), scale(rng), float(10 ** rng.uniform(-2, 2)), len(sets[0].x))
    found = [ridge(head.moments(_bounded(data, told.clip_norm, told.feature_bound)), told.penalty) for data in sets]
    worst = 1 + told.largest**2 / told.penalty  # the condition number of the equations
    return share(found, private_ridge.sensitivity(told), worst * largest(*found))


def sgd_step(sets: list[Prompts], rng: np.random.Generator) -> float:
    N, c, draw = len(sets[0].x), scale(rng), seeded(rng)
    batch = max(1.0, N / 2)
    told = pretraining.Descent(0.1, 0.9, 1, batch)
    raw = [head.statistics(data) for data in sets]
    found = [
        pretraining.dp_sgd(data, told, np.array([2.0]), np.array([c]), np.array([0.1]), rng=draw()) for data in raw
    ]
    return share(found, 0.9 * 2 * c / batch, largest(*found))


def _per_prompt(make: Callable[[Prompts, list[per_prompt.Plan]], per_prompt.Gradient]) -> Share:
    def claim(sets: list[Prompts], rng: np.random.Generator) -> float:
        c, N, D = scale(rng), len(sets[0].x), sets[0].x.shape[2]
        plans = [per_prompt.Plan(1, c, 1.0, 1.0)] * 2
        weights = rng.standard_normal((2, D, D)) * scale(rng)
        found = [make(data, plans)(weights) for data in sets]
        return max(share(each, per_prompt.sensitivity(c, N)) for each in zip(*found))

    return claim


def tokens(sets: list[Prompts], rng: np.random.Generator) -> float:
    C = scale(rng)
    found = [covariance_head.token_moment(data.x, C) for data in sets]
    return share(found, math.sqrt(2) * C / len(sets[0].x))


def whitened(sets: list[Prompts], rng: np.random.Generator) -> float:
    """The largest share among the two moments and the gradients, along what the first data set has shown."""
    N, tokens, D = sets[0].x.shape
    whole = bool(rng.integers(2))
    told = whitened_plan.plan(D, tokens - 1, N, GaussianDP(scale(rng)), every_token=whole)
    data = [examples(prompts, every_token=whole) for prompts in sets]
    seen = whitened_descent.releases(data[0], told, 1, rng=seeded(rng)())
    along = [whitened_descent.means_along(part, told, seen) for part in data]
    found = [share([each.features for each in along], math.sqrt(2) * told.feature_norm / N)]
    found.append(share([each.contexts for each in along], math.sqrt(2) * told.context_norm / N))
    for t, norm in enumerate(told.clip_norms):
        found.append(share([each.gradients[:, t] for each in along], 2 * norm / N))
    return max(found)


PROMPTS: dict[str, Share] = {
    "noisyhead.head.project": every(projected),
    "noisyhead.head.moments, gram": gram,
    "noisyhead.head.moments, cross": cross,
    "noisyhead.pretraining.pretrain": _algorithm_one(head.moments),
    "noisyhead.pretraining.pretrain, products": _algorithm_one(ProductMoments),
    "noisyhead.ridge.ridge": ridge_solution,
    "noisyhead.pretraining.dp_sgd": sgd_step,
    "noisyhead.per_prompt.linear_gradient": _per_prompt(per_prompt.linear_gradient),
    "noisyhead.per_prompt.softmax_gradient_of": _per_prompt(
        lambda data, plans: per_prompt.softmax_gradient_of(softmax.contexts(data), 1.4, plans)
    ),
    "noisyhead.covariance_head.token_moment": tokens,
    "noisyhead.covariance_head.release": _finite(covariance),
    "noisyhead.whitened_descent.releases": whitened,
}

# ----------------------------------------------------------------------------------------------------------- cells

Read = Callable[[Any, Any], tuple[np.ndarray, ...]]


class Told(BaseEstimator):
    """An estimator as the gate sees one."""

    def __init__(self, not_finite: str = gate.VOID) -> None:
        self.not_finite = not_finite


def outcome(read: Read, X: Any, y: Any) -> tuple[tuple[np.ndarray, ...], str]:
    """What is read, nothing where it is refused; and the words of all that is raised, causes included, or warned."""
    found: tuple[np.ndarray, ...] = ()
    words = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = read(X, y)
        except Exception as error:
            link: BaseException | None = error
            while link is not None:
                words.append(f"{type(link).__name__}: {link}")
                link = link.__cause__ or link.__context__
    return found, "\n".join([*words, *(str(each.message) for each in warned)])


def changed(read: Read, sets: Any) -> float:
    """How many rows differ; ∞ where one is refused and not another, or words differ or quote a cell."""
    found, words = zip(*(outcome(read, *data) for data in sets))
    if len({*map(len, found)}) > 1 or len({*words}) > 1 or neighbours.SECRET in words[0]:
        return math.inf
    return most(_rows_apart, found) if found[0] else 0.0


def _rows_apart(one: tuple[np.ndarray, ...], two: tuple[np.ndarray, ...]) -> int:
    return int((~np.logical_and.reduce([*map(_same, one, two)])).sum())


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    equal: np.ndarray = ((a == b) | (np.isnan(a) & np.isnan(b))).reshape(len(a), -1).all(axis=1)
    return equal


def _in(container: str, read: Read) -> Share:
    def claim(sets: list[Any], rng: np.random.Generator) -> float:
        return changed(read, [neighbours.CONTAINERS[container](data) for data in sets])

    return claim


def _numbers(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    return records.numbers("X", X, (None, None)), records.numbers("y", y, (None,))


def _table(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    return gate.table(Told(), X, y)


def _transformed(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    names = list(X.columns) if hasattr(X, "columns") else [f"c{k}" for k in range(len(X[0]))]
    schema = Schema({name: number(-5.0, 5.0, indicator=True) for name in names})
    return (np.asarray(schema.transformer().transform(X), dtype=float),)


def alone(data: Any, rng: np.random.Generator) -> float:
    """How many rows of lists are read otherwise than a row of objects alone is."""
    X, y = neighbours.objects(data)
    together, told = outcome(_numbers, *data)
    apart = [outcome(_numbers, X[k : k + 1], y[k : k + 1])[0] for k in range(len(y))]
    if told or not together or not all(apart):
        return math.inf
    return _rows_apart(together, tuple(np.concatenate(side) for side in zip(*apart, strict=True)))


def nested(sets: list[Any], rng: np.random.Generator) -> float:
    """Cells of arrays of objects that are containers themselves."""
    x, y = neighbours.objects(sets[0])
    place, others = int(rng.integers(len(y))), [x, *(x.copy() for _ in sets[1:])]
    for other in others[1:]:
        other[place, 0] = neighbours.drawn(neighbours.NESTED, rng)
    return changed(_numbers if rng.random() < 0.5 else _table, [(other, y) for other in others])


def refused(sets: list[Any], rng: np.random.Generator) -> float:
    """Where records are refused, the message quotes no cell; whether it is raised may depend on them."""

    def read(X: Any, y: Any) -> tuple[np.ndarray, ...]:
        return gate.table(Told(gate.REFUSE), X, y)

    container = list(neighbours.CONTAINERS.values())[rng.integers(len(neighbours.CONTAINERS))]
    return math.inf if any(neighbours.SECRET in outcome(read, *container(data))[1] for data in sets) else 0.0


def read_prompts(sets: list[Any], rng: np.random.Generator) -> float:
    """Prompts of two tokens, as lists of lists of lists."""

    def read(X: Any, y: Any) -> tuple[np.ndarray, ...]:
        return gate.prompts(Told(), X), gate.responses(Told(), y, len(X), (1, 2))

    return changed(read, [([[row, row] for row in X], [[cell] for cell in y]) for X, y in sets])


READINGS: dict[str, Share] = {
    **{f"privacy.records.numbers, {kind}": _in(kind, _numbers) for kind in neighbours.CONTAINERS},
    **{f"estimators.gate.table, {kind}": _in(kind, _table) for kind in neighbours.CONTAINERS},
    **{
        f"estimators.schema.SchemaTransformer.transform, {kind}": _in(kind, _transformed)
        for kind in ("lists", "objects", "a frame", "a frame of pandas' types")
    },
    "privacy.records.numbers, alone": every(alone),
    "privacy.records.numbers, nested": nested,
    "estimators.gate.table, refused": refused,
    "estimators.gate.prompts, lists": read_prompts,
    "rivals.guarded_descent.release, cells": _step(guarded),
    "rivals.streams.descend, cells": _step(streamed),
}
