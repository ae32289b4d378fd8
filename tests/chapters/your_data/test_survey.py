"""The made-up survey of the tutorials: its laws against the table in its module, and its coefficients."""

import math

import numpy as np
import pandas as pd
import pytest

from chapters.your_data import show

N = 60_000


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return show.draw(N, rng=np.random.default_rng(5))


def test_the_columns_have_the_means_and_gaps_that_are_told(people: pd.DataFrame) -> None:
    for name, (mean, deviation) in {"bmi": (27, 4.5), "pulse": (72, 10), "exercise": (3, math.sqrt(6))}.items():
        assert people[name].mean() == pytest.approx(mean, abs=5 * deviation / math.sqrt(N))
        assert people[name].std() == pytest.approx(deviation, rel=0.03)
    assert people["age"].mean() == pytest.approx(18 + 72 * 2 / 4.5, abs=0.3)
    shares = {"exercise": people["exercise"].isna(), "smoker": people["smoker"] == ""}
    shares["region"] = people["region"] == show.ABROAD
    for (name, found), told in zip(shares.items(), (0.1, 0.03, 0.01), strict=True):
        assert found.mean() == pytest.approx(told, abs=5 * math.sqrt(told / N)), name
    assert (people["smoker"] == "yes").mean() == pytest.approx(0.2 * 0.97, abs=0.01)
    assert people["visit"].min() == pd.Timestamp("2023-01-01")
    assert people["visit"].max() == pd.Timestamp("2024-12-31")


def test_least_squares_on_what_is_complete_finds_the_effects(people: pd.DataFrame) -> None:
    kept = people[people["exercise"].notna() & (people["smoker"] != "") & (people["region"] != show.ABROAD)]
    days = (kept["visit"] - pd.Timestamp("2023-01-01")).dt.days
    table = kept[["age", "bmi", "pulse", "exercise"]].assign(smoker=kept["smoker"] == "yes")
    for name in ("east", "south", "west"):
        table[name] = kept["region"] == name
    table["winter"] = np.cos(2 * math.pi * days / show.YEAR)
    table["one"] = 1.0
    found, square, *_ = np.linalg.lstsq(table.to_numpy(float), kept[show.SURVEY_RESPONSE].to_numpy(), rcond=None)
    told = [*show.EFFECTS.values(), *list(show.REGIONS.values())[1:], show.WINTER, show.BASE]
    deviations = show.NOISE * np.sqrt(np.diag(np.linalg.inv(table.to_numpy(float).T @ table.to_numpy(float))))
    assert (np.abs(found - told) < 5 * deviations).all()
    assert math.sqrt(square[0] / len(kept)) == pytest.approx(show.NOISE, rel=0.02)
