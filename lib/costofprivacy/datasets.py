"""Real data, through scikit-learn's loaders and its data folder: California housing, MNIST, 20 Newsgroups.

The folder is ``SCIKIT_LEARN_DATA``, or ``scikit_learn_data`` in the user's home. Nothing is fetched unless asked for
(``make data``). Where a set is not in the folder, `regression` can answer with one that scikit-learn brings along,
under that set's own name: digits 1 against 7 for MNIST, diabetes for California housing. A file that is there and
cannot be read is an error that names it; scikit-learn itself would delete it and fetch it again.

===================  ======  ====  ==============================================================================
name                 rows    d     response
===================  ======  ====  ==============================================================================
California housing   20 640    8   median value of a block's houses, in 100 000 dollars
MNIST, 1 against 7   15 170  784   +1 for a one, −1 for a seven
digits, 1 against 7     361   64   the same, of 8 × 8 images; comes with scikit-learn
diabetes                442   10   a measure of progression; comes with scikit-learn
===================  ======  ====  ==============================================================================
"""

import gzip
import hashlib
import json
import math
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np

from costofprivacy import _validate

HOUSING, MNIST, NEWSGROUPS = "California housing", "MNIST, 1 against 7", "20 Newsgroups"
DIGITS, DIABETES = "digits, 1 against 7", "diabetes"
POSITIVE, NEGATIVE = 1, 7  # the digits with y = 1 and y = −1
COUNTS = {HOUSING: 20640, MNIST: 15170, NEWSGROUPS: 18846}
BAGS = "digits, as bags of ink"  # all ten, a picture as a text: a word a place, as often as there is ink on it
BUNDLED = {HOUSING: DIABETES, MNIST: DIGITS, NEWSGROUPS: BAGS}
NORMALISATION = 2000  # rows that only give means and standard deviations

_HOUSING_FILE, _NEWSGROUPS_FILE = "cal_housing_py3.pkz", "20news-bydate_py3.pkz"
_OPENML, _OPENML_ID = "openml/openml.org", 554
_OPENML_ANSWERS = (
    "api/v1/json/data/list/data_name/mnist_784/limit/2/data_version/1",
    f"api/v1/json/data/{_OPENML_ID}",
    f"api/v1/json/data/features/{_OPENML_ID}",
    f"api/v1/json/data/qualities/{_OPENML_ID}",
)
_KEPT = "costofprivacy/ones-and-sevens.npz"
_REMEDY = "remove it and run `make data`, or put the right one there"


class DataMissing(OSError):
    """A data set is not in the data folder, and was not to be fetched or could not be."""


class DataDamaged(OSError):
    """A file in the data folder cannot be read, or does not hold what it should."""


@dataclass(frozen=True, eq=False)
class Regression:
    """A data set for regression, as it is: nothing scaled.

    Args:
        name: its own name. X: features, shape (rows, d). y: responses, shape (rows,).
        instead_of: the name of the data set that was asked for, where this one stands in for it; else empty.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    instead_of: str = ""

    @property
    def d(self) -> int:
        """Number of features."""
        return self.X.shape[1]


@dataclass(frozen=True, eq=False)
class Posts:
    """The posts of 20 Newsgroups, training posts first.

    Args:
        texts: as they were sent. groups: index of each post's group, shape (posts,). names: of the groups.
    """

    texts: tuple[str, ...]
    groups: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Normalised training and test rows of a data set, section 7 of arXiv:2505.16329v2.

    Args:
        X, y: training features, shape (n, d), and responses. test_X, test_y: the same of the test rows.
        live: which features vary in the normalisation rows, shape (features of the data set,).
        scale, response_scale: the standard deviations that were divided by, shape (d,) and a number.
    """

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray
    live: np.ndarray
    scale: np.ndarray
    response_scale: float

    @property
    def trace(self) -> float:
        """tr Σ of the training features' second moments; rare large values can take it far beyond d."""
        return float((self.X**2).mean(axis=0).sum())


def folder() -> Path:
    """Scikit-learn's data folder; it is not made."""
    return Path(os.environ.get("SCIKIT_LEARN_DATA") or "~/scikit_learn_data").expanduser()


