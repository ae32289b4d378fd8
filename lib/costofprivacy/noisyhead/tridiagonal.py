r"""The quadratic loss in a basis in which the Gram matrix H is tridiagonal: for many short runs on one data set.

All of Algorithm 1 but H is isotropic (`costofprivacy.noisyhead.curvature`), so any orthonormal basis will do.
Householder's reflections bring H = Q T Qᵀ to a tridiagonal T in a third of the time that eigenvectors take, and to
rounding like those: it is the first of the steps to them. An update of Γ then costs three products a coordinate instead
of one, and (H + λI)⁻¹b, for every λ anew, O(D²).

`run` is Algorithm 1 in that basis, compiled, for configurations with penalties, learning rates and radii of their own.
Π_R multiplies the whole of Γ by R/‖Γ‖ where that is below one. The factor is left standing until the next step, which
is linear in it: each coordinate is read and written once in a step.

Configurations that differ in the noise's deviation s and in T alone have iterates on one line, Γ = A + sB with
A ← step(A) + drift and B ← step(B) + z, as long as Π_R is idle. So A and B are stepped once for all of them, with
‖Γ‖² = ‖A‖² + 2s⟨A, B⟩ + s²‖B‖² beside; a configuration that has left its ball on the way is run by itself.

Nobody's records enter by themselves: `run` is for experiments on data that need no protection. What may be released is
made by `pretraining.release`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dormqr, dptsv, dsytrd, dsytrd_lwork

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.head import Statistics

_BLOCK = 64  # columns that LAPACK reflects together


@dataclass(frozen=True, eq=False)
class TridiagonalMoments:
    """Moments in a basis in which H is tridiagonal: a `curvature.QuadraticLoss`.

    Args:
        diagonal: of T, shape (p,). beside: below and above the diagonal, shape (p − 1,). cross: b in that basis.
        reflectors, factors: Q as LAPACK's ``dsytrd`` leaves it; it moves all coordinates but the first.
    """

    diagonal: np.ndarray
    beside: np.ndarray
    cross: np.ndarray
    reflectors: np.ndarray
    factors: np.ndarray

    @property
    def trace(self) -> float:
        """tr H, the sum of the diagonal."""
        return float(self.diagonal.sum())

    def step(self, shrink: float, rate: float) -> Callable[[np.ndarray], np.ndarray]:
        """The map Γ ↦ shrink·Γ − rate·HΓ on coordinates of shape (B, p)."""
        own, other = shrink - rate * self.diagonal, rate * self.beside

        def mapped(Gamma: np.ndarray) -> np.ndarray:
            found = Gamma * own
            found[..., 1:] -= other * Gamma[..., :-1]
            found[..., :-1] -= other * Gamma[..., 1:]
            return found

        return mapped

    def solve(self, penalty: float) -> np.ndarray:
        """(H + λI)⁻¹b in coordinates, shape (p,), by factors L D Lᵀ of T + λI."""
        _, _, solution, failed = dptsv(self.diagonal + penalty, self.beside, self.cross[:, None])
        if failed:
            raise np.linalg.LinAlgError(f"H + λI is not positive definite for λ = {penalty:g}")
        return np.asarray(solution[:, 0])

    def along(self, vectors: np.ndarray) -> np.ndarray:
        """Coordinates of vectors of shape (B, p), row by row."""
        return _reflected(self.reflectors, self.factors, "T", vectors)

    def coordinates(self, Gamma: np.ndarray) -> np.ndarray:
        """Coordinates of a matrix of shape (D, D): shape (p,)."""
        return self.along(Gamma.reshape(1, -1))[0]

    def matrices(self, coordinates: np.ndarray) -> np.ndarray:
        """The matrices with these coordinates, (B, p) ↦ (B, D, D)."""
        D = math.isqrt(len(self.diagonal))
        return _reflected(self.reflectors, self.factors, "N", coordinates).reshape(-1, D, D)


def in_tridiagonal_basis(data: Statistics) -> TridiagonalMoments:
    """The moments of N prompts in a basis in which H is tridiagonal, O(ND⁴ + D⁶); D at least 2."""
    Z = data.Z.reshape(len(data.response), -1)
    gram = dsyrk(1 / len(Z), Z.T, lower=1)
    work = int(dsytrd_lwork(len(gram), lower=1)[0])
    reflectors, diagonal, beside, factors, _ = dsytrd(gram, lower=1, lwork=work, overwrite_a=1)
    cross = _reflected(reflectors, factors, "T", (data.response @ Z / len(Z))[None])[0]
    return TridiagonalMoments(diagonal, beside, cross, reflectors, factors)


def _reflected(reflectors: np.ndarray, factors: np.ndarray, transposed: str, vectors: np.ndarray) -> np.ndarray:
    """Q v ("N") or Qᵀv ("T") for each row v of ``vectors``."""
    found = np.array(vectors, dtype=float)
    moved, _, _ = dormqr("L", transposed, reflectors[1:, :-1], factors, found[:, 1:].T, _BLOCK * len(found))
    found[:, 1:] = moved.T
    return found


@dataclass(frozen=True, eq=False)
class Configurations:
    """B configurations of Algorithm 1 that are run on one data set, arrays of shape (B,).

    Args:
        penalty: λ. learning_rate: η₀. radius: R in (0, ∞]. noise_std: of an entry of z_t; 0 for descent without noise.
        steps: T, at least 1. begun: Γ⁰ as a multiple of the direction that all share; `project` it first.

    Raises:
        ValueError: if the shapes disagree.
    """

    penalty: np.ndarray
    learning_rate: np.ndarray
    radius: np.ndarray
    noise_std: np.ndarray
    steps: np.ndarray
    begun: np.ndarray

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            _validate.shape(name, values, self.steps.shape)


def run(data: TridiagonalMoments, told: Configurations, initial: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Γ^T of Algorithm 1 for B configurations with the same directions of the noise, in coordinates.

    Args:
        data: moments of clipped and projected statistics. told: the configurations; B of them.
        initial: Γ⁰ of a configuration that begins with 1, in coordinates, shape (p,); others begin with multiples.
        noise: standard normals in coordinates, a row for each step, shape (at least the largest T, p).

    Returns:
        shape (B, p). Where descent diverges, numbers overflow.

    Raises:
        ValueError: if the noise has too few steps, or a shape is wrong.
    """
    p = len(data.diagonal)
    _validate.shape("initial", initial, (p,))
    _validate.shape("noise", noise, (None, p))
    if len(noise) < told.steps.max():
        raise ValueError(f"noise must have at least {told.steps.max()} steps, got {len(noise)}")
    length = np.abs(told.begun) * math.sqrt(float(initial @ initial))
    share = np.divide(told.radius, length, out=np.ones_like(length), where=length > told.radius)
    found = np.outer(told.begun * share, initial)
    basis = (data.diagonal, np.concatenate([[0.0], data.beside, [0.0]]), data.cross, np.ascontiguousarray(noise))
    alike = np.column_stack([told.penalty, told.learning_rate, told.radius, told.begun])
    _, kinds = np.unique(alike, axis=0, return_inverse=True)
    for kind in range(kinds.max(initial=-1) + 1):
        line = np.flatnonzero(kinds == kind)
        first = line[0]
        rate, radius = float(told.learning_rate[first]), float(told.radius[first])
        shrink, std = 1 - 2 * float(told.penalty[first]) * rate, told.noise_std[line].astype(float)
        rows = found[line]
        _run(*basis, shrink, rate, radius, std, told.steps[line], rows)
        found[line] = rows
    return found


