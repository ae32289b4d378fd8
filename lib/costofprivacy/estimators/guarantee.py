"""What a fit promises, and the receipt that says so in words and in JSON.

A receipt is made by the fit, from what the fit used, and kept as ``receipt_``. What is done to the estimator or its
arguments afterwards changes neither it nor ``predict``, until the next fit; a clone has none.
"""

from __future__ import annotations

import functools
import json
import platform
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators.scaling import labelled
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile

if TYPE_CHECKING:
    from costofprivacy.estimators.schema import Schema, SchemaTransformer
    from costofprivacy.estimators.search_plans import SearchPlan
    from costofprivacy.estimators.units import Unit

WIDTH = 100  # letters in a line of a receipt
RECORD = "replace one record by any other; the number of records is public"
PROMPT = RECORD.replace("record", "prompt")
CAVEAT = (
    "The guarantee is proved for noise of real numbers. Noise here is drawn in double precision by NumPy's generator, "
    "which is not made for secrecy; how long a fit takes is not protected either."
)
EXACT = (
    "The noise was drawn by {}, exactly, on a public grid and from a generator made for secrecy, and the guarantee is "
    "proved for it (costofprivacy.privacy.secure). How long a fit takes is not protected."
)
SCOPE = (
    "this {} alone. Other fits to the same records, their scores, and bounds found in the records add up "
    "(costofprivacy.estimators.spending). If a scaler, imputed values, a selection of features or a choice of settings "
    "learned from the records without noise, there is no guarantee"
)
SEVERAL_RECORDS = (
    "Who stands in several records, or in one that is repeated as in a bootstrap sample, is protected less: unit= and "
    "most_per_unit= protect all records of a unit (costofprivacy.estimators.units)"
)
SEVERAL_UNITS = "Who stands behind several identifiers, or whose records are repeated under others, is protected less"
REFUSED = "refused; whether there are such records is not protected"
FEATURES = ("n_features_in_", "feature_names_in_")  # what scikit-learn keeps of them
FEW = 5  # names that a message quotes
SOFTWARE = ("costofprivacy", "numpy", "scipy", "scikit-learn", "dp-accounting")


@dataclass(frozen=True)
class Guarantee:
    """What a release promises.

    Args:
        claimed: (ε, δ).
        gaussian: the Gaussian DP that is proved, with its parameter μ, or None where (ε, δ) is all that is proved.
        neighbours: the relation of neighbours.
        proof: where the proof stands, as a dotted name.
    """

    claimed: ApproximateDP
    gaussian: GaussianDP | None
    proof: str
    neighbours: str = RECORD


def digits(value: float, rounding: str = ROUND_CEILING) -> str:
    """Four digits, up for what is spent and down for what is left; the last digits of a double are no reason for it."""
    return f"{float(Context(4, rounding).plus(Context(9).create_decimal_from_float(float(value)))):.4g}"


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    return ("python", platform.python_version()), *((name, version(name)) for name in SOFTWARE)


