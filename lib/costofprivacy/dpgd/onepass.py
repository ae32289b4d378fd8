r"""Algorithm 1 of arXiv:2505.16329v2 on records that arrive in batches: their number is known before, θ only after.

The noise (4.2) of a step depends on n: with ρ²σ_k² = η_k² − η_{k+1}² and η_k = η̃(k/n)/n, most schedules add little
before the end (a constant one nothing), and what protects record k is all the noise from step k on. So n is
announced, no iterate leaves `release` before the pass is over, and a record beyond the n-th is refused.

**A pass that ends early owes its noise.** Let the stream end after m < n records. Then the noise of the steps m + 1, …,
n is added all the same, in one draw:

.. math:: \theta^p = \theta_m + N(0, S^2 I), \qquad S^2 = \sum_{j>m} (2 C \sigma_j)^2 = (2 C \eta_{m+1}/\rho)^2.

*It is private as announced: θ^p is ρ-Gaussian DP, hence ρ²/2-zCDP.* Proof. θ^p has the law of a run of n steps, of
which the last n − m are θ ↦ θ + 2Cσ_j b_j: the identity uses no record, so it does not expand and its sensitivity is
Δ_j = 0, and the sum of the independent Gaussians is the one drawn. Amplification by iteration
(`costofprivacy.privacy.amplification`) asks for no more: a record k ≤ m spends Δ_k/√(s_k² + … + s_n²) = η_k/√(σ_k² +
… + σ_n²) = ρ, with the tail sum of (4.1) that it would have had, since every term of it is in θ^p. The sum telescopes
to η_{m+1}². Without the owed noise the tail would be σ_k² + … + σ_m² = (η_k² − η_{m+1}²)/ρ²: a constant schedule would
release θ_m with no noise at all. ∎

*Assumes*: where the stream ends does not depend on what is in the records. Neighbours are streams of one length in
which one record is replaced; their lengths are no secret.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.dpgd.descent import CHUNK_STEPS, Configuration, check_steps, step_table
from costofprivacy.dpgd.schedule import lengths
from costofprivacy.dpgd.update import BLOCK, advance
from costofprivacy.privacy import GaussianDP, records
from costofprivacy.privacy.records import numbers

Batch = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Release:
    """What one pass releases.

    Args:
        theta: θ^p, shape (d,).
        records: m, how many the pass has used, at most as many as announced.
        last_iterate: what releasing θ^p spends.
        every_iterate: what releasing every iterate would have spent: max_k η_k/σ_k over the steps made.
    """

    theta: np.ndarray
    records: int
    last_iterate: GaussianDP
    every_iterate: GaussianDP


@np.errstate(all="ignore")
def release(
    batches: Iterable[Batch], configuration: Configuration, n: int, d: int, *, rng: np.random.Generator
) -> Release:
    """One pass of Algorithm 1 of arXiv:2505.16329v2 from θ_0 = 0 over given records, with noise for n of them.

    Guarantee: ρ-Gaussian DP for replacing one record by any other, also where the pass ends early; a record that is not
    `privacy.records.usable` (NaN, infinities) is void, its step the identity. How the records are split into batches
    changes θ^p by rounding only. Memory for one batch and a few times `CHUNK_STEPS`·d numbers, whatever n.

    Args:
        batches: x of shape (m, d) and y of shape (m,), of any type of number, each m ≥ 0; read once.
        configuration: c, η̃ and ρ.
        n: number of records announced, at least 1.
        d: dimension, at least 1.
        rng: source of the private noise; d normals for each step that has noise, and d more where some is owed.

    Raises:
        ValueError: if there is no record, or more than n; if ``n`` or ``d`` is not a whole number of at least 1, shapes
            disagree, an array is not of numbers, or the schedule increases. Nothing is released then.
    """
    check_steps([configuration], n)
    n, d = _validate.whole("n", n), _validate.whole("d", d)
    theta, seen, steepest = np.zeros((d, 1)), 0, 0.0
    for x, y in map(records.pair, batches):
        x = numbers("x", x, (None, d))
        y = numbers("y", y, (len(x),))
        if seen + len(x) > n:
            raise ValueError(f"n must be the number of records, which was announced as {n}; there are more")
        for start in range(0, len(x), CHUNK_STEPS):
            rows = slice(start, min(start + CHUNK_STEPS, len(x)))
            table = step_table([configuration], n, d, seen + rows.start, seen + rows.stop)
            moves = table.learning_rates > 0
            steps = table.learning_rates[moves] / table.noise_std[moves]
            steepest = max(steepest, float(steps.max(initial=0.0)))
            features, responses = records.regression(x[rows], y[rows])
            noisy = table.noise_std[:, 0] > 0  # noise is drawn for the steps that have some: batches do not matter
            b = np.zeros(features.shape)
            b[noisy] = rng.standard_normal((int(noisy.sum()), d))
            for first in range(0, len(features), BLOCK):
                block = slice(first, first + BLOCK)
                told = table.learning_rates[block], table.noise_std[block], table.clip_norm
                advance(theta, features[block], responses[block], b[block], *told)
        seen += len(x)
    if seen == 0:
        raise ValueError(f"batches must hold at least 1 record, got none of {n}")
    owed = owed_noise_std(configuration, n, d, seen)
    theta[:, 0] += owed * rng.standard_normal(d) if owed else 0.0
    every = max(configuration.rho, steepest * 2 * configuration.clip_norm(d)) if steepest else configuration.rho
    return Release(theta[:, 0], seen, GaussianDP(configuration.rho), GaussianDP(every))


def owed_noise_std(configuration: Configuration, n: int, d: int, seen: int) -> float:
    """Standard deviation of all the noise after step m, 2C η_{m+1}/ρ: what a pass owes that ends there.

    Args:
        configuration: c, η̃ and ρ. n: number of records announced. d: dimension. seen: m in [0, n].

    Returns:
        In each coordinate; 0 for m = n, or without privacy.

    >>> from costofprivacy.dpgd.schedule import Constant
    >>> owed_noise_std(Configuration(1.0, Constant(3.0), rho=2.0), n=100, d=4, seen=99)
    0.06
    """
    if seen >= n or math.isinf(configuration.rho):
        return 0.0
    next_length = float(lengths(configuration.schedule, (seen + 1) / n, 1))
    return 2 * configuration.clip_norm(d) * next_length / n / configuration.rho
