"""What the verdicts on Section 4 and Appendix C rest on: against the literal algorithm, quadrature and (4.7) itself."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from costofprivacy.dpgd import diffusion, system
from costofprivacy.dpgd.descent import steps_at
from costofprivacy.dpgd.schedule import Constant, learning_rates, noise_multipliers
from costofprivacy.dpgd.spectrum import sample
from costofprivacy.experiments.dpgd.deterministic_equivalent import enclosure, homogenised, one_step, sums, theory
from costofprivacy.experiments.dpgd.deterministic_equivalent._setting import Setting, polynomial
from costofprivacy.montecarlo import Runner
from tests import oracles

CELL = homogenised.Cell(60, Setting(gamma=0.1, c=0.5))


@pytest.fixture
def literal(monkeypatch):
    """The paths of one run by `homogenised.descend`, and of the literal algorithm on the same draws."""
    monkeypatch.setattr(homogenised, "PATHS", 1)
    model, n = CELL.model, CELL.n
    found = homogenised.descend(CELL, np.random.default_rng(4))
    rng, draws = np.random.default_rng(4), []
    for _ in range(steps_at(homogenised.TIMES, n)[-1] + 1):
        draws.append((*sample(model, 1, rng=rng), rng.standard_normal((1, model.d))))
    x, y, b = (np.concatenate(part) for part in zip(*draws))
    eta = learning_rates(CELL.schedule, n)
    sigma = noise_multipliers(eta, CELL.setting.rho)
    clip_norm = CELL.setting.c * math.sqrt(model.d)
    path = np.array(oracles.dpgd(x, y, eta, clip_norm, sigma, b)) - model.target
    return found, path, 2 * clip_norm * sigma, b


def test_the_descent_is_algorithm_1(literal):
    (errors, _), path, _, _ = literal
    np.testing.assert_allclose(errors[:, 0], path[steps_at(homogenised.TIMES, CELL.n)], rtol=1e-10, atol=1e-12)


def test_the_martingale_is_what_the_private_noise_adds_to_q_less_its_mean(literal):
    """From the path alone: q(v + δ) − q(v + δ without noise) − ½s² tr h in each step."""
    (_, largest), path, noise, b = literal
    hessian = CELL.model.spectrum.eigenvalues / CELL.model.spectrum.largest
    after, before = path[1:], path[1:] - noise[: len(b), None] * b
    added = (after**2 - before**2) @ hessian / 2 - noise[: len(b)] ** 2 * hessian.sum() / 2
    assert largest[0] == pytest.approx(np.abs(np.cumsum(added)).max(), rel=1e-9)


def test_the_drift_of_a_half_of_the_d_equations_is_their_mean_in_47():
    cell = one_step.Cell(40, Setting())
    equations = system.of_model(cell.model, cell.n)
    energies = one_step.LEFT**2 * cell.model.initial_energies
    schedule = polynomial(cell.setting.initial_rate, one_step.ALPHA)
    expected = system.derivative(equations, schedule, cell.setting.c, cell.setting.rho, one_step.TIME, energies)
    for name, half in (("D, lower half", slice(0, 20)), ("D, upper half", slice(20, 40))):
        found = sum(one_step.drift(cell, cell.hessians[name]))
        assert found == pytest.approx(expected[half].mean(), rel=1e-12)


def test_the_mean_of_a_step_tends_to_the_drift_with_d():
    small, large = (
        one_step.rows(cell, samples)
        for cell, samples in Runner(workers=1)
        .run(one_step.trial, [one_step.Cell(d, Setting()) for d in (5, 200)], 60, 3)
        .items()
    )
    gaps = [(t["value"] / t["derived"] - 1).abs().where(t["term"] == "descent").max() for t in (small, large)]
    assert gaps[0] > 0.05 > gaps[1]


@pytest.mark.parametrize(("d", "share"), [(5, 0.5), (20, 1.0), (50, 2.0)])
def test_the_means_of_the_capped_rate_and_of_its_square_are_their_integrals(d, share):
    setting, rate = Setting(gamma=0.1), share * 2 / d
    mean, square = (
        quad(lambda x, m=m: min(rate, 2 / x) ** m * chi2.pdf(x, d), 0, 20 * d, points=[2 / rate], limit=200)[0]
        for m in (1, 2)
    )
    table = sums.table(setting, (10 * d,)).set_index("quantity")["value"]
    name = {0.5: "below", 1.0: "at", 2.0: "above"}[share]
    assert table[f"(C.32), {name} the cap"] == pytest.approx(10 * d * abs(mean - min(rate, 2 / d)), abs=1e-7)
    change = 5 * d**2 * abs(square - min(rate, 2 / d) ** 2)
    assert table[f"(C.32), {name} the cap, squares"] == pytest.approx(change, abs=1e-6)


def test_the_enclosure_is_tried_with_private_noise_and_without(monkeypatch):
    monkeypatch.setattr(enclosure, "CLIPS", (1.0,))
    risks = [enclosure.table(Setting(rho=rho)).groupby("schedule")["risk"].sum() for rho in (1.0, math.inf)]
    ratio = risks[0] / risks[1]
    assert ratio.pop("constant") == 1
    assert len(ratio) == len(enclosure.SCHEDULES) - 1
    assert ratio.min() > 1.1


def test_the_discretisation_error_is_inside_the_derived_bound_alone():
    table = sums.table(Setting(), (50, 500))
    rows = table[table["quantity"].str.startswith("(C.16)")]
    assert (rows["value"] <= rows["derived"]).all()
    assert (rows["value"] > rows["printed"]).sum() == 2  # γc² = 10, at both n


def test_contour_integrals_need_their_own_factors():
    table = enclosure.identities(Setting(), 1).set_index("identity")["relative_difference"]
    assert table["(4.20), R with i/2π"] < 1e-12 < 0.4 < table["(C.45), R with i/4π"]
    assert table["(4.17), drift with 2 z q"] < 1e-12 < 0.1 < table["(4.17), drift with z q"]


def test_the_remainder_of_itos_formula_has_mean_zero_for_the_derived_drift_alone(monkeypatch):
    """Its supremum is that of a martingale; with the printed drift the remainder drifts away and is far larger."""
    monkeypatch.setattr(homogenised, "PATHS", 40)
    cell = homogenised.Cell(2000, Setting())
    sizes = []
    for drift in (diffusion.DERIVED, diffusion.PRINTED):
        errors = homogenised._diffuse(cell, drift, np.random.default_rng(2))
        sizes.append(homogenised._ito_remainder(cell, errors).mean())
    assert sizes[1] > 4 * sizes[0]


def test_without_privacy_the_equations_are_judged_at_rho_1():
    few = {"sizes": (40,), "step_d": (4,), "trials": 2, "runner": Runner(workers=1), "seed": 1}
    without, with_one = (theory.tables(Setting(rho=rho), **few) for rho in (math.inf, 1.0))
    assert all(without[name].equals(with_one[name]) for name in with_one)


def test_a_constant_schedule_has_all_its_noise_in_the_last_step():
    noise = noise_multipliers(learning_rates(Constant(3.0), 100), 1.0)
    assert (noise[:-1] == 0).all()
    assert noise[-1] == pytest.approx(0.03)
