"""What is measured of the head as a regression on Z, and of the best that a linear head can do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.ranges import NOISE_OR_NONE, PENALTY, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, embed, sample
from costofprivacy.noisyhead.ridge import ridge

IDENTITY_PROMPTS = 200
LENGTHS = (4, 10, 30, 100, 300)  # of X, in multiples of D; from D + 4 on the trace of (XᵀX)⁻¹ has a variance
DESIGNS = 20  # matrices X in a trial
PILOT = 8  # trials from which a cell's number follows


@dataclass(frozen=True)
class Cell(authors.OfPrompts):
    """One shape of prompts with everything a trial needs."""

    D: int
    L: int
    label_noise: float
    N: int
    test_prompts: int
    penalty: tuple[float, ...]

    @property
    def key(self) -> int:
        """(D, L) names the random stream."""
        return self.D * 1_000_000 + self.L


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test error of the ridge-trained head for each penalty, shape (penalties,).

    It is the expectation over a fresh prompt given the head, in closed form: what test prompts would add is noise.
    """
    train, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    seen = head.moments(train)
    return population.prediction_error(cell.model, np.array([ridge(seen, penalty) for penalty in cell.penalty]))


class Experiment(Parameters):
    """What a linear head can do on this task before privacy enters."""

    D: tuple[int, ...] = many(count(1, 1000), 2, 5, 10)
    L: tuple[int, ...] = many(count(1, 10**6), 5, 10, 31, 63, 200)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    N: int = parameter(count(1, 10**7), 4000)
    penalty: tuple[float, ...] = many(PENALTY, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0)
    """Ridge penalties to choose from."""
    test_prompts: int = parameter(count(100, 10**7), 4000)
    """Fresh prompts on which the terms are multiplied that the paper drops."""
    trials: int = parameter(TRIALS, 50)
    precision: float = parameter(chance(1e-4, 0.5), 0.005)
    """Standard error wanted of a test error, as a share of it."""
    seed: int = parameter(SEED, 2)

    @property
    def cells(self) -> list[Cell]:
        """One for each (D, L)."""
        return [self.shared(Cell, D=D, L=L) for D in self.D for L in self.L]

    @property
    def designs(self) -> list[Design]:
        """One for each D and each length of `LENGTHS`."""
        return [Design(D, multiple * D) for D in self.D for multiple in LENGTHS]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``identities``, ``dropped-terms``, ``zero-blocks``, ``test-error`` and ``inverse-moment``."""
        samples = runner.run(trial, self.cells, Precision(self.precision, self.trials, PILOT), self.seed)
        moments = runner.run(inverse_moments, self.designs, self.trials, self.seed)
        drawn = {cell: random_terms(cell, self.seed) for cell in self.cells}
        dropped = [product_rows(cell, dropped_terms(*terms)) for cell, terms in drawn.items()]
        at_zero = [product_rows(cell, zero_blocks(*terms)) for cell, terms in drawn.items()]
        return {
            "identities": pd.concat([identities(c, self.seed) for c in self.cells], ignore_index=True),
            "dropped-terms": pd.concat(dropped, ignore_index=True),
            "zero-blocks": pd.concat(at_zero, ignore_index=True),
            "test-error": pd.concat([error_rows(c, v) for c, v in samples.items()], ignore_index=True),
            "inverse-moment": pd.concat([inverse_rows(d, v, self) for d, v in moments.items()], ignore_index=True),
        }


def random_head(D: int, rng: np.random.Generator) -> LinearAttentionHead:
    """A head with independent standard normal weights, every block included."""
    return LinearAttentionHead(rng.standard_normal((D + 1, D + 1)), rng.standard_normal((D + 1, D + 1)))


def identities(cell: Cell, seed: int) -> pd.DataFrame:
    """Largest difference between the head (2.2) and each of its reductions, relative to the largest prediction.

    The reduction to (2.5) has w₂₁^PV = w₂₁^KQ = 0 (which the paper writes w₁₂).
    """
    rng = generator(seed, cell.key, 2**32)
    drawn = sample(cell.model, IDENTITY_PROMPTS, rng=rng)
    full = random_head(cell.D, rng)
    plain = LinearAttentionHead(full.W_PV.copy(), full.W_KQ.copy())
    plain.W_PV[-1, :-1] = plain.W_KQ[-1, :-1] = 0.0
    data, E = head.statistics(drawn), embed(drawn)
    attention, reduced = head.predict_by_attention(E, full), head.predict_by_attention(E, plain)
    left = full.W_PV[-1] @ (E @ E.transpose(0, 2, 1)) / cell.L
    terms = head.bilinear_terms(drawn, full)
    w22, W11 = full.W_PV[-1, -1], full.W_KQ[:-1, :-1]
    candidates = {
        "(2.3), all weights": (np.einsum("nk,kd,nd->n", left, full.W_KQ[:, :-1], drawn.x[:, -1]), attention),
        "(2.4), with W11 transposed": (np.sum(list(terms.values()), axis=0), attention),
        "(2.4), as printed": (_as_printed(drawn, full), attention),
        "(2.5), Γ = w22 W11 transposed": (head.predict(plain.Gamma, data), reduced),
        "(2.5), as printed": (head.predict(w22 * W11, data), reduced),
        "task + rank-one = ⟨Γ', Z⟩": (
            head.predict(w22 * W11.T + np.outer(full.W_KQ[-1, :-1], full.W_PV[-1, :-1]), data),
            terms["task"] + terms["rank-one"],
        ),
    }
    shape = {"identity": list(candidates), "D": cell.D, "L": cell.L, "prompts": IDENTITY_PROMPTS}
    return pd.DataFrame(
        shape | {"relative_difference": [np.abs(a - b).max() / np.abs(b).max() for a, b in candidates.values()]}
    )


def _as_printed(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    """⟨x, Q⁽¹⁾ + Q⁽²⁾⟩/L as (2.4) prints it, W₁₁ without its transpose."""
    x, y, query = drawn.x, drawn.y[:, :-1], drawn.x[:, -1]
    v, u = weights.W_PV[-1, :-1], weights.W_KQ[-1, :-1]
    w22, W11 = weights.W_PV[-1, -1], weights.W_KQ[:-1, :-1]
    total = np.einsum("nl,nld->nd", y, x[:, :-1])
    first = w22 * total @ W11.T + w22 * (y**2).sum(axis=1)[:, None] * u
    second = np.einsum("nld,nl->nd", x, x @ v) @ W11.T + (total @ v)[:, None] * u
    return np.einsum("nd,nd->n", query, first + second) / y.shape[1]


def random_terms(cell: Cell, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The responses of fresh prompts, and the four terms of a random head's prediction on them."""
    rng = generator(seed, cell.key, 2**32 + 1)
    drawn = sample(cell.model, cell.test_prompts, rng=rng)
    return drawn.y[:, -1], head.bilinear_terms(drawn, random_head(cell.D, rng))


