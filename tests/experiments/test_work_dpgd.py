"""The work that the chapters on tuning declare grows with what it is made of, and no scheme is dearer than ours."""

import dataclasses

import pytest

from costofprivacy.declaration import Parameters
from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.dpgd.hyperparameters import experiment as hyperparameters
from costofprivacy.experiments.dpgd.hyperparameters import work as hyperparameters_work
from costofprivacy.experiments.dpgd.scaling_laws import experiment as scaling_laws
from costofprivacy.experiments.dpgd.scaling_laws import work as scaling_laws_work
from costofprivacy.experiments.dpgd.schedules import experiment as schedules
from costofprivacy.experiments.dpgd.schedules import work as schedules_work
from costofprivacy.experiments.dpgd.small_noise import experiment as small_noise
from costofprivacy.experiments.dpgd.small_noise import work as small_noise_work

CHAPTERS = {
    "hyperparameters": (hyperparameters.Experiment(), hyperparameters_work),
    "schedules": (schedules.Experiment(), schedules_work),
    "small-noise": (small_noise.Experiment(), small_noise_work),
    "scaling-laws": (scaling_laws.Experiment(), scaling_laws_work),
}


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_scheme_is_dearer_than_ours(name: str) -> None:
    experiment, work = CHAPTERS[name]
    ours, least = dataclasses.astuple(work.scheme(experiment)), dataclasses.astuple(work.cheapest(experiment))
    assert all(0 <= few <= many for few, many in zip(least, ours))


@pytest.mark.parametrize(("name", "twice"), [("hyperparameters", {"trials": 20, "limit_trials": 100}),
                                             ("small-noise", {"precision": 0.06 / 2**0.5})])  # fmt: skip
def test_twice_the_trials_draw_twice_the_numbers(name: str, twice: dict[str, float]) -> None:
    experiment, work = CHAPTERS[name]
    more: Parameters = dataclasses.replace(experiment, **twice)
    assert work.scheme(more).normals == pytest.approx(2 * work.scheme(experiment).normals, rel=0.1)


def test_what_is_only_solved_draws_nothing() -> None:
    experiment, work = CHAPTERS["scaling-laws"]
    assert work.scheme(experiment).normals == work.scheme(experiment).uniforms == 0
    fewer = dataclasses.replace(experiment, decades=(2, 3, 4, 5, 6))
    assert work.scheme(fewer).loops < work.scheme(experiment).loops


def test_more_equations_and_a_finer_tolerance_cost_more() -> None:
    one = solving.solutions(1, 1, 1e-5).loops
    assert solving.solutions(1, 100, 1e-5).loops > 5 * one
    assert solving.solutions(1, 1, 1e-9).loops > 5 * one
    assert solving.best_harmonic(0.01).loops > 5 * solving.best_rate(0.01).loops
