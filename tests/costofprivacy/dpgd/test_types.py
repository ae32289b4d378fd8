"""Types and sizes: what was found with records that are no doubles, and public numbers beyond all measure."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.dpgd import control, onepass, schedule, update
from costofprivacy.dpgd.descent import Configuration, descend_records, step_table
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.update import averaged_step
from tests.costofprivacy.privacy import hostile
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=200)
ROUNDING = 1 + 1e-9
TOLD = Configuration(0.5, Constant(30.0), 1.0)


@pytest.mark.parametrize(("kind", "value"), [("int8", 17), ("int32", 46_341), ("int64", 2**32 + 1), ("uint8", 16)])
def test_a_rate_is_adapted_to_whole_numbers(kind: str, value: int) -> None:
    """As it was found: rate·‖x‖² was 17.5 in 8 bits and 4.3e9 in 64, and one step expanded distances 230 times."""
    x = np.array([[value, 0]], dtype=kind)
    rates = update.adapted_rates(0.9, x)
    assert 0 <= rates[0] * float(value) ** 2 <= 2 * ROUNDING
    starts = np.array([[3.0, 1.0], [-2.0, 1.0]])
    ends = [update.noiseless_step(theta, x, np.zeros(1, dtype=kind), 0.9, 1e9)[0] for theta in starts]
    assert np.linalg.norm(ends[0] - ends[1]) <= np.linalg.norm(starts[0] - starts[1]) * ROUNDING
    columns = starts.T.copy()
    update.advance(columns, x, np.zeros(1), np.zeros((1, 2)), np.full((1, 2), 0.9), np.zeros((1, 2)), np.full(2, 1e9))
    np.testing.assert_allclose(columns.T, ends, rtol=1e-12)


@each("kind", hostile.NARROW)
def test_narrow_records_give_what_their_doubles_give(kind: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 100, (70, 3)).astype(kind), rng.integers(0, 100, 70).astype(kind)
    wide = x.astype(float), y.astype(float)

    def runs(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        source = lambda: np.random.default_rng(1)  # noqa: E731
        return [
            descend_records(x, y, [TOLD], rng=source())[0],
            onepass.release([(x[:9], y[:9]), (x[9:], y[9:])], TOLD, 70, 3, rng=source()).theta,
            averaged_step(np.ones(3), x, y, 0.5, 1.0, 0.5, rng=source()),
        ]

    for one, two in zip(runs(x, y), runs(*wide)):
        np.testing.assert_array_equal(one, two)


@given(
    sizes=st.lists(st.integers(-150, 149), min_size=64, max_size=64),
    k=st.integers(0, 63),
    to=st.integers(-150, 149),
    seed=st.integers(0, 2**31),
)
@settings(law, max_examples=100)
def test_records_of_every_size_share_a_block(sizes: list[int], k: int, to: int, seed: int) -> None:
    """Norms from 1e-150 to 1e150 in one block: no step is longer, and none expands, but for rounding of θ."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((64, 3))
    x *= 10.0 ** np.array(sizes)[:, None] / np.linalg.norm(x, axis=1)[:, None]
    y = rng.standard_normal(64) * 10.0 ** rng.integers(-300, 300, 64)
    X, Y = x.copy(), y.copy()
    X[k], Y[k] = x[k] / np.linalg.norm(x[k]) * 10.0**to, -y[k]
    for plan in (Constant(30.0), Polynomial(30.0, 2.0), Harmonic(2.0, 0.1)):
        told = Configuration(0.5, plan, 1.0)
        claimed = 2 * float(plan((k + 1) / 64)) / 64 * told.clip_norm(3)
        ends = [descend_records(a, b, [told], rng=np.random.default_rng(3))[0] for a, b in ((x, y), (X, Y))]
        assert np.isfinite(ends).all()
        assert np.linalg.norm(ends[0] - ends[1]) <= claimed + 64 * 8 * 2.0**-53 * np.abs(ends).max() + 1e-14


# ------------------------------------------------------------------------------------------------------ public numbers


extreme = st.one_of(
    st.sampled_from([1e-320, 1e-170, 1e-100, 1e-60, 1e-20, 1.0, 1e20, 1e60, 1e100, 1e170, 1e300]), st.floats(1e-3, 1e3)
)


@given(clip=extreme, initial=extreme, rho=extreme, exponent=st.sampled_from([0.5, 1.0, 3.0, 100.0, 1e4]))
@law
def test_every_accepted_configuration_spends_what_it_claims(
    clip: float, initial: float, rho: float, exponent: float
) -> None:
    for plan in (Constant(initial), Polynomial(initial, exponent), Harmonic(initial, 0.1)):
        try:
            told = Configuration(clip, plan, rho)
            rates = schedule.learning_rates(plan, 20)
            noise = schedule.noise_multipliers(rates, rho)
            table = step_table([told], 20, 2, 0, 20)
        except ValueError:
            continue
        assert schedule.privacy_parameter(rates, noise) <= rho * ROUNDING
        moved, std = table.learning_rates[:, 0] * 2 * table.clip_norm[0], table.noise_std[:, 0]
        hidden = np.array([math.hypot(*std[k:]) for k in range(20)])
        assert (moved <= rho * hidden * ROUNDING).all()
        for seen in range(20):
            owed = onepass.owed_noise_std(told, 20, 2, seen)
            assert owed == pytest.approx(hidden[seen], rel=1e-9)


@given(st.lists(st.tuples(extreme, extreme), min_size=1, max_size=6), extreme)
@law
def test_a_clip_that_changes_spends_what_it_claims(steps: list[tuple[float, float]], rho: float) -> None:
    rates, clips = (np.array(column) for column in zip(*steps))
    try:
        found = control.noise_stds(rates, clips, rho)
    except ValueError:
        return
    assert found[-1] > 0
    assert control.privacy_parameter(rates, clips, found) <= rho * ROUNDING


def test_what_vanishes_when_it_is_squared_is_refused() -> None:
    """As it was found: the noise was 0 and the step was not."""
    for rates in (np.full(3, 1e-170), np.full(3, 1e170), np.array([1.0, 1e-170])):
        with pytest.raises(ValueError, match="learning_rates must be 0 or between 1e-60 and 1e"):
            schedule.noise_multipliers(rates, 1.0)
    with pytest.raises(ValueError, match="learning_rates times clip_norms must be 0 or between"):
        control.noise_stds(np.full(3, 1e-170), np.ones(3), 1.0)
    with pytest.raises(ValueError, match="rho must be between"):
        schedule.noise_multipliers(np.ones(3), 1e-30)
    for clip in (1e-170, 1e170):
        with pytest.raises(ValueError, match="clip must be between"):
            Configuration(clip, Constant(1.0), 1.0)
        with pytest.raises(ValueError, match="clip must be between"):
            averaged_step(np.ones(1), np.ones((2, 1)), np.ones(2), clip, 1.0, 0.5, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="must be between"):
        update.step_sensitivities(np.array([1e-170]), 1.0)
    with pytest.raises(ValueError, match="noise_multipliers must be at most"):
        schedule.privacy_parameter(np.ones(1), np.array([1e200]))
