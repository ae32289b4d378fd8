"""Is the closed form right? Test errors of heads on fresh prompts beside what `noisyhead.best_head` says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import hash_of
from costofprivacy.noisyhead import head, token_laws
from costofprivacy.noisyhead.best_head import best_error, best_head, head_error, scale_without_data
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.streams import Runner

SPHERE, GAUSSIAN = "sphere", "gaussian"
HEADS = ("best", "no-data", "inverse")


@dataclass(frozen=True)
class Case:
    """A law of features, L and τ. condition: κ. prompts: fresh ones in a trial."""

    features: str
    condition: float
    D: int
    L: int
    label_noise: float
    prompts: int

    @property
    def key(self) -> int:
        """A stream for each case."""
        return hash_of(int(self.features == SPHERE), round(1000 * self.condition), self.D, self.L)

    @property
    def law(self) -> TokenLaw:
        """Directions along the axes: rotations change no test error."""
        if self.features == SPHERE:
            return token_laws.sphere(self.D)
        return token_laws.gaussian(np.diag(token_laws.eigenvalues(self.D, self.condition)))

    @property
    def heads(self) -> np.ndarray:
        """`HEADS`, shape (3, D, D)."""
        law = self.law
        best = best_head(law, self.L, self.label_noise)
        flat = scale_without_data(law, self.L, self.label_noise) * np.eye(self.D)
        return np.stack([best, flat, np.linalg.inv(law.covariance)])


CASES = [
    (SPHERE, 1.0, 5, 31, 0.0),
    (SPHERE, 1.0, 5, 31, 0.5),
    (SPHERE, 1.0, 20, 31, 0.0),
    (GAUSSIAN, 1.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 5, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.5),
    (GAUSSIAN, 100.0, 5, 63, 0.0),
]


def trial(case: Case, *, rng: np.random.Generator) -> np.ndarray:
    """Mean square error of each of `HEADS` on fresh prompts."""
    prompts = token_laws.sample(case.law, case.prompts, case.L, case.label_noise, rng=rng)
    seen = head.statistics(prompts)
    return np.stack([((prompts.y[:, -1] - head.predict(Gamma, seen)) ** 2).mean() for Gamma in case.heads])


def table(runner: Runner, prompts: int, trials: int, seed: int) -> pd.DataFrame:
    """features, condition, D, L, label_noise, head, closed_form, test_error, standard_error, trials, least."""
    rows = []
    for case, values in runner.run(trial, [Case(*case, prompts) for case in CASES], trials, seed).items():
        mean, error = _fits.mean_and_error(values)
        exact = head_error(case.law, case.L, case.heads, case.label_noise)
        least = best_error(case.law, case.L, case.label_noise)
        where = {name: getattr(case, name) for name in ("features", "condition", "D", "L", "label_noise")}
        for name, closed, m, e in zip(HEADS, exact, mean, error, strict=True):
            rows.append(where | {"head": name, "closed_form": closed, "test_error": m, "standard_error": e})
            rows[-1] |= {"trials": len(values), "least": least}
    return pd.DataFrame(rows)
