"""The prompt model of section 2 of arXiv:2504.16000v2, and the embedding (2.1)."""

from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy.records import numbers


@dataclass(frozen=True)
class PromptModel:
    """In-context linear regression: x_i uniform on the sphere, w ~ N(0, I_D), y_i = ⟨w, x_i⟩ + N(0, τ²).

    A prompt has L labelled tokens and one query, token L + 1, all with the prompt's own w.

    Args:
        D: feature dimension, at least 1.
        L: number of labelled tokens, at least 1.
        label_noise: τ ≥ 0, standard deviation of the label noise.

    Raises:
        ValueError: if an argument is outside its range.
    """

    D: int
    L: int
    label_noise: float = 0.0

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "D", "L")
        _validate.keep(self, _validate.NONNEGATIVE, "label_noise")

    @property
    def response_variance(self) -> float:
        """Var(y) = 1 + τ² (ν of (4.1)): ⟨w, x⟩ is standard normal for a unit vector x."""
        return 1.0 + self.label_noise**2


@dataclass(frozen=True)
class Prompts:
    """N prompts; the query is the last token, its response the last column of ``y``.

    Numbers of any type become double precision here (`costofprivacy.privacy.records.numbers`), before anything is
    computed with them.

    Args:
        x: features, shape (N, L + 1, D).
        y: responses, shape (N, L + 1).
        w: the task of each prompt, shape (N, D); no learner sees it.

    Raises:
        ValueError: if the shapes disagree, or an array is not of numbers.
    """

    x: np.ndarray
    y: np.ndarray
    w: np.ndarray

    def __post_init__(self) -> None:
        x = numbers("x", self.x, (None, None, None))
        N, tokens, D = x.shape
        for name, array in (
            ("x", x),
            ("y", numbers("y", self.y, (N, tokens))),
            ("w", numbers("w", self.w, (N, D))),
        ):
            object.__setattr__(self, name, array)


def sample(model: PromptModel, N: int, *, rng: np.random.Generator) -> Prompts:
    """Draw N prompts of section 2.

    The normals are drawn prompt by prompt, w before the tokens and a token's features before its label noise (not
    drawn for τ = 0), so that N prompts in one call or in several are the same prompts.

    Args:
        model: the law of a prompt.
        N: number of prompts, at least 1.
        rng: source of randomness; advanced by N·(D + (L + 1)·(D + [τ > 0])) normals.

    Raises:
        ValueError: if ``N`` is not a whole number of at least 1.
    """
    N = _validate.whole("N", N)
    D, tokens = model.D, model.L + 1
    width = D + (model.label_noise > 0)
    normals = rng.standard_normal((N, D + tokens * width))
    w, token = normals[:, :D], normals[:, D:].reshape(N, tokens, width)
    x = token[:, :, :D]
    x /= np.sqrt(np.einsum("nld,nld->nl", x, x))[:, :, None]
    y = np.matmul(x, w[:, :, None])[:, :, 0]
    if model.label_noise > 0:
        y += model.label_noise * token[:, :, D]
    return Prompts(x, y, w)


def embed(prompts: Prompts) -> np.ndarray:
    """The embedding E of (2.1), shape (N, D + 1, L + 1): features above, responses below, 0 for the query."""
    responses = prompts.y.copy()
    responses[:, -1] = 0.0
    return np.concatenate([prompts.x, responses[:, :, None]], axis=2).transpose(0, 2, 1)
