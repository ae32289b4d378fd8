"""Types, layouts and sums: what was found with numbers that are no doubles, and public numbers beyond all measure."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.noisyhead import (
    covariance_head,
    head,
    per_prompt,
    pretraining,
    private_ridge,
    softmax,
    whitened_plan,
)
from costofprivacy.noisyhead.curvature import ProductMoments
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from tests.costofprivacy.privacy import hostile
from tests.costofprivacy.privacy.test_records import ROUNDING, TOLD, D, L, bounded, neighbours
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=12)
C = 0.6
BUDGET = ApproximateDP(1.0, 1e-5)


# ---------------------------------------------------------------------------------------------------------- as found


@each(("kind", "value"), [("uint8", 16), ("int8", 16), ("int32", 65_536), ("int64", 2**32)])
def test_whole_numbers_do_not_overflow_in_a_norm(kind: str, value: int) -> None:
    """As it was found: the norm of Z was 12.8 where 0.8 is claimed, and 3.4e9 for 64 bits."""
    x = np.zeros((1, 2, 2), dtype=kind)
    x[0, :, 0] = value
    data = bounded(Prompts(x, np.ones((1, 2), dtype=kind), np.zeros((1, 2))))
    assert np.linalg.norm(data.Z) <= TOLD.feature_bound * ROUNDING
    raw = Statistics(x[:, 1], x[:, 0], np.ones(1, dtype=kind))
    assert np.linalg.norm(head.project(raw, 0.8).Z) <= 0.8 * ROUNDING


def test_one_record_of_single_precision_makes_no_release_of_nothing() -> None:
    """As it was found: 1e20 in single precision, whose square is none of that precision, made all heads NaN."""
    x, y = np.ones((3, L + 1, D), dtype=np.float32), np.ones((3, L + 1), dtype=np.float32)
    x[0, 0], y[0, 0] = 1e20, 1e20
    prompts, plans = Prompts(x, y, np.zeros((3, D))), [Plan(1, C, 1.0, 0.1)]
    for gradient in (per_prompt.linear_gradient(prompts, plans), per_prompt.softmax_gradient(prompts, 1.4, plans)):
        assert np.isfinite(gradient(np.ones((1, D, D)))).all()
    for data in (examples(prompts, every_token=True), examples(prompts, every_token=False)):
        assert np.isfinite(data.gradients(np.ones((1, D, D)))).all()
    assert np.isfinite(covariance_head.token_moment(x)).all()
    assert np.isfinite(bounded(prompts).Z).all()


def test_long_sums_of_single_precision_lose_nothing() -> None:
    """As it was found: with 191,073 prompts of single precision one moved the moment by 235 times its sensitivity."""
    N = 60_000
    x = np.ones((N, 1, 1), dtype=np.float32)
    x[0] = 4097.0
    other = x.copy()
    other[0] = 0.0
    moved = covariance_head.token_moment(x, 1.0) - covariance_head.token_moment(other, 1.0)
    assert abs(moved[0, 0]) <= math.sqrt(2) / N * ROUNDING


def test_a_text_is_no_number_and_its_prompt_is_void() -> None:
    x = np.ones((2, L + 1, D), dtype=object)
    x[0, 0, 0] = "123-45-6789"
    data = head.statistics(Prompts(x, np.ones((2, L + 1)), np.zeros((2, D))), 1.0)
    assert not data.context[0].any()
    assert data.context[1].all()
    assert not covariance_head.token_moment(x[:1]).any()


# --------------------------------------------------------------------------------------------------- the same array


@each("layout", hostile.LAYOUTS)
def test_a_void_record_does_not_change_a_bit_of_what_the_others_give(layout: hostile.Layout) -> None:
    """Where a record is void arrays are copied; products of matrices depend on the layout in their last bit."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((40, L + 1, 7)), rng.standard_normal((40, L + 1))
    hurt = x.copy()
    hurt[3, 0] = math.nan
    one, two = (
        head.project(head.statistics(Prompts(layout(a), layout(y), np.zeros((40, 7))), 1.0), 0.5) for a in (x, hurt)
    )
    rest = np.arange(40) != 3
    np.testing.assert_array_equal(one.Z[rest], two.Z[rest])
    A = 30 * rng.standard_normal((1, 7, 7))
    silent = np.where(rest[:, None, None], x, 0.0)
    sound = per_prompt.bounded(Prompts(layout(hurt), y, np.zeros((40, 7))))
    np.testing.assert_array_equal(sound.x, silent)
    given = (sound, Prompts(layout(x), y, np.zeros((40, 7))))
    p, q = (np.concatenate([p for _, p in softmax.attend(A, softmax.contexts(prompts))]) for prompts in given)
    np.testing.assert_array_equal(p[rest], q[rest])


