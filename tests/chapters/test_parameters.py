"""Every parameter of every experiment has two ends, and what the book and its presets use lies between them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters import ranges
from chapters.noisyhead.early_stopping.measure import Experiment as EarlyStopping
from chapters.noisyhead.high_dimensional.measure import Experiment as HighDimensional
from chapters.noisyhead.low_dimensional.measure import Experiment as LowDimensional
from chapters.symbols import SYMBOLS
from companion.build import parameters
from companion.build.project import Project, chapters, is_plain
from companion.checks import ANYWAY
from companion.declaration import Parameter, Parameters, declarations
from tests.each import each, refused

PROJECT = Project(Path(__file__).parents[2])
CHAPTERS = [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)]


def experiment(name: str) -> type[Parameters]:
    return parameters.experiment_class(PROJECT, name)


@each("name", CHAPTERS)
def test_every_parameter_has_an_upper_range(name: str) -> None:
    """Declare it with `chapters.ranges`: `count`, `amount`, `chance`, `real`, or a range that has a name there."""
    declared = declarations(experiment(name))
    assert [d.name for d in declared if d.range.ends is None and d.range.convert is not str] == []


SMALL = ranges.amount(1e-6, 1e3)


@each(
    ("range", "value", "message"),
    [
        (SMALL, 1e200, r"x must be between 1e-06 and 1000, got 1e\+200 \(ANYWAY=1 goes beyond\)"),
        (SMALL, 1e-308, r"x must be between 1e-06 and 1000, got 1e-308 \(ANYWAY=1 goes beyond\)"),
        (SMALL, -1.0, r"x must be positive and finite, got -1.0"),
        (ranges.TRIALS, 10**12, r"x must be a whole number between 2 and 1000000, got 1000000000000 \(ANYWAY"),
        (ranges.TRIALS, 10**400, r"x must be a whole number of at least 2, got 10000"),
        (ranges.DELTA, 1.0, r"x must be between 0 and 1, both excluded, got 1.0"),
        (ranges.DELTA, 1e-200, r"x must be between 1e-100 and 0.99, got 1e-200"),
        (ranges.RHO_OR_INFINITE, 1e7, r"x must be between 1e-06 and 1e\+06, or infinite, got 10000000.0"),
        (ranges.NOISE_OR_NONE, float("nan"), r"x must be non-negative and finite, got nan"),
    ],
)
def test_what_is_beyond_is_named_with_the_way_beyond(range: object, value: float, message: str) -> None:
    refused(f"^{message}", range, "x", value)


def test_one_option_goes_beyond_the_usual_but_not_beyond_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANYWAY, "1")
    assert SMALL("x", 1e200) == 1e200
    assert type(ranges.TRIALS("x", 1e12)) is int
    refused(r"x must be positive and finite, got -1\.0$", SMALL, "x", -1.0)
    monkeypatch.setenv(ANYWAY, "0")
    refused("ANYWAY=1", SMALL, "x", 1e200)


def test_a_list_has_a_longest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Parameter("N", ranges.count(1, 10**7), (1,), many=True, ascending=False, published=False)
    assert len(declared.check(range(1, 1001))) == 1000
    refused("N must be a list of at most 1000 values, got 1001", declared.check, range(1, 1002))
    monkeypatch.setenv(ANYWAY, "1")
    assert len(declared.check(range(1, 1002))) == 1001


# what each chapter may be asked for


# Just beyond what makes sense, in whichever chapter has a parameter of that name.
BEYOND: dict[str, Any] = {
    "N": 3,
    "D": 1,
    "T": 0,
    "d": 1,
    "epsilon": -1.0,
    "rho": 0.0,
    "gamma": 0.0,
    "clip": 0.0,
    "clips": 0.0,
    "learning_rate": -3.0,
    "delta": 1.0,
    "failure": 1.5,
    "penalty": 0.0,
    "label_noise": -0.1,
    "pairs": 0,
    "trials": 1,
    "test_prompts": 0,
    "confidence": 1.0,
    "seed": -1,
}
# Where a chapter admits these, and where a parameter is a word.
OWN: dict[str, dict[str, Any]] = {
    "foundations/in-context-regression": {"D": 0, "N": 0},
    "noisyhead/cost-of-privacy": {"N": 1},
    "noisyhead/robustness": {"N": 2},
    "noisyhead/newsgroups": {"lengths": "in metres"},
    "dpgd/algorithm": {"trials": 0},
    "dpgd/deterministic-equivalent": {"d": 0},
    "privacy/rivals": {"real": "iris"},
}
EACH = [
    (name, declared, (BEYOND | OWN.get(name, {}))[declared.name])
    for name in CHAPTERS
    for declared in declarations(experiment(name))
    if declared.name in BEYOND | OWN.get(name, {})
]


@each(("name", "declared", "value"), EACH)
def test_what_makes_no_sense_is_refused_in_one_line(name: str, declared: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^(each of )?{declared.name} must be ") as refusal:
        experiment(name)(**{declared.name: [value] if declared.many else value})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("noisyhead/cost-of-privacy", {"penalty": 1e-6}, "penalty must ask for at most T = 100000"),
        ("noisyhead/low-dimensional", {"epsilon": [900.0]}, "epsilon must be at most T = "),
        ("noisyhead/high-dimensional", {"epsilon": [0.1, 5.5]}, r"epsilon must be at most T = 5, got 5\.5"),
        ("noisyhead/high-dimensional", {"bound_failure": 1e-100}, "bound_failure must ask for at most T = 100000, got"),
        ("noisyhead/early-stopping", {"T": [5]}, r"T must hold at least two numbers of steps, got \[5\]"),
        ("noisyhead/robustness", {"bound_L": [5]}, "bound_penalty must be above C²/L = .* at L = 5, got 1.0"),
        ("noisyhead/robustness", {"bound_D": [2]}, r"bound_failure must be above N exp\(-D²\) = .*, got 0.01"),
        ("noisyhead/rivals", {"shares": [0.5]}, r"shares must contain 1, got \[0.5\]"),
        ("noisyhead/dp-sgd", {"batch": 1001}, "batch must be at most the smallest N = 1000, got 1001"),
        ("noisyhead/newsgroups", {"T": [1, 2]}, "T must hold at least three"),
        ("noisyhead/newsgroups", {"epsilon": 0.3}, "other_epsilons must not hold epsilon"),
        ("noisyhead/newsgroups", {"prompts": ["paragraphs used once"]}, ".* must not begin with"),
        ("noisyhead/softmax-head", {"condition": [10.0]}, r"condition must contain 1, got \[10\.0\]"),
        ("noisyhead/softmax-head", {"N": [150], "poisoned": [150]}, "poisoned must be below the largest N = 150, got"),
        ("noisyhead/softmax-head", {"steps": [4], "epsilon": [5.0]}, r"steps must be at least the largest epsilon ="),
        ("dpgd/algorithm", {"n": 10**6}, r"n · others must be between"),
        ("dpgd/deterministic-equivalent", {"n": [20]}, "n must be at least 4 / gamma = 40, got 20"),
        ("dpgd/lower-bound", {"d": 4}, "d times each of ratios must be at least 24, got 20"),
        (
            "dpgd/scaling-laws",
            {"steep_phi": [1.0]},
            "steep_psi must be below 1 - steep_phi, got 0.1 with steep_phi = 1$",
        ),
        ("dpgd/scaling-laws", {"decades": [2, 3]}, "decades must be more than 4"),
        ("dpgd/real-data", {"housing_gamma": [1e-5]}, "housing_gamma asks for .* some are to test on$"),
        ("dpgd/real-data", {"seed_normalisation": [500, 13000]}, "seed_normalisation asks for .* some are to test on$"),
        ("privacy/what-this-does-not-protect", {"n": 30, "group": [30]}, "group must have fewer than n = 30"),
        ("explore/dpgd", {"times": [0.1, 1.0]}, "times must begin at 0 and end at 1"),
    ],
)
def test_rules_of_several_parameters_are_told_in_one_line(
    name: str, change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if message.startswith("bound_failure must ask"):  # this rule speaks beyond the usual range alone
        monkeypatch.setenv("COSTOFPRIVACY_ANYWAY", "1")
    with pytest.raises(ValueError, match=rf"^{message}") as refusal:
        experiment(name)(**change)
    assert "\n" not in str(refusal.value)


def some(values: st.SearchStrategy[Any], least: int = 1) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=least, max_size=4, unique=True)


ADMISSIBLE: dict[str, tuple[type, dict[str, st.SearchStrategy[Any]]]] = {
    "low": (
        LowDimensional,
        {"N": some(st.integers(4, 10**6)), "epsilon": some(st.floats(1e-3, 1.0)), "D": st.integers(2, 50)},
    ),
    "high": (HighDimensional, {"N": some(st.integers(16, 10**6)), "epsilon": some(st.floats(1e-3, 5.0))}),
    "early": (
        EarlyStopping,
        {"N": st.integers(16, 2500), "T": some(st.integers(1, 3000), 2), "epsilon": st.floats(1e-3, 1.0)},
    ),
}


@pytest.mark.parametrize("name", ADMISSIBLE)
@given(st.data(), st.floats(1e-12, 0.5), st.floats(1e-3, 1.0), st.floats(0, 4))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_admissible_parameters_give_admissible_algorithms(
    name: str, data: st.DataObject, delta: float, failure: float, label_noise: float
) -> None:
    kind, own = ADMISSIBLE[name]
    asked = kind(**data.draw(st.fixed_dictionaries(own)), delta=delta, failure=failure, label_noise=label_noise)
    for cell in [asked.cell] if name == "early" else asked.cells:
        for setting, hyper in cell.hyper.items():
            assert 0 < hyper.learning_rate * hyper.penalty < 1
            assert hyper.contraction < 1
            if name == "early":  # by setting and accounts
                noise = [std for (own, _), each in cell.noise.items() if own == setting for std in each.ravel()]
            else:
                noise = cell.noise[setting]
            assert noise
            assert all(0 < std < np.inf for std in noise)


# symbols


def test_a_name_stands_once_and_no_symbol_means_two_things_in_one_paper() -> None:
    names = [symbol.name for symbol in SYMBOLS]
    assert len(set(names)) == len(names)
    for paper in ("noisyhead", "dpgd"):
        written = [getattr(symbol, paper) for symbol in SYMBOLS if getattr(symbol, paper)]
        assert sorted(written) == sorted(set(written))
