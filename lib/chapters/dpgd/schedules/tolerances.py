"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import SEARCHED, Cases, Declared, Errors, Relative, Rounding

SIMULATED = Errors(0.01, "risk_sd")  # trials at a learning rate that was searched

DESCENTS = ("flat, then power 1.1", "flat, then a free power")  # of Nelder and Mead, which ends at 1e-4 or by its count

TOLERANCES: Declared = {
    "exponential-integrals": {"quadrature": Rounding()},
    "solutions": {"difference": Rounding()},
    "figure-7": {"rate": SEARCHED, "offset": SEARCHED, "risk_mean": SIMULATED, "risk_sd": SIMULATED},
    "optimum": {"rate": SEARCHED, "switch": SEARCHED, "risk_mean": SIMULATED, "risk_sd": SIMULATED},
    "gains": {
        "rate": SEARCHED,
        "switch": SEARCHED,
        "risk": Cases("family", dict.fromkeys(DESCENTS, Relative(1e-3))),
        "excess": Cases("family", dict.fromkeys(DESCENTS, Relative(1e-3, scale=1.0)), Relative(scale=1.0)),
    },
    # Descent in all falls at once, on a grid that errs by 1e-3; with many eigenvalues to one local minimum or another.
    "search": {"searched": Cases("spectrum", {"uniform": Relative(0.02)}, Relative(1e-3))},
    "rates": {"rate": SEARCHED, "offset": SEARCHED, "descent": SEARCHED},
    "verdicts": {
        "dpgd/section-5-precise: largest relative gap of simulated and predicted risk": Relative(0.02),  # as risk_mean
        "dpgd/equation-5.24: largest relative difference": Rounding(),
        "dpgd/lemma-d.5: largest relative difference": Rounding(),
        "dpgd/equation-5.22: largest relative difference from quadrature": Rounding(),
    },
}
