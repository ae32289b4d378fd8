"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.tolerances import SEARCHED, Declared, Errors, Rounding

SIMULATED = Errors(0.01, "risk_sd")  # trials at a learning rate that was searched

TOLERANCES: Declared = {
    "exponential-integrals": {"quadrature": Rounding()},
    "solutions": {"difference": Rounding()},
    "figure-7": {"rate": SEARCHED, "offset": SEARCHED, "risk_mean": SIMULATED, "risk_sd": SIMULATED},
    "optimum": {"rate": SEARCHED, "switch": SEARCHED, "risk_mean": SIMULATED, "risk_sd": SIMULATED},
    "gains": {"rate": SEARCHED, "switch": SEARCHED},
    "rates": {"rate": SEARCHED, "offset": SEARCHED, "descent": SEARCHED},
    "verdicts": {
        "dpgd/equation-5.24: largest relative difference": Rounding(),
        "dpgd/lemma-d.5: largest relative difference": Rounding(),
        "dpgd/equation-5.22: largest relative difference from quadrature": Rounding(),
    },
}
