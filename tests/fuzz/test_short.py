"""The campaign in short: what `make fuzz` does to 4,000 sets of parameters, done to 200."""

import random
from pathlib import Path

import pytest

from costofprivacy.book.project import Project
from tests.fuzz import judge, values

PROJECT = Project(Path(__file__).parents[2])


def test_hostile_parameters_end_in_one_line_or_in_a_run_with_an_estimate() -> None:
    rng, kinds = random.Random(7), judge.experiments(PROJECT)
    sets = [*values.single(kinds, 150, rng), *values.pairs(kinds, 50, rng)]
    judged = [(name, given, *judge.validated(PROJECT, name, given)) for name, given in sets]
    assert [(name, given, words) for name, given, _, words in judged if words] == []
    accepted = sum(found is not None for _, _, found, _ in judged)
    assert 20 < accepted < 180, "both kinds must occur"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("noisyhead/low-dimensional", {"penalty": 1e308}),
        ("noisyhead/low-dimensional", {"label_noise": 1e200}),
        ("dpgd/schedules", {"gammas": [1e-308]}),
        ("dpgd/deterministic-equivalent", {"chain_steps": 10**18}),
        ("method", {"N": [10**12]}),
        ("noisyhead/mechanism", {"D": 10**6}),
        ("dpgd/lower-bound", {"pilot_share": 10**400}),
    ],
)
def test_what_was_found_to_overflow_or_to_run_for_ever_is_refused(name: str, given: dict[str, object]) -> None:
    assert judge.validated(PROJECT, name, given) == (None, "")


def test_an_accepted_set_runs_within_what_was_announced() -> None:
    given = {"d": [5], "trials": 2, "records": 10, "points": 5, "clip": 1e-6, "label_noise": 1e3}
    found, words = judge.validated(PROJECT, "dpgd/clipping-factors", given)
    assert found is not None
    assert words == ""
    assert judge.ran(PROJECT, "dpgd/clipping-factors", found, found, 60.0) == ""
