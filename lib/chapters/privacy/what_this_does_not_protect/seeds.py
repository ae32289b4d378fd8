"""A seeded run is no release: the noise is computed again and subtracted, and few seeds can be tried one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import Pair
from companion.streams import generator
from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.advantage import Advantage, largest_advantage, of_decisions, of_scores

RELEASED, UNDONE = "released", "less the noise of its seed"
LISTED, UNKNOWN = "seed from a short list", "seed unknown"
SECRET_SEED = 20_261_122


def undone(pair: Pair) -> pd.DataFrame:
    """How far the release is from the fit without noise, and how far it is less a fit of empty records, same seed."""
    released, clean = pair.fit(0, SECRET_SEED), pair.clean[0]
    values = {RELEASED: released, UNDONE: released - pair.noise_alone(SECRET_SEED)}
    rows = [{"what": name, "distance": float(np.linalg.norm(value - clean))} for name, value in values.items()]
    return pd.DataFrame(rows).assign(noise=pair.noise_std * np.sqrt(pair.d), n=pair.n, d=pair.d)


def attacks(pair: Pair, trials: int, guesses: int, seed: int) -> pd.DataFrame:
    """The advantage of two attackers who know all records but the response of the last.

    One fits the first data set with each seed of a list, and compares bits. One knows no seed and takes the likelihood
    ratio, the best that there is.
    """
    rng = generator(seed, 0, 0)
    noise = np.array([np.random.default_rng(s).standard_normal(pair.d) for s in range(guesses)])
    tried = {released.tobytes() for released in pair.releases(0, noise)}
    used = rng.integers(guesses, size=(2, trials))
    bits = [np.array([released.tobytes() in tried for released in pair.releases(k, noise[used[k]])]) for k in (0, 1)]
    scores = [pair.score(pair.releases(k, rng.standard_normal((trials, pair.d)))) for k in (0, 1)]
    found = {LISTED: of_decisions(bits[0], bits[1]), UNKNOWN: of_scores(scores[0], scores[1])}
    return pd.DataFrame([row(name, told, GaussianDP(pair.rho)) for name, told in found.items()]).assign(guesses=guesses)


def row(attack: str, told: Advantage, promised: GaussianDP) -> dict[str, object]:
    """A measured advantage beside the largest that the guarantee allows."""
    return {
        "attack": attack,
        "advantage": told.value,
        "standard_error": told.standard_error,
        "hits": told.hits,
        "false_alarms": told.false_alarms,
        "trials": told.releases,
        "bound": largest_advantage(promised),
    }
