import numpy as np

from costofprivacy.noisyhead import head, population, recipes
from costofprivacy.noisyhead.pretraining import OF_ALGORITHM_1, OF_THE_LOSS, Descent, dp_sgd, noise_risk
from costofprivacy.noisyhead.ridge import ridge
from tests.each import each

MODEL = recipes.square_model(3, 100, 0.0)
DATA = head.sample_statistics(MODEL, 100, rng=np.random.default_rng(1))[0]


def literal(data: head.Statistics, descent: Descent, f: float, c: float, s: float, rng: np.random.Generator):
    """DP-SGD prompt by prompt, on the same samples and noise."""
    N, D = data.query.shape
    Gamma = np.zeros((D, D))
    for _ in range(descent.steps):
        drawn = rng.random(N) < descent.batch / N
        total = np.zeros((D, D))
        for k in np.flatnonzero(drawn):
            gradient = f * (np.sum(Gamma * data.Z[k]) - data.response[k]) * data.Z[k]
            total += gradient / max(1.0, np.linalg.norm(gradient) / c)
        noise = s * rng.standard_normal(D * D).reshape(D, D)
        step = total / descent.batch + noise + 2 * descent.penalty * Gamma
        Gamma = Gamma - descent.learning_rate * step
    return Gamma


@each(("f", "c", "s"), [(2.0, 0.1, 0.3), (1.0, 5.0, 0.0), (2.0, 0.02, 1.0)])
def test_it_is_the_literal_algorithm_on_the_same_numbers(f: float, c: float, s: float) -> None:
    descent = Descent(0.5, 0.3, 12, 20)
    others = np.array([f, 1.0]), np.array([c, 1.0]), np.array([s, 0.1])
    found = dp_sgd(DATA, descent, *others, rng=np.random.default_rng(2))[0]
    np.testing.assert_allclose(found, literal(DATA, descent, f, c, s, np.random.default_rng(2)), rtol=1e-10, atol=1e-14)


@each(("f", "share"), [(OF_THE_LOSS, 1.0), (OF_ALGORITHM_1, 2.0)])
def test_without_noise_on_all_prompts_it_rests_at_ridge(f: float, share: float) -> None:
    arrays = np.array([f]), np.array([np.inf]), np.array([0.0])
    found = dp_sgd(DATA, Descent(0.4, 0.2, 400, 100), *arrays, rng=np.random.default_rng(0))[0]
    np.testing.assert_allclose(found, ridge(head.moments(DATA), share * 0.4), rtol=1e-9)


@each("f", [OF_THE_LOSS, OF_ALGORITHM_1])
def test_the_closed_form_is_the_noise_of_many_runs(f: float) -> None:
    descent, runs, std = Descent(1.0, 0.2, 15, 20), 4000, 3.0
    arrays = np.full(2, f), np.full(2, np.inf), np.array([0.0, std])
    risks = []
    for seed in range(runs // 40):
        still, noisy = dp_sgd(DATA, descent, *arrays, rng=np.random.default_rng(seed))
        risks.append(population.excess_risk(MODEL, noisy - still))
    mean, error = np.mean(risks), np.std(risks) / np.sqrt(len(risks))
    expected = noise_risk(descent, MODEL, f, std)
    assert abs(mean - expected) < 4 * error + 0.02 * expected
    assert abs(mean - 1.5 * expected) > 4 * error + 0.02 * expected


def test_many_prompts_in_a_step_are_the_literal_algorithm_too() -> None:
    data = head.sample_statistics(MODEL, 1300, rng=np.random.default_rng(3))[0]
    descent, arrays = Descent(0.5, 0.3, 2, 1200), (np.array([2.0]), np.array([0.3]), np.array([0.1]))
    found = dp_sgd(data, descent, *arrays, rng=np.random.default_rng(4))[0]
    expected = literal(data, descent, 2.0, 0.3, 0.1, np.random.default_rng(4))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
