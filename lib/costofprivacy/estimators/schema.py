r"""A public schema: what is known of a table's columns before the data, and the transformer that follows from it.

A regression needs numbers within bounds. Scikit-learn's transformers *learn* them: the categories that occur, the mean
for missing values, the range for a scale. What is learnt from private records is not public, and a private fit after
such a step has no guarantee. Here everything is stated: bounds, categories, and what a missing value counts as.

**Guarantee.** `SchemaTransformer` learns nothing, and each row of what it returns depends on the record of that row and
on the schema alone. So neighbours (one record replaced) become neighbours, and a release that is private for all
neighbouring tables is equally private after it, with the same parameters: it costs no privacy.

*Proof.* A row consists of the images of its cells, side by side. Each is a map of one cell that is fixed by the schema
(`estimators.cells`, `estimators.kinds`), and cells of one record alone enter a row. What is refused is refused for the
table's type, column names or shape, which are public; a cell is never refused.
If record i is replaced, then row i may change and no other does. ∎

**What it does not cover.** A schema whose bounds or categories were read off the private data; the table's column names
where these depend on a record, as they may after ``pandas.DataFrame`` of records with different keys; a filter that
dropped records before.

>>> columns = {"age": number(18, 90, outside="missing"), "sex": category(["f", "m"]), "smoker": boolean()}
>>> schema = Schema(columns, response={"cost": number(100, 10_000, transform="log")})
>>> people = [{"age": 54, "sex": "m", "smoker": True, "cost": 100}, {"age": 999, "sex": "x", "smoker": "no"}]
>>> features, cost = schema.read(people)
>>> print(features, cost.round(2))
   age  sex_m  sex_other  smoker
0  0.0    1.0        0.0     1.0
1  0.0    0.0        1.0     0.0 [4.61  nan]

**What cannot be read is silent**, because a message about a cell would depend on a record. A date in another format, an
income "27,500" and a sex that is coded 1 and 2 instead of "f" and "m" count as missing or as unknown, without an error.
Two things help whoever holds the data, and neither may be published: `Schema.read_report` counts such cells, and
``transform`` warns (`SchemaWarning`) where the type of a column alone shows that the column is not what was stated.

>>> print(schema.read_report(people))
NOT FOR RELEASE  read  empty  unreadable  outside
age                 1      0           0        1
sex                 1      0           0        1
smoker              2      0           0        0
cost                1      1           0        0

**The logarithm of a response** is taken cell by cell, within public bounds, so it costs no privacy either. The fit is
then one of ln y, and its R², forecast, coefficients and intervals are those of ln y. Since no law of the noise is
assumed, e to the power of a prediction is the *median* of y only where the noise of ln y is symmetric; it is not the
mean of y, which is larger, by the factor exp(σ²/2) if that noise is normal with variance σ².
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import cells
from costofprivacy.estimators.account import in_a_search
from costofprivacy.estimators.kinds import Boolean, Category, Date, Number
from costofprivacy.privacy import records

if TYPE_CHECKING:
    import pandas as pd

Kind = Number | Category | Boolean | Date
KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (Number, Category, Boolean, Date)}
FORMAT = "costofprivacy schema 1"
number, category, boolean, date = Number, Category, Boolean, Date


class SchemaWarning(UserWarning):
    """The type of a column shows that it may not be what its schema says.

    It looks at types alone, and types can depend on records (`costofprivacy.estimators.cells`). So it is for
    whoever holds the data and is no part of a release. What is computed is the same with it and without it. Numbers in
    a column of text are read, so that a table in which every cell is text is as good as another; but "27,500" is no
    number. Once `Schema.read_report` has shown that all is well, a filter for this class ends the warnings:
    ``warnings.simplefilter("ignore", SchemaWarning)``.
    """


@dataclass(frozen=True, init=False)
class Schema:
    """What is public of a table's columns.

    A cell that cannot be read as its column's kind counts as missing, without an error. So call `read_report` once on
    your own data before you fit; what it shows is not private.

    Args:
        columns: a mapping of column names to `number`, `category`, `boolean` or `date`, at least one. The features come
            in this order.
        response: the column that is predicted, as ``{name: number(...)}``; None where it is stated elsewhere. With
            ``transform="log"`` its logarithm is predicted.

    Raises:
        ValueError: if there is no column, a name or a kind is of the wrong type, or two features have the same name.
    """

    columns: tuple[tuple[str, Kind], ...]
    response: tuple[str, Number] | None = None

    def __init__(self, columns: Mapping[str, Kind], response: Mapping[str, Number] | None = None) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise ValueError(f"columns must be a non-empty mapping of names to kinds, got {_validate.quoted(columns)}")
        for name, kind in columns.items():
            if not isinstance(name, str) or not isinstance(kind, Kind):
                raise ValueError(f"columns must map text to one of {', '.join(KINDS)}, got {name!r}: {kind!r}")
        object.__setattr__(self, "columns", tuple(columns.items()))
        if response is not None:
            told = list(response.items()) if isinstance(response, Mapping) else []
            if len(told) != 1 or not isinstance(told[0][1], Number) or told[0][1].indicator or told[0][0] in columns:
                raise ValueError(
                    "response must be one column that is no feature, as {name: number(low, high)} without an "
                    f"indicator, got {response!r}"
                )
            object.__setattr__(self, "response", told[0])
        features = self.feature_names()
        twice = sorted({name for name in features if features.count(name) > 1})
        if twice:
            raise ValueError(f"features must have distinct names, got more than one {', '.join(map(repr, twice))}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(name for name, _ in self.columns)

    def feature_names(self) -> list[str]:
        """Names of the features that the columns become, in order."""
        return [feature for name, kind in self.columns for feature in kind.features(name)]

    def feature_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Public bounds (low, high) of the features, each of shape (d,): the ``feature_bounds`` of an estimator.

        >>> low, high = Schema({"age": number(18, 90), "smoker": boolean()}).feature_bounds()
        >>> print(low, high)
        [-1.  0.] [1. 1.]
        """
        low, high = np.array([bounds for _, kind in self.columns for bounds in kind.bounds()]).T
        return low, high

    def feature_scales(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the standard deviation of each feature that are expected, each of shape (d,).

        They are the ``feature_center`` and ``feature_scale`` of an estimator, instead of ``feature_bounds``. The
        transformer has clipped the features already. Bounds alone say that a feature is uniform within them; where they
        are generous and a ``std`` is stated, these scales cost far less accuracy.

        >>> center, scale = Schema({"age": number(0, 120, typical=45, std=15)}).feature_scales()
        >>> print(center, scale)
        [-0.25] [0.25]
        """
        center, scale = np.array([moments for _, kind in self.columns for moments in kind.moments()]).T
        return center, scale

    def public(self) -> dict[str, Any]:
        """What is public, as the arguments of `PrivateLinearRegression` and of the methods that it chooses from.

        They are `feature_bounds` and `feature_scales` and, where the response is stated, the same of it after its
        transform: ``PrivateLinearRegression(epsilon=1.0, delta=1e-6, **schema.public())``.

        >>> schema = Schema({"smoker": boolean()}, response={"pressure": number(80, 200, typical=125, std=15)})
        >>> print({name: value for name, value in schema.public().items() if "response" in name})
        {'response_bounds': (80.0, 200.0), 'response_center': 125.0, 'response_scale': 15.0}
        """
        center, scale = self.feature_scales()
        told: dict[str, Any] = {"feature_bounds": self.feature_bounds()}
        told |= {"feature_center": center, "feature_scale": scale}
        if self.response is None:
            return told
        _, kind = self.response
        given = [side for side in (kind.low, kind.high, kind.typical) if side is not None]
        low, high, *middle = kind.responses(given).tolist()
        told |= {"response_bounds": (low, high)} | ({"response_center": middle[0]} if middle else {})
        return told | ({} if kind.std is None else {"response_scale": kind.std})

    def read(self, X: Any) -> tuple[Any, np.ndarray]:
        """The features and the response of each record; columns that are neither are ignored.

        Guarantee: what is returned of a record depends on that record and on the schema alone.

        Args:
            X: a table whose columns have names.

        Returns:
            the features, as `SchemaTransformer` returns them, and the response after its transform, shape (n,), NaN
            where it is missing. ``not_finite="void"`` keeps a record without a response out of a fit.

        Raises:
            ValueError: if no response was stated, or a column is missing. TypeError: if X is no table with names.
        """
        if self.response is None:
            raise ValueError("response must be stated, as in Schema(columns, response={name: number(low, high)})")
        if _is_array(X):
            raise TypeError("X must be a table whose columns have names, got an array")
        name, kind = self.response
        (column,), _ = cells.columns(X, [name], cells.IGNORE)
        if (told := cells.dtype(column)) is not None and cells.of_column(column) not in cells.AS_NUMBERS:
            raise TypeError(f"X must have numbers or text for the response {name!r}, got {told}: convert it first")
        return self.transformer(cells.IGNORE).transform(X), kind.responses(column)

    def transformer(self, extra_columns: str = cells.REFUSE) -> SchemaTransformer:
        """The transformer from tables to features that this schema states.

        Args:
            extra_columns: "refuse" or "ignore", what happens to columns that the schema does not know.
        """
        return SchemaTransformer(self, extra_columns=extra_columns)

    def table(self) -> pd.DataFrame:
        """One row a column, with every public choice in words: for the table of a paper's appendix.

        Returns:
            columns "column", "kind", "public values", "scale", "missing counts as", "outside counts as", "expected"
            (empty where nothing was stated), "features".
        """
        import pandas as pd  # here: it takes longer than the rest of this module

        rows = []
        for name, kind in self._all:
            told, own = kind.described(), (name, kind) != self.response
            row = {"column": name, "kind": kind.kind if own else "response", "public values": told["public values"]}
            missing, outside = told["missing"], told.get("outside", "the nearer bound")
            if not own:  # it has no public value in its place
                missing, outside = "none, so the record is not finite", outside if "outside" not in told else "missing"
            row |= {"scale": told["scale"], "missing counts as": missing, "outside counts as": outside}
            row |= {"expected": told.get("expected", "")}
            rows.append(row | {"features": len(kind.features(name)) * own})
        return pd.DataFrame(rows)

    def coefficients(self, values: Any) -> pd.DataFrame:
        """Coefficients of the features in the units of the columns. It touches no data, so it costs no privacy.

        Args:
            values: one for each feature, such as the ``coef_`` of an estimator behind the transformer, or the table of
                its ``intervals``, whose row of the intercept is left out: it is that of features of 0.

        Returns:
            columns "feature", "coefficient", for intervals "low" and "high", and "per": a unit of the column, or of its
            transform, a day, an indicator (against the first category, or false), or a wave of a cycle.

        Raises:
            ValueError: if there is not one value for each feature.

        >>> print(Schema({"age": number(18, 90)}).coefficients([7.2]).to_string(index=False))
        feature  coefficient  per
            age          0.2 unit
        """
        import pandas as pd  # here: as above

        names = self.feature_names()
        if isinstance(values, pd.DataFrame):
            told = values.drop(index="intercept", errors="ignore").rename(columns={"coef": "coefficient"})
        else:
            told = pd.DataFrame({"coefficient": records.numbers("values", values, (len(names),))})
        steps, per = zip(*(unit for _, kind in self.columns for unit in kind.units()))
        if len(told) != len(names):
            raise ValueError(f"values must have a row for each of the {len(names)} features, got {len(told)} of them")
        whole = told.div(np.array(steps), axis=0).reset_index(drop=True)
        return pd.concat([pd.Series(names, name="feature"), whole, pd.Series(per, name="per")], axis=1)

    def read_report(self, X: Any) -> pd.DataFrame:
        """How many cells of each column were read. **Not private: for the holder of the data, not for a release.**

        It counts cells of the data without noise, so one record can be seen in its result; it spends no budget because
        it has none. It is for the holder of the data, once and before any release, to find a column that was given in
        the wrong type, format or unit: there nearly all cells are unreadable or outside. A schema that is changed
        because of it is no longer public; a type, a format or a unit may be mended, a bound must not be.

        Args:
            X: a table.

        Returns:
            a row for each column, the response last, with the numbers of cells that were "read" as what is stated, are
            "empty", "unreadable" (neither empty nor of the stated kind, so that they count as missing too), and
            "outside" the bounds or the list.

        >>> schema = Schema({"visit": date("2020-01-01", "2024-12-31"), "sex": category(["f", "m"])})
        >>> print(schema.read_report({"visit": ["31/12/2022", "2022-12-31"], "sex": [1, ""]}))
        NOT FOR RELEASE  read  empty  unreadable  outside
        visit               1      0           1        0
        sex                 0      1           0        1
        """
        import pandas as pd  # here: as above

        names = [name for name, _ in self._all]
        found, n = cells.columns(X, names, cells.IGNORE)
        counts = []
        for (_, kind), column in zip(self._all, found):
            missing, outside = kind.read(column)
            empty = sum(cells.empty(cell) for cell, lost in zip(cells.cells(column), missing) if lost)
            lost, beyond = int(missing.sum()), int(outside.sum())
            counts.append([n - lost - beyond, empty, lost - empty, beyond])
        report = pd.DataFrame(counts, names, ["read", "empty", "unreadable", "outside"])
        return report.rename_axis(columns="NOT FOR RELEASE")

    @property
    def _all(self) -> tuple[tuple[str, Kind], ...]:
        """The columns, with the response last."""
        return self.columns if self.response is None else (*self.columns, self.response)

    def to_json(self) -> str:
        """The schema as JSON text, which `from_json` reads.

        >>> schema = Schema({"visit": date("2020-01-01", "2024-12-31", cycles=["weekday"])})
        >>> Schema.from_json(schema.to_json()) == schema
        True
        """
        columns = [{"name": name, "kind": kind.kind} | asdict(kind) for name, kind in self._all]
        told: dict[str, Any] = {"format": FORMAT, "columns": columns[: len(self.columns)]}
        told |= {} if self.response is None else {"response": columns[-1]}
        return json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The schema that `to_json` wrote.

        Raises:
            ValueError: if the text is not one, or states an argument outside its range.
        """
        try:
            stated = json.loads(text)
            if stated.pop("format") != FORMAT:
                raise ValueError("its format is another")
            given = [*stated["columns"], *([stated["response"]] if "response" in stated else [])]
            columns = [dict(column) for column in given]
            kinds = {column.pop("name"): KINDS[column.pop("kind")](**column) for column in columns}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"text must be a schema in the format {FORMAT!r}: {error}") from error
        if len(kinds) < len(columns):
            raise ValueError("text must name each column once")
        response = dict([kinds.popitem()]) if "response" in stated else None  # it stands last
        return cls(kinds, response)


