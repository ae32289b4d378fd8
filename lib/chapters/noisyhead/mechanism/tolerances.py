"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Rounding

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
        "noisyhead/equation-2.7: gradient of the loss at the formula, over that at 0, largest": Rounding(),
        "noisyhead/section-3-update: distance at rest to (2.7) with 2λ, over its norm": Rounding(),
    },
}
