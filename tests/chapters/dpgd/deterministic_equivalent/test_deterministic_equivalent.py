import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, ks_2samp

from chapters.dpgd.deterministic_equivalent import displays, measure
from chapters.dpgd.deterministic_equivalent.displays import system_of
from chapters.dpgd.deterministic_equivalent.measure import Experiment
from companion.running.montecarlo import Runner, generator
from costofprivacy.dpgd import descent, equivalent, spectrum, system
from costofprivacy.dpgd.descent import descend, steps_at
from costofprivacy.dpgd.schedule import learning_rates, noise_multipliers
from costofprivacy.dpgd.spectrum import EllipticalT, sample
from costofprivacy.dpgd.update import adapted_rates, clipped_gradients
from tests import oracles

REGIME = Experiment().regime


def test_figure_1_reads_the_released_iterate_at_time_one():
    cell = measure.Figure1Cell(REGIME, 10, "uniform")
    samples = np.stack([measure.figure_1_trial(cell, rng=generator(1, cell.key, t)) for t in range(3)])
    table = measure.figure_1_rows(cell, samples)
    assert table.columns[:9].tolist() == [
        *("spectrum", "alpha", "d", "t", "risk_mean", "risk_sd", "ode_risk", "trials", "standard_error")
    ]
    run = descent.descend(cell.model, cell.configurations, cell.n, [1.0], rng=generator(1, cell.key, 0))
    np.testing.assert_allclose(samples[0, :, -1], run.released_risk, rtol=1e-9)
    equations = system.of_model(cell.model, cell.n)
    for alpha, way in zip((0.0, 0.5), cell.configurations):
        last = table[(table["alpha"] == alpha) & (table["t"] == 1)].iloc[0]
        assert last["ode_risk"] == pytest.approx(equivalent.final_risk(equations, way.schedule, 1.0, 1.0), rel=1e-9)


def test_the_smoothed_cap_is_the_mean_cap():
    for name in measure.SPECTRA:
        cell = measure.Cell(REGIME, 4000, name)
        values = measure.SPECTRA[name](cell.d)
        x, _ = spectrum.sample(REGIME.model(values), 5000, rng=np.random.default_rng(0))
        capped = np.minimum(2 * cell.n / cell.d, 2 * cell.n / (x**2).sum(axis=1))
        assert measure.smoothed_cap(cell).initial == pytest.approx(capped.mean(), rel=4 / cell.d)
        assert abs(2 * cell.n / cell.d - capped.mean()) > 0.02 * capped.mean()


def test_the_reference_solves_definition_4_2_at_every_step():
    cell = measure.Cell(REGIME, 160, "four levels")
    target, equations = measure.reference(cell), system_of(cell.spaces, cell.n)
    for i, plan in enumerate(cell.schedules.values()):
        direct = equivalent.risk_path(equations, plan, 1.0, 1.0, np.arange(160) / 160, 1e-9)
        np.testing.assert_allclose(target.path[i], direct, atol=3e-6)
        np.testing.assert_allclose(target.mean_path[i], direct[::2], atol=3e-6)


@pytest.mark.slow
def test_rates_are_those_of_the_literal_algorithm():
    """The chain's summary against descents of the same law, both against the same R(t)."""
    cell, runs = measure.Cell(REGIME, 160, "isotropic"), 300
    ours = measure.rows(cell, measure.trial(cell, rng=generator(0, cell.key, 0))[None])
    ways = [REGIME.configuration(plan) for plan in cell.schedules.values()]
    model, target = REGIME.model(spectrum.isotropic(cell.d)), measure.reference(cell)
    times = np.arange(cell.n + 1) / cell.n
    risk = np.stack([descent.descend(model, ways, cell.n, times, rng=generator(1, 0, t)).risk for t in range(runs)])
    theirs = {
        "path": abs(risk[..., :-1] - target.path).max(axis=2),
        "released": abs(risk[..., -1] - target.level),
        "released bias": risk[..., -1] - target.level,
    }
    for quantity, samples in theirs.items():
        rows = ours[ours["quantity"] == quantity]
        error = np.hypot(samples.std(axis=0, ddof=1) / np.sqrt(runs), rows["standard_error"])
        assert (abs(samples.mean(axis=0) - rows["value"]) < 4 * error).all()


