"""DP-GD, Algorithm 1 of arXiv:2505.16329v2, for many configurations at once on one stream of data.

All configurations of a call meet the same samples (x_k, y_k) and the same private noise directions b_k. Each of them
alone is Algorithm 1 in law, and their differences are free of the noise that they share.

The steps are those of `update.advance`, in blocks, and of `update.simulate` where the records are simulated.

**No step blows up.** Since η̄‖x‖² ≤ 2, the data part of a step moves θ − θ* no farther out than by the label noise; an
iterate can overflow only through private noise of an absurd size. Such a run is reported as diverged, with risk ∞.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.dpgd import draws
from costofprivacy.dpgd import schedule as schedules
from costofprivacy.dpgd.schedule import Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, sample
from costofprivacy.dpgd.update import BLOCK, advance, simulate
from costofprivacy.privacy import records as given
from costofprivacy.privacy.records import numbers

CHUNK_NUMBERS = 2**17  # features drawn at a time: 1 MB
CHUNK_STEPS = 1024  # at most this many steps are drawn at a time
_CHECKED = 1001  # steps at which a schedule is looked at before the first


@dataclass(frozen=True)
class Configuration:
    """One way to run Algorithm 1, with the noise schedule (4.2) of arXiv:2505.16329v2.

    Args:
        clip: c of (4.3) in [`schedule.SMALLEST`, `schedule.LARGEST`], so that C_clip = c√d; or ∞, which clips nothing.
        schedule: η̃, which must not increase.
        rho: ρ in [`schedule.STRICTEST`, `schedule.LOOSEST`]; or ∞, no privacy: there is no private noise, and a
            run with it is no release.

    Raises:
        ValueError: if ``clip`` or ``rho`` is outside its range, or nothing is clipped though ρ is finite.
    """

    clip: float
    schedule: Schedule
    rho: float

    def __post_init__(self) -> None:
        if _validate.positive("clip", self.clip) < math.inf:
            _validate.keep(self, _validate.within(schedules.SMALLEST, schedules.LARGEST), "clip")
        schedules.check_rho(self.rho)
        if math.isinf(self.clip) and math.isfinite(self.rho):
            raise ValueError(f"clip must be finite for a finite rho, got {self.clip!r} with rho = {self.rho!r}")

    def clip_norm(self, d: int) -> float:
        """C_clip = c√d, (4.3)."""
        return self.clip * math.sqrt(d)


@dataclass(frozen=True)
class StepTable:
    """What each of several configurations does in steps first + 1, …, first + m.

    Args:
        learning_rates: η_k, shape (m, configurations).
        noise_std: 2 C_clip σ_k, the standard deviation of the private noise in a coordinate, same shape.
        clip_norm: C_clip, shape (configurations,).
    """

    learning_rates: np.ndarray
    noise_std: np.ndarray
    clip_norm: np.ndarray


def check_steps(configurations: Sequence[Configuration], n: int) -> None:
    """Raise ``ValueError`` unless n is whole, there is a configuration, and no schedule increases over n steps.

    Schedules are seen at up to `_CHECKED` even steps; `step_table` sees all of them on the way.
    """
    n = _validate.whole("n", n)
    if len(configurations) == 0:
        raise ValueError("configurations must be a non-empty list, got none")
    times = np.unique(np.linspace(1, n, min(n, _CHECKED)).round()) / n
    for distinct in {c.schedule for c in configurations}:
        schedules.check_rates(schedules.lengths(distinct, times, n))


def step_table(configurations: Sequence[Configuration], n: int, d: int, first: int, last: int) -> StepTable:
    """Learning rates (4.4) and noise (4.2) of steps first + 1, …, last of n, without the tables of all n steps.

    Args:
        configurations: as `check_steps` accepts them.
        n: number of steps of the run. d: dimension, at least 1. first, last: 0 ≤ first < last ≤ n.

    Returns:
        m = last − first steps of each configuration.

    Raises:
        ValueError: if a learning rate increases, is negative or not finite within these steps.
    """
    distinct = {(c.schedule, c.rho) for c in configurations}
    steps = np.arange(first + 1, min(last + 1, n) + 1)  # one more than asked for: σ_k needs η_{k+1}
    columns = {}
    for plan, rho in distinct:
        rates = schedules.lengths(plan, steps / n, n)
        columns[plan, rho] = rates[: last - first], schedules.noise_multipliers(rates, rho)[: last - first]
    rates, noise = zip(*(columns[c.schedule, c.rho] for c in configurations))
    clip_norm = np.array([c.clip_norm(d) for c in configurations])
    scale = np.where(np.isinf(clip_norm), 0.0, 2 * clip_norm)
    with np.errstate(over="ignore"):
        return StepTable(np.stack(rates, axis=1), scale * np.stack(noise, axis=1), clip_norm)


@dataclass(frozen=True, eq=False)
class Descent:
    """What Algorithm 1 did, for each configuration.

    Args:
        risk: R(θ_⌊tn⌋) at the times asked for, shape (configurations, times); ∞ from an overflow on.
        theta: the released θ_n in the eigenbasis, shape (configurations, d).
        released_risk: R(θ_n), shape (configurations,); ∞ after an overflow.
    """

    risk: np.ndarray
    theta: np.ndarray
    released_risk: np.ndarray

    @property
    def diverged(self) -> np.ndarray:
        """Whether the run overflowed: its risks are then no numbers to average. Shape (configurations,)."""
        return np.isinf(self.released_risk)


def descend(
    model: RegressionModel,
    configurations: Sequence[Configuration],
    n: int,
    times: Sequence[float] | np.ndarray,
    start: np.ndarray | None = None,
    *,
    rng: np.random.Generator,
) -> Descent:
    """Run Algorithm 1 of arXiv:2505.16329v2, from θ_0 = 0 if nothing else is said, over one stream of n samples.

    A step depends on θ − θ* alone. So runs from θ_0 = −θ* where the target is 0 are runs from 0 with the target θ*, and
    several targets can share a stream.

    Guarantee: each configuration alone is Algorithm 1 in law, and its result depends on the others by rounding only.
    The samples are drawn here; nobody's records enter.

    Args:
        model: the law of a sample.
        configurations: at least one.
        n: number of samples and of steps, at least 1.
        times: t in [0, 1], not decreasing; the risk is recorded after ⌊tn⌋ steps.
        start: θ_0 of each configuration, shape (configurations, d).
        rng: source of randomness; a stream of samples and one of private noise are spawned from it.

    Raises:
        ValueError: if ``n`` is not a whole number of at least 1, a schedule increases, there is no configuration,
            ``start`` has another shape, or the times are not in order or not in [0, 1].
    """
    check_steps(configurations, n)
    records = steps_at(times, n)
    data, noise = rng.spawn(2)
    theta = np.zeros((model.d, len(configurations)))
    if start is not None:
        _validate.shape("start", start, theta.T.shape)
        theta += start.T
    risk = np.empty((len(configurations), len(records)))
    risk[:, records == 0] = model.risk(theta.T)[:, None]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for first, last in _chunks(n, model.d):
            x, y = sample(model, last - first, rng=data)
            b = draws.normals(x.shape, noise)
            table = step_table(configurations, n, model.d, first, last)
            for begin, stop in _blocks(first, last, records):
                rows = slice(begin - first, stop - first)
                learning_rates, noise_std = table.learning_rates[rows], table.noise_std[rows]
                simulate(theta, x[rows], y[rows], b[rows], learning_rates, noise_std, table.clip_norm)
                risk[:, records == stop] = _finite_risk(model, theta)[:, None]
        return Descent(risk, theta.T.copy(), _finite_risk(model, theta))


@np.errstate(all="ignore")
def descend_records(
    x: np.ndarray, y: np.ndarray, configurations: Sequence[Configuration], *, rng: np.random.Generator
) -> np.ndarray:
    """Run Algorithm 1 of arXiv:2505.16329v2 from θ_0 = 0 over given records, each used once, in their order.

    Guarantee: each configuration alone is Algorithm 1 in law, given the records, hence ρ-Gaussian DP for replacing one
    record by any other; one that is not `privacy.records.usable` (NaN, infinities) is void, its step the identity.
    Those that share noise are not private together.

    Args:
        x: features of any type of number, shape (n, d). y: responses, shape (n,).
        configurations: at least one; they share the private noise.
        rng: source of the private noise.

    Returns:
        the released θ_n, shape (configurations, d).

    Raises:
        ValueError: if the shapes differ, an array is not of numbers, a schedule increases, or there is no
            configuration.
    """
    x = numbers("x", x, (None, None))
    y = numbers("y", y, (len(x),))
    check_steps(configurations, len(x))
    x, y = given.regression(x, y)
    return _descend(x, y, configurations, advance, rng)


@np.errstate(all="ignore")
def descend_samples(
    x: np.ndarray, y: np.ndarray, configurations: Sequence[Configuration], *, rng: np.random.Generator
) -> np.ndarray:
    """`descend_records` on simulated records: the same θ_n to rounding, sooner where configurations are few.

    Assumes: no record is anybody's; how long it takes depends a little on what they hold.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). configurations, rng: as in `descend_records`.

    Returns:
        θ_n, shape (configurations, d).

    Raises:
        ValueError: if a schedule increases, or there is no configuration.
    """
    check_steps(configurations, len(x))
    return _descend(x, y, configurations, simulate, rng)


def _descend(
    x: np.ndarray,
    y: np.ndarray,
    configurations: Sequence[Configuration],
    steps: Callable[..., None],
    rng: np.random.Generator,
) -> np.ndarray:
    """θ_n of one pass over the records, shape (configurations, d), by `advance` or `simulate`."""
    n, d = x.shape
    theta = np.zeros((d, len(configurations)))
    for first, last in _chunks(n, d):
        b = draws.normals((last - first, d), rng)
        table = step_table(configurations, n, d, first, last)
        for start, stop in _blocks(first, last, np.empty(0, dtype=int)):
            rows, inside = slice(start, stop), slice(start - first, stop - first)
            learning_rates, noise_std = table.learning_rates[inside], table.noise_std[inside]
            steps(theta, x[rows], y[rows], b[inside], learning_rates, noise_std, table.clip_norm)
    return theta.T.copy()


def steps_at(times: Sequence[float] | np.ndarray, n: int) -> np.ndarray:
    """The step ⌊tn⌋ after which the risk at time t is read, shape (times,).

    k/n is given back as k: tn is rounded up where it misses a whole number by rounding alone.

    Args:
        times: t in [0, 1], not decreasing, shape (times,). n: number of steps of the run.

    Raises:
        ValueError: if the times are no list, one is outside [0, 1], or they decrease.
    """
    values = np.asarray(times, dtype=float)
    rule = "times must be a list of numbers in [0, 1] that do not decrease"
    if values.ndim != 1:
        raise ValueError(f"{rule}, got shape {values.shape}")
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        raise ValueError(f"{rule}, got {float(values[outside][0])!r}")
    falls = np.flatnonzero(np.diff(values) < 0)
    if falls.size:
        raise ValueError(f"{rule}, got {float(values[falls[0]])!r} before {float(values[falls[0] + 1])!r}")
    return np.floor(values * n * (1 + 4 * np.finfo(float).eps)).astype(int)


def _chunks(n: int, d: int) -> Iterator[tuple[int, int]]:
    """Ranges of steps whose draws are held in memory together; they depend on n and d alone."""
    steps = min(CHUNK_STEPS, max(BLOCK, CHUNK_NUMBERS // d))
    for first in range(0, n, steps):
        yield first, min(first + steps, n)


def _blocks(first: int, last: int, records: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of at most `BLOCK` steps, ending wherever the risk is recorded."""
    inside = records[(records > first) & (records < last)]
    ends = np.union1d(np.arange(first, last, BLOCK), np.append(inside, last))
    yield from zip(ends[:-1].tolist(), ends[1:].tolist())


def _finite_risk(model: RegressionModel, theta: np.ndarray) -> np.ndarray:
    """The risk of each configuration, ∞ where it is no number."""
    risk = model.risk(theta.T)
    return np.where(np.isfinite(risk), risk, np.inf)
