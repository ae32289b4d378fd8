"""The releases that are audited: what each claims, how many releases of it are made, and on which neighbours.

A row is data: to add a release, write a function that draws many, and name its claim and its neighbours here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chapters.privacy.every_mechanism import descents, heads, newer, solutions
from chapters.privacy.every_mechanism.records import EMPTY, FAR, LONG, PLAIN, SOUND, Data, Knobs, hostile, pair, scaled
from costofprivacy.noisyhead.examples import examples
from costofprivacy.privacy import ApproximateDP, GaussianDP, GaussianMechanism
from costofprivacy.rivals import batch_descent, tukey
from costofprivacy.rivals.bounds import Bounds

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


OTHER = (PLAIN, (-0.5, 0.2))  # ordinary records beside the one that is replaced
EMPTIES = (EMPTY, EMPTY)  # records that leave all to the one that is replaced
OPPOSITE = ((1.0, FAR), (1.0, -FAR))  # gradients that are clipped, in opposite directions
UNCLIPPED = ((1.0, 20.0), (1.0, -20.0))  # where a clip is forgotten, twenty times as far apart
STRETCHED = ((LONG, 0.0), (1.0, 0.0))  # one changes the scale of all


def _mechanisms(mu: float, claim: GaussianDP) -> tuple[Row, ...]:
    """The Gaussian mechanism on a sum of bounded numbers, and DP-GD."""
    bounds = Bounds(1.0, 0.5)

    def total(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        value = float((bounds.clip(*given)[1] if knobs.clip else given[1]).sum())
        return GaussianMechanism(1.0, knobs.noise / mu).release(np.full(count, value), rng=rng)

    def last_iterate(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return descents.dp_gd(given, mu, rng.standard_normal((len(given[0]), count)), knobs)

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
    """NoisyHead, DP-ridge and the heads that clip each prompt."""
    three = (EMPTY,) * (heads.PROMPTS - 1)

    def algorithm(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return heads.noisy_head(given, mu, rng.standard_normal((heads.HYPER.steps, count)), knobs)

    def with_mu(function: Callable[..., np.ndarray]) -> Draw:
        return lambda given, count, rng, knobs: function(given, mu, count, rng, knobs)

    return (
        Row(
            "NoisyHead", OURS, "noisyhead.pretraining", claim, TRANSCRIBED, algorithm, pair(three, *OPPOSITE), True,
            hostile((PLAIN, *three[1:])), pair(three, *UNCLIPPED),
        ),
        Row(
            "DP-ridge", OURS, "noisyhead.private_ridge", claim, OWN, with_mu(heads.dp_ridge), heads.RIDGE_PAIR, True,
            hostile((PLAIN,)), heads.RIDGE_UNCLIPPED,
        ),
        Row(
            "per-prompt clipped head", OURS, "noisyhead.per_prompt", claim, OWN, with_mu(heads.per_prompt_head),
            pair(EMPTIES, *OPPOSITE), True, hostile(OTHER), pair(EMPTIES, *UNCLIPPED),
        ),
        Row(
            "whitened head", OURS, "noisyhead.whitened_descent", claim, OWN, with_mu(heads.whitened),
            heads.WHITENED_PAIR, False, _hostile_examples(), heads.WHITENED_PAIR, share=0.1,
        ),
    )  # fmt: skip


def _hostile_examples() -> tuple[Neighbours, ...]:
    """The hostile records as examples of the whitened head, beside a prompt of zeros."""
    made = [tuple(heads.prompts(one, heads.D) for one in two) for two in hostile((EMPTY,), 1)]
    return tuple((examples(a, every_token=False), examples(b, every_token=False)) for a, b in made)


def _descents(mu: float, claim: GaussianDP, told: ApproximateDP) -> tuple[Row, ...]:
    """Descents on all records and on samples."""
    plan, multiplier = descents.shrinking_plan(mu), descents.sampled_multiplier(told)
    stages = descents.guarded_plan(mu)

    def full(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return descents.full_batch(given, mu, rng.standard_normal((len(descents.RATES), count)), knobs)

    def guarded(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        steps = sum(len(each.learning_rates) for each in stages.plans)
        return descents.guarded(given, stages, rng.standard_normal((steps, count)), knobs)

    def shrinking(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return descents.shrinking(given, plan, rng.standard_normal((plan.rounds, count)), knobs)

    def samples(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        steps = len(descents.SAMPLED_RATES)
        uniforms = rng.random((steps, len(given[0]), count))
        return descents.sampled(given, multiplier, uniforms, rng.standard_normal((steps, count)), knobs)

    def row(name: str, module: str, draw: Draw, bound: Claim, attained: bool, at: ApproximateDP | None = None) -> Row:
        return Row(
            name, RIVALS, module, bound, TRANSCRIBED, draw, pair(EMPTIES, *OPPOSITE), attained, hostile(OTHER),
            pair(EMPTIES, *UNCLIPPED), pair(OTHER, *STRETCHED), at=at,
        )  # fmt: skip

    wide = batch_descent.spent_epsilon(multiplier, descents.SAMPLING, len(descents.SAMPLED_RATES), WIDE)
    return (
        row("clipped descent, all records", "rivals.batch_descent", full, claim, True),
        row("guarded descent, two stages", "rivals.guarded_descent", guarded, claim, False),
        row("DP-SGD, Poisson samples", "rivals.batch_descent", samples, told, False, ApproximateDP(wide, WIDE)),
        row("descent with a shrinking clip", "rivals.shrinking_clip", shrinking, claim, True),
    )


def _solved(mu: float, told: ApproximateDP) -> tuple[Row, ...]:
    """Minimisers, normal equations, and a deep point."""
    claim, added = GaussianDP(mu), solutions.objective_plan(told)

    def output(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return solutions.output(given, mu, count, rng, knobs)

    def objective(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return solutions.objective(given, added, rng.standard_normal((2, count)), knobs)

    def normal(function: Callable[..., np.ndarray], parts: int) -> Draw:
        return lambda given, count, rng, knobs: function(given, mu, rng.standard_normal((parts, count)), knobs)

    def row(name: str, module: str, run: str, draw: Draw, bound: Claim, worst: Neighbours, attained: bool) -> Row:
        return Row(
            name, RIVALS, module, bound, run, draw, worst, attained, hostile(OTHER), pair(EMPTIES, *UNCLIPPED),
            pair(OTHER, *STRETCHED),
        )  # fmt: skip

    fixed, corner = pair((), *OPPOSITE), pair((), (1.0, 1.0), (1.0, -1.0))
    adassp, boosted = normal(solutions.adassp, 3), normal(solutions.boosted, 2 + solutions.ROUNDS)
    return (
        row("output perturbation", "rivals.output_perturbation", OWN, output, claim, fixed, True),
        row("objective perturbation", "rivals.objective_perturbation", TRANSCRIBED, objective, told, fixed, False),
        row("AdaSSP", "rivals.sufficient_statistics", TRANSCRIBED, adassp, claim, corner, False),
        row("boosted AdaSSP", "rivals.boosting", TRANSCRIBED, boosted, claim, fixed, False),
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
        return solutions.deep_points(points, budget, *drawn)

    others = tuple((1.0, point) for point, times in AT for _ in range(times))
    worst = pair(others, (1.0, AT[0][0]), (1.0, AT[-1][0]))
    return Row("TukeyEM", RIVALS, "rivals.tukey", told, TRANSCRIBED, draw, worst, False, hostile(others), share=0.3)


def _newer(mu: float, claim: GaussianDP, told: ApproximateDP) -> tuple[Row, ...]:
    """Private quantiles, adaptive clips, correlated noise, iterates with intervals, and what mixes or has a pilot."""

    def quantile(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return newer.quantiles(given, mu, rng.gumbel(size=(len(newer.GRID), count)), knobs)

    def correlated(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return newer.correlated(given, mu, rng.standard_normal((newer.STEPS, count)), knobs)

    def checkpoints(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return newer.checkpoints(given, mu, rng.standard_normal((len(descents.RATES), count)), knobs)

    def mixing(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        drawn = rng.standard_normal(count), rng.chisquare(newer.ROWS, count)
        return newer.mixing(given, newer.mixing_plan(told, knobs.noise), *drawn)

    def iterated(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        plan = newer.iterated_plan(told, knobs.noise)
        drawn = rng.standard_normal((plan.rounds, count)), rng.chisquare(newer.ROWS, (plan.rounds, count))
        return newer.iterated_mixing(given, plan, *drawn)

    def piloted(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return newer.piloted(given, newer.piloted_plan(told), knobs.noise * rng.standard_normal((3, count)))

    def alone(function: Callable[..., float]) -> Draw:
        return newer.one_by_one(lambda given, knobs, rng: function(given, mu, knobs, rng))

    def row(name: str, module: str, draw: Draw, bound: Claim, worst: Neighbours, attained: bool) -> Row:
        return Row(name, RIVALS, f"rivals.{module}", bound, TRANSCRIBED, draw, worst, attained, hostile(OTHER))

    def slow(name: str, module: str, function: Callable[..., float]) -> Row:
        many = (EMPTY,) * 9
        draw = alone(function)
        worst, odd = pair(many, *OPPOSITE), hostile((PLAIN, *many[1:]))
        return Row(name, RIVALS, f"rivals.{module}", claim, OWN, draw, worst, False, odd, share=0.003)

    far, corner = pair(EMPTIES, *OPPOSITE), pair((), (1.0, 1.0), (1.0, -1.0))
    return (
        row("private quantile", "private_quantile", quantile, claim, pair((), (1.0, 0.5), (1.0, 2.0)), False),
        slow("DP-AMBSSGD, adaptive clip", "adaptive_clipping", newer.adaptive),
        slow("robust clipping", "robust_clipping", newer.robust),
        row("DP-FTRL, one pass", "correlated_noise", correlated, claim, far, True),
        row("descent with checkpoints", "checkpoint_descent", checkpoints, claim, far, True),
        row("Gaussian mixing", "gaussian_mixing", mixing, told, corner, False),
        row("iterative Hessian mixing", "hessian_mixing", iterated, told, far, False),
        row("piloted objective perturbation", "piloted_perturbation", piloted, told, pair((), *OPPOSITE), False),
    )


Fault = tuple[Knobs, Neighbours, Draw]  # what is wrong, the neighbours, and how releases are drawn


def less_noise(row: Row, deficit: float) -> Fault:
    """Noise that is too small by a share."""
    return Knobs(1 - deficit), row.worst, row.draw


def gross(row: Row) -> dict[str, Fault]:
    """The other faults that a row can have."""
    found: dict[str, Fault] = {}
    if row.unclipped is not None:
        found[FORGOTTEN] = (Knobs(clip=False), row.unclipped, row.draw)
    if row.unscaled is not None:
        found[SCALED] = (SOUND, row.unscaled, scaled(row.draw))
    return found