class SchemaTransformer(TransformerMixin, BaseEstimator):
    """Tables to features within public bounds, as a `Schema` states them. It learns nothing from the data.

    Guarantee: each row depends on its record and the schema alone (the module has the proof), so neighbours stay
    neighbours. ``fit`` looks at column names and the shape alone, and ``transform`` works without it. The fitted
    transformer is the same whatever the data held. No message quotes a cell.

    Takes data frames of pandas, polars or pyarrow, mappings of names to columns, lists of records, and arrays whose
    columns are the schema's in order. An array becomes an array. Everything else becomes a data frame of pandas whose
    columns are the features' names, so that an estimator behind it knows them; the index of a frame of pandas is kept.
    ``set_output`` asks for another container, as in scikit-learn.

    Args:
        schema: a `Schema`. extra_columns: "refuse" or "ignore", what happens to columns that the schema does not know.

    Attributes:
        ``feature_names_in_``, ``n_features_in_``: the schema's columns, as in scikit-learn.

    Raises:
        InvalidParameterError: in ``fit`` and ``transform``, for arguments of another kind.
        TypeError, ValueError: for a table that lacks a column, has an unknown one, or is no table.

    Warns:
        SchemaWarning: in ``transform``, if the type of a column shows that it may not be what the schema says.

    >>> from sklearn.pipeline import make_pipeline
    >>> from costofprivacy.estimators import DPGDRegressor
    >>> schema = Schema({"age": number(18, 90), "smoker": boolean()})
    >>> model = DPGDRegressor(mu=1.0, feature_bounds=schema.feature_bounds(), response_bounds=(0, 10))
    >>> fitted = make_pipeline(schema.transformer(), model).fit([{"age": 40, "smoker": True}] * 50, [5.0] * 50)
    >>> print(fitted[-1].feature_names_in_)
    ['age' 'smoker']
    """

    def __init__(self, schema: Any, *, extra_columns: str = cells.REFUSE) -> None:
        self.schema = schema
        self.extra_columns = extra_columns

    def fit(self, X: Any, y: Any = None) -> SchemaTransformer:
        """Check the names of the columns; no cell is read.

        Args:
            X: a table. y: ignored.
        """
        schema = self._stated()
        cells.check_names(X, schema.names, self.extra_columns)
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.n_features_in_ = len(schema.names)
        return self

    def transform(self, X: Any) -> Any:
        """The features of each record.

        Args:
            X: a table with the schema's columns, in any order where they have names.

        Returns:
            shape (n, d): an array for an array, else a data frame of pandas, or what ``set_output`` asks for.
        """
        schema = self._stated()
        found, _ = cells.columns(X, schema.names, self.extra_columns)
        _warn_of_types(schema, found)
        with np.errstate(all="ignore"):
            images = np.concatenate([kind.images(column) for (_, kind), column in zip(schema.columns, found)], axis=1)
        if _is_array(X):
            return images
        import pandas as pd  # here: as above

        return pd.DataFrame(images, X.index if isinstance(X, pd.DataFrame) else None, schema.feature_names())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features, shape (d,). The argument is for scikit-learn's interface and is not used."""
        return np.array(self._stated().feature_names(), dtype=object)

    def _stated(self) -> Schema:
        if not isinstance(self.schema, Schema):
            raise InvalidParameterError(f"schema must be a Schema, got {self.schema!r}")
        if self.extra_columns not in cells.EXTRA:
            raise InvalidParameterError(f"extra_columns must be one of {cells.EXTRA}, got {self.extra_columns!r}")
        return self.schema

    def __sklearn_is_fitted__(self) -> bool:
        """It needs no fit."""
        return True

    def __sklearn_tags__(self) -> Any:
        """It needs no fit, and takes missing values and text."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _is_array(X: Any) -> bool:
    """Whether a table is an array, which has no names of its own, and one type for all columns."""
    return hasattr(X, "ndim") and not hasattr(X, "columns")


def _warn_of_types(schema: Schema, found: list[Any]) -> None:
    """Warn where the types of columns show that they may not be what the schema says; no cell is read.

    That all of several columns are text says nothing about one of them: so is a file of which each cell was left as it
    is, and an array of text or of objects.
    """
    doubts, families = [], [cells.of_column(column) for column in found]
    telling = len(found) == 1 or not set(families) <= {cells.TEXT, cells.OBJECTS}
    for (name, kind), column, family in zip(schema.columns, found, families):
        told = cells.dtype(column)
        if told is not None and family not in cells.READ:
            raise TypeError(
                f"X must have columns of numbers, truth values, text, dates or Python objects, got one of type "
                f"{told} for {name!r}: convert it first"
            )
        if telling and (why := kind.doubt(family)):
            doubts.append(f"{name!r} is stated as a {kind.kind}, its type says {family}: {why}")
    if doubts and not in_a_search():
        warnings.warn(
            f"by their types alone, columns may not be what the schema says. {'; '.join(doubts)}. What cannot be read "
            "counts as missing or unknown. Schema.read_report counts such cells, for your eyes only",
            SchemaWarning,
            stacklevel=4,
        )
