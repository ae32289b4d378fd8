"""How many records methods need as the dimension grows, what they do at d/n fixed, and how hard clipping should be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.privacy.rivals import choices, methods, problems
from chapters.privacy.rivals.choices import Public
from companion import _fits
from companion.streams import Runner
from costofprivacy.dpgd import spectrum
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import (
    batch_descent,
    huber,
    objective_perturbation,
    output_perturbation,
    sufficient_statistics,
)
from costofprivacy.rivals.bounds import Bounds

EPSILON = 4.0  # the budget of this module: ρ is about 0.85
HALF = 0.5  # the share of the risk of the constant predictor that counts as something learned
GRIDS = {  # exponent p and multiples k of the sizes n = k d^p that are tried
    methods.ADASSP: (1.5, (2, 4, 6, 8, 12, 16, 24, 36, 54)),
    methods.FULL: (1.0, (2, 3, 4, 6, 8, 12, 16, 24)),
}
PROPORTIONAL = 30  # n/d
CLIPPED_RATIO, CLIPPED_EPSILON, CLIPPED_STEPS = 100, 1.0, 10
CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # c over the response's deviation


@dataclass(frozen=True)
class Size:
    """A method at a dimension."""

    method: str
    d: int
    delta: float

    @property
    def key(self) -> int:
        """The dimension names the stream."""
        return 20_000_000 + self.d

    def public(self, n: int, epsilon: float = EPSILON) -> Public:
        """What is public of n isotropic Gaussian records."""
        budget = ApproximateDP(epsilon, self.delta)
        response = problems.TALL * math.sqrt(2 * problems.INITIAL_RISK + problems.LABEL_NOISE**2)
        return Public(n, self.d, budget, problems.WIDE * math.sqrt(self.d), response)

    @property
    def model(self) -> spectrum.RegressionModel:
        """Σ = I."""
        values = spectrum.isotropic(self.d)
        return spectrum.RegressionModel(values, spectrum.projections(values), problems.LABEL_NOISE)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """n records, clipped to the public bounds."""
        public = self.public(n)
        return Bounds(public.features, public.response).clip(*spectrum.sample(self.model, n, rng=rng))


def threshold(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """ln n at which the risk first falls below half of the constant predictor's, shape (1,).

    AdaSSP's risk rises once more where its penalty has just gone: there the noisy matrix is nearly singular.
    """
    power, multiples = GRIDS[size.method]
    counts = [round(k * size.d**power) for k in multiples]
    run = _statistics if size.method == methods.ADASSP else _descent
    shares = np.array([float(size.model.risk(run(size, n, rng))) for n in counts]) / problems.INITIAL_RISK
    so_far = np.log(np.minimum.accumulate(shares))  # the least up to that size, falling
    return np.interp([math.log(HALF)], so_far[::-1], np.log(counts)[::-1])


def _statistics(size: Size, n: int, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP on the moments of n Gaussian records, drawn as such: XᵀX is AAᵀ by Bartlett's decomposition."""
    public, target = size.public(n), size.model.target
    A = np.tril(rng.standard_normal((size.d, size.d)), -1)
    A[np.diag_indices(size.d)] = np.sqrt(rng.chisquare(n - np.arange(size.d)))
    square = A @ A.T
    product = square @ target + problems.LABEL_NOISE * (A @ rng.standard_normal(size.d))
    data = sufficient_statistics.Moments(square, product, n)
    bounds = Bounds(public.features, public.response)
    return sufficient_statistics.release(data, bounds, public.budget.to_gaussian(), rng=rng)


def _descent(size: Size, n: int, rng: np.random.Generator) -> np.ndarray:
    """Clipped descent on all of n records."""
    chosen = choices.full_batch(size.public(n))
    noise = batch_descent.noise_multiplier(size.public(n).budget, 1.0, len(chosen.rates))
    x, y = size.draw(n, rng)
    return batch_descent.release(x, y, size.public(n).clip_norm(chosen.clip), chosen.rates, noise, rng=rng)


