"""What each release claims, and what audits of it find."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh
from scipy.special import ndtr, ndtri, softmax
from scipy.stats import chi2

from chapters.noisyhead.a_head_that_works import audit
from chapters.privacy.every_mechanism import mechanisms, software
from chapters.privacy.every_mechanism.mechanisms import (
    EMPTY,
    FAR,
    LONG,
    PLAIN,
    SOUND,
    Data,
    Knobs,
    Pair,
    hostile,
    pair,
    scaled,
)
from chapters.ranges import SEED, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import head, whitened_descent
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.whitened_plan import plan as whitened_plan
from costofprivacy.privacy import ApproximateDP, Audit, GaussianDP, GaussianMechanism, audit_mechanism, detectable, sums
from costofprivacy.privacy.audit import each_of
from costofprivacy.rivals import batch_descent, guarded_descent, huber, piloted_perturbation, private_quantile, tukey
from costofprivacy.rivals import sufficient_statistics as statistics
from costofprivacy.rivals.bounds import Bounds, prepare
from costofprivacy.rivals.objective_perturbation import Perturbation

# ---- The releases that are audited ----
# A row is data: to add a release, write a function that draws many, and name its claim and its neighbours here.

OURS, RIVALS, OTHERS = "this book's", "rivals", "other software"
OWN, TRANSCRIBED = "the library's code", "a transcription"
FORGOTTEN, SCALED = "clip forgotten", "scaled by the data"
WIDE = 0.05  # δ at which the ε of samples is audited: at small ones its events are rare
Claim = GaussianDP | ApproximateDP
Draw = Callable[[Any, int, np.random.Generator, Knobs], np.ndarray]
Neighbours = tuple[Any, Any]


@dataclass(frozen=True)
class Row:
    """A release, and how it is audited.

    Args:
        name: what a reader calls it. part: `OURS`, `RIVALS` or `OTHERS`. module: where its guarantee is proved.
        claim: μ-Gaussian DP, or (ε, δ); replace one record. run: `OWN` or `TRANSCRIBED`.
        draw: (data, count, rng, knobs) ↦ a score for each of ``count`` independent releases.
        worst: neighbours that are as far apart as we know. attained: whether they attain the sensitivity.
        hostile: neighbours with hostile records. unclipped, unscaled: neighbours for a forgotten clip, and for scaling
            by the data; None where there is no such fault.
        share: of the releases, where one takes long. at: the claim at the δ at which ε is audited, where that is not
            the standard one.
    """

    name: str
    part: str
    module: str
    claim: Claim
    run: str
    draw: Draw
    worst: Neighbours
    attained: bool
    hostile: tuple[Neighbours, ...]
    unclipped: Neighbours | None = None
    unscaled: Neighbours | None = None
    share: float = 1.0
    at: ApproximateDP | None = None

    def exceeded(self, epsilon: float, mu: float, standard: ApproximateDP) -> bool:
        """Whether lower bounds refute the claim: on μ where it is Gaussian, on ε where not."""
        if isinstance(self.claim, GaussianDP):
            return mu > self.claim.mu or epsilon > standard.epsilon
        return epsilon > (self.at or self.claim).epsilon


def standard(mu: float, delta: float) -> ApproximateDP:
    """The (ε, δ) that μ-Gaussian DP is, exactly: the budget of the rows that are not Gaussian."""
    return ApproximateDP(GaussianDP(mu).epsilon(delta), delta)


def ours(mu: float, delta: float) -> tuple[Row, ...]:
    """Every release of the library, at the standard setting."""
    told, gaussian = standard(mu, delta), GaussianDP(mu)
    return (
        *_mechanisms(mu, gaussian),
        *_heads(mu, gaussian),
        *_descents(mu, gaussian, told),
        *_solved(mu, told),
        *_newer(mu, gaussian, told),
    )


def _normal(function: Callable[..., np.ndarray], told: Any, parts: int) -> Draw:
    """Draws of a transcription that takes so many standard normals a release; ``told`` is μ or a plan."""
    return lambda given, count, rng, knobs: function(given, told, rng.standard_normal((parts, count)), knobs)


def _counted(function: Callable[..., np.ndarray], told: Any) -> Draw:
    """Draws of a function that has the source of noise itself."""
    return lambda given, count, rng, knobs: function(given, told, count, rng, knobs)


OTHER = (PLAIN, (-0.5, 0.2))  # ordinary records beside the one that is replaced
EMPTIES = (EMPTY, EMPTY)  # records that leave all to the one that is replaced
OPPOSITE = ((1.0, FAR), (1.0, -FAR))  # gradients that are clipped, in opposite directions
UNCLIPPED = ((1.0, 20.0), (1.0, -20.0))  # where a clip is forgotten, twenty times as far apart
STRETCHED = ((LONG, 0.0), (1.0, 0.0))  # one changes the scale of all


def _mechanisms(mu: float, claim: GaussianDP) -> tuple[Row, ...]:
    bounds = Bounds(1.0, 0.5)

    def total(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        value = float((bounds.clip(*given)[1] if knobs.clip else given[1]).sum())
        return GaussianMechanism(1.0, knobs.noise / mu).release(np.full(count, value), rng=rng)

    def last_iterate(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return mechanisms.dp_gd(given, mu, rng.standard_normal((len(given[0]), count)), knobs)

    return (
        Row(
            "Gaussian mechanism", OURS, "privacy.mechanisms", claim, OWN, total, pair(OTHER, *OPPOSITE), True,
            hostile(OTHER), pair(OTHER, *UNCLIPPED),
        ),
        Row(
            "DP-GD, last iterate", OURS, "dpgd.descent", claim, TRANSCRIBED, last_iterate, pair(EMPTIES, *OPPOSITE),
            True, hostile(OTHER), pair(EMPTIES, *UNCLIPPED), pair(OTHER, *STRETCHED),
        ),
    )  # fmt: skip


def _heads(mu: float, claim: GaussianDP) -> tuple[Row, ...]:
    three = (EMPTY,) * (mechanisms.PROMPTS - 1)
    algorithm = _normal(mechanisms.noisy_head, mu, mechanisms.HYPER.steps)
    apart, whole = (_counted(function, mu) for function in (mechanisms.per_prompt_head, mechanisms.whitened))
    odd = tuple(
        tuple(examples(mechanisms.prompts(one, mechanisms.D), every_token=False) for one in two)
        for two in hostile((EMPTY,), 1)
    )
    return (
        Row(
            "NoisyHead", OURS, "noisyhead.pretraining", claim, TRANSCRIBED, algorithm, pair(three, *OPPOSITE), True,
            hostile((PLAIN, *three[1:])), pair(three, *UNCLIPPED),
        ),
        Row(
            "DP-ridge", OURS, "noisyhead.private_ridge", claim, OWN, _counted(mechanisms.dp_ridge, mu),
            mechanisms.RIDGE_PAIR, True, hostile((PLAIN,)), mechanisms.RIDGE_UNCLIPPED,
        ),
        Row(
            "per-prompt clipped head", OURS, "noisyhead.per_prompt", claim, OWN, apart,
            pair(EMPTIES, *OPPOSITE), True, hostile(OTHER), pair(EMPTIES, *UNCLIPPED),
        ),
        Row(
            "whitened head", OURS, "noisyhead.whitened_descent", claim, OWN, whole,
            mechanisms.WHITENED_PAIR, False, odd, mechanisms.WHITENED_PAIR, share=0.1,  # type: ignore[arg-type]
        ),
    )  # fmt: skip


def _spoilt(name: str, module: str, run: str, draw: Draw, bound: Claim, worst: Neighbours, attained: bool) -> Row:
    """A rival whose clip can be forgotten, and whose features can be scaled by the data."""
    faults = pair(EMPTIES, *UNCLIPPED), pair(OTHER, *STRETCHED)
    return Row(name, RIVALS, f"rivals.{module}", bound, run, draw, worst, attained, hostile(OTHER), *faults)


def _descents(mu: float, claim: GaussianDP, told: ApproximateDP) -> tuple[Row, ...]:
    plan, multiplier = mechanisms.shrinking_plan(mu), mechanisms.sampled_multiplier(told)
    stages = mechanisms.guarded_plan(mu)
    steps = sum(len(each.learning_rates) for each in stages.plans)
    full = _normal(mechanisms.full_batch, mu, len(mechanisms.RATES))
    guarded, shrinking = _normal(mechanisms.guarded, stages, steps), _normal(mechanisms.shrinking, plan, plan.rounds)

    def samples(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        steps = len(mechanisms.SAMPLED_RATES)
        uniforms = rng.random((steps, len(given[0]), count))
        return mechanisms.sampled(given, multiplier, uniforms, rng.standard_normal((steps, count)), knobs)

    wide = batch_descent.spent_epsilon(multiplier, mechanisms.SAMPLING, len(mechanisms.SAMPLED_RATES), WIDE)
    far, run = pair(EMPTIES, *OPPOSITE), TRANSCRIBED
    poisson = _spoilt("DP-SGD, Poisson samples", "batch_descent", run, samples, told, far, False)
    return (
        _spoilt("clipped descent, all records", "batch_descent", run, full, claim, far, True),
        _spoilt("guarded descent, two stages", "guarded_descent", run, guarded, claim, far, False),
        replace(poisson, at=ApproximateDP(wide, WIDE)),
        _spoilt("descent with a shrinking clip", "shrinking_clip", run, shrinking, claim, far, True),
    )


def _solved(mu: float, told: ApproximateDP) -> tuple[Row, ...]:
    claim, output = GaussianDP(mu), _counted(mechanisms.output, mu)
    objective = _normal(mechanisms.objective, mechanisms.objective_plan(told), 2)
    adassp, boosted = _normal(mechanisms.adassp, mu, 3), _normal(mechanisms.boosted, mu, 2 + mechanisms.ROUNDS)

    fixed, corner = pair((), *OPPOSITE), pair((), (1.0, 1.0), (1.0, -1.0))
    return (
        _spoilt("output perturbation", "output_perturbation", OWN, output, claim, fixed, True),
        _spoilt("objective perturbation", "objective_perturbation", TRANSCRIBED, objective, told, fixed, False),
        _spoilt("AdaSSP", "sufficient_statistics", TRANSCRIBED, adassp, claim, corner, False),
        _spoilt("boosted AdaSSP", "boosting", TRANSCRIBED, boosted, claim, fixed, False),
        _deep_point(told),
    )


AT = ((0.0, 49), (1.0, 4), (17.0, 46))  # TukeyEM's other solutions: points, and how many lie there


def _deep_point(told: ApproximateDP) -> Row:
    """TukeyEM, each model from one record: the solutions are the responses, wherever a record is usable."""

    def draw(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        points = tukey.models(*given, len(given[1]), rng=np.random.default_rng(0))[:, 0]
        shells = len(points) // 2 - len(points) // 4 + 1
        budget = ApproximateDP(told.epsilon / knobs.noise, told.delta)
        drawn = rng.laplace(size=count), rng.gumbel(size=(shells, count)), rng.random(count)
        return mechanisms.deep_points(points, budget, *drawn)

    others = tuple((1.0, point) for point, times in AT for _ in range(times))
    worst = pair(others, (1.0, AT[0][0]), (1.0, AT[-1][0]))
    return Row("TukeyEM", RIVALS, "rivals.tukey", told, TRANSCRIBED, draw, worst, False, hostile(others), share=0.3)


def _newer(mu: float, claim: GaussianDP, told: ApproximateDP) -> tuple[Row, ...]:
    """Private quantiles, adaptive clips, correlated noise, iterates with intervals, and what mixes or has a pilot."""

    def quantile(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return mechanisms.quantiles(given, mu, rng.gumbel(size=(len(mechanisms.GRID), count)), knobs)

    correlated = _normal(mechanisms.correlated, mu, mechanisms.NEWER_STEPS)
    checkpoints = _normal(mechanisms.full_batch, mu, len(mechanisms.RATES))  # all iterates of the same descent

    def mixing(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        drawn = rng.standard_normal(count), rng.chisquare(mechanisms.ROWS, count)
        return mechanisms.mixing(given, mechanisms.mixing_plan(told, knobs.noise), *drawn)

    def iterated(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        plan = mechanisms.iterated_plan(told, knobs.noise)
        drawn = rng.standard_normal((plan.rounds, count)), rng.chisquare(mechanisms.ROWS, (plan.rounds, count))
        return mechanisms.iterated_mixing(given, plan, *drawn)

    def piloted(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return mechanisms.piloted(given, mechanisms.piloted_plan(told), knobs.noise * rng.standard_normal((3, count)))

    def row(name: str, module: str, draw: Draw, bound: Claim, worst: Neighbours, attained: bool) -> Row:
        return Row(name, RIVALS, f"rivals.{module}", bound, TRANSCRIBED, draw, worst, attained, hostile(OTHER))

    def slow(name: str, module: str, function: Callable[..., float]) -> Row:
        many = (EMPTY,) * 9
        draw = mechanisms.one_by_one(lambda given, knobs, rng: function(given, mu, knobs, rng))
        worst, odd = pair(many, *OPPOSITE), hostile((PLAIN, *many[1:]))
        return Row(name, RIVALS, f"rivals.{module}", claim, OWN, draw, worst, False, odd, share=0.003)

    far, corner = pair(EMPTIES, *OPPOSITE), pair((), (1.0, 1.0), (1.0, -1.0))
    return (
        row("private quantile", "private_quantile", quantile, claim, pair((), (1.0, 0.5), (1.0, 2.0)), False),
        slow("DP-AMBSSGD, adaptive clip", "adaptive_clipping", mechanisms.adaptive),
        slow("robust clipping", "robust_clipping", mechanisms.robust),
        row("DP-FTRL, one pass", "correlated_noise", correlated, claim, far, True),
        row("descent with checkpoints", "checkpoint_descent", checkpoints, claim, far, True),
        row("Gaussian mixing", "gaussian_mixing", mixing, told, corner, False),
        row("iterative Hessian mixing", "hessian_mixing", iterated, told, far, False),
        row("piloted objective perturbation", "piloted_perturbation", piloted, told, pair((), *OPPOSITE), False),
    )


Fault = tuple[Knobs, Neighbours, Draw]  # what is wrong, the neighbours, and how releases are drawn


def gross(row: Row) -> dict[str, Fault]:
    """The other faults that a row can have."""
    found: dict[str, Fault] = {}
    if row.unclipped is not None:
        found[FORGOTTEN] = (Knobs(clip=False), row.unclipped, row.draw)
    if row.unscaled is not None:
        found[SCALED] = (SOUND, row.unscaled, scaled(row.draw))
    return found


# ---- Audits: of each release as it is, on hostile records, and with deliberate faults ----

CONFIDENCE = 0.999  # of all audits of sound releases together
AS_IT_IS, HOSTILE, NOISE = "as it is", "hostile records", "noise too small"
NONE = float("nan")


@dataclass(frozen=True)
class Cell:
    """One release and what is tried on it.

    Args:
        name: of the row. tried: `AS_IT_IS`, `HOSTILE`, `NOISE`, or a gross fault. mu, delta: the standard setting.
        releases: on each neighbour. confidence: of each audit. deficits: of the noise, ascending, for `NOISE`. place:
            of the row, which names the stream.
    """

    name: str
    tried: str
    mu: float
    delta: float
    releases: int
    confidence: float
    deficits: tuple[float, ...]
    place: int

    @property
    def key(self) -> int:
        return 100 * self.place + sum(map(ord, self.tried)) % 97


@cache
def _ours(mu: float, delta: float) -> dict[str, Row]:
    return {row.name: row for row in ours(mu, delta)}


def audited(cell: Cell, row: Row, fault: Fault, *, rng: np.random.Generator) -> Audit:
    """The audit of one row with one fault, or none."""
    knobs, (first, second), draw = fault

    def scores(data: Any, count: int, source: np.random.Generator) -> np.ndarray:
        return draw(data, count, source, knobs)

    delta = row.at.delta if row.at else cell.delta
    releases = max(2, round(cell.releases * row.share))
    return audit_mechanism(scores, first, second, delta=delta, releases=releases, confidence=cell.confidence, rng=rng)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds on ε and μ, whether they refute the claim, and the deficit of the noise; shape (4,).

    Of hostile pairs the largest bounds; of deficits the smallest that is detected, or the last one.
    """
    row, budget = _row(cell), standard(cell.mu, cell.delta)
    tried: list[tuple[float, Fault]] = [(NONE, (SOUND, row.worst, row.draw))]
    if cell.tried == HOSTILE:
        tried = [(NONE, (SOUND, pair, row.draw)) for pair in row.hostile]
    elif cell.tried == NOISE:
        tried = [(deficit, (Knobs(1 - deficit), row.worst, row.draw)) for deficit in cell.deficits]
    elif cell.tried != AS_IT_IS:
        tried = [(NONE, gross(row)[cell.tried])]
    found, deficit, bounds, refuted = [], NONE, np.zeros(2), False
    for deficit, fault in tried:  # noqa: B007  (the last one is what is told)
        one = audited(cell, row, fault, rng=rng)
        found.append((one.epsilon, one.mu))
        bounds = np.max(found, axis=0) if cell.tried == HOSTILE else np.array(found[-1])
        refuted = row.exceeded(float(bounds[0]), float(bounds[1]), budget)
        if refuted:
            break
    return np.array([*bounds, refuted, deficit])


