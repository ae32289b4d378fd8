import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from costofprivacy.noisyhead import best_head, population, token_laws
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.token_laws import TokenLaw

LAWS = {
    "sphere": token_laws.sphere(3),
    "isotropic": token_laws.gaussian(np.eye(3) / 3),
    "unknown": token_laws.unknown(3, 10.0, rng=np.random.default_rng(5)),
}
CASES = [(law, L, tau) for law in LAWS.values() for L, tau in ((1, 0.0), (8, 0.0), (8, 0.6))]
IDS = [f"{name}-{L}-{tau}" for name in LAWS for L, tau in ((1, 0.0), (8, 0.0), (8, 0.6))]
each = pytest.mark.parametrize(("law", "L", "tau"), CASES, ids=IDS)


@each
def test_errors_are_those_of_prompts_drawn(law: TokenLaw, L: int, tau: float) -> None:
    """Of the best head, of 0 and of a matrix that is neither symmetric nor near; all moments, to five errors."""
    drawn = token_laws.sample(law, 60_000, L, tau, rng=np.random.default_rng(1))
    m = np.einsum("nl,nld->nd", drawn.y[:, :-1], drawn.x[:, :-1]) / L
    odd = np.random.default_rng(2).standard_normal((3, 3))
    for Gamma in (best_head.best_head(law, L, tau), np.zeros((3, 3)), odd):
        square = (drawn.y[:, -1] - np.einsum("nd,de,ne->n", drawn.x[:, -1], Gamma, m)) ** 2
        error = square.std() / np.sqrt(len(square))
        assert abs(square.mean() - best_head.head_error(law, L, Gamma, tau)) < 5 * error
    moments = m[:, :, None] * m[:, None, :]
    far = np.abs(moments.mean(axis=0) - best_head.context_moment(law, L, tau))
    assert (far < 5 * moments.std(axis=0) / np.sqrt(len(m))).all()


@each
def test_the_best_head_is_the_minimiser(law: TokenLaw, L: int, tau: float) -> None:
    best = best_head.best_head(law, L, tau)
    least = best_head.best_error(law, L, tau)
    assert float(best_head.head_error(law, L, best, tau)) == pytest.approx(least, rel=1e-12)
    around = np.random.default_rng(3).standard_normal((40, 3, 3))
    ahead, behind = (best_head.head_error(law, L, best + sign * around, tau) for sign in (1, -1))
    assert (ahead > least).all()
    np.testing.assert_allclose(ahead, behind, rtol=1e-9)  # a quadratic about its minimum has no slope there
    np.testing.assert_allclose(best, best.T, atol=1e-9)


@pytest.mark.parametrize(("D", "L", "tau"), [(5, 31, 0.0), (2, 1, 0.3), (7, 100, 1.0)])
def test_on_the_sphere_it_is_the_paper_s(D: int, L: int, tau: float) -> None:
    model, law = PromptModel(D, L, tau), token_laws.sphere(D)
    assert best_head.best_error(law, L, tau) == pytest.approx(population.best_prediction_error(model), rel=1e-12)
    np.testing.assert_allclose(best_head.best_head(law, L, tau), population.ridge_scale(model, 0.0) * np.eye(D))
    Gamma = np.random.default_rng(0).standard_normal((4, D, D))
    ours = best_head.head_error(law, L, Gamma, tau)
    np.testing.assert_allclose(ours, population.prediction_error(model, Gamma), rtol=1e-10)


@each
def test_the_scale_without_data_is_a_numerical_minimum(law: TokenLaw, L: int, tau: float) -> None:
    found = minimize_scalar(lambda g: float(best_head.head_error(law, L, g * np.eye(3), tau)), tol=1e-10).x
    assert best_head.scale_without_data(law, L, tau) == pytest.approx(found, rel=1e-5)


def test_without_data_no_head_is_better_than_a_multiple_of_the_identity() -> None:
    """Averaged over 120 rotations of Σ, gI beats heads near it and the best head of one of the rotations."""
    rng = np.random.default_rng(4)
    laws = [token_laws.unknown(3, 30.0, rng=rng) for _ in range(120)]

    def mean(Gamma: np.ndarray) -> float:
        return float(np.mean([best_head.head_error(law, 9, Gamma) for law in laws]))

    flat = best_head.scale_without_data(laws[0], 9) * np.eye(3)
    others = [flat * (1 + share) for share in (-0.1, 0.1)] + [best_head.best_head(laws[0], 9)]
    others += [flat + 0.3 * flat[0, 0] * rng.standard_normal((3, 3)) for _ in range(10)]
    assert all(mean(other) > mean(flat) for other in others)


@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_the_least_error_is_the_page_s_sum_over_eigenvalues_and_falls_like_one_over_the_length(spread, tau):
    values = token_laws.eigenvalues(4, 20.0)
    law = token_laws.TokenLaw(np.diag(values), spread)

    def summed(L):
        return 1 + tau**2 - (L * values**2 / ((L + spread - 1) * values + 1 + tau**2)).sum()

    assert best_head.best_error(law, 9, tau) == pytest.approx(summed(9))
    L = 10**6
    assert L * (best_head.best_error(law, L, tau) - tau**2) == pytest.approx(4 + spread - 1 + 4 * tau**2, rel=1e-3)
    assert best_head.best_error(token_laws.sphere(5), 31) == pytest.approx(4 / 35)
