"""Choosing the best of several private runs: what it spends, exactly and measured, and what a random number saves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from companion.streams import generator
from costofprivacy.privacy import GaussianDP, audit_mechanism, detectable, selection
from costofprivacy.privacy.advantage import of_scores
from costofprivacy.privacy.audit import each_of

CONFIDENCE = 0.99  # of all the audits of a table together


def table(runs: Sequence[int], run: GaussianDP, delta: float) -> pd.DataFrame:
    """ε of one run, of the best of k exactly and by composition, and of the best of a random number of mean k."""
    rows = []
    for k in runs:
        found = {
            "one": run.epsilon(delta),
            "best": selection.best_of_epsilon(run, k, delta),
            "composed": selection.composed_epsilon(run, k, delta),
            "stopped_at_least": selection.random_stopping_attack(run, k, delta),
            "stopped_at_most": selection.random_stopping_epsilon(run, k, delta),
            "advantage": selection.best_of_advantage(run, k),
        }
        rows.append({"runs": k, "delta": delta} | found)
    return pd.DataFrame(rows)


def audited(runs: Sequence[int], run: GaussianDP, delta: float, releases: int, seed: int) -> pd.DataFrame:
    """Lower bounds on ε and μ from releases of the best of k alone, that know nothing of how they were made.

    ``least_deficit``: the least by which the noise of one run could be too small for an audit of its μ to show that.
    """
    rows, each = [], each_of(max(len(runs), 1), CONFIDENCE)
    least = detectable(run.mu, releases, each)
    for k in runs:

        def scores(shift: float, count: int, rng: np.random.Generator, runs: int = k) -> np.ndarray:
            """Low scores speak for the first, whose runs score 0; the second's score μ."""
            return -(rng.standard_normal((count, runs)).max(axis=1) + shift)

        rng = generator(seed, k, 1)
        told = audit_mechanism(scores, 0.0, run.mu, delta=delta, releases=releases, confidence=each, rng=rng)
        seen = of_scores(scores(0.0, releases, rng), scores(run.mu, releases, rng))
        found = {
            "delta": delta,
            "one": run.epsilon(delta),
            "best": selection.best_of_epsilon(run, k, delta),
            "epsilon": told.epsilon,
            "one_mu": run.mu,
            "mu": told.mu,
            "least_deficit": least,
            "confidence": CONFIDENCE,
            "releases": releases,
        }
        rows.append({"runs": k} | found | {"advantage": seen.value, "standard_error": seen.standard_error})
    return pd.DataFrame(rows)