def cells(mu: float, delta: float, releases: int, hostile_releases: int, deficits: Sequence[float]) -> list[Cell]:
    """All that is tried. Only sound releases share the probability of an error: faults are judged as strictly."""
    ours = _ours(mu, delta)
    family = sum(1 + len(row.hostile) for row in ours.values())
    each, found = each_of(family, CONFIDENCE), []
    for place, row in enumerate(ours.values()):
        for tried in (AS_IT_IS, HOSTILE, NOISE, *gross(row)):
            drawn = hostile_releases if tried == HOSTILE else releases
            falling = tuple(deficits) if tried == NOISE else ()
            found.append(Cell(row.name, tried, mu, delta, drawn, each, falling, place))
    return found


def audits_measure(asked: Sequence[Cell], runner: Runner, seed: int) -> dict[str, pd.DataFrame]:
    """Tables ``releases``, one row for each, and ``audits``, one row for all that was tried."""
    audits = pd.DataFrame(
        [
            {"release": cell.name, "tried": cell.tried, "releases": round(cell.releases * _row(cell).share)}
            | {"epsilon": values[0, 0], "mu": values[0, 1], "refuted": bool(values[0, 2]), "deficit": values[0, 3]}
            for cell, values in runner.run(trial, asked, 1, seed).items()
        ]
    )
    return {"releases": _releases(asked, audits), "audits": audits}


