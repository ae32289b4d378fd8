"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Relative, Squares

BITS = 2e-17  # of weights whose norm is 0.02; after many steps descent is as near to the minimiser as that

TOLERANCES: Declared = {
    "both-sides": {"value": Squares(BITS), "standard_error": Squares(BITS, of="value")},
    "recursion": {"worst": Cases("check", {"(A.8)": Relative(scale=1e-29)})},  # the square of a rounding error, at rest
}
