"""Where a verdict depends on what a paper leaves open, its claim says what was varied; some of it is repeated here."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import erf, ndtr

from companion.judging.claims import Claim, read_register
from costofprivacy.dpgd import equivalent, quadrature, scaling, system, tuning
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.spectrum import PowerLaw

BOOK = Path(__file__).parents[3] / "book"
REGISTER = read_register(BOOK / "claims.yml")
OWN = re.compile(r"\bour (?:corrected )?(?:settings|hyperparameters|records)\b", re.IGNORECASE)
DELTA, DIMENSION, PENALTY, FAILURE = 1e-5, 5, 5.0, 0.01


# a share, a factor or an approximate number that came out, and not a setting
RESULT = re.compile(
    r"(?<!at zero )\d %|\d times|factor of (?:up to |about |at least )?\d|\\approx\d"
    r"|\b(?:is|are) (?:about |at most )?\d+\.?\d* (?:at|for|times)|\bless than \d|within \d"
)
REPEATED = {
    "noisyhead/section-2-any-noise": "test_the_share_of_a_1_that_is_attained_depends_on_the_radii",
    "noisyhead/equation-a.1": "test_the_share_of_a_1_that_is_attained_depends_on_the_radii",
    "noisyhead/section-3-noise-below-descent": "test_how_much_is_learned_from_zero_before_the_noise_is_felt",
    "noisyhead/remark-4.1": "test_remark_4_1_holds_from_zero_once_there_are_many_prompts",
    "noisyhead/appendix-b-privacy": "test_the_noise_of_appendix_b_is_too_small_unless_g_is_huge",
    "dpgd/abstract-design-choices": "test_a_large_clip_costs_nothing_where_private_noise_is_negligible",
    "dpgd/equation-1.4": "test_the_offset_of_the_harmonic_schedule_decides_the_multiple_of_1_4",
    "dpgd/section-5.1-largest-clip": "test_a_larger_start_asks_for_a_larger_clip",
    "dpgd/section-5.1-largest-rate": "test_with_little_label_noise_a_rate_above_the_cap_can_be_best",
}


def test_what_came_out_is_repeated() -> None:
    """A number that was found by varying something is computed here, too, or it is not in the book."""
    assert {claim.id for claim in REGISTER.values() if RESULT.search(claim.varied)} == set(REPEATED)
    assert set(REPEATED.values()) <= set(globals())


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
    a, sampled = 1 - rate * (2 * penalty + energy / D**2), 1 - 1 / N + D**2 * (D + 2) * energy / N  # D³ E‖b‖²
    target = math.sqrt(sampled) / (energy + 2 * penalty * D**2)
    variance = 2 * (rate * T * 2 * G * (C + R * G) / (epsilon * N)) ** 2 * np.log(1.25 * np.maximum(T, 1) / DELTA)
    return energy * ((target * a**T) ** 2 / D + variance * (1 - a ** (2 * T)) / (1 - a**2))


@pytest.mark.parametrize(
    ("L", "epsilon", "N"), [(100, 1.0, 2e5), (100, 3.0, 1.2e4), (100, 0.1, 5.4e7), (None, 1.0, 3.2e4)]
)
def test_remark_4_1_holds_from_zero_once_there_are_many_prompts(L: int | None, epsilon: float, N: float) -> None:
    for many, best in ((1.05 * N, True), (0.75 * N, False)):
        risk = risks(int(many), L or math.isqrt(int(many)), epsilon, 400)
        assert bool(0 < risk.argmin() < 400) == best


def test_from_zero_the_best_number_of_steps_stays_bounded_as_the_prompts_grow() -> None:
    def best(N: int, epsilon: float, share: float) -> int:
        D = math.isqrt(N)
        return int(risks(N, D, epsilon, 100, D=D, penalty=N / D, failure=1.0, share=share).argmin())

    assert {best(10**k, epsilon, 0.9) for k in (2, 8, 16) for epsilon in (0.1, 0.8, 30.0)} == {0}
    assert [best(10**k, 8.0, 0.9e-6) for k in (2, 3, 16)] == [38, 41, 14]


@pytest.mark.parametrize(
    ("dimension", "penalty", "wanted"),
    [
        (
            lambda N: math.isqrt(N),
            lambda N: N / math.isqrt(N),
            dict.fromkeys((100, 1000, 10**4, 10**8, 10**12), 0.0026),
        ),
        (lambda N: DIMENSION, lambda N: PENALTY, {1000: 0.02, 4000: 0.08, 10**5: 0.72}),
    ],
    ids=["high", "low"],
)
def test_how_much_is_learned_from_zero_before_the_noise_is_felt(
    dimension: Callable[[int], int], penalty: Callable[[int], float], wanted: dict[int, float]
) -> None:
    for N, learned in wanted.items():
        D, largest = dimension(N), 0.0
        for share in np.geomspace(1e-5, 1, 400):
            given = {"D": D, "penalty": penalty(N), "failure": 1.0, "share": share}
            descent = risks(N, math.isqrt(N), math.inf, 30, **given)
            noise = risks(N, math.isqrt(N), 0.8, 30, **given) - descent
            quiet = noise <= 0.1 * descent
            removed = 1 - descent / descent[0]
            largest = max(largest, float(removed[quiet].max()))
        assert 0.4 * learned < largest < 1.01 * learned if D > DIMENSION else abs(largest - learned) < 0.005


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


def spent(m: float, epsilon: float) -> float:
    """The δ of a Gaussian mechanism with μ = m at ε."""
    return float(ndtr(m / 2 - epsilon / m) - math.exp(epsilon) * ndtr(-m / 2 - epsilon / m))


def test_the_exponent_of_corollary_6_1_is_short_by_less_than_two_over_alpha_plus_three() -> None:
    rng = np.random.default_rng(0)
    phi, alpha, b = -9 * rng.random(2000) ** 3, rng.choice([0.0, 0.5, 2.0, 50.0], 2000), 1 - 2 * rng.random(2000)
    psi = 1 - phi - 5 * rng.random(2000) ** 4
    short = np.minimum(1, 2 * (1 - b)) - scaling.risk_exponent(phi, psi, alpha, b)
    assert (short > 0).all()
    assert (short < 2 / (alpha + 3)).all()
    assert 1 - scaling.risk_exponent(0.0, 1 - 1e-9, 2.0, 0.5) == pytest.approx(2 / 5)


def test_how_well_figure_3_fits_depends_on_the_start() -> None:
    def above(initial: float, alpha: float) -> float:
        risks = [
            tuning.best_rate(quadrature.of_power_law(PowerLaw(0.8), gamma, 0.3, 0.0, initial, clock=1.2 / gamma),
                             lambda rate: Polynomial(rate, alpha), 0.1, gamma**0.5).risk
            for gamma in (1e-3, 1e-5)
        ]  # fmt: skip
        return math.log10(risks[0] / risks[1]) / 2 - float(scaling.risk_exponent(0.8, 0.0, alpha, 0.5))

    assert max(above(0.05, 10.0), above(0.5, 1.0)) < 0.01 < above(0.5, 10.0) < above(2.0, 10.0)


def test_the_harmonic_schedule_stays_far_ahead_of_another_power() -> None:
    given = system.isotropic(0.5, 1e-4, 0.3)

    def least(alpha: float) -> float:
        return tuning.best_rate(given, lambda rate: Polynomial(rate, alpha), 0.1, 0.1).risk

    harmonic = equivalent.final_risks(given, [Harmonic(5.9, 0.0018)], 0.1, 0.1)[0]
    assert 1.5 * harmonic < least(1.5) < least(2.0) < least(1.0)


@pytest.mark.parametrize("relative", [0.01, 0.1, 0.5])
def test_the_noise_of_appendix_b_is_too_small_unless_g_is_huge(relative: float) -> None:
    """One prompt z = G, y = ±C beside zeros, in units of CG/(λN), which is the printed noise's; relative = G²/(λN)."""
    apart = 2 / (1 + relative)

    def slack(epsilon: float) -> float:  # of the classical formula, in the variance
        exact = brentq(lambda m: spent(m, epsilon) - DELTA, 1e-3, 50)
        return (exact / epsilon) ** 2 * 2 * math.log(1.25 / DELTA)

    slacks = [slack(epsilon) for epsilon in (0.2, 0.4, 1.0, 3.0)]
    assert max(slacks) < 2.3
    assert apart >= 4 / 3 - 1e-12
    assert 2 * apart**2 > max(slacks)