def _row(cell: Cell) -> Row:
    return _ours(cell.mu, cell.delta)[cell.name]


def _releases(asked: Sequence[Cell], audits: pd.DataFrame) -> pd.DataFrame:
    found = []
    for cell in asked:
        if cell.tried != AS_IT_IS:
            continue
        row = _row(cell)
        own = audits[audits["release"] == cell.name].set_index("tried")
        gaussian, at = isinstance(row.claim, GaussianDP), row.at or standard(cell.mu, cell.delta)
        told: dict[str, object] = {"release": row.name, "part": row.part, "module": row.module, "run": row.run}
        told |= {"attained": row.attained, "gaussian": gaussian, "claimed_mu": cell.mu if gaussian else NONE}
        told |= {"claimed_epsilon": standard(cell.mu, cell.delta).epsilon, "delta": cell.delta}
        told |= {"audited_delta": at.delta, "audited_claim": at.epsilon}
        told |= {"releases": own.loc[AS_IT_IS, "releases"], "confidence": CONFIDENCE}
        told |= {f"{name}_found": own.loc[AS_IT_IS, name] for name in ("epsilon", "mu")}
        told |= {f"hostile_{name}": own.loc[HOSTILE, name] for name in ("epsilon", "mu")}
        told["refuted"] = bool(own.loc[[AS_IT_IS, HOSTILE], "refuted"].any())
        told["deficit"] = own.loc[NOISE, "deficit"] if own.loc[NOISE, "refuted"] else NONE
        told["least_deficit"] = detectable(cell.mu, round(cell.releases * row.share), cell.confidence)
        for name, fault in (("clip", FORGOTTEN), ("scaling", SCALED)):
            detected = own["refuted"].get(fault)  # None where the release cannot have the fault
            told[name] = "–" if detected is None else "detected" if detected else "not detected"
        found.append(told)
    return pd.DataFrame(found)