def test_with_few_steps_several_times_have_the_same_one():
    cell, count = measure.Cell(REGIME, 40, "isotropic"), len(measure.TIMES)
    found = measure.trial(cell, rng=generator(0, cell.key, 0))
    for first in (found[:, :count], found[:, count + 3 :][:, :count]):
        np.testing.assert_array_equal(first[:, ::2], first[:, 1::2])
        assert (first[:, 2:] != 0).all()


def test_features_of_one_scale_need_no_average():
    cell = measure.LawCell(REGIME, 50, "Gaussian")
    way, times = cell.configuration, np.linspace(0, 1, 6)
    equations = system.of_model(cell.model(cell.targets[0]), cell.n)
    plain = equivalent.risk_path(equations, way.schedule, way.clip, way.rho, times)
    np.testing.assert_allclose(measure.averaged_path(cell, EllipticalT(1e8), times), plain, rtol=1e-4)
    assert measure.averaged_path(cell, EllipticalT(5.0), times)[-1] > 1.1 * plain[-1]


@pytest.mark.parametrize("law", ["Rademacher", "Student t, 2.5"])
def test_runs_of_both_targets_are_those_of_each_on_the_same_data(law):
    cell = measure.LawCell(REGIME, 20, law)
    together = measure.law_trial(cell, rng=generator(1, 2, 3))
    for target, risk in zip(cell.targets, together):
        alone = descend(
            cell.model(target), [cell.configuration], cell.n, measure.REACH_TIMES, rng=generator(1, 2, 3)
        ).risk[0]
        np.testing.assert_allclose(risk, alone, rtol=1e-9)


SMALL = Experiment(
    gamma=0.5,
    d=(4, 8),
    trials=2,
    n=(80, 160),
    chain_steps=1,
    law_d=(4,),
    law_trials=2,
    axis_d=(1, 2),
    theory_n=(40, 80),
    step_d=(4,),
    theory_trials=2,
)


def test_a_cell_gives_the_same_numbers_in_whichever_company():
    alone, among = (
        measure.gathered(measure.figure_1_rows, Runner(1).run(measure.figure_1_trial, cells, 2, 0))
        for cells in ([measure.Figure1Cell(SMALL.regime, d, "uniform") for d in sizes] for sizes in ((8,), (4, 8)))
    )
    pd.testing.assert_frame_equal(alone, among[among["d"] == 8].reset_index(drop=True), check_exact=True)


# Section 4 and Appendix C

CELL = measure.HomogenisedCell(replace(REGIME, clip=0.5), 60)


@pytest.fixture
def literal(monkeypatch):
    """The paths of one run by `homogenised.descend`, and of the literal algorithm on the same draws."""
    monkeypatch.setattr(measure, "PATHS", 1)
    model, n = CELL.model, CELL.n
    found = measure.homogenised_descend(CELL, np.random.default_rng(4))
    rng, draws = np.random.default_rng(4), []
    for _ in range(steps_at(measure.HOMOGENISED_TIMES, n)[-1] + 1):
        draws.append((*sample(model, 1, rng=rng), rng.standard_normal((1, model.d))))
    x, y, b = (np.concatenate(part) for part in zip(*draws))
    eta = learning_rates(CELL.schedule, n)
    sigma = noise_multipliers(eta, CELL.regime.rho)
    clip_norm = CELL.regime.clip * math.sqrt(model.d)
    path = np.array(oracles.dpgd(x, y, eta, clip_norm, sigma, b)) - model.target
    return found, path, 2 * clip_norm * sigma, b


def test_the_descent_is_algorithm_1(literal):
    (errors, _), path, _, _ = literal
    np.testing.assert_allclose(errors[:, 0], path[steps_at(measure.HOMOGENISED_TIMES, CELL.n)], rtol=1e-10, atol=1e-12)


