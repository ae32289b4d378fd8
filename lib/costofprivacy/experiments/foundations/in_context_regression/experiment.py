"""What is measured of the head as a regression on Z, and of the best that a linear head can do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, embed, sample
from costofprivacy.noisyhead.ridge import ridge

IDENTITY_PROMPTS = 200


@dataclass(frozen=True)
class Cell:
    """One shape of prompts with everything a trial needs."""

    D: int
    L: int
    tau: float
    N: int
    test_prompts: int
    penalty: tuple[float, ...]

    @property
    def key(self) -> int:
        """(D, L) names the random stream."""
        return self.D * 1_000_000 + self.L

    @property
    def model(self) -> PromptModel:
        """The law of this cell's prompts."""
        return PromptModel(self.D, self.L, self.tau)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test error of the ridge-trained head for each penalty, on independent test prompts; shape (penalties,)."""
    train, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    test, _ = head.sample_statistics(cell.model, cell.test_prompts, rng=rng)
    seen = head.moments(train)
    residuals = [test.response - head.predict(ridge(seen, lam), test) for lam in cell.penalty]
    return np.mean(np.square(residuals), axis=1)


@dataclass(frozen=True)
class Experiment:
    """What a linear head can do on this task before privacy enters.

    Args:
        D: feature dimensions, each at least 1.
        L: prompt lengths, each at least 1.
        tau: standard deviation of the label noise, ≥ 0.
        N: training prompts, at least 1.
        penalty: ridge penalties λ > 0 to choose from.
        test_prompts: test prompts in each trial, at least 100.
        trials: at least 2.
        seed: root of all random streams, ≥ 0.
    """

    D: tuple[int, ...] = (2, 5, 10)
    L: tuple[int, ...] = (5, 10, 31, 63, 200)
    tau: float = 0.0
    N: int = 4000
    penalty: tuple[float, ...] = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0)
    test_prompts: int = 4000
    trials: int = 50
    seed: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "D", _validate.each(_validate.whole, "D", self.D))
        object.__setattr__(self, "L", _validate.each(_validate.whole, "L", self.L))
        object.__setattr__(self, "penalty", _validate.each(_validate.finite_positive, "penalty", self.penalty))
        _validate.nonnegative("tau", self.tau)
        _validate.whole("N", self.N)
        _validate.whole("test_prompts", self.test_prompts, at_least=100)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("seed", self.seed, at_least=0)

    @property
    def cells(self) -> list[Cell]:
        """One for each (D, L)."""
        return [Cell(D, L, self.tau, self.N, self.test_prompts, self.penalty) for D in self.D for L in self.L]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``identities``, ``dropped-terms`` and ``test-error``."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        return {
            "identities": pd.concat([identities(c, self.seed) for c in self.cells], ignore_index=True),
            "dropped-terms": pd.concat([dropped_terms(c, self.seed) for c in self.cells], ignore_index=True),
            "test-error": pd.concat([error_rows(c, v) for c, v in samples.items()], ignore_index=True),
        }


def random_head(D: int, rng: np.random.Generator) -> LinearAttentionHead:
    """A head with independent standard normal weights, every block included."""
    return LinearAttentionHead(rng.standard_normal((D + 1, D + 1)), rng.standard_normal((D + 1, D + 1)))


def without_cross_blocks(full: LinearAttentionHead) -> LinearAttentionHead:
    """The same head with w₂₁^PV = w₂₁^KQ = 0 (which the paper writes w₁₂)."""
    W_PV, W_KQ = full.W_PV.copy(), full.W_KQ.copy()
    W_PV[-1, :-1] = 0.0
    W_KQ[-1, :-1] = 0.0
    return LinearAttentionHead(W_PV, W_KQ)


def identities(cell: Cell, seed: int) -> pd.DataFrame:
    """Largest difference between the head (2.2) and each of its reductions, relative to the largest prediction."""
    rng = generator(seed, cell.key, 2**32)
    drawn = sample(cell.model, IDENTITY_PROMPTS, rng=rng)
    full = random_head(cell.D, rng)
    plain = without_cross_blocks(full)
    data = head.statistics(drawn)
    attention, reduced = _attention(drawn, full), _attention(drawn, plain)
    terms = head.bilinear_terms(drawn, full)
    w22, W11 = full.W_PV[-1, -1], full.W_KQ[:-1, :-1]
    candidates = {
        "(2.3), all weights": (_bilinear(drawn, full), attention),
        "(2.4), with W11 transposed": (np.sum(list(terms.values()), axis=0), attention),
        "(2.4), as printed": (_as_printed(drawn, full), attention),
        "(2.5), Γ = w22 W11 transposed": (head.predict(plain.Gamma, data), reduced),
        "(2.5), as printed": (head.predict(w22 * W11, data), reduced),
        "task + rank-one = ⟨Γ', Z⟩": (
            head.predict(w22 * W11.T + np.outer(full.W_KQ[-1, :-1], full.W_PV[-1, :-1]), data),
            terms["task"] + terms["rank-one"],
        ),
    }
    rows = [
        (name, cell.D, cell.L, IDENTITY_PROMPTS, np.abs(a - b).max() / np.abs(b).max())
        for name, (a, b) in candidates.items()
    ]
    return pd.DataFrame(rows, columns=["identity", "D", "L", "prompts", "relative_difference"])


def _attention(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    return head.predict_by_attention(embed(drawn), weights)


def _bilinear(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    """Right side of (2.3), matrix by matrix."""
    E = embed(drawn)
    left = weights.W_PV[-1] @ (E @ E.transpose(0, 2, 1)) / (E.shape[2] - 1)
    return np.einsum("nk,kd,nd->n", left, weights.W_KQ[:, :-1], drawn.x[:, -1])


def _as_printed(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    """⟨x, Q⁽¹⁾ + Q⁽²⁾⟩/L as (2.4) prints it, W₁₁ without its transpose."""
    x, y, query = drawn.x, drawn.y[:, :-1], drawn.x[:, -1]
    v, u = weights.W_PV[-1, :-1], weights.W_KQ[-1, :-1]
    w22, W11 = weights.W_PV[-1, -1], weights.W_KQ[:-1, :-1]
    total = np.einsum("nl,nld->nd", y, x[:, :-1])
    first = w22 * total @ W11.T + w22 * (y**2).sum(axis=1)[:, None] * u
    second = np.einsum("nld,nl->nd", x, x @ v) @ W11.T + (total @ v)[:, None] * u
    return np.einsum("nd,nd->n", query, first + second) / y.shape[1]


def dropped_terms(cell: Cell, seed: int) -> pd.DataFrame:
    """What the terms even in y have in common with the response and with the terms odd in y.

    For a random head: the mean product of ``features`` + ``energy`` with y and with ``task`` + ``rank-one``, and the
    mean square, which is what keeping them would add to the test error.
    """
    rng = generator(seed, cell.key, 2**32 + 1)
    drawn = sample(cell.model, cell.test_prompts, rng=rng)
    terms = head.bilinear_terms(drawn, random_head(cell.D, rng))
    even, odd = terms["features"] + terms["energy"], terms["task"] + terms["rank-one"]
    products = {"even terms × y": even * drawn.y[:, -1], "even terms × odd terms": even * odd, "even terms²": even**2}
    rows = []
    for name, values in products.items():
        mean, error = _fits.mean_and_error(values)
        rows.append((name, cell.D, cell.L, float(mean), float(error), len(values)))
    return pd.DataFrame(rows, columns=["product", "D", "L", "mean", "standard_error", "prompts"])


def error_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Test error by penalty, with the population's ridge solution and the best head in closed form."""
    mean, error = _fits.mean_and_error(samples)
    rows = [
        (cell.D, cell.L, lam, m, e, len(samples), population.ridge_prediction_error(cell.model, lam))
        for lam, m, e in zip(cell.penalty, mean, error)
    ]
    columns = ["D", "L", "penalty", "test_error", "standard_error", "trials", "closed_form"]
    table = pd.DataFrame(rows, columns=columns)
    best = population.best_prediction_error(cell.model)
    return table.assign(best=best, response_variance=cell.model.response_variance)
