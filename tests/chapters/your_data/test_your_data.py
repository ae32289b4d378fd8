"""What bounds and missing cells cost, against predictions on new people; and the laws of the made-up survey."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from chapters.your_data import show
from costofprivacy.estimators import DPGDRegressor

SMALL = show.TightProblem(n=2000, d=3, epsilon=3.0, delta=1e-5)
FEW = show.MissingProblem(n=2000, d=3, epsilon=3.0, delta=1e-5)


class FreeFit(LinearRegression):
    """Least squares where a private fit is asked for: void records are dropped."""

    asked: list = []  # noqa: RUF012

    def fit(self, X, y):
        kept = ~np.isnan(X).any(axis=1)
        return super().fit(X[kept], y[kept])


def free(**public):
    FreeFit.asked.append(public)
    return FreeFit()


def cheap(**public):
    return DPGDRegressor(not_finite="void", schedule="constant", clip=0.3, **public)


@pytest.fixture(scope="module")
def widened():
    return show.loose_table(range(3), cheap, SMALL, (1.0, 4.0))


@pytest.fixture(scope="module")
def gaps():
    return show.missing_table(range(3), cheap, FEW, (0.0, 0.3))


def test_the_loss_of_a_loose_bound_is_that_of_predictions():
    rng = np.random.default_rng(0)
    X, y = SMALL.draw(rng)
    model = cheap(
        epsilon=3.0, delta=1e-5, feature_bounds=(-2.0, 2.0), expected_r2=0.8, spectrum=None, random_state=1,
        response_bounds=(-show.REACH * SMALL.response_deviation, show.REACH * SMALL.response_deviation),
    ).fit(X, y)  # fmt: skip
    told = show.loss(X, y, SMALL, show.FEATURES, 2.0, cheap, 1)
    new = rng.uniform(-1, 1, (400_000, 3))
    truth = new @ SMALL.coefficients
    assert told == pytest.approx(((model.predict(new) - truth) ** 2).mean() / truth.var(), rel=0.02)
    assert y.var() == pytest.approx(SMALL.response_deviation**2, rel=0.1)
    assert np.corrcoef(X @ SMALL.coefficients, y)[0, 1] ** 2 == pytest.approx(SMALL.r2, abs=0.03)


def test_wider_bounds_are_what_is_asked_for_and_cost_nothing_without_privacy():
    FreeFit.asked.clear()
    found = show.loose_table(range(2), free, SMALL, (1.0, 8.0))
    assert found["lost"].max() == pytest.approx(found["lost"].min())
    reach = show.REACH * SMALL.response_deviation
    wide = [asked for asked in FreeFit.asked if asked["feature_bounds"] == (-8.0, 8.0)]
    assert [asked["response_bounds"][1] / reach for asked in wide] == [1, 8, 1] * 2
    assert [asked["spectrum"] for asked in wide] == [None, None, 3 / 64] * 2


def test_a_loose_bound_costs_and_a_stated_variance_mends_it(widened):
    lost = widened.set_index(["widened", "factor"])["lost"]
    assert lost.groupby("factor").nunique()[1.0] == 1
    assert lost[show.FEATURES, 4.0] > 5 * lost[show.FEATURES, 1.0]
    assert lost[show.STATED, 4.0] == pytest.approx(lost[show.FEATURES, 1.0])
    assert lost[show.BOTH, 4.0] > lost[show.RESPONSE, 4.0] > lost[show.RESPONSE, 1.0]


def test_people_have_the_stated_law():
    X = show.people(200_000, 3, np.random.default_rng(1))
    assert X.mean() == pytest.approx(show.MEAN, abs=0.005)
    assert ((X > 0) & (X < 1)).all()
    assert 0.2 < np.corrcoef(X.T)[0, 1] < 0.35
    assert FEW.expected(X).std() == pytest.approx(1, abs=0.01)
    y = FEW.expected(X) + FEW.noise(len(X), np.random.default_rng(2))
    assert (FEW.expected(X) - y).var() == pytest.approx(1 / FEW.r2 - 1, rel=0.02)
    low, high = FEW.response_bounds
    assert ((y > low) & (y < high)).mean() > 0.99


def test_without_privacy_dropping_is_unbiased_and_imputation_is_not(gaps):
    rows = gaps[gaps["fit"] == show.FREE].set_index(["rule", "share"])
    assert rows["lost_complete"].xs(0.0, level="share").max() < 0.01
    assert rows.loc[(show.VOID, 0.3), "lost_complete"] < 0.01
    assert rows.loc[(show.MIDDLE, 0.3), "lost_complete"] > 5 * rows.loc[(show.VOID, 0.3), "lost_complete"]
    assert rows.loc[(show.MIDDLE, 0.3), "lost_missing"] > rows.loc[(show.TYPICAL, 0.3), "lost_missing"]
    assert (rows["records"].xs(0.3, level="share") - 0.7**3).abs().max() < 0.02


N = 60_000  # people of the survey


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
    found, square, *_ = np.linalg.lstsq(table.to_numpy(float), kept[show.RESPONSE_COLUMN].to_numpy(), rcond=None)
    told = [*show.EFFECTS.values(), *list(show.REGIONS.values())[1:], show.WINTER, show.BASE]
    deviations = show.NOISE * np.sqrt(np.diag(np.linalg.inv(table.to_numpy(float).T @ table.to_numpy(float))))
    assert (np.abs(found - told) < 5 * deviations).all()
    assert math.sqrt(square[0] / len(kept)) == pytest.approx(show.NOISE, rel=0.02)
