import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.clipping_factors import figures, page
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/clipping-factors")


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "With Rademacher features and the error in one coordinate" in found
    definition = TABLES["definition"]
    worse = (definition["law"] == "Gaussian") & (definition["quantity"] == "mu")
    other = opening_of(page)(TABLES | {"definition": change(definition, "value", lambda rows: 0.1, worse)})
    assert "With Gaussian features" in other
    assert "clipping leaves 0.1 of the descent, where" in other
    assert "none fails" in found
    assert "none fails" not in other


def test_the_furthest_factor_is_further_on_either_side() -> None:
    rows = [("a", 0.5, 0.6), ("b", 0.9, 0.6), ("c", 0.1, 0.6)]
    table = pd.DataFrame(rows, columns=["law", "value", "closed_form"]).assign(quantity="mu")
    assert page.furthest(table)["law"] == "c"


def test_the_caption_on_precision_follows_the_errors() -> None:
    worse = change(TABLES["precision"], "nu_error", lambda rows: 0.02, TABLES["precision"].index[:1])
    assert "here is at most 0.02 over" in figures.draw_precision(worse).caption


def test_powers_of_the_distance_are_those_of_its_rows() -> None:
    table = TABLES["dimension"]
    flat = table.assign(value=np.where(table["quantity"] == "distance", table["d"] ** -0.5, table["value"]))
    assert list(figures.distance_powers(flat).values()) == pytest.approx([-0.5, -0.5])
    assert "$d^{-0.50}$ (isotropic)" in figures.draw_dimension(flat).caption
