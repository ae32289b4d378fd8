import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.dpgd import clipping, control, descent, onepass, schedule, spectrum, update
from costofprivacy.dpgd import schedule as schedules
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.descent import Configuration, descend_records, step_table
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import averaged_risk, averaged_step, best_averaged_risk
from tests import oracles
from tests.costofprivacy.privacy import hostile
from tests.each import each, refused


def literal_step(theta: np.ndarray, x: np.ndarray, y: float, eta: float, C: float) -> np.ndarray:
    """Lines 2 to 4 and 6 of Algorithm 1, without the noise."""
    g = x * (x @ theta - y)
    norm_g, norm_x = np.sqrt(g @ g), np.sqrt(x @ x)
    g_bar = g * min(1.0, C / norm_g) if norm_g > 0 else g
    eta_bar = min(eta, 2 / norm_x**2) if norm_x > 0 else eta
    return theta - eta_bar * g_bar


def draw(seed: int, rows: int = 50, d: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-2, 2, (rows, 1))
    return rng.standard_normal((rows, d)), scale * rng.standard_normal((rows, d)), 5 * rng.standard_normal(rows)


@each("C", [0.01, 1.0, 30.0, math.inf])
@each("eta", [0.0, 0.1, 5.0])
def test_the_batched_step_is_the_literal_one(C: float, eta: float) -> None:
    theta, x, y = draw(0)
    expected = [literal_step(*row, eta, C) for row in zip(theta, x, y)]
    np.testing.assert_allclose(update.noiseless_step(theta, x, y, eta, C), expected, rtol=1e-11, atol=1e-11)


def test_opposite_records_attain_the_sensitivity() -> None:
    theta, x, eta, C = np.zeros(3), np.array([0.6, 0.0, 0.8]), 0.5, 2.0
    moved = update.noiseless_step(theta, x, 1e6, eta, C) - update.noiseless_step(theta, x, -1e6, eta, C)
    assert np.linalg.norm(moved) == pytest.approx(float(update.step_sensitivities(np.array([eta]), C)[0]))


@each("wrong", [-0.1, math.nan])
def test_clip_norms_and_rates_outside_their_range_are_named(wrong: float) -> None:
    refused(r"^clip_norm must be positive, got", update.noiseless_step, np.ones(2), np.ones(2), 0.0, 0.1, wrong)
    refused(r"^clip_norm must be positive and finite, got", update.step_sensitivities, np.ones(2), wrong)
    with pytest.raises(ValueError, match=rf"^learning_rate must be non-negative and finite, got {wrong}$"):
        update.adapted_rates(np.append(np.ones(1200), wrong), np.ones((1201, 2)))


@each("configurations", [1, 3, update.FEW + 1])
@each("clip", [0.2, math.inf])
def test_simulated_steps_are_those_of_a_block(configurations: int, clip: float) -> None:
    rng = np.random.default_rng(5)
    x, b, y = rng.standard_normal((40, 7)), rng.standard_normal((40, 7)), 3 * rng.standard_normal(40)
    rates, std = rng.exponential(size=(2, 40, configurations))
    std[:, 0] = 0.0
    one = rng.standard_normal((7, configurations))
    other = one.copy()
    update.advance(one, x, y, b, rates, std, np.full(configurations, clip))
    update.simulate(other, x, y, b, rates, std, np.full(configurations, clip))
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)


# ---- Averaged step ----


@each(("clip", "rho"), [(0.2, 0.1), (2.0, math.inf)])
def test_the_risk_of_the_averaged_step_by_simulation(clip: float, rho: float) -> None:
    rng, d, n, noise = np.random.default_rng(1), 150, 3000, 0.4
    model = RegressionModel(spectrum.isotropic(d), np.full(d, 0.5 / math.sqrt(d)), noise)
    start = np.zeros(d)
    pilot = float(model.risk(start))
    mu = float(descent_reduction(clip, pilot + noise**2 / 2))
    risks = []
    for _ in range(25):
        x, y = spectrum.sample(model, n, rng=rng)
        risks.append(float(model.risk(averaged_step(start, x, y, clip, rho, mu, rng=rng))))
    expected = averaged_risk(pilot, d / n, noise, clip, rho)
    assert np.mean(risks) == pytest.approx(expected, rel=0.03)
    assert np.mean(risks) != pytest.approx(2 * expected, rel=0.3)


