"""Values of parameters: any of them is accepted, or refused in one line."""

import math
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from companion.build import parameters
from companion.build.project import BookError, Project, RequestError, chapters, is_plain
from companion.declaration import Parameter, declarations
from tests.each import each

from .conftest import NAME, OURS, Rewrite


@each(
    ("given", "default", "expected"),
    [
        ("1e-5", 0.1, 1e-5),
        (3, 0.1, 3.0),
        ("inf", 0.1, math.inf),
        (200.0, 5, 200),
        ("50", 5, 50),
        ("1e3", 5, 1000),
        ("True", False, True),
        (False, True, False),
        ("5", "other", "5"),
        ([1, "2e-1"], [0.2, 1], [1.0, 0.2]),
        ([[1]], [[0.5]], [[1.0]]),
        (["a"], [], ["a"]),
        (2**70, 1, 2**70),
    ],
)
def test_a_value_takes_the_type_of_the_default(given: object, default: object, expected: object) -> None:
    value = parameters.coerce("x", given, default)
    assert value == expected
    assert type(value) is type(expected)


@each(
    ("given", "default", "words"),
    [
        ("many", 5, "x must be an integer, got 'many'"),
        (1.5, 5, "x must be an integer, got 1.5"),
        (True, 5, "x must be an integer, got True"),
        ("inf", 5, "x must be an integer, got 'inf'"),
        ([1], 0.5, r"x must be a number, got \[1\]"),
        (1, True, "x must be True or False, got 1"),
        (5, "text", "x must be a string, got 5"),
        (None, 5, "x must be an integer, got None"),
        (5, [1], r"x must be a list of integers, got 5; give a list with -y \"\{x: \[...\]\}\""),
        ("[5]", [1.0], "x must be a list of numbers, got '.5.'; give a list"),
        ([0.5], [1], r"x must be a list of integers, got \[0.5\]$"),
    ],
)
def test_a_wrong_type_is_named(given: object, default: object, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        parameters.coerce("x", given, default)


def test_resolve_completes_the_overrides(project: Project) -> None:
    values = parameters.resolve(project, NAME, {"trials": "20"})
    assert values == {"epsilon": [0.5, 1.0], "trials": 20, "workers": -1}


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"trails": 5}, "unknown parameter 'trails' .did you mean 'trials'.*epsilon, trials, workers"),
        ({"trials": 0}, "^trials must be at least 1, got 0$"),
        ({"workers": 0}, "workers must be -1 .all cores. or at least 1, got 0"),
        ({"workers": -2}, "workers must be -1"),
    ],
)
def test_what_is_inadmissible_is_named(project: Project, overrides: dict[str, object], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        parameters.resolve(project, NAME, overrides)


def test_a_chapter_without_an_experiment_is_reported(project: Project) -> None:
    (project.root / "lib" / project.package / "ledger/measure.py").write_text('"""Nothing."""\n')
    with pytest.raises(BookError, match=r"the chapter ledger needs a class Experiment"):
        parameters.resolve(project, "ledger", {})


def test_a_package_of_functions_alone_makes_no_experiment(project: Project) -> None:
    package = project.root / "lib" / project.package
    assert not is_plain(project, NAME)
    (package / "tutorial").mkdir()
    (package / "tutorial" / "__init__.py").write_text('"""Functions that a tutorial calls."""\n')
    assert is_plain(project, "tutorial")
    assert is_plain(project, "no/package")
    assert parameters.experiment_of(project, "tutorial", {"epsilon": 1.0}) is None


def test_a_preset_applies_to_its_chapters_and_that_of_the_papers_overrides_nothing(project: Project) -> None:
    trials = {name: parameters.resolve_preset(project, name, (NAME,))[NAME]["trials"] for name in ("quick", "paper")}
    assert trials == {"quick": 2, "paper": 10}
    with pytest.raises(RequestError, match="PRESET must be one of paper, quick; got 'slow'"):
        parameters.preset(project, "slow")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("part/first-on: {trials: 2}", "preset quick: NAME must be one of .* got 'part/first-on'"),
        ("part/first-one: {trials: 0}", "preset quick: trials must be at least 1"),
        ("part/first-one: 5", "must map parameters to values, got 5"),
        ("[1]", "must map names to values"),
        ("{a", "must be YAML"),
    ],
)
def test_an_inadmissible_preset_is_named(project: Project, text: str, words: str) -> None:
    (project.book / "presets" / "quick.yml").write_text(text)
    with pytest.raises(RequestError, match=words):
        parameters.resolve_preset(project, "quick", (NAME,))


def test_what_cannot_be_computed_with_is_told_in_words(project: Project, rewrite: Rewrite) -> None:
    rewrite("lib/{package}/part/first_one/measure.py", "if self.trials < 1:", "if 1 / 0:")
    with pytest.raises(RequestError, match=r"^a computation with these parameters overflows or divides by zero$"):
        parameters.resolve(project, "part/first-one", {})


@pytest.mark.parametrize("text", ["{a: [1, 2020-13-01], b: }", "[1e-5, .5, ~]"])
def test_yaml_is_read_as_papermill_reads_it(text: str) -> None:
    assert parameters.load(text) in ({"a": [1, "2020-13-01"], "b": None}, ["1e-5", 0.5, None])


@pytest.mark.parametrize(
    "text",
    [
        *("{a: 1", "--- 1\n--- 2", "a\0b", "!mine {a: 1}", "!!python/object/apply:os.getcwd []", "[*a]"),
        *('!!bool "x"', '!!int "x"', '!!timestamp "x"', "!!binary 5", "{[1]: 2}", "[" * 1000, "9" * 5000),
    ],
)
def test_what_is_no_yaml_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(RequestError, match=r"^-y must be YAML, got .*: \S") as refused:
        parameters.read_yaml(text, "-y")
    assert "\n" not in str(refused.value)


# any values of any parameters

KINDS = {
    name: declarations(parameters.experiment_class(OURS, name)) for name in chapters(OURS) if not is_plain(OURS, name)
}
WRONG = ("nan", "", "1e", "[]", None, True, [], {}, [[1]], "__import__('os')", "1" * 400, -(10**30), 10**400)


def accepted(name: str, given: dict[str, Any]) -> bool:
    """Whether a chapter takes the values; a refusal must be one clear line, and neither may warn."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parameters.experiment_of(OURS, name, parameters.resolve(OURS, name, given))
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
    for declared in draw(chosen):
        right = st.lists(one(declared), min_size=1, max_size=5) if declared.many else one(declared)
        spelt = right if declared.many else right.map(str)
        values[declared.name] = draw(st.one_of(right, right, right, right, spelt, st.sampled_from(WRONG)))
    return name, values


def test_parameters_are_refused_in_one_line_or_accepted() -> None:
    found = set()

    @settings(
        max_examples=40,
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