# ---- Exact laws on two neighbours: nothing is counted, so that little noise too few is found ----
#
# An audit by counts (`costofprivacy.privacy.audit`) finds a fault only if the events that show it are frequent. Where
# it is known from which numbers a release is drawn, its law on a data set can be computed, and hence the μ or the δ
# that it spends. Such an audit believes in the arithmetic of the release, which is the library's, or a transcription
# that a test holds to it. It is done in one of four ways.
#
# * **A mean and Gaussian noise** (`along`). The score is m + c·z for standard normals z, with one c for both data sets.
#   Then the likelihood ratio is a function of the score, and the release is |m − m'|/‖c‖-Gaussian DP on this pair,
#   neither more nor less. m and c are read off the function that draws, which is called with unit vectors for z.
# * **Several Gaussian mechanisms.** A guarantee covers all that they show, not only the last number. Their μ² add.
# * **A perturbed minimum** (`minimum`). θ̂ determines the noise b = −∇J(θ̂), on either data set. So the law of θ̂ is
#   that of b, and the density has the second derivative as a factor. With a pilot this is so around each of its ends.
# * **Choices and sketches**: the probabilities of the outcomes, or the law of the eigenvalues.
#
# A continuous release is read in cells. That is post-processing, so what the cells spend is a lower bound. The noise
# that pays for rounding is left out: it is for 10⁻³ of the budget.

Law = tuple[np.ndarray, np.ndarray]
"""Probabilities of the same outcomes on two neighbours."""

