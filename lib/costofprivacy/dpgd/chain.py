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

Nobody's records enter: there is nothing to protect here, and no bound to keep.

The draws are NumPy's; the recursion that consumes them is compiled, and costs less than they do.

**The same chain for Σ = I on a grid of clips and learning rates, of which all schedules have one shape.**

With η̃(t) = η̃(0) f(t) the length of step k is η̃(0) times that of f, and by (4.2) of arXiv:2505.16329v2 so is σ_k; the
private noise is proportional to c as well. So one table of two columns serves every place of a grid. The recursion is
the one above, for one eigenspace; each step takes all places in one loop without a branch, which the compiler turns
into vector instructions. A step without private noise adds 0.

It draws what `risks` draws from the same generator, and its risks are those to rounding.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.dpgd.descent import Configuration, check_steps, step_table, steps_at
from costofprivacy.dpgd.draws import gamma_slope, standard_gamma
from costofprivacy.dpgd.schedule import Schedule
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
    """The fresh scalars of m steps of M chains, those of an eigenspace side by side: they share an instruction.

    Args:
        along: √λ_g ξ_g, shape (m, G, M). square_rest: λ_g ‖w_g‖², same shape.
        square_norm: ‖x‖², shape (m, M). label: z, same shape.
        noise_along: β, shape (m, G, M). noise_rest: χ² of the rest of the noise, same shape.
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
    """
    half = (spaces.multiplicities - 1) / 2
    return Draws(*_drawn(spaces.eigenvalues.astype(float), half, float(spaces.label_noise), steps, chains, rng))


