"""Theorem 4, Corollary 6.1 and Appendix E of arXiv:2505.16329v2 as statements on exponents and kernels, tried."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.dpgd import parts, quadrature, scaling
from costofprivacy.dpgd.spectrum import PowerLaw

STEPS = 200  # of the ternary search
DEEPEST = -60.0  # the most negative a that is tried
KERNELS = ("F", "K", "J")
LAWS = ((0.0, 0.0), (0.25, 0.5), (0.7, 0.1), (0.95, -1.0), (-3.0, 2.5), (-8.0, 0.0), (0.0, -2.0))
CLOCKS = 10.0 ** np.arange(-3, 13)
PANELS = {
    "figure-10": (1.5, 0.0, 0.25),
    "figure-11": (1.5, 0.0, 0.4),
    "figure-12": (30.0, 2.0, 0.4),
    "figure-13": (1.5, 10.0, 0.4),
}  # κ₁, α, b as the captions have them
POINTS = 241  # of a drawn line
NEARNESS = (0.9, 0.99, 0.999)  # ψ over 1 − φ, where ‖θ*‖ blows up


def draw(draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Random admissible (φ, ψ, α, b): α among 0, ½ and [1, 20], half of them with φ > 0."""
    sign = rng.random(draws) < 0.5
    phi = np.where(sign, rng.random(draws), -3 * rng.random(draws))
    psi = 1 - phi - 4 * rng.random(draws)
    alpha = np.choose(rng.integers(0, 4, draws), [0.0, 0.5, 1 + 19 * rng.random(draws), 1 + 3 * rng.random(draws)])
    return pd.DataFrame({"phi": phi, "psi": psi, "alpha": alpha, "b": 1 - 2 * rng.random(draws)})


def exponents(places: pd.DataFrame) -> pd.DataFrame:
    """Theorem 4 at each place beside the a that maximises min(e₁, e₂, e₃) by ternary search, and what the proof needs.

    ``tight`` is the exponent of the largest private noise on the way, 2 − 2b + a or 2 − 2b + 4a/3 for α = ½: (E.16) is
    an equality where it is not negative. ``h_more`` is h at 2α + 1.
    """
    phi, psi, alpha, b = (places[name].to_numpy() for name in ("phi", "psi", "alpha", "b"))
    best_a, best_h = maximise(phi, psi, alpha, b)
    a = scaling.rate_exponent(phi, psi, alpha, b)
    first, second, third = scaling.terms(a, phi, psi, alpha, b)
    lift = np.where(alpha == 0.5, 4 / 3, 1.0)
    tight = np.where(alpha == 0, math.nan, 2 - 2 * b + lift * a)
    return places.assign(
        case=scaling.regime(phi, psi, alpha, b),
        a=a,
        h=scaling.risk_exponent(phi, psi, alpha, b),
        best_a=best_a,
        best_h=best_h,
        e1=first,
        e2=second,
        e3=third,
        tight=tight,
        critical=scaling.critical_b(phi, psi, alpha),
        h_more=scaling.risk_exponent(phi, psi, 2 * alpha + 1, b),
    )


