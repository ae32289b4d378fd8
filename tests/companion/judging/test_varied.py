"""Where a verdict depends on what a paper leaves open, its claim says what was varied; some of it is repeated here."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from companion.judging.claims import Claim, read_register

REGISTER = read_register(Path(__file__).parents[3] / "book" / "claims.yml")
OWN = re.compile(r"\bour (?:corrected )?(?:settings|hyperparameters|records)\b", re.IGNORECASE)
DELTA, DIMENSION, PENALTY, FAILURE = 1e-5, 5, 5.0, 0.01


@pytest.mark.parametrize("claim", [c for c in REGISTER.values() if OWN.search(c.headline)], ids=lambda claim: claim.id)
def test_a_headline_about_our_settings_has_what_was_varied(claim: Claim) -> None:
    assert claim.varied, claim.headline


def risks(N: int, L: int, epsilon: float, steps: int, *, D: int = DIMENSION, penalty: float = PENALTY,
          failure: float = FAILURE, share: float = 0.9) -> np.ndarray:  # fmt: skip
    """Excess risk of Algorithm 1 from zero after 0, 1, ... steps, from (4.1) and the prompts' second moments alone."""
    C = math.sqrt(2 * math.log(N * L / failure))
    G = C / math.sqrt(L) * (1 + math.sqrt(math.log(N / failure)) / D)
    R = C**2 * math.sqrt(N / L) / penalty * (1 + math.sqrt(math.log(1 / failure)) / D)
    rate = share * penalty / (2 * penalty + G**2) ** 2
    energy, T = 1 / L + (L - 1) / (L * D), np.arange(steps + 1)
    a, target = 1 - rate * (2 * penalty + energy / D**2), 1 / (energy + 2 * penalty * D**2)
    variance = 2 * (rate * T * 2 * G * (C + R * G) / (epsilon * N)) ** 2 * np.log(1.25 * np.maximum(T, 1) / DELTA)
    return energy * ((target * a**T) ** 2 / D + variance * (1 - a ** (2 * T)) / (1 - a**2))


@pytest.mark.parametrize(
    ("L", "epsilon", "N"), [(100, 1.0, 2e5), (100, 3.0, 1.3e4), (100, 0.1, 6.3e7), (None, 1.0, 3.2e4)]
)
def test_remark_4_1_holds_from_zero_once_there_are_many_prompts(L: int | None, epsilon: float, N: float) -> None:
    for many, best in ((1.05 * N, True), (0.75 * N, False)):
        risk = risks(int(many), L or math.isqrt(int(many)), epsilon, 400)
        assert bool(0 < risk.argmin() < 400) == best


def test_from_zero_the_best_number_of_steps_never_grows_with_the_prompts() -> None:
    def best(N: int, epsilon: float, share: float) -> int:
        D = math.isqrt(N)
        return int(risks(N, D, epsilon, 100, D=D, penalty=N / D, failure=1.0, share=share).argmin())

    assert {best(10**k, epsilon, 0.9) for k in (2, 8, 16) for epsilon in (0.1, 0.8, 30.0)} == {0}
    small = [best(10**k, 8.0, 1e-6) for k in (2, 8, 16)]
    assert small == sorted(small, reverse=True)
    assert small[0] > 20 > small[-1] > 5


def test_the_share_of_a_1_that_is_attained_depends_on_the_radii() -> None:
    def attained(ratio: float) -> float:  # RG/C; Z = u, ⟨Γ, Z⟩ = ratio·cos, in units of C and G
        angles = np.linspace(0, 2 * math.pi, 721)
        length = np.linspace(0, 1, 41)[:, None]
        along = ratio * length * np.cos(angles)
        moves = [(along + y) * length * f(angles) for f in (np.cos, np.sin) for y in (1, -1)]
        x, y = np.concatenate([m.ravel() for m in moves[:2]]), np.concatenate([m.ravel() for m in moves[2:]])
        widths = [np.ptp(math.cos(d) * x + math.sin(d) * y) for d in np.linspace(0, math.pi, 181)]
        return float(max(widths)) / (2 * (1 + ratio))

    found = [attained(ratio) for ratio in (0.01, 0.1, 0.27, 1.0, 10.0)]
    assert found == pytest.approx([0.99, 0.91, 0.82, 0.65, 0.52], abs=0.01)


def test_long_prompts_break_a_6_for_the_statistics_before_projection() -> None:
    def over(L: int, D: int = 2, N: int = 300) -> float:  # the mean eigenvalue E‖Z‖²/D² over G², by (4.1) alone
        G = math.sqrt(2 * math.log(N * L / FAILURE) / L) * (1 + math.sqrt(math.log(N / FAILURE)) / D)
        return (1 / L + (L - 1) / (L * D)) / D**2 / G**2

    assert over(300) < 1 < over(3000) < over(10**5) / 10


def test_the_budget_from_which_a_classical_step_overspends_falls_with_delta_and_exceeds_1() -> None:
    def overspends(e: float, delta: float) -> float:
        u = math.sqrt(2 * math.log(1.25 / delta))
        return float(norm.cdf(e / (2 * u) - u) - math.exp(e + norm.logcdf(-e / (2 * u) - u)) - delta)

    limits = [brentq(overspends, 0.1, 40.0, args=(delta,)) for delta in (1e-12, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.8)]
    assert limits == sorted(limits, reverse=True)
    assert all(overspends(1.0, delta) < 0 for delta in np.linspace(1e-3, 0.999, 500))
