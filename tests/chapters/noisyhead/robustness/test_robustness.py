import copy
import math
from dataclasses import replace

import mpmath
import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.robustness import arithmetic, measure
from chapters.noisyhead.robustness.measure import Experiment
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead import head, population, recipes
from costofprivacy.noisyhead.accounts import ALGORITHM, noise_std
from costofprivacy.noisyhead.attack import NONE, Attack, perturb, statistic_energy
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page
from tests.each import each

QUIET = Runner(workers=1)
SMALL = arithmetic.Cell(N=20, L=6, D=2, failure=1.0, penalty=0.3, label_noise=0.2, mu=0.7, alpha=(2.0, 9.0),
                        test_prompts=4, epsilon=0.5, delta=1e-2)  # fmt: skip
FEW = {"T": (2,), "epsilon": 0.5, "delta": 1e-2, "failure": 0.01, "penalty": 1.0, "label_noise": 0.0}
PACKAGE = "chapters.noisyhead.robustness"
TINY = {
    "N": 30, "L": 8, "D": 3, "penalty": 0.3, "p": (1.0, 1.5), "trials": 4, "test_prompts": 5,
    "arithmetic_trials": 2, "digit_trials": 1, "fractions": (0.1, 0.3), "fraction_alpha": (1.0,), "fraction_trials": 2,
    "bound_N": 10, "bound_L": (40, 80), "bound_D": (3,), "bound_T": (2, 5), "bound_trials": 2,
}  # fmt: skip


def attacked(train: Prompts, last: Prompts, attack: Attack) -> tuple[np.ndarray, np.ndarray]:
    """Features and responses of all prompts, the attacked one in the last place."""
    bad = perturb(last, attack)
    return np.concatenate([train.x, bad.x]), np.concatenate([train.y, bad.y])


def test_a_trial_is_the_literal_experiment() -> None:
    """Every method, setting and part on the same draws, prompt by prompt and step by step."""
    cell, rng = SMALL, generator(5, 20, 0)
    train, last, test = (sample(cell.model, n, rng=rng) for n in (19, 1, 4))
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.statistics(train), head.statistics(train, clip)
    data = arithmetic.Draw(raw, clipped, last, 7, head.moments(head.statistics(test)))
    fast = arithmetic.measured(cell, data, copy.deepcopy(rng))
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    risk = lambda A: np.mean([(A * z).sum() ** 2 for z in Z])  # noqa: E731
    values = cell.columns.assign(displacement=fast[0], test_error=fast[1]).set_index(
        ["setting", "method", "part", "alpha"]
    )
    for setting, hyper in cell.hyper.items():
        starts = (0.1 if setting == Setting.PUBLISHED else 0.0) * rng.standard_normal((2, 2, 2))
        noises = [
            cell.noise[setting] * np.random.default_rng(s).standard_normal((hyper.steps, 2, 2))
            for s in rng.integers(2**63, size=2)
        ]
        told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        run = lambda a, i, j: oracles.noisyhead(*attacked(train, last, a), *told, noises[j], starts[i])  # noqa: B023, E731
        clean, bad = run(NONE, 0, 0), cell.attack(setting, 2.0)
        expected = {
            "attacked": run(bad, 1, 1),
            "attack": run(bad, 0, 0),
            "start": run(NONE, 1, 0),
            "noise": run(NONE, 0, 1),
        }
        for part, Gamma in expected.items():
            found = values.loc[(str(setting), "noisyhead", part, 2.0)]
            assert found["displacement"] == pytest.approx(risk(Gamma - clean), rel=1e-7, abs=1e-18)
            assert found["test_error"] == pytest.approx(population.prediction_error(cell.model, Gamma), rel=1e-9)
    for setting in arithmetic.RIDGE_SETTINGS:
        clean = oracles.ridge(*attacked(train, last, NONE), 0.3)
        for alpha in cell.alpha:
            Gamma = oracles.ridge(*attacked(train, last, cell.attack(setting, alpha)), 0.3)
            for method in ("ridge", "ridge-normal-equations"):
                found = values.loc[(str(setting), method, "attacked", alpha)]
                assert found["displacement"] == pytest.approx(risk(Gamma - clean), rel=1e-7)
                assert found["test_error"] == pytest.approx(population.prediction_error(cell.model, Gamma), rel=1e-9)
        far = values.loc[(str(setting), "ridge", "growth", 1e12)]
        limit = values.loc[(str(setting), "ridge", "limit", np.inf)]
        assert far["displacement"] == pytest.approx(limit["displacement"], rel=1e-9)


