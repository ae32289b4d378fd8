r"""DP-GD's hyper-parameters from public knowledge alone, by the deterministic equivalent: no data, so no privacy.

The equations of `costofprivacy.dpgd.system` give the risk of the released parameter for any clipping constant,
schedule and learning rate, once n, the eigenvalues of the features, ζ and R(0) are stated. What is wrong with the
statement costs accuracy, never privacy.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.dpgd import equivalent, tuning
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import Spectrum
from costofprivacy.dpgd.system import System, of_spectrum
from costofprivacy.estimators.scaling import UNITS, unmasked

AUTO, CONSTANT, EVEN, HARMONIC = "auto", "constant", "even", "harmonic"
SCHEDULES = (AUTO, CONSTANT, EVEN, HARMONIC)
CLIPS = (0.03, 0.1, 0.3, 1.0)  # tried for c, in standard deviations of the response
OFFSETS = tuple(np.geomspace(1e-4, 10.0, 31).tolist())  # tried for τ where η̃(0) is given
MOST_EQUATIONS = 64  # more eigenvalues are averaged in groups: the risk moves by a few thousandths


@dataclass(frozen=True)
class Knowledge:
    """What is public of a regression on its stated scale, where tr Σ = d.

    Args:
        eigenvalues: of the features' second moment, their mean 1, ascending, at most `MOST_EQUATIONS`.
        weights: the share of the spectrum that each stands for. d: dimension.
        label_noise: ζ ≥ 0. initial_risk: R(0) > 0.
    """

    eigenvalues: tuple[float, ...]
    weights: tuple[float, ...]
    d: int
    label_noise: float
    initial_risk: float

    @property
    def response_deviation(self) -> float:
        """√(2R(0) + ζ²), the root mean square of the response."""
        return math.sqrt(2 * self.initial_risk + self.label_noise**2)

    def equations(self, n: int) -> System:
        """The equations of Definition 4.2 of arXiv:2505.16329v2 for n records, θ* alike in every direction."""
        energies = np.full(len(self.eigenvalues), self.initial_risk)
        return of_spectrum(self.eigenvalues, energies, self.d / n, self.label_noise, self.weights)


def stated_eigenvalues(spectrum: Any, d: int) -> np.ndarray:
    """The d eigenvalues that a user states: given, or alike with the given sum, or 1.

    Args:
        spectrum: None, tr Σ > 0, d eigenvalues λ_i ≥ 0, or a `Spectrum`. d: number of features.

    Raises:
        InvalidParameterError: if it is none of these, or its mean is not in [1/`UNITS`, `UNITS`].
    """
    if spectrum is None:
        return np.ones(d)
    try:
        stated = spectrum.eigenvalues if isinstance(spectrum, Spectrum) else spectrum
        values = _validate.numbers("spectrum", unmasked("spectrum", stated))
        found = Spectrum(np.full(d, values / d) if values.ndim == 0 else values).eigenvalues
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidParameterError(f"spectrum must be a trace or {d} eigenvalues, got {spectrum!r}") from error
    if found.shape != (d,):
        raise InvalidParameterError(f"spectrum must be a trace or {d} eigenvalues, got {len(found)} of them")
    with np.errstate(over="ignore"):
        mean = found.mean()
    if not 1 / UNITS <= mean <= UNITS:
        raise InvalidParameterError(
            f"spectrum must have a mean between {1 / UNITS:g} and {UNITS:g} (in squared units), got {mean:g}"
        )
    return found


def knowledge(eigenvalues: np.ndarray, intercept: bool, label_noise: float, initial_risk: float) -> Knowledge:
    """Public knowledge on the scale with tr Σ = d; an intercept is one more feature, of second moment 1.

    Args:
        eigenvalues: as `stated_eigenvalues` gives them, shape (d,). intercept: whether there is one.
        label_noise: ζ ≥ 0. initial_risk: R(0) > 0.
    """
    values = np.append(eigenvalues / eigenvalues.mean(), np.ones(int(intercept)))
    distinct, counts = np.unique(values.round(12), return_counts=True)
    if len(distinct) > MOST_EQUATIONS:
        groups = np.array_split(np.sort(values), MOST_EQUATIONS)
        distinct, counts = np.array([group.mean() for group in groups]), np.array([len(group) for group in groups])
    weights = counts / len(values)
    return Knowledge(tuple(distinct), tuple(weights), len(values), float(label_noise), float(initial_risk))


@functools.lru_cache(maxsize=256)
def tuned(known: Knowledge, n: int, mu: float, clip: float | None, family: str, rate: float | None) -> tuning.Best:
    """The hyper-parameters that are not given, with the least risk of the released parameter, (4.23).

    Args:
        known: what is public. n: number of records. mu: μ in (0, ∞].
        clip: c, or None: one of `CLIPS` standard deviations of the response.
        family: one of `SCHEDULES`; "auto" is the best of the others. rate: η̃(0), or None: the best.

    Returns:
        Schedule, clipping constant, and the excess risk that the equations promise, on the stated scale.

    Raises:
        RuntimeError: if the equations cannot be solved for any choice.
    """
    system = known.equations(n)
    if clip is None:  # the best for the two schedules that are solved at once; it is near the harmonic one's
        clips = [known.response_deviation * share for share in CLIPS]
        tried = [best for c in clips for name in _FAMILIES if (best := _best(system, name, c, mu, rate)) is not None]
        clip = min(tried, key=lambda best: best.risk).clip if tried else clips[1]
    families = SCHEDULES[1:] if family == AUTO else (family,)
    found = [best for name in families if (best := _best(system, name, clip, mu, rate)) is not None]
    if not found:
        raise RuntimeError(
            "no risk of the deterministic equivalent settles here: give clip, schedule and learning_rate"
        )
    return min(found, key=lambda best: best.risk)


def _best(system: System, family: str, clip: float, mu: float, rate: float | None) -> tuning.Best | None:
    """The best of a family at one c; None where the equations do not settle."""
    try:
        if rate is not None:
            harmonics: list[Schedule] = [Harmonic(rate * offset, offset) for offset in OFFSETS]
            return _at_rate(system, [_FAMILIES[family](rate)] if family in _FAMILIES else harmonics, clip, mu)
        if system.cap <= 2 * tuning.SMALLEST:  # far more features than records: the largest rate is all there is
            return _at_rate(system, [_FAMILIES.get(family, Constant)(system.cap)], clip, mu)
        if family == HARMONIC:
            return tuning.best_harmonic(system, clip, mu)
        return tuning.best_rate(system, _FAMILIES[family], clip, mu)
    except RuntimeError:
        return None


def _at_rate(system: System, schedules: list[Schedule], clip: float, mu: float) -> tuning.Best:
    """The best of some schedules as they are."""
    risks = equivalent.final_risks(system, schedules, clip, mu, tuning.TOLERANCE)
    k = int(np.argmin(risks))
    return tuning.Best(schedules[k], clip, float(risks[k]), False, 1)


_FAMILIES: dict[str, Callable[[float], Schedule]] = {CONSTANT: Constant, EVEN: lambda rate: Polynomial(rate, 0.5)}


def clipped(known: Knowledge, n: int, mu: float, clip: float | None, schedule: Schedule) -> tuple[float, float]:
    """The clipping constant for a schedule, and the excess risk that is promised: NaN where no equation settles.

    Args:
        known: what is public. n: number of records. mu: μ in (0, ∞]. clip: c, or None: the best of `CLIPS`.
        schedule: η̃.

    Raises:
        ValueError: if the schedule increases, is negative or not finite.
    """
    clips = [clip] if clip is not None else [known.response_deviation * share for share in CLIPS]
    risks = []
    for c in clips:
        try:
            risks.append(equivalent.final_risk(known.equations(n), schedule, c, mu, tuning.TOLERANCE))
        except RuntimeError:
            risks.append(math.nan)
    k = 0 if np.isnan(risks).all() else int(np.nanargmin(risks))
    return clips[k], risks[k]
