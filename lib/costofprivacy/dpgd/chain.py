r"""The risk of Algorithm 1 of arXiv:2505.16329v2 as a Markov chain in a few numbers: exact in law, at a cost free of d.

Let Σ have G distinct eigenvalues λ_g of multiplicities m_g, and let u_g be the norm of the part of e = θ − θ* in the
eigenspace of λ_g; the risk is ½ Σ_g λ_g u_g². For Gaussian features (u_1, …, u_G) is a Markov chain, with G = 1 for
Σ = I.

*Proof.* Given the past, x is fresh. Write its part in eigenspace g as √λ_g (ξ_g ê_g + w_g), ê_g = e_g/u_g (any unit
vector if u_g = 0) and w_g orthogonal to it: ξ_g ~ N(0, 1) and ‖w_g‖² ~ χ²(m_g − 1) are independent of each other, of
the past, and between the eigenspaces. A step reads of x only

    r = x'θ − y = Σ_g √λ_g u_g ξ_g − z,    ‖x‖² = Σ_g λ_g (ξ_g² + ‖w_g‖²),

which give a = min(η, 2/‖x‖²) clip(r, ±C/‖x‖). The step's data part turns e_g into v_g = e_g − a √λ_g (ξ_g ê_g + w_g)
with ‖v_g‖² = (u_g − a √λ_g ξ_g)² + a² λ_g ‖w_g‖². Given all this, the private noise s b_g, s = 2Cσ, is isotropic in the
eigenspace: its part β along v_g is N(0, 1), the square of the rest is χ²(m_g − 1), independent, and

    u_g² ← ‖v_g + s b_g‖² = (‖v_g‖ + s β)² + s² χ².

So the new (u_g) is a function of the old and of 4G + 1 fresh scalars, whose law does not involve the past. ∎

A step of many chains at once is some twenty operations on arrays; from 500 chains on, the draws are most of the cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.dpgd.descent import Configuration, check_steps, step_table, steps_at
from costofprivacy.dpgd.spectrum import Gaussian, RegressionModel

CHUNK_NUMBERS = 2**17  # scalars drawn at a time: 1 MB


@dataclass(frozen=True, eq=False)
class Eigenspaces:
    """What the risk chain knows of a `RegressionModel`: its G distinct eigenvalues and where θ* lies among them.

    Args:
        eigenvalues: λ_g, shape (G,). multiplicities: m_g, shape (G,). target_norms: ‖θ*_g‖, shape (G,).
        label_noise: ζ.
    """

    eigenvalues: np.ndarray
    multiplicities: np.ndarray
    target_norms: np.ndarray
    label_noise: float

    @property
    def d(self) -> int:
        """The dimension, Σ m_g."""
        return int(self.multiplicities.sum())


def eigenspaces(model: RegressionModel) -> Eigenspaces:
    """Eigenspaces of Σ, equal eigenvalues gathered, with θ*'s norm in each.

    Args:
        model: of Gaussian features, in dimension d.

    Returns:
        G ≤ d eigenspaces, their eigenvalues ascending.

    Raises:
        ValueError: if the features are not Gaussian; only for them is the chain exact.
    """
    if not isinstance(model.law, Gaussian):
        raise ValueError(f"law must be Gaussian for the risk chain, got {model.law!r}")
    values, group, counts = np.unique(model.spectrum.eigenvalues, return_inverse=True, return_counts=True)
    norms = np.sqrt(np.bincount(group, weights=model.target**2))
    return Eigenspaces(values, counts, norms, model.label_noise)


@dataclass(frozen=True, eq=False)
class Draws:
    """The fresh scalars of m steps of M chains.

    Args:
        along: √λ_g ξ_g, shape (m, G, 1, M). square_rest: λ_g ‖w_g‖², same shape.
        square_norm: ‖x‖², shape (m, 1, M). label: z, shape (m, 1, M).
        noise_along: β, shape (m, G, 1, M). noise_rest: χ² of the rest of the noise, same shape.
    """

    along: np.ndarray
    square_rest: np.ndarray
    square_norm: np.ndarray
    label: np.ndarray
    noise_along: np.ndarray
    noise_rest: np.ndarray


def draw(spaces: Eigenspaces, steps: int, chains: int, *, rng: np.random.Generator) -> Draws:
    """The fresh scalars of some steps of independent chains. Checks nothing.

    Args:
        spaces: G eigenspaces. steps: m, at least 1. chains: M, at least 1. rng: source of randomness.

    Returns:
        Arrays of shape (m, G, 1, M); ``square_norm`` and ``label`` of shape (m, 1, M).
    """
    shape = (steps, len(spaces.eigenvalues), 1, chains)
    eigenvalues, half = spaces.eigenvalues[:, None, None], (spaces.multiplicities[:, None, None] - 1) / 2
    along = rng.standard_normal(shape)
    along *= np.sqrt(eigenvalues)
    square_rest = rng.standard_gamma(half, shape)
    square_rest *= 2 * eigenvalues
    square_norm = (along**2 + square_rest).sum(axis=1)
    label = spaces.label_noise * rng.standard_normal((steps, 1, chains))
    noise_along = rng.standard_normal(shape)
    noise_rest = 2 * rng.standard_gamma(half, shape)
    return Draws(along, square_rest, square_norm, label, noise_along, noise_rest)


def risks(
    spaces: Eigenspaces, configurations: Sequence[Configuration], n: int, chains: int, *, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The risks after 0, 1, …, n steps of independent chains, one after the other.

    Guarantee: each chain and configuration alone has the law of the risk of Algorithm 1. The configurations share the
    draws of a chain. They are not its iterates' common random numbers of `descent.descend`: the marginal laws agree,
    the joint law of two configurations does not.

    Args:
        spaces: of Gaussian data.
        configurations: at least one.
        n: number of steps, at least 1. chains: number of independent chains, at least 1.
        rng: source of randomness.

    Yields:
        R(θ_k), shape (configurations, chains), for k = 0, …, n; ∞ or NaN after an overflow.

    Raises:
        ValueError: if ``n`` or ``chains`` is not a whole number of at least 1, there is no configuration, or a
            schedule increases.
    """
    check_steps(configurations, n)
    _validate.whole("chains", chains)
    return _walk(spaces, configurations, n, chains, rng)


