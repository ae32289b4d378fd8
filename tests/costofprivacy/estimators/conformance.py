"""What a private estimator must do, tried. Scikit-learn's ``check_estimator`` knows tables only, and no privacy.

Each check takes an estimator that is not fitted, works on clones of it and raises ``AssertionError`` where it fails.
`CHECKS` are for estimators of prompts. The estimator must learn: one whose ``fit`` does nothing, or which answers the
same whatever it was shown, fails. `PRIVACY_CHECKS` are for estimators of tables too: they try what reaches the public
beside the release.
"""

import copy
import functools
import math
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from costofprivacy.estimators import gate
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.privacy import PrivacyProfile, PrivacyWarning

MODEL = PromptModel(D=2, L=20)
ENOUGH, TEST = 20_000, 1_000  # prompts to learn from, and to answer
LEARNT = 0.5  # of the response's variance, at least, for ε = 8


@functools.cache
def draw(N: int, seed: int = 0) -> Prompts:
    """Prompts of section 2 of arXiv:2504.16000v2: tokens of norm 1, responses of variance 1."""
    return sample(MODEL, N, rng=np.random.default_rng(seed))


def seeded(estimator: Any, seed: int = 0) -> Any:
    """A clone that can be repeated."""
    return clone(estimator).set_params(random_state=seed)


def check_learns(estimator: Any) -> None:
    """Fitted on many prompts it explains at least `LEARNT` of new responses, which answering 0 does not."""
    train, test = draw(ENOUGH), draw(TEST, seed=1)
    score = seeded(estimator).fit(train.x, train.y).score(test.x, test.y)
    assert score >= LEARNT, f"R² must be at least {LEARNT}, got {score}"


def check_what_it_learns_follows_the_responses(estimator: Any) -> None:
    """Shown the opposite responses to the same queries, it answers the opposite."""
    train, test = draw(ENOUGH), draw(TEST, seed=1)
    opposite = np.column_stack([train.y[:, :-1], -train.y[:, -1]])
    one, two = (seeded(estimator).fit(train.x, y).predict(test.x, test.y) for y in (train.y, opposite))
    assert np.corrcoef(one, two)[0, 1] < -LEARNT, "answers must follow the responses"


def check_fit_returns_itself_and_shapes_agree(estimator: Any) -> None:
    """``fit`` returns the estimator; predictions have one number a prompt, with the query's response or without."""
    data, fitted = draw(200), seeded(estimator)
    assert fitted.fit(data.x, data.y) is fitted
    answers = fitted.predict(data.x, data.y)
    assert answers.shape == (200,)
    np.testing.assert_array_equal(fitted.predict(data.x, data.y[:, :-1]), answers)
    changed = np.column_stack([data.y[:, :-1], np.full(200, 99.0)])
    np.testing.assert_array_equal(fitted.predict(data.x, changed), answers, "a query's own response must not be read")


def check_predictions_do_not_depend_on_company(estimator: Any) -> None:
    """A prompt's answer is the same alone, among others and in another order."""
    data, fitted = draw(100), seeded(estimator)
    fitted.fit(data.x, data.y)
    together = fitted.predict(data.x, data.y)
    alone = np.concatenate([fitted.predict(data.x[k : k + 1], data.y[k : k + 1]) for k in range(100)])
    backwards = fitted.predict(data.x[::-1], data.y[::-1])[::-1]
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(backwards, together, rtol=1e-9, atol=1e-12)


def check_a_seed_repeats_and_none_does_not(estimator: Any) -> None:
    """The same seed gives the same predictions; without one two releases differ, whatever NumPy's global seed is."""
    data = draw(200)

    def answers(random_state: int | None) -> np.ndarray:
        np.random.seed(0)  # noqa: NPY002
        fitted = clone(estimator).set_params(random_state=random_state).fit(data.x, data.y)
        return fitted.predict(data.x, data.y)

    np.testing.assert_array_equal(answers(3), answers(3))
    assert not np.array_equal(answers(3), answers(4)), "noise must depend on the seed"
    assert not np.array_equal(answers(None), answers(None)), "without a seed no two releases are the same"