@compiled
def _run(
    diagonal: np.ndarray,
    beside: np.ndarray,
    cross: np.ndarray,
    noise: np.ndarray,
    shrink: float,
    rate: float,
    radius: float,
    std: np.ndarray,
    steps: np.ndarray,
    Gamma: np.ndarray,
) -> None:
    """Replace each row of Gamma, the common Γ⁰, by a run's Γ^T. What is stepped lies between two zeros."""
    p, count, idle = Gamma.shape[1], len(std), np.ones(len(std), np.bool_)
    A, B, then = np.zeros(p + 2), np.zeros(p + 2), np.zeros(p + 2)
    for i in range(p):
        A[i + 1] = Gamma[0, i]
    for t in range(steps.max()):
        _step(diagonal, beside, cross, noise[t], (shrink, rate, rate, 0.0), A, then)
        A, then = then, A
        _step(diagonal, beside, cross, noise[t], (shrink, rate, 0.0, 1.0), B, then)
        B, then = then, B
        still, mixed, noisy = np.dot(A, A), np.dot(A, B), np.dot(B, B)
        for k in range(count):
            if idle[k] and t < steps[k]:
                idle[k] = not still + std[k] * (2 * mixed + std[k] * noisy) > radius**2
                if idle[k] and t + 1 == steps[k]:
                    for i in range(p):
                        Gamma[k, i] = A[i + 1] + std[k] * B[i + 1]
        if not idle.any():
            break
    for k in range(count):
        if not idle[k]:
            told = (shrink, rate, radius, std[k])
            _alone(diagonal, beside, cross, noise[: steps[k]], told, Gamma[k])


