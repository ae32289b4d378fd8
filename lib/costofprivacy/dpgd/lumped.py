r"""A few equations in the place of those of a long spectrum, by Gauss quadrature of its two measures.

The equations of `system.System` are linear in D for a given risk. Where b_i = a_i they give

.. math:: R = \int e^{-2a\Gamma}\,d\epsilon(a)
          + \int_0^\Gamma \int (a\,g(s) + p(s))\,e^{-2a(\Gamma-s)}\,d\nu(a)\,ds,
          \qquad \epsilon = \sum_i r_i D_i(0)\,\delta_{a_i}, \quad \nu = \sum_i r_i\,\delta_{a_i}:

R depends on two measures, in which only e^{−2aΓ} and a e^{−2aΓ} are integrated, with Γ at most the largest progress Γ₁
that a run can make. So the line is cut into pieces whose ends differ by a factor of at most e, the lowest of them where
2aΓ₁ ≤ `_SLOW`, and in each of them both measures are replaced by Gauss's rule of `_NODES` nodes, which has the same
2·`_NODES` first moments. What is left is an error of the order of z⁶e^{−z}/(6!·2⁶), z = 2aΓ, of the part of the measure
in that piece.

A node of ε has b = 0 and a readout so small that noise in it does not show; a node of ν starts at 0.
"""

from __future__ import annotations

import math

import numpy as np

from costofprivacy.dpgd.system import System

_NODES = 3  # of a piece; a piece with no more distinct values keeps them
_SLOW = 0.1  # of 2aΓ₁: all modes that are as slow share a piece
_UNSEEN = 1e-9  # of the readouts: what is left to the nodes of ε


def lumped(system: System, most: float) -> System:
    """Equations with nearly the same risk, a few dozen at most for each decade of the spectrum.

    Guarantee: the risk to a few 1e-4 of itself, for learning rates up to ``most``.

    Args:
        system: equations with the same relaxation and sampling, as Definition 4.2 of arXiv:2505.16329v2 has them.
        most: the largest η̃(0) ∧ cap of interest, positive.

    Raises:
        ValueError: if relaxation and sampling differ.
    """
    rates = system.relaxation
    if not np.array_equal(rates, system.sampling):
        raise ValueError("system must have the same relaxation and sampling")
    nodes, seen = rule(rates, system.readout, most)
    starts, started = rule(rates, system.readout * system.initial, most)
    unseen = np.full(len(starts), _UNSEEN * seen.sum() / len(starts))
    return System(
        np.concatenate([nodes, starts]),
        np.concatenate([nodes, np.zeros_like(starts)]),
        np.concatenate([seen, unseen]),
        np.concatenate([np.zeros_like(nodes), started / unseen]),
        system.aspect_ratio,
        system.label_noise,
        system.cap,
    )


def rule(values: np.ndarray, weights: np.ndarray, most: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights in the place of those of a discrete measure on [0, ∞), piece by piece.

    Args:
        values: shape (m,). weights: ≥ 0, shape (m,). most: Γ₁, which says what is slow.
    """
    kept = weights > 0
    slow = _SLOW / (2 * most)
    pieces = np.ceil(np.log(np.maximum(values / slow, 1)))
    rules = [gauss(values[kept & (pieces == piece)], weights[kept & (pieces == piece)]) for piece in np.unique(pieces)]
    nodes, shares = zip(*rules)
    return np.concatenate(nodes), np.concatenate(shares)


def gauss(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss's rule of `_NODES` nodes for a discrete measure: the eigenvalues of its Jacobi matrix, by Lanczos's steps.

    Args:
        values: shape (m,). weights: positive, shape (m,).
    """
    if len(np.unique(values)) <= _NODES:
        return values, weights
    basis = [np.sqrt(weights / weights.sum())]
    for _ in range(1, _NODES):
        rest = values * basis[-1]
        for _ in range(2):  # the second time for the digits that the first has lost
            rest = rest - sum((rest @ known) * known for known in basis)
        basis.append(rest / math.sqrt(rest @ rest))
    vectors = np.array(basis)
    nodes, turned = np.linalg.eigh((vectors * values) @ vectors.T)
    return nodes, weights.sum() * turned[0] ** 2
