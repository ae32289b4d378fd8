import numpy as np
import pandas as pd
import pytest

from chapters.dpgd.deterministic_equivalent import measure
from chapters.dpgd.deterministic_equivalent.displays import system_of
from chapters.dpgd.deterministic_equivalent.measure import Experiment
from companion.running.montecarlo import Runner, generator
from costofprivacy.dpgd import descent, equivalent, spectrum, system
from costofprivacy.dpgd.descent import descend
from costofprivacy.dpgd.spectrum import EllipticalT

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
