r"""Boosted AdaSSP: one noisy XᵀX, then rounds of noisy clipped gradients, each solved with it.

Tang et al. (2023), arXiv:2303.03451. Let A = XᵀX + noise + λI as in `sufficient_statistics`. From θ_0 = 0,

.. math:: \theta_{t+1} = \theta_t + A^{-1}\Big(\sum_i \bar r_i x_i + \text{noise}\Big), \qquad
    \bar r_i = \max(-\tau_i, \min(y_i - x_i^\top\theta_t, \tau_i)), \quad \tau_i = C/\|x_i\| .

The paper clips all residuals at one τ; then a record moves the sum by 2Bτ. Clipping each gradient at C = Bτ instead
costs the same privacy and cuts less. With T = 1 and C = BY it is AdaSSP.

This is second-moment preconditioned descent on clipped gradients: what DP-GD lacks where the covariance is uneven.

**Guarantee.** Each round is a Gaussian mechanism of sensitivity 2C given the rounds before, and the two releases of
`sufficient_statistics.noisy_matrix` are Gaussian mechanisms too. With μ² in three equal parts, the last of them
shared by the T rounds, all that is released is μ-Gaussian DP (arXiv:1905.02383, Corollary 3.3). (The authors' own
code, as published, does not divide the budget among the rounds.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.privacy.mechanisms import gaussian_std, noisy
from costofprivacy.rivals.batch_descent import by_length
from costofprivacy.rivals.bounds import SQUARABLE, Bounds, given, prepare, shortened, within_reach
from costofprivacy.rivals.sufficient_statistics import MOST, PARTS, noisy_matrix, share, smallest_eigenvalue, solver


@np.errstate(all="ignore")
def release(
    x: np.ndarray,
    y: np.ndarray,
    bounds: Bounds,
    clip_norm: float,
    rounds: int,
    budget: GaussianDP,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """θ after the last round, shape (d,): `releases` of one plan.

    Guarantee, Args, Raises: as there.
    """
    return releases(x, y, bounds, [Plan(clip_norm, rounds, budget)], rng=rng)[0]


@dataclass(frozen=True)
class Plan:
    """One run.

    Args:
        clip_norm: C in [10⁻¹⁵⁰, 10¹⁵⁰], bound on a record's gradient. rounds: T, at least 1. budget: μ in (0, ∞).

    Raises:
        ValueError: if a number is out of range.
    """

    clip_norm: float
    rounds: int
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "rounds")
        _validate.keep(self, SQUARABLE, "clip_norm")

    @property
    def each(self) -> GaussianDP:
        """What one round spends."""
        return share(self.budget, PARTS * self.rounds)

    def noise_std(self, n: int, d: int) -> float:
        """Of each coordinate of a pull."""
        return gaussian_std(2 * self.clip_norm * (1 + sums.slack(n, d)), self.each)


@np.errstate(all="ignore")
def releases(
    x: np.ndarray,
    y: np.ndarray,
    bounds: Bounds,
    plans: Sequence[Plan],
    live: np.ndarray | None = None,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """θ after the last round of each of several runs over the same records, shape (plans, d).

    Guarantee: each alone is μ-Gaussian DP for replacing one record, whatever the records: features beyond B are
    shortened to it, each gradient is clipped at C. XᵀX is computed here: a matrix that the caller hands in could not be
    checked without a refusal that depends on the records. The noise of the pulls is larger by 1 + `privacy.sums.slack`
    (n, d), which pays for the rounding of the sums; for that of the matrix see `noisy_matrix`. Runs of one budget share
    their noisy matrix, and are not meant to be released together.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. bounds: B and Y; Y is not used.
        plans: at least one. live: public; features that are not 0 throughout, as in `bounds.prepare`.
        rng: source of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, or a number is out of range.
    """
    x, y = given(x, y)
    n, d = x.shape
    _validate.between("n B²", n * bounds.features**2, 0, MOST)
    order, rounds = by_length([[plan.noise_std(n, d)] * plan.rounds for plan in plans])
    clips = np.array([plans[k].clip_norm for k in order])
    told = prepare(shortened(x, bounds.features), y, live)
    lowest = smallest_eigenvalue(told.square)
    solve = {
        budget: solver(*noisy_matrix(told.square, n, bounds, share(budget), lowest, rng=rng))
        for budget in dict.fromkeys(plan.budget for plan in plans)
    }
    own = {budget: np.array([plans[k].budget == budget for k in order]) for budget in solve}
    theta, mu = np.zeros((d, len(plans))), min(plan.each.mu for plan in plans)
    for std in rounds:
        m = len(std)
        pull = noisy(-told.pulls(theta[:, :m], clips[:m]), std, mu, rng=rng)
        for budget, mine in own.items():
            pull[:, mine[:m]] = solve[budget](pull[:, mine[:m]])
        theta[:, :m] = within_reach(theta[:, :m] + pull)
    return theta[:, np.argsort(order)].T
