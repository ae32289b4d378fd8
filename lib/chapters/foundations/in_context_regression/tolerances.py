"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Rounding

# Both sides of what holds as written differ by rounding alone; what does not hold differs by a number.
HOLD = (
    "(2.3), all weights",
    "(2.4), with W11 transposed",
    "(2.5), Γ = w22 W11 transposed",
    "task + rank-one = ⟨Γ', Z⟩",
)
PLACES = ("equation-2.3", "equation-2.4", "equation-2.5", "appendix-a.1")

TOLERANCES: Declared = {
    "identities": {"relative_difference": Cases("identity", dict.fromkeys(HOLD, Rounding()))},
    "verdicts": {
        f"noisyhead/{place}: relative difference from the head, {name}, largest": Rounding()
        for place, name in zip(PLACES, HOLD, strict=True)
    },
}