def check_refitting_forgets(estimator: Any) -> None:
    """A second ``fit`` is as the first one on its data, and a failed one leaves nothing to predict with."""
    one, two, fitted = draw(200), draw(100, seed=2), seeded(estimator)
    fitted.fit(one.x, one.y).fit(two.x, two.y)
    fresh = seeded(estimator).fit(two.x, two.y)
    np.testing.assert_array_equal(fitted.predict(two.x, two.y), fresh.predict(two.x, two.y))
    _refused(ValueError, lambda: fitted.fit(two.x[:, :, 0], two.y))
    _refused(NotFittedError, lambda: fitted.predict(two.x, two.y))


def check_parameters_are_scikit_learns(estimator: Any) -> None:
    """Parameters can be read, set and cloned, are not touched by ``fit``, and a fitted one survives a pickle."""
    data, fitted = draw(200), seeded(estimator)
    before = fitted.get_params()
    assert clone(fitted).get_params() == before
    assert not [name for name in vars(fitted) if name.endswith("_")], "nothing is learnt before fit"
    fitted.fit(data.x, data.y)
    assert fitted.get_params() == before, "fit must not change a parameter"
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(data.x, data.y), fitted.predict(data.x, data.y))


def check_data_are_left_alone(estimator: Any) -> None:
    """Arrays are not written to, and may be read-only."""
    data = draw(100)
    x, y = data.x.copy(), data.y.copy()
    x.flags.writeable = y.flags.writeable = False
    assert np.isfinite(seeded(estimator).fit(x, y).predict(x, y)).all()


def check_bad_data_are_refused(estimator: Any) -> None:
    """Wrong shapes, no prompts, complex numbers, text and another dimension are each a ValueError."""
    data = draw(50)
    shapes = [
        (data.x[:, 0], data.y),
        (data.x[..., None], data.y),
        (data.x[:, :1], data.y[:, :1]),
        (data.x, data.y[:, :-1]),
        (data.x, data.y[:-1]),
        (data.x, data.y[:, -1]),
        (data.x[:0], data.y[:0]),
        (data.x[..., :0], data.y),
        (data.x * 1j, data.y),
        (data.x.astype(str).astype(object).reshape(-1), data.y),
    ]
    for x, y in shapes:
        _refused((ValueError, TypeError), lambda x=x, y=y: seeded(estimator).fit(x, y))  # type: ignore[misc]
    fitted = seeded(estimator).fit(data.x, data.y)
    wider = np.concatenate([data.x, data.x], axis=2)
    _refused(ValueError, lambda: fitted.predict(wider, data.y))
    _refused(ValueError, lambda: fitted.predict(data.x, data.y[:, :3]))
    _refused(NotFittedError, lambda: seeded(estimator).predict(data.x, data.y))


def check_bad_budgets_are_refused(estimator: Any) -> None:
    """ε ≤ 0 and δ outside (0, 1) are refused in ``fit``, with the parameter's name."""
    data = draw(50)
    for wrong in ({"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": math.nan}, {"delta": 0.0}, {"delta": 1.0}):
        changed = seeded(estimator).set_params(**wrong)
        message = _refused(ValueError, lambda changed=changed: changed.fit(data.x, data.y))  # type: ignore[misc]
        assert next(iter(wrong)) in message, f"the message must name the parameter, got {message!r}"


def check_the_profile_is_within_the_budget(estimator: Any) -> None:
    """``profile_`` is a `PrivacyProfile` that claims what was asked for, and what is released spends no more."""
    data, fitted = draw(300), seeded(estimator)
    profile = fitted.fit(data.x, data.y).profile_
    assert isinstance(profile, PrivacyProfile), f"profile_ must be a PrivacyProfile, got {type(profile).__name__}"
    assert (profile.claimed.epsilon, profile.claimed.delta) == (fitted.epsilon, fitted.delta)
    assert profile.last_iterate.epsilon(fitted.delta) <= fitted.epsilon * (1 + 1e-6)


