"""How near this chapter's numbers come on another machine."""

import pandas as pd

from companion.judging.tolerances import Cases, Declared, Relative, Rounding


def _last_bits(table: pd.DataFrame) -> pd.Series:
    """How much of the attack on last bits may differ: it reads the order of a sum, half of which goes with each bit."""
    return (0.8 * 2.0 ** (table["bits"] - 53)).clip(upper=0.3).fillna(0.3)


ATTACK = Relative(_last_bits, scale=1.0)  # shares of the trials, up to 1

TOLERANCES: Declared = {
    "rounding": {"advantage": ATTACK, "hits": ATTACK, "standard_error": Relative(_last_bits, scale=0.04)},
    "undone": {"distance": Cases("what", {"less the noise of its seed": Rounding()})},  # taken off, to its last bits
}
