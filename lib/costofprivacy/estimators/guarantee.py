"""What a fit promises, and the receipt that says so in words and in JSON."""

from __future__ import annotations

import json
import platform
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from costofprivacy.privacy import ApproximateDP, GaussianDP

if TYPE_CHECKING:
    from costofprivacy.estimators.schema import Schema, SchemaTransformer

WIDTH = 100  # letters in a line of a receipt
RECORD = "replace one record by any other; the number of records is public"
CAVEAT = (
    "The guarantee is proved for noise of real numbers. Noise here is drawn in double precision by NumPy's generator, "
    "which is not made for secrecy; how long a fit takes is not protected either."
)
REFUSED = "refused; whether there are such records is not protected"
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


@dataclass(frozen=True)
class Receipt:
    """What a reviewer or a data-protection officer asks of a private fit. ``str`` gives it in words, `json` as data.

    Args:
        method: name of the estimator. guarantee: what it promises. released: names of what depends on the records.
        public: what was taken as public, by argument. records: how many were used. features: how many there are.
        demonstration: whether a seed made the noise repeatable, which is no release.
        not_finite: what happened to records that are not finite.
        schema: what was public of the columns of the table, of which the features were made; None if it was not given.
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

    def data(self) -> dict[str, Any]:
        """The receipt as plain values: numbers, texts, lists and dictionaries.

        With a schema there is a part "schema", which `costofprivacy.estimators.Schema.from_json` reads as JSON text.
        """
        told, mu = self.guarantee, None if self.guarantee.gaussian is None else self.guarantee.gaussian.mu
        return {
            "method": self.method,
            "epsilon": told.claimed.epsilon,
            "delta": told.claimed.delta,
            "mu": mu,
            "rho": None if mu is None else mu**2 / 2,
            "neighbours": told.neighbours,
            "proof": told.proof,
            "released": list(self.released),
            "public": {name: _plain(value) for name, value in self.public.items()},
            **({} if self.schema is None else {"schema": json.loads(self.schema.to_json())}),
            "records": self.records,
            "features": self.features,
            "records_that_are_not_finite": self.not_finite,
            "demonstration": self.demonstration,
            "caveat": CAVEAT,
            "versions": {"python": platform.python_version()} | {name: version(name) for name in SOFTWARE},
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
            else f"It is {data['mu']:.4g}-Gaussian DP, hence ρ-zCDP with ρ = {data['rho']:.4g}."
        )
        public = "; ".join(f"{name} = {value}" for name, value in data["public"].items()) or "nothing"
        seed = (
            "A DEMONSTRATION, NO RELEASE: whoever knows random_state can compute the noise and subtract it."
            if self.demonstration
            else "The noise was seeded from the operating system."
        )
        versions = ", ".join(f"{name} {number}" for name, number in data["versions"].items())
        lines = (
            f"{self.method}, fitted to {self.records} records of {self.features} features.",
            f"Guarantee: ({told.claimed.epsilon:g}, {told.claimed.delta:g})-differential privacy. {gaussian}",
            f"Neighbouring data sets: {told.neighbours}.",
            f"Proof: {told.proof}.",
            f"Released: {', '.join(self.released)}.",
            f"Taken as public: {public}.",
            *([] if self.schema is None else _columns(self.schema)),
            f"Records that are not finite: {self.not_finite}.",
            seed,
            CAVEAT,
            f"Software: {versions}.",
        )
        return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def receipt(fitted: Any, public: tuple[str, ...], schema: Schema | SchemaTransformer | None = None) -> Receipt:
    """The receipt of a fitted estimator of tables.

    Bounds, centers and scales that were stated feature by feature stand beside the features' names, where there are
    any: those of the schema, or of the data frame of the fit.

    Args:
        fitted: with ``guarantee_``, ``n_records_``, ``n_features_in_``, ``not_finite`` and ``random_state``.
        public: names of its arguments that were taken as public; those that are None were not stated.
        schema: what made the features of a table's columns, if anything did: a `costofprivacy.estimators.Schema`, or
            its transformer. It was public too, and belongs to the receipt.

    Raises:
        ValueError: if the schema's features are not those of the fit.
    """
    stated: Any = getattr(schema, "schema", schema)  # of a transformer
    names = _names(fitted, stated)
    named = (*public, *(name for name in ("fit_intercept", "interval_share") if hasattr(fitted, name)))
    given = {name: value for name in named if (value := getattr(fitted, name)) is not None}
    if names is not None:
        given = {name: _by_name(name, value, names) for name, value in given.items()}
    released = [name for name in ("coef_", "intercept_", "covariance_", "centre_") if hasattr(fitted, name)]
    rule = "void, under the guarantee" if fitted.not_finite == "void" else REFUSED
    return Receipt(
        type(fitted).__name__,
        fitted.guarantee_,
        tuple(released),
        given,
        fitted.n_records_,
        fitted.n_features_in_,
        fitted.random_state is not None,
        rule,
        stated,
    )


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


def _by_name(argument: str, value: Any, names: Sequence[str]) -> Any:
    """What was stated feature by feature, beside the features' names; anything else as it is."""
    if argument == "feature_bounds" and not isinstance(value, dict) and any(np.ndim(side) for side in value):
        low, high = (np.broadcast_to(side, (len(names),)).tolist() for side in value)
        return {name: [low[k], high[k]] for k, name in enumerate(names)}
    if argument in ("feature_center", "feature_scale") and np.ndim(value) == 1:
        return dict(zip(names, np.asarray(value).tolist(), strict=True))
    return value


def _columns(schema: Schema) -> list[str]:
    """One line for each column of a schema, with every public choice."""
    lines = [f"Columns of the table, as they were stated ({len(schema.names)}):"]
    for row in schema.table().to_dict("records"):
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