def test_the_best_clip_beats_its_neighbours() -> None:
    least, clip = best_averaged_risk(0.01, 1e-3, 0.3, 0.01)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert averaged_risk(0.01, 1e-3, 0.3, factor * clip, 0.01) >= least * (1 - 1e-6)


def test_one_step_costs_pi_where_privacy_dominates_and_half_the_noise_where_it_does_not() -> None:
    assert best_averaged_risk(0.0, 1e-9, 1.0, 1e-6)[0] == pytest.approx(math.pi * 1e-6, rel=2e-3)
    assert best_averaged_risk(0.0, 1e-4, 0.3, math.inf)[0] == pytest.approx(0.09 * 1e-4 / 2, rel=1e-4)


def test_release_is_the_pseudocode() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(1100, 5)), rng.normal(size=1100)
    plans = [Configuration(0.3, schedules.Constant(3.0), 1.0), Configuration(0.5, schedules.Harmonic(2.0, 0.2), 0.7)]
    found = descent.descend_records(x, y, plans, rng=np.random.default_rng(4))
    fresh = np.random.default_rng(4)
    noise = np.concatenate([fresh.standard_normal((1024, 5)), fresh.standard_normal((76, 5))])
    for plan, theta in zip(plans, found):
        eta = schedules.learning_rates(plan.schedule, 1100)
        sigma = schedules.noise_multipliers(eta, plan.rho)
        np.testing.assert_allclose(oracles.dpgd(x, y, eta, plan.clip_norm(5), sigma, noise)[-1], theta, atol=1e-12)
    refused("y must have shape", descent.descend_records, x, y[:-1], plans, rng=rng)


# ---- Clipping ----


RATIOS = np.logspace(-8, 8, 161)
BAD_CLIPS = (0.0, -1.0, math.nan, np.array([1.0, 0.0]))
BAD_RISKS = (-1e-9, math.nan, math.inf, np.array([1.0, -1.0]))
FACTORS = (clipping.descent_reduction, clipping.variance_reduction)


def printed_mu(ratio: float) -> mpmath.mpf:
    return mpmath.erf(mpmath.mpf(ratio) / mpmath.sqrt(2))


def printed_nu(ratio: float) -> mpmath.mpf:
    """(B.2) and (B.3), letter by letter."""
    z = mpmath.mpf(ratio)
    F = mpmath.erf(z / mpmath.sqrt(2)) - mpmath.sqrt(2 / mpmath.pi) * z * mpmath.exp(-(z**2) / 2)
    return z**2 * (1 - mpmath.erf(z / mpmath.sqrt(2))) + F


@each(
    ("factor", "printed"), [(clipping.descent_reduction_at, printed_mu), (clipping.variance_reduction_at, printed_nu)]
)
def test_factors_keep_every_digit_of_the_printed_form(factor, printed) -> None:
    values = factor(RATIOS)
    with mpmath.workdps(60):
        errors = [abs(mpmath.mpf(float(v)) / printed(float(z)) - 1) for z, v in zip(RATIOS, values)]
    assert max(errors) < 1e-14


@each("ratio", [0.5, 2.0])
def test_factors_are_the_moments_of_a_clipped_gaussian(ratio: float) -> None:
    """E[ξ clip(ξ)] and E[clip(ξ)²] by quadrature, without Stein's identity and without (B.3)."""
    with mpmath.workdps(30):
        pieces = [-mpmath.inf, -ratio, 0, ratio, mpmath.inf]

        def moment(weight) -> float:
            return float(mpmath.quad(lambda u: weight(u, max(-ratio, min(u, ratio))) * mpmath.npdf(u), pieces))

        mu, nu = moment(lambda u, c: u * c), moment(lambda u, c: c * c)
    assert float(clipping.descent_reduction_at(ratio)) == pytest.approx(mu, rel=1e-13)
    assert float(clipping.variance_reduction_at(ratio)) == pytest.approx(nu, rel=1e-13)


