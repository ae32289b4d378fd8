r"""Sums over records whose rounding is bounded, so that one record moves them no further than a release accounts for.

Releases rest on sums over n records such as :math:`\sum_i a_i b_i^\top`. In exact arithmetic, replacing one record
moves the sum by two of its terms at most. In floating-point arithmetic it may move it further, because every partial
sum after the replaced record can be rounded another way. Added one after the other, n terms of length at most 1 have
partial sums of length up to n; each is rounded by up to un, where u = 2⁻⁵³ is the unit roundoff, so the rounding of two
neighbouring sums may differ by u n². That is no longer small against 1 when n is in the millions.

`product` therefore adds blocks of at most m = `ROWS` records, and then pairs of such sums, pairs of pairs, and so on,
in an order that n alone decides. Only the block that holds the replaced record changes, and the sums of pairs above it.

**Bound** (`slack`). Let all terms have ‖a_i‖‖b_i‖ ≤ 1.

1. A block's sum is a product of two matrices. Whatever the order in which it adds, its error is at most γ_m |A|ᵀ|B| in
   each entry, where γ_m = mu/(1 − mu) (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, (3.13)).
   In Frobenius norm that is at most mγ_m, since ‖|a||b|ᵀ‖ = ‖a‖‖b‖.
2. A sum of two sums over k records together has length at most k (1 + small), and its rounding is at most uk. The
   numbers of records on the way from a block to the whole are at most 2m, 4m, …, and the last one is n. Each is less
   than half of the one after the next, so together they are at most 2(n + n/2 + n/4 + …) = 4n.
3. Neighbouring sums consist of the same numbers but for one such way. Hence their errors differ by at most
   2(mγ_m + 4un), to first order in u.

Terms that were clipped to length 1 may themselves be longer by a few units of rounding for each of their d entries. All
together, a replaced record moves the computed sum by at most 2(1 + slack) where it moves the exact one by at most 2.

*Assumes* that the same block of numbers has the same computed product in both runs, as it has on one machine with one
number of threads.
"""

from collections.abc import Callable

import numpy as np

from costofprivacy import _validate

ROWS = 512  # records in a block, m of the module's text: mγ_m is then below 3e-11
UNIT_ROUNDOFF = 2.0**-53
_OF_A_TERM = 16  # roundings in the length of a term, beside those of its d entries


@np.errstate(all="ignore")  # what NumPy has to say of private numbers
def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The sum over records of a_i b_iᵀ, or of a_i b_i for numbers b_i, with bounded rounding.

    Guarantee: if ‖a_i‖‖b_i‖ ≤ 1 for each record, replacing one moves the result by at most 2(1 + `slack` (n, d)) in
    Frobenius norm, rounding included, d being the number of entries of a term.

    Args:
        left: a_i, one record a row, shape (n, p). right: b_i, shape (n, q) or (n,).

    Returns:
        ``left.T @ right``, shape (p, q) or (p,): bit for bit up to `ROWS` records, to rounding beyond.

    >>> product(np.ones((1000, 2)), np.arange(1000.0))
    array([499500., 499500.])
    """
    return pairwise(lambda rows: left[rows].T @ right[rows], len(left))


def pairwise(block: Callable[[slice], np.ndarray], n: int) -> np.ndarray:
    """A sum over n records of which the sums over blocks of at most `ROWS` are given, added as in `product`.

    Guarantee: that of `product`, if a block's sum is right to a relative γ_m of the sum of its terms' lengths (as a sum
    of its m terms in any order is) and a record enters the sum of its own block alone.

    Args:
        block: the sum over the records in a range. n: number of records, at least 1.

    >>> pairwise(lambda rows: np.arange(1000.0)[rows].sum(), 1000)
    np.float64(499500.0)
    """
    return _between(block, 0, n)


def _between(block: Callable[[slice], np.ndarray], start: int, stop: int) -> np.ndarray:
    n = stop - start
    if n <= ROWS:
        return block(slice(start, stop))
    blocks = (n - 1) // ROWS  # full blocks before the last one
    middle = start + (ROWS << (blocks.bit_length() - 1))  # the largest power of two of them
    return _between(block, start, middle) + _between(block, middle, stop)


def slack(n: int, entries: int) -> float:
    """By how much more than in exact arithmetic, relatively, a replaced record can move a sum of bounded terms.

    It is below 10⁻⁹ up to a million records. Noise that is larger by the factor 1 + slack pays for it.

    Args:
        n: number of records, at least 1. entries: d, the number of entries of a term, at least 1.

    Raises:
        ValueError: if an argument is not a whole number of at least 1.

    >>> print(f"{slack(1000, 10):.0e} {slack(1_000_000, 10):.0e}")
    3e-11 5e-10
    """
    block = min(_validate.whole("n", n), ROWS)
    rounding = block * (block + 1) + 4 * (n if n > ROWS else 0)
    return UNIT_ROUNDOFF * (rounding + _validate.whole("entries", entries) + _OF_A_TERM)
