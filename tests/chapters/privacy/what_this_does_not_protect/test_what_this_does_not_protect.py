"""The page on what a correct ε leaves open: its attacks against the estimator and other ways."""

import math
from collections.abc import Callable

import dp_accounting
import numpy as np
import pytest
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from chapters.privacy.what_this_does_not_protect import measure
from chapters.privacy.what_this_does_not_protect.measure import Pair
from companion.judging.tables import pick, select
from costofprivacy.dpgd.schedule import Constant
from costofprivacy.estimators import DPGDRegressor
from costofprivacy.privacy import GaussianDP
from tests.chapters.machinery import committed

TABLES = committed("privacy/what-this-does-not-protect")
PAIR = Pair(40, 3, 0.5, 7)


def estimator(rho: float, seed: int) -> DPGDRegressor:
    settings = {"clip": measure.CLIP, "schedule": Constant(measure.RATE), "fit_intercept": False, "shuffle": False}
    return DPGDRegressor(mu=rho, random_state=seed).set_params(**settings)


# the fits that are attacked


@pytest.mark.parametrize("rho", [0.3, math.inf])
@pytest.mark.parametrize("n", [20, 32, 100])
def test_a_fit_is_the_estimator_s_to_the_last_bit(rho: float, n: int) -> None:
    told = Pair(n, 4, 0.5, 3)
    X, y, _ = told.data
    assert told.fit(0, 9, rho).tobytes() == estimator(rho, 9).fit(X, y).coef_.tobytes()


@pytest.mark.parametrize("n", [20, 32, 100, 129])
def test_many_releases_are_fits_to_the_last_bit(n: int) -> None:
    told = Pair(n, 4, 0.5, 3)
    for k in (0, 1):
        normals = np.random.default_rng(9).standard_normal((5, 4))
        rng = np.random.default_rng(9)
        fits = [told.fit(k, rng) for _ in range(5)]
        assert told.releases(k, normals).tobytes() == np.array(fits).tobytes()


def test_a_pass_step_by_step_is_the_fit_without_noise() -> None:
    X, y, _ = Pair(100, 3, 0.5, 3).data
    np.testing.assert_allclose(measure.noiseless(X, y), measure.fit(X, y, math.inf, 0), rtol=1e-12)
    rng = np.random.default_rng(4)
    noise = measure.noise_std(100, 3, 0.5) * rng.standard_normal(3)
    fitted = measure.fit(X, y, 0.5, np.random.default_rng(4))
    np.testing.assert_allclose(measure.noiseless(X, y) + noise, fitted, rtol=1e-12)


def test_the_neighbours_are_as_far_apart_as_neighbours_can_be() -> None:
    first, second = PAIR.clean
    assert np.linalg.norm(first - second) / PAIR.noise_std == pytest.approx(PAIR.rho, rel=1e-9)
    released = np.array([PAIR.fit(0, seed) for seed in range(400)])
    assert (released - first).std() == pytest.approx(PAIR.noise_std, rel=0.1)
    scores = PAIR.score(released - first) / np.linalg.norm(first - second) / PAIR.noise_std
    assert abs(scores.mean()) < 4 / math.sqrt(400)


# the attacks


def test_a_seed_is_undone_to_rounding_and_another_seed_is_not() -> None:
    told = measure.undone(PAIR).set_index("what")["distance"]
    assert told[measure.UNDONE] < 1e-15 < told[measure.RELEASED]
    other = PAIR.fit(0, measure.SECRET_SEED) - PAIR.noise_alone(measure.SECRET_SEED + 1)
    assert np.linalg.norm(other - PAIR.clean[0]) > PAIR.noise_std


def test_a_short_list_is_searched_and_an_unknown_seed_is_not() -> None:
    table = measure.attacks(PAIR, 400, 20, 0).set_index("attack")
    assert table.loc[measure.LISTED, "advantage"] == 1
    unknown = table.loc[measure.UNKNOWN]
    exact = 2 * norm.cdf(PAIR.rho / 2) - 1
    assert unknown["bound"] == pytest.approx(exact)
    assert abs(unknown["advantage"] - exact) < 4 * unknown["standard_error"] + 0.03


def test_last_bits_accuse_nobody_falsely_and_rounding_hides_them() -> None:
    table = measure.of_estimator(4, 0.3, 150, 1)
    assert (table["false_alarms"] == 0).all()
    released = pick(table, attack=measure.ESTIMATOR)
    assert released["advantage"] > released["bound"] + 4 * released["standard_error"]
    assert pick(table, attack=measure.ROUNDED, bits=40)["advantage"] == 0
    grown = measure.by_ratio((1, 8), 0.3, 300, 2)
    assert (grown["false_alarms"] == 0).all()
    one, many = (select(grown, d=d).set_index("ratio")["advantage"][0.01] for d in (1, 8))
    assert many == pytest.approx(1 - (1 - one) ** 8, abs=0.12)


