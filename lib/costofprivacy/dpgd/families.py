r"""Algorithm 1 of arXiv:2505.16329v2 on given records, for a grid of configurations that differ by factors.

`descent.descend_records` takes any configurations. A grid of hyper-parameters has little variety: its schedules are
multiples η̃ = A φ of a few *shapes* φ, and all of them meet the same private noise. So this module splits the iterate,

    θ_k = u_k + (2CA/ρ) w_k,      w_k = Σ_{j ≤ k} σ_j(φ) b_j,

where σ_j(φ) is the noise (4.2) of η̃ = φ at ρ = 1.

*It is the same algorithm, to rounding.* (4.2) is homogeneous: ρσ_k = √(η_k² − η_{k+1}²) scales with A, so the noise of
step k is 2Cσ_k b_k = (2CA/ρ) σ_k(φ) b_k. A step adds it and −a_k x_k, with a_k = η̄_k clip(r_k, ±C/‖x_k‖); u collects
the one and w the other, and the step reads of θ only

    r_k = x_k'θ_{k−1} − y_k = x_k'u_{k−1} + (2CA/ρ) x_k'w_{k−1} − y_k.  ∎

What a shape adds to residuals is one number x_k'w_{k−1} for each record, whatever the number of configurations. What is
left for each of them is the data part, u ← u − a_k x_k: 4d operations a step, made in blocks as in `update.advance`, or
one by one where d is so small that blocks do not pay.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.dpgd.descent import Configuration, check_steps
from costofprivacy.dpgd.schedule import Form, lengths, noise_multipliers
from costofprivacy.privacy import records
from costofprivacy.privacy.records import numbers

BLOCK = 64  # steps between two updates of the parameters
CHUNK = 4096  # steps whose noise is held in memory together, where they are made one by one
ONE_BY_ONE = 32  # dimension up to which steps are made one by one


class Grid(NamedTuple):
    """Configurations of a grid, those of one shape together, and in a shape by A.

    Args:
        largest: the configuration of each of s shapes with the largest A. smallest: with the smallest.
        ends: where the configurations of each shape end, shape (s,).
        order: the place of each in the caller's list, shape (configurations,).
        scale: A of each. clip_norm: C. noise: 2CA/ρ.
    """

    largest: list[Configuration]
    smallest: list[Configuration]
    ends: np.ndarray
    order: np.ndarray
    scale: np.ndarray
    clip_norm: np.ndarray
    noise: np.ndarray

    def shapes(self, n: int) -> np.ndarray:
        """φ(k/n)/n of each shape, shape (n, s)."""
        times = np.arange(1, n + 1) / n
        return np.stack([lengths(top.schedule, times, n) / _form(top).scale for top in self.largest], axis=1)


def grid_of(configurations: Sequence[Configuration], d: int) -> Grid:
    """The shapes of some configurations, whose schedules have a `schedule.Form`.

    Args:
        configurations: at least one. d: the dimension of C = c√d.
    """
    forms = [_form(each) for each in configurations]
    order = sorted(range(len(forms)), key=lambda k: (forms[k][1:], forms[k].scale))
    groups = [list(group) for _, group in itertools.groupby(order, key=lambda k: forms[k][1:])]
    smallest, largest = ([configurations[group[k]] for group in groups] for k in (0, -1))
    scale = np.array([forms[k].scale for k in order])
    clip = np.array([configurations[k].clip_norm(d) for k in order])
    rho = np.array([configurations[k].rho for k in order])
    noise = 2 * np.where(np.isinf(rho), 0.0, clip) * scale / rho
    return Grid(largest, smallest, np.cumsum([len(group) for group in groups]), np.array(order), scale, clip, noise)


def _form(configuration: Configuration) -> Form:
    form: Form = configuration.schedule.form  # type: ignore[attr-defined]
    return form


@np.errstate(all="ignore")
def descend_grid(
    x: np.ndarray, y: np.ndarray, configurations: Sequence[Configuration], *, rng: np.random.Generator
) -> np.ndarray:
    """`descent.descend_records` to rounding, from the same ``rng``, for schedules with a `schedule.Form`.

    It is for measurements and has no guarantee of its own: configurations share the private noise, and which features
    are 0 in all records, which cost nothing, is read off the records and decides the last bits of a result.

    Args:
        x: features of any type of number, shape (n, d). y: responses, shape (n,).
        configurations: at least one. rng: source of the private noise.

    Returns:
        the released θ_n, shape (configurations, d).

    Raises:
        ValueError: as `descent.descend_records`.
    """
    x = numbers("x", x, (None, None))
    n, d = x.shape
    y = numbers("y", y, (n,))
    grid = grid_of(configurations, d)
    check_steps([*grid.smallest, *grid.largest], n)  # if these have admissible rates, so have all between
    x, y = records.regression(x, y)
    rates = grid.shapes(n)
    sigma = np.stack([noise_multipliers(column, 1.0) for column in rates.T], axis=1)
    met, walk = walks(x, sigma, rng)
    theta = walk[:, np.repeat(np.arange(len(grid.ends)), np.diff(grid.ends, prepend=0))] * grid.noise
    used = np.flatnonzero(x.any(axis=0))
    theta[used] += _data_parts(x, used, y, met, rates, grid)
    released = np.empty((len(configurations), d))
    released[grid.order] = theta.T
    return released


@np.errstate(all="ignore")
def walks(x: np.ndarray, sigma: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What each record meets of each shape's noise, x_k'w_{k−1}, shape (n, s), and w_n, shape (d, s).

    Args:
        x: shape (n, d). sigma: σ_k of each shape, shape (n, s). rng: of the noise b_k, n rows of d normals.
    """
    n, d = x.shape
    met, walk = np.empty_like(sigma), np.zeros((d, sigma.shape[1]))
    steps = BLOCK if d > ONE_BY_ONE else CHUNK
    for first in range(0, n, steps):
        rows = slice(first, min(first + steps, n))
        b = rng.standard_normal(x[rows].shape)
        if d > ONE_BY_ONE:
            met[rows] = x[rows] @ walk + np.tril(x[rows] @ b.T, -1) @ sigma[rows]
            walk += b.T @ sigma[rows]
        else:
            _walk(walk, met[rows], x[rows], sigma[rows], b)
    return met, walk