def check_one_prompt_moves_little(estimator: Any) -> None:
    """With the same noise, replacing a prompt by an absurd one moves no prediction far; nothing overflows."""
    data = draw(2000)
    one, noise = (seeded(estimator, seed).fit(data.x, data.y).predict(data.x[1:], data.y[1:]) for seed in (0, 1))
    for size in (1e3, 1e300):
        x, y = data.x.copy(), data.y.copy()
        x[0], y[0] = size * np.sign(x[0]), size
        two = seeded(estimator).fit(x, y).predict(data.x[1:], data.y[1:])
        assert np.isfinite(two).all(), f"a prompt of size {size:g} must not make a prediction infinite"
        moved, spread = np.abs(two - one).max(), np.abs(noise - one).max()
        assert moved <= 20 * spread, f"one prompt moved a prediction by {moved}, noise by {spread}"


# what reaches the public beside the release: the same checks for prompts and for tables
SECRET = "SSN 078-05-1120"
NUMBER = 12345.678901  # in a cell beside the secret, to be looked for too
RELEASED = ("coef_", "intercept_", "covariance_", "centre_", "Gamma_")  # all that may depend on the records' values
KINDS = ("int8", "int64", "uint8", "uint64", "float16", "float32", "longdouble", "bool", "object")
FEW = 50  # records, everywhere, so that one plan serves
Arrays = tuple[np.ndarray, np.ndarray]


def records(estimator: Any, n: int, seed: int = 0) -> Arrays:
    """X and y for an estimator of prompts, or of tables."""
    if _of_prompts(estimator):
        data = draw(n, seed)
        return data.x, data.y
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X.sum(axis=1) + 0.3 * rng.standard_normal(n)


def state(fitted: Any) -> bytes:
    """Everything on a fitted estimator but the release itself, as it would be published."""
    rest = copy.copy(fitted)
    for name in RELEASED:
        vars(rest).pop(name, None)
    return pickle.dumps(rest)


def released(fitted: Any) -> list[np.ndarray]:
    """What the fit has released."""
    return [np.asarray(getattr(fitted, name)) for name in RELEASED if hasattr(fitted, name)]


def check_every_type_of_number_is_widened(estimator: Any) -> None:
    """Arrays of any type, order and strides give the release of the same values in double precision, bit for bit."""
    X, y = (np.clip(np.rint(20 * part), -127, 127) for part in records(estimator, FEW))
    plain = seeded(estimator).fit(X, y)
    for kind in KINDS:
        narrow = [(np.abs(part) if kind.startswith("u") else part).astype(kind) for part in (X, y)]
        doubles = [part.astype(np.float64) for part in narrow]
        same = all(map(np.array_equal, doubles, (X, y)))
        expected = plain if same else seeded(estimator).fit(*doubles)
        _same_release(seeded(estimator).fit(*narrow), narrow, expected, doubles, kind)
    others = {
        "lists": [X.tolist(), y.tolist()],
        "columns in memory": [np.asfortranarray(X), np.asfortranarray(y)],
        "negative strides": [part[::-1].copy()[::-1] for part in (X, y)],
        "strides": [np.repeat(part, 2, axis=0)[::2] for part in (X, y)],
    }
    for what, given in others.items():
        _same_release(seeded(estimator).fit(*given), given, plain, [X, y], what)


