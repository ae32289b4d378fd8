"""The closed forms behind Figure 3 and Proposition 4.1, against formulas written out."""

import math
from dataclasses import replace

import numpy as np
import pytest

from chapters.noisyhead.early_stopping import measure
from chapters.noisyhead.early_stopping.measure import Run
from costofprivacy.noisyhead import accounts as accounting
from costofprivacy.noisyhead import bounds, dynamics, population, pretraining
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    exact_composed_noise_multiplier,
    last_iterate,
)

BUDGET = ApproximateDP(0.8, 1e-5)
MODEL = PromptModel(10, 10, 0.5)
HYPER = Hyperparameters(4.0, 2.0, 3.0, 10.0, 0.002, 1)
RUN = Run(HYPER, MODEL, 100)


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_risk_is_the_sum_of_its_parts(account: str) -> None:
    steps = np.array([1, 4, 50])
    found = RUN.risk(2.5, account, BUDGET, steps)
    h, e = dynamics.curvature(MODEL), population.context_energy(MODEL)
    a = 1 - 0.002 * (20 + h)
    sensitivity = 0.002 * 2 * 2.0 * (4.0 + 3.0 * 2.0) / 100
    for T, row in zip(steps, found.itertuples()):
        every = sensitivity * exact_composed_noise_multiplier(BUDGET, T)
        std = {
            ALGORITHM: sensitivity * basic_noise_multiplier(BUDGET, T),
            EVERY: every,
            LAST: every * last_iterate(GaussianDP(1.0), 0.96, T).mu / np.sqrt(T),
        }[account]
        noise = std**2 * e * sum(a ** (2 * t) for t in range(T))
        descent = dynamics.descent_risk(HYPER, MODEL, 100, 10.0, 2.5, np.array([T]))[0]
        assert row[1:] == pytest.approx((T, descent, noise, descent + noise), rel=1e-9)
        assert accounting.noise_std(account, HYPER, BUDGET, 100, T) == pytest.approx(std)


def test_the_bounds_of_the_paper_at_each_T() -> None:
    """(4.2) with G₀ of the proof, (4.5) and C_Noise at r = (1 − η₀λ)^{−T}."""
    table = measure.right_sides(RUN, 0.3, BUDGET, np.array([3, 80]))
    C = np.sqrt(2 * 1.25 * np.log(1000 / 0.3))
    G0 = C / np.sqrt(10) * (1 + (-np.log(0.3) / 100) ** 0.25)
    for T, row in zip((3, 80), table.itertuples()):
        r = 0.98**-T
        sigma = 2 * 2.0 * (4.0 + 3.0 * 2.0)
        by_hand = (
            G0**2 * 0.98**T * 9,
            (G0 * sigma * 0.002 * T / 80) ** 2 * 10 * np.log(2 * T / 1e-5),
            *bounds.overparametrised_cost(MODEL, 100, r, BUDGET),
            10 * np.sqrt(10) * np.log(r) ** 3 / (100 * np.log(1000)),
        )
        assert row[1:] == pytest.approx((T, r, *by_hand), rel=1e-9)
        assert row.descent_42 == pytest.approx(bounds.cost_of_descent(replace(HYPER, steps=T), G0))
        assert row.noise_42 == pytest.approx(bounds.cost_of_noise(replace(HYPER, steps=T), G0, MODEL, BUDGET, 100))


def test_the_last_iterates_price_in_the_limit() -> None:
    """A(1 − x)² + B x² with x = a^T: its least value and place by search, and its limit A."""
    limits = measure.last_iterate(RUN, BUDGET, {"far": 2.5, "zero": 0.0}).set_index("start")
    A, B = limits.loc["far", "A"], limits.loc["far", "B"]
    x = np.linspace(0, 1, 200_001)
    total = A * (1 - x) ** 2 + B * x**2
    assert limits.loc["far", "least"] == pytest.approx(total.min(), rel=1e-8)
    a = 1 - HYPER.learning_rate * (2 * HYPER.penalty + dynamics.curvature(MODEL))
    assert a ** limits.loc["far", "best_T"] == pytest.approx(x[total.argmin()], abs=1e-5)
    assert limits.loc["far", "for_ever_over_least"] == pytest.approx(1 + A / B)
    steps = np.arange(1, 400)
    curve = RUN.risk(2.5, LAST, BUDGET, steps)
    np.testing.assert_allclose(curve["noise"], A * (1 - a**steps) ** 2, rtol=5e-4)  # c and a differ by η₀h


