"""How near this chapter's numbers come on another machine."""

from chapters.foundations.in_context_regression.judge import ALL_WEIGHTS, CONTAINED, TRANSPOSED_24, TRANSPOSED_25
from companion.judging.tolerances import Cases, Declared, Rounding

# Both sides of what holds as written differ by rounding alone; what does not hold differs by a number.
HOLD = {
    "equation-2.3": ALL_WEIGHTS,
    "equation-2.4": TRANSPOSED_24,
    "equation-2.5": TRANSPOSED_25,
    "appendix-a.1": CONTAINED,
}
TOLERANCES: Declared = {
    "identities": {"relative_difference": Cases("identity", dict.fromkeys(HOLD.values(), Rounding()))},
    "verdicts": {
        f"noisyhead/{place}: relative difference from the head, {name}, largest": Rounding()
        for place, name in HOLD.items()
    },
}