REACH, CELLS = 9.0, 500  # standard deviations around a mean that are read, and in how many cells
BEYOND = 1e-9  # probabilities below it prove no μ here
DEFICITS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.7, 0.9)  # that are tried, of the noise
PATHS = 20  # of descents whose next step depends on the noise
FOUND = 1e-6  # by how much a spent budget has to exceed the claimed one: what cells and functions may be wrong by
PLACES = np.arange(1.0, 6.0, 0.25)  # of a response, in standard deviations of a minimiser
STARTS = 120  # cells of a pilot's end
TIPPING = (np.array([50.5, 0.5]), np.array([50.5, 1000.0]))  # values on either side of a grid, and one between
GRID = np.arange(1.0, 101.0)  # so fine that its points between the two values hardly count
DEEP = (
    (0.0, 39),
    (0.025474794386374075, 10),
    (0.08081672831260425, 23),
    (429.4277694448821, 8),
    (529.7491476591711, 10),
)
STEEP = ((2.0, 0.2),) * 400  # records with which a step is twice too long
ORTHOGONAL = np.eye(2)
AT_ONCE = 12  # releases side by side: more than one has normals
TURNED = {  # the record has to be one of those that make a step, in the order as it is
    name: pair((EMPTY,) * 9, *OPPOSITE, place=5) for name in ("DP-AMBSSGD, adaptive clip", "robust clipping")
}
RELEASE, STEPS, PARTS, SKETCHES = "the release", "every step", "its three parts", "the whole sketches"
BOTH, PILOT = "both stages", "the pilot alone"


def delta(law: Law, epsilon: float) -> float:
    """The least δ with which two laws are (ε, δ)-close in both directions.

    >>> round(delta((np.array([0.5, 0.5]), np.array([0.25, 0.75])), math.log(1.5)), 3)
    0.125
    """
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum()) for a, b in (law, law[::-1]))


def mu(law: Law) -> float:
    """The largest Φ⁻¹(P) − Φ⁻¹(Q) over the events of the likelihood ratio.

    >>> round(mu((np.array([ndtr(0.5), ndtr(-0.5)]), np.array([0.5, 0.5]))), 6)
    0.5
    """
    P, Q = (side.cumsum() for side in _ordered(law))
    told = (np.minimum(P, Q) > BEYOND) & (np.maximum(P, Q) < 1 - BEYOND)
    return float((ndtri(P[told]) - ndtri(Q[told])).max(initial=0.0))


def _ordered(law: Law) -> Law:
    """The outcomes that prefer the first data set come first."""
    p, q = (side.ravel() for side in law)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(p / q, nan=1.0, posinf=np.inf))
    return p[order], q[order]


def composed(first: Law, *others: Law) -> Law:
    """Independent releases together; outcomes of nearly the same likelihood ratio are taken for one."""
    for other in others:
        p, q = _ordered((np.outer(first[0], other[0]), np.outer(first[1], other[1])))
        starts = np.unique(np.linspace(0, len(p), 2 * CELLS, endpoint=False).astype(int))
        first = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    return first


def gaussian(shift: float) -> Law:
    """N(0, 1) and N(shift, 1), in cells."""
    cuts = _cuts(-REACH, abs(shift) + REACH)
    return np.diff(ndtr(cuts)), np.diff(ndtr(cuts - abs(shift)))


def _cuts(low: float, high: float, cells: int = CELLS) -> np.ndarray:
    return np.concatenate([[-np.inf], np.linspace(low, high, cells), [np.inf]])


# releases that are a mean and Gaussian noise


class Units:
    """A source of noise for `AT_ONCE` releases side by side, the k-th with the k-th unit vector for its normals.

    All else that is drawn is the same for each: no permutation, and the likeliest choice.
    """

    def __init__(self) -> None:
        self.drawn = 0

    def standard_normal(self, size: Any) -> np.ndarray:
        """All normals of all releases, shape (k, `AT_ONCE`), one of each, or one of a single release."""
        found = np.zeros(size)
        if found.ndim == 2 and found.shape[1] == AT_ONCE:
            np.fill_diagonal(found, 1.0)
        elif len(found) == AT_ONCE:
            found[self.drawn] = 1.0
        elif self.drawn == 0:
            found[:] = 1.0
        self.drawn += 1
        return found

    def gumbel(self, size: Any) -> np.ndarray:
        return np.zeros(size)

    def permutation(self, n: int) -> np.ndarray:
        return np.arange(n)


def along(draw: Draw, two: Any, knobs: Knobs = SOUND) -> float:
    """μ on a pair of neighbours, of a release that is a mean and Gaussian noise: |m − m'|/‖c‖.

    A release has fewer than `AT_ONCE` normals.

    Raises:
        ValueError: if the noise moves the two differently.
    """
    first, second = (draw(one, AT_ONCE, Units(), knobs) for one in two)  # type: ignore[arg-type]
    middles, moved = (first[-1], second[-1]), (first - first[-1], second - second[-1])
    if not np.allclose(*moved, rtol=1e-6):
        raise ValueError("noise must move the release in the same way on both data sets")
    return float(abs(middles[0] - middles[1]) / np.linalg.norm(moved[0]))


# several Gaussian mechanisms


def whitened(claimed: float, noise: float) -> float:
    """μ of all that `noisyhead.whitened_descent.releases` shows: the least over some paths."""
    size = audit.D, audit.L, audit.N
    told = whitened_plan(*size, GaussianDP(claimed), every_token=False)
    seen = whitened_descent.releases(mechanisms.WHITENED_PAIR[0], told, PATHS, rng=np.random.default_rng(0))
    return math.sqrt(float(audit.spent(told, mechanisms.WHITENED_PAIR, seen).min())) / noise


