"""The data of Assumption 1 of arXiv:2505.16329v2: covariance spectra, the true parameter, and samples.

Everything is written in the eigenbasis of Σ. For Gaussian features that loses nothing: with Σ = WΛW', the vectors W'x_k
are N(0, Λ), W'b_k is a standard normal vector as b_k is, and Algorithm 1 uses norms and inner products alone, which W
leaves as they are. So W'θ_k is Algorithm 1 on the features W'x_k with true parameter W'θ*, and has the same risk. For
other laws of the features it is a choice: their coordinates are taken along the eigenvectors of Σ.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from costofprivacy import _validate
from costofprivacy.dpgd import draws


def _whole_vector(name: str, values: ArrayLike) -> np.ndarray:
    """A read-only copy of a non-empty vector of finite numbers."""
    vector = np.array(values, dtype=float)
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be finite, got {vector[~np.isfinite(vector)][0]}")
    vector.flags.writeable = False
    return vector


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The d eigenvalues of a covariance Σ.

    Args:
        eigenvalues: λ_i ≥ 0, shape (d,), not all 0. Kept as a read-only copy, in the order given.

    Raises:
        ValueError: if there are none, one is negative or not finite, or all are 0.
    """

    eigenvalues: np.ndarray

    def __post_init__(self) -> None:
        values = _whole_vector("eigenvalues", self.eigenvalues)
        if values.min() < 0 or values.max() == 0:
            raise ValueError(f"eigenvalues must be non-negative and not all 0, got smallest {values.min()}")
        object.__setattr__(self, "eigenvalues", values)

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.eigenvalues)

    @property
    def smallest(self) -> float:
        """λ_min."""
        return float(self.eigenvalues.min())

    @property
    def largest(self) -> float:
        """λ_max, the operator norm of Σ."""
        return float(self.eigenvalues.max())

    def moment(self, s: float) -> float:
        """tr(Σ^s)/d; 1 for s = 1 under Assumption 1.

        Raises:
            ValueError: if ``s`` is negative and an eigenvalue is 0.
        """
        if s < 0 and self.smallest == 0:
            raise ValueError(f"s must be non-negative where an eigenvalue is 0, got {s}")
        return float((self.eigenvalues**s).mean())

    def normalised(self) -> "Spectrum":
        """The spectrum of Σ·d/tr(Σ): the trace d that Assumption 1 asks for."""
        return Spectrum(self.eigenvalues / self.moment(1.0))


@dataclass(frozen=True)
class PowerLaw:
    """The power-law spectrum of Assumption 3: density (1 − φ) C^(φ−1) λ^(−φ) on (0, C), C = (2 − φ)/(1 − φ).

    φ = 0 is the uniform law on [0, 2]; φ → 1 crowds the eigenvalues at 0; φ → −∞ approaches the identity.
    The mean is 1.

    Args:
        phi: φ < 1.

    Raises:
        ValueError: if φ is not finite or not below 1.
    """

    phi: float

    def __post_init__(self) -> None:
        if not -np.inf < self.phi < 1:
            raise ValueError(f"phi must be finite and below 1, got {self.phi!r}")

    @property
    def largest(self) -> float:
        """C_φ, the upper end of the spectrum."""
        return (2 - self.phi) / (1 - self.phi)

    def density(self, eigenvalue: ArrayLike) -> np.ndarray:
        """p(λ), infinite at λ = 0 if φ > 0, and 0 outside [0, C_φ]."""
        x = np.asarray(eigenvalue, dtype=float) / self.largest
        inside = (x >= 0) & (x <= 1)
        with np.errstate(divide="ignore"):
            power = np.where(inside, x, 1.0) ** -self.phi
        return np.where(inside, (1 - self.phi) / self.largest * power, 0.0)

    def quantile(self, probability: ArrayLike) -> np.ndarray:
        """The eigenvalue below which a share ``probability`` in [0, 1] of the spectrum lies: C_φ u^(1/(1−φ))."""
        return self.largest * np.asarray(probability, dtype=float) ** (1 / (1 - self.phi))

    def moment(self, s: float) -> float:
        """∫ λ^s p(λ) dλ = C_φ^s (1 − φ)/(1 − φ + s).

        Raises:
            ValueError: if the integral diverges, s ≤ φ − 1.
        """
        if not s > self.phi - 1:
            raise ValueError(f"s must exceed phi - 1 = {self.phi - 1}, got {s!r}")
        return self.largest**s * (1 - self.phi) / (1 - self.phi + s)

    def initial_energy(self, eigenvalue: ArrayLike, psi: float, initial_risk: float) -> np.ndarray:
        """D(0) of (4.7) as a function of λ: proportional to λ^(−ψ), with ∫ λ D(0) p(λ) dλ = R(0).

        Args:
            eigenvalue: λ > 0 (λ ≥ 0 for ψ ≤ 0), any shape.
            psi: ψ < 1 − φ, which keeps ‖θ*‖ finite.
            initial_risk: R(0) > 0.

        Raises:
            ValueError: if ψ ≥ 1 − φ, or R(0) is not positive and finite.
        """
        if not -np.inf < psi < 1 - self.phi:
            raise ValueError(f"psi must be below 1 - phi = {1 - self.phi}, got {psi!r}")
        initial_risk = _validate.finite_positive("initial_risk", initial_risk)
        return initial_risk / self.moment(1 - psi) * np.asarray(eigenvalue, dtype=float) ** -psi