def test_a_discrete_release_gives_the_gaussian_s_advantage() -> None:
    row = measure.of_discrete(0.5, 4000, 3).iloc[0]
    mass = dp_accounting.pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(
        measure.GRID / (0.5 * measure.GRID)
    )
    assert abs(row["advantage"] - row["bound"]) < 4 * row["standard_error"] + 0.01
    assert mass.get_delta_for_epsilon(0.0) == pytest.approx(row["bound"], abs=0.05)


def test_scaling_is_that_of_a_standard_scaler_before_the_fit() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) * [1, 5, 0.2] + 2
    y = X[:, 0] + rng.standard_normal(60)
    scale = measure.SCALES[measure.STANDARD](X)
    scaler = StandardScaler().fit(X)
    np.testing.assert_allclose(scale.apply(X), scaler.transform(X), rtol=1e-12, atol=1e-12)
    own = measure.fit(scale.apply(X), y, 0.4, 5) / scale.scale
    told = estimator(0.4, 5).set_params(feature_center=scaler.mean_, feature_scale=scaler.scale_).fit(X, y)
    np.testing.assert_allclose(own, told.coef_, rtol=1e-12)


def test_one_record_shows_through_the_data_s_scale_and_not_through_a_public_one() -> None:
    cell = measure.Cell(100, 3, 0.268)
    trials = np.array([measure.trial(cell, rng=np.random.default_rng(k)) for k in range(60)])

    def advantage(way: str, size: float) -> float:
        scores = trials[:, list(measure.SCALES).index(way), measure.SIZES.index(size)]
        level = np.median(scores)
        return float((scores[:, 0] > level).mean() - (scores[:, 1] > level).mean())

    assert advantage(measure.STANDARD, 100.0) > 0.9
    assert advantage(measure.RANGE, 100.0) > 0.9
    assert abs(advantage(measure.PUBLIC, 100.0)) < 0.3


def test_repeats_and_groups_spend_what_dp_accounting_says() -> None:
    one = GaussianDP(0.3)
    row = measure.releases((9,), one, 1e-5, 2000, 1).iloc[0]
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(1 / 0.3), 9)
    pld = dp_accounting.pld.PLDAccountant().compose(event).get_epsilon(1e-5)
    assert row["epsilon"] == pytest.approx(pld, rel=1e-3)
    assert abs(row["advantage"] - row["bound"]) < 4 * row["standard_error"]
    assert row["error"] == pytest.approx(1 / 3, rel=0.1)
    table = measure.groups((1, 4), PAIR, 1e-5)
    np.testing.assert_allclose(table["mu"], table["bound"], rtol=1e-9)


def test_an_audit_stays_below_what_is_exact() -> None:
    table = measure.audited((1, 5), GaussianDP(0.5), 1e-3, 20_000, 1)
    assert (table["epsilon"] <= table["best"]).all()
    assert (table["epsilon"] > 0).all()
    assert (table["mu"] <= 0.5 * np.sqrt(table["runs"])).all()
    assert (table["mu"] > 0.3).all()
    assert (table["least_deficit"] < 0.2).all()
    committed = TABLES["audited"]
    assert (committed["epsilon"] <= committed["best"] + 1e-9).all()
    assert committed["epsilon"].iloc[-1] > committed["one"].iloc[-1]
    assert (committed["mu"] <= committed["one_mu"] * np.sqrt(committed["runs"])).all()
    assert committed["mu"].iloc[-1] > committed["one_mu"].iloc[-1]


def test_each_fault_of_an_earlier_version_was_one_and_is_none() -> None:
    """The old code's own numbers; the exact lengths follow from 16² = 0 and 17² = 33 in 8 bits."""
    rows = [measure._integers(), measure._steps(), measure._single(), measure._generator(PAIR, 3)]
    assert rows[0]["before"] == pytest.approx(16 * measure.G)
    assert rows[1]["before"] == pytest.approx(2 / 33 * 289 - 1)
    assert rows[2]["before"] > 200 * rows[2]["allowed"]
    assert rows[3]["before"] == pytest.approx(1.0)
    for row in (*rows, measure._ridge(), measure._message()):
        assert row["now"] <= row["allowed"] * (1 + 1e-9) < row["before"]


@pytest.mark.parametrize(
    ("gains", "then"),
    [
        (measure._count, pytest.approx(1.79e-4, rel=0.01)),
        (measure._narrow, pytest.approx(144.5 / 16.5)),
        pytest.param(lambda: measure._reading(12), pytest.approx(1.56, abs=0.01), marks=pytest.mark.slow),
    ],
)
def test_a_guarantee_of_0_15_0_was_false_and_is_true_now(gains: Callable[[], tuple[float, ...]], then: float) -> None:
    allowed, before, now = gains()
    assert before == then
    assert now <= allowed < before
