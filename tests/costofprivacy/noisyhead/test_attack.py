import math

import mpmath
import numpy as np
import pytest

from costofprivacy.noisyhead import attack, head, population, pretraining
from costofprivacy.noisyhead.attack import NONE, Attack
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.ridge import RidgeWithOneMore, ridge
from tests import oracles
from tests.costofprivacy.noisyhead.draws import MODEL, drawn
from tests.each import each


@each(("clip", "bound"), [(np.inf, np.inf), (1.5, np.inf), (1.5, 0.3), (1.5, 40.0)])
@each("shift", [Attack(3.0, 1.0, 3.0), Attack(-0.4, 0.2)])
def test_its_statistic_is_the_literal_one_clipped_and_projected(clip: float, bound: float, shift: Attack) -> None:
    prompts = drawn(5)
    bad = attack.perturb(prompts, shift)
    found = attack.candidates(prompts, [shift], clip)
    if np.isfinite(bound):
        found = head.project(found, bound)
    expected = [oracles.statistic(x, y, clip, bound) for x, y in zip(bad.x, bad.y)]
    np.testing.assert_allclose(found.Z, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.norm, [np.linalg.norm(Z) for Z in expected], rtol=1e-12)
    np.testing.assert_allclose(found.response, np.clip(bad.y[:, -1], -clip, clip))


@each("radius", [0.4, 50.0])
def test_runs_on_several_data_sets_are_those_of_the_algorithm(radius: float) -> None:
    rng = np.random.default_rng(2)
    sets = [head.moments(head.project(head.statistics(drawn(40, seed), 2.0), 0.5)) for seed in (1, 2)]
    D, T = round(len(sets[0].cross) ** 0.5), 7
    hyper = Hyperparameters(2.0, 0.5, radius, 0.2, 0.5, T)
    starts = rng.standard_normal((3, D, D))
    noises = np.stack([0.3 * np.random.default_rng(s).standard_normal((T, D * D)) for s in (5, 6)])
    found = attack.pretrain_each([sets[0], sets[1], sets[1]], hyper, noises, [0, 1, 0], starts)
    for Gamma, data, seed, start in zip(found, (sets[0], sets[1], sets[1]), (5, 6, 5), starts):
        literal = pretraining.pretrain(data, hyper, [0.3], rng=np.random.default_rng(seed), initial=start)[0]
        np.testing.assert_allclose(Gamma, literal, rtol=1e-10, atol=1e-13)


def test_the_statistic_grows_along_its_direction() -> None:
    prompts = drawn(5)
    near, far = (attack.candidates(prompts, [Attack(alpha, 0.7)]).Z for alpha in (1.0, 1e6))
    np.testing.assert_allclose((far - near) / (1e6 - 1), attack.direction(prompts, 0.7), rtol=1e-6)


@each("shift", [Attack(4.0, 0.0), Attack(3.0, 1.0)])
def test_the_energy_against_simulation_and_a_wrong_one(shift: Attack) -> None:
    values = attack.candidates(drawn(40000, 3), [shift]).norm ** 2
    error = values.std() / math.sqrt(len(values))
    closed = attack.statistic_energy(MODEL, shift)
    assert abs(values.mean() - closed) < 4.5 * error
    assert abs(values.mean() - 1.08 * closed) > 4.5 * error


# ---- Attack bounds ----


def test_no_prompt_with_this_response_passes_the_bound() -> None:
    rest, rng = head.moments(head.statistics(drawn(30, 5))), np.random.default_rng(8)
    solver = RidgeWithOneMore(rest, 30, 0.02)
    Z = rng.standard_normal((4000, 3, 3)) * 10.0 ** rng.uniform(-3, 6, (4000, 1, 1))
    y = rng.choice([-3.0, 0.0, 0.5, 30.0], 4000)
    norms = np.linalg.norm(solver.step(Z, y), axis=(1, 2))
    ratio = norms / attack.ridge_step_bound(rest, 30, 0.02, y)
    assert ratio.max() <= 1
    assert ratio.max() > 0.6


@each("D", [2, 4])
@each("ratio", [0.0, 1.0])
def test_the_populations_limit_is_the_limit_on_the_populations_moments(D: int, ratio: float) -> None:
    """A prompt drawn anew each time, x̄ = 0, added to a billion prompts with the population's moments."""
    model, penalty, mu = PromptModel(D, 60), 0.05, 0.3
    moments = head.Moments(population.context_energy(model) / D**2 * np.eye(D * D), np.eye(D).reshape(-1) / D**2)
    x = np.random.default_rng(4).standard_normal((100000, D))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    V = (x + mu)[:, :, None] * np.full((1, 1, D), mu)
    found = population.excess_risk(model, RidgeWithOneMore(moments, 10**9, penalty).limit(V, np.full(len(V), ratio)))
    error = found.std() / math.sqrt(len(found))
    closed = attack.ridge_limit(model, penalty, mu, ratio)
    assert abs(found.mean() - closed) < 4.5 * error
    assert error < 0.01 * closed


