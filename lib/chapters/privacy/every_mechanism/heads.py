r"""The heads' releases on few small prompts. Three are the library's own code; NoisyHead is transcribed in D = 1.

See `descents` for what a transcription is.
"""

from __future__ import annotations

import math

import numpy as np

from chapters.noisyhead.a_head_that_works import audit
from chapters.privacy.every_mechanism.records import SOUND, Data, Knobs, prompts
from costofprivacy.noisyhead import head, per_prompt, pretraining, private_ridge, whitened_descent
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import GaussianDP, sums

CLIP, FEATURE = 1.0, 1.0  # C and G
PROMPTS = 4  # N of NoisyHead
HYPER = Hyperparameters(CLIP, FEATURE, 0.02, 1e-3, 0.01, 2)  # R is small against C/G: (A.1) is then nearly attained
RIDGE = private_ridge.PrivateRidge(CLIP, FEATURE, 50.0, 2)  # λN is large against G²: the sensitivity is nearly attained
D = 2
STEPS, RATE = 2, 0.5  # of the head that clips each prompt
ALONE = 10_000  # releases side by side
UNBOUNDED = 1e12


def bounded(data: Data, knobs: Knobs) -> head.Statistics:
    """Statistics clipped at C and projected at G; as they are where the clip is forgotten."""
    drawn = prompts(data)
    if not knobs.clip:
        return head.statistics(drawn)
    return head.project(head.statistics(drawn, CLIP), FEATURE)


def noisy_head(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """Γ^T of Algorithm 1 (`noisyhead.pretraining.release`) for D = 1, shape (count,).

    Args:
        data: N records, as prompts. mu: of all T steps together. normals: z of each step, shape (T, count). knobs: what
            is wrong.
    """
    moments = head.moments(bounded(data, knobs))
    gram, cross, rate = float(moments.gram[0, 0]), float(moments.cross[0]), HYPER.learning_rate
    std, Gamma = knobs.noise * noisy_head_std(mu, len(data[0])), np.zeros(normals.shape[1])
    for z in normals:
        Gamma = Gamma * (1 - 2 * HYPER.penalty * rate - rate * gram) + rate * cross + std * z
        Gamma = np.clip(Gamma, -HYPER.weight_bound, HYPER.weight_bound)
    return Gamma


def noisy_head_std(mu: float, N: int) -> float:
    """s with which T steps spend μ together, by the bound (A.1), rounding included."""
    allowed = pretraining.update_sensitivity(HYPER, N) * (1 + sums.slack(N, 1))
    return allowed * math.sqrt(HYPER.steps) / mu


def dp_ridge(data: Data | head.Statistics, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """⟨Γ̂ + W, U⟩ by `noisyhead.private_ridge.components`, shape (count,); U is along the difference of `RIDGE_PAIR`.

    Args:
        data: two records, as prompts in D = 2, or statistics. mu: of one release. count, rng, knobs: as usual.
    """
    stats = (
        data if isinstance(data, head.Statistics) else head.statistics(prompts(data, D), CLIP if knobs.clip else np.inf)
    )
    stats = head.project(stats, FEATURE) if knobs.clip else stats
    moments, std = head.moments(stats), knobs.noise * private_ridge.sensitivity(RIDGE) / mu
    if knobs.clip:
        return private_ridge.components(moments, RIDGE, std, RIDGE_DIRECTION, count, rng=rng)
    middle = float(ridge(moments, RIDGE.penalty).reshape(-1) @ RIDGE_DIRECTION)  # `components` refuses such moments
    return middle + std * rng.standard_normal(count)


def _ridge_direction() -> np.ndarray:
    first, second = (ridge(head.moments(one), RIDGE.penalty).reshape(-1) for one in RIDGE_PAIR)
    found: np.ndarray = (first - second) / np.linalg.norm(first - second)
    return found


def _lengthened(data: head.Statistics) -> head.Statistics:
    """The last prompt's context twenty times as long."""
    context = data.context.copy()
    context[-1] *= 20.0
    return head.Statistics(data.query, context, data.response)


RIDGE_PAIR = private_ridge.worst_neighbours(RIDGE, D)
RIDGE_UNCLIPPED = _lengthened(RIDGE_PAIR[0]), _lengthened(RIDGE_PAIR[1])
RIDGE_DIRECTION = _ridge_direction()


def per_prompt_head(data: Data, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """Γ of the last iterate by `noisyhead.per_prompt.descend_apart`, D = 1, shape (count,).

    Args:
        data: records, as prompts. mu: of all steps together. count, rng, knobs: as usual.
    """
    drawn, clip = prompts(data), CLIP if knobs.clip else UNBOUNDED
    std = knobs.noise * per_prompt.sensitivity(CLIP, len(data[0])) * math.sqrt(STEPS) / mu
    told, found = per_prompt.Plan(STEPS, clip, RATE, std), []
    for start in range(0, count, ALONE):
        plans = [told] * min(ALONE, count - start)
        gradient = per_prompt.linear_gradient(drawn, plans)
        initial = np.zeros((len(plans), 1, 1))
        found.append(per_prompt.descend_apart(gradient, initial, plans, rng=rng).last[:, 0, 0])
    return np.concatenate(found)


Examples = audit.Examples
WHITENED = audit.pairs(every_token=False)
WHITENED_PAIR = WHITENED["both"]


def whitened(data: Examples, mu: float, count: int, rng: np.random.Generator, knobs: Knobs = SOUND) -> np.ndarray:
    """The likelihood ratio, as its logarithm, of all that `noisyhead.whitened_descent.releases` shows, shape (count,).

    Args:
        data: one of `WHITENED_PAIR`. mu: of a whole release. count, rng, knobs: as usual.
    """
    told = plan(audit.D, audit.L, audit.N, GaussianDP(mu), every_token=False)
    slack = 1.0 if knobs.clip else UNBOUNDED
    values = {name: getattr(told, name) for name in ("gains", "N", "budget")}
    values["clip_norms"] = tuple(slack * norm for norm in told.clip_norms)
    values |= {name: slack * getattr(told, name) for name in ("feature_norm", "context_norm")}
    factor = knobs.noise / slack
    faulty = audit.FaultyPlan(**values, moment_factor=factor, step_factor=factor)
    found = []
    for start in range(0, count, ALONE):
        seen = whitened_descent.releases(data, faulty, min(ALONE, count - start), rng=rng)
        found.append(audit.log_ratio(faulty, WHITENED_PAIR, seen))
    return np.concatenate(found)