@compiled
def _drawn(
    eigenvalues: np.ndarray, half: np.ndarray, label_noise: float, steps: int, chains: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The fields of `Draws`, drawn step by step, chain by chain."""
    shape = (steps, len(eigenvalues), chains)
    along, square_rest, noise_along, noise_rest = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    square_norm, label, roots = np.empty((steps, chains)), np.empty((steps, chains)), np.sqrt(eigenvalues)
    slopes = np.array([gamma_slope(shape) for shape in half])
    for k in range(steps):
        for m in range(chains):
            square = 0.0
            for g in range(len(eigenvalues)):
                along[k, g, m] = roots[g] * rng.standard_normal()
                square_rest[k, g, m] = 2 * eigenvalues[g] * standard_gamma(half[g], slopes[g], rng)
                noise_along[k, g, m] = rng.standard_normal()
                noise_rest[k, g, m] = 2 * standard_gamma(half[g], slopes[g], rng)
                square += along[k, g, m] ** 2 + square_rest[k, g, m]
            square_norm[k, m] = square
            label[k, m] = label_noise * rng.standard_normal()
    return along, square_rest, square_norm, label, noise_along, noise_rest


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
    chains = _validate.whole("chains", chains)
    return itertools.chain.from_iterable(_chunks(spaces, configurations, n, chains, rng))


def _chunks(
    spaces: Eigenspaces, configurations: Sequence[Configuration], n: int, chains: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The risks of some steps at a time, shape (steps, configurations, chains), those after 0 steps first."""
    eigenvalues = spaces.eigenvalues.astype(float)
    shape = (len(configurations), len(eigenvalues), chains)
    norms = np.broadcast_to(spaces.target_norms.astype(float)[:, None], shape).copy()
    chunk = max(1, CHUNK_NUMBERS // (chains * max(4 * len(eigenvalues) + 1, len(configurations))))
    yield np.einsum("jgm,g->jm", norms**2, eigenvalues)[None] / 2
    for first in range(0, n, chunk):
        last = min(first + chunk, n)
        table = step_table(configurations, n, spaces.d, first, last)
        draws = draw(spaces, last - first, chains, rng=rng)
        told = (table.learning_rates, table.noise_std, table.clip_norm, draws.square_norm, draws.label)
        yield _steps(norms, eigenvalues, *told, draws.along, draws.square_rest, draws.noise_along, draws.noise_rest)


@compiled
def _steps(
    norms: np.ndarray,
    eigenvalues: np.ndarray,
    learning_rates: np.ndarray,
    noise_std: np.ndarray,
    clip_norm: np.ndarray,
    square_norm: np.ndarray,
    label: np.ndarray,
    along: np.ndarray,
    square_rest: np.ndarray,
    noise_along: np.ndarray,
    noise_rest: np.ndarray,
) -> np.ndarray:
    """Risks after each of some steps, shape (steps, configurations, chains), from u_g in ``norms``, which it moves."""
    configurations, spaces, chains = norms.shape
    risks, coefficients = np.zeros((len(along), configurations, chains)), np.empty(chains)
    for k in range(len(along)):
        for j in range(configurations):
            _coefficients(
                coefficients, norms[j], learning_rates[k, j], clip_norm[j], square_norm[k], label[k], along[k]
            )
            for g in range(spaces):
                told = (norms[j, g], coefficients, along[k, g], square_rest[k, g], noise_along[k, g], noise_rest[k, g])
                _move(*told, noise_std[k, j], risks[k, j], eigenvalues[g] / 2)
    return risks


@compiled
def _coefficients(
    coefficients: np.ndarray,
    norms: np.ndarray,
    learning_rate: float,
    clip_norm: float,
    square_norm: np.ndarray,
    label: np.ndarray,
    along: np.ndarray,
) -> None:
    """a = min(η, 2/‖x‖²) clip(r, ±C/‖x‖) of each chain, in place."""
    for m in range(len(coefficients)):
        coefficients[m] = -label[m]
    for g in range(len(norms)):
        for m in range(len(coefficients)):
            coefficients[m] += norms[g, m] * along[g, m]
    for m in range(len(coefficients)):
        inverse = 1 / math.sqrt(square_norm[m])
        bound = clip_norm * inverse
        coefficients[m] = min(learning_rate, 2 * inverse * inverse) * min(max(coefficients[m], -bound), bound)


@compiled
def _move(
    norms: np.ndarray,
    coefficients: np.ndarray,
    along: np.ndarray,
    square_rest: np.ndarray,
    noise_along: np.ndarray,
    noise_rest: np.ndarray,
    std: float,
    risks: np.ndarray,
    weight: float,
) -> None:
    """u_g of each chain after a step, in place, and its part of the risk, which is added."""
    for m in range(len(norms)):
        moved = norms[m] - coefficients[m] * along[m]
        total = moved * moved + coefficients[m] * coefficients[m] * square_rest[m]
        if std > 0:
            pushed = math.sqrt(total) + std * noise_along[m]
            total = pushed * pushed + std * std * noise_rest[m]
        norms[m] = math.sqrt(total)
        risks[m] += weight * total


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
    check_steps(configurations, n)
    chains = _validate.whole("chains", chains)
    records, done = steps_at(times, n), 0
    out = np.empty((len(configurations), chains, len(records)))
    for risk in _chunks(spaces, configurations, n, chains, rng):
        here = (records >= done) & (records < done + len(risk))
        found = risk[records[here] - done]
        out[:, :, here] = np.moveaxis(np.where(np.isfinite(found), found, np.inf), 0, -1)
        done += len(risk)
    return out


# ---- Chain grid ----

CHUNK_STEPS = 2**14  # steps drawn at a time


def released_risks(
    spaces: Eigenspaces,
    shape: Schedule,
    clips: np.ndarray,
    rates: np.ndarray,
    rho: float,
    n: int,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """R(θ_n) of one run of Algorithm 1 in each place, which share the draws.

    Args:
        spaces: one eigenspace, of Gaussian data. shape: f, which is η̃ at η̃(0) = 1.
        clips, rates: c and η̃(0) of each place, shape (places,). rho: ρ in (0, ∞]. n: number of steps, at least 1.
        rng: source of randomness.

    Returns:
        shape (places,); ∞ after an overflow.

    Raises:
        ValueError: if there are several eigenspaces, the schedule increases, or an argument is outside its range.
    """
    if len(spaces.eigenvalues) != 1:
        raise ValueError(f"spaces must be a single eigenspace, got {len(spaces.eigenvalues)}")
    unit = [Configuration(1.0, shape, rho)]
    check_steps(unit, n)
    c, rate = np.asarray(clips, dtype=float), np.asarray(rates, dtype=float)
    norms = np.full(len(c), float(spaces.target_norms[0]))
    for first in range(0, n, CHUNK_STEPS):
        last = min(first + CHUNK_STEPS, n)
        table = step_table(unit, n, spaces.d, first, last)
        draws = draw(spaces, last - first, 1, rng=rng)
        fresh = (draws.along, draws.square_rest, draws.square_norm, draws.label, draws.noise_along, draws.noise_rest)
        rows = np.column_stack([table.learning_rates, table.noise_std, *(each.reshape(last - first) for each in fresh)])
        _grid_steps(norms, rate, c * rate, c * math.sqrt(spaces.d), rows)
    risks = spaces.eigenvalues[0] / 2 * norms**2
    return np.where(np.isfinite(risks), risks, np.inf)


@compiled
def _grid_steps(
    norms: np.ndarray, rates: np.ndarray, noises: np.ndarray, clip_norms: np.ndarray, rows: np.ndarray
) -> None:
    """Some steps of ‖e‖ in each place; a row is f's length and noise, √λ ξ, λ‖w‖², ‖x‖², z, β and χ²."""
    for k in range(len(rows)):
        length, std, along, rest, square, label, pushed, pushed_rest = rows[k]
        inverse = 1 / math.sqrt(square)
        largest = 2 / square
        if std > 0:
            for j in range(len(norms)):
                bound = clip_norms[j] * inverse
                a = min(length * rates[j], largest) * min(max(norms[j] * along - label, -bound), bound)
                moved, noise = norms[j] - a * along, std * noises[j]
                ahead = math.sqrt(moved * moved + a * a * rest) + noise * pushed
                norms[j] = math.sqrt(ahead * ahead + noise * noise * pushed_rest)
        else:
            for j in range(len(norms)):
                bound = clip_norms[j] * inverse
                a = min(length * rates[j], largest) * min(max(norms[j] * along - label, -bound), bound)
                moved = norms[j] - a * along
                norms[j] = math.sqrt(moved * moved + a * a * rest)
