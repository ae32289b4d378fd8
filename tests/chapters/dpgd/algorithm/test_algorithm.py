"""The machinery behind the chapter on Algorithm 1: output laws, noise schedules, limits."""

import math
from typing import Any

import numpy as np
import pytest

from chapters.dpgd.algorithm import measure
from companion.streams import generator
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, learning_rates, noise_multipliers
from costofprivacy.dpgd.update import noiseless_step
from tests import oracles
from tests.each import each


def simulate(etas: np.ndarray, stds: np.ndarray, k: int, sign: float, others: tuple[float, float]) -> np.ndarray:
    rng = np.random.default_rng(4)
    theta = np.zeros((50_000, 1))
    for j, (rate, std) in enumerate(zip(etas, stds), start=1):
        x, y = (1.0, sign * measure.FAR) if j == k else others
        records = np.full_like(theta, x), np.full(len(theta), y)
        theta = noiseless_step(theta, *records, rate, measure.CLIP_NORM) + std * rng.standard_normal(theta.shape)
    return theta[:, 0]


@each("name", measure.OTHERS)
@each("plan", [Constant(4.0), Polynomial(6.0, 0.5), Harmonic(4.0, 0.5)])
def test_output_laws_are_those_of_the_simulated_algorithm(name: str, plan: Any) -> None:
    etas = learning_rates(plan, 4)
    stds = 2 * measure.CLIP_NORM * noise_multipliers(etas, 1.3)
    others = measure.OTHERS[name]
    one, two, cell = measure.output_laws(etas, stds, 2, others)
    grid = measure._grid(etas, stds, others[1])
    for density, sign in ((one, 1.0), (two, -1.0)):
        drawn = simulate(etas, stds, 2, sign, others)
        assert density.sum() * cell == pytest.approx(1, abs=1e-6)
        mean = (density * grid).sum() * cell
        second = (density * grid**2).sum() * cell
        for value, sample in ((mean, drawn), (second, drawn**2)):
            assert abs(value - sample.mean()) < 4.5 * sample.std() / math.sqrt(len(sample))


def test_too_little_noise_shows_in_the_outputs() -> None:
    """With half the noise the divergence is four times what ρ²/2-zCDP allows."""
    etas = learning_rates(Constant(4.0), 4)
    stds = measure.CLIP_NORM * noise_multipliers(etas, 1.0)
    one, two, cell = measure.output_laws(etas, stds, 1, measure.OTHERS["silent"])
    assert measure.divergences(one, two, cell)[0][0] == pytest.approx(4 * measure.ORDERS[0] / 2, rel=1e-6)


def test_every_placement_has_the_privacy_asked_for() -> None:
    etas = learning_rates(Polynomial(3.0, 1.0), 40)
    for sigma in measure.placed(etas, 0.4).values():
        tail = np.sqrt(np.cumsum(sigma[::-1] ** 2)[::-1])
        used = etas > 0
        assert (etas[used] / tail[used]).max() == pytest.approx(0.4)


@pytest.mark.parametrize("cell", measure.DISPUTED, ids=lambda cell: cell.covariance)
def test_risks_by_placement_are_predicted_from_the_same_equations(cell: measure.PlacementCell) -> None:
    """Euler's method on (4.7) with each placement's own noise, step by step."""
    steps, model = 2000, cell.model
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
    assert list(measure.predicted_risks(cell).values()) == pytest.approx(energies @ lam / model.d, rel=5e-3)


