"""The work that the chapters on rivals, on the choice of a method and the explorers declare grows as they do."""

import dataclasses
from types import ModuleType

import pytest

from costofprivacy import datasets
from costofprivacy.declaration import Parameters
from costofprivacy.experiments.explore.dpgd import experiment as dpgd
from costofprivacy.experiments.explore.dpgd import work as dpgd_work
from costofprivacy.experiments.explore.noisyhead import experiment as noisyhead
from costofprivacy.experiments.explore.noisyhead import work as noisyhead_work
from costofprivacy.experiments.method import experiment as method
from costofprivacy.experiments.method import work as method_work
from costofprivacy.experiments.privacy.rivals import experiment as rivals
from costofprivacy.experiments.privacy.rivals import work as rivals_work

SMALL = rivals.Experiment(real=(datasets.HOUSING,), housing_n=(100,))
CHAPTERS: dict[str, tuple[Parameters, ModuleType]] = {
    "rivals": (SMALL, rivals_work),
    "method": (method.Experiment(), method_work),
    "explore/dpgd": (dpgd.Experiment(), dpgd_work),
    "explore/noisyhead": (noisyhead.Experiment(), noisyhead_work),
}


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_scheme_is_dearer_than_ours(name: str) -> None:
    experiment, work = CHAPTERS[name]
    ours, least = dataclasses.astuple(work.scheme(experiment)), dataclasses.astuple(work.cheapest(experiment))
    assert all(0 <= few <= many for few, many in zip(least, ours, strict=True))
    assert sum(ours) > 0


@pytest.mark.parametrize(
    ("name", "twice"),
    [
        ("rivals", {"trials": 40, "real_trials": 20, "size_trials": 20}),
        ("explore/dpgd", {"clip": (0.3, 1.0, 3.0, 4.0, 5.0, 6.0)}),
        ("explore/noisyhead", {"N": tuple(range(1000, 11_000, 1000)), "epsilon_count": 160}),
    ],
)
def test_twice_of_it_is_twice_the_work(name: str, twice: dict[str, object]) -> None:
    experiment, work = CHAPTERS[name]
    more = dataclasses.replace(experiment, **twice)
    found, once = (dataclasses.astuple(work.scheme(told)) for told in (more, experiment))
    assert found == pytest.approx([2 * part for part in once], rel=0.01)


def test_what_is_only_solved_draws_nothing() -> None:
    for name in ("explore/dpgd", "explore/noisyhead"):
        experiment, work = CHAPTERS[name]
        assert work.scheme(experiment).normals == work.scheme(experiment).uniforms == 0


def test_fewer_trials_than_a_pilot_draw_less() -> None:
    experiment, work = CHAPTERS["method"]
    assert work.scheme(dataclasses.replace(experiment, trials=5)).normals == pytest.approx(
        work.scheme(experiment).normals / 5
    )
