"""The tracing attack and its bounds against quadrature, simulation and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import jn_zeros
from scipy.stats import kstest, wishart

from costofprivacy.dpgd import clipping, equivalent, risk_bounds, spectrum, system
from costofprivacy.dpgd import lower_bound as lb
from costofprivacy.dpgd.schedule import Constant, Polynomial
from costofprivacy.dpgd.spectrum import RegressionModel
from tests.costofprivacy.dpgd.problems import TIMES, uniform_model
from tests.each import each, refused


@each("d", [1, 7, 300])
def test_the_prior_has_the_printed_moments(d: int) -> None:
    edge = d**-0.5
    of = {
        1.0: lambda z: 1.0,
        lb.PRIOR_NORM / d: lambda z: z * z,
        -1.0: lambda z: z * float(lb.prior_score(z, d)),
        lb.PRIOR_INFORMATION * d: lambda z: float(lb.prior_score(z, d)) ** 2,
    }
    for expected, f in of.items():
        found = quad(lambda z, f=f: f(z) * float(lb.prior_density(z, d)), -edge, edge, epsabs=0)[0]
        assert found == pytest.approx(expected, rel=1e-9)
    assert lb.prior_density(1.01 * edge, d) == 0


def test_draws_have_the_density_and_stay_in_the_ball() -> None:
    rng = np.random.default_rng(1)
    draws = np.concatenate([lb.draw_prior(4, rng=rng) for _ in range(2500)])
    edge = 0.5

    def law(z: np.ndarray) -> np.ndarray:
        u = np.asarray(z) / edge
        return 0.5 + 15 / 16 * (u - 2 * u**3 / 3 + u**5 / 5)

    assert kstest(draws, law).pvalue > 1e-3
    assert kstest(1.1 * draws, law).pvalue < 1e-6
    assert np.abs(draws).max() < edge


def test_the_best_prior_on_the_ball_is_the_laplacians_ground_state() -> None:
    for d in (4, 20, 100):
        assert lb.ball_information(d) == pytest.approx(4 * jn_zeros(d // 2 - 1, 1)[0] ** 2 / d**2, rel=1e-10)
    assert lb.ball_information(1) == pytest.approx(math.pi**2)
    assert lb.ball_information(3) == pytest.approx(4 * math.pi**2 / 9)  # sin(πr)/r
    assert lb.ball_information(10**5) == pytest.approx(lb.BALL_INFORMATION, rel=0.01)


def test_the_attack_record_by_record() -> None:
    rng = np.random.default_rng(2)
    x, y, target, theta = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3), rng.normal(size=(2, 3))
    expected = [[(y[i] - x[i] @ target) * (x[i] @ (t - target)) for i in range(6)] for t in theta]
    np.testing.assert_allclose(lb.tracing_attack(x, y, target, theta), expected)
    refused("last axis of length 3", lb.tracing_attack, x, y, target, theta[:, :2])


def test_least_squares_scores_all_of_it_and_fresh_records_nothing() -> None:
    """Σ A_i = z'Hz for the hat matrix H, of mean ζ²d; on a fresh record the mean square is 2ζ²R."""
    rng, d, n = np.random.default_rng(3), 5, 40
    model = RegressionModel(spectrum.isotropic(d), lb.draw_prior(d, rng=rng), 0.5)
    scores, fresh, second, risk = [], [], [], []
    for _ in range(700):
        x, y = spectrum.sample(model, n, rng=rng)
        theta = np.linalg.lstsq(x, y)[0]
        other = lb.tracing_attack(*spectrum.sample(model, 5, rng=rng), model.target, theta)
        scores.append(lb.tracing_attack(x, y, model.target, theta).sum())
        fresh.append(other.mean())
        second.append((other**2).mean())
        risk.append(float(model.risk(theta)))
    error = np.std(scores) / math.sqrt(700)
    assert np.mean(scores) == pytest.approx(0.25 * d, abs=4 * error)
    assert abs(np.mean(fresh)) < 4 * np.std(fresh) / math.sqrt(700)
    assert np.mean(second) == pytest.approx(2 * 0.25 * np.mean(risk), rel=0.1)
    # the risk of least squares is ζ²d/{2(n − d − 1)}: the inverse Wishart's mean
    assert np.mean(risk) == pytest.approx(0.25 * d / (2 * (n - d - 1)), rel=0.05)