def noisy_head(claimed: float, noise: float) -> float:
    """μ of all updates of Algorithm 1 on a pair with one Gram matrix, whose updates move by the cross moments alone."""
    first, second = (
        head.moments(mechanisms.bounded(one, SOUND)) for one in pair((EMPTY,) * (mechanisms.PROMPTS - 1), *OPPOSITE)
    )
    assert (first.gram == second.gram).all()
    moved = mechanisms.HYPER.learning_rate * float(np.abs(first.cross - second.cross).max())
    return moved * math.sqrt(mechanisms.HYPER.steps) / (noise * mechanisms.noisy_head_std(claimed, mechanisms.PROMPTS))


class Replayed:
    """A descent along with its own noise, or with the noise that makes its noisy sums those of another one.

    It is handed to `rivals.guarded_descent.descend` twice: for its sums of gradients, and for its source of noise.
    """

    def __init__(self, data: Data, stages: Sequence[batch_descent.Plan], other: Replayed | np.random.Generator) -> None:
        told = prepare(*data)
        slack = 1 + sums.slack(*told.shape)
        self.stds = [2 * each.clip_norm * slack * each.noise_multiplier for each in stages for _ in each.learning_rates]
        self.told, self.other = told, other
        self.iterates: list[np.ndarray] = []
        self.pulled: list[np.ndarray] = []
        self.noisy: list[np.ndarray] = []
        end = guarded_descent.descend(self.pulls, *told.shape, *stages, rng=self)  # type: ignore[arg-type]
        self.iterates.append(end[:, None])

    def pulls(self, theta: np.ndarray, clips: np.ndarray) -> np.ndarray:
        self.iterates.append(theta)
        self.pulled.append(self.told.pulls(theta, clips))
        return self.pulled[-1]

    def standard_normal(self, size: Any) -> np.ndarray:
        t, pull = len(self.noisy), self.pulled[-1]
        other = self.other
        noise = (other.noisy[t] - pull) / self.stds[t] if isinstance(other, Replayed) else other.standard_normal(size)
        self.noisy.append(pull + self.stds[t] * noise)
        return noise


def replayed(two: Pair, stages: Sequence[batch_descent.Plan]) -> float:
    """μ of all noisy sums of a guarded descent, on the least of some paths; ∞ if they do not determine the iterates.

    Both data sets are given the same noisy sums. What is done with these is the same then, unless something looks at
    the records besides. If it does, the iterates tell the data sets apart.
    """
    least = math.inf
    for path in range(PATHS):
        first = Replayed(two[0], stages, np.random.default_rng(path))
        second = Replayed(two[1], stages, first)
        if not np.allclose(first.iterates, second.iterates, rtol=1e-9, atol=1e-12):
            return math.inf
        moved = zip(first.pulled, second.pulled, first.stds, strict=True)
        least = min(least, math.sqrt(sum(float(((a - b) ** 2).sum()) / std**2 for a, b, std in moved)))
    return least


def guarded(claimed: float, noise: float) -> float:
    """μ of `rivals.guarded_descent` where steps are too long: on opposite records, and where the records turn."""
    stages = mechanisms.guarded_plan(claimed).plans
    return max(replayed(pair(STEEP, *each), stages) for each in (OPPOSITE, (STEEP[0], OPPOSITE[0]))) / noise


def sufficient(claimed: float, noise: float) -> float:
    """μ of the three parts of AdaSSP, or of its boosted form: matrix, least eigenvalue, and a vector or all rounds.

    With two features, a record that turns by a right angle moves the first two as far as one can. It moves Xᵀy by
    √2 BY, and with a response that is clipped the gradients by √2 C.
    """
    other, one = ORTHOGONAL[:1], np.ones(2)
    moments = [statistics.moments(np.vstack([other, turned]), one, mechanisms.BOUNDS) for turned in ORTHOGONAL]
    moved = (
        float(np.linalg.norm(moments[0].square - moments[1].square)) / math.sqrt(2),
        abs(statistics.smallest_eigenvalue(moments[0].square) - statistics.smallest_eigenvalue(moments[1].square)),
        float(np.linalg.norm(moments[0].product - moments[1].product)) / 2,
    )
    return claimed * math.hypot(*moved) / math.sqrt(3) / noise


# perturbed minima


def minimum(two: Pair, added: Perturbation, noise: float, starts: np.ndarray | float = 0.0) -> Law:
    """The law of θ̂ around some points, shape (starts, cells), through the noise that it determines on either data set.

    Features of both are within the bound.
    """
    starts = np.atleast_1d(starts)
    std, (low, high) = noise * added.noise_std, (starts.min(), starts.max())
    reach = REACH * std + added.penalty * max(abs(low), abs(high))
    values = np.linspace(-reach, reach, CELLS)
    kinks = [(y + side * added.clip_norm / x[:, 0]) / x[:, 0] for x, y in two for side in (-1.0, 1.0)]
    ends = [
        mechanisms.inverse_gradient(x[:, 0], y, huber.limits(x, added.clip_norm), added.penalty, values) for x, y in two
    ]
    cuts = np.unique(np.concatenate([*kinks, *ends]))
    sides = []
    for x, y in two:
        slope = mechanisms.gradients(x[:, 0], y, cuts, added.clip_norm) + added.penalty * cuts
        below = ndtr((slope - added.penalty * starts[:, None]) / std)  # θ̂ ≤ θ exactly if −b ≤ ∇J(θ) without b
        sides.append(np.diff(below, axis=1, prepend=0.0, append=1.0))
    return sides[0], sides[1]


