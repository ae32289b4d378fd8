r"""Privacy budgets and their conversions.

Three currencies, each a frozen value:

======================  =====================================  ==========================================
class                   guarantee                              reference
======================  =====================================  ==========================================
`ApproximateDP`         (ε, δ)-differential privacy            Dwork et al. (2006)
`ZeroConcentratedDP`    ρ-zCDP: D_α(M‖M') ≤ ρα for all α > 1   Bun and Steinke (2016), arXiv:1605.02065
`GaussianDP`            μ-GDP: as hard as N(0, 1) vs N(μ, 1)   Dong, Roth and Su (2022), arXiv:1905.02383
======================  =====================================  ==========================================

The exact conversions of the Gaussian mechanism are dp-accounting's; the closed form of δ(ε) stands here
because figures want it for whole grids of ε.

**The privacy profile: what a mechanism claims, and what it spends under two views of its adversary.**
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from costofprivacy import _validate

if TYPE_CHECKING:
    import pandas as pd

_SAFE = 1 + 1e-12  # how much more than δ a root may spend; the searches of dp-accounting end up to 6e-9 beyond
_FAR = 40.0  # φ is 0 in doubles from there on
_SMALL = 1e-4  # μ below which the two terms of δ have too many digits in common
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def mills(x: np.ndarray | float) -> np.ndarray:
    """The Mills ratio (1 − Φ)/φ, any shape."""
    return math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2))


def _spent(mu: float, epsilon: float) -> float:
    """δ at ε of μ-Gaussian DP, to about 10⁻¹³ of itself where μ is small too.

    With a = ε/μ − μ/2, b = a + μ and the Mills ratio R it is φ(a)(R(a) − R(b)), because e^ε φ(b) = φ(a). For small μ
    the difference is the integral over [a, b] of −R'(t) = 1 − tR(t).
    """
    a = epsilon / mu - mu / 2
    if a > _FAR:
        return 0.0
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    if mu > 1:
        return float(density * (mills(a) - mills(a + mu)) if a > 0 else ndtr(-a) - density * mills(a + mu))
    t = a + mu * (_NODES + 1) / 2
    return float(density * mu / 2 * (_WEIGHTS @ (1 - t * mills(t))))


def _safe(root: float, towards: float, spent: Callable[[float], float], delta: float) -> float:
    """A root of spent = δ, moved in the direction ``towards`` by as little as makes it spend at most δ to rounding.

    Guarantee: what is returned spends at most δ `_SAFE`. The searches of dp-accounting end far off where ε or μ is
    below 10⁻¹⁰; there the root is looked for anew, by bisection.
    """

    def over(value: float) -> bool:
        return not spent(value) <= delta * _SAFE

    bad = moved = root
    for power in range(-50, 1100):
        if not over(moved):
            break
        bad, moved = moved, root + towards * 2.0**power if power < 0 or towards > 0 else moved / 2
    if abs(moved - root) > 2.0**-11 * abs(towards):
        for _ in range(60):
            middle = (bad + moved) / 2
            bad, moved = (middle, moved) if over(middle) else (bad, middle)
    return moved


class PrivacyWarning(UserWarning):
    """A setting is lawful, but what it promises is weaker than its user may think."""


def warn_if_delta_is_large(delta: float, n: int, stacklevel: int = 3) -> None:
    """Warn where δ ≥ 0.1/n, n being the number of records.

    A mechanism that publishes one record, chosen at random, with everything that it holds is (0, 1/n)-DP. So a δ of
    1/n or more permits it, and one of 0.1/n permits it once in ten times. So δ is usually chosen far below. Both
    numbers are public.

    Args:
        delta: δ in (0, 1). n: the number of records, at least 1. stacklevel: of the warning.

    Raises:
        ValueError: if an argument is outside its range.

    Warns:
        PrivacyWarning: if δ ≥ 0.1/n.

    >>> warn_if_delta_is_large(1e-5, 500)
    """
    delta = _validate.probability("delta", delta)
    n = _validate.whole("n", n)
    if delta >= 0.1 / n:
        often = "" if delta >= 1 / n else f" with a probability of {delta * n:.2g}"
        warnings.warn(
            f"delta should be far below 1/n = {1 / n:.3g}, got {delta:g}: "
            f"a mechanism that publishes one of the {n} records at random{often} satisfies it",
            PrivacyWarning,
            stacklevel=stacklevel,
        )


@dataclass(frozen=True)
class ApproximateDP:
    """(ε, δ)-differential privacy.

    Args:
        epsilon: ε in (0, ∞]; ∞ asks for no privacy.
        delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.POSITIVE, "epsilon")
        _validate.keep(self, _validate.PROBABILITY, "delta")

    def to_gaussian(self) -> GaussianDP:
        """The largest μ whose Gaussian mechanism is (ε, δ)-DP, exactly (Balle and Wang, arXiv:1805.06530).

        >>> round(ApproximateDP(1.0, 1e-5).to_gaussian().mu, 4)
        0.2681
        """
        return GaussianDP(_largest_mu(self.epsilon, self.delta))

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """The largest ρ that Proposition 1.3 of Bun and Steinke turns into this budget.

        Solves ρ + 2√(ρ ln(1/δ)) = ε for ρ.
        """
        if math.isinf(self.epsilon):
            return ZeroConcentratedDP(math.inf)
        log_term = -math.log(self.delta)
        return ZeroConcentratedDP((self.epsilon / (math.sqrt(log_term + self.epsilon) + math.sqrt(log_term))) ** 2)


