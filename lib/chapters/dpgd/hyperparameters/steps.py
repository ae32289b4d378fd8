r"""Steps of the proofs in Appendix D.1 of arXiv:2505.16329v2, one by one: each is an inequality or an identity.

A row has a left and a right side in one case; ``claim`` says whether they are to be equal or ordered. ``reading`` is
``printed``, or ``corrected`` where another constant is put in.

**The constant of the descent.** With R ≤ R(0) + 1, Lemma B.2 gives μ_c(R)/c ≥ m/√(2R + ζ²) ≥ m/√(2R(0) + 2 + ζ²).
(D.31) has √(R(0) + 1 + ζ²) there and (D.61) √(R(0) + 1 + ζ²/2), both smaller: more descent than the lemma grants. At
t = 0, where R = R(0), it is too much where R(0) > 1, or R(0) > 1 − ζ²/2. Then R̄' falls faster than R̄ at first,
against (D.34). How far R̄ gets above R̄' has no bound: where ζ² > 2R(0) + 2 and c ≪ ζ, (D.61) descends faster than R̄
ever does, and with γ → 0 the quotient grows like a power of e with v. Where ζ² ≪ R(0) it is at most e^{2√2−2}/2.

**(D.44)** With (B.17) it gives b₁ = min(1, ζ²)/4 for every c ≥ 1 and every R.

**(D.71)** Put x = τa'. The left side is e^{−x} + x^{2−β} δ/(a')². Where x ≥ ln(1/δ)/2 the second term alone is at
least 2^{β−2} of the right side; elsewhere the first is at least √δ. It needs a' bounded below, which tr Σ = d gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from chapters.dpgd.hyperparameters.problem import schedule
from costofprivacy.dpgd import equivalent, rates, system
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule, learning_rates, noise_multipliers

PRINTED, CORRECTED = "printed", "corrected"
EQUAL, AT_MOST = "equal", "at most"
INITIALS = (0.1, 0.5, 1.0, 2.0, 5.0)  # R(0) at which the descent's constant is tried
SMALL_CLIP = 0.1
EARLY = np.geomspace(1e-4, 1.0, 9)
Row = dict[str, Any]


def _row(step: str, reading: str, claim: str, case: str, left: float, right: float) -> Row:
    return {"step": step, "reading": reading, "claim": claim, "case": case, "left": left, "right": right}


def table(gamma: float, label_noise: float) -> pd.DataFrame:
    """``steps``: every step in every case."""
    return pd.DataFrame(
        [
            *_descents(gamma, label_noise),
            *_starts(gamma, label_noise),
            *_large_clips(label_noise),
            *_closed_forms(),
            *_ceilings(),
            *_ends(),
            *_remainders(),
            *_minima(),
        ]
    )


def descent_constant(step: str, reading: str, initial: float, label_noise: float) -> float:
    """The root under c_μ in ā: of (D.31) and (D.61) as printed, and as Lemma B.2 has it at R = R(0) + 1."""
    if reading == CORRECTED:
        return math.sqrt(2 * initial + 2 + label_noise**2)
    return math.sqrt(initial + 1 + label_noise**2 / (1 if step == "D.31" else 2))


def _least_ratio(label_noise: float) -> float:
    """c_μ(c, ζ) of Lemma B.2, its best value."""
    return label_noise / SMALL_CLIP * float(descent_reduction(SMALL_CLIP, label_noise**2 / 2))


def _descents(gamma: float, zeta: float) -> Iterator[Row]:
    """(D.34) and (D.63): R̄ ≤ R̄' at all times, by (D.31) and (D.61); the worst time is kept."""
    speed, rho = 5.0, 0.1
    for step, alpha in (("D.31", 0.0), ("D.61", 0.5)):
        for reading in (PRINTED, CORRECTED):
            for initial in INITIALS:
                rate = 2 * speed * _least_ratio(zeta) / descent_constant(step, reading, initial, zeta)
                plan, sampling = schedule(alpha, speed / SMALL_CLIP), speed**2 * gamma / 2
                given = system.isotropic(initial, gamma, zeta)
                path = equivalent.risk_path(given, plan, SMALL_CLIP, rho, EARLY, 1e-6)
                if alpha == 0.0:
                    bound = rates.relaxation(EARLY, rate, sampling, initial)
                else:
                    bound = rates.square_root_path(EARLY, rate, sampling, 4 * (speed * gamma / rho) ** 2, initial)
                worst = int((path / bound).argmax())
                yield _row(step, reading, AT_MOST, f"R(0) = {initial:g}", path[worst], bound[worst])