def test_a_large_clip_costs_nothing_where_private_noise_is_negligible() -> None:
    def factor(gamma: float) -> float:
        given = system.isotropic(0.5, gamma, 0.3)
        return float(np.divide(*(tuning.best_rate(given, Constant, clip, 1.0).risk for clip in (10.0, 1.0))))

    assert [factor(1e-6), factor(1e-7)] == pytest.approx([1.05, 0.99], abs=0.005)


def test_a_larger_start_asks_for_a_larger_clip() -> None:
    def factor(initial: float, zeta: float, small: float, large: float, gamma: float = 1e-4) -> float:
        given = system.isotropic(initial, gamma, zeta)
        return float(np.divide(*(tuning.best_rate(given, Constant, clip, 10.0).risk for clip in (small, large))))

    assert factor(5.0, 0.3, 1.0, 4.0) == pytest.approx(1.22, abs=0.005)
    assert factor(5.0, 0.3, math.sqrt(10.09), 6.0) < 1.02  # at the residuals' standard deviation
    limit = (1 - math.sqrt(2 / (math.pi * math.e))) / erf(math.sqrt(0.5)) ** 2
    assert limit == pytest.approx(1.11, abs=0.005)
    assert 1.08 < factor(0.05, 3.0, math.sqrt(9.1), 12.0, 1e-6) < limit


