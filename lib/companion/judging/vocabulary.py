"""What the words of comparison mean in this book: one definition each, the same for every judge and every sentence."""

import math

CONSISTENT = 4.0  # standard errors within which two numbers agree
ON_A_PAR = 1.1  # factor up to which one risk is as good as another
WORSE = 1.02  # factor from which on a risk that is computed without noise is worse than another
ABOUT = 0.1  # share of a number within which another is approximately it
MUCH_SMALLER = 0.1  # share of a number up to which another is much smaller
ROUNDING = 1e-9  # relative difference that is rounding, of numbers in closed form


def consistent(value: float, other: float, error: float) -> bool:
    """Whether two numbers agree within the standard error of their difference, times `CONSISTENT`."""
    return abs(value - other) <= CONSISTENT * error


def worse(risk: float, other: float, error: float = 0.0) -> bool:
    """Whether a risk is `WORSE` times another, beyond `CONSISTENT` standard errors of their difference."""
    return risk > WORSE * other and risk - other > CONSISTENT * error


def about(value: float, other: float) -> bool:
    """Whether a number is within a share `ABOUT` of another."""
    return math.isclose(value, other, rel_tol=0.0, abs_tol=ABOUT * abs(other))


MEANING = {
    "consistent": f"within {CONSISTENT:g} standard errors of the difference",
    "on a par": f"within a factor of {ON_A_PAR:g}",
    "worse": f"by a factor of more than {WORSE:g}, beyond {CONSISTENT:g} standard errors where there are any",
    "approximately": f"within {ABOUT:.0%}".replace("%", " %"),
    "much smaller": f"at most {MUCH_SMALLER:.0%} of it".replace("%", " %"),
}
