"""Any values of any parameters: accepted, or refused in one line."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from companion.build import parameters
from companion.build.project import Project, RequestError, chapters, is_plain
from companion.declaration import Parameter, declarations

PROJECT = Project(Path(__file__).parents[2])
KINDS = {
    name: declarations(parameters.experiment_class(PROJECT, name))
    for name in chapters(PROJECT)
    if not is_plain(PROJECT, name)
}
WRONG = ("nan", "", "1e", "[]", None, True, [], {}, [[1]], "__import__('os')", "1" * 400, -(10**30), 10**400)


def accepted(name: str, given: dict[str, Any]) -> bool:
    """Whether a chapter takes the values; a refusal must be one clear line, and neither may warn."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parameters.experiment_of(PROJECT, name, parameters.resolve(PROJECT, name, given))
    except RequestError as error:
        words = str(error)
        assert words
        assert "\n" not in words
        assert "Error" not in words
        return False
    return True


def one(declared: Parameter) -> st.SearchStrategy[Any]:
    """A number at, around and far beyond the ends of a range, or near the default; or another word."""
    if declared.range.convert is str:
        return st.sampled_from([declared.default, "all", "none", 5])
    usual = declared.default if declared.many else [declared.default]
    near = st.builds(lambda value, factor: value * 10**factor, st.sampled_from(usual), st.floats(-1.5, 1.5))
    ends = st.sampled_from([end * share for end in declared.range.ends or (0.0,) for share in (0.99, 1, 1.01)])
    if declared.range.convert is int:
        return st.one_of(near.map(round), near.map(round), ends, st.integers())
    return st.one_of(near, near, ends, st.floats())


@st.composite
def sets(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A chapter and one or two of its parameters, now and then as text or of another kind."""
    name = draw(st.sampled_from([name for name, declared in KINDS.items() if declared]))
    chosen = st.lists(st.sampled_from(KINDS[name]), min_size=1, max_size=2, unique_by=lambda d: d.name)
    values = {}
    for each in draw(chosen):
        right = st.lists(one(each), min_size=1, max_size=5) if each.many else one(each)
        spelt = right if each.many else right.map(str)
        values[each.name] = draw(st.one_of(right, right, right, right, spelt, st.sampled_from(WRONG)))
    return name, values


def test_parameters_are_refused_in_one_line_or_accepted() -> None:
    found = set()

    @settings(
        max_examples=50,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(sets())
    def validated(asked: tuple[str, dict[str, Any]]) -> None:
        found.add(accepted(*asked))

    validated()
    assert found == {True, False}, "both kinds must occur"


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
def test_what_would_overflow_or_run_for_ever_is_refused(name: str, given: dict[str, object]) -> None:
    assert not accepted(name, given)