@pytest.fixture(scope="module")
def tiny() -> dict[str, pd.DataFrame]:
    return Experiment(**TINY).run(QUIET)


@pytest.mark.slow
def test_the_pages_show_other_parameters(tiny: dict[str, pd.DataFrame]) -> None:
    check_page("noisyhead/robustness", tiny)


@pytest.mark.parametrize("count", [1, 6])
def test_a_fraction_of_the_prompts_is_attacked_literally(count: int) -> None:
    """Every method on the same draws, prompt by prompt and step by step, the first prompts attacked."""
    told = {f: getattr(SMALL, f) for f in ("N", "L", "D", "failure", "penalty", "label_noise", "mu", "test_prompts")}
    cell = measure.CorruptedCell(**told, alpha=(2.0, 9.0), epsilon=0.5, delta=1e-2, fractions=(0.01, 0.3))
    rng = generator(5, 20, 0)
    prompts = sample(cell.model, 20, rng=rng)
    found = measure.corrupted_measured(cell, measure.attacked(cell, [prompts]), copy.deepcopy(rng))
    starts = [(0.1 if s == Setting.PUBLISHED else 0.0) * rng.standard_normal((2, 2)) for s in Setting]
    seed = int(rng.integers(2**63))
    first, rest = (
        Prompts(prompts.x[part], prompts.y[part], prompts.w[part]) for part in (np.s_[:count], np.s_[count:])
    )
    bad = perturb(first, Attack(9.0, 0.7, 9.0))
    x, y = np.concatenate([bad.x, rest.x]), np.concatenate([bad.y, rest.y])
    row = 1 + cell.each.index((measure.RESPONSES[1], 9.0)) * 2 + cell.counts.index(count)
    risk = lambda A: population.prediction_error(cell.model, A)  # noqa: E731
    values = dict(zip(measure.METHODS, found[row]))
    assert values[measure.RIDGE, Setting.PRINTED] == pytest.approx(risk(oracles.ridge(x, y, 0.3)), rel=1e-7)
    for (setting, hyper), start in zip(cell.hyper.items(), starts):
        noise = cell.noise[setting] * np.random.default_rng(seed).standard_normal((hyper.steps, 2, 2))
        own = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        for name, scale in ((measure.NOISYHEAD, 1.0), (measure.QUIET, 0.0)):
            Gamma = oracles.noisyhead(x, y, *own, scale * noise, start)
            assert values[name, setting] == pytest.approx(risk(Gamma), rel=1e-7)


def test_bits_depend_on_the_trial_alone_and_not_on_other_shifts() -> None:
    one, more = Experiment(**TINY).cell, Experiment(**TINY | {"p": (1.0, 1.2, 1.5)}).cell
    samples = {cell: QUIET.run(arithmetic.trial, [cell], 3, 5)[cell] for cell in (one, more)}
    np.testing.assert_array_equal(samples[one][2], arithmetic.trial(one, rng=generator(5, one.key, 2)))
    pick = lambda cell: cell.columns.query("part == 'attacked' and alpha == @cell.alpha[0]").index  # noqa: E731
    np.testing.assert_array_equal(samples[one][..., pick(one)], samples[more][..., pick(more)])


@pytest.fixture(scope="module")
def outlier() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.standard_normal((250, 4)) * 0.3, rng.standard_normal(250)