def check_records_that_are_not_finite(estimator: Any) -> None:
    """Refused at once, with nothing released; or void, record by record, if the estimator was told so."""
    X, y = records(estimator, FEW)
    for arrays in _each_not_finite(X, y):
        fitted = seeded(estimator).set_params(not_finite="refuse").fit(X, y)
        message = _refused(ValueError, lambda fitted=fitted, arrays=arrays: fitted.fit(*arrays))  # type: ignore[misc]
        assert "NaN or infinity" in message, f"the message must say the rule, got {message!r}"
        assert not released(fitted), "a refused fit must leave nothing released"
    void = seeded(estimator).set_params(not_finite="void")
    _equal(clone(void).fit(X, y), seeded(estimator).fit(X, y), "void, of finite records")
    expected = None
    for arrays in _each_not_finite(X, y):
        found = clone(void).fit(*arrays)
        assert all(np.isfinite(part).all() for part in released(found)), "a void record must leave a finite release"
        expected = expected or found
        _equal(found, expected, "a void record, whatever made it so")
        assert np.isfinite(_predicted(found, *arrays)).all(), "a void record must be answered by a number"
    cells = X.astype(object)
    cells[3].flat[0] = SECRET
    _equal(clone(void).fit(cells, y), expected, "a void record of text")
    _equal(clone(void).fit(cells.tolist(), y.tolist()), expected, "a void record of text, in a list")


def check_errors_quote_no_value(estimator: Any) -> None:
    """An error while fitting, with all that Python prints of it, names an argument and a rule, and no cell."""
    X, y = records(estimator, FEW)
    for place in ("X", "y"):
        for wrong in (SECRET, {SECRET: 1}, None, 1j * NUMBER, [NUMBER, NUMBER], 10**400):
            cells = {"X": X.astype(object), "y": y.astype(object)}
            flat = cells[place].reshape(-1)
            flat[0], flat[1] = NUMBER, wrong
            for arrays in (cells, {name: part.tolist() for name, part in cells.items()}):
                asked = seeded(estimator).set_params(not_finite="refuse")
                _says_nothing(lambda asked=asked, arrays=arrays: asked.fit(**arrays))  # type: ignore[misc]
    full = np.full(X.shape, NUMBER)
    shapes = (
        (full[0], y),
        (full.ravel(), y),
        (NUMBER, y),
        (full * 1j, y),
        (full.astype(str), np.full(y.shape, SECRET)),
        (full, np.full((3, 3, 3), NUMBER)),
        (full, NUMBER),
        (full[:3], y),
        ([[NUMBER, 1.0], [NUMBER]], [NUMBER, 1.0]),
        (full.astype("datetime64[s]"), y),
    )
    for rule in ("refuse", "void"):
        asked = seeded(estimator).set_params(not_finite=rule)
        for one, two in shapes:
            _says_nothing(lambda asked=asked, one=one, two=two: asked.fit(one, two), must=rule == "refuse")  # type: ignore[misc]


def check_no_state_beyond_the_release(estimator: Any) -> None:
    """Whatever the records held, a fitted estimator is the same but for the release; its pickle holds no record."""
    one, two = (seeded(estimator).fit(*records(estimator, FEW, seed)) for seed in (0, 1))
    assert not all(np.array_equal(a, b) for a, b in zip(released(one), released(two))), "the fits must differ"
    assert state(one) == state(two), "nothing but the release may depend on the records"
    X, y = records(estimator, FEW)
    dumped = pickle.dumps(one)
    numbers = np.concatenate([part.ravel() for part in (X, y, X.sum(axis=0), X.mean(axis=0), y.sum(axis=0))])
    held = [number for number in numbers if number.tobytes() in dumped or repr(float(number)).encode() in dumped]
    assert not held, "a pickle must hold no number of the records"


def check_a_generator_is_refused(estimator: Any) -> None:
    """From an object with a state the noise can be computed: it is neither used nor kept."""
    X, y = records(estimator, FEW)
    for source in (np.random.default_rng(0), np.random.RandomState(0), np.random.PCG64(0), np.random.SeedSequence(0)):
        asked = clone(estimator).set_params(random_state=source)
        message = _refused(ValueError, lambda asked=asked: asked.fit(X, y))  # type: ignore[misc]
        assert "random_state" in message, f"the message must name the argument, got {message!r}"
        assert not released(asked), "nothing must be released"
    fitted = clone(estimator).set_params(random_state=None).fit(X, y)
    assert not [thing for thing in _reached(fitted) if isinstance(thing, gate.HANDLES)], "no state may be kept"