def _walk(
    spaces: Eigenspaces, configurations: Sequence[Configuration], n: int, chains: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    eigenvalues = spaces.eigenvalues
    norms = np.tile(spaces.target_norms[:, None, None], (1, len(configurations), chains))
    chunk = max(1, CHUNK_NUMBERS // (chains * (4 * len(eigenvalues) + 1)))
    yield _risk(eigenvalues, norms**2)
    for first in range(0, n, chunk):
        last = min(first + chunk, n)
        table = step_table(configurations, n, spaces.d, first, last)
        draws = draw(spaces, last - first, chains, rng=rng)
        rates = np.minimum(table.learning_rates[:, :, None], 2 / draws.square_norm)
        bound = table.clip_norm[:, None] / np.sqrt(draws.square_norm)
        for k, noise_std in enumerate(table.noise_std):
            coefficient = _coefficient(norms, draws.along[k], draws.label[k], rates[k], bound[k])
            squares = _after_data(norms, coefficient, draws.along[k], draws.square_rest[k])
            if noise_std.any():
                squares = _after_noise(squares, noise_std[:, None], draws.noise_along[k], draws.noise_rest[k])
            norms = np.sqrt(squares)
            yield _risk(eigenvalues, squares)


def _risk(eigenvalues: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """½ Σ_g λ_g u_g², shape (configurations, chains)."""
    return (eigenvalues / 2 @ squares.reshape(len(eigenvalues), -1)).reshape(squares.shape[1:])


def _coefficient(
    norms: np.ndarray, along: np.ndarray, label: np.ndarray, rates: np.ndarray, bound: np.ndarray
) -> np.ndarray:
    """a, the multiple of x that the step subtracts, shape (configurations, chains)."""
    residual = (norms * along).sum(axis=0)
    residual -= label
    np.minimum(residual, bound, out=residual)
    np.maximum(residual, -bound, out=residual)
    residual *= rates
    return residual


def _after_data(norms: np.ndarray, coefficient: np.ndarray, along: np.ndarray, square_rest: np.ndarray) -> np.ndarray:
    """‖v_g‖², a sum of two squares, shape (G, configurations, chains)."""
    squares = norms - coefficient * along
    squares *= squares
    squares += coefficient**2 * square_rest
    return squares


def _after_noise(squares: np.ndarray, std: np.ndarray, along: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """‖v_g + s b_g‖², shape (G, configurations, chains)."""
    moved = np.sqrt(squares)
    moved += std * along
    moved *= moved
    moved += std**2 * rest
    return moved


def risk_at(
    spaces: Eigenspaces,
    configurations: Sequence[Configuration],
    n: int,
    times: Sequence[float] | np.ndarray,
    chains: int,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """R(θ_⌊tn⌋) of independent chains at the times asked for, as `risks` yields them.

    Args:
        spaces: of Gaussian data.
        configurations: at least one; they share the draws of a chain.
        n: number of steps, at least 1.
        times: t in [0, 1], not decreasing; the risk is recorded after ⌊tn⌋ steps.
        chains: number of independent chains, at least 1.
        rng: source of randomness.

    Returns:
        shape (configurations, chains, times); ∞ after an overflow.

    Raises:
        ValueError: as `risks`, or if the times are not in order or not in [0, 1].
    """
    records = steps_at(times, n)
    out = np.empty((len(configurations), chains, len(records)))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for k, risk in enumerate(risks(spaces, configurations, n, chains, rng=rng)):
            out[:, :, records == k] = np.where(np.isfinite(risk), risk, np.inf)[:, :, None]
    return out