@compiled
def _alone(
    diagonal: np.ndarray,
    beside: np.ndarray,
    cross: np.ndarray,
    noise: np.ndarray,
    told: tuple[float, float, float, float],
    Gamma: np.ndarray,
) -> None:
    """One run with Π_R, a step for each row of the noise."""
    shrink, rate, radius, std = told
    now, then, scale = np.zeros(len(Gamma) + 2), np.zeros(len(Gamma) + 2), 1.0
    for i in range(len(Gamma)):
        now[i + 1] = Gamma[i]
    for t in range(len(noise)):
        _step(diagonal, beside, cross, noise[t], (shrink * scale, rate * scale, rate, std), now, then)
        now, then = then, now
        length = math.sqrt(np.dot(now, now))
        scale = radius / length if length > radius else 1.0
    for i in range(len(Gamma)):
        Gamma[i] = scale * now[i + 1]


@compiled
def _step(
    diagonal: np.ndarray,
    beside: np.ndarray,
    cross: np.ndarray,
    noise: np.ndarray,
    told: tuple[float, float, float, float],
    now: np.ndarray,
    then: np.ndarray,
) -> None:
    """One update, (shrink − pull·T)Γ + drift·b + std·z, from ``now`` to ``then``, which lie between zeros."""
    shrink, pull, drift, std = told
    for i in range(len(diagonal)):
        curved = beside[i] * now[i] + diagonal[i] * now[i + 1] + beside[i + 1] * now[i + 2]
        then[i + 1] = shrink * now[i + 1] - pull * curved + (drift * cross[i] + std * noise[i])


def grown(data: TridiagonalMoments, penalty: float, rate: float, vectors: np.ndarray, steps: int) -> np.ndarray:
    """Σ_{t<T} ‖A^t v‖² for T = 1, …, ``steps``, A the map of a step without drift: shape (B, steps).

    That is E⟨Γ, v⟩² after T steps of noise of variance one, from 0 and without Π_R: Γ = Σ_{t<T} A^t z_t.

    Args:
        data: H. penalty: λ. rate: η₀. vectors: v in coordinates, shape (B, p). steps: at least 1.
    """
    edged = np.concatenate([[0.0], data.beside, [0.0]])
    return np.cumsum(_squares(data.diagonal, edged, 1 - 2 * penalty * rate, rate, vectors, steps), axis=1)


@compiled
def _squares(
    diagonal: np.ndarray, beside: np.ndarray, shrink: float, rate: float, vectors: np.ndarray, steps: int
) -> np.ndarray:
    """‖A^t v‖² for each v and t < steps."""
    found, nothing = np.empty((len(vectors), steps)), np.zeros(vectors.shape[1])
    now, then = np.zeros(vectors.shape[1] + 2), np.zeros(vectors.shape[1] + 2)
    for k in range(len(vectors)):
        for i in range(vectors.shape[1]):
            now[i + 1] = vectors[k, i]
        for t in range(steps):
            found[k, t] = np.dot(now, now)
            _step(diagonal, beside, nothing, nothing, (shrink, rate, 0.0, 0.0), now, then)
            now, then = then, now
    return found