@lru_cache
def _largest_mu(epsilon: float, delta: float) -> float:
    """`ApproximateDP.to_gaussian`, searched for once: milliseconds, which a trial may ask for hundreds of times."""
    import dp_accounting  # here and below: it takes longer than all other modules of this package

    if math.isinf(epsilon):
        return math.inf
    with np.errstate(all="ignore"):  # its search meets log 0 where ε is tiny
        mu = float(1 / dp_accounting.get_sigma_gaussian(epsilon, delta))
    return _safe(mu, -mu, lambda value: _spent(value, epsilon), delta)


@dataclass(frozen=True)
class ZeroConcentratedDP:
    """ρ-zero-concentrated differential privacy.

    Args:
        rho: ρ in (0, ∞].

    Raises:
        ValueError: if ``rho`` is not positive.
    """

    rho: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.POSITIVE, "rho")

    def epsilon(self, delta: float) -> float:
        """The ε of Proposition 1.3 of Bun and Steinke: ρ + 2√(ρ ln(1/δ)).

        >>> round(ZeroConcentratedDP(0.5).epsilon(1e-5), 3)
        5.299
        """
        delta = _validate.probability("delta", delta)
        return self.rho + 2 * math.sqrt(self.rho * -math.log(delta))

    def epsilon_best(self, delta: float) -> float:
        """The smaller of `epsilon` and the ε that dp-accounting derives from ρ-zCDP by way of Rényi divergences."""
        import dp_accounting

        delta = _validate.probability("delta", delta)
        if math.isinf(self.rho):
            return math.inf
        accountant = dp_accounting.rdp.RdpAccountant()
        accountant.compose(dp_accounting.ZCDpEvent(self.rho))
        return min(float(accountant.get_epsilon(delta)), self.epsilon(delta))


@dataclass(frozen=True)
class GaussianDP:
    """μ-Gaussian differential privacy: one release of a Gaussian with sensitivity / std = μ.

    Args:
        mu: μ in (0, ∞].

    Raises:
        ValueError: if ``mu`` is not positive.
    """

    mu: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.POSITIVE, "mu")

    def delta(self, epsilon: float | np.ndarray) -> np.ndarray:
        r"""The smallest δ at each ε: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), (6) of arXiv:1805.06530.

        Args:
            epsilon: ε ≥ 0, any shape.

        Returns:
            δ of the same shape, to a relative 1e-7 also in the far tail (computed with logarithms).

        Raises:
            ValueError: if an ε is negative or not a number.
        """
        eps = _validate.numbers("epsilon", epsilon)
        if not (eps >= 0).all():
            raise ValueError(f"epsilon must be non-negative, got {epsilon!r}")
        if math.isinf(self.mu):
            return np.ones_like(eps)
        if self.mu < _SMALL:
            return np.reshape([_spent(self.mu, float(value)) for value in eps.ravel()], eps.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            upper = log_ndtr(self.mu / 2 - eps / self.mu)
            lower = eps + log_ndtr(-self.mu / 2 - eps / self.mu)
            delta = np.exp(upper) * -np.expm1(np.minimum(lower - upper, 0.0))
        return np.where(np.isneginf(upper), 0.0, delta)

    def epsilon(self, delta: float) -> float:
        """The smallest ε at ``delta``, exactly (dp-accounting).

        >>> round(GaussianDP(1.0).epsilon(1e-5), 3)
        4.377
        """
        import dp_accounting

        delta = _validate.probability("delta", delta)
        if math.isinf(self.mu):
            return math.inf
        with np.errstate(all="ignore"):  # its search meets log 0 where ε is tiny
            found = float(dp_accounting.get_epsilon_gaussian(1 / self.mu, delta))
        return _safe(found, max(found, self.mu), lambda value: _spent(self.mu, value), delta)

    def to_zero_concentrated(self) -> ZeroConcentratedDP:
        """μ-GDP implies (μ²/2)-zCDP; for a Gaussian mechanism the two are equivalent."""
        return ZeroConcentratedDP(self.mu**2 / 2)


@dataclass(frozen=True)
class PrivacyProfile:
    """What a mechanism claims and what it spends.

    Args:
        claimed: the budget that its authors state.
        every_iterate: what it spends if all its iterates are released.
        last_iterate: what it spends if only the last one is.
        neighbours: the relation for which all three hold.
    """

    claimed: ApproximateDP
    every_iterate: GaussianDP
    last_iterate: GaussianDP
    neighbours: str = "replace one prompt"

    def epsilons(self) -> pd.Series:
        """The three ε at the claimed δ, indexed ``claimed``, ``every iterate``, ``last iterate``."""
        import pandas as pd  # here: it takes longer than the rest of this package

        delta = self.claimed.delta
        return pd.Series(
            {
                "claimed": self.claimed.epsilon,
                "every iterate": self.every_iterate.epsilon(delta),
                "last iterate": self.last_iterate.epsilon(delta),
            },
            name="epsilon",
        )
