"""Any values of any parameters are refused in one line, or run to the end; `make fuzz` tries more of them."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from costofprivacy.book import parameters
from costofprivacy.book.project import Project
from costofprivacy.declaration import Parameter, declarations
from tests.fuzz import RUNS, SETS, judge

PROJECT = Project(Path(__file__).parents[2])
KINDS = judge.experiments(PROJECT)
ALIKE = {"seed", "paper", "verdict"}  # parameters that change nothing of how a run goes
WRONG = ("nan", "", "1e", "[]", None, True, [], {}, [[1]], "__import__('os')", "1" * 400, -(10**30), 10**400)
ALL = settings(
    deadline=None,
    database=None,
    derandomize=SETS not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)


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


def value(declared: Parameter) -> st.SearchStrategy[Any]:
    """A value of a parameter as a command line or a file would give it, now and then of another kind."""
    right = st.lists(one(declared), min_size=1, max_size=5) if declared.many else one(declared)
    spelt = right if declared.many else right.map(str)
    return st.one_of(right, right, right, right, spelt, st.sampled_from(WRONG))


@st.composite
def sets(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A chapter, and one or two of its parameters."""
    name = draw(st.sampled_from([name for name, kind in KINDS.items() if declarations(kind)]))
    chosen = st.lists(st.sampled_from(declarations(KINDS[name])), min_size=1, max_size=2, unique_by=lambda d: d.name)
    return name, {declared.name: draw(value(declared)) for declared in draw(chosen)}


def test_parameters_are_refused_in_one_line_or_accepted() -> None:
    accepted = set()

    @settings(ALL, max_examples=int(os.environ.get(SETS, 200)))
    @given(sets())
    def validated(asked: tuple[str, dict[str, Any]]) -> None:
        accepted.add(judge.validated(PROJECT, *asked) is not None)

    validated()
    assert accepted == {True, False}, "both kinds must occur"


@pytest.mark.skipif(RUNS not in os.environ, reason="in the campaign only")
@settings(ALL, max_examples=int(os.environ.get(RUNS, 1)))
@given(sets())
def test_what_is_accepted_runs_to_its_end(asked: tuple[str, dict[str, Any]]) -> None:
    """At the quick preset with few trials; what is not in the preset keeps the papers' value."""
    name, hostile = asked
    small = dict(parameters.preset(PROJECT, "quick").get(name, {}))
    small |= dict.fromkeys((key for key in small if key.endswith("trials") and not key.startswith("lemma")), 2)
    values = judge.validated(PROJECT, name, small | hostile)
    assume(values is not None and set(hostile) - ALIKE)
    assert judge.ran(PROJECT, name, values or {}, parameters.resolve(PROJECT, name, small)) == ""


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
    assert judge.validated(PROJECT, name, given) is None


def test_a_small_accepted_set_runs() -> None:
    given = {"d": [5], "trials": 2, "records": 10, "points": 5, "clip": 1e-6, "label_noise": 1e3}
    found = judge.validated(PROJECT, "dpgd/clipping-factors", given)
    assert found is not None
    assert judge.ran(PROJECT, "dpgd/clipping-factors", found, found) == ""