def test_the_martingale_is_what_the_private_noise_adds_to_q_less_its_mean(literal):
    """From the path alone: q(v + δ) − q(v + δ without noise) − ½s² tr h in each step."""
    (_, largest), path, noise, b = literal
    hessian = CELL.model.spectrum.eigenvalues / CELL.model.spectrum.largest
    after, before = path[1:], path[1:] - noise[: len(b), None] * b
    added = (after**2 - before**2) @ hessian / 2 - noise[: len(b)] ** 2 * hessian.sum() / 2
    assert largest[0] == pytest.approx(np.abs(np.cumsum(added)).max(), rel=1e-9)


def test_the_mean_of_a_step_tends_to_the_drift_with_d():
    small, large = (
        displays.one_step_rows(cell, samples)
        for cell, samples in Runner(workers=1)
        .run(displays.one_step_trial, [displays.OneStepCell(REGIME, d) for d in (5, 200)], 60, 3)
        .items()
    )
    gaps = [(t["value"] / t["derived"] - 1).abs().where(t["term"] == "descent").max() for t in (small, large)]
    assert gaps[0] > 0.05 > gaps[1]


@pytest.mark.parametrize(("d", "share"), [(5, 0.5), (20, 1.0), (50, 2.0)])
def test_the_means_of_the_capped_rate_and_of_its_square_are_their_integrals(d, share):
    rate = share * 2 / d
    mean, square = (
        quad(lambda x, m=m: min(rate, 2 / x) ** m * chi2.pdf(x, d), 0, 20 * d, points=[2 / rate], limit=200)[0]
        for m in (1, 2)
    )
    table = displays.sums_table(REGIME, (10 * d,)).set_index("quantity")["value"]
    name = {0.5: "below", 1.0: "at", 2.0: "above"}[share]
    assert table[f"(C.32), {name} the cap"] == pytest.approx(10 * d * abs(mean - min(rate, 2 / d)), abs=1e-7)
    change = 5 * d**2 * abs(square - min(rate, 2 / d) ** 2)
    assert table[f"(C.32), {name} the cap, squares"] == pytest.approx(change, abs=1e-6)


def test_the_discretisation_error_is_inside_the_derived_bound_alone():
    table = displays.sums_table(REGIME, (50, 500))
    rows = table[table["quantity"].str.startswith("(C.16)")]
    assert (rows["value"] <= rows["derived"]).all()
    assert (rows["value"] > rows["printed"]).sum() == 2  # γc² = 10, at both n


@pytest.fixture(scope="module")
def shown():
    """Every display over what it should say, at two states."""
    tables = (displays.table(replace(REGIME, gamma=gamma), seed) for gamma, seed in ((0.1, 1), (1.0, 2)))
    table = pd.concat(tables)
    return table.assign(ratio=table["value"] / table["derived"])


def test_mended_displays_say_what_they_should(shown):
    mended = shown[(shown["reading"] == "corrected") | (shown["display"] == "(4.20), (C.43)")]
    assert set(mended["display"]) == set(shown["display"])
    np.testing.assert_allclose(mended["ratio"], 1, atol=3e-7)


@pytest.mark.parametrize(
    ("display", "term", "ratio"),
    [
        ("(C.9), (C.27)", "descent", 0.5),
        ("(C.9), (C.27)", "sampling", 1.0),
        ("(C.9), (C.27)", "private noise", 1.0),
        ("(C.29), (C.30)", "descent", 0.25),
        ("(C.29), (C.30)", "gradient", 0.5),
        ("(C.8)", "product of gradient and noise", -0.5),
    ],
)
def test_printed_displays_lack_their_factors(shown, display, term, ratio):
    rows = shown[(shown["display"] == display) & (shown["term"] == term) & (shown["reading"] == "printed")]
    np.testing.assert_allclose(rows["ratio"], [ratio, ratio], atol=3e-7)


def test_the_last_step_is_that_of_algorithm_1():
    """On the same records and noise, from every scale."""
    cell = displays.Cell(REGIME, 20)
    found = displays.trial(cell, rng=np.random.default_rng(5))
    rng, model = np.random.default_rng(5), cell.model
    (x, y), b = sample(model, displays.RECORDS, rng=rng), rng.standard_normal((displays.RECORDS, 20))
    eta, clip_norm, shift = np.array([3.0 / cell.n]), math.sqrt(20), 2 * 3.0**2 * 0.1**2
    for scale, remainder in zip(displays.SCALES, found):
        start = (1 + math.sqrt(scale)) * model.target
        after = [
            oracles.dpgd(x[[i]], y[[i]] - x[[i]] @ start, eta, clip_norm, eta, b[[i]])[1] + start for i in range(len(x))
        ]
        literal = np.abs(model.risk(np.array(after)) - scale / 2 - shift)
        np.testing.assert_allclose(remainder, literal, rtol=1e-8, atol=1e-9)


