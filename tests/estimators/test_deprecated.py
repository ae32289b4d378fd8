"""Old names: they work and warn, new ones do not warn, and scikit-learn treats an old parameter as any other."""

import pickle
import sys
import types
import warnings
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval, InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from costofprivacy.estimators import deprecated
from costofprivacy.estimators.deprecated import DEPRECATED
from costofprivacy.running import _source

SINCE = "0.13.0"
TOLD = r"^use share instead of noise and signal, deprecated since version 0\.13\.0 and removed in the next one$"


class Shrunk(RegressorMixin, BaseEstimator):
    """The mean response, shrunk by a share, which was ``signal / (signal + noise²)`` once."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "share": [Interval(Real, 0, 1, closed="both")],
        "noise": deprecated.range_of([Interval(Real, 0, None, closed="left")]),
        "signal": deprecated.range_of([Interval(Real, 0, None, closed="neither")]),
    }

    def __init__(self, *, share: float = 0.9, noise: Any = DEPRECATED, signal: Any = DEPRECATED) -> None:
        self.share = share
        self.noise = noise
        self.signal = signal

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> "Shrunk":
        self._validate_params()
        X, y = validate_data(self, X, y)
        old = deprecated.stated(self, "noise", "signal", instead="share", since=SINCE)
        signal, noise = old.get("signal", 0.5), old.get("noise", 0.3)
        self.mean_ = (signal / (signal + noise**2) if old else self.share) * y.mean()
        return self

    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return np.full(len(validate_data(self, X, reset=False)), self.mean_)


X, Y = np.ones((4, 1)), np.ones(4)


@pytest.fixture
def quiet():
    """Nothing may warn: pytest makes errors of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@parametrize_with_checks([Shrunk(share=0.5), Shrunk()])
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_new_name_alone_does_not_warn(quiet: None) -> None:
    assert Shrunk().fit(X, Y).mean_ == 0.9
    assert Shrunk(share=0.5).fit(X, Y).mean_ == 0.5
    assert "noise" not in repr(Shrunk(share=0.5))


@pytest.mark.parametrize(
    ("given", "mean"),
    [({"noise": 1.0, "signal": 1.0}, 0.5), ({"noise": 1.0}, 0.5 / 1.5), ({"signal": 0.03}, 0.25)],
)
def test_old_names_keep_their_meaning_however_they_come(given: dict[str, float], mean: float) -> None:
    told = f"^use share instead of {' and '.join(given)}, deprecated since "
    made = (
        Shrunk(**given),
        clone(Shrunk(**given)),
        Shrunk().set_params(**given),
        pickle.loads(pickle.dumps(Shrunk(**given))),
    )
    for model in made:
        assert {name: model.get_params()[name] for name in given} == given
        with pytest.warns(DeprecationWarning, match=told) as caught:
            model.fit(X, Y)
        assert model.mean_ == pytest.approx(mean)
        assert [warning.filename for warning in caught] == [__file__]


def test_a_search_and_a_pipeline_reach_an_old_name() -> None:
    search = GridSearchCV(Shrunk(), {"noise": [0.1, 0.2]}, cv=2)
    with pytest.warns(DeprecationWarning, match="^use share instead of noise, "):
        search.fit(X, Y)
    assert search.best_params_["noise"] == 0.1
    line = make_pipeline(StandardScaler(), Shrunk()).set_params(shrunk__signal=0.5)
    with pytest.warns(DeprecationWarning, match="^use share instead of signal, "):
        line.fit(X, Y)


def test_old_and_new_names_are_not_mixed() -> None:
    with pytest.raises(InvalidParameterError, match=r"^noise and signal cannot be given together with share, which "):
        Shrunk(share=0.5, noise=0.1, signal=0.1).fit(X, Y)
    with pytest.warns(DeprecationWarning, match=TOLD):
        Shrunk(share=0.9, noise=0.1, signal=0.1).fit(X, Y)  # the default says nothing


def test_the_range_of_an_old_name_is_what_it_was() -> None:
    with pytest.raises(InvalidParameterError, match=r"The 'noise' parameter of Shrunk must be a float in the range"):
        Shrunk(noise=-1.0).fit(X, Y)
    with pytest.raises(InvalidParameterError) as error:
        Shrunk(noise="none").fit(X, Y)
    assert DEPRECATED not in str(error.value)


def test_an_array_under_an_old_name_is_given() -> None:
    class Scaled(BaseEstimator):
        def __init__(self, scale: Any = None, width: Any = DEPRECATED) -> None:
            self.scale, self.width = scale, width

    width = np.array(["deprecated", "2"])
    with pytest.warns(DeprecationWarning, match="^use scale instead of width, "):
        found = deprecated.stated(Scaled(width=width), "width", instead="scale", since=SINCE)
    assert found["width"] is width
    with pytest.raises(InvalidParameterError, match="cannot be given together with scale"):
        deprecated.stated(Scaled(scale=width, width=width), "width", instead="scale", since=SINCE)


# names of modules and of methods


@pytest.fixture
def old_module(monkeypatch: pytest.MonkeyPatch):
    """A module with an old name of ``math.hypot``; or one that is moved whole to ``math``."""

    def make(moved: dict[str, str]) -> str:
        module = types.ModuleType("old_geometry")
        vars(module)["__getattr__"] = deprecated.names("old_geometry", moved, since=SINCE)
        monkeypatch.setitem(sys.modules, "old_geometry", module)
        return "old_geometry"

    return make


def test_an_old_name_of_a_module_works_and_warns(old_module: Any) -> None:
    old_module({"size": "math.hypot"})
    told = r"^use math\.hypot instead of old_geometry\.size, deprecated since version 0\.13\.0 and removed in the next"
    with pytest.warns(DeprecationWarning, match=told) as caught:
        from old_geometry import size  # type: ignore[import-not-found]
    assert size(3, 4) == 5
    assert caught[0].filename == __file__
    with pytest.raises(ImportError, match="cannot import name 'sizes'"):
        from old_geometry import sizes  # noqa: F401


def test_a_module_that_is_elsewhere_now_has_all_its_names(old_module: Any, quiet: None) -> None:
    module = sys.modules[old_module({"size": "math.hypot", "*": "math"})]
    for old, new in (("size", "hypot"), ("sqrt", "sqrt")):
        with pytest.warns(DeprecationWarning, match=rf"^use math\.{new} instead of old_geometry\.{old}, "):
            assert getattr(module, old)(*(9.0,)) == {"size": 9.0, "sqrt": 3.0}[old]
    for name in ("nothing", "__path__"):
        with pytest.raises(AttributeError, match=f"^module 'old_geometry' has no attribute '{name}'$"):
            getattr(module, name)


def test_an_old_method_calls_the_new_one() -> None:
    class Fan:
        def turn(self, times: int, *, fast: bool = False) -> tuple[int, bool]:
            """Turn."""
            return times, fast

        spin = deprecated.method("spin", turn, since=SINCE)

    told = r"^use turn\(\) instead of spin\(\), deprecated since version 0\.13\.0 and removed in the next one$"
    with pytest.warns(DeprecationWarning, match=told) as caught:
        assert Fan().spin(2, fast=True) == (2, True)
    assert caught[0].filename == __file__
    assert (Fan.spin.__name__, Fan.spin.__doc__) == (
        "spin",
        "Deprecated since version 0.13.0: the same as `turn`.",
    )


def test_it_rests_on_nothing_of_the_package() -> None:
    source = Path(deprecated.__file__).read_text("utf-8")
    assert not [name for name in _source.imported(source, deprecated.__name__) if name.startswith("costofprivacy")]
