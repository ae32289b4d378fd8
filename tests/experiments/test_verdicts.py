"""No verdict function is left uncontradicted: each stands in the cases of ``verdicts/``."""

import importlib
import pkgutil
from collections.abc import Callable

from costofprivacy import experiments
from costofprivacy.claims import Judgement
from tests.experiments import verdicts


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
