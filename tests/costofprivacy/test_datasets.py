import gzip
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from costofprivacy import datasets
from costofprivacy.datasets import DataDamaged, DataMissing
from tests.each import refused

cached = {
    name: pytest.mark.skipif(not datasets.is_cached(name), reason=f"{name} is not in scikit-learn's data folder")
    for name in datasets.COUNTS
}


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: object, **options: object) -> None:
        raise OSError("the network is not there")

    monkeypatch.setattr("urllib.request.OpenerDirector.open", refused)
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def numbers(rows: int = 400, d: int = 5, seed: int = 0) -> datasets.Regression:
    rng = np.random.default_rng(seed)
    X = 3 + 2 * rng.standard_normal((rows, d))
    X[:, 1] = 7.0
    return datasets.Regression("made up", X, 5 + X[:, 0] + rng.standard_normal(rows))


def test_the_subsets_are_disjoint_and_use_every_row() -> None:
    data = datasets.Regression("rows", np.arange(400.0)[:, None], np.arange(400.0))
    found = datasets.split(data, 150, rng=np.random.default_rng(0), normalisation=50, response=False)
    rows = np.concatenate([found.y, found.test_y])
    assert (len(found.y), len(found.test_y), len(set(rows))) == (150, 200, 350)
    basis = np.setdiff1d(np.arange(400.0), rows)
    np.testing.assert_allclose(found.X[:, 0], (found.y - basis.mean()) / basis.std())
    np.testing.assert_allclose(found.scale, basis.std())


def test_a_constant_feature_is_zero_or_left_out() -> None:
    data = numbers()
    kept = datasets.split(data, 200, rng=np.random.default_rng(1), normalisation=100)
    dropped = datasets.split(data, 200, rng=np.random.default_rng(1), normalisation=100, drop_constant=True)
    assert kept.live.tolist() == [True, False, True, True, True]
    assert (kept.X[:, 1] == 0).all()
    assert (kept.test_X[:, 1] == 0).all()
    np.testing.assert_array_equal(dropped.X, np.delete(kept.X, 1, axis=1))
    assert kept.X.shape[1] == 5
    assert kept.trace == pytest.approx(dropped.trace) == pytest.approx(4, rel=0.3)
    assert (kept.y**2).mean() == pytest.approx(1, rel=0.6)


def test_a_feature_that_varies_elsewhere_only_is_zero_everywhere() -> None:
    data = numbers()
    order = np.random.default_rng(2).permutation(400)
    data.X[order[150], 1] = 1e6
    found = datasets.split(data, 200, rng=np.random.default_rng(2), normalisation=100)
    assert not found.live[1]
    assert (found.X[:, 1] == 0).all()


def test_a_split_draws_its_rows_with_the_generator() -> None:
    one, same, other = (
        datasets.split(numbers(), 100, rng=np.random.default_rng(s), normalisation=50) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("n", [350, 1000, 0, 2.5])
def test_a_split_needs_rows_for_each_part(n: int) -> None:
    refused(r"^n ", datasets.split, numbers(), n, rng=np.random.default_rng(0), normalisation=50)


def test_a_constant_response_cannot_be_normalised() -> None:
    data = datasets.Regression("flat", numbers().X, np.ones(400))
    refused("response of flat must vary", datasets.split, data, 100, rng=np.random.default_rng(0), normalisation=50)


def test_what_comes_with_scikit_learn_needs_no_folder(empty: Path) -> None:
    digits, diabetes = datasets.regression(datasets.DIGITS), datasets.regression(datasets.DIABETES)
    assert (digits.X.shape, set(digits.y), digits.instead_of) == ((361, 64), {-1.0, 1.0}, "")
    assert diabetes.X.shape == (442, 10)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("name", [datasets.HOUSING, datasets.MNIST])
def test_a_missing_set_is_an_error_or_stood_in_for_under_its_own_name(name: str, empty: Path, no_network: None) -> None:
    with pytest.raises(DataMissing, match="make data"):
        datasets.regression(name)
    found = datasets.regression(name, bundled=True)
    assert (found.name, found.instead_of) == (datasets.BUNDLED[name], name)
    assert not datasets.is_cached(name)


def test_nothing_stands_in_for_posts(empty: Path, no_network: None) -> None:
    with pytest.raises(DataMissing, match="20 Newsgroups is not in"):
        datasets.newsgroups()


@pytest.mark.filterwarnings("ignore:A network error")
@pytest.mark.filterwarnings("ignore:Retry downloading")
def test_what_cannot_be_fetched_is_missing(empty: Path, no_network: None) -> None:
    for load in (lambda: datasets.regression(datasets.MNIST, fetch=True), lambda: datasets.newsgroups(fetch=True)):
        with pytest.raises(DataMissing, match="could not be fetched"):
            load()


def test_an_unknown_name_is_refused() -> None:
    refused("name must be one of", datasets.regression, "iris")


@pytest.mark.parametrize("content", [b"", b"no pickle", gzip.compress(b"short", mtime=0)])
@pytest.mark.parametrize("name", [datasets.HOUSING, datasets.NEWSGROUPS])
def test_a_damaged_file_is_named_with_its_remedy_and_left_alone(name: str, content: bytes, empty: Path) -> None:
    path = datasets.files(name)[0]
    path.write_bytes(content)
    for bundled in (False, True):
        with pytest.raises(DataDamaged, match="remove it and run `make data`") as caught:
            _ = datasets.newsgroups() if name == datasets.NEWSGROUPS else datasets.regression(name, bundled=bundled)
        assert str(path) in str(caught.value)
    assert path.read_bytes() == content


@cached[datasets.HOUSING]
def test_california_housing_has_its_rows_and_a_truncated_one_is_named(tmp_path, monkeypatch) -> None:
    data = datasets.regression(datasets.HOUSING, bundled=True)
    assert (data.X.shape, data.instead_of) == ((20640, 8), "")
    assert data.y.mean() == pytest.approx(2.0686, abs=1e-4)
    whole = datasets.files(datasets.HOUSING)[0].read_bytes()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    path = datasets.files(datasets.HOUSING)[0]
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataDamaged, match=path.name):
        datasets.regression(datasets.HOUSING, bundled=True)
    assert path.stat().st_size == len(whole) // 2