@pytest.mark.parametrize("name", measure.SPECTRA)
@pytest.mark.parametrize(("gamma", "rho"), [(1e-9, 1e-5), (1e-6, 1.0)])  # the noise dominates, the data do
def test_the_limit_of_the_harmonic_schedule_is_that_of_the_differential_equation(
    gamma: float, rho: float, name: str
) -> None:
    scale, clip, label_noise = 2.5, 0.6, 0.4
    levels = np.array(measure.SPECTRA[name])
    data, last = measure.small_gamma_limit(levels, scale / levels.min(), clip, label_noise)
    plan = measure.harmonic(scale / levels.min(), 4.0, gamma, rho)
    ode = system.of_spectrum(levels, np.full(levels.shape, 0.5), gamma, label_noise)
    final = system.reference_path(ode, plan, clip, rho, [1.0])[-1] + system.last_step(ode, plan, clip, rho)
    assert final == pytest.approx(data * gamma + last * gamma**2 / rho**2, rel=1e-3)


def test_the_rates_of_the_introduction() -> None:
    assert measure.lower_bound(0.1, 0.5, math.e**2) == pytest.approx(0.1 + 0.04 / 2)
    assert measure.earlier_rate(0.1, 0.5, math.e**2, 3.0) == pytest.approx(0.1 + 0.04 * 8)
    assert measure.optimal_rate(0.1, 0.5) == pytest.approx(0.14)


def test_what_neighbours_reach_depends_on_where_the_noise_stands() -> None:
    """ρ where no noise comes before the step that attains it; elsewhere less, but more than silence gives."""
    rates_of = learning_rates(Constant(3.0), 4)
    least, even, last = (
        measure._row("constant", name, 1.0, rates_of, sigma) for name, sigma in measure.placed(rates_of, 1.0).items()
    )
    for tight in (least, last):
        assert (tight["step"], tight["noise_left"]) == (1, 1.0)
        assert tight["reached_silent"] == tight["reached_found"] == pytest.approx(1)
    assert even["rho_recomputed"] == pytest.approx(1)
    assert (even["step"], even["noise_left"]) == (4, pytest.approx(0.5))
    assert even["reached_silent"] == pytest.approx(0.5)
    assert 0.5 < even["reached_found"] < 0.9
    falling = learning_rates(Polynomial(3.0, 1.0), 4)
    first = measure._row("α = 1", "even", 3.0, falling, measure.placed(falling, 3.0)["even"])
    assert (first["step"], first["reached_found"]) == (1, pytest.approx(1))


def test_the_least_known_risk_over_the_lower_bounds() -> None:
    table = measure.lower_bounds(2.0, 1.0, 0.3)
    data, last = measure.small_gamma_limit(np.ones(1), 2.0, 1.0, 0.3)
    own = table["claim"] == "(1.5)"
    np.testing.assert_allclose(table["bound"][own], (table["gamma"] + table["gamma"] ** 2 / table["rho"] ** 2)[own])
    terms = table["gamma"] ** 2 / table["rho"] ** 2 / np.log(table["n"])
    np.testing.assert_allclose(table["second"][~own], terms[~own], rtol=1e-4)
    descent = data * table["gamma"] + last * table["gamma"] ** 2 / table["rho"] ** 2
    np.testing.assert_allclose(table["risk"], np.minimum(0.5, descent))
    assert ((table["predictor"] == "answering 0") == (descent > 0.5)).all()
    np.testing.assert_allclose(table["ratio"] * table["bound"], table["risk"])
    assert (table["gamma"] * table["n"] > 9).all()  # a dimension


def test_placements_on_the_same_records_are_algorithm_1() -> None:
    cell = measure.PlacementCell(Polynomial(3.0, 1.0), 0.2, 40, 1.0, 1.0, 0.3)
    found = measure.placement_trial(cell, rng=generator(1, 2, 3))
    rng, model, eta = generator(1, 2, 3), cell.model, learning_rates(cell.schedule, cell.n)
    x, y = spectrum.sample(model, cell.n, rng=rng)
    b = rng.standard_normal(x.shape)
    for risk, sigma in zip(found, measure.placed(eta, cell.rho).values()):
        theta = oracles.dpgd(x, y, eta, math.sqrt(model.d), sigma, b)[-1]
        assert risk == pytest.approx(float(model.risk(theta)), rel=1e-9)
