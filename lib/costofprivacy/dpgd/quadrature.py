r"""Quadrature for a continuous spectrum: a hundred equations in the place of 100 000.

For the power law of Assumption 3 the sums over eigenvalues in (4.8) and (6.3) become integrals

.. math:: \int_0^C \lambda^{\kappa-1} e^{-2\lambda x}\,d\lambda, \qquad
          \kappa \in \{2-\varphi-\psi,\ 2-\varphi,\ 3-\varphi\}, \qquad 0 \le x \le \Gamma(1),

which live where λ ~ 1/x, over as many decades as Γ has. The rule is the trapezoidal rule with step h in v, where λ =
C/(1 + exp(−v − e^v)). To the left λ is C e^v, where the integrand is e^{κv} exp(−2Cx e^v); its trapezoidal sum errs
by a share 2|Γ(κ + 2πi/h)|/Γ(κ) of the integral, by Poisson's formula, *for every x*: that chooses h. To the right λ
tends to C so fast that C is no end at all. To the left the sum is cut where (λx)^κ is below `_TAIL`, at the largest x
of interest.

**A few equations in the place of those of a long spectrum, by Gauss quadrature of its two measures.**

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

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, loggamma

from costofprivacy import _validate
from costofprivacy.dpgd.spectrum import PowerLaw
from costofprivacy.dpgd.system import System, of_spectrum

_ALIAS = 1e-8  # relative error of the trapezoidal rule
_TAIL = 1e-9  # relative size of what lies left of the smallest node
_RIGHT = 3.1  # the largest v: e^{−v − e^v} is 1e-11 there
_STEPS = (1e-3, 1.0)  # the step is between them


def _power_law_rule(law: PowerLaw, psi: float, clock: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, descending, and weights for ∫ f(λ) p(λ) dλ with f(λ) = λ e^{−2λx}, λ² e^{−2λx} and λ^{1−ψ} e^{−2λx}.

    Relative error about 1e-8, uniformly over 0 ≤ x ≤ ``clock``; beyond, it grows like (x/clock)^(2−φ−ψ).
    """
    law.initial_energy(1.0, psi, 1.0)
    span = 2 * law.largest * _validate.finite_positive("clock", clock)
    slowest = min(2 - law.phi, 2 - law.phi - psi)
    power = max(3 - law.phi, 2 - law.phi - psi)  # κ; the rule for Γ(κ) errs by `_ALIAS` at the step h
    wanted = math.log(_ALIAS / 2) + gammaln(power)
    step = brentq(lambda h: loggamma(complex(power, 2 * math.pi / h)).real - wanted, *_STEPS)
    left = math.log1p(span) - math.log(_TAIL) / slowest
    v = _RIGHT - step * np.arange(math.ceil((left + _RIGHT) / step) + 1)
    exponent = v + np.exp(v)
    share = 1 / (1 + np.exp(-exponent))
    slope = share / (1 + np.exp(exponent)) * (1 + np.exp(v))
    nodes = law.largest * share
    return nodes, step * law.largest * slope * law.density(nodes)


def of_power_law(
    law: PowerLaw,
    aspect_ratio: float,
    label_noise: float,
    psi: float = 0.0,
    initial_risk: float = 0.5,
    clock: float | None = None,
) -> System:
    """The system of Definition 4.2 as d → ∞ for the spectrum and the target of Assumption 3 of arXiv:2505.16329v2.

    Args:
        law: the spectrum.
        aspect_ratio: γ > 0. label_noise: ζ ≥ 0.
        psi: ψ < 1 − φ; D(0) is proportional to λ^(−ψ).
        initial_risk: R(0) > 0.
        clock: the largest Γ(1) = ∫ η̄ μ dt that is of interest; by default 2/γ, which it never exceeds: η̄ ≤ 2/γ
            and μ ≤ 1. So the rule's error is the same for every γ.

    Raises:
        ValueError: if a value is outside its range.
    """
    gamma = _validate.finite_positive("aspect_ratio", aspect_ratio)
    nodes, weights = _power_law_rule(law, psi, 2 / gamma if clock is None else clock)
    return of_spectrum(nodes, law.initial_energy(nodes, psi, initial_risk), aspect_ratio, label_noise, weights)


# ---- Lumped ----

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
    nodes, seen = _rule(rates, system.readout, most)
    starts, started = _rule(rates, system.readout * system.initial, most)
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


def _rule(values: np.ndarray, weights: np.ndarray, most: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights in the place of those of a discrete measure on [0, ∞), piece by piece; ``most`` is Γ₁."""
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
