r"""A made-up survey, as a table that a newcomer may have: numbers, a category, a truth value, a date, and empty cells.

No person is in it. Everything is drawn from the laws below, so that the true coefficients are known:

======================  ============================  ==========================================  ================
column                  law                           effect on the pressure                      empty cells
======================  ============================  ==========================================  ================
``age``                 18 + 72 · Beta(2, 2.5)        0.45 mmHg a year                            none
``bmi``                 normal, 27 ± 4.5              0.9 mmHg a kg/m²                            none
``pulse``               normal, 72 ± 10               0.15 mmHg a beat                            none
``exercise``            gamma, mean 3 hours a week    −1.2 mmHg an hour                           10 %
``smoker``              true for 20 %                 4 mmHg                                      3 %, as text
``region``              one of `REGIONS`              `REGIONS`                                   none; 1 % "abroad"
``visit``               any day of 2023 and 2024      2 mmHg more in midwinter, less in summer    none
``pressure``            the response, in mmHg         noise of standard deviation `NOISE`         none
======================  ============================  ==========================================  ================

>>> rng = np.random.default_rng(0)
>>> print(draw(3, rng=rng)[["age", "smoker", "region"]].to_string(index=False))
 age smoker region
64.0     no   east
72.0     no   east
76.0     no  north
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

REGIONS = {"north": 0.0, "east": 1.0, "south": -3.0, "west": 2.0}  # mmHg
SHARES = (0.4, 0.3, 0.2, 0.1)
ABROAD = "abroad"  # a region that no schema lists
EFFECTS = {"age": 0.45, "bmi": 0.9, "pulse": 0.15, "exercise": -1.2, "smoker": 4.0}  # mmHg for each unit
WINTER = 2.0  # mmHg, between the mean and midwinter
BASE = 70.0  # mmHg
NOISE = 9.0  # mmHg
DAYS, YEAR = 731, 365.25
NUMBERS = ["age", "bmi", "pulse"]  # the columns that are numbers without empty cells
RESPONSE = "pressure"


def draw(n: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """A survey of n people.

    Args:
        n: number of people, at least 1. rng: source of randomness.

    Returns:
        One row a person, with the columns of the module's table.
    """
    days = rng.integers(DAYS, size=n)
    table = pd.DataFrame(
        {
            "age": (18 + 72 * rng.beta(2, 2.5, n)).round(),
            "bmi": np.clip(rng.normal(27, 4.5, n), 15, 50).round(1),
            "pulse": rng.normal(72, 10, n).round(),
            "exercise": rng.gamma(1.5, 2.0, n).round(1),
            "smoker": rng.random(n) < 0.2,
            "region": rng.choice(list(REGIONS), n, p=SHARES),
            "visit": pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D"),
        }
    )
    table[RESPONSE] = (_expected(table, days) + NOISE * rng.standard_normal(n)).round(1)
    return _with_gaps(table, rng)


def _expected(table: pd.DataFrame, days: np.ndarray) -> np.ndarray:
    """The mean response of people whose cells are all there, shape (n,)."""
    season = WINTER * np.cos(2 * math.pi * days / YEAR)
    linear = sum(effect * table[name].to_numpy(float) for name, effect in EFFECTS.items())
    return np.asarray(BASE + linear + table["region"].map(REGIONS).to_numpy() + season)


def _with_gaps(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The table with empty cells, which say nothing about the person, and with regions that nobody expects."""
    n = len(table)
    smokers = np.where(rng.random(n) < 0.03, "", np.where(table["smoker"], "yes", "no"))
    exercise = table["exercise"].mask(rng.random(n) < 0.1)
    region = table["region"].mask(rng.random(n) < 0.01, ABROAD)
    return table.assign(smoker=smokers, exercise=exercise, region=region)