def _starts(gamma: float, zeta: float) -> Iterator[Row]:
    """(D.35): R̄'(1) ≤ e^{−ā} + b̄/ā, and with R(0) before the power."""
    for speed in (0.5, 2.0):
        for initial in INITIALS:
            root = descent_constant("D.31", CORRECTED, initial, zeta)
            rate, sampling = 2 * speed * _least_ratio(zeta) / root, speed**2 * gamma / 2
            left = float(rates.relaxation(1.0, rate, sampling, initial))
            for reading, factor in ((PRINTED, 1.0), (CORRECTED, initial)):
                right = factor * math.exp(-rate) + sampling / rate
                yield _row("D.35", reading, AT_MOST, f"R(0) = {initial:g}, cη̃(0) = {speed:g}", left, right)


def _large_clips(zeta: float) -> Iterator[Row]:
    """(D.44) with (B.17): ν(R + ζ²/2) > b₁ = min(1, ζ²)/4 for c ≥ 1 and every R."""
    for level in (zeta, 3.0):
        for clip in (1.0, 3.0, 100.0):
            test = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 57)]) + level**2 / 2
            least = float((variance_reduction(clip, test) * test).min())
            yield _row("D.44", PRINTED, AT_MOST, f"ζ = {level:g}, c = {clip:g}", min(1.0, level**2) / 4, least)


def _closed_forms() -> Iterator[Row]:
    """(D.54) against quadrature of the variation of constants."""
    for rate, first, second in ((0.3, 1.0, 0.2), (5.0, 0.1, 2.0), (40.0, 3.0, 0.01)):
        for time in (0.3, 0.9, 1.0):
            left = float(rates.square_root_path(time, rate, first, second, 0.5))
            case = f"a = {rate:g}, t = {time:g}"
            yield _row("D.54", PRINTED, EQUAL, case, left, by_quadrature(time, rate, first, second, 0.5))


def by_quadrature(time: float, rate: float, first: float, second: float, initial: float) -> float:
    """The solution of (D.53) as R(0)e^{−A(0)} + ∫ e^{−A(s)}(b₁(1 − s) + b₂) ds with A(s) = ∫_s^t a√(1 − u) du."""

    def clock(start: float) -> float:
        return 2 * rate / 3 * ((1 - start) ** 1.5 - (1 - time) ** 1.5)

    def source(start: float) -> float:
        return math.exp(-clock(start)) * (first * (1 - start) + second)

    return initial * math.exp(-clock(0.0)) + quad(source, 0.0, time, epsabs=1e-14, epsrel=1e-12, limit=400)[0]


def _ceilings() -> Iterator[Row]:
    """(D.59): the largest R̄' over time against its bound, for a ≥ 1."""
    for rate in (1.0, 5.0, 100.0):
        for first, second in ((1.0, 0.0), (0.0, 1.0), (50.0, 50.0)):
            highest = max(float(rates.square_root_path(t, rate, first, second, 0.5)) for t in np.linspace(0, 1, 201))
            at_zero = math.exp(2 / 3) * (2 / 3) ** (-1 / 3) * math.gamma(4 / 3) * first * rate ** (-4 / 3)
            near = math.exp(2 / 3) * (2 / 3) ** (1 / 3) * math.gamma(2 / 3) * second * rate ** (-2 / 3)
            bound = 0.5 + 2 * first / rate + 2 * second * rate ** (-2 / 3) + at_zero + near
            yield _row("D.59", PRINTED, AT_MOST, f"a = {rate:g}, b₁ = {first:g}, b₂ = {second:g}", highest, bound)


def _ends() -> Iterator[Row]:
    """(D.65): R̄'(1) against its bound."""
    for rate in (0.5, 3.0, 30.0):
        for first, second in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
            left = by_quadrature(1.0, rate, first, second, 0.5)
            right = 0.5 * math.exp(-2 * rate / 3) + rates.square_root_end(rate, first, second)
            yield _row("D.65", PRINTED, AT_MOST, f"a = {rate:g}, b₁ = {first:g}, b₂ = {second:g}", left, right)