@compiled
def _walk(walk: np.ndarray, met: np.ndarray, x: np.ndarray, sigma: np.ndarray, b: np.ndarray) -> None:
    """x_k'w_{k−1} and w_k, one step after the other, in place."""
    for k in range(len(x)):
        met[k] = 0.0
        for i in range(x.shape[1]):
            for s in range(sigma.shape[1]):
                met[k, s] += x[k, i] * walk[i, s]
                walk[i, s] += sigma[k, s] * b[k, i]


def _data_parts(
    x: np.ndarray, used: np.ndarray, y: np.ndarray, met: np.ndarray, rates: np.ndarray, grid: Grid
) -> np.ndarray:
    """u_n of each configuration in the features that are used, shape (used, configurations)."""
    parts = np.zeros((len(used), len(grid.order)))
    square = np.einsum("ij,ij->i", x, x)
    told = (grid.ends, grid.scale, grid.noise, grid.clip_norm)
    caps, shortest = 2 / square, 1 / np.sqrt(square)
    if len(used) <= ONE_BY_ONE:
        _one_by_one(parts, x.take(used, axis=1), y, met, rates, caps, shortest, *told)
        return parts
    for first in range(0, len(y), BLOCK):
        rows = slice(first, first + BLOCK)
        features = x[rows].take(used, axis=1)
        values = features @ parts
        _block(values, features @ features.T, y[rows], met[rows], rates[rows], caps[rows], shortest[rows], *told)
        parts -= features.T @ values
    return parts


@compiled
def _block(
    values: np.ndarray,
    gram: np.ndarray,
    y: np.ndarray,
    met: np.ndarray,
    rates: np.ndarray,
    caps: np.ndarray,
    shortest: np.ndarray,
    ends: np.ndarray,
    scale: np.ndarray,
    noise: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """From x_k'u at the block's start to a_k, in place; ``values`` has shape (m, configurations)."""
    for k in range(len(y)):
        for j in range(k):
            for i in range(len(scale)):
                values[k, i] -= gram[k, j] * values[j, i]
        _lengths(values[k], y[k], met[k], rates[k], caps[k], shortest[k], ends, scale, noise, clip_norm)


@compiled
def _one_by_one(
    parts: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    met: np.ndarray,
    rates: np.ndarray,
    caps: np.ndarray,
    shortest: np.ndarray,
    ends: np.ndarray,
    scale: np.ndarray,
    noise: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """All steps on u, one after the other, in place."""
    values = np.empty(len(scale))
    for k in range(len(y)):
        values[:] = 0.0
        for j in range(x.shape[1]):
            for i in range(len(scale)):
                values[i] += x[k, j] * parts[j, i]
        _lengths(values, y[k], met[k], rates[k], caps[k], shortest[k], ends, scale, noise, clip_norm)
        for j in range(x.shape[1]):
            for i in range(len(scale)):
                parts[j, i] -= x[k, j] * values[i]


@compiled
def _lengths(
    values: np.ndarray,
    y: float,
    met: np.ndarray,
    rates: np.ndarray,
    cap: float,
    shortest: float,
    ends: np.ndarray,
    scale: np.ndarray,
    noise: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """From x'u to a = min(Aφ, 2/‖x‖²) clip(x'u + noise·x'w − y, ±C/‖x‖) of one record, in place."""
    first = 0
    for s in range(len(ends)):
        for i in range(first, ends[s]):
            bound = clip_norm[i] * shortest
            residual = values[i] + noise[i] * met[s] - y
            values[i] = min(scale[i] * rates[s], cap) * max(-bound, min(residual, bound))
        first = ends[s]