def proportional(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """The share of the constant predictor's risk that is left at n = 30 d, shape (1,)."""
    n = PROPORTIONAL * size.d
    public, (x, y) = size.public(n), size.draw(n, rng)
    if size.method == methods.OUTPUT:
        c, penalty = choices.output_perturbation(public)
        budget = public.budget.to_gaussian()
        theta = output_perturbation.release(x, y, public.clip_norm(c), penalty, budget, rng=rng)
    else:
        c, part = choices.objective_perturbation_choice(public)
        added = objective_perturbation.calibrate(public.budget, part, public.clip_norm(c), public.features)
        theta = objective_perturbation.release(x, y, public.clip_norm(c), added, rng=rng)
    return np.array([float(size.model.risk(theta)) / problems.INITIAL_RISK])


def clipping(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """For each c: the share of the constant predictor's risk that is left, and the share of gradients that was clipped.

    Ten steps on all records, each c with the best step length that the public formula finds; the share of gradients is
    that at the start and at the end, halved. Shape (clips, 2).
    """
    n = CLIPPED_RATIO * size.d
    public, (x, y) = size.public(n, CLIPPED_EPSILON), size.draw(n, rng)
    multiplier, found = batch_descent.noise_multiplier(public.budget, 1.0, CLIPPED_STEPS), []
    for part in CLIPS:
        c = part * public.deviation
        noise = 2 * public.clip_norm(c) * multiplier / n
        plans = [choices.plan(public, c, rate, CLIPPED_STEPS, noise) for rate in choices.RATES]
        chosen = min(plans, key=lambda plan: plan.risk)
        limit = huber.limits(x, public.clip_norm(c))
        theta = batch_descent.release(x, y, public.clip_norm(c), chosen.rates, multiplier, rng=rng)
        clipped = [(np.abs(x @ at - y) > limit).mean() for at in (np.zeros(size.d), theta)]
        found.append([float(size.model.risk(theta)) / problems.INITIAL_RISK, float(np.mean(clipped))])
    return np.array(found)


def tables(
    runner: Runner, dimensions: Sequence[int], d: int, delta: float, trials: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Tables ``thresholds``, ``proportional`` and ``clipping``."""
    needed = runner.run(threshold, [Size(m, k, delta) for m in GRIDS for k in dimensions], trials, seed)
    pair = (methods.OUTPUT, methods.OBJECTIVE)
    level = runner.run(proportional, [Size(m, k, delta) for m in pair for k in dimensions], trials, seed)
    clipped = runner.run(clipping, [Size(methods.FULL, d, delta)], trials, seed)
    return {
        "thresholds": pd.DataFrame([_row(size, values, "log_records") for size, values in needed.items()]),
        "proportional": pd.DataFrame(
            [_row(size, values, "share") | {"n": PROPORTIONAL * size.d} for size, values in level.items()]
        ),
        "clipping": pd.DataFrame([row for size, values in clipped.items() for row in _clipped_rows(size, values)]),
    }


def _row(size: Size, values: np.ndarray, name: str) -> dict[str, object]:
    mean, error = _fits.mean_and_error(values[:, 0])
    row = {"method": size.method, "d": size.d, "epsilon": EPSILON, name: float(mean), "standard_error": float(error)}
    return row | {"trials": len(values)}


def _clipped_rows(size: Size, values: np.ndarray) -> list[dict[str, object]]:
    found = []
    for i, part in enumerate(CLIPS):
        (share, clipped), (error, clipped_error) = _fits.mean_and_error(values[:, i])
        row = {"clip": part, "d": size.d, "n": CLIPPED_RATIO * size.d, "epsilon": CLIPPED_EPSILON, "share": share}
        rest = {"standard_error": error, "clipped": clipped, "clipped_error": clipped_error, "trials": len(values)}
        found.append(row | rest)
    return found