def test_the_divergence_of_the_gaussian_mechanism_attains_the_bound() -> None:
    for rho in (0.3, 1.0, 2.0):
        found = quad(lambda u, r=rho: math.exp(2 * (r * u - r * r / 2) - u * u / 2) / math.sqrt(2 * math.pi), -15, 20)[
            0
        ]
        assert lb.chi_square(rho) == pytest.approx(found - 1, rel=1e-8)
    assert lb.chi_square(100.0) == math.inf
    assert lb.privacy_bound(0.1, math.inf, 0.3) == 0


@each(("gamma", "rho", "noise"), [(0.1, 1.0, 0.3), (1e-3, 1e-3, 0.3), (1e-6, 0.1, 2.0)])
@each("smallest", [1.0, 0.2])
def test_the_bound_is_where_the_two_sides_meet(gamma: float, rho: float, noise: float, smallest: float) -> None:
    d, n = 1000, round(1000 / gamma)
    risk = float(lb.privacy_bound(gamma, rho, noise, smallest))
    low = lb.least_score(2 * risk / smallest, d, noise)
    assert low == pytest.approx(float(lb.largest_score(risk, n, noise, rho)), rel=1e-6)
    below = 0.9 * risk
    assert lb.least_score(2 * below / smallest, d, noise) > lb.largest_score(below, n, noise, rho)


def test_certified_is_the_largest_score_solved_for_rho() -> None:
    for rho in (0.01, 0.5, 2.0):
        score = lb.largest_score(0.02, 300, 0.4, rho)
        assert lb.certified_rho(score, 0.02, 300, 0.4) == pytest.approx(rho)
    assert lb.certified_rho(-1.0, 0.02, 300, 0.4) == 0
    assert lb.certified_rho(9e3, 4.5e3, 300, 1.0) == pytest.approx(math.sqrt(math.log(1.1)))  # of θ* + X'z: the most


@each("gamma", [0.05, 0.5, 2.0])
def test_the_bayes_risk_is_that_of_ridge_regression(gamma: float) -> None:
    d, noise = 400, 0.7
    n = round(d / gamma)
    gram = wishart.rvs(n, np.eye(d), random_state=4) / n if n > d else None
    if gram is None:
        x = np.random.default_rng(4).normal(size=(n, d))
        gram = x.T @ x / n
    trace = (1 / (np.linalg.eigvalsh(gram) + noise**2 * gamma)).mean()
    assert lb.bayes_risk(gamma, noise) == pytest.approx(noise**2 * gamma * trace / 2, rel=0.01)
    assert lb.spread_bound([1.0], gamma, noise, noise**2 * gamma) < lb.bayes_risk(gamma, noise)


def test_van_trees_is_below_the_risk_of_the_posterior_mean() -> None:
    """In one dimension, against the exact Bayes risk by quadrature over the prior and the sufficient statistic."""
    information = 5.0  # n/ζ²

    def joint(t: float, power: int) -> float:
        return quad(
            lambda z: z**power * float(lb.prior_density(z, 1)) * math.exp(-information * (t - z) ** 2 / 2), -1, 1
        )[0] * math.sqrt(information / (2 * math.pi))

    explained = quad(lambda t: joint(t, 1) ** 2 / joint(t, 0), -3, 3)[0]
    exact = lb.PRIOR_NORM - explained
    bound = 2 * lb.spread_bound([1.0], 1 / information, 1.0, lb.PRIOR_INFORMATION / information)
    assert bound == pytest.approx(1 / (information + 10))
    assert 0.5 * exact < bound < exact


@each("spread", [0.3, 0.9, 4.0])
def test_the_gaussian_prior_against_draws(spread: float) -> None:
    norm = np.linalg.norm(np.random.default_rng(5).normal(size=(200_000, 6)) * math.sqrt(spread / 6), axis=1)
    assert lb.outside_ball(6, spread) == pytest.approx((norm >= 1).mean(), abs=0.005)
    assert lb.projected_square(6, spread) == pytest.approx(((1 + norm) ** 4).mean() / 4, rel=0.01)


