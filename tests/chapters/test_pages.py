"""Every figure and table of the chapters, made from the committed tables as the notebooks make them."""

import pandas as pd
import pytest

from companion.showing.plates import Plate
from tests.chapters.reading import NOTEBOOKS, check_plate, check_table, shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, path in NOTEBOOKS.items() if "chapter.show(" in path.read_text("utf-8")]
)
def test_what_a_page_shows_is_computed_and_typeset(name: str) -> None:
    for found, outputs in shown(name):
        if isinstance(found, Plate):
            check_plate(found)
        elif isinstance(found, pd.DataFrame):
            check_table(found)
            rows = "".join(outputs[0]["data"]["text/html"]).partition("<tbody>")[2]
            assert len(found) == rows.count("<tr>")