def files(name: str) -> list[Path]:
    """The files of the data folder that a set is read from, whether or not they are there."""
    if name != MNIST:
        return [folder() / {HOUSING: _HOUSING_FILE, NEWSGROUPS: _NEWSGROUPS_FILE}[name]]
    answers = [folder() / _OPENML / f"{answer}.gz" for answer in _OPENML_ANSWERS]
    return [*answers, _openml_data(answers[1])] if answers[1].is_file() else answers


def is_cached(name: str) -> bool:
    """Whether all files of a set are in the data folder; whether they can be read is seen when they are."""
    return all(path.is_file() for path in files(name))


def own_name(name: str) -> str:
    """The name of the set that `regression` answers with where one may stand in: its own, or that of its stand-in."""
    return BUNDLED[name] if name in BUNDLED and not is_cached(name) else name


def regression(name: str, *, fetch: bool = False, bundled: bool = False) -> Regression:
    """A data set by name.

    Args:
        name: California housing, MNIST, or one of those that come with scikit-learn.
        fetch: whether it may be fetched over the network where it is not in the data folder.
        bundled: whether a set that comes with scikit-learn may stand in for one that is missing. It carries its own
            name, and says what it stands in for.

    Raises:
        DataMissing: if it is not in the data folder. DataDamaged: if a file there cannot be read; never replaced.
        ValueError: if there is no such data set.
    """
    _validate.one_of("name", name, tuple(_LOADERS))
    try:
        return _LOADERS[name](fetch)
    except DataMissing:
        if not (bundled and name in BUNDLED):
            raise
    found = _LOADERS[BUNDLED[name]](False)
    return Regression(found.name, found.X, found.y, instead_of=name)


def newsgroups(*, fetch: bool = False, remove: tuple[str, ...] = ()) -> Posts:
    """All posts of 20 Newsgroups (the "bydate" version), headers and all.

    Args:
        fetch: whether they may be fetched over the network where they are not in the data folder.
        remove: which of "headers", "footers" and "quotes" scikit-learn is to cut out of every post.

    Raises:
        DataMissing, DataDamaged: as `regression`. No text that comes with scikit-learn can stand in for them.
    """
    from sklearn.datasets import fetch_20newsgroups

    for path in files(NEWSGROUPS):
        if path.is_file():
            _guarded(path, lambda path=path: zlib.decompress(path.read_bytes()))  # type: ignore[misc]
    found = _loaded(NEWSGROUPS, fetch, lambda **home: fetch_20newsgroups(subset="all", remove=remove, **home), fetch)
    _count(NEWSGROUPS, len(found.data))
    return Posts(tuple(found.data), np.asarray(found.target), tuple(found.target_names))