def test_with_little_label_noise_a_rate_above_the_cap_can_be_best() -> None:
    def risk(clip: float, share: float) -> float:
        plan = Polynomial(share * 2 / 0.03, 0.5)
        return equivalent.final_risk(system.isotropic(5.0, 0.03, 0.005), plan, clip, 5.0, 1e-5)

    below = min(risk(clip, share) for clip in np.linspace(0.1, 0.116, 9) for share in (0.8, 0.9, 0.95, 0.98, 1.0))
    assert risk(0.098, 1.116) / below == pytest.approx(0.97, abs=0.003)


def test_the_growth_of_lemma_c_4_tends_to_a_constant_where_private_noise_outweighs_descent() -> None:
    path = equivalent.risk_path(
        system.isotropic(0.5, 1.0, 0.3), Polynomial(2.0, 0.5), 1.0, 0.2, np.linspace(0.01, 1, 100), 1e-6
    )
    assert math.log(2 * path.max()) == pytest.approx(5.9, abs=0.05)


def test_with_exact_accounting_the_figure_of_section_7_rises_at_a_small_budget() -> None:
    folder = BOOK / "noisyhead" / "newsgroups"
    parts, shapes = (pd.read_csv(folder / f"{name}.csv").query("account == 'every iterate'") for name in
                     ("noise-parts", "shapes"))  # fmt: skip
    own, noise = shapes.iloc[0], (parts["step_variance"] * parts["accumulated"]).to_numpy()
    factor = {e: brentq(lambda m, e=e: spent(m, e) - DELTA, 1e-3, 50) for e in (0.1, own["epsilon"])}
    more = (factor[own["epsilon"]] / factor[0.1]) ** 2 - 1
    assert own["last"] + more * noise[-1] > 1.1 * (own["first"] + more * noise[0]) > own["last"]


def test_the_offset_of_the_harmonic_schedule_decides_the_multiple_of_1_4() -> None:
    def multiple(offset: float) -> float:
        risk = equivalent.final_risk(system.isotropic(0.5, 1e-3, 0.3), Harmonic(2.0, offset), 1.0, 0.01, 1e-4)
        return risk / (1e-3 + (1e-3 / 0.01) ** 2)

    assert [multiple(0.1), multiple(0.4)] == pytest.approx([56, 8.4], rel=0.005)
