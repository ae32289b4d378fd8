"""What is measured for one softmax head: what is known without data, private training, audits, poisoned prompts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

from chapters.noisyhead import authors
from chapters.ranges import DELTA, EPSILON, SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner, generator
from costofprivacy.noisyhead import elliptical, hyperparameters, per_prompt, softmax, whitened_descent, whitened_plan
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.per_prompt import Gradient, Plan, Released
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.softmax import Contexts
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    audit_mechanism,
    basic_noise_multiplier,
    detectable,
    exact_composed_noise_multiplier,
)
from costofprivacy.privacy.advantage import largest_advantage
from costofprivacy.privacy.audit import each_of


@dataclass(frozen=True)
class Law:
    """Prompts of L = ⌊√N⌋ tokens in D dimensions, with a covariance whose axes nobody knows; no label noise."""

    N: int
    D: int
    condition: float

    @property
    def L(self) -> int:
        """Labelled tokens of a prompt."""
        return math.isqrt(self.N)

    @cached_property
    def values(self) -> np.ndarray:
        """Eigenvalues of the covariance: they are public, its axes are not."""
        return elliptical.spectrum(self.D, self.condition)

    def draw(self, axes: np.ndarray, N: int, *, rng: np.random.Generator) -> Prompts:
        """N prompts whose covariance has these axes."""
        root = elliptical.matrix(axes, np.sqrt(self.values))
        return elliptical.sample(root, self.L, N, rng=rng)

    def clip_norm(self) -> float:
        """C of Theorem 4.1 with κ = 1: where NoisyHead clips responses."""
        return hyperparameters.clip_norm(PromptModel(self.D, self.L), self.N, 1.0)


# ---- The words of the tables ----

SOFTMAX, LINEAR = "softmax", "linear"
HEADS = (SOFTMAX, LINEAR)
PRIVATE, NON_PRIVATE, NO_DATA, ZERO, BEST = "private-head", "non-private", "no-data", "zero", "best"
LAST, WARM = "private-head, last iterate", "private-head, from no-data"
WHITENED = "private-head, whitened"  # of `costofprivacy.noisyhead.whitened_descent`, a linear one
ISOTROPIC = "isotropic"
# Ways to bound a prompt, and to count the noise of T steps.
CLIPPED, BOUNDED = "each gradient clipped", "responses clipped"
EXACT, PRINTED = "exact", "printed"


def covariance(condition: float) -> str:
    """A covariance as tables name it, by its condition number."""
    return ISOTROPIC if condition == 1 else f"unknown-{condition:g}"


# ---- Plans, chosen on synthetic isotropic prompts: they cost no privacy and see no private prompt ----

MULTIPLIER = {EXACT: exact_composed_noise_multiplier, PRINTED: basic_noise_multiplier}
OUTPUTS = ("average", "last")
WAYS = (
    *((SOFTMAX, bound, account) for bound in (CLIPPED, BOUNDED) for account in (EXACT, PRINTED)),
    *((LINEAR, CLIPPED, account) for account in (EXACT, PRINTED)),
)


@dataclass(frozen=True)
class Way:
    """A way to train privately, with a plan for it.

    Args:
        head, bound, account: the words of the tables. steps: T. clip_norm: c. time: ηT.
    """

    head: str
    bound: str
    account: str
    steps: int
    clip_norm: float
    time: float

    def plan(self, N: int, budget: ApproximateDP) -> Plan:
        """The plan on N prompts at a budget."""
        multiplier = MULTIPLIER[self.account](budget, self.steps)
        std = per_prompt.sensitivity(self.clip_norm, N) * multiplier
        return Plan(self.steps, self.clip_norm, self.time / self.steps, std)


Chosen = Mapping[tuple[int, float], tuple[Way, ...]]  # by N and ε


class OfLaw:
    """What is measured under a law. N names the random stream: all budgets and covariances share prompts."""

    law: Law

    @property
    def key(self) -> int:
        """N."""
        return self.law.N


@dataclass(frozen=True)
class GridCell(OfLaw, authors.WithBudget):
    """One size and budget, and the plans that are tried there."""

    law: Law
    epsilon: float
    delta: float
    scale: float
    steps: tuple[int, ...]
    clips: tuple[float, ...]
    reaches: tuple[float, ...]
    bounded_times: tuple[float, ...]
    test_prompts: int

    @cached_property
    def tried(self) -> list[Way]:
        """Every way with every plan of the grid; where responses are bounded, the bound is the clip norm.

        Composed exactly, the noise of all steps together depends on ηT and not on T. So steps are as many as can be:
        long ones overshoot where features are uneven, which isotropic prompts do not show.
        """
        most = softmax.gradient_bound(self.scale, self.law.clip_norm())
        return [
            Way(*way, T, clip, time)
            for way in WAYS
            for T in ((max(self.steps),) if way[2] == EXACT else self.steps)
            for clip in (self.clips if way[1] == CLIPPED else (most,))
            for time in ([reach / clip for reach in self.reaches] if way[1] == CLIPPED else self.bounded_times)
        ]


def gradient_of(head: str, prompts: Prompts, scale: float, plans: Sequence[Plan]) -> Gradient:
    """The mean clipped gradient of heads of one kind."""
    return gradients(prompts, scale)[head](plans)


def gradients(prompts: Prompts, scale: float) -> dict[str, Callable[[Sequence[Plan]], Gradient]]:
    """The same for any plans of either kind: what a softmax head sees of the prompts is laid out once."""
    data = softmax.contexts(prompts)
    return {
        SOFTMAX: lambda plans: per_prompt.softmax_gradient_of(data, scale, plans),
        LINEAR: lambda plans: per_prompt.linear_gradient(prompts, plans),
    }


def run(prompts: Prompts, scale: float, ways: Sequence[tuple[Way, Plan]], start: np.ndarray, seed: int) -> Released:
    """Run plans on the same prompts from a start each, shape (ways, D, D), with the same noise; in their order."""
    last, average = np.empty(start.shape), np.empty(start.shape)
    for head, gradient_of_plans in gradients(prompts, scale).items():
        for T in sorted({plan.steps for _, plan in ways}):
            at = [k for k, (way, plan) in enumerate(ways) if way.head == head and plan.steps == T]
            if not at:
                continue
            plans = [ways[k][1] for k in at]
            found = per_prompt.descend(gradient_of_plans(plans), start[at], plans, rng=np.random.default_rng(seed))
            last[at], average[at] = found.last, found.average
    return Released(last, average)


def errors(law: Law, axes: np.ndarray, head: str, A: np.ndarray, scale: np.ndarray, test: Prompts) -> np.ndarray:
    """Test errors of heads of one kind, shape (B,)."""
    if head == LINEAR:
        return elliptical.linear_error(A, axes, law.values, law.L)
    return softmax.prediction_error(A, scale, test)


def trial(cell: GridCell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of every plan on one draw of synthetic prompts: shape (ways, 2), average and last iterate."""
    law, eye = cell.law, np.eye(cell.law.D)
    prompts = law.draw(eye, law.N, rng=rng)
    test = law.draw(eye, cell.test_prompts, rng=rng)
    ways = [(way, way.plan(law.N, cell.budget)) for way in cell.tried]
    found = run(prompts, cell.scale, ways, np.zeros((len(ways), law.D, law.D)), int(rng.integers(2**32)))
    result = np.empty((len(ways), len(OUTPUTS)))
    for head in (SOFTMAX, LINEAR):
        at = np.array([way.head == head for way, _ in ways])
        scale = np.full(at.sum(), cell.scale)
        for place, A in enumerate((found.average, found.last)):
            result[at, place] = errors(law, eye, head, A[at], scale, test)
    return result


