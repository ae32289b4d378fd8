"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Relative, Rounding

GRADIENT = "∇ of (A.7) by differences against the step over η, median"

TOLERANCES: Declared = {
    "outputs": {"renyi_share": Relative(scale=1e-5)},  # 0 up to its quadrature where records are kept apart by a step
    "placement": {  # differences of risks, which are the same run where the noise is all in the last step anyway
        "above": Relative(1e-10, of="excess_risk"),
        "above_error": Relative(1e-10, of="excess_risk"),
    },
    "placement-by-covariance": {
        "above": Relative(1e-10, of="excess_risk"),
        "above_error": Relative(1e-10, of="excess_risk"),
    },
    "steps": {"worst": Cases("check", {GRADIENT: Rounding()})},  # divided differences, against exact gradients
    "verdicts": {
        f"dpgd/equation-a.9: {GRADIENT}": Rounding(),
    },
}