def test_limits_of_the_bound() -> None:
    assert lb.privacy_bound(1e-6, 1e-2, 0.3) == pytest.approx(0.09 * 1e-8 / 2, rel=2e-3)
    assert lb.privacy_bound(0.1, 1e-9, 0.3, 0.5, 10.0) == pytest.approx(0.5 / 20, rel=1e-5)
    for gamma, rho in ((0.1, 0.5), (1e-4, 1e-3), (1e-4, 1.0)):
        assert lb.lemma_bound(gamma, rho, 0.3) < lb.privacy_bound(gamma, rho, 0.3)


# ---- The single equations (4.12) that enclose the risk ----


SYSTEMS = [
    system.of_model(uniform_model(), 1000),
    system.of_model(uniform_model(20), 10),
    system.of_spectrum([0.2, 1.0, 1.8], [2.0, 0.1, 0.1], 0.5, 0.0),
    system.of_spectrum([0.5, 1.5], [0.0, 1.0], 0.1, 0.3),
    system.of_spectrum([1.5, 3.0], [0.3, 0.1], 0.1, 0.3),  # tr Σ = 2.25d
    system.of_spectrum([0.1, 0.3], [1.0, 3.0], 0.1, 0.3),  # tr Σ = d/5
]


def literal(equations, schedule, clip, rho, descent, sampling):
    """R(t) of Ṙ = −2·descent·η̄μR + s·sampling·η̄²γν𝒫 + 2sc²σ̃²γ² with R(0) of the system, by LSODA; s = tr Σ/d."""
    s, gamma = float(np.sum(equations.readout)), equations.aspect_ratio

    def right_side(time, R):
        test_risk = R[0] + equations.label_noise**2 / 2
        ratio = clip / math.sqrt(2 * test_risk)
        mu, nu = clipping.descent_reduction_at(ratio), clipping.variance_reduction_at(ratio)
        rate = min(float(schedule(time)), 2 / gamma)
        noise = 2 * (clip / rho) ** 2 * gamma**2 * float(schedule.squared_decrease(time))
        return [-2 * descent * rate * mu * R[0] + s * (sampling * rate**2 * gamma * nu * test_risk + noise)]

    start = [float(equations.readout @ equations.initial)]
    solution = solve_ivp(right_side, (0, 1), start, method="LSODA", t_eval=TIMES, rtol=1e-10, atol=1e-13)
    return solution.y[0]


@each("equations", SYSTEMS)
@each(("clip", "rho"), [(0.5, 1.0), (20.0, 1e3)])
def test_the_bounds_are_the_solutions_of_4_12(equations, clip, rho):
    """Each with its own extreme eigenvalue, and the lower one with tr Σ/d where λ_min would enclose the risk too."""
    values, schedule = equations.relaxation, Polynomial(3.0, 1.0)
    least, trace, most = values.min(), values.mean(), values.max()
    low, high = risk_bounds.lower(equations), risk_bounds.upper(equations)
    for bound, descent, sampling in ((low, most, trace), (high, least, most)):
        found = equivalent.risk_path(bound, schedule, clip, rho, TIMES)
        np.testing.assert_allclose(found, literal(equations, schedule, clip, rho, descent, sampling), rtol=3e-6)


@each("equations", SYSTEMS)
@each("schedule", [Constant(3.0), Polynomial(50.0, 0.5)])
@each("clip", [0.05, 20.0])
def test_the_bounds_enclose_the_risk(equations, schedule, clip):
    in_order = risk_bounds.lower(equations), equations, risk_bounds.upper(equations)
    paths = [equivalent.risk_path(each, schedule, clip, 1.0, TIMES, 1e-5) for each in in_order]
    for smaller, larger in itertools.pairwise(paths):
        assert (smaller <= larger * (1 + 4e-5)).all()


def test_as_printed_beyond_the_cap_neither_bound_holds():
    equation = system.isotropic(0.5, 0.1, 0.3)
    for clip, bound, sign in ((1.0, risk_bounds.lower, 1), (0.01, risk_bounds.upper, -1)):
        risk = equivalent.risk_path(equation, Constant(60.0), clip, 1.0, [1.0])[0]
        printed = equivalent.risk_path(risk_bounds.uncapped(bound(equation)), Constant(60.0), clip, 1.0, [1.0])[0]
        assert sign * (printed - risk) > 0.1 * risk
