import math
from collections.abc import Callable

import pytest

from companion.build import parameters
from companion.build.project import BookError, Project, RequestError, is_plain
from tests.each import each

NAME = "part/first-one"


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
        ("text", "other", "text"),
        ("5", "other", "5"),
        ([1, "2e-1"], [0.2, 1], [1.0, 0.2]),
        ([10.0], [1000], [10]),
        ([[1]], [[0.5]], [[1.0]]),
        (["a"], [], ["a"]),
        ("anything", None, "anything"),
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
        (True, 0.5, "x must be a number, got True"),
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


def test_the_paper_preset_overrides_nothing(project: Project) -> None:
    assert parameters.preset(project, "paper") == {}


def test_a_preset_applies_to_its_chapters(project: Project) -> None:
    values = parameters.resolve_preset(project, "quick", (NAME,))
    assert values[NAME]["trials"] == 2


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


def test_an_unknown_preset_lists_the_known(project: Project) -> None:
    with pytest.raises(RequestError, match="PRESET must be one of paper, quick; got 'slow'"):
        parameters.preset(project, "slow")


def test_what_cannot_be_computed_with_is_told_in_words(
    project: Project, rewrite: Callable[[str, str, str], None]
) -> None:
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
        *('!!bool "x"', '!!int "x"', '!!timestamp "x"', "!!binary 5", "{[1]: 2}", "[" * 5000, "9" * 5000),
    ],
)
def test_what_is_no_yaml_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(RequestError, match=r"^-y must be YAML, got .*: \S") as refused:
        parameters.read_yaml(text, "-y")
    assert "\n" not in str(refused.value)
