r"""The unit of privacy: a patient, say, who stands in several records, is protected as a whole.

With ``unit=`` a fit uses at most k = ``most_per_unit`` records of each unit, and its guarantee is for *replacing all
records of one unit by any others, however many there are*. The number of units m is public; how many records each of
them has is not. A forecast of the same name says what k costs before anything is spent.

**Places.** Each unit has k places, mk together, which are in random order. The records of a unit are put into random
order; the first k take its places, and places that stay empty hold a void record, which contributes nothing. What is
fitted are the mk places, so that nothing that can be seen depends on how many are filled.

**Guarantee.** Let a mechanism be μ/k-Gaussian DP for replacing one record of mk. Then the fit is μ-Gaussian DP for
replacing a unit. *Proof.* Let D and D' have the same units but for a, in whose stead D' has a', with other records.

1. *At most k places differ.* Place j of unit u is :math:`\pi(k\sigma(u) + j)`, where σ numbers the units and π is a
   uniform permutation that is independent of the data. Whatever σ is, which may depend on all identifiers, the
   assignment of places to pairs (u, j) is uniform too. So it has the same law in both data sets, with a' for a. The
   same holds for the random order of the records of any other unit, which is drawn for that unit alone. Draw both in
   common for D and D'. Then all places are filled alike but for the k of a and of a'.
2. *Given these draws*, the mechanism meets two lists of mk records that differ in at most k of them. That is
   μ-Gaussian DP, by k replacements one after the other (`costofprivacy.privacy.groups`).
3. *The draws have one law in both data sets.* A test that knew them would have at most the power of 2. on the average
   over them, because the power allowed by Gaussian DP is a concave function of the size of the test. Not to know them
   gives no more. ∎

For (ε, δ) alone the same three steps hold with (ε/k, δ') for one record, δ' = δ(e^{ε/k} − 1)/(e^ε − 1).

**The noise is that of a sensitivity for k records.** A sum of gradients of length at most C moves by at most 2kC when k
of them are replaced. Noise for μ and 2kC is noise for μ/k and 2C: this is not composition of k releases, and not ε/k,
which would leave a smaller δ unused. With records of one direction it is attained. The noise of second moments, √2 kB²,
and of the rank of a quantile, k, grows by k as well. For objective perturbation no sharper argument is known here; its
(ε/k, δ') adds 0.4 % to the noise of a Gaussian mechanism at ε = 1, and 3 % at ε = 4.

*Choose k near to what a unit usually has.* With k too large most places are void, and the noise is for k all the same;
with k too small records are left out. A plan and the forecast
of a fit suppose that all mk places are filled; where units have fewer records, both are too hopeful, because what is
public does not say how many there are. `forecasting.forecast` takes the number of filled places for n.

*What k costs*, by `forecasting.forecast` at ε = 1, δ = 10⁻⁶ and 10 features, where 0.5 is the best possible R²: with
2000 used records clipped descent is expected to reach 0.485, 0.474, 0.436 and 0.359 for k = 1, 2, 5 and 10; with 20,000
of them 0.497, 0.496, 0.492 and 0.487.

**Intervals** take the records of a unit together, because they are not independent: the spread of gradients is that of
sums over units, with the noise of a sensitivity of √2 k²C² (`costofprivacy.rivals.sandwich`, which has the proof). For
that the places of a unit stand side by side, the units in an order that follows from π alone.

**Identifiers** are compared as a `Schema` compares categories: "007" and 7 are one unit. A record without an identifier
is refused with ``not_finite="refuse"``, and is left out with "void"; so is one with "nan" or what else ``astype(str)``
makes of an empty cell. Who has two identifiers is two units.

**A stream** is not held in memory, so nobody counts there: with ``most_per_unit=k`` it must hold at most k records of a
unit, whose replacement by k others is protected, and the receipt says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import cells
from costofprivacy.privacy import records

PROOF = "costofprivacy.estimators.units"
MISSING = ("None", "<NA>", "NaT")  # what empty cells become as text, beside "nan"


@dataclass(frozen=True)
class Unit:
    """What a fit protects: whoever stands behind an identifier.

    Args:
        most: k, how many of its records are used at most. count: m, how many units there are; None for a stream.
        column: the name of the identifiers, if they have one.
    """

    most: int
    count: int | None
    column: str | None = None

    @property
    def neighbours(self) -> str:
        """The relation of neighbours in words."""
        named = "" if self.column is None else f" (column {self.column!r})"
        if self.count is None:
            return (
                f"replace all records of one unit, of which the stream holds at most {self.most}, by as many others; "
                "the number of records is public"
            )
        return f"replace all records of one unit{named} by any others, however many; the number of units is public"

    @property
    def sentence(self) -> str:
        """How many units there are, and how many of their records were used."""
        if self.count is None:
            return f"a stream that must hold at most {self.most} records of a unit, which was not checked"
        named = "" if self.column is None else f" (column {self.column!r})"
        return f"{self.count} units{named}, of each of which at most {self.most} records were used"


@dataclass(frozen=True, eq=False)
class Identified:
    """Which record belongs to which unit.

    Args:
        unit: what is public of them. codes: the number of each record's unit, shape (n,); −1 for one without.
    """

    unit: Unit
    codes: np.ndarray

    def placed(self, *parts: np.ndarray, beside: bool = False, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """The records in the mk places of the module's text; a place that stays empty holds NaN.

        Guarantee: replacing all records of one unit changes k places at most, if the draws are made in common.

        Args:
            parts: of double precision, whose first axis is the record. beside: whether the places of a unit come to
                stand side by side, the units in the order of the first of their places. rng: of the orders.
        """
        (n,), most = self.codes.shape, self.unit.most
        m = int(self.codes.max()) + 1
        order = np.lexsort(np.stack([rng.random(n), self.codes]))  # the records of a unit side by side, in random order
        order = order[self.codes[order] >= 0]
        own = self.codes[order]
        rank = np.arange(len(own)) - np.searchsorted(own, np.arange(m))[own]
        used = rank < most
        slots = rng.permutation(m * most).reshape(m, most)
        if beside:
            slots = most * slots.min(axis=1).argsort().argsort()[:, None] + np.arange(most)
        places = slots[own[used], rank[used]]
        found = []
        for part in parts:
            empty = np.full((m * most, *part.shape[1:]), np.nan)
            empty[places] = part[order[used]]
            found.append(empty)
        return tuple(found)


def separated(X: Any, unit: Any) -> tuple[Any, Any]:
    """The features without the column of the identifiers, and the identifiers.

    Args:
        X: features. unit: identifiers, or the name of their column if X is a data frame; or None.

    Raises:
        InvalidParameterError: if there is no such column, or X has a column of the name of the given identifiers.
    """
    if not isinstance(unit, str):
        name = getattr(unit, "name", None)
        if name is not None and any(column == name for column, _ in cells.named(X)):
            raise InvalidParameterError(f"X must not have the identifiers as a feature: give unit={name!r}, its column")
        return X, unit
    found = [column for name, column in cells.named(X) if name == unit]
    if len(found) != 1:
        raise InvalidParameterError(
            f"unit must be one column of the data frame X, or an identifier for each record, such as people[{unit!r}]; "
            f"X has {len(found)} columns of that name"
        )
    return without(X, unit), found[0]


def without(X: Any, column: str | None) -> Any:
    """A data frame without a column, if it has it."""
    if column is None or all(name != column for name, _ in cells.named(X)):
        return X
    if hasattr(type(X), "iloc"):
        return X.drop(columns=column)
    return X.drop([column]) if hasattr(type(X), "drop") else X.drop_columns([column])


def identified(unit: Any, most: int | None, n: int, *, void: bool | None, name: str | None = None) -> Identified | None:
    """Which of n records belong to which unit; None where neither identifiers nor a number of records were given.

    Args:
        unit: identifiers, one for each record, or None. most: ``most_per_unit``, or None. n: number of records.
        void: whether a record without an identifier is left out; it is refused otherwise. None: there is no such rule.
        name: of the identifiers; that of a series is found.

    Raises:
        ValueError: if one is given without the other, there are not n identifiers, or one is missing.
    """
    if unit is None and most is None:
        return None
    if unit is None or most is None:
        raise InvalidParameterError(
            "unit and most_per_unit go together: the identifiers are an argument of the fit, and how many records of a "
            f"unit are used at most is one of the estimator; got {'no unit' if unit is None else 'no most_per_unit'}"
        )
    most = _validate.whole("most_per_unit", most)
    in_order = hasattr(unit, "__iter__") and not isinstance(unit, (Mapping, Set))  # the keys of a mapping are none
    given = list(cells.cells(unit)) if in_order and getattr(unit, "ndim", 1) == 1 else None
    if given is None or len(given) != n:
        found = f"a {type(unit).__name__}" if given is None else f"{len(given)} of them"
        raise ValueError(f"unit must be an identifier for each of the {n} records, got {found}")
    numbers: dict[Any, int] = {}
    missing = [cells.empty(cell) or records.text(cell) in MISSING for cell in given]
    keys = [None if none else cells.key(cell) for cell, none in zip(given, missing)]
    codes = np.array([-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys])
    if not numbers or (not void and (codes < 0).any()):
        rule = "; with not_finite='void' a record without one is left out" if void is False else ", or leave it out"
        raise ValueError(
            "unit must have an identifier, a number or text, for each record (write others as text, with astype(str))"
            f"{rule}"
        )
    column = name if name is not None else getattr(unit, "name", None)
    return Identified(Unit(most, len(numbers), column if isinstance(column, str) else None), codes)


def streamed(most: int | None) -> Unit | None:
    """The unit of a stream, of which nobody counts the records."""
    return None if most is None else Unit(_validate.whole("most_per_unit", most), None)
