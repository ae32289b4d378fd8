"""The tutorial page and its worked examples: short, their numbers compared, and linked to where a reader goes next."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from chapters.your_data import show
from companion.build import notebooks
from companion.build.project import Project, place
from costofprivacy.estimators import PrivateLinearRegression, Schema, number

PROJECT = Project(Path(__file__).parents[2])
TUTORIAL, EXAMPLES = "your-data", ("examples/categories", "examples/heavy-tails", "examples/streams")
PAGES = (TUTORIAL, *EXAMPLES)
WIDTH = 79  # letters of code in a line, at which nothing is cut on a laptop


def page(name: str) -> Any:
    return notebooks.read(place(PROJECT.book, name).notebook)


def prose(name: str) -> str:
    return "\n".join(cell.source for cell in page(name).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("name", PAGES)
def test_no_interval_that_is_shown_is_empty(name: str) -> None:
    said = "".join(output.get("text", "") for cell in notebooks.code_cells(page(name)) for output in cell.outputs)
    assert not re.search(r"(coef|coefficient).*\n(.*\n)*?\S+.* NaN +NaN", said)


def blocks(name: str) -> list[str]:
    """The blocks of Python in a page's text."""
    return re.findall(r"^```python\n(.*?)^```", prose(name), re.DOTALL | re.MULTILINE)


def code(name: str, words: str) -> str:
    """The one cell of code, or block in the text, that has these words."""
    (found,) = [
        each for each in [*blocks(name), *(cell.source for cell in notebooks.code_cells(page(name)))] if words in each
    ]
    return found


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A survey, also as a file in the current folder."""
    table = show.draw(5000, rng=np.random.default_rng(1))
    table.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return table


@pytest.mark.usefixtures("people")
def test_the_script_for_a_file_of_one_s_own_needs_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks(TUTORIAL)[0], values := {})
    printed = capsys.readouterr().out
    assert "fitted to 5000 records of 2 features" in printed
    assert "Software: python" in printed
    sure = values["model"].intervals(1 - 1e-6).loc["age"]  # the script has no seed, as a release has none
    assert sure["low"] < show.EFFECTS["age"] < sure["high"]
    assert max(map(len, blocks(TUTORIAL)[0].splitlines())) < WIDTH


def test_the_code_for_a_stream_runs_on_what_the_page_has_defined(people: pd.DataFrame) -> None:
    values = {"PrivateLinearRegression": PrivateLinearRegression}
    exec(code(TUTORIAL, "epsilon = 1.0  #"), values)
    exec(code(TUTORIAL, "public = {"), values)
    exec(code(TUTORIAL, "fit_stream").replace("1_000_000", f"{len(people)}"), values)
    assert values["streamed"].score(people[["age", "bmi", "pulse"]], people["pressure"]) > 0.3  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning")
def test_an_interval_of_a_prediction_behind_a_schema_is_as_the_page_says(people: pd.DataFrame) -> None:
    schema = Schema({"age": number(18, 90, typical=50, std=16), "bmi": number(15, 50, typical=27, std=5)})
    center, scale = schema.feature_scales()
    stated = {"feature_bounds": schema.feature_bounds(), "feature_center": center, "feature_scale": scale}
    stated |= {"response_bounds": (80, 200), "response_center": 125, "response_scale": 15}
    fit = PrivateLinearRegression(epsilon=1.0, delta=1e-6, interval_share=0.3, random_state=0, **stated)
    reader = schema.transformer(extra_columns="ignore")
    whole = make_pipeline(reader, fit).fit(people, people["pressure"])
    values = {"fit": fit, "reader": reader, "new": people[:7]}
    low, high = eval(code(TUTORIAL, "predict_interval(reader"), values).T
    assert ((low < whole.predict(people[:7])) & (whole.predict(people[:7]) < high)).all()