def maximise(phi: np.ndarray, psi: np.ndarray, alpha: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The a ≤ 0 with the largest min(e₁, e₂, e₃), a concave function, by ternary search; and that value."""
    low, high = np.full(len(phi), DEEPEST), np.zeros(len(phi))

    def least(a: np.ndarray) -> np.ndarray:
        kappa = 2 - phi - psi  # written out: the module of exponents is what is tried
        private = 2 - 2 * b + np.where(phi * (alpha + 1) < 2, 2 * a / (alpha + 1), a * phi)
        return np.minimum(np.minimum(-a * kappa, 1 + a / (alpha + 1)), private)

    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        better = least(left) < least(right)
        low, high = np.where(better, left, low), np.where(better, high, right)
    best = (low + high) / 2
    return best, least(best)


def equality(draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Random places with φ(α + 1) = 2, where e₃ carries a logarithm, privacy free, costly, and at the critical b."""
    alpha = 1.5 + 6 * rng.random(draws)
    phi = 2 / (alpha + 1)
    psi = 1 - phi - 2 * rng.random(draws)
    critical = scaling.critical_b(phi, psi, alpha)
    b = np.choose(np.arange(draws) % 3, [critical - 0.3 * rng.random(draws), critical, critical + 0.3])
    return pd.DataFrame({"phi": phi, "psi": psi, "alpha": alpha, "b": b})


def limits(places: pd.DataFrame, alphas: tuple[float, ...]) -> pd.DataFrame:
    """h and the critical b along α, beside the exponents of Corollary 6.1 and (6.9)."""
    found = []
    for alpha in alphas:
        phi, psi, b = (places[name].to_numpy() for name in ("phi", "psi", "b"))
        first, second = scaling.limit_exponents(phi, psi)
        found.append(
            places[["phi", "psi", "b"]].assign(
                alpha=alpha,
                h=scaling.risk_exponent(phi, psi, alpha, b),
                h_limit=np.minimum(first, 2 * (1 - b) * second),
                critical=scaling.critical_b(phi, psi, alpha),
                critical_limit=scaling.limit_critical_b(phi, psi),
                h_half=scaling.risk_exponent(phi, psi, alpha, 0.5),
                h_free=scaling.risk_exponent(phi, psi, alpha, -1e9),
            )
        )
    return pd.concat(found, ignore_index=True)


def critical_map(phis: tuple[float, ...], psis: tuple[float, ...], alphas: tuple[float, ...]) -> pd.DataFrame:
    """The critical b over (φ, ψ, α), α = ∞ among them, where ψ < 1 − φ."""
    found = []
    for phi in phis:
        for psi in psis:
            if psi < 1 - phi:
                limit = float(scaling.limit_critical_b(phi, psi))
                found += [(phi, psi, a, float(scaling.critical_b(phi, psi, a))) for a in alphas]
                found.append((phi, psi, math.inf, limit))
    return pd.DataFrame(found, columns=["phi", "psi", "alpha", "critical"])


def panels() -> pd.DataFrame:
    """Figures 10 to 13: e₁, e₂, e₃ of (E.42) along a, for a φ below 2/(α + 1), which is all that (E.42) asks."""
    found = []
    for name, (kappa, alpha, b) in PANELS.items():
        phi = 0.0
        a = np.linspace(-1.0, 0.0, POINTS)
        first, second, third = scaling.terms(a, phi, 2 - phi - kappa, alpha, b)
        rest = {"kappa1": kappa, "alpha": alpha, "b": b, "largest_phi": 2 / (alpha + 1)}
        found.append(pd.DataFrame({"figure": name, "a": a, "e1": first, "e2": second, "e3": third, **rest}))
    return pd.concat(found, ignore_index=True)


def other_spectra(phis: tuple[float, ...]) -> pd.DataFrame:
    """The same κ₁, α and b with other φ: the critical b by Theorem 4, and whether privacy is free."""
    found = []
    for name, (kappa, alpha, b) in PANELS.items():
        for phi in phis:
            critical = float(scaling.critical_b(phi, 2 - phi - kappa, alpha))
            found.append((name, phi, kappa, alpha, b, critical, b <= critical))
    return pd.DataFrame(found, columns=["figure", "phi", "kappa1", "alpha", "b", "critical", "free"])


def kernels() -> pd.DataFrame:
    """ℱ, 𝒦 and 𝒥 over fifteen decades of x, and over the order that Proposition E.1 gives them."""
    found = []
    for phi, psi in LAWS:
        system = quadrature.of_power_law(PowerLaw(phi), 0.1, 0.3, psi, 0.5, clock=float(CLOCKS.max()))
        values = parts.kernels(system, CLOCKS)
        for name, power, value in zip(KERNELS, scaling.kappas(phi, psi), values):
            order = np.where(CLOCKS >= 1, CLOCKS**-power, 1.0)
            place = {"phi": phi, "psi": psi, "kernel": name, "power": power}
            found.append(pd.DataFrame({**place, "x": CLOCKS, "value": value, "ratio": value / order}))
    return pd.concat(found, ignore_index=True)


def spectra() -> pd.DataFrame:
    """Assumption 3's density by Gauss–Legendre: its mass, mean and variance, and E λ^(−ψ) as ψ nears 1 − φ."""
    node, weight = np.polynomial.legendre.leggauss(60)
    found = []
    for phi in (0.95, 0.7, 0.25, 0.0, -1.0, -10.0, -100.0, -1000.0):
        law, power = PowerLaw(phi), max(1.0, 1 / (1 - phi))
        share = (node + 1) / 2  # λ = C·share^power: a density that is infinite at 0 becomes a constant
        eigenvalue = law.largest * share**power
        mass = weight / 2 * law.density(eigenvalue) * law.largest * power * share ** (power - 1)
        mean = float(mass @ eigenvalue)
        norms = [law.moment(-share * (1 - phi)) * law.largest ** (share * (1 - phi)) for share in NEARNESS]
        found.append((phi, float(mass.sum()), mean, float(mass @ (eigenvalue - mean) ** 2), *norms))
    names = ["phi", "mass", "mean", "variance", *(f"norm_{share:g}" for share in NEARNESS)]
    return pd.DataFrame(found, columns=names)
