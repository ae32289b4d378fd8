"""The machinery behind the chapter on Algorithm 1: output laws, noise schedules, limits, checks of parameters."""

import math
from typing import Any

import numpy as np
import pytest

from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, learning_rates, noise_multipliers
from costofprivacy.dpgd.update import noiseless_step
from costofprivacy.experiments.dpgd.algorithm import models, noise, outputs, rates, steps, tightness
from costofprivacy.experiments.dpgd.algorithm.experiment import Experiment
from costofprivacy.privacy import GaussianDP
from costofprivacy.streams import generator
from tests import oracles
from tests.each import each


def simulate(etas: np.ndarray, stds: np.ndarray, k: int, sign: float, others: tuple[float, float]) -> np.ndarray:
    rng = np.random.default_rng(4)
    theta = np.zeros((200_000, 1))
    for j, (rate, std) in enumerate(zip(etas, stds), start=1):
        x, y = (1.0, sign * outputs.FAR) if j == k else others
        records = np.full_like(theta, x), np.full(len(theta), y)
        theta = noiseless_step(theta, *records, rate, outputs.CLIP_NORM) + std * rng.standard_normal(theta.shape)
    return theta[:, 0]


@each("name", outputs.OTHERS)
@each("plan", [Constant(4.0), Polynomial(6.0, 0.5), Harmonic(4.0, 0.5)])
def test_output_laws_are_those_of_the_simulated_algorithm(name: str, plan: Any) -> None:
    etas = learning_rates(plan, 4)
    stds = 2 * outputs.CLIP_NORM * noise_multipliers(etas, 1.3)
    others = outputs.OTHERS[name]
    one, two, cell = outputs.output_laws(etas, stds, 2, others)
    grid = outputs._grid(etas, stds, others[1])
    for density, sign in ((one, 1.0), (two, -1.0)):
        drawn = simulate(etas, stds, 2, sign, others)
        assert density.sum() * cell == pytest.approx(1, abs=1e-6)
        mean = (density * grid).sum() * cell
        second = (density * grid**2).sum() * cell
        for value, sample in ((mean, drawn), (second, drawn**2)):
            assert abs(value - sample.mean()) < 4.5 * sample.std() / math.sqrt(len(sample))