def isotropic(d: int) -> Spectrum:
    """Σ = I in dimension d.

    Raises:
        ValueError: if ``d`` is not a whole number of at least 1.
    """
    return Spectrum(np.ones(_validate.whole("d", d)))


def power_law(d: int, phi: float) -> Spectrum:
    """The quantiles of the power law at (i − ½)/d, i = 1, …, d: no sampling error, λ_i ascending.

    For φ = 0 their mean is exactly 1; otherwise up to the midpoint rule's error, which `Spectrum.normalised` mends.

    Raises:
        ValueError: if ``d`` is not a whole number of at least 1, or φ ≥ 1.
    """
    return Spectrum(PowerLaw(phi).quantile((np.arange(_validate.whole("d", d)) + 0.5) / d))


def uniform(d: int) -> Spectrum:
    """The uniform law on [0, 2] as its quantiles λ_i = 2(i − ½)/d; tr Σ = d exactly.

    Raises:
        ValueError: if ``d`` is not a whole number of at least 1.
    """
    return power_law(d, 0.0)


def projections(spectrum: Spectrum, psi: float = 0.0, initial_risk: float = 0.5) -> np.ndarray:
    """The true parameter in the eigenbasis, (ω_i'θ*)² proportional to λ_i^(−ψ) and ½ Σ λ_i (ω_i'θ*)² = R(0).

    All are positive: the signs change the law of nothing under features that are symmetric in each coordinate. With
    ψ = 0, R(0) = ½ and tr Σ = d this is (θ*_i)² = 1/d, the paper's choice in its figures. For any spectrum with
    positive eigenvalues every ψ makes sense; Assumption 3, of a power law, asks for ψ < 1 − φ besides.

    Args:
        spectrum: the λ_i; all positive if ψ > 0.
        psi: ψ, any finite number.
        initial_risk: R(0) > 0.

    Returns:
        ω_i'θ*, shape (d,), in the order of the eigenvalues.

    Raises:
        ValueError: if R(0) is not positive and finite, or ψ > 0 and an eigenvalue is 0.
    """
    initial_risk = _validate.finite_positive("initial_risk", initial_risk)
    if psi > 0 and spectrum.smallest == 0:
        raise ValueError(f"psi must be at most 0 where an eigenvalue is 0, got {psi!r}")
    scale = 2 * initial_risk / (spectrum.d * spectrum.moment(1 - psi))
    return np.sqrt(scale * spectrum.eigenvalues**-psi)


class FeatureLaw(Protocol):
    """How the whitened features Λ^(−½)x are drawn."""

    def draw(self, n: int, d: int, *, rng: np.random.Generator) -> np.ndarray:
        """n independent vectors of mean 0 and covariance I, shape (n, d)."""


@dataclass(frozen=True)
class Gaussian:
    """Standard normal features, Assumption 1."""

    def draw(self, n: int, d: int, *, rng: np.random.Generator) -> np.ndarray:
        """n vectors N(0, I), shape (n, d)."""
        return draws.normals((n, d), rng)


@dataclass(frozen=True)
class Rademacher:
    """Independent coordinates ±1 with probability ½ each: bounded, and ‖x‖² = tr Σ without fluctuation."""

    def draw(self, n: int, d: int, *, rng: np.random.Generator) -> np.ndarray:
        """n vectors of signs, shape (n, d)."""
        return 2.0 * rng.integers(0, 2, (n, d), dtype=np.int8) - 1.0


