"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import SEARCHED, SHARE, Cases, Declared, Relative, Rounding

# At η̃(0) = 2/γ the risk neither falls nor grows but for what 2/γ times γ/2, rounded, leaves of 1.
AT_THE_CAP = Cases("share", {1.0: Relative(lambda table: SHARE + 5e-14 / table["gamma"])})
STRETCH = Relative(1e-3)  # a bisection of its logarithm ends at intervals of that length
POWER = Relative(1e-3, scale=1.0)  # slopes of that logarithm

TOLERANCES: Declared = {
    "clipping": {"learning_rate": SEARCHED},
    "rates": {"learning_rate": SEARCHED},
    "valley": {"learning_rate": SEARCHED, "product": SEARCHED},
    "factors": dict.fromkeys(("final_risk", "max_second", "max_second_over_square"), AT_THE_CAP),
    "reduced": {"stretch": STRETCH},
    "noise": {  # at α = ½ all steps but the last have the same noise, of the size that is claimed, but for rounding
        "value": Cases(
            "quantity",
            {
                "spread of the noise before the last step": Rounding(),
                "noise against η̃(0)/(n^{3/2}ρ)": Rounding(),
                "last step against η̃(0)/(nρ)": Rounding(),
                "share of the noise in the last step": Relative(scale=1e-6),
            },
        )
    },
    "verdicts": {
        "dpgd/equation-5.1: spread of the noise before the last step": Rounding(),
        "dpgd/equation-5.1: noise against η̃(0)/(n^{3/2}ρ)": Rounding(),
        "dpgd/equation-5.8: largest constant": STRETCH,
        "dpgd/equation-5.8: largest power of 1/γ in it": POWER,
        "dpgd/equation-5.9: largest ν_c(R + ζ²/2)": Relative(1e-3),  # of `AT_THE_CAP`
        "dpgd/equation-5.13: largest constant": STRETCH,
        "dpgd/equation-5.13: largest power of 1/γ in it": POWER,
        "dpgd/equation-5.13: largest constant at the paper's choice": STRETCH,
        "dpgd/equation-5.13: largest power of 1/γ in it at the paper's choice": POWER,
    },
}