def piloted(two: Pair, plan: piloted_perturbation.Plan, noises: tuple[float, float]) -> Law:
    """The law of the pilot's end, one step from 0, together with that of θ̂ around it; `mechanisms.piloted` draws θ̂."""
    assert plan.pilot is not None
    std = 2 * plan.pilot.clip_norm * plan.pilot.noise_multiplier * noises[0]
    factor = mechanisms.NEWER_RATE / len(two[0][1])
    pulls = [float(mechanisms.gradients(x[:, 0], y, np.zeros(1), plan.pilot.clip_norm)[0]) for x, y in two]
    cuts = _cuts(min(pulls) - REACH * std, max(pulls) + REACH * std, STARTS)
    shown = np.array([np.diff(ndtr((cuts - pull) / std)) for pull in pulls])
    middles = np.concatenate([cuts[1:2], (cuts[1:-2] + cuts[2:-1]) / 2, cuts[-2:-1]])
    first, second = minimum(two, plan.added, noises[1], -factor * middles)
    return shown[0][:, None] * first, shown[1][:, None] * second


# samples, choices and sketches


def sampled(multiplier: float, noise: float) -> Law:
    """All noisy sums of `rivals.batch_descent` on samples: the record is drawn or not, on opposite sides."""
    shift = 1 / (2 * multiplier * noise)
    cuts = _cuts(-REACH - shift, REACH + shift)
    middle = np.diff(ndtr(cuts))
    q = mechanisms.SAMPLING
    one, two = ((1 - q) * middle + q * np.diff(ndtr(cuts - side)) for side in (shift, -shift))
    return composed(*[(one, two)] * len(mechanisms.SAMPLED_RATES))


def quantile(claimed: float, noise: float) -> Law:
    """A grid of two points, between which a record tips the scale."""
    eta = private_quantile.exponent(GaussianDP(claimed)) / noise
    first, second = (softmax(-eta * private_quantile.misses(values, mechanisms.LEVEL, GRID)) for values in TIPPING)
    return first, second


def deep_point(budget: ApproximateDP, noise: float) -> Law:
    """TukeyEM's point, in cells between the solutions of either data set; the first outcome is no draw."""
    told = ApproximateDP(budget.epsilon / noise, budget.delta)
    others = [place for place, times in DEEP for _ in range(times)]
    first, second = (np.sort(np.append(others, one)) for one in (DEEP[-1][0], DEEP[0][0]))
    cuts = np.unique(np.concatenate([first, second]))
    return _deep(first, told, cuts), _deep(second, told, cuts)


def _deep(ordered: np.ndarray, budget: ApproximateDP, cuts: np.ndarray) -> np.ndarray:
    """Probabilities of no draw, of each cell and of each solution, as `tukey.release` makes them."""
    half, m, volumes = budget.epsilon / 2, len(ordered), tukey.log_volumes(ordered[:, None])
    depth = m // 4
    above = tukey.count_threshold(budget) - tukey.stable_count(volumes, depth, half, budget.delta)
    drawn = 1 - math.exp(half * above) / 2 if above < 0 else math.exp(-half * above) / 2
    within = np.exp(volumes[depth - 1 :])
    shells = within - np.append(within[1:], 0.0)
    weights = shells * np.exp(half / 2 * np.arange(1.0 - len(within), 1.0))
    density, points = np.zeros(len(cuts) - 1), np.zeros(len(cuts))
    if not weights.any():  # all of the box is one point
        points[cuts == ordered[depth - 1]] = drawn
    for k in np.flatnonzero(weights) + depth:
        inside = _between(cuts, ordered[k - 1], ordered[m - k])
        if k < len(volumes):
            inside &= ~_between(cuts, ordered[k], ordered[m - 1 - k])
        density[inside] += weights[k - depth] / weights.sum() / shells[k - depth]
    return np.concatenate([[1 - drawn], drawn * density * np.diff(cuts), points])


def _between(cuts: np.ndarray, low: float, high: float) -> np.ndarray:
    found: np.ndarray = (cuts[:-1] >= low) & (cuts[1:] <= high)
    return found


def sketched(covariances: Sequence[np.ndarray], rows: int) -> Law:
    """The law of so many rows of N(0, Σ) and N(0, Σ'): where both are diagonal, the squares of each coordinate."""
    laws = []
    least, most = chi2.ppf(BEYOND**2, rows), chi2.isf(BEYOND**2, rows)
    for ratio in eigvalsh(*covariances):
        cuts = np.concatenate([[0.0], np.linspace(least * min(1, ratio), most * max(1, ratio), CELLS), [np.inf]])
        laws.append((np.diff(chi2.cdf(cuts / ratio, rows)), np.diff(chi2.cdf(cuts, rows))))
    return composed(*laws)


def mixing(budget: ApproximateDP, noise: float) -> Law:
    """The whole sketch of a record whose features and response turn by a right angle."""
    plan = mechanisms.mixing_plan(budget, noise)
    turned = np.array([[1.0, plan.response_scale], [1.0, -plan.response_scale]])
    return sketched([np.outer(one, one) + mechanisms.least(plan) * np.eye(2) for one in turned], plan.rows)


def iterated_mixing(budget: ApproximateDP, noise: float) -> Law:
    """The sketches and gradients of all rounds, of a record whose features turn by a right angle."""
    plan = mechanisms.iterated_plan(budget, noise)
    covariances = [np.outer(one, one) + mechanisms.least(plan) * np.eye(2) for one in ORTHOGONAL]
    return composed(sketched(covariances, plan.rows * plan.rounds), gaussian(plan.gradients.mu / math.sqrt(2)))


# the table


