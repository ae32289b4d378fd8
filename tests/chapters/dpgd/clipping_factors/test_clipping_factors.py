"""The machinery behind the chapter on the clipping factors."""

import math

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import ks_2samp

from chapters.dpgd.clipping_factors import measure
from chapters.dpgd.clipping_factors.measure import Experiment
from companion.running.montecarlo import generator
from costofprivacy.dpgd.clipping import variance_reduction_at


@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 0.4, 1.0, 3.0, 50.0, 1e8])
def test_moments_by_quadrature(ratio: float) -> None:
    F, mu, nu = measure.moments_by_quadrature(ratio)
    assert pytest.approx(gammainc(1.5, ratio**2 / 2), rel=1e-13) == F
    assert mu == pytest.approx(math.erf(ratio / math.sqrt(2)), rel=1e-13)
    assert nu == pytest.approx(float(variance_reduction_at(ratio)), rel=1e-13)


def test_slopes_of_the_chapter() -> None:
    """dν/dc' = 2c'(1 − μ), and d(ν/c'²)/dc' = −2F/c'³, by differences."""
    z, h = np.linspace(0.1, 4, 50), 1e-5
    table, up, down = (measure.factors(z + s) for s in (0.0, h, -h))
    F = table["nu"] - z**2 * (1 - table["mu"])
    np.testing.assert_allclose((up["nu"] - down["nu"]) / (2 * h), 2 * z * (1 - table["mu"]), atol=1e-9)
    slope = (up["nu_over_square"] - down["nu_over_square"]) / (2 * h)
    np.testing.assert_allclose(slope, -2 * F / z**3, rtol=1e-6, atol=1e-9)


def test_the_peak_is_one() -> None:
    value = measure.landmarks().set_index("landmark")["value"]
    peak, height = value[measure.PEAK], value[measure.PEAK_HEIGHT]
    around = peak + np.linspace(-0.3, 0.3, 61)
    assert (variance_reduction_at(around) / around <= height + 1e-15).all()


def test_a_trial_is_the_definition_record_by_record() -> None:
    cell = Experiment(records=40).definition_cells[-1]
    x, y = measure.spectrum.sample(cell.model, 40, rng=generator(1, 2, 3))
    mean = -cell.model.spectrum.eigenvalues * cell.model.target
    clipped = [max(-1.0, min(-response, 1.0)) for response in y]
    along = np.mean([r * features @ mean / (mean @ mean) for r, features in zip(clipped, x)])
    second = np.mean(np.square(clipped)) / (2 * 0.5 + 0.3**2)
    whole = np.mean([abs(response) < 1.0 for response in y])
    found = measure.definition_trial(cell, rng=generator(1, 2, 3))
    np.testing.assert_allclose(found, [along, second, whole], rtol=1e-12)


def test_whole_gradients_are_clipped_record_by_record() -> None:
    cell = Experiment(records=40, d=(7,)).dimension_cells[1]
    x, y = measure.spectrum.sample(cell.model, 40, rng=generator(1, 2, 3))
    mean = -cell.model.spectrum.eigenvalues * cell.model.target
    apart, size, along, second = [], [], [], []
    for features, response in zip(x, y):
        gradient, short = -response * features, np.clip(-response, -1, 1) * features
        whole = gradient * min(1, np.sqrt(7) / np.linalg.norm(gradient))
        apart.append(((whole - short) ** 2).sum())
        size.append((short**2).sum())
        along.append((whole - short) @ mean / (mean @ mean) / cell.mu)
        squares = [(v @ features / (features @ features)) ** 2 for v in (whole, short)]
        second.append((squares[0] - squares[1]) / (2 * cell.test_risk * cell.nu))
    expected = [np.sum(apart) / np.sum(size), np.mean(along), np.mean(second)]
    np.testing.assert_allclose(measure.dimension_trial(cell, rng=generator(1, 2, 3)), expected, rtol=1e-9)


def numbers(records: int, seed: int, freedom: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """‖x‖² and y of isotropic records whole, and by what is read of them with so many degrees of freedom more."""
    cell = Experiment(d=(7,)).dimension_cells[0]
    x, y = measure.spectrum.sample(cell.model, records, rng=generator(1, 2, seed))
    square = (x**2).sum(axis=1)
    ours, along, length = measure.lengths(cell.model, records, rng=generator(3, 2, seed))
    length = length + np.random.default_rng(seed).chisquare(freedom, records) if freedom else length
    theirs = x @ measure._along(cell.model)
    return np.stack([np.abs(y), -y * theirs, square, y**2 * square]), np.stack(
        [np.abs(ours), -ours * along, length, ours**2 * length]
    )


def test_isotropic_records_in_a_few_numbers_have_the_law_of_whole_ones() -> None:
    assert min(ks_2samp(*pair).pvalue for pair in zip(*numbers(20_000, 4))) > 1e-3
    assert ks_2samp(*(part[2] for part in numbers(20_000, 4, freedom=1))).pvalue < 1e-9
