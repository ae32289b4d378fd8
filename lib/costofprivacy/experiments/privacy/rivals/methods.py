"""Every method with its settings: the public choice first, then four more around it, the same number for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.dpgd import descent
from costofprivacy.dpgd.averaged_step import averaged_step, best_averaged_risk
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.tuning import Best
from costofprivacy.estimators import public as knowledge
from costofprivacy.experiments.privacy.rivals import choices
from costofprivacy.experiments.privacy.rivals.choices import Public
from costofprivacy.experiments.privacy.rivals.problems import Problem, least_squares
from costofprivacy.rivals import (
    batch_descent,
    boosting,
    objective_perturbation,
    output_perturbation,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds

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
    """One draw of the data, what is public of it, and the source of all noise."""

    problem: Problem
    public: Public
    rng: np.random.Generator

    @cached_property
    def square(self) -> np.ndarray:
        """XᵀX of the training records."""
        return self.problem.x.T @ self.problem.x

    @property
    def rho(self) -> float:
        """ρ of Gaussian DP with the same (ε, δ)."""
        return self.public.budget.to_gaussian().mu


Answers = Sequence[np.ndarray]  # θ for each setting


def errors(task: Task) -> np.ndarray:
    """Mean squared errors on fresh records, a row for each of `METHODS`, `TOLD` and, together, `ENDS` with the floor.

    Returns:
        shape (methods, SETTINGS); NaN where there is nothing.
    """
    answers = dict(zip(ONE_PASS, one_pass(task), strict=True)) | {name: run(task) for name, run in _RUN.items()}
    problem = task.problem
    found = [[problem.error(theta) for theta in answers[name]] for name in METHODS]
    ends = [
        problem.error(least_squares(problem.x, problem.y, task.square)),
        problem.zero,
        problem.public,
        problem.floor,
        math.nan,
    ]
    more = [[error, *[math.nan] * (SETTINGS - 1)] for error in told(task)]
    return np.array([*found, *more, ends])


def told(task: Task) -> list[float]:
    """Errors of harmonic DP-GD for `TOLD`: tuned for the eigenvalues (Gaussian data), on whitened features."""
    problem, public = task.problem, task.public
    values, vectors = np.linalg.eigh(problem.moment)
    answer = math.nan
    if math.isnan(problem.public) and not np.allclose(values, values[0]):
        known = knowledge.knowledge(values, False, public.label_noise, public.initial_risk)
        best = knowledge.tuned(known, public.n, task.rho, None, knowledge.HARMONIC, None)
        plan = Configuration(best.clip, best.schedule, task.rho)
        answer = problem.error(descent.descend_records(problem.x, problem.y, [plan], rng=task.rng)[0])
    white = vectors / np.sqrt(np.maximum(values, SMALLEST * values.mean()))
    best = _tuned(task, public.n, knowledge.HARMONIC)
    plan = Configuration(best.clip, best.schedule, task.rho)
    theta = descent.descend_records(problem.x @ white, problem.y, [plan], rng=task.rng)[0]
    return [answer, problem.error(white @ theta)]


def _tuned(task: Task, n: int, family: str) -> Best:
    """DP-GD's hyper-parameters as the estimator with "auto" finds them, for n records."""
    public = task.public
    known = knowledge.knowledge(np.ones(public.d), False, public.label_noise, public.initial_risk)
    return knowledge.tuned(known, n, task.rho, None, family, None)


def _faster(schedule: Schedule, factor: float) -> Schedule:
    """A schedule of the three families with all its rates multiplied."""
    if isinstance(schedule, Harmonic):
        return Harmonic(factor * schedule.scale, schedule.offset)
    if isinstance(schedule, Polynomial):
        return Polynomial(factor * schedule.initial, schedule.exponent)
    return Constant(factor * float(schedule(0.0)))


def one_pass(task: Task) -> list[Answers]:
    """DP-GD in its three families, all settings over one stream of the records: `ONE_PASS` in order."""
    plans = []
    for family in ONE_PASS.values():
        best = _tuned(task, task.public.n, family)
        plans += [Configuration(c * best.clip, _faster(best.schedule, rate), task.rho) for c, rate in AROUND]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        theta = descent.descend_records(task.problem.x, task.problem.y, plans, rng=task.rng)
    return list(theta.reshape(len(ONE_PASS), SETTINGS, -1))


def pilot(task: Task) -> Answers:
    """A share of the records for harmonic DP-GD, the others for one averaged step from where it ends.

    The share is that of `PILOT_SHARES` with the least promised risk; 1, no step at all, where no step promises a gain.
    """
    promised = {share: _two_stages(task, share)[0] for share in PILOT_SHARES}
    best = min(promised, key=lambda share: promised[share])
    others = [share for share in PILOT_SHARES[1:] if share != best][:2]
    plans = [(best, 1.0), (best, 1 / 3), (best, 3.0), *((share, 1.0) for share in others)]
    return [_pilot(task, share, factor) for share, factor in plans]


