"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.judging.tolerances import Cases, Declared, Rounding

# Where descent rests at a minimiser, or the gradient is 0 there, what is left is rounding.
AT_REST = (
    "gradient of (2.6) at (2.7), relative",
    "update at rest, distance to ridge(2λ)",
    "update with λ/2 at rest, distance to ridge(λ)",
)
RULE = Cases("check", dict.fromkeys(AT_REST, Rounding()))

TOLERANCES: Declared = {
    "minimisers": {"value": RULE, "standard_error": RULE},
    "verdicts": {
        "noisyhead/equation-2.7: slope over its value at 0, largest": Rounding(),
        "noisyhead/section-3-update: the same to ridge at 2λ": Rounding(),
        "noisyhead/section-3-update: the same with half the penalty": Rounding(),
    },
}
