"""Is the closed form right? Test errors of heads on fresh prompts beside what `noisyhead.best_head` says.

Four kinds of features, all with E‖x‖² = 1: the unit sphere, uniform; Gaussian; Gaussian ones brought to norm 1, which
lie on the unit sphere unevenly and have the spread s = 0 like all of constant norm; and the stretched sphere √D Σ^½ u,
which has no spread at all: `noisyhead.elliptical` has its closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.integrate import quad

from chapters.noisyhead.a_head_that_works.curves import hash_of
from companion import _fits
from companion.streams import Runner
from costofprivacy.noisyhead import elliptical, head, token_laws
from costofprivacy.noisyhead.best_head import best_error, best_head, head_error, scale_without_data
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw

GAUSSIAN, SPHERE, SHORTENED, STRETCHED = "gaussian", "sphere", "shortened", "stretched"
KINDS = (GAUSSIAN, SPHERE, SHORTENED, STRETCHED)
HEADS = ("best", "no-data", "inverse")


@dataclass(frozen=True)
class Case:
    """A law of features, L and τ. condition: κ, of what is shortened or stretched. prompts: fresh ones in a trial."""

    features: str
    condition: float
    D: int
    L: int
    label_noise: float
    prompts: int

    @property
    def key(self) -> int:
        """A stream for each case."""
        return hash_of(KINDS.index(self.features), round(1000 * self.condition), self.D, self.L)

    @property
    def values(self) -> np.ndarray:
        """Eigenvalues along the axes, of sum 1: rotations change no test error."""
        return token_laws.eigenvalues(self.D, self.condition)

    @property
    def law(self) -> TokenLaw:
        """Up to the moments that count; of a stretched sphere the covariance alone is right."""
        if self.features == SPHERE:
            return token_laws.sphere(self.D)
        if self.features == SHORTENED:
            return TokenLaw(np.diag(shortened_moments(self.values)), token_laws.CONSTANT_NORM)
        return token_laws.gaussian(np.diag(self.values))

    @property
    def heads(self) -> np.ndarray:
        """`HEADS`, shape (3, D, D)."""
        law, inverse = self.law, np.linalg.inv(self.law.covariance)
        if self.features == STRETCHED:
            best = np.diag(elliptical.best_linear(self.values, self.L, self.label_noise)[0])
            flat = elliptical.public_linear(self.values, self.L, self.label_noise)[0]
            return np.stack([best, flat * np.eye(self.D), inverse])
        flat = scale_without_data(law, self.L, self.label_noise)
        return np.stack([best_head(law, self.L, self.label_noise), flat * np.eye(self.D), inverse])

    @property
    def exact(self) -> np.ndarray:
        """Their test errors in closed form, shape (3,)."""
        if self.features == STRETCHED:
            return elliptical.linear_error(self.heads, np.eye(self.D), self.values, self.L, self.label_noise)
        return head_error(self.law, self.L, self.heads, self.label_noise)

    @property
    def least(self) -> float:
        """The least test error in closed form."""
        if self.features == STRETCHED:
            return elliptical.best_linear(self.values, self.L, self.label_noise)[1]
        return best_error(self.law, self.L, self.label_noise)


def shortened_moments(values: np.ndarray) -> np.ndarray:
    """E x_i²/‖x‖² for x ~ N(0, diag(values)), shape (D,), by 1/‖x‖² = ∫ exp(−t‖x‖²) dt over t > 0."""

    def part(t: float, value: float) -> float:
        return float(value / ((1 + 2 * t * value) * math.sqrt(np.prod(1 + 2 * t * values))))

    return np.array([quad(part, 0.0, math.inf, args=(value,))[0] for value in values])


CASES = [
    (SPHERE, 1.0, 5, 31, 0.0),
    (SPHERE, 1.0, 5, 31, 0.5),
    (SPHERE, 1.0, 20, 31, 0.0),
    (SHORTENED, 10.0, 5, 31, 0.0),
    (SHORTENED, 100.0, 5, 31, 0.0),
    (STRETCHED, 10.0, 5, 31, 0.0),
    (STRETCHED, 100.0, 5, 5, 0.0),
    (GAUSSIAN, 1.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.0),
    (GAUSSIAN, 10.0, 5, 5, 0.0),
    (GAUSSIAN, 10.0, 5, 31, 0.5),
    (GAUSSIAN, 100.0, 5, 63, 0.0),
]


def drawn(case: Case, *, rng: np.random.Generator) -> Prompts:
    """Fresh prompts of a case."""
    if case.features == STRETCHED:
        return elliptical.sample(np.diag(np.sqrt(case.values)), case.L, case.prompts, case.label_noise, rng=rng)
    if case.features == SHORTENED:
        long = token_laws.sample(token_laws.gaussian(np.diag(case.values)), case.prompts, case.L, rng=rng)
        x = long.x / np.linalg.norm(long.x, axis=2, keepdims=True)
        return Prompts(x, np.matmul(x, long.w[:, :, None])[:, :, 0], long.w)
    return token_laws.sample(case.law, case.prompts, case.L, case.label_noise, rng=rng)


def trial(case: Case, *, rng: np.random.Generator) -> np.ndarray:
    """Mean square error of each of `HEADS` on fresh prompts."""
    prompts = drawn(case, rng=rng)
    seen = head.statistics(prompts)
    return np.stack([((prompts.y[:, -1] - head.predict(Gamma, seen)) ** 2).mean() for Gamma in case.heads])


def table(runner: Runner, prompts: int, trials: int, seed: int) -> pd.DataFrame:
    """features, condition, D, L, label_noise, head, closed_form, test_error, standard_error, trials, least."""
    rows = []
    for case, values in runner.run(trial, [Case(*case, prompts) for case in CASES], trials, seed).items():
        mean, error = _fits.mean_and_error(values)
        where = {name: getattr(case, name) for name in ("features", "condition", "D", "L", "label_noise")}
        for name, closed, m, e in zip(HEADS, case.exact, mean, error, strict=True):
            rows.append(where | {"head": name, "closed_form": closed, "test_error": m, "standard_error": e})
            rows[-1] |= {"trials": len(values), "least": case.least}
    return pd.DataFrame(rows)
