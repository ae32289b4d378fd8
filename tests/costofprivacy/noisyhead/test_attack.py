import math

import numpy as np
import pytest

from costofprivacy.noisyhead import attack, head, population, pretraining
from costofprivacy.noisyhead.attack import NONE, Attack
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from tests import oracles

from .draws import MODEL, drawn


def test_the_perturbed_prompt_is_the_papers() -> None:
    prompts = drawn(4)
    bad = attack.perturb(prompts, Attack(7.0, -0.5, 2.0))
    np.testing.assert_allclose(bad.x, prompts.x - 0.5)
    np.testing.assert_allclose(bad.y[:, :-1], prompts.y[:, :-1] + 7.0)
    np.testing.assert_allclose(bad.y[:, -1], prompts.y[:, -1] + 2.0)
    np.testing.assert_array_equal(attack.perturb(prompts, NONE).y, prompts.y)


@pytest.mark.parametrize(("clip", "bound"), [(np.inf, np.inf), (1.5, np.inf), (1.5, 0.3), (1.5, 40.0)])
def test_its_statistic_is_the_literal_one_clipped_and_projected(clip: float, bound: float) -> None:
    prompts, shift = drawn(5), Attack(3.0, 1.0, 3.0)
    bad = attack.perturb(prompts, shift)
    found = attack.candidates(prompts, [shift], clip)
    if np.isfinite(bound):
        found = head.project(found, bound)
    expected = [oracles.statistic(x, y, clip, bound) for x, y in zip(bad.x, bad.y)]
    np.testing.assert_allclose(found.Z, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.norm, [np.linalg.norm(Z) for Z in expected], rtol=1e-12)
    np.testing.assert_allclose(found.response, np.clip(bad.y[:, -1], -clip, clip))


@pytest.mark.parametrize("clip", [np.inf, 1.5])
def test_candidates_are_the_statistics_of_perturbed_prompts(clip: float) -> None:
    prompts = drawn(4)
    for shift in (Attack(3.0, 1.0, 3.0), Attack(3.0, 1.0), Attack(-0.4, 0.2), NONE):
        told = attack.unit_query(head.statistics(attack.perturb(prompts, shift), clip))
        found = attack.candidates(prompts, [NONE, shift], clip)
        np.testing.assert_allclose(found.Z[4:], told.Z, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(found.response[4:], told.response)


@pytest.mark.parametrize("radius", [0.4, 50.0])
def test_runs_on_several_data_sets_are_those_of_the_algorithm(radius: float) -> None:
    rng = np.random.default_rng(2)
    sets = [head.moments(head.project(head.statistics(drawn(40, seed), 2.0), 0.5)) for seed in (1, 2)]
    D, T = round(len(sets[0].cross) ** 0.5), 7
    hyper = Hyperparameters(2.0, 0.5, radius, 0.2, 0.5, T)
    starts = rng.standard_normal((3, D, D))
    noises = np.stack([0.3 * np.random.default_rng(s).standard_normal((T, D * D)) for s in (5, 6)])
    found = attack.pretrain_each([sets[0], sets[1], sets[1]], hyper, noises, [0, 1, 0], starts)
    for Gamma, data, seed, start in zip(found, (sets[0], sets[1], sets[1]), (5, 6, 5), starts):
        literal = pretraining.pretrain(data, hyper, [0.3], rng=np.random.default_rng(seed), initial=start)[0]
        np.testing.assert_allclose(Gamma, literal, rtol=1e-10, atol=1e-13)


def test_the_statistic_grows_along_its_direction() -> None:
    prompts = drawn(5)
    near, far = (attack.candidates(prompts, [Attack(alpha, 0.7)]).Z for alpha in (1.0, 1e6))
    np.testing.assert_allclose((far - near) / (1e6 - 1), attack.direction(prompts, 0.7), rtol=1e-6)


@pytest.mark.parametrize("shift", [NONE, Attack(0.0, 0.5), Attack(4.0, 0.0), Attack(3.0, 1.0), Attack(2.0, 0.1)])
def test_the_energy_against_simulation_and_a_wrong_one(shift: Attack) -> None:
    values = attack.candidates(drawn(40000, 3), [shift]).norm ** 2
    error = values.std() / math.sqrt(len(values))
    closed = attack.statistic_energy(MODEL, shift)
    assert abs(values.mean() - closed) < 4.5 * error
    assert abs(values.mean() - 1.08 * closed) > 4.5 * error


def test_with_each_is_the_moments_of_all_prompts() -> None:
    data = head.statistics(drawn(21))
    whole = head.moments(data)
    rest, last = (head.Statistics(data.query[s], data.context[s], data.response[s]) for s in (slice(20), slice(20, 21)))
    (found,) = attack.with_each(head.moments(rest), 20, last)
    np.testing.assert_allclose(found.gram, whole.gram, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(found.cross, whole.cross, rtol=1e-12, atol=1e-16)


def test_without_an_attack_the_energy_is_the_clean_one() -> None:
    assert attack.statistic_energy(MODEL, NONE) == pytest.approx(population.context_energy(MODEL), rel=1e-15)
