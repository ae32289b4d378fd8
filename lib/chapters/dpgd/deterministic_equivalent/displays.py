r"""Displays of Section 4 and Appendix C of arXiv:2505.16329v2 at a random state, each beside what it stands for.

Nothing but the state is random. What a display stands for is found by other means: Itô's terms by central differences
of the function, contour integrals by the trapezoidal rule, which is exact to rounding on a circle. ``reading`` is
``printed``, with everything as the paper has it, the drift of (4.14) included, or ``corrected``. ``value`` is what the
display says and ``derived`` what it should say, to eight digits at least.

The state is an error v of a regression model with its learning rate η̄ and noise σ̃, all in the eigenbasis of Σ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import Regime
from costofprivacy.dpgd import diffusion, risk_bounds, spectrum, system
from costofprivacy.dpgd.schedule import noise_intensity

DIMENSION = 12
TIME = 0.3
STEP = 1e-4  # of the central differences: their error is of its square
NODES = 64  # on the circle
PLACES = {"z = 2‖Σ‖": 0, "z = 2i‖Σ‖": NODES // 4, "z = −2‖Σ‖": NODES // 2}  # among them
DRIFTS = {"printed": diffusion.PRINTED, "corrected": diffusion.DERIVED}


@dataclass(frozen=True, eq=False)
class State:
    """One point of the diffusion (4.14), and the coefficients of its equation there.

    Args:
        eigenvalues: λ_i, shape (d,). error: v = Θ − θ*, shape (d,). n: samples.
        descent: η̄μ. sampling: η̄²ν𝒫. private: c²σ̃².
    """

    eigenvalues: np.ndarray
    error: np.ndarray
    n: int
    descent: float
    sampling: float
    private: float

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.error)

    @property
    def circle(self) -> np.ndarray:
        """`NODES` values of z with |z| = 2‖Σ‖."""
        return 2 * self.eigenvalues.max() * np.exp(2j * np.pi * np.arange(NODES) / NODES)


def table(regime: Regime, seed: int) -> pd.DataFrame:
    """Every display at one random state: display, term, reading, value, derived."""
    rng = np.random.default_rng(seed)
    values = spectrum.uniform(DIMENSION).eigenvalues
    state = state_at(regime, values, 0.4 * rng.standard_normal(DIMENSION))
    energies = rng.exponential(size=DIMENSION)
    rows = [*quadratic(state), *logarithm(state), *product(state, rng=rng)]
    rows += [*integrals(state, energies), *resolvents(regime, state, energies), *comparison(regime)]
    return pd.DataFrame(rows)


def state_at(regime: Regime, eigenvalues: np.ndarray, error: np.ndarray) -> State:
    """The state with this error at `TIME`, under the square-root schedule."""
    d, schedule = len(error), regime.schedule(0.5)
    n = regime.samples(d)
    equations = system.of_model(regime.model(spectrum.Spectrum(eigenvalues)), n)
    mu, scaled_nu = system.reductions(equations, regime.clip, float(eigenvalues @ error**2) / 2)
    rate = float(equations.learning_rate(schedule, TIME))
    private = regime.clip**2 * float(noise_intensity(schedule, TIME, regime.rho))
    return State(eigenvalues, error, n, rate * mu, rate**2 * scaled_nu, private)


def row(display: str, term: str, reading: str, value: float, derived: float) -> dict[str, object]:
    """A display's term beside what it should be."""
    return {"display": display, "term": term, "reading": reading, "value": value, "derived": derived}


def ito(function: Callable[[np.ndarray], float], state: State, drift: float) -> dict[str, float]:
    """Terms of the drift of f(V) along (4.14) with k = ``drift`` in its first term, by central differences of f."""
    steps = STEP * np.eye(state.d)
    up, down = (np.array([function(state.error + sign * step) for step in steps]) for sign in (1, -1))
    gradient, second = (up - down) / (2 * STEP), (up + down - 2 * function(state.error)) / STEP**2
    return {
        "descent": float(gradient @ (-drift * state.descent * state.eigenvalues * state.error)),
        "sampling": float(second @ (2 * state.sampling * state.eigenvalues / state.n)) / 2,
        "private noise": float(second.sum()) * 4 * state.d / state.n**2 * state.private / 2,
    }


def quadratic(state: State) -> list[dict[str, object]]:
    """(C.9) and (C.27): the drift of q(v) = ½ v'hv, whose descent term has no 2."""
    values, v = state.eigenvalues, state.error
    hessian = 1 / (values + 2 * values.max())
    shown = {
        "descent": -state.descent * float((values * v) @ (hessian * v)),
        "sampling": state.sampling * float(values @ hessian) / state.n,
        "private noise": 2 * state.d / state.n**2 * state.private * float(hessian.sum()),
    }
    rows = []
    for reading, drift in DRIFTS.items():
        found = ito(lambda u: float(hessian @ u**2) / 2, state, drift)
        rows += [row("(C.9), (C.27)", term, reading, shown[term], found[term]) for term in found]
    return rows


