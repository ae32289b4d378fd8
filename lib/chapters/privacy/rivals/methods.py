"""Every method with its settings: the public choice first, then four more around it, the same number for each.

All settings of a method, at all budgets, run over one draw of the records, and share what does not depend on them: a
pass over the records, XᵀX and its smallest eigenvalue, samples, parts, the start of a search. Descents over one stream
share their noise too, as `descent.descend_records` has it. Each of them alone has its own law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from chapters.privacy.rivals import choices
from chapters.privacy.rivals.choices import Public
from chapters.privacy.rivals.problems import Problem, least_squares
from costofprivacy.dpgd import descent
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
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
SETTINGS = 5  # of each method: the public choice, and one knob at a time below and above it
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

    Returns:
        shape (budgets, methods, SETTINGS); NaN where there is nothing.
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
    """What was tuned, its clip and its rates multiplied."""
    return Configuration(clip * best.clip, _faster(best.schedule, rate), gaussian(public.budget).mu)


def _faster(schedule: Schedule, factor: float) -> Schedule:
    """A schedule of the three families with all its rates multiplied."""
    if isinstance(schedule, Harmonic):
        return Harmonic(factor * schedule.scale, schedule.offset)
    if isinstance(schedule, Polynomial):
        return Polynomial(factor * schedule.initial, schedule.exponent)
    return Constant(factor * float(schedule(0.0)))


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
    for share in dict.fromkeys(share for own in asked for share, _ in own):
        runs = [(i, k) for i, own in enumerate(asked) for k in range(SETTINGS) if own[k][0] == share]
        first = max(1, round(share * task.publics[0].n))
        plans = [_first_plan(task.publics[i], share, asked[i][k][1]) for i, k in runs]
        starts = descent.descend_records(task.problem.x[:first], task.problem.y[:first], plans, rng=task.rng)
        for (i, k), start in zip(runs, starts, strict=True):
            answers[i, k] = _second_stage(task, task.publics[i], share, asked[i][k][1], start)
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


def _first_plan(public: Public, share: float, factor: float) -> Configuration:
    """The pilot, which is the last stage where there is no other."""
    _, clip, best = two_stages(public, share)
    return _plan(best, public, factor if math.isnan(clip) else 1.0)


def _second_stage(task: Task, public: Public, share: float, factor: float, start: np.ndarray) -> np.ndarray:
    """The averaged step over the records that the pilot left."""
    _, clip, best = two_stages(public, share)
    if math.isnan(clip):
        return start
    x, y, first = task.problem.x, task.problem.y, max(1, round(share * public.n))
    mu, rho = choices.factors(public, factor * clip, best.risk)[1], gaussian(public.budget).mu
    return averaged_step(start, x[first:], y[first:], factor * clip, rho, mu, rng=task.rng)


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
