"""No verdict function is left uncontradicted: each stands in the cases of ``verdicts/``."""

import importlib
import pkgutil
from collections.abc import Callable

import pandas as pd
import pytest

from costofprivacy import experiments
from costofprivacy.claims import Judgement, Verdict
from tests.experiments import verdicts
from tests.experiments.verdicts.machinery import turns


def name_of(judge: Callable[..., Judgement]) -> str:
    return f"{judge.__module__}.{judge.__name__}"


def test_every_verdict_function_is_contradicted() -> None:
    covered, found = set(), set()
    for info in pkgutil.iter_modules(verdicts.__path__, verdicts.__name__ + "."):
        covered |= {name_of(case[0]) for case in getattr(importlib.import_module(info.name), "CASES", [])}
    for info in pkgutil.walk_packages(experiments.__path__, experiments.__name__ + "."):
        module = importlib.import_module(info.name)
        found |= {
            name_of(f) for n, f in vars(module).items() if n.startswith("judge_") and f.__module__ == module.__name__
        }
    assert found == covered


def test_a_judge_that_does_not_look_at_its_table_is_found_out() -> None:
    blind = (lambda _: Judgement(Verdict.UNTESTABLE, "a definition"), ("any",), Verdict.UNTESTABLE)
    with pytest.raises(AssertionError):
        turns((*blind, lambda _: {"any": pd.DataFrame({"x": [2.0]})}, {Verdict.UNTESTABLE}), {"any": pd.DataFrame()})