def logarithm(state: State) -> list[dict[str, object]]:
    """(C.29) and (C.30): the drift of log(1 + ‖v‖²) and the gradient in its martingale."""
    n, d, values, v = state.n, state.d, state.eigenvalues, state.error
    square = float(v @ v)
    descent, sampling = float(values @ v**2) / (1 + square), state.sampling / (n * (1 + square) ** 2)
    private = state.private / (1 + square) ** 2
    shown = {
        "printed": {
            "descent": -state.descent * descent,
            "sampling": 2 * sampling * float(values @ (1 + square - v**2)),
            "private noise": 2 * d / n * private,
        },
        "corrected": {
            "descent": -2 * state.descent * descent,
            "sampling": 2 * sampling * float(values @ (1 + square - 2 * v**2)),
            "private noise": 4 * d / n**2 * private * (d * (1 + square) - 2 * square),
        },
    }
    rows = []
    for (reading, drift), factor in zip(DRIFTS.items(), (1, 2)):
        found = ito(lambda u: math.log1p(float(u @ u)), state, drift)
        rows += [row("(C.29), (C.30)", term, reading, shown[reading][term], found[term]) for term in found]
        along = (math.log1p(square * (1 + STEP) ** 2) - math.log1p(square * (1 - STEP) ** 2)) / (2 * STEP)
        rows.append(row("(C.29), (C.30)", "gradient", reading, factor * square / (1 + square), along))
    return rows


def product(state: State, *, rng: np.random.Generator) -> list[dict[str, object]]:
    """(C.8): the part of q(v − ηg + sb) − q(v), s = 2c√dσ_k, with one factor g and one b.

    It is bilinear in g and b, so a difference of four values of q has it exactly.
    """
    hessian = 1 / (state.eigenvalues + 2 * state.eigenvalues.max())
    gradient, noise = rng.standard_normal((2, state.d))
    q = lambda u: float(hessian @ u**2) / 2  # noqa: E731
    found = q(noise - gradient) - q(noise) - q(gradient)
    # the display's c√d σ_k η̄_k is half of sη = 1
    factors = {"printed": 1 / 2, "corrected": -2 / 2}
    term, inner = "product of gradient and noise", float(hessian @ (noise * gradient))
    return [row("(C.8)", term, reading, factor * inner, found) for reading, factor in factors.items()]


def integrals(state: State, energies: np.ndarray) -> list[dict[str, object]]:
    """(4.20) and (C.43): ‖v‖² and R as contour integrals of q_z = d⁻¹ Σ D_i/(λ_i − z), for D_i = ``energies``."""
    z, q = state.circle, _resolvents(state, energies)
    square, risk = 1j / np.pi * _contour(z, q), 1j / (2 * np.pi) * _contour(z, z * q)
    return [
        row("(4.20), (C.43)", "squared norm", "printed", float(square.real), 2 * float(energies.mean())),
        row("(4.20), (C.43)", "risk", "printed", float(risk.real), float(state.eigenvalues @ energies) / state.d),
    ]


def _resolvents(state: State, energies: np.ndarray) -> np.ndarray:
    """d⁻¹ Σ D_i/(λ_i − z) on the circle."""
    return (energies / (state.eigenvalues - state.circle[:, None])).mean(axis=1)


def _contour(z: np.ndarray, values: np.ndarray) -> complex:
    """∮ f dz, counter-clockwise."""
    return complex(2 * np.pi * (values * 1j * z).mean())


def resolvents(regime: Regime, state: State, energies: np.ndarray) -> list[dict[str, object]]:
    """(4.21) and (C.46) put into the equation of (4.17) and (C.44), at t = `TIME` and three places of the circle.

    ``value`` is the real part of the equation's right side, ``derived`` that of its left side.
    """
    model = regime.model(spectrum.Spectrum(state.eigenvalues))
    equations = system.of_spectrum(state.eigenvalues, energies, state.d / state.n, model.label_noise)
    schedule, z, q = regime.schedule(0.5), state.circle, _resolvents(state, energies)
    gamma, rate = state.d / state.n, float(equations.learning_rate(schedule, TIME))
    mu, scaled_nu = system.reductions(equations, regime.clip, equations.risk(energies))
    left = _resolvents(state, system.derivative(equations, schedule, regime.clip, regime.rho, TIME, energies))
    sampling = rate**2 * scaled_nu * gamma * _resolvents(state, state.eigenvalues)
    private = 2 * state.private * gamma**2 * _resolvents(state, np.ones(state.d))
    rows = []
    for reading, factor in (("printed", 1), ("corrected", 2)):
        right = -rate * mu * (2 * energies.mean() + factor * z * q) + sampling + private
        for place, at in PLACES.items():
            rows.append(row("(4.21), (C.46)", place, reading, float(right[at].real), float(left[at].real)))
    return rows


def comparison(regime: Regime) -> list[dict[str, object]]:
    """(4.12) on two levels of eigenvalues, written out below the cap, beside the equations that are solved here."""
    eigenvalues = np.repeat([0.5, 1.5], DIMENSION // 2)
    equations = system.of_model(regime.model(spectrum.Spectrum(eigenvalues)), regime.samples(DIMENSION))
    schedule, gamma, risk = regime.schedule(0.5), equations.aspect_ratio, equations.initial_risk / 2
    mu, scaled_nu = system.reductions(equations, regime.clip, risk)
    rate = float(equations.learning_rate(schedule, TIME))
    private = 2 * regime.clip**2 * gamma**2 * float(noise_intensity(schedule, TIME, regime.rho))
    rows = []
    bounds = {"lower": (risk_bounds.lower, 1.5, 1.0), "upper": (risk_bounds.upper, 0.5, 1.5)}
    for name, (make, descent, sampling) in bounds.items():
        shown = -2 * descent * rate * mu * risk + sampling * rate**2 * scaled_nu * gamma + private
        single = make(equations)
        energy = np.array([risk / single.readout.sum()])
        change = system.derivative(single, schedule, regime.clip, regime.rho, TIME, energy)
        rows.append(row("(4.12)", f"{name}, two levels", "corrected", shown, single.risk(change)))
    return rows
