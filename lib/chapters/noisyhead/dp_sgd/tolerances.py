"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Declared, Relative, Squares

TOLERANCES: Declared = {
    "opacus-runs": {  # without noise Opacus's steps are ours, but for rounding
        "excess_risk": Squares(3e-18),
        "distance": Relative(scale=1e-8),
    }
}
