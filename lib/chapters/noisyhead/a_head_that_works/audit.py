r"""`noisyhead.whitened_descent` audited on neighbours that come near to its sensitivity, as it is and with faults.

Of two prompts one is void and the other is replaced; D = 2. What a pair can tell of the mechanism is the sum of
‖mean − mean'‖²/std² over the releases, of which the claim is μ². Where every token is asked, as in the result:

* ``tokens``: all tokens along e₁, or all along e₂: orthogonal moments, 0.4 μ², and gradients at a right angle, 0.3 μ²;
* ``response``: two tokens along e₁, all others 0; their responses agree, or one has the other sign: opposite
  gradients, nearly 0.6 μ².

Where the last token alone is asked its response may be as far as one likes, and there are two more ways:

* ``response``: the same tokens, opposite responses to the query: opposite gradients, 0.6 μ²;
* ``both``: orthogonal tokens, of which those with a label are along e₁ in both and all but 0 in one, and opposite
  responses: 0.2 μ² + 0.1 μ² + 0.6 μ².

The score is the logarithm of the likelihood ratio of all that is released, along the transcript.
"""

from dataclasses import dataclass, fields
from functools import partial

import numpy as np
import pandas as pd

from costofprivacy.noisyhead import whitened_descent
from costofprivacy.noisyhead.examples import Examples, examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.whitened_plan import Plan, plan
from costofprivacy.privacy import GaussianDP, audit_mechanism, detectable
from costofprivacy.privacy.audit import each_of

NONE = "none"
FAULTS = {  # factors: of the noise, and of the clip norms
    NONE: (1.0, 1.0),
    "noise 30 % too small": (0.7, 1.0),
    "clip forgotten": (1.0, 1e12),
    "sensitivity off by 2": (0.5, 1.0),
}
D, L, N = 2, 6, 2
LONG, SHORT, FAR = 3.0, 0.01, 1e5  # tokens that are clipped, tokens next to nothing, responses beyond any answer
PAIRED = 7.0  # length of two tokens whose gradient is clipped, and not yet ruled by the head
AUDITED = ((True, "tokens"), (True, "response"), (False, "both"))  # (every token asked, pair)
CONFIDENCE = 0.999  # of all the audits of a table together

Pair = tuple[Examples, Examples]


@dataclass(frozen=True)
class FaultyPlan(Plan):
    """A plan whose releases have other noise than they need.

    Args:
        moment_factor, step_factor: of the standard deviation of the noise on moments and on steps.
    """

    moment_factor: float = 1.0
    step_factor: float = 1.0

    def moment_std(self, clip_norm: float) -> float:
        """As in `Plan`, with the factor."""
        return self.moment_factor * super().moment_std(clip_norm)

    def step_std(self, clip_norm: float) -> float:
        """As in `Plan`, with the factor."""
        return self.step_factor * super().step_std(clip_norm)


def faulty(told: Plan, fault: str) -> FaultyPlan:
    """A plan with one of `FAULTS` in every release. A clip norm is forgotten by one that nothing reaches.

    Args:
        told: the right plan. fault: a key of `FAULTS`.
    """
    noise, slack = FAULTS[fault]
    values = {field.name: getattr(told, field.name) for field in fields(Plan)}
    values["clip_norms"] = tuple(slack * norm for norm in told.clip_norms)
    for name in ("feature_norm", "context_norm"):
        values[name] = slack * values[name]
    return FaultyPlan(**values, moment_factor=noise / slack, step_factor=noise / slack)


def pairs(*, every_token: bool) -> dict[str, Pair]:
    """The pairs of neighbours, N = 2 prompts of L = 6 labelled tokens, for one way to ask."""
    along, ones = LONG * np.eye(D), np.ones(L)
    first = _data(np.tile(along[0], (L + 1, 1)), np.append(ones, 1.0 if every_token else FAR), every_token)
    across = _data(np.tile(along[1], (L + 1, 1)), np.append(ones, 1.0 if every_token else FAR), every_token)
    if every_token:
        two = PAIRED * np.eye(L + 1)[:, :2].sum(axis=1)[:, None] * np.eye(D)[0]
        agreeing, opposite = (_data(two, np.append([1.0, sign], np.zeros(L - 1)), True) for sign in (1.0, -1.0))
        return {"tokens": (first, across), "response": (agreeing, opposite)}
    opposite = _data(np.tile(along[0], (L + 1, 1)), np.append(ones, -FAR), False)
    query = SHORT * LONG * along[:1]
    long = _data(np.concatenate([np.tile(along[0], (L, 1)), query]), np.append(ones, FAR), False)
    hidden = np.concatenate([SHORT * along[:1], np.tile(along[1], (L - 1, 1)), query])
    short = _data(hidden, np.append(np.eye(L)[0], -FAR), False)
    return {"tokens": (first, across), "response": (first, opposite), "both": (long, short)}