@each("name", arithmetic.EVALUATIONS)
@each("row", [0, 100, 249])
def test_without_an_outlier_every_evaluation_is_fifty_digits(outlier: tuple, name: str, row: int) -> None:
    Z, y = outlier
    rest, others = np.delete(Z, row, axis=0), np.delete(y, row)
    (exact,) = arithmetic.fifty_digits(rest, others, Z[[row]], y[[row]], 0.02)
    found = arithmetic.attempt(arithmetic.EVALUATIONS[name], Z, y, 0.02, row)
    np.testing.assert_allclose(found, exact, rtol=1e-11)


def test_fifty_digits_by_a_rank_one_update_are_those_of_the_whole_system(outlier: tuple) -> None:
    Z, y = outlier
    rest, others, p = np.delete(Z, 7, axis=0), np.delete(y, 7), Z.shape[1]
    (found,) = arithmetic.fifty_digits(rest, others, 1e9 * Z[[7]], y[[7]], 0.02)
    with mpmath.workdps(80):
        rows = [*map(mpmath.matrix, rest), mpmath.matrix(1e9 * Z[7])]
        left = sum((z * z.T for z in rows), mpmath.mpf(0.02) * len(y) * mpmath.eye(p))
        right = sum((z * t for z, t in zip(rows, [*others, y[7]])), mpmath.zeros(p, 1))
        np.testing.assert_array_equal(found, [float(v) for v in mpmath.lu_solve(left, right)])


def test_the_evaluations_agree_until_the_condition_number_decides() -> None:
    cell = replace(SMALL, alpha=(1.0, 1e9))
    samples = np.stack([arithmetic.rounding_trial(cell, rng=generator(1, 2, t)) for t in range(3)])
    table = arithmetic.table(cell, samples).set_index(["alpha", "evaluation"])
    near, far = table.loc[1.0], table.loc[1e9]
    assert (near["displacement"] / near.loc[arithmetic.RANK_ONE, "displacement"] - 1).abs().max() < 1e-9
    assert near["condition"].max() < 1e4
    assert far["condition"].min() > 1e16
    assert far.loc["QR", "displacement"] == pytest.approx(far.loc[arithmetic.RANK_ONE, "displacement"], rel=1e-4)
    errors = np.stack([arithmetic.digit_trial(cell, rng=generator(1, 2, t)) for t in range(2)])
    digits = arithmetic.digit_table(cell, errors).set_index(["alpha", "evaluation"])["worst_error"]
    assert digits[1e9, arithmetic.RANK_ONE] < 1e-12
    assert digits[1e9, "outlier first"] > 1e-2


def test_a_trial_of_the_theorem_is_the_literal_one() -> None:
    cell = measure.Cell(N=12, L=9, D=2, **FEW | {"T": (2, 3), "failure": 0.4, "label_noise": 0.1})
    rng = generator(3, 1, 0)
    train, last = (sample(cell.model, n, rng=rng) for n in (11, 1))
    data = head.statistics(train), head.statistics(train, cell.hyper.clip_norm)
    fast = measure.measured(cell, *data, last, copy.deepcopy(rng))
    x, y = attacked(train, last, NONE)
    Z = np.stack([oracles.statistic(a, b, np.inf, np.inf) for a, b in zip(x, y)])
    flat = Z.reshape(12, -1)
    assert fast[0] == pytest.approx(np.linalg.norm(flat.T @ flat) / 12)
    risk = lambda A: population.excess_risk(cell.model, A)  # noqa: E731
    hyper, worst = cell.hyper, cell.perturbations[measure.UPPER, measure.RESPONSES[1]]
    for t, T in enumerate(cell.T):
        noises = [
            cell.noise_std(T) * np.random.default_rng(s).standard_normal((T, 2, 2)) for s in rng.integers(2**63, size=2)
        ]
        told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        run = lambda a, j: oracles.noisyhead(*attacked(train, last, a), *told, noises[j], np.zeros((2, 2)))  # noqa: B023, E731
        first = run(NONE, 0)
        assert fast[1 + 2 * t] == pytest.approx(risk(run(worst, 1) - first), rel=1e-7)
        assert fast[2 + 2 * t] == pytest.approx(risk(run(worst, 0) - first), rel=1e-7)
    measured = fast[5:].reshape(-1, len(measure.RIDGE_QUANTITIES))
    clean = oracles.ridge(x, y, 1.0)
    for attack, row in zip(cell.perturbations.values(), measured, strict=True):
        bad_x, bad_y = attacked(train, last, attack)
        moved = oracles.ridge(bad_x, bad_y, 1.0) - clean
        bad = oracles.statistic(bad_x[-1], bad_y[-1], np.inf, np.inf)
        contribution = np.linalg.norm(bad_y[-1, -1] * bad - y[-1, -1] * Z[-1])
        expected = [risk(moved), (bad**2).sum(), contribution, np.linalg.norm(moved)]
        np.testing.assert_allclose(row[:4], expected, rtol=1e-6)
        assert row[3] <= row[4]


