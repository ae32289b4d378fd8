"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Relative, Squares

BITS = 2e-18  # of weights whose norm is 0.002; descent with half the penalty comes near them, to 1e-12
DESCENT = {"excess_risk": Squares(BITS), "standard_error": Squares(BITS / 10, of="excess_risk")}

TOLERANCES: Declared = {
    "figure-1": DESCENT,
    "comparison": DESCENT | {"deviation": Cases("setting", {"corrected": Relative(5e-5)})},  # over that standard error
    "verdicts": {"noisyhead/figure-1: largest deviation, corrected": Relative(5e-5)},
}