def check_warnings(estimator: Any) -> None:
    """A seed warns, and a δ of 0.1/n or more, at the call of ``fit``; a run without either does not."""
    X, y = records(estimator, FEW)
    asked = {"random_state": None, "delta": 1e-6, "epsilon": min(estimator.epsilon, 8.0)}
    asked |= {"interval_share": 0.0} if "interval_share" in estimator.get_params() else {}  # too few for intervals
    for changed, words in (({}, None), ({"random_state": 0}, "random_state=0"), ({"delta": 0.5}, "delta")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clone(estimator).set_params(**(asked | changed)).fit(X, y)
        said = [warning for warning in caught if issubclass(warning.category, PrivacyWarning)]
        assert len(said) == (words is not None), f"{changed} must warn {int(words is not None)} times, got {len(said)}"
        for warning in said:
            assert str(words) in str(warning.message), f"the warning must name the argument, got {warning.message}"
            assert warning.filename == __file__, f"the warning must point at the call of fit, got {warning.filename}"


PRIVACY_CHECKS: tuple[Callable[[Any], None], ...] = (
    check_every_type_of_number_is_widened,
    check_records_that_are_not_finite,
    check_errors_quote_no_value,
    check_no_state_beyond_the_release,
    check_a_generator_is_refused,
    check_warnings,
)
_ALL = [check for name, check in globals().items() if name.startswith("check_")]
CHECKS = tuple(check for check in _ALL if check not in PRIVACY_CHECKS)  # of estimators of prompts


def _refused(kind: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Any]) -> str:
    """Call what must be refused; returns the message."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind} must be raised")


def _of_prompts(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.three_d_array)


def _predicted(fitted: Any, X: Any, y: Any) -> np.ndarray:
    answers: np.ndarray = fitted.predict(X, y) if _of_prompts(fitted) else fitted.predict(X)
    return answers


def _equal(found: Any, expected: Any, what: str) -> None:
    for one, two in zip(released(found), released(expected), strict=True):
        np.testing.assert_array_equal(one, two, what)


def _same_release(found: Any, given: list[Any], expected: Any, doubles: list[np.ndarray], what: str) -> None:
    _equal(found, expected, what)
    np.testing.assert_array_equal(_predicted(found, *given), _predicted(expected, *doubles), what)


def _each_not_finite(X: np.ndarray, y: np.ndarray) -> Iterator[Arrays]:
    """Records of which the one in place 3 holds something that is not finite."""
    for wrong in (math.nan, math.inf, -math.inf):
        for k in range(2):
            arrays = (X.copy(), y.copy())
            arrays[k][3:4].flat[0] = wrong
            yield arrays


def _says_nothing(call: Callable[[], Any], must: bool = True) -> None:
    """Call what may be refused and look through all that Python would print."""
    raised: Exception | None = None
    try:
        call()
    except (ValueError, TypeError) as error:
        raised = error
    assert raised or not must, "it must be refused"
    if raised:
        chained = (raised.__cause__, raised.__context__)
        assert chained == (None, None), f"nothing may be chained to {raised!r}"
        message = "".join(traceback.format_exception_only(raised))
        for secret in (SECRET, SECRET[4:], str(NUMBER)[:7], "1e+400"):
            assert secret not in message, f"a message must quote no value, got {message!r}"


def _reached(thing: Any, depth: int = 6) -> Iterator[Any]:
    """An object and what its attributes lead to."""
    yield thing
    if depth:
        parts = [*getattr(thing, "__dict__", {}).values(), *(thing if isinstance(thing, (list, tuple, set)) else ())]
        parts += thing.values() if isinstance(thing, dict) else []
        for part in parts:
            yield from _reached(part, depth - 1)