def test_the_perturbations_are_at_the_ends_of_the_window() -> None:
    cell = measure.Cell(N=500, L=1000, D=5, **FEW)
    for (name, _), attack in cell.perturbations.items():
        admits = cell.admits_amended if name.startswith("amended") else cell.admits
        beyond = replace(attack, response_shift=attack.response_shift * (1.01 if "upper" in name else 0.99))
        assert admits(attack) or name == measure.AMENDED_LOWER  # above the upper end at these sizes
        assert not admits(beyond)


def test_the_amended_upper_end_is_where_the_attacked_statistic_has_the_size_of_the_penalty() -> None:
    """Up to what a prompt without α has, and up to the 1 − 1/L of the mean."""
    for L in (100, 10000):
        cell = measure.Cell(N=10**6, L=L, D=5, **FEW)
        for name in (measure.AMENDED_UPPER, measure.AMENDED_SMALL):
            energy = statistic_energy(cell.model, cell.perturbations[name, measure.RESPONSES[0]])
            assert energy / (cell.N * cell.penalty) == pytest.approx(1, rel=2 / L)


def test_the_sizes_along_which_the_claims_are_followed() -> None:
    """Two noises and the ball as the library has them, and λ > C²/L, κ > N exp(−D²) at every point."""
    sizes = measure.sizes(0.5, 1e-2, 0.01, 1.0)
    assert (sizes["left"] / sizes["right"]).to_numpy() == pytest.approx(sizes["ratio"].to_numpy())
    assert (sizes["N"] * np.exp(-(sizes["D"] ** 2.0)) < 0.01).all()
    grams = sizes[sizes["claim"] == measure.GRAM]
    assert (grams["penalty"] > grams["right"]).all()
    assert set(sizes.loc[sizes["axis"] == measure.LEAST_AXIS, "claim"]) == {measure.FEW_STEPS}
    for claim, power in ((measure.BALL, 3), (measure.GRAM, 2)):
        rows = sizes[sizes["claim"] == claim]
        log = np.log(rows["N"] * rows["L"] / 0.01)
        assert rows["length_over"].to_numpy() == pytest.approx((rows["L"] / (rows["D"] ** power * log)).to_numpy())


def test_two_noises_alone_move_few_steps_as_far_as_the_closed_form_says(tiny: dict[str, pd.DataFrame]) -> None:
    """The closed form is a lower bound, exact where the data contract little, and the bound of two runs is above it."""
    sizes = measure.sizes(0.5, 1e-2, 0.01, 1.0)
    few = sizes[sizes["claim"] == measure.FEW_STEPS]
    for row in few.itertuples():
        model, N = PromptModel(row.D, int(row.L)), int(row.N)
        T = math.ceil(math.log(N))
        hyper = recipes.theorem(model, N, 0.01, row.penalty, T)
        std = noise_std(ALGORITHM, hyper, ApproximateDP(0.5, 1e-2), N, T)
        bound = attack_bounds.rerun_displacement_mean(model, hyper, N, std)
        assert bound / 8 < row.left < bound


def test_every_verdict_is_given_on_other_parameters(tiny: dict[str, pd.DataFrame]) -> None:
    for claim, judge in judges_of(PACKAGE).items():
        assert judge(tiny).verdict in Verdict, claim