def hyper(steps: int, R: float = 1e9) -> Hyperparameters:
    return Hyperparameters(
        clip_norm=2.0, feature_bound=0.6, weight_bound=R, penalty=0.2, learning_rate=0.5, steps=steps
    )


def test_two_runs_on_one_data_set_lie_as_far_apart_as_the_closed_form_says() -> None:
    data = head.moments(head.project(head.statistics(drawn(50), 2.0), 0.6))
    told, rng = hyper(4), np.random.default_rng(9)
    by_start, by_noise = attack.rerun_displacement(data, told, MODEL, 0.3, 0.2)
    starts, noises = [], []

    def run(start: np.ndarray, seed: int) -> np.ndarray:
        return pretraining.pretrain(data, told, [0.3], rng=np.random.default_rng(seed), initial=start)[0]

    for seed in range(0, 1600, 2):
        first, second = 0.2 * rng.standard_normal((2, 3, 3))
        one = run(first, seed)
        starts.append(population.excess_risk(MODEL, one - run(second, seed)))
        noises.append(population.excess_risk(MODEL, one - run(first, seed + 1)))
    for values, closed in ((starts, by_start), (noises, by_noise)):
        error = np.std(values) / math.sqrt(len(values))
        assert abs(np.mean(values) - closed) < 4.5 * error
        assert abs(np.mean(values) - 1.2 * closed) > 4.5 * error


@each("R", [0.5, 1e9])
@each("steps", [1, 3, 50])
def test_the_attack_alone_stays_within_its_bound(R: float, steps: int) -> None:
    told, N = hyper(steps, R), 20
    bound = attack.trajectory_displacement(told, N)
    rest = head.moments(head.project(head.statistics(drawn(N - 1), 2.0), 0.6))
    attacks = [NONE, *(Attack(a, mu, a) for a in (-1e6, 1e6) for mu in (-1.0, 0.3, 1.0))]
    data = attack.with_each(rest, N - 1, head.project(attack.candidates(drawn(1, 6), attacks, 2.0), 0.6))
    runs = [pretraining.pretrain(d, told, [0.1], rng=np.random.default_rng(1))[0] for d in data]
    apart = max(np.linalg.norm(a - b) for a in runs for b in runs)
    assert apart <= bound
    assert R > 1 or apart > 0.02 * bound


def test_the_ends_of_the_window_and_the_claims_by_hand() -> None:
    model, N, kappa, lam = PromptModel(5, 500), 5000, 0.01, 1.5
    C2 = 2 * math.log(5000 * 500 / 0.01)
    R = C2 / 1.5 * math.sqrt(10) * (1 + math.sqrt(math.log(100)) / 5)
    assert attack.upper_end(model, N, lam) == pytest.approx(3.75e6)
    inner = 1.5 * 5000 * R**2 / math.sqrt(500)
    assert attack.lower_end(model, N, kappa, lam) == pytest.approx(C2 / math.sqrt(500) * inner)
    assert attack.least_penalty(model, N, kappa) == pytest.approx(C2 / 500)
    log = math.log(2.5e8)
    assert attack.noisyhead_displacement(model, N, kappa) == pytest.approx(5000 / 500**2 * log**2)
    assert attack.ball_displacement(model, N, kappa, 3.0) == pytest.approx(C2 / 500 * 9)
    assert attack.ridge_displacement(Attack(30.0, 2.0), N, lam) == pytest.approx(3600 / 7500)
    assert attack.outlier_energy(model, N, kappa, Attack(30.0, 2.0)) == pytest.approx((C2 + 900 * 16) / 500)
    e = population.context_energy(model)
    assert attack.ball_displacement_mean(model, 3.0) == pytest.approx(36 * e / 25)
    assert attack.gram_norm(model, N) == pytest.approx(1000 * e)


@each("model", [PromptModel(2, 3, 1.0), PromptModel(4, 1), PromptModel(5, 12)])
def test_the_fourth_moment_against_simulation_and_a_wrong_one(model: PromptModel) -> None:
    values = head.statistics(drawn(50000, 8, model)).norm ** 4
    error = values.std() / math.sqrt(len(values))
    closed = attack.statistic_fourth_moment(model)
    assert abs(values.mean() - closed) < 4.5 * error
    assert abs(values.mean() - 1.1 * closed) > 4.5 * error


