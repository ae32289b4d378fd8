"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Declared, Relative

TOLERANCES: Declared = {"powers": {"exponent": Relative(scale=1e-3)}}  # slopes of logarithms, some of them nearly 0
