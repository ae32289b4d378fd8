"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Declared, Relative

# A score's last bit may move it over the edge of an event, so that a count differs by a few.
COUNTED = Relative(1e-3, scale=1.0)
# Where few releases are counted, one more or less moves a bound further.
FEW = Relative(0.03, scale=1.0)
# OpenDP draws from the operating system, and has no seed: its audit differs from run to run.
UNSEEDED = Relative(0.2, scale=1.0)

BOUNDS = ("epsilon_found", "mu_found", "hostile_epsilon", "hostile_mu")

TOLERANCES: Declared = {
    "releases": dict.fromkeys(BOUNDS, FEW),
    "audits": {"epsilon": FEW, "mu": FEW},
    "exact": {"spent": Relative(1e-3, scale=1e-3)},  # tails of normals, in cells
    "transcribed": {"epsilon_found": COUNTED},
    "opacus-runs": {"epsilon_found": FEW},
    "diffprivlib-runs": {"epsilon_found": FEW},
    "opendp-runs": {"epsilon_found": UNSEEDED},
}