def dropped_terms(response: np.ndarray, terms: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the terms even in y have in common with the response and with the terms odd in y.

    For a random head: the mean product of ``features`` + ``energy`` with y and with ``task`` + ``rank-one``, and the
    mean square, which is what keeping them would add to the test error.
    """
    even, odd = terms["features"] + terms["energy"], terms["task"] + terms["rank-one"]
    return {"even terms × y": even * response, "even terms × odd terms": even * odd, "even terms²": even**2}


def zero_blocks(response: np.ndarray, terms: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Half the slope of the loss at zero blocks, along random directions of the two blocks.

    At u = v = 0 the head predicts ``task``, and ``features`` and ``energy`` are what its prediction changes by along v
    and u: −E(y − task) × that term is half the derivative of E(y − ŷ)². Gradient flow stays there if it is 0.
    """
    residual = response - terms["task"]
    return {"W^PV": -residual * terms["features"], "W^KQ": -residual * terms["energy"]}


def product_rows(cell: Cell, products: dict[str, np.ndarray]) -> pd.DataFrame:
    """The mean of each product over the prompts, with its standard error."""
    mean, error = zip(*map(_fits.mean_and_error, products.values()), strict=True)
    shape = {"product": list(products), "D": cell.D, "L": cell.L}
    return pd.DataFrame(shape | {"mean": mean, "standard_error": error, "prompts": cell.test_prompts})


def error_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Test error by penalty, with the population's ridge solution and the best head in closed form."""
    mean, error = _fits.mean_and_error(samples)
    simulated = {"test_error": mean, "standard_error": error, "trials": len(samples)}
    closed_form = [population.ridge_prediction_error(cell.model, penalty) for penalty in cell.penalty]
    best = population.best_prediction_error(cell.model)
    known = {"closed_form": closed_form, "best": best, "response_variance": cell.model.response_variance}
    return pd.DataFrame({"D": cell.D, "L": cell.L, "penalty": cell.penalty} | simulated | known)


# ---- The inverse second moment ----


@dataclass(frozen=True)
class Design:
    """The features of a prompt, of which the inverse second moment is wanted."""

    D: int
    L: int

    @property
    def key(self) -> int:
        """(D, L) names the random stream, behind all of those of `Cell`."""
        return 10**12 + self.D * 1_000_000 + self.L


def inverse_moments(cell: Design, *, rng: np.random.Generator) -> np.ndarray:
    """tr((XᵀX)⁻¹)/D for some matrices X of L features; by isotropy its mean times I is E[(XᵀX)⁻¹].

    With L ≥ 4D the condition number of XᵀX is about 9 at most, so that nothing is lost by inverting it.
    """
    x = rng.standard_normal((DESIGNS, cell.L, cell.D))
    x /= np.sqrt(np.einsum("ijk,ijk->ij", x, x))[:, :, None]
    inverse = np.linalg.inv(x.transpose(0, 2, 1) @ x)
    return np.asarray(np.trace(inverse, axis1=1, axis2=2) / cell.D)


def inverse_rows(cell: Design, samples: np.ndarray, experiment: Experiment) -> pd.DataFrame:
    """The weight g of the best head gI, and of the one with the largest penalty, over the inverse second moment.

    ``over_features`` has the features themselves for the rows of X, ``over_normalised`` the features over √L, so that
    XᵀX is their empirical second moment.
    """
    mean, error = _fits.mean_and_error(samples.ravel())
    penalties = (0.0, max(experiment.penalty))
    model = PromptModel(cell.D, cell.L, experiment.label_noise)
    weight = np.array([population.ridge_scale(model, penalty) for penalty in penalties])
    over = weight / (cell.L * mean)
    found = {"weight": weight, "inverse_moment": mean, "standard_error": error}
    ratios = {"over_features": weight / mean, "over_normalised": over, "ratio_error": over * error / mean}
    return pd.DataFrame({"D": cell.D, "L": cell.L, "penalty": penalties} | found | ratios | {"draws": samples.size})