def _two_stages(task: Task, share: float) -> tuple[float, float, Best]:
    """The promised risk, the second clip and the pilot's hyper-parameters."""
    n, public = task.public.n, task.public
    first = max(1, round(share * n))
    best = _tuned(task, first, knowledge.HARMONIC)
    if first == n:
        return best.risk, math.nan, best
    risk, clip = best_averaged_risk(best.risk, public.d / (n - first), public.label_noise, task.rho)
    return risk, clip, best


def _pilot(task: Task, share: float, factor: float) -> np.ndarray:
    """The answer for one share, and one factor of the clip of the last stage."""
    x, y, first = task.problem.x, task.problem.y, max(1, round(share * task.public.n))
    _, clip, best = _two_stages(task, share)
    whole = first == task.public.n
    plan = Configuration((factor if whole else 1.0) * best.clip, best.schedule, task.rho)
    start = descent.descend_records(x[:first], y[:first], [plan], rng=task.rng)[0]
    if whole:
        return start
    mu = choices.factors(task.public, factor * clip, best.risk)[1]
    return averaged_step(start, x[first:], y[first:], factor * clip, task.rho, mu, rng=task.rng)


def output(task: Task) -> Answers:
    """Output perturbation of the penalised loss."""
    (c, penalty), budget = choices.output_perturbation(task.public), task.public.budget.to_gaussian()
    return [
        output_perturbation.release(
            task.problem.x,
            task.problem.y,
            task.public.clip_norm(a * c),
            b * penalty,
            budget,
            rng=task.rng,
        )
        for a, b in AROUND
    ]


def objective(task: Task) -> Answers:
    """Objective perturbation of the same loss."""
    public, (c, part) = task.public, choices.objective_perturbation_choice(task.public)
    answers = []
    for (a, _), share in zip(AROUND, (part, part, part, part / 3, 1 - (1 - part) / 3), strict=True):
        clip_norm = public.clip_norm(a * c)
        added = objective_perturbation.calibrate(public.budget, share, clip_norm, public.features)
        answers.append(objective_perturbation.release(task.problem.x, task.problem.y, clip_norm, added, rng=task.rng))
    return answers


def adassp(task: Task) -> Answers:
    """AdaSSP; its knobs are the bounds."""
    answers, whole = [], task.problem.bounds
    for b, y in NARROW:
        bounds = Bounds(b * whole.features, y * whole.response)
        data = sufficient_statistics.moments(task.problem.x, task.problem.y, bounds)
        answers.append(sufficient_statistics.release(data, bounds, task.public.budget.to_gaussian(), rng=task.rng))
    return answers


def boosted(task: Task) -> Answers:
    """Boosted AdaSSP."""
    (c, rounds), budget = choices.boosting(task.public), task.public.budget.to_gaussian()
    x, y, bounds = task.problem.x, task.problem.y, task.problem.bounds
    return [
        boosting.release(
            x,
            y,
            bounds,
            task.public.clip_norm(a * c),
            max(1, round(b * rounds)),
            budget,
            rng=task.rng,
        )
        for a, b in AROUND
    ]


def tukey_em(task: Task) -> Answers:
    """TukeyEM; where there are too few records for it, its answer is 0."""
    parts, answers = choices.models(task.public), []
    for share in FEWER:
        m = int(share * parts)
        if m < tukey.LEAST_MODELS:
            answers.append(np.zeros(task.public.d))
        else:
            answers.append(tukey.fit(task.problem.x, task.problem.y, m, task.public.budget, rng=task.rng))
    return answers


def _descents(task: Task, chosen: choices.Plan, sampling: float) -> Answers:
    noise = batch_descent.noise_multiplier(task.public.budget, sampling, len(chosen.rates))
    x, y, answers = task.problem.x, task.problem.y, []
    for a, b in AROUND:
        rates, clip_norm = [b * rate for rate in chosen.rates], task.public.clip_norm(a * chosen.clip)
        answers.append(batch_descent.release(x, y, clip_norm, rates, noise, sampling, rng=task.rng))
    return answers


def full(task: Task) -> Answers:
    """Noisy clipped gradient descent on all records."""
    return _descents(task, choices.full_batch(task.public), 1.0)


def sgd(task: Task) -> Answers:
    """DP-SGD on Poisson samples."""
    return _descents(task, choices.sampled(task.public), choices.SAMPLING)


_RUN: dict[str, Callable[[Task], Answers]] = {
    PILOT: pilot,
    OUTPUT: output,
    OBJECTIVE: objective,
    ADASSP: adassp,
    BOOSTED: boosted,
    TUKEY: tukey_em,
    SGD: sgd,
    FULL: full,
}