def test_a_few_prompts_gram_matrix_is_larger_than_its_mean() -> None:
    Z = head.statistics(drawn(20_000)).Z.reshape(4000, 5, 9)
    squares = np.linalg.norm(Z.swapaxes(1, 2) @ Z, axis=(1, 2)) ** 2
    error = np.std(squares) / math.sqrt(len(squares))
    assert abs(np.mean(squares) - attack.gram_norm_rms(MODEL, 5) ** 2) < 4.5 * error
    assert abs(np.mean(squares) - attack.gram_norm(MODEL, 5) ** 2) > 4.5 * error


@each("R", [0.5, 5.0])
@each("steps", [1, 20])
def test_two_runs_with_noises_of_their_own_stay_within_their_bound(R: float, steps: int) -> None:
    """Two data sets that differ in one prompt, over many pairs of noises; the bound is no more than a factor off."""
    told, N, std = hyper(steps, R), 20, 1.0
    rest = head.moments(head.project(head.statistics(drawn(N - 1), 2.0), 0.6))
    attacks = [NONE, Attack(1e3, 1.0, 1e3)]
    clean, bad = attack.with_each(rest, N - 1, head.project(attack.candidates(drawn(1, 6), attacks, 2.0), 0.6))
    rng = np.random.default_rng(2)
    apart = [
        pretraining.pretrain(clean, told, [std], rng=rng)[0] - pretraining.pretrain(bad, told, [std], rng=rng)[0]
        for _ in range(100)
    ]
    found = population.excess_risk(MODEL, np.stack(apart))
    bound = attack.rerun_displacement_mean(MODEL, told, N, std)
    assert found.mean() - 4.5 * found.std() / math.sqrt(100) < bound < 10 * found.mean()


def test_the_populations_limit_is_infinite_where_the_direction_can_vanish() -> None:
    for D in (2, 3):
        model, mu = PromptModel(D, 50), 1 / math.sqrt(D)
        assert attack.ridge_limit(model, 0.1, mu, 1.0) == math.inf
        assert math.isfinite(attack.ridge_limit(model, 0.1, mu, 0.0))
        assert math.isfinite(attack.ridge_limit(model, 0.1, 1.1 * mu, 1.0))
    assert math.isfinite(attack.ridge_limit(PromptModel(4, 50), 0.1, 0.5, 1.0))


# ---- Ridge with one prompt more ----


def fifty_digits(Z: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """(2.7) word for word in mpmath."""
    N, p = Z.shape
    with mpmath.workdps(50):
        left, right = mpmath.eye(p) * mpmath.mpf(penalty) * N, mpmath.zeros(p, 1)
        for z, response in zip(Z, y):
            column = mpmath.matrix([mpmath.mpf(v) for v in z])
            left += column * column.T
            right += mpmath.mpf(response) * column
        return np.array([float(v) for v in mpmath.lu_solve(left, right)])


ALPHAS = (0.0, 1.0, 1e3, 5e7, 1e9, 1e13)


@pytest.fixture(scope="module")
def clean() -> tuple[head.Statistics, Prompts]:
    return head.statistics(drawn(30, 5)), drawn(1, 6)


@pytest.mark.parametrize("shifted", [False, True])
def test_the_attacked_ridge_is_that_of_fifty_digits(clean: tuple, shifted: bool) -> None:
    data, prompt = clean
    solver = RidgeWithOneMore(head.moments(data), 30, 0.02)
    attacks = [Attack(alpha, 1.0, alpha * shifted) for alpha in ALPHAS]
    last = attack.candidates(prompt, attacks)
    for Z, y, step in zip(last.Z, last.response, solver.step(last.Z, last.response)):
        rows = np.vstack([data.Z.reshape(30, -1), Z.reshape(1, -1)])
        exact = fifty_digits(rows, np.append(data.response, y), 0.02)
        found = (solver.without + step).reshape(-1)
        assert np.linalg.norm(found - exact) < 1e-8 * np.linalg.norm(exact)
        assert np.linalg.norm(found - exact) < 1e-13 * np.linalg.norm(exact)
    left, right = rows.T @ rows + 0.02 * len(rows) * np.eye(rows.shape[1]), rows.T @ np.append(data.response, y)
    textbook = np.linalg.lstsq(left, right, rcond=None)[0]  # the normal equations in double precision
    assert not np.linalg.norm(textbook - exact) < 1e-3 * np.linalg.norm(exact)


def test_a_clean_prompt_more_is_ridge_itself(clean: tuple) -> None:
    data, prompt = clean
    last = attack.candidates(prompt, [NONE])
    solver = RidgeWithOneMore(head.moments(data), 30, 0.02)
    (whole,) = attack.with_each(head.moments(data), 30, last)
    found = (solver.without + solver.step(last.Z, last.response))[0]
    np.testing.assert_allclose(found, ridge(whole, 0.02), rtol=1e-11)
