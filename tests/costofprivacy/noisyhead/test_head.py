import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from costofprivacy.noisyhead import head
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, embed, sample
from tests import oracles
from tests.each import each

SHAPES = [(1, 1), (2, 5), (3, 1), (5, 31), (8, 4)]


def random_head(D: int, rng: np.random.Generator) -> LinearAttentionHead:
    return LinearAttentionHead(rng.standard_normal((D + 1, D + 1)), rng.standard_normal((D + 1, D + 1)))


@each(("D", "L"), SHAPES)
def test_the_head_is_the_literal_one(D: int, L: int) -> None:
    rng = np.random.default_rng(D * 100 + L)
    E, weights = embed(sample(PromptModel(D, L, 0.3), 6, rng=rng)), random_head(D, rng)
    literal = [oracles.attention_entry(e, weights.W_PV, weights.W_KQ) for e in E]
    np.testing.assert_allclose(head.predict_by_attention(E, weights), literal, rtol=1e-11)


@given(st.integers(1, 6), st.integers(1, 20), st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_the_four_terms_add_up_to_the_head(D: int, L: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn, weights = sample(PromptModel(D, L, 0.3), 4, rng=rng), random_head(D, rng)
    direct = head.predict_by_attention(embed(drawn), weights)
    terms = head.bilinear_terms(drawn, weights)
    scale = sum(np.abs(t) for t in terms.values())
    np.testing.assert_array_less(np.abs(sum(terms.values()) - direct), 1e-12 * scale + 1e-14)


@given(st.integers(1, 6), st.integers(1, 20), st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_without_cross_blocks_the_head_is_an_inner_product(D: int, L: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn, weights = sample(PromptModel(D, L, 0.3), 4, rng=rng), random_head(D, rng)
    weights.W_PV[-1, :-1] = weights.W_KQ[-1, :-1] = 0
    data = head.statistics(drawn)
    direct = head.predict_by_attention(embed(drawn), weights)
    np.testing.assert_allclose(head.predict(weights.Gamma, data), direct, atol=1e-12, rtol=1e-9)
    np.testing.assert_allclose((weights.Gamma * data.Z).sum(axis=(1, 2)), direct, atol=1e-12, rtol=1e-9)


@each(("C", "G"), [(np.inf, np.inf), (0.5, np.inf), (np.inf, 0.2), (0.7, 0.1)])
@each(("D", "L"), SHAPES)
def test_statistics_are_the_literal_ones(D: int, L: int, C: float, G: float) -> None:
    drawn = sample(PromptModel(D, L, 0.3), 12, rng=np.random.default_rng(L))
    data = head.project(head.statistics(drawn, C), G)
    literal = [oracles.statistic(x, y, C, G) for x, y in zip(drawn.x, drawn.y)]
    np.testing.assert_allclose(data.Z, literal, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(data.response, [oracles.clip(y[-1], C) for y in drawn.y])


def test_moments_are_sums_over_prompts() -> None:
    drawn = sample(PromptModel(3, 5, 0.2), 50, rng=np.random.default_rng(3))
    data = head.statistics(drawn)
    z = data.Z.reshape(50, -1)
    moments = head.moments(data)
    np.testing.assert_allclose(moments.gram, sum(np.outer(v, v) for v in z) / 50, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(moments.cross, sum(y * v for y, v in zip(data.response, z)) / 50, rtol=1e-10, atol=1e-15)


def test_the_mean_square_is_the_mean_over_prompts() -> None:
    """For each matrix of a batch its own, E⟨A, Z⟩²."""
    rng = np.random.default_rng(4)
    data, A = head.statistics(sample(PromptModel(3, 5, 0.2), 40, rng=rng)), rng.standard_normal((4, 3, 3))
    literal = [np.mean([(a * Z).sum() ** 2 for Z in data.Z]) for a in A]
    np.testing.assert_allclose(head.mean_square(A, data), literal, rtol=1e-12)
    np.testing.assert_allclose(head.mean_square(A[:1], data), [np.mean(head.predict(A[0], data) ** 2)], rtol=1e-12)


# ---- Contexts ----

ACCEPTED, REJECTED = 1e-4, 1e-8  # p-values at fixed seeds
CASES = [(1, 3, 0.5, 0.8), (2, 4, 0.0, 0.7), (3, 1, 0.3, np.inf), (5, 9, 0.6, 1.0)]


def features(query: np.ndarray, raw: np.ndarray, clipped: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Numbers of each prompt that see lengths, angles and the joint law of the four."""
    dot = lambda a, b: np.einsum("nd,nd->n", a, b)  # noqa: E731
    between = dot(raw, clipped) / np.sqrt(dot(raw, raw) * dot(clipped, clipped) + 1e-300)
    numbers = [y, dot(raw, raw), dot(clipped, clipped), between, y * dot(query, raw), y * dot(query, clipped)]
    return [*numbers, raw[:, 0], clipped[:, -1], raw[:, 0] * clipped[:, -1], query[:, 0]]


def literal(model: PromptModel, N: int, C: float, rng: np.random.Generator) -> list[np.ndarray]:
    drawn = sample(model, N, rng=rng)
    raw, clipped = head.statistics(drawn), head.statistics(drawn, C)
    return features(raw.query, raw.context, clipped.context, raw.response)


def least_p(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    return float(min(stats.ks_2samp(a, b).pvalue for a, b in zip(one, other, strict=True)))


@each(("D", "L", "tau", "C"), CASES)
def test_statistics_have_the_law_of_the_literal_ones(D: int, L: int, tau: float, C: float) -> None:
    model, N = PromptModel(D, L, tau), 20_000
    raw, clipped = head.sample_statistics(model, N, C, rng=np.random.default_rng(1))
    assert np.abs(clipped.response).max() <= C
    found = features(raw.query, raw.context, clipped.context, raw.response)
    assert least_p(found, literal(model, N, C, np.random.default_rng(2))) > ACCEPTED


@each("C", [0.5, np.inf])
def test_the_task_goes_with_the_context(C: float) -> None:
    """⟨w, m⟩, ‖w‖ and their joint law, against literal prompts; another prompt's task is rejected."""
    model, N = PromptModel(4, 6, 0.3), 20_000
    drawn, whole = (
        head.sample(model, N, C, rng=np.random.default_rng(1)),
        sample(model, N, rng=np.random.default_rng(2)),
    )
    literal = head.statistics(whole, C).context

    def seen(w: np.ndarray, m: np.ndarray) -> list[np.ndarray]:
        return [np.einsum("nd,nd->n", w, m), np.linalg.norm(w, axis=1), w[:, 0] * m[:, 0]]

    assert least_p(seen(drawn.task, drawn.clipped), seen(whole.w, literal)) > ACCEPTED
    assert least_p(seen(drawn.task[::-1], drawn.clipped), seen(whole.w, literal)) < REJECTED


# ---- Prompts ----


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