def test_divergences_of_two_gaussians() -> None:
    grid = np.linspace(-12, 12, 4001)
    density = [np.exp(-((grid - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (0.8, 0.0)]
    renyi, sticks = outputs.divergences(*density, grid[1] - grid[0])
    np.testing.assert_allclose(renyi, [a * 0.8**2 / 2 for a in outputs.ORDERS], rtol=1e-9)
    np.testing.assert_allclose(sticks, GaussianDP(0.8).delta(np.array(outputs.EPSILONS)), rtol=1e-4)


def test_too_little_noise_shows_in_the_outputs() -> None:
    """With half the noise the divergence is four times what ρ²/2-zCDP allows."""
    etas = learning_rates(Constant(4.0), 4)
    stds = outputs.CLIP_NORM * noise_multipliers(etas, 1.0)
    one, two, cell = outputs.output_laws(etas, stds, 1, outputs.OTHERS["silent"])
    assert outputs.divergences(one, two, cell)[0][0] == pytest.approx(4 * outputs.ORDERS[0] / 2, rel=1e-6)


def test_noise_too_fine_for_the_grid_is_left_out() -> None:
    assert outputs.resolved(Polynomial(9.0, 0.5), 6, 1.0)
    assert not outputs.resolved(Polynomial(9.0, 9.0), 6, 1.0)


def test_every_placement_has_the_privacy_asked_for() -> None:
    etas = learning_rates(Polynomial(3.0, 1.0), 40)
    for sigma in noise.placed(etas, 0.4).values():
        tail = np.sqrt(np.cumsum(sigma[::-1] ** 2)[::-1])
        used = etas > 0
        assert (etas[used] / tail[used]).max() == pytest.approx(0.4)


def test_cumulative_noise_ends_at_one_and_jumps_where_the_rate_does_not_vanish() -> None:
    constant = noise.cumulative_rows("c", Constant(1.0), 500, 1.0)
    assert constant["share"].iloc[-1] == 1.0
    assert (constant["share"].iloc[:-1] == 0).all()
    even = noise.cumulative_rows("e", Polynomial(1.0, 0.5), 500, 1.0)
    np.testing.assert_allclose(even["share"], np.minimum(even["t"] * 500 / 499, 1), atol=1e-9)


def test_every_perturbation_of_the_isotropic_risk_decays() -> None:
    """∂g/∂R ≥ η̄ c'μ' ≥ 0: what makes (4.2) the least in risk; by differences of g, up to η̄γ = 2."""
    clip, label_noise = 0.7, 0.3
    for product in (0.1, 1.0, 2.0):
        risk = np.logspace(-6, 3, 400)

        def g(R: np.ndarray, product: float = product) -> np.ndarray:
            P = R + label_noise**2 / 2
            ratio = clip / np.sqrt(2 * P)
            return 2 * descent_reduction_at(ratio) * R - product * variance_reduction_at(ratio) * P

        width = 1e-4 * risk
        slope = (g(risk + width) - g(risk - width)) / (2 * width)
        ratio = clip / np.sqrt(2 * risk + label_noise**2)
        floor = ratio * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2)
        assert (slope >= floor - 1e-6).all()


def test_a_few_strong_directions_hold_the_signal_and_the_trace_is_d() -> None:
    model = models.few_strong(500, 0.02)
    assert model.spectrum.eigenvalues.sum() == pytest.approx(500)
    assert sorted(model.spectrum.eigenvalues)[-3:] == pytest.approx([(500 - 26) / 498, 13, 13])
    assert model.initial_risk == pytest.approx(0.5)
    assert np.count_nonzero(model.target) == 2


@pytest.mark.parametrize("cell", noise.DISPUTED, ids=lambda cell: cell.covariance)
def test_risks_by_placement_are_predicted_from_the_same_equations(cell: noise.PlacementCell) -> None:
    """Euler's method on (4.7) with each placement's own noise, step by step."""
    steps, model = 5000, cell.model
    lam, energies = model.spectrum.eigenvalues, np.tile(model.initial_energies, (3, 1))
    gamma, t = model.d / cell.n, np.arange(steps) / steps
    rates = np.append(cell.schedule(t), 0.0)
    tails = np.stack([rates**2, rates[0] ** 2 * np.append(1 - t, 0.0), np.append(np.full(steps, rates[0] ** 2), 0.0)])
    added = -2 * (cell.clip * gamma / cell.rho) ** 2 * np.diff(tails, axis=1)
    for k in range(steps):
        P = energies @ lam / model.d + cell.label_noise**2 / 2
        ratio, rate = cell.clip / np.sqrt(2 * P), min(rates[k], 2 / gamma) / steps
        pull = 2 * rate * descent_reduction_at(ratio)[:, None] * lam * energies
        push = rate**2 * steps * gamma * (variance_reduction_at(ratio) * P)[:, None] * lam
        energies = energies - pull + push + added[:, k, None]
    assert list(noise.predicted_risks(cell).values()) == pytest.approx(energies @ lam / model.d, rel=2e-3)


@pytest.mark.parametrize("name", models.SPECTRA)
@pytest.mark.parametrize(("gamma", "rho"), [(1e-9, 1e-5), (1e-6, 1.0)])  # the noise dominates, the data do
def test_the_limit_of_the_harmonic_schedule_is_that_of_the_differential_equation(
    gamma: float, rho: float, name: str
) -> None:
    scale, clip, label_noise = 2.5, 0.6, 0.4
    levels = np.array(models.SPECTRA[name])
    data, last = rates.small_gamma_limit(levels, scale / levels.min(), clip, label_noise)
    plan = rates.harmonic(scale / levels.min(), 4.0, gamma, rho)
    ode = system.of_spectrum(levels, np.full(levels.shape, 0.5), gamma, label_noise)
    final = system.reference_path(ode, plan, clip, rho, [1.0])[-1] + system.last_step(ode, plan, clip, rho)
    assert final == pytest.approx(data * gamma + last * gamma**2 / rho**2, rel=1e-3)


def test_a_schedule_that_falls_too_fast_has_no_limit() -> None:
    assert rates.small_gamma_limit(np.ones(1), 0.9, 1.0, 0.3) == (math.inf, math.inf)
    assert rates.small_gamma_limit(np.array([0.5, 1.5]), 1.9, 1.0, 0.3) == (math.inf, math.inf)


@pytest.mark.parametrize("d", [2, 7, 100])
def test_the_covariances_of_the_rates_have_trace_d_and_beta_scales_with_the_least_eigenvalue(d: int) -> None:
    place = {"axis": "gamma", "gamma": 0.1, "n": 10 * d, "rhos": (1.0,)}
    one, two = (Experiment().shared(rates.RateCell, covariance=name, **place) for name in models.SPECTRA)
    assert one.scale == Experiment().harmonic_scale
    assert (one.model.spectrum.eigenvalues == 1).all()
    assert two.model.spectrum.eigenvalues.sum() == pytest.approx(d)
    assert two.scale * two.model.spectrum.smallest == pytest.approx(one.scale)
    assert two.model.initial_risk == pytest.approx(0.5)
    assert one.key != two.key


def test_each_rate_runs_on_its_own_stream() -> None:
    cells = Experiment().rate_cells
    assert len({cell.key for cell in cells}) == len(cells) == 2 * (5 + 6)
    assert {(cell.axis, cell.rhos) for cell in cells} == {("n", (0.3,)), ("gamma", (0.1, 0.3, 1.0))}


def test_the_loss_is_the_one_of_a7() -> None:
    """Quadratic inside, linear outside, shrunk where 2/‖x‖² is the smaller rate."""
    x, theta = np.array([2.0, 0.0]), np.zeros(2)
    inside = steps.loss(theta, x, np.array(0.1), np.array(0.25), 1.0)
    assert inside == pytest.approx(0.1**2 / 2)
    outside = steps.loss(theta, x, np.array(3.0), np.array(0.25), 1.0)
    assert outside == pytest.approx(0.5 * 3.0 - 0.5**2 / 2)
    assert steps.loss(theta, x, np.array(0.1), np.array(1.0), 1.0) == pytest.approx(0.5 * inside)


def test_the_rates_of_the_introduction() -> None:
    assert rates.lower_bound(0.1, 0.5, math.e**2) == pytest.approx(0.1 + 0.04 / 2)
    assert rates.earlier_rate(0.1, 0.5, math.e**2, 3.0) == pytest.approx(0.1 + 0.04 * 8)
    assert rates.optimal_rate(0.1, 0.5) == pytest.approx(0.14)


def test_what_neighbours_reach_depends_on_where_the_noise_stands() -> None:
    """ρ where no noise comes before the step that attains it; elsewhere less, but more than silence gives."""
    rates_of = learning_rates(Constant(3.0), 4)
    least, even, last = (
        tightness._row("constant", name, 1.0, rates_of, sigma) for name, sigma in noise.placed(rates_of, 1.0).items()
    )
    for tight in (least, last):
        assert (tight["step"], tight["noise_left"]) == (1, 1.0)
        assert tight["reached_silent"] == tight["reached_found"] == pytest.approx(1)
    assert even["rho_recomputed"] == pytest.approx(1)
    assert (even["step"], even["noise_left"]) == (4, pytest.approx(0.5))
    assert even["reached_silent"] == pytest.approx(0.5)
    assert 0.5 < even["reached_found"] < 0.9
    falling = learning_rates(Polynomial(3.0, 1.0), 4)
    first = tightness._row("α = 1", "even", 3.0, falling, noise.placed(falling, 3.0)["even"])
    assert (first["step"], first["reached_found"]) == (1, pytest.approx(1))


def test_the_least_known_risk_over_the_lower_bounds() -> None:
    table = rates.lower_bounds(2.0, 1.0, 0.3)
    data, last = rates.small_gamma_limit(np.ones(1), 2.0, 1.0, 0.3)
    own = table["claim"] == "(1.5)"
    np.testing.assert_allclose(table["bound"][own], (table["gamma"] + table["gamma"] ** 2 / table["rho"] ** 2)[own])
    terms = table["gamma"] ** 2 / table["rho"] ** 2 / np.log(table["n"])
    np.testing.assert_allclose(table["second"][~own], terms[~own], rtol=1e-4)
    descent = data * table["gamma"] + last * table["gamma"] ** 2 / table["rho"] ** 2
    np.testing.assert_allclose(table["risk"], np.minimum(0.5, descent))
    assert ((table["predictor"] == "answering 0") == (descent > 0.5)).all()
    np.testing.assert_allclose(table["ratio"] * table["bound"], table["risk"])
    assert (table["gamma"] * table["n"] > 9).all()  # a dimension


def test_a_schedule_without_a_limit_leaves_the_trivial_predictor() -> None:
    assert (rates.lower_bounds(0.9, 1.0, 0.3)["predictor"] == "answering 0").all()


@pytest.mark.parametrize("others", ["silent", "far"])
def test_a_translation_spreads_a_density_as_the_whole_kernel_does(others: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = np.linspace(-3, 5, 301)
    density = np.stack([np.exp(-(grid**2)), np.exp(-((grid - 1) ** 2))], axis=1)
    told = (grid, density, outputs.OTHERS[others], 0.7, 0.4)
    convolved = outputs._spread(*told)
    monkeypatch.setattr(outputs, "TRANSLATED", -1.0)
    np.testing.assert_allclose(convolved, outputs._spread(*told), rtol=1e-10, atol=1e-14)


def test_placements_on_the_same_records_are_algorithm_1() -> None:
    cell = noise.PlacementCell(Polynomial(3.0, 1.0), 0.2, 40, 1.0, 1.0, 0.3)
    found = noise.placement_trial(cell, rng=generator(1, 2, 3))
    rng, model, eta = generator(1, 2, 3), cell.model, learning_rates(cell.schedule, cell.n)
    x, y = spectrum.sample(model, cell.n, rng=rng)
    b = rng.standard_normal(x.shape)
    for risk, sigma in zip(found, noise.placed(eta, cell.rho).values()):
        theta = oracles.dpgd(x, y, eta, math.sqrt(model.d), sigma, b)[-1]
        assert risk == pytest.approx(float(model.risk(theta)), rel=1e-9)