def test_the_rows_of_the_last_step_are_quantiles_and_their_scales():
    cell = displays.Cell(REGIME, 100)
    samples = np.arange(10000.0).reshape(100, 1, 100).repeat(len(displays.SCALES), axis=1) / 10000
    row = displays.rows(cell, samples).set_index("squared_norm").loc[100.0]
    assert row["risk"] == pytest.approx(50)
    assert row["scale"] == pytest.approx((1 + math.sqrt(50)) / 10)
    assert row["bound"] == pytest.approx(math.log(100) / 10)
    assert (row["upper"], row["middle"]) == pytest.approx((0.99, 1 - 1 / math.e), abs=1e-4)
    assert row["upper_error"] == pytest.approx(math.sqrt(0.99 * 0.01 / 10000), rel=1e-3)


def test_the_terms_of_one_step_are_those_of_algorithm_1(monkeypatch):
    """On the same records; the private noise in law, and with a third of the records it has another one."""
    monkeypatch.setattr(displays, "ONE_STEP_RECORDS", 60)
    cell = displays.OneStepCell(REGIME, 8)
    rng, model, theta = np.random.default_rng(6), cell.model, (1 - displays.LEFT) * cell.model.target
    x, y = sample(model, 60, rng=rng)
    gradients = clipped_gradients(theta, x, y, math.sqrt(8))
    steps = adapted_rates(cell.rate / cell.n, x)[:, None] * gradients
    found = displays.one_step_trial(cell, rng=np.random.default_rng(6))
    for terms, hessian in zip(found, cell.hessians.values()):
        descent = -(steps @ (hessian * (theta - model.target))).mean()
        np.testing.assert_allclose(terms[:2], cell.n * np.array([descent, (steps**2 @ hessian).mean() / 2]), rtol=1e-9)
    std = 2 * math.sqrt(8) * noise_multipliers(learning_rates(cell.schedule, cell.n), 1.0)[cell.step]
    ours = [displays.one_step_trial(cell, rng=np.random.default_rng(k))[0, 2] for k in range(800)]
    theirs, fewer = (
        cell.n / 2 * ((std * rng.standard_normal((800, records, 8))) ** 2 @ cell.hessians["risk"]).mean(axis=1)
        for records in (60, 20)
    )
    assert ks_2samp(ours, theirs).pvalue > 1e-3
    assert ks_2samp(ours, fewer).pvalue < 1e-5


def test_a_step_under_the_printed_cap_stretches_and_under_that_of_algorithm_1_does_not():
    """The stretch of the table against steps of two parameters apart along x."""
    for row in displays.caps().itertuples():
        x, rate = np.ones(row.d), row.share_of_cap * 2 / row.d
        cap = 2 / (x @ x if row.reading == "corrected" else math.sqrt(x @ x))
        apart = x - min(rate, cap) * (x @ x) * x
        assert max(1.0, math.sqrt(apart @ apart / (x @ x))) == pytest.approx(row.stretch)


def test_the_risk_of_the_diffusion_is_nearest_the_right_integral(monkeypatch):
    monkeypatch.setattr(measure, "PATHS", 40)
    cell = measure.HomogenisedCell(REGIME, 500)
    samples = measure.homogenised_trial(cell, rng=np.random.default_rng(0))[None]
    table = measure.integral_rows(cell, samples).set_index(["drift", "integral"])["value"]
    assert table.idxmin() == ("derived", "i/2π")
    assert table["derived", "i/2π"] < 0.08 < 0.13 < table.drop(("derived", "i/2π")).min()
    assert samples.shape[-1] == len(measure.QUANTITIES) + 4
    assert len(measure.homogenised_rows(cell, samples)) == len(measure.QUANTITIES)