def split(
    data: Regression,
    n: int,
    *,
    rng: np.random.Generator,
    normalisation: int = NORMALISATION,
    drop_constant: bool = False,
    constant_scale: float = math.inf,
    limit: float = math.inf,
    held_out: float = math.inf,
    response: bool = True,
) -> Split:
    r"""Disjoint normalisation, training and test rows, drawn at random; all others are test rows.

    Means and standard deviations come from the normalisation rows. **This is not private**: those rows are looked at
    without noise, and what is said of privacy afterwards protects the training rows alone.

    A feature that is constant in the normalisation rows (a pixel at an image's border) would be divided by zero. It is
    set to 0 in all rows, also where it varies in others; with ``drop_constant`` it is left out instead. Left at zero d
    stays as it was, so that γ = d/n and C_clip = c√d are the paper's, but only the *live* features count in tr Σ.
    Dropped, d is their number. Divided by a ``constant_scale``, it keeps what it has in other rows: scikit-learn's
    ``StandardScaler`` divides by 1.

    Either way tr Σ need not be near d, as Assumption 1 has it: a pixel that is dark in all but one or two of the
    normalisation rows has a tiny standard deviation there, and values of hundreds of them elsewhere. On MNIST, 1
    against 7, 652 of 784 pixels vary at all. In twenty draws of 2000 normalisation and 7000 training rows 565 to 591
    were live, ‖x‖² had a median of 269 to 285, and tr Σ went from 1000 to 32 000.

    A ``limit`` clips each normalised feature at that many standard deviations, in training and test rows alike. It
    looks at one row at a time and at nothing else, so it spends no privacy, and it bounds ‖x‖² by d·limit².

    Args:
        data: the data set. n: training rows, at least 1. rng: draws the rows.
        normalisation: rows for means and standard deviations, at least 2.
        drop_constant: whether constant features are left out. constant_scale: what they are divided by otherwise, in
            (0, ∞]. limit: in (0, ∞]. held_out: test rows at most. response: whether the response is normalised too.

    Raises:
        ValueError: if there are too few rows, for one test row at least, or the response is constant and normalised;
            if ``limit`` or ``constant_scale`` is not positive.
    """
    rows = len(data.y)
    limit = _validate.positive("limit", limit)
    constant_scale = _validate.positive("constant_scale", constant_scale)
    used = _validate.whole("normalisation", normalisation, at_least=2) + _validate.whole("n", n)
    if used >= rows:
        raise ValueError(f"n + normalisation must be below the {rows} rows of {data.name}, got {used}")
    order = rng.permutation(rows)
    basis, train, test = order[:normalisation], order[normalisation:used], order[used : int(min(used + held_out, rows))]
    mean, scale, live = _moments(data.X[basis])
    middle, unit, varies = _moments(data.y[basis, None]) if response else (np.zeros(1), np.ones(1), np.ones(1, bool))
    if not varies[0]:
        raise ValueError(
            f"the response of {data.name} must vary in the normalisation rows, got {data.y[basis[0]]} only"
        )
    kept = live if drop_constant else np.ones_like(live)

    def features(chosen: np.ndarray) -> np.ndarray:
        found = data.X[chosen] - mean
        found /= np.where(live, scale, constant_scale)
        if limit < math.inf:
            np.clip(found, -limit, limit, out=found)
        return found[:, kept] if drop_constant else found

    def responses(chosen: np.ndarray) -> np.ndarray:
        return (data.y[chosen] - middle[0]) / unit[0]

    ready = features(train), responses(train), features(test), responses(test)
    return Split(*ready, live=live, scale=scale[kept], response_scale=float(unit[0]))


def _moments(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, 1 where it is constant, and which ones are not."""
    live = (rows != rows[0]).any(axis=0)
    return rows.mean(axis=0), np.where(live, rows.std(axis=0), 1.0), live


def _housing(fetch: bool) -> Regression:
    from sklearn.datasets import fetch_california_housing

    found = _loaded(HOUSING, fetch, fetch_california_housing, fetch)
    _count(HOUSING, len(found.target))
    return Regression(HOUSING, np.asarray(found.data, dtype=float), np.asarray(found.target, dtype=float))


def _mnist(fetch: bool) -> Regression:
    kept = _kept()
    if kept is None:
        found = _loaded(MNIST, fetch, _openml)
        X, y = _chosen(np.asarray(found.data, dtype=float), np.asarray(found.target).astype(int))
        _count(MNIST, len(y))
        kept = X.astype(np.uint8), y
        _keep(*kept)
    return Regression(MNIST, kept[0].astype(float), kept[1])


def _chosen(X: np.ndarray, digit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of the chosen digits and their responses."""
    chosen = (digit == POSITIVE) | (digit == NEGATIVE)
    return X[chosen], np.where(digit[chosen] == POSITIVE, 1.0, -1.0)


def _kept() -> tuple[np.ndarray, np.ndarray] | None:
    """What `_keep` has kept of the very files that are there now; nothing where it cannot be read."""
    try:
        with (folder() / _KEPT).open("rb") as file, np.load(file) as found:
            fits = str(found["source"]) == _source()
            return (found["X"], found["y"]) if fits else None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error):
        return None


def _keep(X: np.ndarray, y: np.ndarray) -> None:
    """Keep the chosen digits beside the data set, which takes seconds to read; where that fails, nothing is lost."""
    path = folder() / _KEPT
    draft = path.with_name(f"{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(exist_ok=True)
        np.savez_compressed(draft, X=X, y=y, source=_source())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)