@dataclass(frozen=True)
class Receipt:
    """What a reviewer or a data-protection officer asks of a private fit. ``str`` gives it in words, `json` as data.

    Args:
        method: name of the estimator. guarantee: what it promises. released: names of what depends on the records.
        public: what was taken as public, by argument, as plain values.
        records: how many were read, void ones included. Where a stream ends must not depend on what is in it, so that
            this number is as public as the one that was announced. features: how many there are.
        demonstration: whether a seed made the noise repeatable, which is no release.
        not_finite: what happened to records that are not finite.
        schema: what was public of the columns of the table, of which the features were made; None if it was not given.
        algorithm: in words. announced: number of records for which noise was added, if it is not that of the records.
        fit: 1 for the first fit of the estimator, 2 for the second.
        found: what `costofprivacy.estimators.private_bounds` spent on bounds that were handed over as it returned them.
        search: of which private search the fit is a part, as a sentence; the guarantee is then that of all of it.
        unit: what was protected, if it was not one record. Then ``records`` are the places of `estimators.units`, of
            which it is not public how many were filled.
        sampler: what drew the noise, if it was not NumPy's generator.
        versions: of the software at the time of the fit.
    """

    method: str
    guarantee: Guarantee
    released: tuple[str, ...]
    public: dict[str, Any]
    records: int
    features: int
    demonstration: bool
    not_finite: str
    schema: Schema | None = None
    algorithm: str = ""
    announced: int | None = None
    fit: int = 1
    found: tuple[tuple[str, GaussianDP], ...] = ()
    search: str = ""
    unit: Unit | None = None
    sampler: str = ""
    versions: tuple[tuple[str, str], ...] = field(default_factory=_versions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "public", {name: _plain(value) for name, value in self.public.items()})

    def data(self) -> dict[str, Any]:
        """The receipt as plain values: numbers, texts, lists and dictionaries.

        With a schema there is a part "schema", which `costofprivacy.estimators.Schema.from_json` reads as JSON text.
        """
        told, mu = self.guarantee, None if self.guarantee.gaussian is None else self.guarantee.gaussian.mu
        covered = SCOPE.format("search" if self.search else "fit")
        return {
            "method": self.method,
            "algorithm": self.algorithm,
            "epsilon": told.claimed.epsilon,
            "delta": told.claimed.delta,
            "mu": mu,
            "rho": None if mu is None else mu**2 / 2,
            "neighbours": told.neighbours,
            "unit": None if self.unit is None else self.unit.sentence,
            "units": None if self.unit is None else self.unit.count,
            "most_per_unit": None if self.unit is None else self.unit.most,
            "proof": told.proof,
            "covers": self._said(f"{covered}. {SEVERAL_UNITS if self.unit else SEVERAL_RECORDS}"),
            "fit_of_this_estimator": self.fit,
            "search": self.search,
            "private_bounds": {name: spent.mu for name, spent in self.found},
            "released": list(self.released),
            "public": _plain(self.public),
            **({} if self.schema is None else {"schema": json.loads(self.schema.to_json())}),
            "records": self.records,
            "records_announced": self.records if self.announced is None else self.announced,
            "features": self.features,
            "records_that_are_not_finite": self._said(self.not_finite),
            "demonstration": self.demonstration,
            **({"noise": self.sampler} if self.sampler else {}),
            "caveat": EXACT.format(self.sampler) if self.sampler else CAVEAT,
            "versions": dict(self.versions),
        }

    def json(self) -> str:
        """The receipt as JSON; an infinite number is a text."""
        return json.dumps(_finite(self.data()), indent=2)

    def __str__(self) -> str:
        """The receipt in words."""
        told, data = self.guarantee, self.data()
        gaussian = (
            "Nothing beyond this (ε, δ) is proved."
            if data["mu"] is None
            else f"It is {digits(data['mu'])}-Gaussian DP, hence ρ-zCDP with ρ = {digits(data['rho'])}."
        )
        public = "; ".join(f"{name} = {value}" for name, value in data["public"].items()) or "nothing"
        seed = (
            "A DEMONSTRATION, NO RELEASE: whoever knows random_state can compute the noise and subtract it."
            if self.demonstration
            else "The noise was seeded from the operating system."
        )
        versions = ", ".join(f"{name} {number}" for name, number in data["versions"].items())
        early = "" if self.announced is None else f" The noise is that for the {self.announced} that were announced."
        again = f" It was number {self.fit} of this estimator, and all of them add up." if self.fit > 1 else ""
        bounds = []
        if self.found:  # at the δ of the fit if it is Gaussian DP, else at twice that
            from costofprivacy.estimators.spending import compose  # here: it is rarely needed

            spent = ", ".join(f"{name} ({digits(each.mu)}-Gaussian DP)" for name, each in self.found)
            delta = told.claimed.delta if told.gaussian else min(2 * told.claimed.delta, (1 + told.claimed.delta) / 2)
            total = compose(told, *(each for _, each in self.found), delta=delta).claimed
            together = f"With this fit together: ({digits(total.epsilon)}, {digits(total.delta)})-differential privacy."
            bounds = [f"Private bounds, which spent besides: {spent}. {together}"]
        lines = (
            f"{self.method}, fitted to {self._fitted_to()} of {self.features} features.{early}",
            *([f"Algorithm: {self.algorithm}."] if self.algorithm else []),
            f"Guarantee: ({digits(data['epsilon'])}, {digits(data['delta'])})-differential privacy. {gaussian}",
            *([f"The guarantee is that of a whole search: {self.search}."] if self.search else []),
            f"Covers: {data['covers']}.{again}",
            *bounds,
            f"Neighbouring data sets: {told.neighbours}.",
            f"Proof: {told.proof}.",
            f"Released: {', '.join(self.released)}.",
            f"Taken as public: {public}.",
            *([] if self.schema is None else _columns(self.schema)),
            self._said(f"Records that are not finite: {self.not_finite}."),
            *([] if self.sampler else [seed]),
            data["caveat"],
            f"Software: {versions}.",
        )
        return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines)

    def _fitted_to(self) -> str:
        if self.unit is None or self.unit.count is None:
            return f"{self.records} {self._said('records')}" + (f" of {self.unit.sentence}," if self.unit else "")
        return f"the records of {self.unit.sentence},"

    def _said(self, text: str) -> str:
        """A text about records; where a record is a prompt, about prompts."""
        prompts = self.guarantee.neighbours == PROMPT
        return text.replace("record", "prompt").replace("Record", "Prompt") if prompts else text


