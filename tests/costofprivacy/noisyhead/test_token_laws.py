import numpy as np
import pytest
from scipy import stats

from costofprivacy.noisyhead import token_laws
from costofprivacy.noisyhead.token_laws import TokenLaw
from tests.each import each

TILTED = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))


@each("law", [token_laws.sphere(3), token_laws.gaussian(np.eye(3) / 3), TILTED])
def test_the_spread_is_that_of_the_tokens_drawn(law: TokenLaw) -> None:
    """E‖x‖²xxᵀ = tr Σ · Σ + sΣ², to five standard errors; a spread that is wrong by a half is seen."""
    x = token_laws.sample(law, 40_000, 4, rng=np.random.default_rng(0)).x.reshape(-1, 3)
    terms = (x**2).sum(axis=1)[:, None, None] * x[:, :, None] * x[:, None, :]
    error = terms.std(axis=0) / np.sqrt(len(x)) + 1e-12

    def far(s: float) -> float:
        S = law.covariance
        return float((np.abs(terms.mean(axis=0) - law.energy * S - s * S @ S) / error).max())

    assert far(law.spread) < 5
    assert min(far(law.spread + 0.5), far(law.spread - 0.5)) > 5


@each("law", [token_laws.sphere(3), TILTED])
def test_prompts_are_those_of_section_2_with_these_features(law: TokenLaw) -> None:
    drawn = token_laws.sample(law, 20_000, 2, 0.5, rng=np.random.default_rng(1))
    assert drawn.x.shape == (20_000, 3, 3)
    noise = drawn.y - np.einsum("nld,nd->nl", drawn.x, drawn.w)
    assert stats.kstest(noise.ravel() / 0.5, "norm").pvalue > 1e-3
    assert stats.kstest(drawn.w.ravel(), "norm").pvalue > 1e-3
    x = drawn.x.reshape(-1, 3)
    np.testing.assert_allclose(x.T @ x / len(x), law.covariance, atol=0.01)
    if law.spread == token_laws.CONSTANT_NORM:
        np.testing.assert_allclose((x**2).sum(axis=1), 1.0)
    else:
        white = np.linalg.solve(np.linalg.cholesky(law.covariance), x.T)
        assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3


@each("condition", [1.0, 10.0, 100.0])
def test_unknown_directions_with_known_eigenvalues(condition: float) -> None:
    law = token_laws.unknown(5, condition, rng=np.random.default_rng(2))
    values = np.linalg.eigvalsh(law.covariance)
    assert law.energy == pytest.approx(1.0)
    assert law.D == 5
    assert values[-1] / values[0] == pytest.approx(condition)
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(condition) / 4, atol=1e-9)
    np.testing.assert_allclose(values[::-1], token_laws.eigenvalues(5, condition))


def test_rotations_are_uniform() -> None:
    """Of a uniform direction in R³ a coordinate is uniform on [−1, 1]; without the signs of R it would not be."""
    rng = np.random.default_rng(3)
    drawn = np.array([token_laws.rotation(3, rng=rng) for _ in range(2000)])
    np.testing.assert_allclose(drawn @ drawn.swapaxes(1, 2), np.broadcast_to(np.eye(3), drawn.shape), atol=1e-12)
    for a, b in np.ndindex(3, 3):
        assert stats.kstest(drawn[:, a, b], "uniform", (-1, 2)).pvalue > 1e-3
    raw = np.array([np.linalg.qr(rng.standard_normal((3, 3)))[0][0, 0] for _ in range(2000)])
    assert stats.kstest(raw, "uniform", (-1, 2)).pvalue < 1e-3
    assert 0.45 < (np.linalg.det(drawn) > 0).mean() < 0.55
