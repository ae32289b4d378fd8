r"""What of Appendix C is a sum over the steps, computed without chance.

- (4.22): n³σ_k² against σ̃²(k/n), and how much larger σ_n² is than the noise of the step before.
- (C.16), for Σ = I and q(v) = −½‖v‖² (z = 2, ‖q‖_{C²} = 1): the schedule's discretisation error in the drift,
  2d²c² |Σ_k (σ_k² − σ̃²(k/n)/n³)|. As σ_k² − σ̃²/n³ is a Taylor remainder, (η̃²)''/(2ρ²n⁴) at some place, it is at most
  γ_n²c²C_{η,2}/(ρ²n). The paper's bound, 2γ_nC_{η,2}/(ρ²n), has lost γ_nc².
- (C.32), for Σ = I: what the random cap 2/‖x‖² in the place of 2/d does to the mean learning rate. With X ~ χ²_d and
  E[1/X; X > x] = P(χ²_{d−2} > x)/(d − 2), it is n|E min(η, 2/X) − min(η, 2/d)| in closed form, summed over n steps of
  size 1/n: the first line of (C.33), whose other factor is O(1). Its second line is half the change of the square
  times O(d): nd/2 |E min(η, 2/X)² − min(η, 2/d)²|, with E[1/X²; X > x] = P(χ²_{d−4} > x)/((d − 2)(d − 4)).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import chi2

from chapters.dpgd.deterministic_equivalent.regime import Regime, bound
from costofprivacy.dpgd.schedule import (
    Harmonic,
    Polynomial,
    Schedule,
    learning_rates,
    noise_intensity,
    noise_multipliers,
)

HARMONIC = Harmonic(0.6, 0.2)  # falls from 3 to ½: η̃(1) > 0 and noise in every step
CURVED = 2.0  # α of the schedule whose η̃² has a second derivative
WIDE = 10.0  # γc² at which (C.16) is tried, besides the regime's
FEWEST = 5  # dimensions in which 1/‖x‖⁴ has a mean
CAPS = {"below": 0.5, "at": 1.0, "above": 2.0}  # η̃γ/2


def table(regime: Regime, sizes: tuple[int, ...]) -> pd.DataFrame:
    """All sums for each n in ``sizes``: the value, the printed bound or value, and the derived one."""
    rows = [row for n in sizes for row in (*_noise(regime, n), *_discretisation(regime, n), *_cap(regime, n))]
    return pd.DataFrame(rows)


def _row(n: int, quantity: str, value: float, printed: float, derived: float | None = None) -> dict[str, object]:
    """One sum; the derived bound is the printed one where nothing else is said."""
    bounds = {"printed": printed, "derived": printed if derived is None else derived}
    return {"n": n, "quantity": quantity, "value": value} | bounds


def _noise(regime: Regime, n: int) -> list[dict[str, object]]:
    found = []
    for name, schedule in (("harmonic", HARMONIC), ("square root", regime.schedule(0.5))):
        noise = noise_multipliers(learning_rates(schedule, n), regime.rho) ** 2
        before = noise_intensity(schedule, np.arange(1, n) / n, regime.rho) / n**3
        found.append(_row(n, f"(4.22), {name}", float(np.abs(noise[:-1] / before - 1).max()), 0.0))
        found.append(_row(n, f"last over the one before, {name}", float(noise[-1] / noise[-2]), _jump(schedule, n)))
    return found


def _jump(schedule: Schedule, n: int) -> float:
    """n η̃(1)²/(−dη̃²/dt) at t = 1, which σ_n²/σ_{n−1}² tends to."""
    return float(n * schedule(1.0) ** 2 / schedule.squared_decrease(1.0))


def _discretisation(regime: Regime, n: int) -> list[dict[str, object]]:
    found, gamma = [], regime.gamma
    schedule = Polynomial(regime.learning_rate, CURVED)
    for gamma_c2 in (gamma * regime.clip**2, WIDE):
        noise = noise_multipliers(learning_rates(schedule, n), regime.rho)[:-1] ** 2
        intended = noise_intensity(schedule, np.arange(1, n) / n, regime.rho) / n**3
        value = 2 * gamma * n**2 * gamma_c2 * abs(float((noise - intended).sum()))
        second = 2 * CURVED * (2 * CURVED - 1) * regime.learning_rate**2 / regime.rho**2
        bounds = (2 * gamma * second / n, gamma * gamma_c2 * second / n)
        found.append(_row(n, f"(C.16), γc² = {gamma_c2:g}", value, *bounds))
    return found


def _cap(regime: Regime, n: int) -> list[dict[str, object]]:
    d, found = max(FEWEST, regime.dimension(n)), []
    for name, share in CAPS.items():
        rate = share * 2 / d
        mean = rate * chi2.cdf(2 / rate, d) + 2 * chi2.sf(2 / rate, d - 2) / (d - 2)
        square = rate**2 * chi2.cdf(2 / rate, d) + 4 * chi2.sf(2 / rate, d - 4) / ((d - 2) * (d - 4))
        change = n * d / 2 * abs(square - min(rate, 2 / d) ** 2)
        found.append(_row(n, f"(C.32), {name} the cap", n * abs(mean - min(rate, 2 / d)), bound(n)))
        found.append(_row(n, f"(C.32), {name} the cap, squares", change, bound(n)))
    return found
