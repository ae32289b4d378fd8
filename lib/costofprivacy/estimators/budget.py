"""The privacy that a user asks for, and the generator of the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from costofprivacy.estimators.gate import refuse_a_handle
from costofprivacy.privacy import ApproximateDP, ZeroConcentratedDP

EPSILONS, DELTAS = (1e-8, 1e6), (1e-300, 1.0)  # where the conversion to Gaussian DP was seen to be right in doubles
STATE = "epsilon and delta (far below 1 over the number of records)"
TOLD_AT = 1e-6  # δ at which a profile states its ε where the user asked by ρ alone; it spends nothing


@dataclass(frozen=True)
class Budget:
    """What a release may spend: ρ of Gaussian DP, and the (ε, δ) that is claimed for it."""

    rho: float
    claimed: ApproximateDP


def budget(rho: float | None, epsilon: float | None, delta: float | None) -> Budget:
    """The budget asked for by ρ, or by ε and δ.

    By ε and δ, ρ is the largest for which ρ-Gaussian DP implies them, exactly (arXiv:1805.06530). By ρ, what is claimed
    is the ε that follows from ρ²/2-zCDP at ``delta``, Proposition A.3 of arXiv:2505.16329v2.

    Args:
        rho: ρ in (0, ∞], or None. epsilon: ε in (0, ∞], or None. delta: δ in (0, 1), or None.

    Raises:
        InvalidParameterError: if neither ρ nor ε is given, or both, or ε without δ. There is no default budget.

    >>> print(round(budget(None, 1.0, 1e-5).rho, 4), round(budget(1.0, None, 1e-5).claimed.epsilon, 3))
    0.2681 5.299
    """
    if epsilon is None and rho is None:
        raise InvalidParameterError(f"no budget was stated: give {STATE}, or rho; there is no default")
    if epsilon is None:
        mu, told = float(rho), TOLD_AT if delta is None else float(delta)  # type: ignore[arg-type]
        return Budget(mu, ApproximateDP(ZeroConcentratedDP(mu**2 / 2).epsilon(told), told))
    if rho is not None:
        raise InvalidParameterError(f"give rho, or epsilon and delta, not both: got {rho=!r} and {epsilon=!r}")
    claimed = approximate(epsilon, delta)
    return Budget(claimed.to_gaussian().mu, claimed)


def approximate(epsilon: float | None, delta: float | None) -> ApproximateDP:
    """The budget asked for by ε and δ.

    Args:
        epsilon: ε in (0, ∞], or None. delta: δ in (0, 1), or None.

    Raises:
        InvalidParameterError: if one of them is None. There is no default budget.
    """
    if epsilon is None:
        raise InvalidParameterError(f"no budget was stated: give {STATE}; there is no default")
    if delta is None:
        raise InvalidParameterError(
            f"delta must be given with epsilon, below 1 over the number of records: {epsilon=!r}"
        )
    return ApproximateDP(float(epsilon), float(delta))


def generator(random_state: int | None) -> np.random.Generator:
    """The source of the noise: seeded from the operating system for None, repeatable otherwise.

    Args:
        random_state: None or a whole number of at least 0. A generator is refused (`gate.refuse_a_handle`).

    Raises:
        InvalidParameterError: if it is an object that holds a state.
    """
    refuse_a_handle(random_state)
    return np.random.default_rng(random_state)