def as_used(estimator: Any) -> Any:
    """A copy of an estimator's arguments as a fit finds them, with the features' number and names; no fit."""
    try:
        used = clone(estimator)
    except TypeError as error:
        raise InvalidParameterError(f"each argument must be a value that can be copied, but {error}") from None
    vars(used).update({name: vars(estimator)[name] for name in FEATURES if name in vars(estimator)})
    return used


def issue(fitted: Any, public: tuple[str, ...], algorithm: str, announced: int, unit: Unit | None = None) -> Receipt:
    """The receipt that a fit leaves behind, in its last step.

    Bounds, centers and scales that were stated feature by feature stand beside the features' names, if there are any.

    Args:
        fitted: with ``guarantee_``, ``n_features_in_``, and `as_used` as ``used_``; with ``n_records_`` where a stream
            may have held fewer than were announced.
        public: names of its arguments that were taken as public; those that are None were not stated.
        algorithm: in words. announced: number of records for which noise was added. unit: what was protected, if it was
            not one record.
    """
    used, names = fitted.used_, getattr(fitted, "feature_names_in_", None)
    named = (*public, *(name for name in ("fit_intercept", "interval_share") if hasattr(used, name)))
    read = getattr(fitted, "n_records_", announced)
    given = {name: value for name in named if (value := getattr(used, name)) is not None}
    given = {name: labelled(value) if name.startswith("feature_") else value for name, value in given.items()}
    released = [name for name in ("coef_", "intercept_", "covariance_", "centre_", "Gamma_") if hasattr(fitted, name)]
    fitted._fits = getattr(fitted, "_fits", 0) + 1
    return Receipt(
        type(fitted).__name__,
        fitted.guarantee_,
        tuple(released),
        given if names is None else _with_names(given, [str(name) for name in names]),
        read,
        fitted.n_features_in_,
        used.random_state is not None,
        "void, under the guarantee" if used.not_finite == "void" else REFUSED,
        algorithm=algorithm,
        announced=None if announced == read else announced,
        fit=fitted._fits,
        found=tuple((name, profile.last_iterate) for name, profile in _found(given)),
        unit=unit,
        sampler=f"OpenDP {version('opendp')}" if getattr(used, "noise", "") == "secure" else "",
    )


