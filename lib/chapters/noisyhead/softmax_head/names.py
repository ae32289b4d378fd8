"""The words of this chapter's tables."""

SOFTMAX, LINEAR = "softmax", "linear"
HEADS = (SOFTMAX, LINEAR)
PRIVATE, NON_PRIVATE, NO_DATA, ZERO, BEST = "private-head", "non-private", "no-data", "zero", "best"
LAST, WARM = "private-head, last iterate", "private-head, from no-data"
WHITENED = "private-head, whitened"  # of `costofprivacy.noisyhead.whitened_descent`, a linear one
ISOTROPIC = "isotropic"
# Ways to bound a prompt, and to count the noise of T steps.
CLIPPED, BOUNDED = "each gradient clipped", "responses clipped"
EXACT, PRINTED = "exact", "printed"


def covariance(condition: float) -> str:
    """A covariance as tables name it, by its condition number."""
    return ISOTROPIC if condition == 1 else f"unknown-{condition:g}"
