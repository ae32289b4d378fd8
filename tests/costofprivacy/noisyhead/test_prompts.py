import numpy as np
from scipy import stats

from costofprivacy.noisyhead.prompts import PromptModel, Prompts, embed, sample
from tests.each import each


@each("tau", [0.0, 0.5])
@each(("D", "L"), [(1, 1), (2, 7), (5, 31)])
def test_shapes_and_unit_features(D: int, L: int, tau: float) -> None:
    drawn = sample(PromptModel(D, L, tau), 20, rng=np.random.default_rng(0))
    assert drawn.x.shape == (20, L + 1, D)
    assert drawn.y.shape == (20, L + 1)
    np.testing.assert_allclose(np.linalg.norm(drawn.x, axis=2), 1, rtol=1e-12)


def test_without_label_noise_the_responses_are_the_tasks() -> None:
    drawn = sample(PromptModel(4, 9), 30, rng=np.random.default_rng(1))
    np.testing.assert_allclose(drawn.y, np.einsum("nld,nd->nl", drawn.x, drawn.w), rtol=1e-12)


def test_the_label_noise_has_its_standard_deviation_and_a_wrong_one_is_seen() -> None:
    tau, model = 0.5, PromptModel(3, 50, 0.5)
    drawn = sample(model, 2000, rng=np.random.default_rng(2))
    square = ((drawn.y - np.einsum("nld,nd->nl", drawn.x, drawn.w)) ** 2).sum()
    count = drawn.y.size
    assert 0.001 < stats.chi2.cdf(square / tau**2, count) < 0.999
    assert not 0.001 < stats.chi2.cdf(square / (1.1 * tau) ** 2, count) < 0.999


def test_responses_have_the_stated_variance() -> None:
    model = PromptModel(5, 10, 0.5)
    drawn = sample(model, 20000, rng=np.random.default_rng(3))
    one_a_prompt = drawn.y[:, 0]
    score = (np.mean(one_a_prompt**2) / model.response_variance - 1) / np.sqrt(2 / len(one_a_prompt))
    assert abs(score) < 4


def test_features_are_uniform_on_the_sphere() -> None:
    """On S² the first coordinate is uniform on [−1, 1]; on S⁴ its square is Beta(1/2, 2)."""
    first = sample(PromptModel(3, 1), 5000, rng=np.random.default_rng(4)).x[:, 0, 0]
    assert stats.kstest(first, stats.uniform(-1, 2).cdf).pvalue > 0.001
    square = sample(PromptModel(5, 1), 5000, rng=np.random.default_rng(5)).x[:, 0, 0] ** 2
    assert stats.kstest(square, stats.beta(0.5, 2).cdf).pvalue > 0.001


@each("tau", [0.0, 0.3])
def test_one_call_or_several_give_the_same_prompts(tau: float) -> None:
    model = PromptModel(4, 6, tau)
    whole = sample(model, 10, rng=np.random.default_rng(6))
    rng = np.random.default_rng(6)
    parts = [sample(model, n, rng=rng) for n in (3, 7)]
    np.testing.assert_array_equal(whole.x, np.concatenate([p.x for p in parts]))
    np.testing.assert_array_equal(whole.y, np.concatenate([p.y for p in parts]))


def test_the_embedding_by_hand() -> None:
    x = np.array([[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]])
    drawn = Prompts(x, np.array([[2.0, 3.0, 5.0]]), np.zeros((1, 2)))
    expected = np.array([[[1.0, 0.0, 0.6], [0.0, 1.0, 0.8], [2.0, 3.0, 0.0]]])
    np.testing.assert_array_equal(embed(drawn), expected)
    assert drawn.y[0, -1] == 5.0
