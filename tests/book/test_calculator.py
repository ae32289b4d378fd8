"""The calculator in the browser says what `costofprivacy.estimators.calculator` says: its script, run by Node.js.

Where there is no Node.js, `make -f tests/maintain.mk browser` compares the two in the page.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapters.method import show
from costofprivacy.estimators import calculator

BOOK = Path(__file__).parents[2] / "book"
SCRIPT = BOOK / "_static" / "calculator.js"
NODE = shutil.which("node")
SAME = 1e-6  # relative difference of budgets; dp-accounting's own searches end at 1e-9
NUMBERS = ("r2", "low", "high", "without_privacy")


def run(expression: str, value: Any) -> Any:
    """What an expression of JavaScript gives, in which ``c`` is the script's own and ``v`` a value."""
    program = (
        f"const c = require({json.dumps(str(SCRIPT))});"
        f"const v = JSON.parse(require('fs').readFileSync(0)); process.stdout.write(JSON.stringify({expression}))"
    )
    assert NODE is not None
    done = subprocess.run([NODE, "-e", program], input=json.dumps(value), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def questions(count: int) -> list[dict[str, Any]]:
    """What readers may ask, in the names of the page's controls."""
    rng = np.random.default_rng(1)
    return [
        {
            "n": int((d := int(10 ** rng.uniform(0, 3))) * 10 ** rng.uniform(0.9, 5)) + 6,
            "d": d,
            "budget": str(rng.choice(["epsilon", "rho", "mu"])),
            "value": float(10 ** rng.uniform(-2, 1)),
            "delta": float(10 ** rng.uniform(-10, -3)),
            "r2": float(rng.uniform(0.02, 0.99)),
        }
        for _ in range(count)
    ]


@pytest.mark.skipif(NODE is None, reason="there is no Node.js here")
def test_both_give_the_same_answer() -> None:
    asked = questions(60)
    answers = run(
        "(t => v.asked.map(a => c.answer(t, v.data.words, a)))(c.decoded(v.data.table))",
        {"data": json.loads(show.data()), "asked": asked},
    )
    for question, found in zip(asked, answers, strict=True):
        budget = {question["budget"]: question["value"]}
        told = calculator.answer(
            question["n"], question["d"], **budget, delta=question["delta"], expected_r2=question["r2"]
        )
        for name in ("epsilon", "mu", "rho"):
            assert found[name] == pytest.approx(getattr(told, name), rel=SAME)
        for name in NUMBERS:
            assert found[name] == pytest.approx(getattr(told, name), abs=SAME)
        assert (found["method"], found["useful"], found["code"]) == (told.method, told.useful, told.code)
        r2 = {each["name"]: each["r2"] for each in found["methods"]}
        assert r2 == pytest.approx(told.methods["r2"].to_dict(), abs=SAME)
