"""What every page's figures and tables are held to: words that are computed, and typeset for the one who reads them."""

import re

import pandas as pd

from costofprivacy.showing.plates import Plate

MACHINE = re.compile(r"\de-\d|nan|inf\b")
NAMES = re.compile(r"\w_\w|\de[-+]\d|nan|NaN")


def check_plate(plate: Plate, numbers: int = 3) -> None:
    """Its alternative text has numbers and no mathematics; no number is spelt as machines do."""
    assert len(re.findall(r"\d", plate.alt)) >= numbers
    assert not MACHINE.search(plate.caption + plate.alt)
    assert "\\" not in plate.alt
    assert "$" not in plate.alt


def check_table(shown: pd.DataFrame, rows: int = 3) -> None:
    """It has rows, each of them full, and neither names of columns nor numbers as machines spell them."""
    assert len(shown) >= rows
    assert not NAMES.search(shown.to_csv())
    assert shown.notna().all(axis=None)
