"""The machinery behind the chapter on the clipping factors."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammainc

from costofprivacy.dpgd.clipping import variance_reduction_at
from costofprivacy.experiments.dpgd.clipping_factors import DefinitionCell, DimensionCell, Experiment, experiment


@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 0.4, 1.0, 3.0, 50.0, 1e8])
def test_moments_by_quadrature(ratio: float) -> None:
    F, mu, nu = experiment.moments_by_quadrature(ratio)
    assert pytest.approx(gammainc(1.5, ratio**2 / 2), rel=1e-13) == F
    assert mu == pytest.approx(math.erf(ratio / math.sqrt(2)), rel=1e-13)
    assert nu == pytest.approx(float(variance_reduction_at(ratio)), rel=1e-13)


def test_slopes_of_the_chapter() -> None:
    """dν/dc' = 2c'(1 − μ), and d(ν/c'²)/dc' = −2F/c'³, by differences."""
    z, h = np.linspace(0.1, 4, 50), 1e-5
    table, up, down = (experiment.factors(z + s) for s in (0.0, h, -h))
    F = table["nu"] - z**2 * (1 - table["mu"])
    np.testing.assert_allclose((up["nu"] - down["nu"]) / (2 * h), 2 * z * (1 - table["mu"]), atol=1e-9)
    slope = (up["nu_over_square"] - down["nu_over_square"]) / (2 * h)
    np.testing.assert_allclose(slope, -2 * F / z**3, rtol=1e-6, atol=1e-9)


def test_the_peak_is_one() -> None:
    value = experiment.landmarks().set_index("landmark")["value"]
    peak, height = value[experiment.PEAK], value[experiment.PEAK_HEIGHT]
    around = peak + np.linspace(-0.3, 0.3, 61)
    assert (variance_reduction_at(around) / around <= height + 1e-15).all()


def test_all_parameters_of_the_definition_have_one_risk() -> None:
    study = Experiment(excess_risk=0.7)
    for place in DefinitionCell.places():
        assert DefinitionCell(study, *place).model.initial_risk == pytest.approx(0.7)
    assert DimensionCell(study, "uniform", 30).model.initial_risk == pytest.approx(0.7)


def test_random_streams_are_distinct() -> None:
    study = Experiment()
    cells = [DefinitionCell(study, *place) for place in DefinitionCell.places()]
    sized = [DimensionCell(study, name, d) for name in experiment.SPECTRA for d in study.d]
    keys = [cell.key for cell in [*cells, *sized]]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": 0.0}, "clip must be positive and finite"),
        ({"label_noise": -1.0}, "label_noise must be positive and finite"),
        ({"d": [1]}, "each of d must be a whole number of at least 2"),
        ({"clips": [0.0]}, "each of clips must be positive"),
        ({"points": 2}, "points must be a whole number of at least 3"),
        ({"trials": 1}, "trials must be a whole number of at least 2"),
    ],
)
def test_bad_parameters_stop_before_anything_runs(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message}"):
        Experiment(**change)
