"""The prompts of this chapter, by the name of their covariance, and what the four ends answer."""

from __future__ import annotations

import numpy as np

from companion import _fits
from costofprivacy.noisyhead import head, token_laws
from costofprivacy.noisyhead.best_head import best_head, scale_without_data
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.token_laws import TokenLaw

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