def issued(fitted: Any, schema: Schema | SchemaTransformer | None = None) -> Receipt:
    """A copy of the receipt of a fitted estimator, with the schema of its features and the search that it belongs to.

    Args:
        fitted: with ``receipt_``; with ``search_``, a `search_plans.SearchPlan`, if it is the result of a search.
        schema: what made the features of a table's columns, if anything did: a `costofprivacy.estimators.Schema`, or
            its transformer. It was public too, and belongs to the receipt.

    Raises:
        ValueError: if the schema's features are not those of the fit.
    """
    told: Receipt = fitted.receipt_
    plan: SearchPlan | None = getattr(fitted, "search_", None)
    if plan is not None:
        alone = told.guarantee.gaussian or told.guarantee.claimed
        whole = Guarantee(plan.claimed, plan.gaussian, f"costofprivacy.estimators.search_plans, {told.guarantee.proof}")
        about = f"{plan.sentence}. This is one of its fits, and would spend {alone} if it were alone"
        told = replace(told, guarantee=whole, search=about)
    stated: Any = getattr(schema, "schema", schema)  # of a transformer
    names = _names(fitted, stated)
    return replace(told, schema=stated, public=told.public if names is None else _with_names(told.public, names))


def refuse_bounds_of_records(estimator: Any) -> None:
    """Refuse bounds of ``private_bounds`` that protect one record, where a fit protects all records of a unit.

    Raises:
        ValueError: if there are any: with the fit together they would protect no unit.
    """
    given = {"feature_bounds": labelled(estimator.feature_bounds), "response_bounds": estimator.response_bounds}
    for name, profile in _found(given):
        if not profile.neighbours.startswith("replace all records of one unit"):
            raise ValueError(
                f"{name} must protect units as the fit does, got private bounds that protect one record: give "
                "private_bounds unit= and most_per_unit= too"
            )


def _found(given: Any, name: str = "") -> Iterator[tuple[str, PrivacyProfile]]:
    """What bounds among public arguments spent that are results of ``private_bounds``."""
    if isinstance(getattr(given, "profile", None), PrivacyProfile):
        yield name, given.profile
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _found(value, f"{name}[{key!r}]" if name else str(key))
    elif isinstance(given, (tuple, list)):
        for k, value in enumerate(given):
            yield from _found(value, f"{name}[{k}]")


def _names(fitted: Any, schema: Any) -> list[str] | None:
    """The names of the features: of the schema, or of the fit; None where there are none."""
    told = getattr(fitted, "feature_names_in_", None)
    known = None if told is None else [str(name) for name in told]
    if schema is None:
        return known
    if not hasattr(schema, "feature_names"):
        raise ValueError(f"schema must be a Schema or its transformer, got a {type(schema).__name__}")
    made: list[str] = schema.feature_names()
    if len(made) != fitted.n_features_in_ or known not in (None, made):
        raise ValueError(
            f"schema must make the features of the fit, got one of {len(made)} features, {_few(made)}, and a fit of "
            f"{fitted.n_features_in_}{'' if known is None else f', {_few(known)}'}"
        )
    return made


def _few(names: Sequence[str]) -> str:
    """The first of some names."""
    return ", ".join(map(repr, names[:FEW])) + (", …" if len(names) > FEW else "")


def _with_names(given: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What was stated feature by feature, beside the features' names; anything else as it is."""
    found = dict(given)
    for argument, value in given.items():
        if argument == "feature_bounds" and not isinstance(value, dict) and any(np.ndim(side) for side in value):
            sides = (np.broadcast_to(side, (len(names),)).tolist() for side in value)
            found[argument] = dict(zip(names, map(list, zip(*sides, strict=True)), strict=True))
        elif argument in ("feature_center", "feature_scale") and np.ndim(value) == 1:
            found[argument] = dict(zip(names, np.asarray(value).tolist(), strict=True))
    return found


def _columns(schema: Schema) -> list[str]:
    """One line for each column of a schema, with every public choice."""
    rows = schema.table().to_dict("records")
    lines = [f"Columns of the table, as they were stated ({len(rows)}):"]
    for row in rows:
        told = [f"{row['public values']} ({row['scale']})"]
        told += [f"{what} counts as {row[f'{what} counts as']}" for what in ("missing", "outside")]
        told += [f"expected: {row['expected']}"] if row["expected"] else []
        lines.append(f"- {row['column']}, a {row['kind']}: {'; '.join(told)}.")
    return lines


def _plain(value: Any) -> Any:
    """A public argument as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if isinstance(value, (bool, int, float, str)) or value is None else repr(value)


def _finite(value: Any) -> Any:
    """Infinite numbers, which JSON has not, as texts."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
