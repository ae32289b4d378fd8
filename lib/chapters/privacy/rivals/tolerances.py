"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import Cases, Declared, Errors, Relative

# Its noise is drawn along eigenvectors of the second moment. MNIST's is singular, and they are any of their space:
# another machine draws another noise from the same law.
TOLD = "DP-GD, told the second moment"
ERROR = Cases("method", {TOLD: Relative(0.7)})  # of the spread of ten trials

BEHIND = Cases("method", {TOLD: Errors(4.0, "behind_error")}, Relative(scale=1e-3))  # a difference of errors

TOLERANCES: Declared = {
    "errors": {
        "test_error": Cases("method", {TOLD: Errors(4.0, "test_error_error")}),
        "lost": Cases("method", {TOLD: Errors(4.0, "lost_error")}),
        "behind": BEHIND,
        "test_error_error": ERROR,
        "lost_error": ERROR,
        "behind_error": ERROR,
    },
}