def pilot(told: ApproximateDP, noise: float) -> float:
    """μ of the pilot alone over what its plan claims, by `rivals.guarded_descent.release`."""
    plan = mechanisms.piloted_plan(told).pilot
    assert plan is not None
    faulty = replace(plan, noise_multiplier=noise * plan.noise_multiplier)

    def release(data: Data, knobs: Knobs, rng: np.random.Generator) -> float:
        return float(guarded_descent.release(*data, faulty, rng=rng)[0])

    claimed = math.sqrt(len(plan.learning_rates)) / plan.noise_multiplier
    return along(mechanisms.one_by_one(release), pair((), *OPPOSITE)) / claimed


def both_stages(told: ApproximateDP, first: float, second: float) -> float:
    """δ of a pilot and its perturbed minimum at the claimed ε, over the claimed δ, with factors of their noise."""
    plan = mechanisms.piloted_plan(told)
    return worst(lambda two: piloted(two, plan, (first, second)), told, plan.added)


def objective(told: ApproximateDP, noise: float) -> float:
    """The same of objective perturbation alone."""
    added = mechanisms.objective_plan(told)
    return worst(lambda two: minimum(two, added, noise), told, added)


def worst(law: Callable[[Pair], Law], told: ApproximateDP, added: Perturbation) -> float:
    """The largest δ over δ on pairs of which one record bends the loss where the other one is clipped."""
    scale = added.noise_std / added.penalty  # by which the noise moves a minimum
    pairs = (pair((), (1.0, place * scale), (1.0, -FAR)) for place in PLACES)
    return max(delta(law(two), told.epsilon) for two in pairs) / told.delta


Spent = Callable[[float], float]
"""Factor of the noise ↦ what is spent over what is claimed: of μ, or of δ at the claimed ε."""


def audits(claimed: float, at: float) -> list[tuple[str, str, bool, Spent]]:
    """Of each release at the standard (μ, δ): its name, what is looked at, whether μ is compared, and what is spent."""
    told = standard(claimed, at)
    multiplier = mechanisms.sampled_multiplier(told)
    gaussian_parts: dict[str, tuple[str, Spent]] = {
        "NoisyHead": (STEPS, lambda noise: noisy_head(claimed, noise)),
        "whitened head": (STEPS, lambda noise: whitened(claimed, noise)),
        "guarded descent, two stages": (STEPS, lambda noise: guarded(claimed, noise)),
        "AdaSSP": (PARTS, lambda noise: sufficient(claimed, noise)),
        "boosted AdaSSP": (PARTS, lambda noise: sufficient(claimed, noise)),
        "private quantile": (RELEASE, lambda noise: mu(quantile(claimed, noise))),
    }
    deltas: dict[str, tuple[str, Spent]] = {
        "objective perturbation": (RELEASE, lambda noise: objective(told, noise)),
        "piloted objective perturbation": (BOTH, lambda noise: both_stages(told, noise, noise)),
    }
    laws: dict[str, tuple[str, Callable[[float], Law]]] = {
        "DP-SGD, Poisson samples": (STEPS, lambda noise: sampled(multiplier, noise)),
        "TukeyEM": (RELEASE, lambda noise: deep_point(told, noise)),
        "Gaussian mixing": (SKETCHES, lambda noise: mixing(told, noise)),
        "iterative Hessian mixing": (SKETCHES, lambda noise: iterated_mixing(told, noise)),
    }

    def audit_of(row: Row) -> tuple[str, str, bool, Spent]:
        own, two = row.at or told, TURNED.get(row.name, row.worst)
        if row.name in deltas:
            return row.name, deltas[row.name][0], False, deltas[row.name][1]
        if row.name in laws:
            seen, law = laws[row.name]
            return row.name, seen, False, lambda noise: delta(law(noise), own.epsilon) / own.delta
        seen, spent = gaussian_parts.get(row.name, (RELEASE, lambda noise: along(row.draw, two, Knobs(noise))))
        return row.name, seen, True, lambda noise: spent(noise) / claimed

    found = [audit_of(row) for row in ours(claimed, at)]
    return [*found, (found[-1][0], PILOT, True, lambda noise: pilot(told, noise))]


def table(claimed: float, at: float) -> pd.DataFrame:
    """Table ``exact``: what each release spends over its claim, and the first of `DEFICITS` with which it is more."""
    lines = []
    for name, seen, gaussian_claim, spent in audits(claimed, at):
        found = next((deficit for deficit in DEFICITS if spent(1 - deficit) > 1 + FOUND), math.nan)
        told = {"release": name, "seen": seen, "compared": "μ" if gaussian_claim else "δ", "spent": spent(1.0)}
        lines.append(told | {"deficit": found})
    return pd.DataFrame(lines)


class Experiment(Parameters):
    """Audits of every release at one standard setting."""

    mu: float = parameter(amount(0.1, 5.0), 1.0)
    """Gaussian privacy parameter of the standard setting; other releases have the same ε at δ."""
    delta: float = parameter(chance(1e-50, 0.04), 1e-5)
    releases: int = parameter(count(100, 10**8), 10**6)
    """Releases of each of two neighbours in an audit."""
    hostile_releases: int = parameter(count(100, 10**8), 10**5)
    """Releases of each of two neighbours with hostile records."""
    deficits: tuple[float, ...] = many(chance(1e-3, 0.99), 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, ascending=True)
    """Shares by which the noise is deliberately too small."""
    seed: int = parameter(SEED, 25)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of our releases and their laws, of transcribed packages, and of the runs in extra environments."""
        asked = cells(self.mu, self.delta, self.releases, self.hostile_releases, self.deficits)
        others = {"transcribed": software.transcribed(self.releases, self.seed)}
        runs = {f"{name}-runs": software.table(name) for name in software.CASES}
        known = {"exact": table(self.mu, self.delta)}
        return audits_measure(asked, runner, self.seed) | known | others | runs