def choose(cells: list[GridCell], runner: Runner, trials: int, seed: int) -> pd.DataFrame:
    """Table ``choices``: the mean test error of every plan on synthetic prompts, and which is chosen.

    A plan is chosen for its average, and a second time for its last iterate.
    """
    tables = []
    for cell, values in runner.run(trial, cells, trials, seed).items():
        rows = pd.DataFrame([vars(way) for way in cell.tried])
        plans = [way.plan(cell.law.N, cell.budget) for way in cell.tried]
        for place, output in enumerate(OUTPUTS):
            rows[f"test_error, {output}"] = values[:, :, place].mean(axis=0)
        by = rows.groupby(["head", "bound", "account"], sort=False)
        for output in OUTPUTS:
            rows[f"chosen, {output}"] = rows.index.isin(by[f"test_error, {output}"].idxmin())
        rows["noise"] = [plan.noise_std * plan.learning_rate * np.sqrt(plan.steps) for plan in plans]  # of all steps
        rows.insert(0, "N", cell.law.N)
        rows.insert(1, "epsilon", cell.epsilon)
        tables.append(rows.assign(trials=len(values)))
    return pd.concat(tables, ignore_index=True)


def chosen(table: pd.DataFrame, output: str) -> Chosen:
    """The plans chosen for an output, by N and ε, in the order of ``WAYS``."""
    rows = table[table[f"chosen, {output}"]]
    names = list(Way.__dataclass_fields__)
    return {
        place: tuple(Way(**row) for row in part[names].to_dict("records"))
        for place, part in rows.groupby(["N", "epsilon"], sort=False)
    }


# ---- Poisoned prompts: by how much a few move a private head, on the same noise ----

LOUD = 1e3  # responses of a poisoned prompt, in standard deviations of an honest one


