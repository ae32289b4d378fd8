"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Relative, Rounding

ROUNDED = Relative(scale=1e-6)  # 0, but for rounding, where all trials are the same
IDENTITIES = (  # two evaluations of one thing; what they differ by is their own error
    "(4.7), exponential integrator and LSODA",
    "(4.11), d equations and one",
    "(4.20), R with i/2π",
    "(4.17), drift with 2 z q",
)

TOLERANCES: Declared = {
    "sums": {
        "value": Cases(
            "quantity",
            {
                "(4.22), square root": Rounding(),  # an identity at α = ½
                "(C.32), below the cap": Relative(scale=1e-7),  # n times a difference of means that nearly agree
                "(C.32), below the cap, squares": Relative(scale=1e-7),
            },
        )
    },
    "figure-1": {"risk_sd": ROUNDED, "standard_error": ROUNDED},
    "diffusion": {"standard_error": ROUNDED},
    "enclosure": {"lower_margin": ROUNDED, "upper_margin": ROUNDED},  # a bound that is the risk itself, rounded
    "identities": {"relative_difference": Cases("identity", dict.fromkeys(IDENTITIES, Rounding()))},
    "verdicts": {
        "dpgd/definition-4.2: relative difference of two solvers of (4.7)": Rounding(),
        "dpgd/equation-4.11: relative difference of the d equations and the single one": Rounding(),
        "dpgd/equation-4.17: relative error of the drift with 2 z q, corrected": Rounding(),
    },
}