def _source() -> str:
    """What tells the files of MNIST from any others under the same names: their lengths and times."""
    return json.dumps([(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files(MNIST)])


def _digits(fetch: bool) -> Regression:
    from sklearn.datasets import load_digits

    return Regression(DIGITS, *_chosen(*load_digits(return_X_y=True)))


def _diabetes(fetch: bool) -> Regression:
    from sklearn.datasets import load_diabetes

    return Regression(DIABETES, *load_diabetes(return_X_y=True, scaled=False))


_LOADERS: dict[str, Callable[[bool], Regression]] = {
    HOUSING: _housing,
    MNIST: _mnist,
    DIGITS: _digits,
    DIABETES: _diabetes,
}


def _loaded(name: str, fetch: bool, load: Callable[..., Any], download: bool | None = None) -> Any:
    """What a loader of scikit-learn finds in the data folder, or fetches into it.

    Args:
        name: the data set. fetch: whether it may be fetched. load: the loader, given ``data_home`` and, where
            ``download`` is not None, ``download_if_missing``.
    """
    cached = is_cached(name)
    if not (cached or fetch):
        raise DataMissing(
            f"{name} is not in {folder()}: run `make data`, or point SCIKIT_LEARN_DATA at a folder with it"
        )
    home: dict[str, Any] = {"data_home": str(folder())}
    if download is not None:
        home["download_if_missing"] = not cached
    if cached:
        return _guarded(folder() / _OPENML if name == MNIST else files(name)[0], lambda: load(**home))
    try:
        return load(**home)
    except (OSError, RuntimeWarning) as error:
        reason = error.__context__ if isinstance(error, RuntimeWarning) else error
        raise DataMissing(f"{name} could not be fetched into {folder()}: {reason}") from error


def _openml(data_home: str) -> Any:
    """MNIST by `fetch_openml`, which deletes a cached file that it cannot read: here its warning stops it before.

    Its faster parser fails on OpenML's own file with pandas 3 (scikit-learn, pull request 34902): a file that is whole
    is then read by the slower one.
    """
    from sklearn.datasets import fetch_openml

    for path in filter(Path.is_file, files(MNIST)):
        _guarded(path, lambda path=path: _whole_gzip(path))  # type: ignore[misc]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Invalid cache", category=RuntimeWarning)
        try:
            return fetch_openml("mnist_784", version=1, as_frame=False, data_home=data_home)
        except (RuntimeWarning, ValueError):
            if not is_cached(MNIST):
                raise
            for path in files(MNIST):
                _guarded(path, lambda path=path: _whole_gzip(path))  # type: ignore[misc]
            return fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=data_home)


def _openml_data(description: Path) -> Path:
    """Where the data are kept that OpenML's description names."""
    address = _guarded(description, lambda: urlparse(_described(description)["url"]).path.lstrip("/"))
    return folder() / _OPENML / f"{address}.gz"


def _described(description: Path) -> dict[str, str]:
    """OpenML's description of the data set."""
    found = json.loads(gzip.decompress(description.read_bytes()))["data_set_description"]
    return {name: str(found[name]) for name in ("url", "md5_checksum")}


def _whole_gzip(path: Path) -> None:
    """Raise unless a gzip file is whole: its own checksum and, for the data, the one in OpenML's description."""
    found = hashlib.md5(usedforsecurity=False)
    with gzip.open(path) as content:
        while chunk := content.read(2**20):
            found.update(chunk)
    description = folder() / _OPENML / f"{_OPENML_ANSWERS[1]}.gz"
    if not description.is_file() or path != _openml_data(description):
        return
    wanted = _described(description)["md5_checksum"]
    if found.hexdigest() != wanted:
        raise ValueError(f"its MD5 is {found.hexdigest()}, OpenML's description says {wanted}")


def _guarded(path: Path, read: Callable[[], Any]) -> Any:
    """What ``read`` finds in a file.

    Raises:
        DataDamaged: if it fails.
    """
    try:
        return read()
    except DataDamaged:
        raise
    except Exception as error:  # unpickling can raise anything
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise DataDamaged(f"{path} cannot be read ({reason[0]}): {_REMEDY}") from error


def _count(name: str, found: int) -> None:
    """Raise `DataDamaged` unless a set has the rows that it should."""
    if found != COUNTS[name]:
        wanted = COUNTS[name]
        raise DataDamaged(f"{files(name)[-1]} holds {found} rows of {name} where {wanted} are due: {_REMEDY}")