@dataclass(frozen=True)
class PoisonCell(OfLaw):
    """The head of each kind that was chosen for one law and budget, and how many prompts are poisoned."""

    law: Law
    scale: float
    epsilon: float
    delta: float
    ways: tuple[Way, ...]
    poisoned: tuple[int, ...]
    test_prompts: int


def contradicting(D: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    """A prompt whose query says the opposite of its tokens, loudly: features, shape (L + 1, D), and responses.

    Tokens lie at e_1 with response LOUD and at −e_1 with −LOUD in turn, the query at e_1 with −LOUD. Either head's
    gradient is clipped, and points where A₁₁ falls: away from what every honest prompt teaches.
    """
    x, y = np.zeros((L + 1, D)), np.empty(L + 1)
    sign = np.where(np.arange(L) % 2 == 0, 1.0, -1.0)
    x[:L, 0], y[:L] = sign, LOUD * sign
    x[L, 0], y[L] = 1.0, -LOUD
    return x, y


def poison_trial(cell: PoisonCell, *, rng: np.random.Generator) -> np.ndarray:
    """Shape (1 + counts, heads, 2): distance to the clean run's weights, and test error, on one draw."""
    law, eye = cell.law, np.eye(cell.law.D)
    prompts = law.draw(eye, law.N, rng=rng)
    test = law.draw(eye, cell.test_prompts, rng=rng)
    seed, counts = int(rng.integers(2**32)), (0, *cell.poisoned)
    result = np.empty((len(counts), len(cell.ways), 2))
    for k, way in enumerate(cell.ways):
        plans = [way.plan(law.N, ApproximateDP(cell.epsilon, cell.delta))] * len(counts)
        gradient = poisoned_gradient(way.head, prompts, cell.scale, plans, counts)
        start = np.zeros((len(counts), law.D, law.D))
        A = per_prompt.descend(gradient, start, plans, rng=np.random.default_rng(seed)).average
        result[:, k, 0] = np.linalg.norm(A - A[0], axis=(1, 2))
        result[:, k, 1] = errors(law, eye, way.head, A, np.full(len(counts), cell.scale), test)
    return result


def poisoned_gradient(
    head: str, prompts: Prompts, scale: float, plans: Sequence[Plan], counts: Sequence[int]
) -> Gradient:
    """The mean gradients of heads of one kind, each on its own number of contradicting prompts before the others.

    The heads are moved side by side: the prompts after the last poisoned one are common to all, the poisoned ones are
    alike, so one stands for all, and only the clean ones between are each head's own.
    """
    N, most = len(prompts.y), max(counts)
    x, y = contradicting(prompts.x.shape[2], prompts.x.shape[1] - 1)

    def part(start: int, stop: int) -> Prompts:
        return Prompts(prompts.x[start:stop], prompts.y[start:stop], prompts.w[start:stop])

    common = gradient_of(head, part(most, N), scale, plans)
    bad = gradient_of(head, Prompts(x[None], y[None], prompts.w[:1]), scale, plans)
    clean = [
        gradient_of(head, part(count, most), scale, [plan]) if count < most else None
        for count, plan in zip(counts, plans, strict=True)
    ]

    def mean(A: np.ndarray) -> np.ndarray:
        total = (N - most) * common(A) + np.array(counts)[:, None, None] * bad(A)
        for k, (poisoned, own) in enumerate(zip(counts, clean)):
            if own is not None:
                total[k] += (most - poisoned) * own(A[k : k + 1])[0]
        return total / N

    return Gradient(mean, common.clip_norms, N)


def poison_table(cell: PoisonCell, values: np.ndarray) -> pd.DataFrame:
    """Table ``poison``: how far the weights move and the test error rises, beside the bounds on both.

    ``push`` is how far the average would move, if every poisoned gradient were c long, the same way, and no step
    expanded or contracted. ``bound`` is on the rise of the mean of min(error, 1), for any poison and any head.
    """
    rows, mu = [], ApproximateDP(cell.epsilon, cell.delta).to_gaussian().mu
    for k, way in enumerate(cell.ways):
        for place, poisoned in enumerate(cell.poisoned, start=1):
            moved, moved_error = _fits.mean_and_error(values[:, place, k, 0])
            rise, rise_error = _fits.mean_and_error(values[:, place, k, 1] - values[:, 0, k, 1])
            half = (way.steps - way.steps // 2 - 1) / 2  # steps that the mean of the second half lacks, on average
            push = 2 * way.clip_norm / cell.law.N * way.time * (1 - half / way.steps) * poisoned
            row = {"head": way.head, "N": cell.law.N, "epsilon": cell.epsilon, "poisoned": poisoned, "moved": moved}
            row |= {"moved_error": moved_error, "push": push, "rise": rise, "standard_error": rise_error}
            bound = largest_advantage(GaussianDP(poisoned * mu))
            rows.append(row | {"clean": values[:, 0, k, 1].mean(), "bound": bound, "trials": len(values)})
    return pd.DataFrame(rows)


# ---- Audits on the worst neighbours, with and without faults ----

N, L, D, SCALE, CLIP = 4, 4, 2, 1.4, 0.1  # of the audited mechanism
ALONE = 2000  # releases computed at once
SOUND, LESS_NOISE, NO_CLIP, HALVED = "as it is", "noise 30 % too small", "clip forgotten", "sensitivity halved"
FAULTS = {SOUND: 1.0, LESS_NOISE: 0.7, NO_CLIP: 1.0, HALVED: 0.5}  # by which the noise is multiplied


@dataclass(frozen=True)
class AuditCell:
    """A mechanism on worst-case neighbours: whole runs of T steps that claim μ-GDP, with or without a fault.

    The bounds of all ``family`` audits hold together with ``confidence``.
    """

    head: str
    fault: str
    steps: int
    mu: float
    delta: float
    releases: int
    confidence: float
    family: int = 1
    key: ClassVar[int] = 0  # all audits share their random stream

    @property
    def plan(self) -> Plan:
        """What a run is told; the noise is that of μ over T steps, times the fault's factor."""
        std = per_prompt.sensitivity(CLIP, N) * np.sqrt(self.steps) / self.mu * FAULTS[self.fault]
        return Plan(self.steps, np.inf if self.fault == NO_CLIP else CLIP, 1.0, float(std))


def neighbours() -> tuple[Prompts, Prompts]:
    """Prompts that differ in the first alone: it contradicts the others' law, or confirms it, as loudly."""
    x = np.zeros((N, L + 1, D))
    y = np.zeros((N, L + 1))
    x[0], y[0] = contradicting(D, L)
    other = y.copy()
    other[0, -1] = -y[0, -1]
    return Prompts(x, y, np.zeros((N, D))), Prompts(x, other, np.zeros((N, D)))


def release(cell: AuditCell, data: Prompts, count: int, *, rng: np.random.Generator) -> np.ndarray:
    """A₁₁ of the last iterate in independent runs, shape (count,): what tells the two neighbours apart."""
    found = []
    for start in range(0, count, ALONE):
        plans = [cell.plan] * min(ALONE, count - start)
        gradient = gradient_of(cell.head, data, SCALE, plans)
        initial = np.zeros((len(plans), D, D))
        found.append(per_prompt.descend_apart(gradient, initial, plans, rng=rng).last[:, 0, 0])
    return -np.concatenate(found)


def audit_trial(cell: AuditCell, *, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds on ε and on μ from releases alone, shape (2,)."""
    found = audit_mechanism(
        lambda data, count, rng: release(cell, data, count, rng=rng),
        *neighbours(),
        delta=cell.delta,
        releases=cell.releases,
        confidence=each_of(cell.family, cell.confidence),
        rng=rng,
    )
    return np.array([found.epsilon, found.mu])


def audit_table(cells: Sequence[AuditCell], runner: Runner, seed: int) -> pd.DataFrame:
    """Table ``audit``: what each audit finds, beside the claim and the least deficit of noise that it would find."""
    rows = []
    for cell, found in runner.run(audit_trial, cells, 1, seed).items():
        row = {"head": cell.head, "fault": cell.fault, "steps": cell.steps, "mu": cell.mu, "delta": cell.delta}
        row |= {"epsilon": GaussianDP(cell.mu).epsilon(cell.delta), "epsilon_found": found[0, 0]}
        row |= {"mu_found": found[0, 1], "releases": cell.releases, "confidence": cell.confidence}
        least = detectable(cell.mu, cell.releases, each_of(cell.family, cell.confidence))
        rows.append(row | {"least_deficit": least})
    return pd.DataFrame(rows)


# ---- Ends, which need no private prompt: the best head for a known law, and the best that knows no axes of it ----

KAPPA = 5.0  # a fit starts at A = (κ/D) Σ⁻¹, near the best of long prompts in five dimensions
WIDTHS = (0.1, 50.0)  # where a is looked for


@dataclass(frozen=True)
class EndCell(OfLaw):
    """One law, and how many synthetic prompts its public heads are found on."""

    law: Law
    prompts: int


@dataclass(frozen=True)
class Ends:
    """The public softmax heads of a law.

    Args:
        width: a of the best A = aI. scale: its v. best: eigenvalues of the best A, on the axes of Σ. best_scale: its v.
    """

    width: float
    scale: float
    best: tuple[float, ...]
    best_scale: float


def ends_trial(cell: EndCell, *, rng: np.random.Generator) -> np.ndarray:
    """a, v, then v and the eigenvalues of the best head; shape (3 + D,).

    The tasks are averaged out, and the axes of Σ are those of the coordinates: another rotation turns A with it.
    """
    law, eye = cell.law, np.eye(cell.law.D)
    data = softmax.every_task(law.draw(eye, cell.prompts, rng=rng))
    width = best_width(data)
    best, best_scale = softmax.fit(data, elliptical.matrix(eye, KAPPA / law.D / law.values))
    scale = float(softmax.best_scale(width * eye[None], data)[0][0])
    return np.array([width, scale, best_scale, *np.diagonal(best)])


def best_width(data: Contexts) -> float:
    """The a whose head aI, with the best v for it, has the least mean square error on synthetic prompts."""
    eye = np.eye(data.query.shape[1])[None]
    found = minimize_scalar(
        lambda log: float(softmax.best_scale(np.exp(log) * eye, data)[1][0]),
        bounds=(np.log(WIDTHS[0]), np.log(WIDTHS[1])),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(found.x))


def find_ends(cells: list[EndCell], runner: Runner, seed: int) -> dict[Law, Ends]:
    """The public heads of each law, each found once."""
    ends = {}
    for cell, values in runner.run(ends_trial, cells, 1, seed).items():
        width, scale, best_scale, *best = map(float, values[0])
        ends[cell.law] = Ends(width, scale, tuple(best), best_scale)
    return ends


def ends_table(public: dict[Law, Ends]) -> pd.DataFrame:
    """Table ``public-heads``: the heads that need no private prompt, of either kind, by law."""
    rows = []
    for law, found in public.items():
        linear, _ = elliptical.public_linear(law.values, law.L)
        row = {"covariance": covariance(law.condition), "N": law.N, "L": law.L, "a": found.width, "v": found.scale}
        row |= {"linear_a": linear, "best_v": found.best_scale}
        rows.append(row | {"least_best": min(found.best), "largest_best": max(found.best)})
    return pd.DataFrame(rows)


# ---- What is known of the two heads before any prompt is seen: long prompts, prompts of a length, curvature ----

LENGTHS, TEMPERATURES, CURVATURE = 0, 1, 2  # streams
DIFFERENCE = 1e-3  # of A, for a second derivative
PARTS = 10  # of a sample, for its standard error
PATH = (0.0, 0.5, 1.0, 2.0, 4.0)  # A in multiples of the best A


def dimensions(D: Sequence[int]) -> pd.DataFrame:
    """Table ``dimensions``: L times the test error of long prompts, for either head, by dimension.

    Where the softmax head's falls with κ without end, κ is at the end of its search.
    """
    rows = []
    for d in D:
        kappa = softmax.best_kappa(d)
        ours, linear = float(softmax.long_prompt_error(d, kappa)), d - 1.0
        rows.append({"D": d, "kappa": kappa, "softmax": ours, "linear": linear, "ratio": ours / linear})
    return pd.DataFrame(rows)


def _mean(A: np.ndarray, scale: np.ndarray, prompts: Prompts) -> tuple[np.ndarray, np.ndarray]:
    parts = np.array_split(np.arange(len(prompts.y)), PARTS)
    errors = [softmax.prediction_error(A, scale, Prompts(prompts.x[p], prompts.y[p], prompts.w[p])) for p in parts]
    return _fits.mean_and_error(np.array(errors))


def lengths(D: int, L: Sequence[int], conditions: Sequence[float], tokens: int, seed: int) -> pd.DataFrame:
    """Table ``lengths``: test error of the head with A = (κ/D)Σ⁻¹ and v = 1/ρ(κ), simulated and to first order.

    Args:
        D: dimension. L: labelled tokens. conditions: of Σ. tokens: drawn for each length. seed: of the random streams.
    """
    kappa, rows = min(softmax.best_kappa(D), 50.0), []
    scale = np.array([1 / softmax.share(D, kappa)])
    for condition in conditions:
        values = elliptical.spectrum(D, condition)
        A = np.diag(kappa / D / values)[None]
        for length in L:
            root, N, rng = np.diag(np.sqrt(values)), max(PARTS, tokens // length), generator(seed, LENGTHS, length)
            prompts = elliptical.sample(root, length, N, rng=rng)
            error, spread = _mean(A, scale, prompts)
            first = float(softmax.long_prompt_error(D, kappa)) / length
            linear = elliptical.best_linear(values, length)[1]
            row = {"covariance": covariance(condition), "L": length, "kappa": kappa, "test_error": error[0]}
            rows.append(row | {"standard_error": spread[0], "closed_form": first, "best_linear": linear})
    return pd.DataFrame(rows)


def temperatures(D: int, length: int, kappas: Sequence[float], tokens: int, seed: int) -> pd.DataFrame:
    """Table ``temperatures``: L times the test error against κ, simulated at one length with v = 1/ρ(κ), isotropic."""
    root = np.diag(np.sqrt(elliptical.spectrum(D, 1.0)))
    prompts = elliptical.sample(root, length, tokens // length, rng=generator(seed, TEMPERATURES, 0))
    A = np.array(kappas)[:, None, None] * np.eye(D)
    error, spread = _mean(A, 1 / softmax.share(D, np.array(kappas)), prompts)
    closed = softmax.long_prompt_error(D, np.array(kappas))
    told = {"D": D, "L": length, "kappa": kappas, "scaled": length * error, "standard_error": length * spread}
    return pd.DataFrame(told | {"closed_form": closed})


def curvature(D: int, length: int, width: float, scale: float, tokens: int, seed: int) -> pd.DataFrame:
    """Table ``curvature``: least and largest second derivative of ½E(ŷ − y)² in A, along A = s·aI, isotropic.

    The Hessian is that of synthetic prompts with their tasks averaged out, by central differences of the gradient.
    """
    root = np.eye(D) / np.sqrt(D)
    prompts = elliptical.sample(root, length, tokens // length, rng=generator(seed, CURVATURE, 0))
    data, basis, rows = softmax.every_task(prompts), np.eye(D * D).reshape(-1, D, D), []
    free = [Plan(1, np.inf, 1.0, 0.0)] * (2 * D * D)
    gradient = per_prompt.softmax_gradient_of(data, scale, free)
    for share in PATH:
        A = share * width * np.eye(D)
        slopes = gradient(np.concatenate([A + DIFFERENCE * basis, A - DIFFERENCE * basis])).reshape(2, D * D, D * D)
        hessian = D * (slopes[0] - slopes[1]) / (2 * DIFFERENCE)
        eigenvalues = np.linalg.eigvalsh((hessian + hessian.T) / 2)
        rows.append({"multiple": share, "least": eigenvalues[0], "largest": eigenvalues[-1]})
    return pd.DataFrame(rows)


# ---- Private heads on fresh prompts, and the four ends beside them ----


@dataclass(frozen=True)
class Row:
    """What one number of a trial is: a head and how it came to be; ε is NaN where no budget is spent."""

    head: str
    method: str
    bound: str = ""
    account: str = ""
    epsilon: float = np.nan


def is_exact(route: Way | Row) -> bool:
    """Whether each gradient is clipped, and noise counted exactly."""
    return (route.bound, route.account) == (CLIPPED, EXACT)


@dataclass(frozen=True)
class Cell(OfLaw):
    """One law with the plans that were chosen for it, by ε, and its public heads.

    Args:
        law: of the prompts. scale: v in training, of the best head that knows no prompt, for isotropic features.
        ends: the public heads of this law. budgets: ε's. delta: δ. ways: the chosen plans for each ε.
        last: those chosen for the last iterate, of the exact account. test_prompts: fresh ones.
    """

    law: Law
    scale: float
    ends: Ends
    budgets: tuple[float, ...]
    delta: float
    ways: tuple[tuple[Way, ...], ...]
    last: tuple[tuple[Way, ...], ...]
    test_prompts: int

    def budget(self, epsilon: float) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(epsilon, self.delta)

    @cached_property
    def runs(self) -> list[tuple[Row, Way, float]]:
        """Every private run with its row and ε: the average, then the last iterate, then the average from no-data."""
        found = []
        for method, table in ((PRIVATE, self.ways), (LAST, self.last), (WARM, self.ways)):
            for epsilon, ways in zip(self.budgets, table):
                for way in ways:
                    if method == PRIVATE or is_exact(way):
                        row = Row(way.head, method, way.bound, way.account, epsilon)
                        found.append((row, way, epsilon))
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """What each number of a trial is."""
        ends = [Row(head, method) for head in HEADS for method in (NON_PRIVATE, NO_DATA, BEST)]
        whitened = Row(LINEAR, WHITENED, CLIPPED, EXACT, max(self.budgets))
        return [row for row, _, _ in self.runs] + [*ends, Row("", ZERO), whitened]


def training_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of all methods on one draw of prompts, with axes of its own; shape (rows,).

    All private runs have the same noise. The linear head that whitens first has the largest ε, and asks every token.
    """
    law, public, eye = cell.law, cell.ends, np.eye(cell.law.D)
    axes = elliptical.axes(law.D, rng=rng)
    prompts = law.draw(axes, law.N, rng=rng)
    test = law.draw(axes, cell.test_prompts, rng=rng)
    seed = int(rng.integers(2**32))
    width, flat = elliptical.public_linear(law.values, law.L)
    widths = {SOFTMAX: public.width, LINEAR: width}
    plans = [(way, way.plan(law.N, cell.budget(epsilon))) for _, way, epsilon in cell.runs]
    starts = np.array([widths[row.head] if row.method == WARM else 0.0 for row, _, _ in cell.runs])
    found = run(prompts, cell.scale, plans, starts[:, None, None] * eye, seed)
    is_last = np.array([row.method == LAST for row, _, _ in cell.runs])[:, None, None]
    A, private = np.where(is_last, found.last, found.average), np.empty(len(cell.runs))
    for head in HEADS:
        at = [k for k, (row, _, _) in enumerate(cell.runs) if row.head == head]
        private[at] = errors(law, axes, head, A[at], np.full(len(at), cell.scale), test)
    fitted, fitted_scale = softmax.fit(softmax.contexts(prompts), public.width * eye)
    heads = np.stack([fitted, public.width * eye, elliptical.matrix(axes, np.array(public.best))])
    scales = np.array([fitted_scale, public.scale, public.best_scale])
    ours = errors(law, axes, SOFTMAX, heads, scales, test)
    linear = errors(law, axes, LINEAR, least_squares(prompts)[None], scales, test)
    best = elliptical.best_linear(law.values, law.L)[1]
    budget = cell.budget(max(cell.budgets)).to_gaussian()
    whitened = whitened_plan.plan(law.D, law.L, law.N, budget, every_token=True)
    Gamma = whitened_descent.release(examples(prompts, every_token=True), whitened, rng=rng)
    last = elliptical.linear_error(Gamma[None], axes, law.values, law.L)
    return np.array([*private, *ours, *linear, flat, best, 1.0, *last])


def least_squares(prompts: Prompts) -> np.ndarray:
    """The linear head with the least mean square error on prompts, shape (D, D)."""
    N, _, D = prompts.x.shape
    data = softmax.contexts(prompts)
    context = np.einsum("nl,nld->nd", data.responses, data.keys, optimize=True) / data.keys.shape[1]
    Z = (data.query[:, :, None] * context[:, None]).reshape(N, -1)
    return np.linalg.lstsq(Z, data.target, rcond=None)[0].reshape(D, D)


def training_table(samples: dict[Cell, np.ndarray]) -> pd.DataFrame:
    """Table ``test-error``: means and standard errors of each law, a row for each head and method."""
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values)
        error[np.ptp(values, axis=0) == 0] = 0.0  # a closed form is the same in every trial
        rows = pd.DataFrame([vars(row) for row in cell.rows])
        rows.insert(0, "covariance", covariance(cell.law.condition))
        rows.insert(1, "N", cell.law.N)
        tables.append(rows.assign(test_error=mean, standard_error=error, trials=len(values)))
    return pd.concat(tables, ignore_index=True)


# ---- The experiment ----

PILOT = 10  # trials from whose spread a law's number follows
SYNTHETIC = 1  # added to the seed: synthetic prompts are never the private ones


class Experiment(Parameters):
    """One softmax head beside one linear head: test errors, plans, theory, audits, poisoned prompts."""

    N: tuple[int, ...] = many(count(16, 10**5), 1000, 2000, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(4, 50), 5)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.5, 1.0)
    delta: float = parameter(DELTA, 1e-5)
    condition: tuple[float, ...] = many(amount(1.0, 1e4), 1.0, 10.0)
    """Condition numbers of the features' covariance, whose axes are drawn anew in each trial; 1 must be among them."""
    steps: tuple[int, ...] = many(count(1, 1000), 1, 2, 5, 12, 40)
    """Numbers of steps that a plan may have; with the exact noise, which does not grow with them, the largest."""
    clips: tuple[float, ...] = many(amount(1e-4, 1e3), 0.0125, 0.025, 0.05)
    """Norms at which a plan may clip each prompt's gradient."""
    reaches: tuple[float, ...] = many(amount(1e-3, 1e5), 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
    """Clip norm times learning rate times number of steps: how far steps whose gradients are all cut can go."""
    bounded_times: tuple[float, ...] = many(amount(1e-4, 1e6), 0.05, 0.25, 1.0, 4.0, 16.0)
    """Learning rate times number of steps that a plan may have where responses are clipped alone."""
    trials: int = parameter(TRIALS, 25)
    """Most trials of a law, which has as many as the precision asks for, at least ten; trials of the poisoned runs."""
    precision: float = parameter(chance(1e-4, 0.5), 0.03)
    """Standard error, as a share, to which the test errors of private heads by the best route are measured."""
    public_trials: int = parameter(TRIALS, 3)
    """Draws of synthetic isotropic prompts on which the plans are compared."""
    public_prompts: int = parameter(count(100, 10**6), 4000)
    """Synthetic prompts on which the public heads are found."""
    test_prompts: int = parameter(count(10, 10**6), 1000)
    lengths: tuple[int, ...] = many(count(2, 10**5), 10, 31, 63, 200, 1000)
    """Lengths of prompts at which closed forms are compared with simulated errors."""
    kappas: tuple[float, ...] = many(amount(1e-2, 500.0), 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
    """Inverse temperatures of the softmax at which they are compared."""
    dimensions: tuple[int, ...] = many(count(2, 1000), 2, 3, 4, 5, 10, 20, 50, 100)
    """Dimensions of the features in the limit of long prompts."""
    tokens: int = parameter(count(10**4, 10**9), 2_000_000)
    """Tokens drawn for each of these comparisons."""
    poisoned: tuple[int, ...] = many(count(1, 10**4), 1, 10, 100)
    """Numbers of poisoned prompts."""
    releases: int = parameter(count(1000, 10**8), 200_000)
    """Releases of each audited mechanism on each of two neighbours."""
    audit_mu: float = parameter(amount(0.1, 5.0), 1.5)
    """Gaussian-DP parameter that the audited mechanisms claim."""
    audit_delta: float = parameter(DELTA, 0.01)
    """δ at which they are audited."""
    confidence: float = parameter(chance(0.01, 1 - 1e-9), 0.999)
    """Confidence of an audit."""
    seed: int = parameter(SEED, 13)

    def check(self) -> None:
        """Refuse what no run can have: plans chosen for isotropic features that are not there, too much poison."""
        if 1.0 not in self.condition:
            raise ValueError(f"condition must contain 1, got {list(self.condition)}")
        if max(self.poisoned) >= max(self.N):
            raise ValueError(f"poisoned must be below the largest N = {max(self.N)}, got {max(self.poisoned)}")
        if min(self.steps) < max(self.epsilon):
            raise ValueError(f"steps must be at least the largest epsilon = {max(self.epsilon)}, got {min(self.steps)}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Public heads and plans first, then private runs with them, then everything beside."""
        ends = [EndCell(law, self.public_prompts) for law in self.laws]
        public = find_ends(ends, runner, self.seed + SYNTHETIC)
        choices = choose(self.grid(public), runner, self.public_trials, self.seed + SYNTHETIC)
        averages, lasts = (chosen(choices, output) for output in OUTPUTS)
        cells = [self._cell(law, public, averages, lasts) for law in self.laws]
        at = np.flatnonzero([row.method == PRIVATE and is_exact(row) for row in cells[0].rows])  # the page's ratios
        wanted = Precision(self.precision, max(2, self.trials), PILOT, lambda values: values[:, at])
        samples = runner.run(training_trial, cells, wanted, self.seed)
        law, epsilon = Law(max(self.N), self.D, 1.0), max(self.epsilon)
        exact = tuple(filter(is_exact, averages[law.N, epsilon]))
        attack = self.shared(PoisonCell, law=law, scale=public[law].scale, epsilon=epsilon, ways=exact)
        attacked = runner.run(poison_trial, [attack], self.trials, self.seed)[attack]
        # Each fault in one step of each head, and a run of several steps without one.
        kinds = [(head, fault, 1) for head in HEADS for fault in FAULTS] + [(head, SOUND, 3) for head in HEADS]
        mu, delta, confidence = self.audit_mu, self.audit_delta, self.confidence
        audits = [AuditCell(*kind, mu, delta, self.releases, confidence, len(kinds)) for kind in kinds]
        width, scale = public[law].width, public[law].scale
        with threadpool_limits(1):
            theory = {
                "dimensions": dimensions(self.dimensions),
                "lengths": lengths(self.D, self.lengths, self.condition, self.tokens, self.seed),
                "temperatures": temperatures(self.D, law.L, self.kappas, self.tokens, self.seed),
                "curvature": curvature(self.D, law.L, width, scale, self.tokens // 4, self.seed),
            }
        return {
            "test-error": training_table(samples),
            "choices": choices,
            "public-heads": ends_table(public),
            **theory,
            "poison": poison_table(attack, attacked),
            "audit": audit_table(audits, runner, self.seed),
        }

    @property
    def laws(self) -> list[Law]:
        """One for each covariance and N."""
        return [Law(N, self.D, condition) for condition in self.condition for N in self.N]

    def grid(self, public: dict[Law, Ends]) -> list[GridCell]:
        """The plans to try, by size and budget, for isotropic features."""
        laws = [Law(N, self.D, 1.0) for N in self.N]
        places = product(laws, self.epsilon)
        return [self.shared(GridCell, law=law, epsilon=e, scale=public[law].scale) for law, e in places]

    def _cell(self, law: Law, public: dict[Law, Ends], averages: Chosen, lasts: Chosen) -> Cell:
        ways = tuple(averages[law.N, e] for e in self.epsilon)
        last = tuple(tuple(filter(is_exact, lasts[law.N, e])) for e in self.epsilon)
        scale = public[Law(law.N, self.D, 1.0)].scale
        return self.shared(Cell, law=law, scale=scale, ends=public[law], budgets=self.epsilon, ways=ways, last=last)