# ---------------------------------------------------------------------------------------------------------- long sums


@given(neighbours((1, 6, 700, 3000)))
@law
def test_long_sums_move_no_further_than_claimed(pair: tuple[Prompts, Prompts]) -> None:
    N, G = len(pair[0].x), TOLD.feature_bound
    data = [bounded(prompts) for prompts in pair]
    one, two = (head.moments(each) for each in data)
    paid = 1 + 2e-12 + sums.slack(N, D**4)
    assert np.linalg.norm(one.gram - two.gram) <= 2 * G**2 / N * paid
    assert np.linalg.norm(one.cross - two.cross) <= 2 * TOLD.clip_norm * G / N * paid
    told = PrivateRidge(TOLD.clip_norm, G, 0.3, N)
    assert np.linalg.norm(ridge(one, 0.3) - ridge(two, 0.3)) <= private_ridge.sensitivity(told) * ROUNDING
    np.testing.assert_allclose(ProductMoments(data[0]).cross, one.cross, atol=1e-13)
    np.testing.assert_allclose(ProductMoments(data[0]).times(np.eye(D * D)), one.gram, atol=1e-13)
    plans, A = [Plan(1, C, 1.0, 0.0)] * 2, np.stack([np.zeros((D, D)), 5 * np.eye(D)])
    for make in (per_prompt.linear_gradient, lambda p, plans: per_prompt.softmax_gradient(p, 1.4, plans)):
        moved = make(pair[0], plans)(A) - make(pair[1], plans)(A)
        assert np.linalg.norm(moved, axis=(1, 2)).max() <= per_prompt.sensitivity(C, N) * ROUNDING
    told_descent = pretraining.Descent(0.1, 0.9, 1, N)
    steps = [
        pretraining.dp_sgd(each, told_descent, np.ones(1), np.array([C]), np.zeros(1), rng=np.random.default_rng(0))
        for each in data
    ]
    assert np.linalg.norm(steps[0] - steps[1]) <= 0.9 * 2 * C / N * ROUNDING


def test_sums_in_pairs_are_the_sums() -> None:
    rng = np.random.default_rng(2)
    data = Statistics(*rng.standard_normal((2, 1300, 3)), rng.standard_normal(1300))
    found, Z = head.moments(data), data.Z.reshape(1300, -1)
    np.testing.assert_allclose(found.gram, Z.T @ Z / 1300, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.cross, data.response @ Z / 1300, rtol=1e-12, atol=1e-15)
    few = Statistics(*(part[:512] for part in (data.query, data.context, data.response)))
    found, Z = head.moments(few), few.Z.reshape(512, -1)
    np.testing.assert_array_equal(found.gram, Z.T @ Z / 512)
    np.testing.assert_array_equal(found.cross, few.response @ Z / 512)


# ------------------------------------------------------------------------------------------------------ public numbers


sizes = st.one_of(
    st.sampled_from([1e-310, 1e-170, 1e-150, 1e-60, 1e-8, 1.0, 1e8, 1e60, 1e150, 1e170, 1e300]), st.floats(1e-3, 1e3)
)


