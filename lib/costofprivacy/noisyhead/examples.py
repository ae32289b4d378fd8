r"""A prompt as examples (query, context, response): its last token asked, or every token once.

With c_i = y_i x_i, the context that leaves token j out is m_j = (Σ c_i − c_j)/L. Where the tokens of a prompt are
exchangeable given its task, as in section 2 of arXiv:2504.16000v2, each (x_j, m_j, y_j) has the law of the last one,
and a prompt is L + 1 examples of what the head must answer. Privacy does not ask for that: a prompt is one record,
however many examples are made of it.

A prompt counts as it is: with responses over their root mean square within the prompt the best head would be another
one, that of E (y − ŷ)²/ȳ², wherever some directions of the features are weaker than others.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy.records import numbers

FAR = 1e6  # a feature or response beyond this many of its public scale makes its prompt void
MOST = 2 * FAR**2  # no number of an example is beyond: a context is a sum of L + 1 products over L


@dataclass(frozen=True, eq=False)
class Examples:
    """N prompts of J examples each, bounded one by one.

    Args:
        token: the tokens of a prompt, shape (N, L + 1, D).
        query: shape (N, J, D). context: m, shape (N, J, D). response: shape (N, J).

    Raises:
        ValueError: if the shapes disagree, or a number is beyond `MOST`: it was not bounded by `examples`.
    """

    token: np.ndarray
    query: np.ndarray
    context: np.ndarray
    response: np.ndarray

    def __post_init__(self) -> None:
        token = numbers("token", self.token, (None, None, None))
        query = numbers("query", self.query, (len(token), None, token.shape[2]))
        for name, part in (
            ("token", token),
            ("query", query),
            ("context", numbers("context", self.context, query.shape)),
            ("response", numbers("response", self.response, query.shape[:2])),
        ):
            object.__setattr__(self, name, part)
            if not (part.max(initial=0.0) <= MOST and part.min(initial=0.0) >= -MOST):
                raise ValueError(f"{name} must be finite and at most {MOST:g}: its prompts were not bounded one by one")

    @cached_property
    def token_moments(self) -> np.ndarray:
        """(L + 1)⁻¹ Σ x xᵀ of each prompt, shape (1, N, D, D)."""
        return _products(self.token, self.token)[None]

    @cached_property
    def context_moments(self) -> np.ndarray:
        """J⁻¹ Σ m mᵀ of each prompt, shape (1, N, D, D)."""
        return _products(self.context, self.context)[None]

    def gradients(self, Gamma: np.ndarray) -> np.ndarray:
        """J⁻¹ Σ (y − xᵀΓm) x mᵀ of each prompt, half the negative gradient of its mean square.

        Args:
            Gamma: B heads, shape (B, D, D).

        Returns:
            shape (B, N, D, D).

        It is affine in Γ: many heads take its coefficients, computed once, in the place of the examples.
        """
        N, J, D = self.query.shape
        if len(Gamma) > D * D:
            pull, curvature = self._coefficients
            return pull - (Gamma.reshape(-1, D * D) @ curvature).reshape(-1, N, D, D)
        answers = np.einsum(
            "bnjd,njd->bnj", (self.query.reshape(1, N * J, D) @ Gamma).reshape(-1, N, J, D), self.context
        )
        residual = self.response - answers
        return _products(residual[..., None] * self.query, self.context)

    @cached_property
    def _coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """J⁻¹ Σ y x mᵀ, shape (N, D, D), and J⁻¹ Σ x_c m_d x_a m_b, shape (D², N D²), rows by (c, d)."""
        N, J, D = self.query.shape
        Z = np.einsum("nja,njb->njab", self.query, self.context).reshape(N, J, D * D)
        curvature = np.swapaxes(Z, 1, 2) @ Z / J
        pull = np.einsum("nj,njp->np", self.response, Z).reshape(N, D, D) / J
        return pull, curvature.swapaxes(0, 1).reshape(D * D, -1)


@np.errstate(all="ignore")
def examples(prompts: Prompts, *, every_token: bool) -> Examples:
    """The examples of N prompts.

    Guarantee: each prompt's are finite and depend on that prompt alone. A prompt is void, all 0, if it is not finite,
    or if a feature or response lies beyond `FAR`.

    Args:
        prompts: features and responses on a scale with E‖x‖² = 1 and E y² = 1. every_token: ask every token once, or
            the last one alone.

    Raises:
        ValueError: if a prompt has no labelled token.
    """
    x, y = prompts.x, prompts.y
    L = x.shape[1] - 1
    if L < 1:
        raise ValueError(f"prompts must have at least one labelled token and a query, got x of {x.shape}")
    near = (np.abs(y) <= FAR).all(axis=1) & (np.abs(x) <= FAR).all(axis=(1, 2))
    if not near.all():
        x, y = np.where(near[:, None, None], x, 0.0), np.where(near[:, None], y, 0.0)
    products = y[:, :, None] * x
    total = products.sum(axis=1, keepdims=True)
    asked = slice(None) if every_token else slice(L, None)
    return Examples(x, x[:, asked], (total - products[:, asked]) / L, y[:, asked])


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Means over examples of left rightᵀ, shape (..., J, D) to (..., D, D)."""
    means: np.ndarray = np.swapaxes(left, -1, -2) @ right / right.shape[-2]
    return means
