"""What is measured of the methods that a user would pick instead, at equal privacy and equal data."""

import copy
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import erf

from chapters.privacy.rivals import choices, worker
from chapters.privacy.rivals.choices import Public
from chapters.ranges import SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.running import extras
from companion.streams import Runner, generator
from costofprivacy import datasets
from costofprivacy._validate import among
from costofprivacy.dpgd import descent, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.tuning import Best
from costofprivacy.dpgd.update import averaged_step, best_averaged_risk
from costofprivacy.estimators import public as knowledge
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import (
    batch_descent,
    boosting,
    huber,
    objective_perturbation,
    output_perturbation,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds, Prepared, prepare, shortened
from costofprivacy.rivals.objective_perturbation import Perturbation

# ---- The data, on one public scale: Gaussian, isotropic and uneven, and real ----

ISOTROPIC, UNEVEN = "isotropic", "power law"
SYNTHETIC = (ISOTROPIC, UNEVEN)
PHI = 0.5  # of the power law: the smallest eigenvalue is 1/(2d)² of the largest
LABEL_NOISE, INITIAL_RISK = 0.3, 0.5
WIDE = 1.5  # B over the usual length of a record
TALL = 3.0  # Y over the response's deviation
NUMERICAL = 1e-9  # dead pixels have eigenvalue 0
SPARE = 0.4  # the share of a small data set that may serve for normalisation


@dataclass(frozen=True, eq=False)
class Problem:
    """Training records as every method gets them, and how an answer is marked.

    Args:
        x, y: clipped to the public bounds, on the scale where the public tr Σ is d; shapes (n, d) and (n,). bounds:
        the public B and Y on that scale. error: the mean squared error on fresh records of θ, by θ. zero, floor: it
        for θ = 0 and for the best θ. public: it for least squares on rows that are public anyway, or NaN. moment:
        second moment of the features, shape (d, d), where it is public: no method of the comparison is told it.
    """

    x: np.ndarray
    y: np.ndarray
    bounds: Bounds
    error: Callable[[np.ndarray], float]
    zero: float
    floor: float
    public: float
    moment: np.ndarray


def draw(name: str, n: int, d: int, *, rng: np.random.Generator) -> Problem:
    """n training records of `ISOTROPIC`, `UNEVEN` or of a data set; d is the dimension of Gaussian data."""
    return _gaussian(name, n, d, rng) if name in SYNTHETIC else _real(name, n, rng)


@functools.lru_cache(maxsize=4)
def load(name: str) -> datasets.Regression:
    """A data set by its own name."""
    return datasets.regression(name)


def normalisation_rows(name: str) -> int:
    """Rows that only give means and standard deviations: 2,000, fewer of a small set."""
    return min(datasets.NORMALISATION, int(SPARE * len(load(name).y)))


def _gaussian(name: str, n: int, d: int, rng: np.random.Generator) -> Problem:
    values = spectrum.isotropic(d) if name == ISOTROPIC else spectrum.power_law(d, PHI).normalised()
    model = spectrum.RegressionModel(values, spectrum.projections(values, 0.0, INITIAL_RISK), LABEL_NOISE)
    bounds = Bounds(WIDE * math.sqrt(d), TALL * math.sqrt(model.response_variance))
    x, y = bounds.clip(*spectrum.sample(model, n, rng=rng))

    def error(theta: np.ndarray) -> float:
        return 2 * float(model.risk(theta)) + LABEL_NOISE**2

    return Problem(x, y, bounds, error, model.response_variance, LABEL_NOISE**2, math.nan, np.diag(values.eigenvalues))


def _real(name: str, n: int, rng: np.random.Generator) -> Problem:
    """Scales, B and tr Σ come from the normalisation rows, which nothing protects."""
    data, same = load(name), copy.deepcopy(rng)
    normal = normalisation_rows(name)
    parts = datasets.split(data, n, rng=rng, normalisation=normal)
    rows = same.permutation(len(data.y))[:normal]  # the same that were drawn there
    known = np.where(parts.live, (data.X[rows] - data.X[rows].mean(axis=0)) / parts.scale, 0.0)
    known_y = (data.y[rows] - data.y[rows].mean()) / parts.response_scale
    raw = Bounds(WIDE * float(np.median(np.linalg.norm(known, axis=1))), TALL)
    known, known_y = raw.clip(known, known_y)
    unit = math.sqrt(float((known**2).sum(axis=1).mean()) / data.d)
    x, y = raw.clip(parts.X, parts.y)
    test, test_y = raw.clip(parts.test_X, parts.test_y)[0] / unit, parts.test_y

    def error(theta: np.ndarray) -> float:
        return float(((test @ theta - test_y) ** 2).mean())

    everything = np.concatenate([known / unit, x / unit, test]), np.concatenate([known_y, y, test_y])
    floor, public = error(least_squares(*everything)), error(least_squares(known / unit, known_y))
    bounds = Bounds(raw.features / unit, raw.response)
    moment = known.T @ known / (normal * unit**2)
    return Problem(x / unit, y, bounds, error, error(np.zeros(data.d)), floor, public, moment)


def least_squares(x: np.ndarray, y: np.ndarray, square: np.ndarray | None = None) -> np.ndarray:
    """The shortest solution, directions below `NUMERICAL` of the largest eigenvalue left out; shape (d,)."""
    values, vectors = np.linalg.eigh(x.T @ x if square is None else square)
    kept = values > NUMERICAL * values[-1]
    return vectors[:, kept] @ ((vectors[:, kept].T @ (x.T @ y)) / values[kept])


# ---- diffprivlib's ``LinearRegression``: measured in its extra environment, or read from the committed runs ----
#
# It is the functional mechanism: Laplace noise on each of the L = 1 + d + d(d+1)/2 coefficients of the sum of squares,
# each with ε/L, so it is ε-private with δ = 0. With symmetric bounds and no intercept each coefficient's sensitivity
# there is its range, that of a record that is *replaced*. Of the noisy quadratic the library takes whatever its
# minimiser returns: nothing keeps it convex.

NAME = "diffprivlib"
MOST = 100  # features: with MNIST's 784 each coefficient gets a 308,505th of ε, and a fit takes many seconds
BOXES = (1.0, 2.0, 3.0)  # b in deviations of a feature on the public scale; B itself is the fourth
NARROWER = 0.5  # of Y: the other bound on |y|
DEVIATION = math.sqrt(2 * INITIAL_RISK + LABEL_NOISE**2)  # of the response, a guess
SETTINGS = len(BOXES) + 2
CAP = 1000.0  # errors over the constant predictor's are counted up to here
VALUES = ["zero", "floor", *(f"{name}_{k}" for name in ("error", "unsolved") for k in range(SETTINGS))]
LABELS = ["problem", "n", "d", "epsilon"]


@dataclass(frozen=True)
class Run:
    """What a run depends on besides its trial: the records are those of the other methods."""

    problem: str
    n: int
    d: int
    epsilon: float
    records: int
    """The key of the records' stream."""
    seed: int


@dataclass(frozen=True)
class Runs:
    """A run, and how often."""

    run: Run
    trials: int

    @property
    def key(self) -> int:
        return self.run.records


def coefficients(d: int) -> int:
    """L, the noisy numbers of d features."""
    return 1 + d + d * (d + 1) // 2


def expected_risk(b: float, bound: float, run: Run) -> tuple[float, float]:
    r"""R on isotropic Gaussian records in the box ±b, with the public guesses ζ and R(0), and how near it is to none.

    Clipped features have the second moment m, and p of the product with the whole ones is left, q of that with a
    clipped response: θ turns into θpq/m. Laplace noise of deviation :math:`2\sqrt2\,b^2L/\varepsilon` makes a matrix
    of norm 2√d times that; where this is more than nm, the second answer is above 1 and the risk infinite.

    Args:
        b: the box. bound: on |y|. run: n, d and ε.
    """
    density = math.exp(-(b**2) / 2) / math.sqrt(2 * math.pi)
    p, q = float(erf(b / math.sqrt(2))), float(erf(bound / math.sqrt(2) / DEVIATION))
    m = p - 2 * b * density + b**2 * (1 - p)
    second, first = (2 * math.sqrt(2) * b * other * coefficients(run.d) / run.epsilon for other in (b, bound))
    near, kept = 2 * math.sqrt(run.d) * second / (run.n * m), p * q / m
    if near >= 1:
        return math.inf, near
    noise = (run.d * first**2 + second**2 * run.d * 2 * INITIAL_RISK * kept**2) / (2 * (run.n * m) ** 2)
    return INITIAL_RISK * (1 - kept) ** 2 + noise / (1 - near) ** 2, near


def settings(run: Run, features: float, response: float) -> list[tuple[float, float]]:
    """(b, bound on y) of each setting: the public choice first, then the other boxes, then the other bound."""
    boxes, bounds = [min(b, features) for b in BOXES] + [features], [response, NARROWER * response]
    b, bound = min(product(boxes, bounds), key=lambda pair: expected_risk(pair[0], pair[1], run))
    boxes.remove(b)
    bounds.remove(bound)
    return [(b, bound), *((other, bound) for other in boxes), (b, bounds[0])]


def fit(runs: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """All trials of a run, shape (trials, len(VALUES)); ``rng`` is not used: the streams are the other methods'."""
    run, found, told = runs.run, [], []
    for trial in range(runs.trials):
        stream = generator(run.seed, runs.key, trial)
        problem = draw(run.problem, run.n, run.d, rng=stream)
        features, response = np.array(settings(run, problem.bounds.features, problem.bounds.response)).T
        told.append((problem.x, problem.y, stream.integers(2**31, size=SETTINGS), features, response))
        found.append(problem)
    names = ("x", "y", "seed", "features", "response")
    arrays = dict(zip(names, map(np.stack, zip(*told, strict=True)), strict=True))
    out = extras.find(NAME).call(worker.fit, arrays, epsilon=run.epsilon)
    zero, floor = np.array([[problem.zero, problem.floor] for problem in found]).T
    errors = np.array(
        [[p.error(theta) for theta in answers] for p, answers in zip(found, out["coefficients"], strict=True)]
    )
    within = errors < CAP * zero[:, None]
    errors = np.where(within, errors, CAP * zero[:, None])
    return np.column_stack([zero, floor, errors, ~(out["convex"] & within)])


def diffprivlib_measure(cells: Sequence[Run], trials: int, runner: Runner) -> list[pd.DataFrame]:
    """The runs of some cells, a table for each."""
    tables = []
    for runs, values in runner.run(fit, [Runs(cell, trials) for cell in cells], 1, 0).items():
        table = pd.DataFrame(values[0], columns=VALUES)
        for place, name in enumerate(LABELS):
            table.insert(place, name, getattr(runs.run, name))
        tables.append(table)
    return tables


RECORD = extras.Record(extras.Extra(NAME), "privacy/rivals", NAME, (worker.fit, fit, diffprivlib_measure))


def table(asked: Sequence[tuple[Sequence[Run], int]], runner: Runner) -> pd.DataFrame:
    """The runs of cells of at most `MOST` features, given with their trials; without the environment, the committed."""
    parts = []
    for cells, trials in asked:
        fitting = [cell for cell in cells if cell.d <= MOST]
        if not (extras.is_anew() or RECORD.extra.present):
            fitting = [cell for cell in fitting if RECORD.committed(cell, trials) is not None]
        if fitting:
            parts.append(RECORD.runs(fitting, trials, partial(diffprivlib_measure, trials=trials, runner=runner)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["trial", *LABELS, *VALUES, "digest"])


# ---- Every method with `SETTINGS`: the public choice first, then one knob at a time below and above it ----
#
# All settings of a method, at all budgets, run over one draw of the records, and share what does not depend on them: a
# pass over the records, XᵀX and its smallest eigenvalue, samples, parts, the start of a search. Descents over one
# stream share their noise too, as `descent.descend_records` has it. Each of them alone has its own law.

AT_END, EVEN, HARMONIC = "DP-GD, noise at the end", "DP-GD, even noise", "DP-GD, harmonic"
PILOT = "DP-GD, pilot and one step"
OUTPUT, OBJECTIVE = "output perturbation", "objective perturbation"
ADASSP, BOOSTED = "AdaSSP", "boosted AdaSSP"
TUKEY, SGD, FULL = "TukeyEM", "DP-SGD, samples of a tenth", "clipped descent, all records"
ONE_PASS = {AT_END: knowledge.CONSTANT, EVEN: knowledge.EVEN, HARMONIC: knowledge.HARMONIC}
OURS = (*ONE_PASS, PILOT)
RIVALS = (OUTPUT, OBJECTIVE, ADASSP, BOOSTED, TUKEY, SGD, FULL)
METHODS = (*OURS, *RIVALS)
EIGENVALUES, WHITENED = "DP-GD, told the eigenvalues", "DP-GD, told the second moment"
TOLD = (EIGENVALUES, WHITENED)  # more public knowledge than the bundle has: outside the comparison
LEAST_SQUARES, ZERO, PUBLIC_ROWS = "least squares, no privacy", "constant", "least squares on the public rows"
ENDS = (LEAST_SQUARES, ZERO, PUBLIC_ROWS)
AROUND = ((1.0, 1.0), (1 / 3, 1.0), (3.0, 1.0), (1.0, 1 / 3), (1.0, 3.0))
PILOT_SHARES = (1.0, 0.5, 0.25, 0.75)
NARROW = ((1.0, 1.0), (0.75, 1.0), (0.5, 1.0), (1.0, 2 / 3), (1.0, 1 / 3))  # shares of B and Y for AdaSSP
SMALLEST = 1e-2  # over the mean: eigenvalues of a public second moment are raised to it before it is divided by
FEWER = (1.0, 0.8, 0.6, 0.4, 0.2)  # of TukeyEM's models


@dataclass(frozen=True, eq=False)
class Task:
    """One draw of the data, what is public of it at each budget, and the source of all noise."""

    problem: Problem
    publics: tuple[Public, ...]
    rng: np.random.Generator

    @cached_property
    def live(self) -> np.ndarray:
        """Which features the public second moment knows not to be 0 throughout, shape (d,)."""
        return self.problem.moment.diagonal() > 0

    @cached_property
    def prepared(self) -> Prepared:
        """The records for searches of minima."""
        return prepare(self.problem.x, self.problem.y, self.live)

    def shortened(self, bound: float) -> Prepared:
        """The same with features of norm ``bound`` at most, as objective perturbation takes them."""
        rows = shortened(self.problem.x, bound)
        return self.prepared if rows is self.problem.x else prepare(rows, self.problem.y, self.live)

    def empty(self) -> np.ndarray:
        """Room for θ at each budget and setting: shape (budgets, SETTINGS, d)."""
        return np.zeros((len(self.publics), SETTINGS, self.publics[0].d))


@cache
def gaussian(budget: ApproximateDP) -> GaussianDP:
    """μ with the same (ε, δ)."""
    return budget.to_gaussian()


def errors(task: Task) -> np.ndarray:
    """Mean squared errors on fresh records, a row for each of `METHODS`, `TOLD` and, together, `ENDS` with the floor.

    They have the shape (budgets, methods, SETTINGS), and NaN where there is nothing.
    """
    answers = dict(zip(ONE_PASS, one_pass(task), strict=True)) | {name: run(task) for name, run in _RUN.items()}
    problem, rows = task.problem, len(METHODS) + len(TOLD)
    found = np.full((len(task.publics), rows + 1, SETTINGS), math.nan)
    found[:, : len(METHODS)] = [
        [[problem.error(theta) for theta in answers[name][k]] for name in METHODS] for k in range(len(found))
    ]
    found[:, len(METHODS) : rows, 0] = told(task)
    free = problem.error(least_squares(problem.x, problem.y, task.prepared.square))
    found[:, rows, : len(ENDS) + 1] = free, problem.zero, problem.public, problem.floor
    return found


def told(task: Task) -> np.ndarray:
    """Errors of harmonic DP-GD for `TOLD`, shape (budgets, 2): tuned for the eigenvalues (Gaussian data), whitened."""
    problem, found = task.problem, np.full((len(task.publics), len(TOLD)), math.nan)
    values, vectors = np.linalg.eigh(problem.moment)
    if math.isnan(problem.public) and not np.allclose(values, values[0]):
        found[:, 0] = [problem.error(theta) for theta in _harmonic(task, problem.x, tuple(values))]
    white = vectors / np.sqrt(np.maximum(values, SMALLEST * values.mean()))
    answers = _harmonic(task, problem.x @ white, ())
    found[:, 1] = [problem.error(white @ theta) for theta in answers]
    return found


def _harmonic(task: Task, x: np.ndarray, eigenvalues: tuple[float, ...]) -> np.ndarray:
    """Harmonic DP-GD that knows the features' eigenvalues, at each budget: shape (budgets, d)."""
    found = [_tuned(public, public.n, knowledge.HARMONIC, eigenvalues) for public in task.publics]
    plans = [_plan(best, public) for best, public in zip(found, task.publics, strict=True)]
    return descent.descend_records(x, task.problem.y, plans, rng=task.rng)


@cache
def _tuned(public: Public, n: int, family: str, eigenvalues: tuple[float, ...] = ()) -> Best:
    """DP-GD's hyper-parameters as the estimator with "auto" finds them, for n records; Σ = I where nothing is told."""
    values = np.array(eigenvalues) if eigenvalues else np.ones(public.d)
    known = knowledge.knowledge(values, False, public.label_noise, public.initial_risk)
    return knowledge.tuned(known, n, gaussian(public.budget).mu, None, family, None)


def _plan(best: Best, public: Public, clip: float = 1.0, rate: float = 1.0) -> Configuration:
    schedule, mu = best.schedule, gaussian(public.budget).mu
    if isinstance(schedule, Harmonic):
        return Configuration(clip * best.clip, Harmonic(rate * schedule.scale, schedule.offset), mu)
    if isinstance(schedule, Polynomial):
        return Configuration(clip * best.clip, Polynomial(rate * schedule.initial, schedule.exponent), mu)
    return Configuration(clip * best.clip, Constant(rate * float(schedule(0.0))), mu)


def one_pass(task: Task) -> np.ndarray:
    """DP-GD in its three families, all settings over one stream of the records: `ONE_PASS` in order, then budgets."""
    plans = [
        _plan(_tuned(public, public.n, family), public, clip, rate)
        for family in ONE_PASS.values()
        for public in task.publics
        for clip, rate in AROUND
    ]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        theta = descent.descend_records(task.problem.x, task.problem.y, plans, rng=task.rng)
    return theta.reshape(len(ONE_PASS), *task.empty().shape)


def pilot(task: Task) -> np.ndarray:
    """A share of the records for harmonic DP-GD, the others for one averaged step from where it ends.

    The share is that of `PILOT_SHARES` with the least promised risk; 1, no step at all, where no step promises a gain.
    """
    answers, asked = task.empty(), [pilot_settings(public) for public in task.publics]
    x, y = task.problem.x, task.problem.y
    for share in dict.fromkeys(share for own in asked for share, _ in own):
        first = max(1, round(share * task.publics[0].n))
        runs, plans = [], []
        for i, public in enumerate(task.publics):
            _, clip, best = two_stages(public, share)
            for k, (own, factor) in enumerate(asked[i]):
                if own == share:
                    runs.append((i, k, factor * clip, best))
                    plans.append(_plan(best, public, factor if math.isnan(clip) else 1.0))  # the only stage, or a pilot
        starts = descent.descend_records(x[:first], y[:first], plans, rng=task.rng)
        for (i, k, clip, best), start in zip(runs, starts, strict=True):
            answers[i, k] = start
            if not math.isnan(clip):
                mu, rho = choices.factors(task.publics[i], clip, best.risk)[1], gaussian(task.publics[i].budget).mu
                answers[i, k] = averaged_step(start, x[first:], y[first:], clip, rho, mu, rng=task.rng)
    return answers


@cache
def pilot_settings(public: Public) -> tuple[tuple[float, float], ...]:
    """The share, and the factor of the last stage's clip, of each setting."""
    best = min(PILOT_SHARES, key=lambda share: two_stages(public, share)[0])
    others = [share for share in PILOT_SHARES[1:] if share != best][:2]
    return (best, 1.0), (best, 1 / 3), (best, 3.0), *((share, 1.0) for share in others)


@cache
def two_stages(public: Public, share: float) -> tuple[float, float, Best]:
    """The promised risk, the second clip (NaN where there is no second stage) and the pilot's hyper-parameters."""
    first = max(1, round(share * public.n))
    best = _tuned(public, first, knowledge.HARMONIC)
    if first == public.n:
        return best.risk, math.nan, best
    mu = gaussian(public.budget).mu
    risk, clip = best_averaged_risk(best.risk, public.d / (public.n - first), public.label_noise, mu)
    return risk, clip, best


def output(task: Task) -> np.ndarray:
    """Output perturbation of the penalised loss; each minimum is searched for from the last one."""
    answers, start = task.empty(), None
    for i, public in enumerate(task.publics):
        (c, penalty), budget = choices.output_perturbation(public), gaussian(public.budget)
        for k, (a, b) in enumerate(AROUND):
            bound = public.clip_norm(a * c)
            found = huber.minimum_of(task.prepared, bound, b * penalty, start=start)
            answers[i, k] = output_perturbation.perturbed(found, bound, b * penalty, budget, rng=task.rng)
            start = found.high
    return answers


@cache
def added(budget: ApproximateDP, share: float, clip_norm: float, features: float) -> Perturbation:
    """What objective perturbation adds, computed once."""
    return objective_perturbation.calibrate(budget, share, clip_norm, features)


def objective(task: Task) -> np.ndarray:
    """Objective perturbation of the same loss; each minimum is searched for from the last one."""
    answers, start = task.empty(), None
    for i, public in enumerate(task.publics):
        told = task.shortened(public.features)
        c, part = choices.objective_perturbation_choice(public)
        shares = (part, part, part, part / 3, 1 - (1 - part) / 3)
        for k, ((a, _), share) in enumerate(zip(AROUND, shares, strict=True)):
            bound = public.clip_norm(a * c)
            noise = added(public.budget, share, bound, public.features)
            start = answers[i, k] = objective_perturbation.minimiser(told, bound, noise, start, rng=task.rng)
    return answers


def adassp(task: Task) -> np.ndarray:
    """AdaSSP; its knobs are the bounds."""
    answers, whole = task.empty(), task.problem.bounds
    known: dict[float, tuple[Prepared, float]] = {}
    for k, (b, part) in enumerate(NARROW):
        if b not in known:
            wide = Bounds(b * whole.features, whole.response)
            told = prepare(*wide.clip(task.problem.x, task.problem.y), task.live)
            known[b] = told, sufficient_statistics.smallest_eigenvalue(told.square)
        told, lowest = known[b]
        bounds = Bounds(b * whole.features, part * whole.response)
        y = np.clip(told.responses, -bounds.response, bounds.response)
        data = sufficient_statistics.Moments(told.square, replace(told, responses=y).product, len(y))
        for i, public in enumerate(task.publics):
            answers[i, k] = sufficient_statistics.release(data, bounds, gaussian(public.budget), lowest, rng=task.rng)
    return answers


def boosted(task: Task) -> np.ndarray:
    """Boosted AdaSSP."""
    plans = []
    for public in task.publics:
        (c, rounds), budget = choices.boosting(public), gaussian(public.budget)
        plans += [boosting.Plan(public.clip_norm(a * c), max(1, round(b * rounds)), budget) for a, b in AROUND]
    x, y, bounds = task.problem.x, task.problem.y, task.problem.bounds
    return boosting.releases(x, y, bounds, plans, task.live, rng=task.rng).reshape(task.empty().shape)


def tukey_em(task: Task) -> np.ndarray:
    """TukeyEM; where there are too few records for it, its answer is 0."""
    answers, budgets = task.empty(), [public.budget for public in task.publics]
    for k, share in enumerate(FEWER):
        m = int(share * choices.models(task.publics[0]))
        if m >= tukey.LEAST_MODELS:
            answers[:, k] = tukey.fits(task.problem.x, task.problem.y, m, budgets, rng=task.rng)
    return answers


def _descents(task: Task, find: Callable[[Public], choices.Plan], sampling: float) -> np.ndarray:
    plans = []
    for public in task.publics:
        chosen = find(public)
        noise = batch_descent.noise_multiplier(public.budget, sampling, len(chosen.rates))
        plans += [
            batch_descent.Plan(public.clip_norm(a * chosen.clip), tuple(b * rate for rate in chosen.rates), noise)
            for a, b in AROUND
        ]
    found = batch_descent.releases(task.problem.x, task.problem.y, plans, sampling, task.live, rng=task.rng)
    return found.reshape(task.empty().shape)


def full(task: Task) -> np.ndarray:
    """Noisy clipped gradient descent on all records."""
    return _descents(task, choices.full_batch, 1.0)


def sgd(task: Task) -> np.ndarray:
    """DP-SGD on Poisson samples."""
    return _descents(task, choices.sampled, choices.SAMPLING)


_RUN: dict[str, Callable[[Task], np.ndarray]] = {
    PILOT: pilot,
    OUTPUT: output,
    OBJECTIVE: objective,
    ADASSP: adassp,
    BOOSTED: boosted,
    TUKEY: tukey_em,
    SGD: sgd,
    FULL: full,
}


# ---- How many records methods need as d grows, what they do at d/n fixed, and how hard clipping should be ----

EPSILON = 4.0  # ρ is about 0.85
HALF = 0.5  # the share of the risk of the constant predictor that counts as something learned
GRIDS = {  # exponent p and multiples k of the sizes n = k d^p that are tried
    ADASSP: (1.5, (2, 4, 6, 8, 12, 16, 24, 36, 54)),
    FULL: (1.0, (2, 3, 4, 6, 8, 12, 16, 24)),
}
PROPORTIONAL = 30  # n/d
CLIPPED_RATIO, CLIPPED_EPSILON, CLIPPED_STEPS = 100, 1.0, 10
CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # c over the response's deviation


@dataclass(frozen=True)
class Size:
    """A method at a dimension."""

    method: str
    d: int
    delta: float

    @property
    def key(self) -> int:
        return 20_000_000 + self.d

    def public(self, n: int, epsilon: float = EPSILON) -> Public:
        budget = ApproximateDP(epsilon, self.delta)
        response = TALL * math.sqrt(2 * INITIAL_RISK + LABEL_NOISE**2)
        return Public(n, self.d, budget, WIDE * math.sqrt(self.d), response)

    @property
    def model(self) -> spectrum.RegressionModel:
        values = spectrum.isotropic(self.d)
        return spectrum.RegressionModel(values, spectrum.projections(values), LABEL_NOISE)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        public = self.public(n)
        return Bounds(public.features, public.response).clip(*spectrum.sample(self.model, n, rng=rng))


def threshold(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """ln n at which the risk first falls below half of the constant predictor's, shape (1,).

    AdaSSP's risk rises once more where its penalty has just gone: there the noisy matrix is nearly singular.
    """
    power, multiples = GRIDS[size.method]
    counts = [round(k * size.d**power) for k in multiples]
    run = _statistics if size.method == ADASSP else _descent
    shares = np.array([float(size.model.risk(run(size, n, rng))) for n in counts]) / INITIAL_RISK
    so_far = np.log(np.minimum.accumulate(shares))  # the least up to that size, falling
    return np.interp([math.log(HALF)], so_far[::-1], np.log(counts)[::-1])


def _statistics(size: Size, n: int, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP on the moments of n Gaussian records, drawn as such: XᵀX is AAᵀ by Bartlett's decomposition."""
    public, target = size.public(n), size.model.target
    A = np.tril(rng.standard_normal((size.d, size.d)), -1)
    A[np.diag_indices(size.d)] = np.sqrt(rng.chisquare(n - np.arange(size.d)))
    square = A @ A.T
    product = square @ target + LABEL_NOISE * (A @ rng.standard_normal(size.d))
    data = sufficient_statistics.Moments(square, product, n)
    bounds = Bounds(public.features, public.response)
    return sufficient_statistics.release(data, bounds, public.budget.to_gaussian(), rng=rng)


def _descent(size: Size, n: int, rng: np.random.Generator) -> np.ndarray:
    chosen = choices.full_batch(size.public(n))
    noise = batch_descent.noise_multiplier(size.public(n).budget, 1.0, len(chosen.rates))
    x, y = size.draw(n, rng)
    return batch_descent.release(x, y, size.public(n).clip_norm(chosen.clip), chosen.rates, noise, rng=rng)


def proportional(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """The share of the constant predictor's risk that is left at n = 30 d, shape (1,)."""
    n = PROPORTIONAL * size.d
    public, (x, y) = size.public(n), size.draw(n, rng)
    if size.method == OUTPUT:
        c, penalty = choices.output_perturbation(public)
        budget = public.budget.to_gaussian()
        theta = output_perturbation.release(x, y, public.clip_norm(c), penalty, budget, rng=rng)
    else:
        c, part = choices.objective_perturbation_choice(public)
        added = objective_perturbation.calibrate(public.budget, part, public.clip_norm(c), public.features)
        theta = objective_perturbation.release(x, y, public.clip_norm(c), added, rng=rng)
    return np.array([float(size.model.risk(theta)) / INITIAL_RISK])


def clipping(size: Size, *, rng: np.random.Generator) -> np.ndarray:
    """For each c: the share of the constant predictor's risk that is left, and the share of gradients that was clipped.

    Ten steps on all records, each c with the best step length that the public formula finds; the share of gradients is
    that at the start and at the end, halved. Shape (clips, 2).
    """
    n = CLIPPED_RATIO * size.d
    public, (x, y) = size.public(n, CLIPPED_EPSILON), size.draw(n, rng)
    multiplier, found = batch_descent.noise_multiplier(public.budget, 1.0, CLIPPED_STEPS), []
    for part in CLIPS:
        c = part * public.deviation
        noise = 2 * public.clip_norm(c) * multiplier / n
        plans = [choices.plan(public, c, rate, CLIPPED_STEPS, noise) for rate in choices.RATES]
        chosen = min(plans, key=lambda plan: plan.risk)
        limit = huber.limits(x, public.clip_norm(c))
        theta = batch_descent.release(x, y, public.clip_norm(c), chosen.rates, multiplier, rng=rng)
        clipped = [(np.abs(x @ at - y) > limit).mean() for at in (np.zeros(size.d), theta)]
        found.append([float(size.model.risk(theta)) / INITIAL_RISK, float(np.mean(clipped))])
    return np.array(found)


def tables(
    runner: Runner, dimensions: Sequence[int], d: int, delta: float, trials: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Tables ``thresholds``, ``proportional`` and ``clipping``."""
    needed = runner.run(threshold, [Size(m, k, delta) for m in GRIDS for k in dimensions], trials, seed)
    pair = (OUTPUT, OBJECTIVE)
    level = runner.run(proportional, [Size(m, k, delta) for m in pair for k in dimensions], trials, seed)
    (clipped,) = runner.run(clipping, [Size(FULL, d, delta)], trials, seed).values()
    rows = {
        "thresholds": [_row(size, values, "log_records") for size, values in needed.items()],
        "proportional": [_row(size, values, "share") | {"n": PROPORTIONAL * size.d} for size, values in level.items()],
        "clipping": [],
    }
    for i, part in enumerate(CLIPS):
        (share, cut), (error, cut_error) = _fits.mean_and_error(clipped[:, i])
        row = {"clip": part, "d": d, "n": CLIPPED_RATIO * d, "epsilon": CLIPPED_EPSILON, "share": share}
        row |= {"standard_error": error, "clipped": cut, "clipped_error": cut_error, "trials": len(clipped)}
        rows["clipping"].append(row)
    return {name: pd.DataFrame(found) for name, found in rows.items()}


def _row(size: Size, values: np.ndarray, name: str) -> dict[str, object]:
    mean, error = _fits.mean_and_error(values[:, 0])
    row = {"method": size.method, "d": size.d, "epsilon": EPSILON, name: float(mean), "standard_error": float(error)}
    return row | {"trials": len(values)}


# ---- The experiment ----

SMALL = 5  # training rows of a small data set are at most its rows over this times the number of sizes, in order


@dataclass(frozen=True)
class Cell:
    """One data set and size, at every budget."""

    problem: str
    n: int
    d: int
    epsilon: tuple[float, ...]
    delta: float

    @property
    def key(self) -> int:
        """The stream of the records, which diffprivlib's runs share."""
        return self.n + 1_000_000 * (sum(map(ord, self.problem)) % 997)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Mean squared errors of every method and setting on one draw of the records, as `errors` has them."""
    problem = draw(cell.problem, cell.n, cell.d, rng=rng)
    usual = problem.bounds.features if cell.problem in SYNTHETIC else WIDE * math.sqrt(cell.d)
    publics = tuple(
        Public(cell.n, cell.d, ApproximateDP(epsilon, cell.delta), usual, problem.bounds.response)
        for epsilon in cell.epsilon
    )
    return errors(Task(problem, publics, rng))


class Experiment(Parameters):
    """Private linear regression by eleven methods and diffprivlib at one (ε, δ), and how some of them grow with d."""

    d: int = parameter(count(2, 1000), 20)
    records: tuple[int, ...] = many(count(2, 10**6), 10, 100, 1000, ascending=True)
    """Records for each feature, n/d, of Gaussian data."""
    epsilon: tuple[float, ...] = many(amount(1e-3, 100), 1.0, 4.0, ascending=True)
    delta: float = parameter(chance(1e-50, 0.1), 1e-6)
    real: tuple[str, ...] = many(among((datasets.HOUSING, datasets.MNIST)), datasets.HOUSING, datasets.MNIST)
    """Real data sets; where one is not there, the one that scikit-learn brings along is taken, under its own name."""
    housing_n: tuple[int, ...] = many(count(10, 18000), 500, 3000, 16000, ascending=True)
    """Training records of California housing."""
    mnist_n: tuple[int, ...] = many(count(10, 13000), 2000, 5000, ascending=True)
    """Training records of MNIST."""
    trials: int = parameter(TRIALS, 20)
    """Independent repetitions on Gaussian data."""
    real_trials: int = parameter(count(2, 1000), 10)
    """Random splits of each real data set."""
    dimensions: tuple[int, ...] = many(count(2, 1000), 20, 40, 80, 160, 320, ascending=True)
    """Dimensions along which the records that are needed are counted."""
    size_trials: int = parameter(count(2, 10**4), 10)
    """Repetitions at each dimension, and at each clipping constant."""
    seed: int = parameter(SEED, 37)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``errors``, ``diffprivlib`` (its runs, one by one), ``thresholds``, ``proportional``, ``clipping``."""
        theirs = table(
            [(self._runs(self._gaussian()), self.trials), (self._runs(self._real()), self.real_trials)], runner
        )
        gaussian = runner.run(trial, self._gaussian(), self.trials, self.seed)
        real = runner.run(trial, self._real(), self.real_trials, self.seed)
        found = [row for cell, values in (gaussian | real).items() for row in rows(cell, values)]
        return {"errors": pd.DataFrame(found), NAME: theirs} | tables(
            runner, self.dimensions, self.d, self.delta, self.size_trials, self.seed
        )

    def _runs(self, cells: list[Cell]) -> list[Run]:
        return [Run(c.problem, c.n, c.d, epsilon, c.key, self.seed) for c in cells for epsilon in c.epsilon]

    def _gaussian(self) -> list[Cell]:
        return [self.shared(Cell, problem=name, n=ratio * self.d) for name in SYNTHETIC for ratio in self.records]

    def _real(self) -> list[Cell]:
        cells = []
        for asked in self.real:
            name = asked if datasets.is_cached(asked) else datasets.regression(asked, bundled=True).name
            d, sizes_ = load(name).d, self.housing_n if asked == datasets.HOUSING else self.mnist_n
            if name != asked:
                rows_ = len(load(name).y)
                sizes_ = tuple(rows_ * (k + 1) // (SMALL * len(sizes_)) for k in range(len(sizes_)))
            cells += [self.shared(Cell, problem=name, n=n, d=d) for n in sizes_]
        return cells


def rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows of the table ``errors``, budget by budget, from trials of shape (trials, budgets, methods, SETTINGS)."""
    for k, epsilon in enumerate(cell.epsilon):
        yield from _rows(cell, epsilon, values[:, k])


def _rows(cell: Cell, epsilon: float, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows at one budget.

    ``lost`` is what is lost of what can be explained: 0 for the best linear predictor, 1 for the constant one.
    ``behind`` is how far it is above that of the least public setting in the cell, trial by trial, with its own error.
    """
    ends = values[:, -1]
    zero, floor = ends[:, 1], ends[:, len(ENDS)]
    known = {"problem": cell.problem, "n": cell.n, "d": cell.d, "epsilon": epsilon, "delta": cell.delta}
    shared = known | {"trials": len(values), "zero": zero.mean(), "floor": floor.mean()}
    measured = values[:, : len(METHODS)]
    lost = (measured - floor[:, None, None]) / (zero - floor)[:, None, None]
    leader = int(lost[:, :, 0].mean(axis=0).argmin())
    for i, name in enumerate(METHODS):
        for setting in range(SETTINGS):
            row = shared | {"method": name, "setting": setting}
            yield row | _summary(values[:, i, setting], lost[:, i, setting], lost[:, leader, 0])
    told = values[:, len(METHODS) : -1, 0]
    others = dict(zip(TOLD, told.T, strict=True)) | dict(zip(ENDS, ends.T[: len(ENDS)], strict=True))
    for name, error in others.items():
        if np.isfinite(error).all():
            own = (error - floor) / (zero - floor)
            yield shared | {"method": name, "setting": 0} | _summary(error, own, lost[:, leader, 0])


def _summary(error: np.ndarray, lost: np.ndarray, leader: np.ndarray) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, values in {"test_error": error, "lost": lost, "behind": lost - leader}.items():
        mean, spread = _fits.mean_and_error(values)
        found |= {name: float(mean), f"{name}_error": float(spread)}
    return found
