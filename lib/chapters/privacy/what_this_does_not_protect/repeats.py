"""Many releases, and many records of one person: what each adds up to, and an attack that gets all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import FAR, Pair, fit
from chapters.privacy.what_this_does_not_protect.seeds import row
from companion.streams import generator
from costofprivacy.privacy import ApproximateDP, GaussianDP, GaussianMechanism
from costofprivacy.privacy.advantage import of_scores
from costofprivacy.privacy.groups import group, group_approximate

AVERAGED = "average of releases"


def releases(counts: Sequence[int], one: GaussianDP, delta: float, trials: int, seed: int) -> pd.DataFrame:
    """ε after R releases of one Gaussian mechanism, and the measured advantage of an attack on their average.

    ``error`` is the average's standard deviation over that of one release.
    """
    mechanism, rows = GaussianMechanism(1.0, 1 / one.mu), []
    for R in counts:
        rng, total = generator(seed, R, 2), GaussianDP(math.sqrt(R) * one.mu)
        means = [mechanism.release(np.full((trials, R), value), rng=rng).mean(axis=1) for value in (1.0, 0.0)]
        found = {"releases": R, "epsilon": total.epsilon(delta), "error": means[0].std(ddof=1) / mechanism.noise_std}
        rows.append(found | row(AVERAGED, of_scores(means[0], means[1]), total))
    return pd.DataFrame(rows)


def groups(sizes: Sequence[int], pair: Pair, delta: float) -> pd.DataFrame:
    """One person with k records: how many standard deviations apart two fits are, and the ε that this is.

    ``mu`` is measured on fits without noise in which the person's k records, the last ones, all push one way or all the
    other; ``bound`` is kρ, ``epsilon`` belongs to it. ``delta_general`` is the δ at k times the one record's ε that
    follows from (ε, δ) alone.
    """
    one = ApproximateDP(GaussianDP(pair.rho).epsilon(delta), delta)
    X, y, _ = pair.data
    rows = []
    for k in sizes:
        features = X.copy()
        features[-k:] = X[-1]
        fits = [fit(features, np.append(y[:-k], np.full(k, v)), math.inf, 0) for v in (FAR, -FAR)]
        told, moved = group(GaussianDP(pair.rho), k), float(np.linalg.norm(fits[0] - fits[1]))
        found = {"mu": moved / pair.noise_std, "bound": told.mu, "epsilon": told.epsilon(delta)}
        general = {"epsilon_general": k * one.epsilon, "delta_general": group_approximate(one, k)}
        rows.append({"records": k, "delta": delta} | found | general | {"advantage": float(told.delta(0.0))})
    return pd.DataFrame(rows)