@cached[datasets.NEWSGROUPS]
def test_the_posts_are_all_there() -> None:
    posts = datasets.newsgroups()
    assert (len(posts.texts), len(posts.names), len(posts.groups)) == (18846, 20, 18846)


@cached[datasets.MNIST]
def test_ones_and_sevens_are_counted() -> None:
    data = datasets.regression(datasets.MNIST, bundled=True)
    assert (data.X.shape, data.instead_of) == ((15170, 784), "")
    assert (int((data.y == 1).sum()), int((data.y == -1).sum())) == (7877, 7293)


@pytest.mark.slow
@cached[datasets.MNIST]
def test_a_truncated_file_of_mnist_is_never_deleted(tmp_path, monkeypatch, no_network) -> None:
    source = datasets.folder()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "copy"))
    shutil.copytree(source / "openml", datasets.folder() / "openml")
    for path in datasets.files(datasets.MNIST):
        whole = path.read_bytes()
        other = b"" if "features" in path.parts else gzip.compress(b"{}")  # scikit-learn would delete an empty one
        for damaged in (whole[:-20], *([] if "qualities" in path.parts else [other])):  # these are read, not used
            path.write_bytes(damaged)
            with pytest.raises(DataDamaged, match=rf"{re.escape(str(path))}|openml\.org cannot be read"):
                datasets.regression(datasets.MNIST, bundled=True)
            assert path.read_bytes() == damaged
        path.write_bytes(whole)


def test_a_limit_clips_normalised_features_in_training_and_test() -> None:
    free, held = (
        datasets.split(numbers(), 200, rng=np.random.default_rng(1), normalisation=100, limit=limit)
        for limit in (np.inf, 1.5)
    )
    assert np.abs(free.X).max() > 2
    np.testing.assert_array_equal(held.X, np.clip(free.X, -1.5, 1.5))
    np.testing.assert_array_equal(held.test_X, np.clip(free.test_X, -1.5, 1.5))
    np.testing.assert_array_equal(held.y, free.y)


def test_a_constant_feature_can_be_divided_by_a_constant() -> None:
    data = numbers()
    order = np.random.default_rng(2).permutation(400)
    data.X[order[150], 1] = 7.0 + 30.0
    found = datasets.split(data, 200, rng=np.random.default_rng(2), normalisation=100, constant_scale=10.0)
    assert sorted(set(found.X[:, 1])) == [0.0, 3.0]
    assert not found.live[1]


@pytest.mark.parametrize("name", ["limit", "constant_scale"])
def test_scales_and_limits_are_positive(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive"):
        datasets.split(numbers(), 200, rng=np.random.default_rng(1), normalisation=100, **{name: 0.0})


def test_a_missing_set_goes_by_its_stand_ins_name(empty: Path) -> None:
    assert datasets.own_name(datasets.MNIST) == datasets.DIGITS
    assert datasets.own_name(datasets.NEWSGROUPS) == datasets.BAGS
    datasets.files(datasets.HOUSING)[0].write_bytes(b"something")
    assert datasets.own_name(datasets.HOUSING) == datasets.HOUSING


def test_chosen_digits_are_kept_for_the_files_that_they_came_from(empty: Path) -> None:
    X, y = np.arange(6, dtype=np.uint8).reshape(2, 3), np.array([1.0, -1.0])
    for path in datasets.files(datasets.MNIST):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b'{"data_set_description": {"url": "a/b", "md5_checksum": ""}}'))
    data = datasets.files(datasets.MNIST)[-1]
    data.parent.mkdir(parents=True, exist_ok=True)
    data.write_bytes(b"whole")
    datasets._keep(X, y)
    found = datasets.regression(datasets.MNIST)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, y)
    assert found.X.dtype == float
    kept = datasets.folder() / "costofprivacy" / "ones-and-sevens.npz"
    for content in (kept.read_bytes()[:-30], b"", b"no archive"):
        kept.write_bytes(content)
        assert datasets._kept() is None
    datasets._keep(X, y)
    data.write_bytes(b"another")
    assert datasets._kept() is None
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
