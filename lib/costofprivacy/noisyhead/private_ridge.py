r"""DP-ridge, Appendix B of arXiv:2504.16000v2: solve the ridge problem exactly, add Gaussian noise once.

The solution is that of (2.7) on clipped responses and projected statistics, ‖Z‖_F ≤ G, |y| ≤ C:

.. math:: \hat\Gamma = \Big(\lambda N I + \sum_k \mathrm{vec}\tilde Z_k\,\mathrm{vec}\tilde Z_k^\top\Big)^{-1}
    \sum_k \mathrm{clip}_C(y_k)\,\mathrm{vec}\tilde Z_k .

Neighbours differ in the replacement of one prompt. Without clipping and projection the sensitivity is infinite:
`head.statistics` and `head.project` guarantee both for every prompt, whatever it holds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead import pretraining
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import LARGEST, SMALLEST
from costofprivacy.noisyhead.pretraining import refuse_unbounded
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile, exact_noise_multiplier, records, sums


@dataclass(frozen=True)
class PrivateRidge:
    """All that DP-ridge is told, besides its privacy budget.

    Args:
        clip_norm: C in [`SMALLEST`, `LARGEST`], bound on the responses.
        feature_bound: G in [`SMALLEST`, `LARGEST`], bound on ‖Z‖_F.
        penalty: λ in [`SMALLEST`, `LARGEST`], of (2.6).
        N: number of training prompts, at least 1.

    Raises:
        ValueError: if an argument is outside its range.
    """

    clip_norm: float
    feature_bound: float
    penalty: float
    N: int

    def __post_init__(self) -> None:
        _validate.keep(
            self,
            _validate.within(SMALLEST, LARGEST, _validate.FINITE_POSITIVE),
            "clip_norm",
            "feature_bound",
            "penalty",
        )
        _validate.keep(self, _validate.at_least(1), "N")

    @property
    def largest(self) -> float:
        """The largest ‖Z‖ that projection leaves possible, G: ‖Z‖ ≤ C holds for tokens of norm one alone."""
        return self.feature_bound

    @property
    def singular_value(self) -> float:
        """s of the N − 1 other prompts at which their solution is longest: min{√(λN), G√(N − 1)}."""
        return min(math.sqrt(self.penalty * self.N), self.largest * math.sqrt(self.N - 1))

    @property
    def others_bound(self) -> float:
        """g ≥ ‖Γ₋‖, Γ₋ the solution without one prompt: C√(N − 1)·s/(s² + λN), at most C/(2√λ); attained.

        As for `hyperparameters.weight_bound_singular`, with N − 1 prompts of norm at most G.
        """
        s = self.singular_value
        return self.clip_norm * math.sqrt(self.N - 1) * s / (s**2 + self.penalty * self.N)


def sensitivity_printed(told: PrivateRidge) -> float:
    """CG/(λN): what Appendix B states; no bound (see `sensitivity`)."""
    return told.clip_norm * told.feature_bound / (told.penalty * told.N)


def sensitivity_coarse(told: PrivateRidge) -> float:
    """2CG(1 + G/(2√λ))/(λN): a bound that is easy to remember, 2G(C + RG)/(λN) with R = C/(2√λ)."""
    return 2 * sensitivity_printed(told) * (1 + told.feature_bound / (2 * math.sqrt(told.penalty)))


def worst_angle(told: PrivateRidge) -> float:
    """The angle to Γ₋, on either side of it, of the pair of prompts that moves the solution most (radians)."""
    return pretraining.widest_angle(*_reach(told))


def sensitivity(told: PrivateRidge) -> float:
    r"""A bound on the ℓ₂-sensitivity of the ridge solution, sharp as said below, for D ≥ 2; replace one prompt.

    Let M = λN I + Σ z_k z_kᵀ and Γ₋ = M⁻¹ Σ y_k z_k over the other N − 1 prompts. A further prompt (z, y) adds, by the
    rank-one update, M⁻¹v with v = z(y − ⟨Γ₋, z⟩)/(1 + zᵀM⁻¹z). Hence the change is M⁻¹(v − v'), at most ‖v − v'‖/(λN).
    With u = −Γ₋/‖Γ₋‖, A = ‖Γ₋‖G² and B = CG, a prompt in the direction of the unit vector e, c = ⟨u, e⟩ ≥ 0, has
    v = αe with α in an interval around 0 that ends at B + Ac (‖z‖ = G, y = C) and at −B + Ac (‖z‖ = G, y = −C) or,
    where Ac > B/2, at −B²/(4Ac) ≥ −B/2 (a shorter z); the denominator only shortens. ‖v − v'‖ is convex in either α:
    only ends matter.

    * Both prompts of norm G: v = Be + A⟨u, e⟩e with e of either sign, and as ‖eeᵀ − e'e'ᵀ‖ = sin φ for the angle φ from
      e to e', ‖v − v'‖ ≤ 2B sin(φ/2) + A sin φ = 2 (A cos s + B) sin s with s = φ/2, largest at
      cos s = (√(B² + 8A²) − B)/(4A).
    * One of them shorter: ‖v − v'‖ ≤ (A + B) + B/2, which is the larger bound only for A > 5B/2, G > 5√λ.

    Both bounds increase in A, so that g, the largest ‖Γ₋‖, may be put for ‖Γ₋‖. The first is attained but for the
    denominator, at most 1 + G²/(λN): N − 1 equal prompts along u that make ‖Γ₋‖ = g, and the pair at ±s to u, whose
    difference is across u, where M = λN I (`worst_neighbours`). For A ≤ 5B/2 this is the sensitivity to that factor;
    beyond, where the second is the larger, by less than one hundredth, to both factors together.
    """
    A, B = _reach(told)
    s = worst_angle(told)
    return max(2 * (A * math.cos(s) + B) * math.sin(s), A + 1.5 * B) / (told.penalty * told.N)


def _reach(told: PrivateRidge) -> tuple[float, float]:
    """A at its largest, gG², and B = CG."""
    return told.others_bound * told.largest**2, told.clip_norm * told.largest


def flipped_neighbours(told: PrivateRidge, D: int) -> tuple[Statistics, Statistics]:
    """Every other prompt 0, and one response C or −C: the solutions differ by 2CG/(λN + G²)."""
    return _neighbours(told, D, 0.0, (math.pi / 2, math.pi / 2), (1.0, -1.0))


def worst_neighbours(told: PrivateRidge, D: int) -> tuple[Statistics, Statistics]:
    """The two data sets of N prompts at which the first bound of `sensitivity` is attained to a factor 1 + G²/(λN).

    Args:
        told: C, G, λ, N; N at least 2.
        D: feature dimension, at least 2.

    Returns:
        clipped and projected statistics of both, equal but for the last prompt.
    """
    _validate.whole("N", told.N, at_least=2)
    s = worst_angle(told)
    return _neighbours(told, D, told.singular_value / math.sqrt(told.N - 1), (s, -s), (-1.0, -1.0))


def _neighbours(
    told: PrivateRidge, D: int, length: float, angles: tuple[float, float], signs: tuple[float, float]
) -> tuple[Statistics, Statistics]:
    """N − 1 contexts of ``length`` on the first axis, responses C; the last context at an angle, its response ±C."""
    D = _validate.whole("D", D, at_least=2)
    query = np.tile(np.eye(D)[0], (told.N, 1))

    def data_set(angle: float, sign: float) -> Statistics:
        context = np.zeros((told.N, D))
        context[:-1, 0] = length
        context[-1, :2] = told.largest * math.cos(angle), told.largest * math.sin(angle)
        response = np.full(told.N, told.clip_norm)
        response[-1] *= sign
        return Statistics(query, context, response)

    return data_set(angles[0], signs[0]), data_set(angles[1], signs[1])


def noise_std_printed(told: PrivateRidge, budget: ApproximateDP) -> float:
    """CG√log(1.25/δ)/(λNε): standard deviation of an entry of W† in Appendix B."""
    return sensitivity_printed(told) * math.sqrt(math.log(1.25 / budget.delta)) / budget.epsilon


@np.errstate(all="ignore")
def noise_std(told: PrivateRidge, budget: ApproximateDP) -> float:
    """The least standard deviation that makes the release (ε, δ)-DP with `sensitivity`: exact Gaussian mechanism.

    >>> told = PrivateRidge(clip_norm=4.8, feature_bound=1.25, penalty=5.0, N=2000)
    >>> round(noise_std(told, ApproximateDP(0.2, 1e-5)) / noise_std_printed(told, ApproximateDP(0.2, 1e-5)), 2)
    1.95
    """
    return sensitivity(told) * exact_noise_multiplier(budget)


@np.errstate(all="ignore")
def profile(told: PrivateRidge, budget: ApproximateDP, noise_std: float) -> PrivacyProfile:
    """What DP-ridge claims with ``budget`` and what it spends with ``noise_std``; its one release is its last."""
    spent = GaussianDP(sensitivity(told) / noise_std if noise_std else math.inf)
    return PrivacyProfile(budget, spent, spent)


@np.errstate(all="ignore")
def release(
    data: Moments, told: PrivateRidge, noise_std: Sequence[float] | np.ndarray, *, rng: np.random.Generator
) -> np.ndarray:
    """Γ̂ + W for a batch of B standard deviations on one data set, shape (B, D, D): one draw of `releases`.

    Guarantee: that of `releases`, with its condition.

    Args:
        data, told, noise_std, rng: as in `releases`.

    Raises:
        ValueError: as `releases`.
    """
    return releases(data, told, noise_std, 1, rng=rng)[0]


@np.errstate(all="ignore")
def releases(
    data: Moments, told: PrivateRidge, noise_std: Sequence[float] | np.ndarray, count: int, *, rng: np.random.Generator
) -> np.ndarray:
    """``count`` independent releases Γ̂ + W for each of a batch of B standard deviations on one data set.

    All B share the directions of their noise (common random numbers): each alone has the law of DP-ridge, and of
    several one may be released.

    Guarantee: what `profile` says of a standard deviation, if ``data`` are moments of what `head.statistics` clipped at
    C and `head.project` projected at G, for the C, G, λ and N of ``told``: they bound every prompt. Moments that no
    such prompts have are refused. The noise is larger by the factor 1 + `costofprivacy.privacy.sums.slack` (N, D²),
    which pays for the rounding of the sums over prompts.

    Args:
        data: moments of the clipped and projected statistics of told.N prompts.
        told: C, G, λ and N for which the standard deviations were computed.
        noise_std: standard deviation of an entry of W, shape (B,), each positive and finite.
        count: at least 1.
        rng: source of the noise; advanced by count·D² normals.

    Returns:
        the released weights, shape (count, B, D, D).

    Raises:
        ValueError: if a standard deviation is not positive and finite, ``count`` is not at least 1, or the moments are
            not finite or cannot be those of prompts within C and G.
    """
    std = np.array([_validate.finite_positive("noise_std", s) for s in noise_std])
    refuse_unbounded(data, told.clip_norm, told.feature_bound)
    return simulate(data, told.penalty, std * (1 + sums.slack(told.N, len(data.cross))), count, rng=rng)


@np.errstate(all="ignore")
def components(
    data: Moments,
    told: PrivateRidge,
    noise_std: float,
    direction: np.ndarray,
    count: int,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """⟨Γ̂ + W, U⟩ of ``count`` independent releases: what an audit looks at, for one number drawn in place of D².

    Equal in law to the component of `releases`, and a release itself, with the same guarantee: W has independent
    N(0, s²) entries, so W = sQ(g) for standard normal g and any orthonormal basis Q of R^{D×D}; where U/‖U‖ is the
    first of Q, ⟨W, U⟩ = s‖U‖g₁ holds exactly, and no other coordinate of g enters.

    Args:
        data, told, rng: as in `releases`. noise_std: as there, one number.
        direction: U, shape (D²,). count: at least 1.

    Returns:
        shape (count,).

    Raises:
        ValueError: as `releases`.
    """
    std = _validate.finite_positive("noise_std", noise_std) * (1 + sums.slack(told.N, len(data.cross)))
    refuse_unbounded(data, told.clip_norm, told.feature_bound)
    middle = float(ridge(data, told.penalty).reshape(-1) @ direction)
    return middle + std * float(np.linalg.norm(direction)) * rng.standard_normal(_validate.whole("count", count))


@np.errstate(all="ignore")
def simulate(
    data: Moments, penalty: float, noise_std: Sequence[float] | np.ndarray, count: int, *, rng: np.random.Generator
) -> np.ndarray:
    """Γ̂ + W for any moments and any standard deviations, 0 among them: for experiments, from the numbers of
    `releases`.

    Not for release: nothing is asked of the moments, and nothing is promised to a prompt.

    Args:
        data: moments of any statistics, finite. penalty: λ > 0.
        noise_std: standard deviation of an entry of W, shape (B,), each at least 0. count: at least 1.
        rng: source of the noise; advanced by count·D² normals.

    Returns:
        shape (count, B, D, D).

    Raises:
        ValueError: if a number is outside its range, or the moments are not finite.
    """
    records.refuse_not_finite("data", data.cross, data.gram)
    std = np.array([_validate.nonnegative("noise_std", s) for s in noise_std])
    solution = ridge(data, penalty)
    noise = rng.standard_normal((_validate.whole("count", count), 1, *solution.shape))
    return solution + std[:, None, None] * noise
