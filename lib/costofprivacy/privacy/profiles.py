"""The privacy profile: what a mechanism claims, and what it spends under two views of its adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9  # a mechanism calibrated to the claim meets it to rounding


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

    def honours_claim(self) -> bool:
        """Whether releasing every iterate stays within the claimed budget."""
        return float(self.every_iterate.delta(self.claimed.epsilon)) <= self.claimed.delta * (1 + ROUNDING)