# as N grows


def told_by_hand(N: int, failure: float, label_noise: float) -> Hyperparameters:
    D = math.isqrt(N)
    C = np.sqrt(2 * (1 + label_noise**2) * np.log(N * D / failure))
    G = C / np.sqrt(D) * (1 + np.sqrt(np.log(N / failure)) / D)
    R = C**2 * np.sqrt(N / D) * D / N * (1 + np.sqrt(np.log(1 / failure)) / D)
    return Hyperparameters(C, G, R, N / D, 0.9 * N / D / (2 * N / D + G**2) ** 2, 1)


def test_the_best_T_as_N_grows_is_the_least_of_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Γ⁰ of Figure 3 is longer than R at N = 10⁴ and projected on it; the longest start has the latest best T."""
    monkeypatch.setattr(measure, "SIZES", (100, 10**4))
    monkeypatch.setattr(measure, "LONGEST", 150)
    table = measure.stopping(0.5, 0.3, BUDGET)
    assert len(table) == 2 * 3 * 3
    steps = np.arange(1, 151)
    for row in table.itertuples():
        hyper, size = told_by_hand(int(row.N), 0.5, 0.3), math.isqrt(int(row.N))
        lengths = {
            measure.FROM_R: hyper.weight_bound,
            measure.FROM_FIGURE: 1.0 if size == 10 else hyper.weight_bound,
            measure.FROM_ZERO: 0.0,
        }
        run = Run(hyper, PromptModel(size, size, 0.3), int(row.N))
        total = run.risk(lengths[row.start] ** 2, row.account, BUDGET, steps)["total"]
        assert row.best_T == steps[total.argmin()]
        assert row.best_T_over_log_N == pytest.approx(row.best_T / np.log(row.N))
        assert row.risk_at_best == pytest.approx(total.min())
        assert row.risk_at_longest_over_best == pytest.approx(total.iloc[-1] / total.min())
    best = table.pivot_table(index=["N", "account"], columns="start", values="best_T")
    assert (best[measure.FROM_ZERO] <= best[measure.FROM_FIGURE]).all()
    assert (best[measure.FROM_FIGURE] <= best[measure.FROM_R]).all()


def test_the_risk_where_r_is_N_by_hand() -> None:
    table = measure.stopped(0.5, 0.3, 1e-4)
    assert len(table) == 8 * 4
    row = table.query("N == 1e4 and epsilon == 0.1").iloc[0]
    hyper, model = told_by_hand(10**4, 0.5, 0.3), PromptModel(100, 100, 0.3)
    T = math.ceil(math.log(10**4) / -math.log1p(-hyper.learning_rate * 100))
    assert row["T"] == T
    assert row["T_over_log_N"] == pytest.approx(T / np.log(10**4))
    std = pretraining.noise_std_printed(replace(hyper, steps=T), ApproximateDP(0.1, 1e-4), 10**4)
    noise = dynamics.noise_risk(replace(hyper, steps=T), model, std, dynamics.curvature(model))
    descent = dynamics.descent_risk(hyper, model, 10**4, 100.0, hyper.weight_bound**2, np.array([T]))[0]
    assert row["excess_risk"] == pytest.approx(noise + descent)
    assert row["bound_46"] == pytest.approx(1.09**5 * np.log(10**6) ** 3 * 1e4 / 1e12)
    logs = np.log(10**4) ** 3 * 100 / 1e12 * 1e4 * np.log(1e4) / 0.01
    assert row["bound_45"] == pytest.approx(row["bound_46"] * (1 + logs))


def test_section_62_by_hand() -> None:
    """With D = L = √N at r = N: N^{-2}; N^{-7/2}log³N; N^{-1/4}log³N/log N^{3/2}."""
    table = measure.section_62(0.3, BUDGET).set_index("N")
    sizes = table.index.to_numpy()
    np.testing.assert_allclose(table["descent"], sizes**-2)
    np.testing.assert_allclose(table["noise_45"], sizes**-3.5 * np.log(sizes) ** 3)
    np.testing.assert_allclose(table["noise_printed"], sizes**-0.25 * np.log(sizes) ** 2 / 1.5)
    np.testing.assert_allclose(table["exponent_descent"], -2)
    step = np.log(table["noise_45"].iloc[-1] / table["noise_45"].iloc[-2]) / np.log(100)
    assert table["exponent_noise_45"].iloc[-1] == pytest.approx(step)


def test_the_bound_is_followed_along_each_size() -> None:
    """(4.5) along T, along ever smaller ε at r = N, and along T at the largest ε that is private."""
    table = measure.any_steps(0.5, 0.3, BUDGET)
    assert (table["N"] == 1e4).all()
    axes = dict(list(table.groupby("axis")))
    assert set(axes) == {"T", "ε", "T, ε = T"}
    assert (axes["T"]["epsilon"] == 0.8).all()
    assert axes["ε"]["T"].nunique() == 1
    assert axes["ε"]["epsilon"].min() == pytest.approx(1e-8)
    for axis in ("T", "T, ε = T"):
        assert (axes[axis]["T"].min(), axes[axis]["T"].max()) == (1, measure.LONGEST)
    assert (axes["T, ε = T"]["epsilon"] == axes["T, ε = T"]["T"]).all()
    run = Run(told_by_hand(10**4, 0.5, 0.3), PromptModel(100, 100, 0.3), 10**4)
    for row in table.iloc[[3, len(axes["T"]) + 2, -2]].itertuples():
        budget = ApproximateDP(row.epsilon, 1e-5)
        r = (1 - run.hyper.learning_rate * 100) ** -row.T
        assert row.r == pytest.approx(r, rel=1e-9)
        assert row.bound_45 == pytest.approx(sum(bounds.overparametrised_cost(run.model, 10**4, r, budget)), rel=1e-9)
        total = run.risk(run.hyper.weight_bound**2, ALGORITHM, budget, np.array([row.T]))["total"][0]
        assert row.excess_risk == pytest.approx(total)


def test_the_parts_at_the_stop_by_hand() -> None:
    """Noise and descent at T of the order of log N; the noise of one step is quadratic in the learning rate."""
    table = measure.parts_at_stop(0.5, 0.3, BUDGET)
    assert len(table) == 8 * 2 * 3 * 3
    assert sorted(table[table["N"] == 1e4]["T"].unique()) == [1, 5, 10]
    model, hyper = PromptModel(100, 100, 0.3), told_by_hand(10**4, 0.5, 0.3)
    h = dynamics.curvature(model)
    zero = h * dynamics.cross_energy(model, 10**4) / (100 + h) ** 2
    for start, energy in ((measure.FROM_R, hyper.weight_bound**2), (measure.FROM_ZERO, 0.0)):
        for share in measure.RATES:
            told = replace(hyper, learning_rate=share * hyper.learning_rate)
            rows = table[(table["N"] == 1e4) & (table["start"] == start) & (table["rate_share"] == share)]
            closed = Run(told, model, 10**4).risk(energy, ALGORITHM, BUDGET, np.array([1, 5, 10]))
            np.testing.assert_allclose(rows["noise"], closed["noise"])
            np.testing.assert_allclose(rows["descent"], closed["descent"])
            np.testing.assert_allclose(rows["zero_risk"], zero)
            np.testing.assert_allclose(rows["noise_over_descent"], closed["noise"] / closed["descent"])
            np.testing.assert_allclose(rows["descent_over_zero"], closed["descent"] / zero)
    first = table[(table["T"] == 1) & (table["N"] == 1e8)].groupby("rate_share")["noise"].first()
    np.testing.assert_allclose(first / first[1.0], first.index.to_numpy() ** 2)