@given(C=sizes, G=sizes, R=sizes, penalty=sizes, rate=sizes, N=st.sampled_from([1, 7, 10**9]))
@settings(law, max_examples=100)
def test_noise_is_positive_for_every_accepted_number(
    C: float, G: float, R: float, penalty: float, rate: float, N: int
) -> None:
    try:
        hyper = Hyperparameters(C, G, R, penalty, rate, 3)
    except ValueError:
        assert min(C, G, R, penalty, rate) < 1e-50 or max(C, G, R, penalty, rate) > 1e50
        return
    moved = pretraining.update_sensitivity(hyper, N)
    assert 0 < moved < math.inf
    assert moved == pytest.approx(math.exp(math.log(2 * rate * G) + math.log(C + R * G) - math.log(N)), rel=1e-9)
    told = PrivateRidge(C, G, penalty, N)
    for std in (private_ridge.noise_std(told, BUDGET), private_ridge.noise_std_printed(told, BUDGET)):
        assert 0 < std < math.inf
    spent = private_ridge.profile(told, BUDGET, private_ridge.noise_std(told, BUDGET)).last_iterate
    assert spent.delta(BUDGET.epsilon) <= BUDGET.delta * ROUNDING


@given(c=sizes, mu=sizes, N=st.sampled_from([1, 7, 10**9]))
@settings(law, max_examples=60)
def test_noise_of_means_is_positive_for_every_accepted_number(c: float, mu: float, N: int) -> None:
    try:
        std = covariance_head.noise_std(N, GaussianDP(mu), c)
        assert mu * std * N == pytest.approx(math.sqrt(2) * c, rel=1e-9)
        assert std**2 > 0
    except ValueError:
        assert min(c, mu) < 1e-100 or max(c, mu) > 1e100
    try:
        plan = whitened_plan.Plan((c,), (1.0,), c, c, N, GaussianDP(mu))
        assert min(plan.moment_std(c), plan.step_std(c)) ** 2 > 0
        assert max(plan.moment_std(c), plan.step_std(c)) ** 2 < math.inf
    except ValueError:
        assert min(c, mu) < 1e-50 or max(c, mu) > 1e50
    try:
        assert 0 < per_prompt.noise_std(BUDGET, c, 2, N) < math.inf
    except ValueError:
        assert c < 1e-30 or c > 1e100


@each("bound", [1e-160, 0.0, math.nan, -1.0])
def test_a_projection_on_less_than_a_square_can_hold_is_refused(bound: float) -> None:
    raw = Statistics(np.eye(2), 1e-158 * np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="feature_bound must be"):
        head.project(raw, bound)


def test_public_numbers_beyond_all_measure_are_refused() -> None:
    one = np.ones(1)
    data = head.statistics(Prompts(np.ones((3, 2, 2)), np.ones((3, 2)), np.ones((3, 2))))
    for told in ({"factor": 1e40 * one}, {"clip_norm": 1e-120 * one}, {"noise_std": 1e40 * one}):
        arrays = {"factor": one, "clip_norm": one, "noise_std": one} | told
        with pytest.raises(ValueError, match=f"{next(iter(told))} must be between"):
            pretraining.dp_sgd(data, pretraining.Descent(0.1, 0.1, 1, 1), **arrays, rng=np.random.default_rng(0))
    for wrong in ((1e200, 0.1, 1, 1.0), (0.1, 1e200, 1, 1.0), (0.1, 0.1, 1, 1e-200)):
        with pytest.raises(ValueError, match="must be between"):
            pretraining.Descent(*wrong)
    for wrong in ((1, 1.0, 1e200, 0.1), (1, 1.0, 0.1, 1e200)):
        with pytest.raises(ValueError, match="must be between"):
            Plan(*wrong)
    with pytest.raises(ValueError, match="clip_norm must be between"):
        covariance_head.token_moment(np.ones((2, 2, 2)), 1e-170)
