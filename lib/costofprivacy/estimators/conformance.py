"""What an estimator of prompts must do, tried: scikit-learn's ``check_estimator`` knows tables only.

Each check takes an estimator that is not fitted, works on clones of it and raises ``AssertionError`` where it fails.
The estimator must learn: one whose ``fit`` does nothing, or which answers the same whatever it was shown, fails.

>>> from costofprivacy.estimators import NoisyHeadRegressor
>>> check_prompt_regressor(NoisyHeadRegressor(epsilon=8.0, delta=1e-6))
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.privacy import PrivacyProfile

MODEL = PromptModel(D=2, L=20)
ENOUGH, TEST = 60_000, 2_000  # prompts to learn from, and to answer
LEARNT = 0.5  # of the response's variance, at least, for ε = 8


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
    opposite = train.y.copy()
    opposite[:, -1] *= -1
    one = seeded(estimator).fit(train.x, train.y).predict(test.x, test.y)
    two = seeded(estimator).fit(train.x, opposite).predict(test.x, test.y)
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
    """Arrays are not written to, may be read-only, of single precision, lists or frames of numbers."""
    data = draw(100)
    x, y = data.x.copy(), data.y.copy()
    x.flags.writeable = y.flags.writeable = False
    answers = seeded(estimator).fit(x, y).predict(x, y)
    listed = seeded(estimator).fit(x.tolist(), y.tolist()).predict(x.tolist(), y.tolist())
    np.testing.assert_allclose(listed, answers)
    single = seeded(estimator).fit(x.astype(np.float32), y.astype(np.float32)).predict(x, y)
    assert np.isfinite(single).all()


def check_bad_data_are_refused(estimator: Any) -> None:
    """NaN, infinities, wrong shapes, no prompts, complex numbers, text and another dimension are each a ValueError."""
    data = draw(50)
    for wrong in (math.nan, math.inf, -math.inf):
        for name in ("x", "y"):
            arrays = {"x": data.x.copy(), "y": data.y.copy()}
            arrays[name].flat[3] = wrong
            _refused(ValueError, lambda arrays=arrays: seeded(estimator).fit(arrays["x"], arrays["y"]))  # type: ignore[misc]
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
    for size in (1e3, 1e150, 1e300):
        x, y = data.x.copy(), data.y.copy()
        x[0], y[0] = size * np.sign(x[0]), size
        one = seeded(estimator).fit(data.x, data.y).predict(data.x[1:], data.y[1:])
        two = seeded(estimator).fit(x, y).predict(data.x[1:], data.y[1:])
        noise = seeded(estimator, seed=1).fit(data.x, data.y).predict(data.x[1:], data.y[1:])
        assert np.isfinite(two).all(), f"a prompt of size {size:g} must not make a prediction infinite"
        moved, spread = np.abs(two - one).max(), np.abs(noise - one).max()
        assert moved <= 20 * spread, f"one prompt moved a prediction by {moved}, noise by {spread}"


CHECKS: tuple[Callable[[Any], None], ...] = (
    check_learns,
    check_what_it_learns_follows_the_responses,
    check_fit_returns_itself_and_shapes_agree,
    check_predictions_do_not_depend_on_company,
    check_a_seed_repeats_and_none_does_not,
    check_refitting_forgets,
    check_parameters_are_scikit_learns,
    check_data_are_left_alone,
    check_bad_data_are_refused,
    check_bad_budgets_are_refused,
    check_the_profile_is_within_the_budget,
    check_one_prompt_moves_little,
)


def check_prompt_regressor(estimator: Any) -> None:
    """Try all `CHECKS` on an estimator of prompts that is not fitted.

    Args:
        estimator: with parameters ``epsilon``, ``delta`` and ``random_state``.

    Raises:
        AssertionError: if one fails.
    """
    for check in CHECKS:
        check(estimator)


def _refused(kind: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Any]) -> str:
    """Call what must be refused; returns the message."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind} must be raised")
