"""The calculator in the browser says what `costofprivacy.estimators.calculator` says: its script, run by Node.js.

Where there is no Node.js, `make -f tests/maintain.mk browser` compares the two in the page (`test_calculator_browser`).
"""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costofprivacy.book import notebooks
from costofprivacy.estimators import calculator, forecast_table
from costofprivacy.experiments.method import calculator as shown
from costofprivacy.privacy import GaussianDP

BOOK = Path(__file__).parents[2] / "book"
SCRIPT = BOOK / "_static" / "calculator.js"
NODE = shutil.which("node")
SAME = 1e-6  # relative difference of budgets; dp-accounting's own searches end at 1e-9
NUMBERS = ("r2", "low", "high", "without_privacy")

needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node.js here")


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


@needs_node
def test_both_give_the_same_answer() -> None:
    asked = questions(60)
    answers = run(
        "(t => v.asked.map(a => c.answer(t, v.data.words, a)))(c.decoded(v.data.table))",
        {"data": json.loads(shown.data()), "asked": asked},
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


@needs_node
def test_the_script_s_curve_is_that_of_gaussian_dp() -> None:
    rng = np.random.default_rng(2)
    pairs = [(float(10 ** rng.uniform(-3, 1.5)), float(10 ** rng.uniform(-2.5, 1))) for _ in range(200)]
    exact = [float(GaussianDP(mu).delta(epsilon)) for epsilon, mu in pairs]
    kept = [k for k, delta in enumerate(exact) if delta > 1e-280]
    found = run("v.map(([e, m]) => c.deltaOf(e, m))", pairs)
    np.testing.assert_allclose([found[k] for k in kept], [exact[k] for k in kept], rtol=1e-8)
    assert len(kept) > 100
    wrong = run("v.map(([e, m]) => c.deltaOf(e, 1.01 * m))", pairs)
    assert not np.allclose([wrong[k] for k in kept], [exact[k] for k in kept], rtol=1e-3)


@needs_node
@pytest.mark.parametrize("value", [1e-12, 1.5e-6, 0.00099996, 0.001, 1 / 3, 1.0, 99999.0, 123456.0, 1e6, 2.5e9])
def test_numbers_are_written_alike(value: float) -> None:
    assert run("c.literal(v)", value) == calculator.literal(value)


@needs_node
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, ""),
        ({"d": 0}, "number of features"),
        ({"d": 1001}, "from 1 to 1000"),
        ({"n": 32}, "33 or more"),
        ({"n": 40.5}, "whole number"),
        ({"value": None}, "budget"),
        ({"delta": 0}, "δ must be"),
        ({"r2": 1}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_answered_is_said(change: dict[str, Any], says: str) -> None:
    asked = {"n": 1000, "d": 10, "budget": "epsilon", "value": 1.0, "delta": 1e-6, "r2": 0.5} | change
    told = run("c.wrong(v.asked, v.words)", {"asked": asked, "words": json.loads(shown.data())["words"]})
    assert (says in told) if says else not told


def test_the_committed_page_has_this_table_and_these_words() -> None:
    outputs = [
        out["data"]["text/html"]
        for cell in notebooks.read(BOOK / "method.ipynb").cells
        for out in cell.get("outputs", [])
        if 'class="calculator"' in out.get("data", {}).get("text/html", "")
    ]
    assert outputs == [shown.Calculator()._repr_html_()]
    inside = re.search(r'<script type="application/json">(.*?)</script>', outputs[0], re.DOTALL)
    assert inside is not None
    assert json.loads(inside[1])["table"] == json.loads(forecast_table.source())
    assert "://" not in outputs[0]


def test_each_control_has_a_label_and_a_start() -> None:
    page = shown.Calculator()._repr_html_()
    for name, (label, _) in shown.QUESTIONS.items():
        assert f'<label for="calculator-{name}">{html.escape(label)}</label>' in page
        assert f'id="calculator-{name}"' in page
    assert set(shown.START) | {"budget"} == set(shown.QUESTIONS)


def test_it_asks_for_files_that_the_book_has() -> None:
    asked = re.findall(r'(?:href|src)="\.\./_static/([^"]+)"', shown.Calculator()._repr_html_())
    assert sorted(asked) == ["calculator.css", "calculator.js"]
    assert all((BOOK / "_static" / name).is_file() for name in asked)