def spent(told: Plan, pair: Pair, seen: whitened_descent.Transcript) -> np.ndarray:
    """Σ ‖mean − mean'‖²/std² over what each release shows, shape (B,): at most μ², whatever the pair."""
    first, second = (whitened_descent.means_along(data, told, seen) for data in pair)
    total = ((first.features - second.features) ** 2).sum(axis=(1, 2)) / told.moment_std(told.feature_norm) ** 2
    total = total + ((first.contexts - second.contexts) ** 2).sum(axis=(1, 2)) / told.moment_std(told.context_norm) ** 2
    moved: np.ndarray = ((first.gradients - second.gradients) ** 2).sum(axis=(2, 3)) / _variances(told)
    return total + moved.sum(axis=1)


def log_ratio(told: Plan, pair: Pair, seen: whitened_descent.Transcript) -> np.ndarray:
    """log p(seen | first)/p(seen | second), shape (B,)."""
    one, two = (_misfit(told, whitened_descent.means_along(data, told, seen), seen) for data in pair)
    return (two - one) / 2


def scores(told: Plan, pair: Pair, data: Examples, count: int, rng: np.random.Generator) -> np.ndarray:
    """`log_ratio` of so many releases on one of the pair, shape (count,)."""
    seen, own = whitened_descent.releases_and_means(data, told, count, rng=rng)
    first = data is pair[0]
    other = whitened_descent.means_along(pair[int(first)], told, seen)
    difference = (_misfit(told, other, seen) - _misfit(told, own, seen)) / 2
    return difference if first else -difference


def table(mu: float, delta: float, releases: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """What audits find of the mechanism, as it is and with each fault, on each pair.

    Args:
        mu: μ that the right mechanism spends, in (0, ∞); audits see most between 1 and 2.
        delta: δ in (0, 1). releases: of each mechanism on each input, at least 2. rng: source of all randomness.

    Returns:
        A row for each fault and pair: ``fault``, ``every_token``, ``pair``, ``mu``, ``delta``, ``exact_epsilon`` of
        μ-GDP, ``found_epsilon`` and ``found_mu`` (lower bounds, all of them together with ``confidence``), ``releases``
        that were drawn on each input, ``least_deficit`` of noise that a pair would show that attained the sensitivity.
    """
    exact, each = GaussianDP(mu).epsilon(delta), each_of(len(FAULTS) * len(AUDITED), CONFIDENCE)
    rows, least = [], detectable(mu, releases, each)
    for fault in FAULTS:
        for every, name in AUDITED:
            told, pair = plan(D, L, N, GaussianDP(mu), every_token=every), pairs(every_token=every)[name]
            score = partial(scores, faulty(told, fault), pair)
            found = audit_mechanism(score, *pair, delta=delta, releases=releases, confidence=each, rng=rng)
            row = {"fault": fault, "every_token": every, "pair": name, "mu": mu, "delta": delta, "exact_epsilon": exact}
            row |= {"found_epsilon": found.epsilon, "found_mu": found.mu, "confidence": CONFIDENCE}
            rows.append(row | {"releases": releases, "least_deficit": least})
    return pd.DataFrame(rows)


def _data(tokens: np.ndarray, responses: np.ndarray, every_token: bool) -> Examples:
    """A void prompt and one more, shapes (L + 1, D) and (L + 1,)."""
    x = np.stack([np.zeros_like(tokens), tokens])
    y = np.stack([np.zeros_like(responses), responses])
    return examples(Prompts(x, y, np.zeros((N, D))), every_token=every_token)


def _variances(told: Plan) -> np.ndarray:
    return np.array([told.step_std(norm) ** 2 for norm in told.clip_norms])


def _misfit(told: Plan, means: whitened_descent.Means, seen: whitened_descent.Transcript) -> np.ndarray:
    """Σ ‖seen − mean‖²/std², shape (B,)."""
    moments = ((seen.features - means.features) ** 2).sum(axis=(1, 2)) / told.moment_std(told.feature_norm) ** 2
    others = ((seen.contexts - means.contexts) ** 2).sum(axis=(1, 2)) / told.moment_std(told.context_norm) ** 2
    steps: np.ndarray = (((seen.gradients - means.gradients) ** 2).sum(axis=(2, 3)) / _variances(told)).sum(axis=1)
    return moments + others + steps
