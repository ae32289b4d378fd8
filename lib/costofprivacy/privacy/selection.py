r"""Choosing among private runs: the best of k, and the best of a random number.

Each run is μ-Gaussian DP and releases its output with a score. The best by score is released alone.

**The best of k costs more than one.** Let the score be all that is released, N(0, 1) on one data set and N(μ, 1) on its
neighbour. The largest of k has the distribution functions F(t) = Φ(t)^k and G(t) = Φ(t − μ)^k. Its likelihood ratio is
e^{μt − μ²/2} (Φ(t − μ)/Φ(t))^{k−1}; both factors rise with t, the second because log Φ is concave. So the events that
tell the two apart best are half-lines (Neyman and Pearson), and the least ε at δ is

.. math:: \varepsilon = \sup_t \max\Big(\ln\frac{F(t)-\delta}{G(t)}, \ln\frac{G(t)-\delta}{F(t)},
          \ln\frac{1-G(t)-\delta}{1-F(t)}, \ln\frac{1-F(t)-\delta}{1-G(t)}\Big).

Low scores give it away: that *all* k are low has the probability Φ(t)^k, whose logarithm is k times that of one run.
Composition bounds it from above: all k runs together are √k μ-Gaussian DP, and choosing is post-processing.

**A random number of runs costs a constant.** Draw K from the geometric law with mean m, P(K = j) = γ(1 − γ)^{j−1},
γ = 1/m, make K runs and release the best. If a run has Rényi divergences ε(λ), the release has at most

.. math:: \varepsilon(\lambda) + 2\,(1 - 1/\hat\lambda)\,\varepsilon(\hat\lambda) + \frac{2\ln m}{\hat\lambda}
          + \frac{\ln m}{\lambda - 1}, \qquad \hat\lambda \ge 1,

Theorem 2 of Papernot and Steinke (2022), arXiv:2110.03620, with η = 1. For a Gaussian run ε(λ) = λμ²/2, and the best
λ̂ is max(1, √(2 ln m)/μ).
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from costofprivacy import _validate
from costofprivacy.privacy.budgets import GaussianDP

LOG_WIDE = 12.0  # half-lines end at most so many standard deviations from both means
POINTS = 20_001
ORDERS = tuple(np.concatenate([np.linspace(1.01, 12, 400), np.geomspace(12.5, 2000, 300)]))

Generating = Callable[[np.ndarray], np.ndarray]  # log of the score's distribution function ↦ log of that of the best


def best_of_epsilon(run: GaussianDP, runs: int, delta: float) -> float:
    """The least ε at δ of releasing the best of k scores, exactly, for scores that are all a run releases.

    Guarantee: no release of the best of k runs that spend ``run`` each can be promised less.

    Args:
        run: μ of each run. runs: k ≥ 1. delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> run = GaussianDP(0.5)
    >>> abs(best_of_epsilon(run, 1, 1e-5) - run.epsilon(1e-5)) < 1e-4
    True
    >>> best_of_epsilon(run, 10, 1e-5) > run.epsilon(1e-5)
    True
    """
    return _half_line_epsilon(run, _power(runs), delta)


def best_of_advantage(run: GaussianDP, runs: int) -> float:
    """The largest advantage of an attack on the best of k scores, sup_t |Φ(t)^k − Φ(t − μ)^k|, exactly.

    >>> round(best_of_advantage(GaussianDP(1.0), 1), 4)
    0.3829
    """
    below, shifted = _log_functions(run, _power(runs))
    return float(np.abs(np.exp(below) - np.exp(shifted)).max())


def composed_epsilon(run: GaussianDP, runs: int, delta: float) -> float:
    """What all k runs spend together, √k μ-Gaussian DP: an upper bound for the best of them.

    >>> round(composed_epsilon(GaussianDP(0.5), 4, 1e-5), 3)
    4.377
    """
    return GaussianDP(math.sqrt(_validate.whole("runs", runs)) * run.mu).epsilon(delta)


def random_stopping_epsilon(run: GaussianDP, mean_runs: float, delta: float) -> float:
    """What the best of a geometric number of runs spends at most, by the theorem above and dp-accounting.

    Args:
        run: μ of each run. mean_runs: m ≥ 1, the expected number of runs. delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> run = GaussianDP(0.25)
    >>> random_stopping_epsilon(run, 100.0, 1e-5) < composed_epsilon(run, 100, 1e-5)
    True
    """
    import dp_accounting  # here: it takes longer than the rest of this module

    m = _mean(mean_runs)
    delta = _validate.probability("delta", delta)
    best = max(1.0, math.sqrt(2 * math.log(m)) / run.mu)
    extra = (best - 1) * run.mu**2 + 2 * math.log(m) / best
    divergences = [order * run.mu**2 / 2 + extra + math.log(m) / (order - 1) for order in ORDERS]
    epsilon, _ = dp_accounting.rdp.compute_epsilon(ORDERS, divergences, delta)
    return float(epsilon)


def random_stopping_attack(run: GaussianDP, mean_runs: float, delta: float) -> float:
    """A lower bound on what the best of a geometric number of runs spends: half-lines of the best score.

    Args:
        run: μ of each run. mean_runs: m ≥ 1. delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.
    """
    stop = 1 / _mean(mean_runs)

    def best(log_below: np.ndarray) -> np.ndarray:
        """F ↦ γF/(1 − (1 − γ)F), the generating function of the geometric law at F."""
        return math.log(stop) + log_below - np.log(-np.expm1(log_below) + stop * np.exp(log_below))

    return _half_line_epsilon(run, best, delta)


def _mean(mean_runs: float) -> float:
    m = _validate.finite_positive("mean_runs", mean_runs)
    if m < 1:
        raise ValueError(f"mean_runs must be at least 1, got {mean_runs!r}")
    return m


def _power(runs: int) -> Generating:
    """F ↦ F^k."""
    k = _validate.whole("runs", runs)
    return lambda log_below: k * log_below


def _log_functions(run: GaussianDP, best: Generating) -> tuple[np.ndarray, np.ndarray]:
    """log F and log G on a grid."""
    t = np.linspace(-LOG_WIDE, LOG_WIDE + run.mu, POINTS)
    return best(log_ndtr(t)), best(log_ndtr(t - run.mu))


def _half_line_epsilon(run: GaussianDP, best: Generating, delta: float) -> float:
    """sup over half-lines and both orders of log((P − δ)/Q), at least 0."""
    delta = _validate.probability("delta", delta)
    if math.isinf(run.mu):
        return math.inf
    below, shifted = _log_functions(run, best)
    with np.errstate(divide="ignore"):
        above, above_shifted = (np.log(-np.expm1(np.minimum(share, 0.0))) for share in (below, shifted))
    pairs = ((below, shifted), (shifted, below), (above, above_shifted), (above_shifted, above))
    least = 0.0
    for log_p, log_q in pairs:
        p = np.exp(log_p)
        use = (p > delta) & np.isfinite(log_q)
        least = max(least, float((np.log(p[use] - delta) - log_q[use]).max(initial=-math.inf)))
    return least
