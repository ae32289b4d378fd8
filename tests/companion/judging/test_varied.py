"""Where a verdict depends on what a paper leaves open, its claim says what was varied; some of it is repeated here."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, quadrature, scaling, system, tuning
from costofprivacy.dpgd.schedule import Harmonic, Polynomial
from costofprivacy.dpgd.spectrum import PowerLaw


def test_the_exponent_of_corollary_6_1_is_short_by_less_than_two_over_alpha_plus_three() -> None:
    rng = np.random.default_rng(0)
    phi, alpha, b = -9 * rng.random(2000) ** 3, rng.choice([0.0, 0.5, 2.0, 50.0], 2000), 1 - 2 * rng.random(2000)
    psi = 1 - phi - 5 * rng.random(2000) ** 4
    short = np.minimum(1, 2 * (1 - b)) - scaling.risk_exponent(phi, psi, alpha, b)
    assert (short > 0).all()
    assert (short < 2 / (alpha + 3)).all()
    assert 1 - scaling.risk_exponent(0.0, 1 - 1e-9, 2.0, 0.5) == pytest.approx(2 / 5)


def test_how_well_figure_3_fits_depends_on_the_start() -> None:
    def above(initial: float, alpha: float) -> float:
        risks = [
            tuning.best_rate(quadrature.of_power_law(PowerLaw(0.8), gamma, 0.3, 0.0, initial, clock=1.2 / gamma),
                             lambda rate: Polynomial(rate, alpha), 0.1, gamma**0.5).risk
            for gamma in (1e-3, 1e-5)
        ]  # fmt: skip
        return math.log10(risks[0] / risks[1]) / 2 - float(scaling.risk_exponent(0.8, 0.0, alpha, 0.5))

    assert max(above(0.05, 10.0), above(0.5, 1.0)) < 0.01 < above(0.5, 10.0) < above(2.0, 10.0)


def test_the_harmonic_schedule_stays_far_ahead_of_another_power() -> None:
    given = system.isotropic(0.5, 1e-4, 0.3)

    def least(alpha: float) -> float:
        return tuning.best_rate(given, lambda rate: Polynomial(rate, alpha), 0.1, 0.1).risk

    harmonic = equivalent.final_risks(given, [Harmonic(5.9, 0.0018)], 0.1, 0.1)[0]
    assert 1.5 * harmonic < least(1.5) < least(2.0) < least(1.0)