def test_definition_46_by_simulation_for_a_covariance_with_correlations() -> None:
    """‖E[r_c x]‖/‖E[r x]‖ and E[r_c²]/E[r²] from draws of (x, y): the two vectors point the same way."""
    rng, n, clip, label_noise = np.random.default_rng(1), 400_000, 0.8, 0.3
    root = np.array([[1.0, 0.0, 0.0], [0.6, 0.7, 0.0], [-0.3, 0.2, 0.4]])
    error = np.array([0.5, -1.0, 0.8])
    x = rng.standard_normal((n, 3)) @ root.T
    residual = x @ error + label_noise * rng.standard_normal(n)
    clipped = np.clip(residual, -clip, clip)
    test_risk = ((error @ root) @ (error @ root) + label_noise**2) / 2
    mu, nu = clipping.descent_reduction(clip, test_risk), clipping.variance_reduction(clip, test_risk)
    difference = clipped[:, None] * x - mu * residual[:, None] * x
    assert (np.abs(difference.mean(axis=0)) < 4 * difference.std(axis=0) / math.sqrt(n)).all()
    gap = clipped**2 - nu * residual**2
    assert abs(gap.mean()) < 4 * gap.std() / math.sqrt(n)
    wrong = clipped**2 - (mu * residual) ** 2  # ν is not μ²
    assert abs(wrong.mean()) > 20 * wrong.std() / math.sqrt(n)


def test_limits() -> None:
    for factor in FACTORS:
        assert float(factor(math.inf, 0.7)) == 1.0
        assert float(factor(0.5, 0.0)) == 1.0
        assert float(factor(1e-300, 1.0)) >= 0
    assert float(clipping.descent_reduction(1e-8, 0.5)) == pytest.approx(1e-8 * math.sqrt(2 / math.pi), rel=1e-14)
    assert float(clipping.variance_reduction(1e-8, 0.5)) == pytest.approx(1e-16, rel=1e-7)
    assert float(clipping.descent_reduction_at(0.0)) == float(clipping.variance_reduction_at(0.0)) == 0.0
    assert float(clipping.variance_reduction_at(math.inf)) == 1.0


@each("factor", FACTORS)
def test_bad_arguments(factor) -> None:
    for clip in BAD_CLIPS:
        refused(r"^clip must be positive, got", factor, clip, 1.0)
    for risk in BAD_RISKS:
        refused(r"^test_risk must be non-negative and finite, got", factor, 1.0, risk)
    refused(r"^clip must be positive, got -2.0$", factor, np.append(np.ones(1200), -2.0), 1.0)
    refused(r"^test_risk must be non-negative and finite, got nan$", factor, 1.0, np.append(np.ones(1200), math.nan))


# ---- Types and sizes ----


law = settings(derandomize=True, deadline=None, max_examples=60)
ROUNDING = 1 + 1e-9
TOLD = Configuration(0.5, Constant(30.0), 1.0)


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
@settings(law, max_examples=20)
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
        refused("learning_rates must be 0 or between 1e-60 and 1e", schedule.noise_multipliers, rates, 1.0)
    with pytest.raises(ValueError, match="learning_rates times clip_norms must be 0 or between"):
        control.noise_stds(np.full(3, 1e-170), np.ones(3), 1.0)
    refused("rho must be between", schedule.noise_multipliers, np.ones(3), 1e-30)
    for clip in (1e-170, 1e170):
        refused("clip must be between", Configuration, clip, Constant(1.0), 1.0)
        with pytest.raises(ValueError, match="clip must be between"):
            averaged_step(np.ones(1), np.ones((2, 1)), np.ones(2), clip, 1.0, 0.5, rng=np.random.default_rng(0))
    refused("must be between", update.step_sensitivities, np.array([1e-170]), 1.0)
    refused("noise_multipliers must be at most", schedule.privacy_parameter, np.ones(1), np.array([1e200]))
