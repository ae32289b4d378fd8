"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Errors, Exact, Relative

# The noise of many steps is drawn along eigenvectors, which last bits turn where eigenvalues nearly agree.
DRAWN = Errors(0.01)
SPREAD = Relative(1e-3)
IN_ERRORS = Relative(1e-3, scale=10.0)  # in standard errors, of which it may differ by a hundredth

BEST = "gradient-descent, best number of steps"  # any, once descent has come to rest

TOLERANCES: Declared = {
    "figure-6": {"excess_risk": DRAWN, "standard_error": SPREAD},
    "bound": {"excess_risk": DRAWN, "standard_error": SPREAD},
    "scores": {"explained": DRAWN, "standard_error": SPREAD},
    "test-error": {
        "T": Cases("method", {BEST: Relative(0.5)}, Exact()),
        "test_error": DRAWN,
        "gain": Errors(0.01, "gain_error"),
        "standard_error": SPREAD,
        "gain_error": SPREAD,
    },
    "own-radii": {"gain": Errors(0.01, "gain_error"), "gain_error": SPREAD},
    "shapes": dict.fromkeys(("first", "second", "least", "last"), SPREAD)
    | dict.fromkeys(("early", "fall", "rise"), IN_ERRORS)
    | {"descent_rise": Relative(0.1, scale=30.0)},  # at rest both a rise and its standard error are rounding
    "verdicts": {
        "noisyhead/figure-6: excess risk at the first T": SPREAD,
        "noisyhead/figure-6: least excess risk": SPREAD,
        "noisyhead/figure-6: excess risk at the last T": SPREAD,
        "noisyhead/figure-6: rise from the least, in standard errors": SPREAD,
        "noisyhead/figure-6: excess risk of answering 0": SPREAD,
        "noisyhead/section-7-early-stopping: risk at the last T over the least, Algorithm 1": SPREAD,
        "noisyhead/section-7-agreement: largest ratio of the risk to the right side of (4.2)": SPREAD,
        "noisyhead/section-7-agreement: right side at the first T over that at the last": SPREAD,
        "noisyhead/section-1.1-utility: explained by the private head, settings of Figure 6": SPREAD,
        "noisyhead/section-1.1-utility: explained by the private head, best of all settings": SPREAD,
    },
}
