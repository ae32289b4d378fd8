"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Declared, Rounding

EPS = 2.0**-52


TOLERANCES: Declared = {
    "precision": {  # all four columns are rounding errors; as printed, ν ~ c'² and F ~ c'³ are differences of order c'
        "mu_error": Rounding(),
        "nu_error": Rounding(),
        "printed_nu_error": Rounding(floor=lambda table: (EPS / table["ratio"]).clip(lower=EPS)),
        "printed_F_error": Rounding(floor=lambda table: (EPS / table["ratio"] ** 2).clip(lower=EPS)),
    },
}