def _remainders() -> Iterator[Row]:
    """(D.69): both lines, at the a ≥ 2 where they are tightest, and beyond."""
    for rate in (2.0, 2.5, 10.0):
        lost = 2 * math.exp(-2 * rate / 3) / rate
        for name, power, constant in (
            ("b₁", -4 / 3, 1.5 ** (1 / 3) * math.gamma(4 / 3)),
            ("b₂", -2 / 3, 1.5 ** (-1 / 3) * math.gamma(2 / 3)),
        ):
            third = rate**power / 3
            yield _row("D.69", PRINTED, AT_MOST, f"{name}, a = {rate:g}, with 1", third, rate**power - lost)
            yield _row("D.69", PRINTED, AT_MOST, f"{name}, a = {rate:g}, 1 for Γ", rate**power, constant * rate**power)


def _minima() -> Iterator[Row]:
    """(D.71): δ ln^{2−β}(1/δ)/(a')² times 2^{β−2} or less is at most the least of e^{−τa'} + τ^{2−β}δ/(a')^β."""
    for beta in (2 / 3, 4 / 3):
        for log_delta in (-20.0, -100.0, -300.0):
            for scale in (1.0, 2.0):
                delta = math.exp(log_delta)
                goal = partial(_trade, beta, delta, scale)
                found = minimize_scalar(goal, bounds=(0.0, -2 * log_delta / scale), method="bounded")
                right = delta * (-log_delta) ** (2 - beta) / scale**2
                case = f"β = {beta:.2f}, ln(1/δ) = {-log_delta:g}, a' = {scale:g}"
                yield _row("D.71", PRINTED, AT_MOST, case, 2 ** (beta - 2) * right, float(found.fun))


def _trade(beta: float, delta: float, scale: float, time: float) -> float:
    return math.exp(-time * scale) + time ** (2 - beta) * delta / scale**beta


# -------------------------------------------------------------------------------------------- where the noise goes


LAST_SHARE = "share of the noise in the last step"
SPREAD = "spread of the noise before the last step"
PRINTED_LEVEL = "noise against η̃(0)/(n^{3/2}ρ)"
FIRST_LEVEL = "noise against η₁/(√n ρ)"
DECAY = "power of 1 − t in the noise"


def noise(sizes: Sequence[int], rho: float) -> pd.DataFrame:
    """``noise``: what the text after (5.1) says of σ_k, for each n: the relative distance from it, or a power."""
    rows = []
    for n in sizes:
        rows += [{"n": n} | row for row in (*_level(n, rho), *_decays(n, rho))]
    return pd.DataFrame(rows)


def _multipliers(plan: Schedule, n: int, rho: float) -> np.ndarray:
    return noise_multipliers(learning_rates(plan, n), rho)


def _level(n: int, rho: float) -> list[Row]:
    output, even = _multipliers(Constant(1.0), n, rho), _multipliers(Polynomial(1.0, 0.5), n, rho)
    first, before = learning_rates(Polynomial(1.0, 0.5), n)[0], even[:-1]
    return [
        {"alpha": 0.0, "quantity": LAST_SHARE, "value": float(output[-1] ** 2 / (output**2).sum())},
        {"alpha": 0.0, "quantity": "last step against η̃(0)/(nρ)", "value": float(output[-1] * n * rho - 1)},
        {"alpha": 0.5, "quantity": LAST_SHARE, "value": float(even[-1] ** 2 / (even**2).sum())},
        {"alpha": 0.5, "quantity": SPREAD, "value": float(np.ptp(before) / before.mean())},
        {"alpha": 0.5, "quantity": PRINTED_LEVEL, "value": float(before.mean() * n**1.5 * rho - 1)},
        {"alpha": 0.5, "quantity": FIRST_LEVEL, "value": float(before.mean() * n**0.5 * rho / first - 1)},
    ]


def _decays(n: int, rho: float) -> Iterator[Row]:
    """The power with which σ_k² falls over the first half of the run."""
    for alpha in (1.0, 2.0, 3.0):
        squares = _multipliers(Polynomial(1.0, alpha), n, rho) ** 2
        left = 1 - (np.arange(1, n + 1) - 0.5) / n
        half = n // 2
        power = math.log(squares[0] / squares[half]) / math.log(left[0] / left[half])
        yield {"alpha": alpha, "quantity": DECAY, "value": power}