@dataclass(frozen=True)
class StudentT:
    """Independent Student-t coordinates, scaled to variance 1.

    Args:
        degrees: degrees of freedom, above 2; the fourth moment exists above 4.

    Raises:
        ValueError: if ``degrees`` is not above 2.
    """

    degrees: float

    def __post_init__(self) -> None:
        _check_degrees(self.degrees)

    def draw(self, n: int, d: int, *, rng: np.random.Generator) -> np.ndarray:
        """n vectors, shape (n, d)."""
        return np.sqrt(1 - 2 / self.degrees) * draws.student_t(self.degrees, (n, d), rng)


@dataclass(frozen=True)
class EllipticalT:
    """Multivariate Student-t: a normal vector over one random scale, so that ‖x‖²/d does not concentrate at any d.

    Args:
        degrees: degrees of freedom, above 2.

    Raises:
        ValueError: if ``degrees`` is not above 2.
    """

    degrees: float

    def __post_init__(self) -> None:
        _check_degrees(self.degrees)

    def draw(self, n: int, d: int, *, rng: np.random.Generator) -> np.ndarray:
        """n vectors, shape (n, d)."""
        scale = np.sqrt((self.degrees - 2) / rng.chisquare(self.degrees, n))
        return scale[:, None] * draws.normals((n, d), rng)


def _check_degrees(degrees: float) -> None:
    if not 2 < degrees < np.inf:
        raise ValueError(f"degrees must be finite and above 2, got {degrees!r}")


@dataclass(frozen=True, eq=False)
class RegressionModel:
    """Linear regression y = x'θ* + z with z ~ N(0, ζ²), in the eigenbasis of Σ.

    Args:
        spectrum: the λ_i.
        target: ω_i'θ*, shape (d,). Kept as a read-only copy.
        label_noise: ζ ≥ 0.
        law: of the features; Gaussian under Assumption 1.

    Raises:
        ValueError: if the shapes disagree or an argument is outside its range.
    """

    spectrum: Spectrum
    target: np.ndarray
    label_noise: float
    law: FeatureLaw = Gaussian()

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _whole_vector("target", self.target))
        _validate.shape("target", self.target, (self.spectrum.d,))
        _validate.keep(self, _validate.NONNEGATIVE, "label_noise")

    @property
    def d(self) -> int:
        """The dimension."""
        return self.spectrum.d

    @property
    def initial_energies(self) -> np.ndarray:
        """D_i(0) = d(ω_i'θ*)²/2 of Definition 4.2, shape (d,)."""
        return self.d * self.target**2 / 2

    @property
    def initial_risk(self) -> float:
        """R(0) = ½‖Σ^½ θ*‖², the risk of θ = 0, the trivial predictor."""
        return float(self.risk(np.zeros(self.d)))

    @property
    def response_variance(self) -> float:
        """Var(y) = 2R(0) + ζ²."""
        return 2 * self.initial_risk + self.label_noise**2

    def risk(self, theta: np.ndarray) -> np.ndarray:
        """The excess risk (1.1), ½ Σ λ_i (θ_i − ω_i'θ*)², over the last axis of ``theta``.

        Args:
            theta: parameters in the eigenbasis, shape (..., d).

        Raises:
            ValueError: if the last axis has another length than d.
        """
        if theta.shape[-1:] != (self.d,):
            raise ValueError(f"theta must have a last axis of length {self.d}, got shape {theta.shape}")
        return (theta - self.target) ** 2 @ self.spectrum.eigenvalues / 2


def sample(model: RegressionModel, n: int, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n independent samples: features in the eigenbasis, x = Λ^½ w, and responses y = x'θ* + z.

    Args:
        model: the law of a sample.
        n: number of samples, at least 1.
        rng: source of randomness; all features are drawn before the label noise.

    Returns:
        x, shape (n, d), and y, shape (n,).

    Raises:
        ValueError: if ``n`` is not a whole number of at least 1.
    """
    n = _validate.whole("n", n)
    x = model.law.draw(n, model.d, rng=rng)
    x *= np.sqrt(model.spectrum.eigenvalues)
    return x, x @ model.target + model.label_noise * draws.normals(n, rng)
