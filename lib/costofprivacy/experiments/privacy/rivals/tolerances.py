"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.tolerances import Cases, Declared, Errors, Relative

# Its noise is drawn along eigenvectors of the second moment; MNIST's, which is singular, are any of their space: another
# machine draws another noise from the same law.
TOLD = "DP-GD, told the second moment"
MEANS = ("test_error", "lost", "behind")
ERROR = Cases("method", {TOLD: Relative(0.7)})  # of the spread of ten trials

TOLERANCES: Declared = {
    "errors": {name: Cases("method", {TOLD: Errors(4.0, f"{name}_error")}) for name in MEANS}
    | dict.fromkeys((f"{name}_error" for name in MEANS), ERROR),
}
