"""A fraction of the training prompts attacked: what becomes of the test error on clean prompts.

Section 1.1 speaks of "a fraction of prompts"; Theorem 5.1 and Figure 4 attack a single one. The attack on each of them
is (5.1), with the sizes of Figure 4 and a budget of Algorithm 1 that stays that of one prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, product

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import arithmetic, figure
from chapters.noisyhead.robustness.theorem import RESPONSES
from companion import _fits
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.attack import NONE, Attack, candidates, pretrain_each
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import Prompts, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

FIELDS = ("query", "context", "response")
FEW = 25  # prompts whose features are there at once: half a megabyte at Figure 4's sizes
Pair = tuple[Statistics, Statistics]  # raw and clipped
RIDGE, BOUNDED, QUIET, NOISYHEAD = "ridge", "ridge, clipped and projected", "noisyhead without noise", "noisyhead"
METHODS = (
    (RIDGE, Setting.PRINTED),
    (BOUNDED, Setting.PRINTED),  # with the C and G that Theorem 4.1 prints
    *((method, setting) for setting in Setting for method in (QUIET, NOISYHEAD)),
)


@dataclass(frozen=True)
class Cell(figure.Cell):
    """Figure 4's sizes and budget, the shifts α of each attacked prompt, and the fractions that are attacked."""

    fractions: tuple[float, ...]

    @cached_property
    def counts(self) -> list[int]:
        """How many prompts each fraction is; at least one."""
        return [max(1, round(fraction * self.N)) for fraction in self.fractions]

    @property
    def edges(self) -> list[int]:
        """Where the stretches of prompts between two fractions begin and end."""
        return [0, *self.counts, self.N]

    @property
    def each(self) -> list[tuple[str, float]]:
        """The response of an attacked prompt's query and α of each attack."""
        return list(product(RESPONSES, self.alpha))

    def attack_of(self, response: str, alpha: float) -> Attack:
        """(5.1) as printed, or with the response of the query shifted as well."""
        return Attack(alpha, self.mu, alpha if response == RESPONSES[1] else 0.0)


@dataclass(frozen=True)
class Draw:
    """One data set: all prompts, raw and clipped, and by attack those that are attacked at most, raw and clipped."""

    clean: Pair
    attacked: list[Pair]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one data set: clean, then by attack and fraction; shape (1 + attacks · fractions, methods).

    The attacked prompts are the first ones, so that those of a small fraction are among those of a larger one. Γ⁰ and
    the noise are the same in all rows. Features are drawn for the prompts that are attacked; of the others their
    statistics, which is all that a learner sees.
    """
    bound, most = cell.hyper[Setting.PRINTED].clip_norm, max(cell.counts)
    data = attacked(cell, _sampled(cell, most, rng))
    if most < cell.N:
        rest = head.sample_statistics(cell.model, cell.N - most, bound, rng=rng)
        raw, clipped = (_stack(both) for both in zip(data.clean, rest))
        data = Draw((raw, clipped), data.attacked)
    return measured(cell, data, rng)


def _sampled(cell: Cell, N: int, rng: np.random.Generator) -> Iterator[Prompts]:
    """N prompts with their features, a few at a time."""
    for start in range(0, N, FEW):
        yield sample(cell.model, min(FEW, N - start), rng=rng)


def attacked(cell: Cell, parts: Iterable[Prompts]) -> Draw:
    """Statistics of prompts, raw and clipped, as they are and under each attack."""
    bounds = (np.inf, cell.hyper[Setting.PRINTED].clip_norm)
    attacks = [NONE, *(cell.attack_of(*told) for told in cell.each)]
    found = [[_split(candidates(few, attacks, bound), len(attacks)) for bound in bounds] for few in parts]
    raw, clipped = ([_stack(kept) for kept in zip(*of_bound)] for of_bound in zip(*found))
    clean, *others = zip(raw, clipped, strict=True)
    return Draw(clean, others)


def measured(cell: Cell, data: Draw, rng: np.random.Generator) -> np.ndarray:
    """`trial` on a data set that is drawn already; the attacked prompts are the first of the clean ones.

    Test errors are in closed form over clean test prompts.
    """
    starts = [figure.initial_std(setting) * rng.standard_normal((cell.D, cell.D)) for setting in Setting]
    seed = int(rng.integers(2**63))
    (raw, clipped), others = data.clean, data.attacked
    heads = [ridges(cell, raw, [bad for bad, _ in others])]
    for (setting, hyper), start in zip(cell.hyper.items(), starts):
        near = [head.project(part, hyper.feature_bound) for part in (clipped, *(bad for _, bad in others))]
        sets = data_sets(cell, near[0], near[1:])
        if setting == Setting.PRINTED:
            heads.append(np.stack([ridge(one, cell.penalty) for one in sets]))
        heads += _runs(sets, hyper, cell.noise[setting] * figure.noise(seed, hyper.steps, cell.D), start)
    return population.prediction_error(cell.model, np.stack(heads, axis=1))


def _runs(sets: list[Moments], hyper: Hyperparameters, noise: np.ndarray, start: np.ndarray) -> list[np.ndarray]:
    """Algorithm 1 on each data set, without noise and with it: two arrays of shape (sets, D, D)."""
    noises, starts = np.stack([0 * noise, noise]), np.tile(start, (len(sets), 1, 1))
    return [pretrain_each(sets, hyper, noises, [which] * len(sets), starts) for which in (0, 1)]


def data_sets(cell: Cell, clean: Statistics, others: list[Statistics]) -> list[Moments]:
    """Moments of all prompts: clean, then by attack and fraction with the first ones attacked.

    Moments are sums over prompts, so each stretch of prompts between two fractions is summed once.
    """
    whole = [sum_of(part, cell.edges) for part in (clean, *others)]
    mine, *theirs = whole
    tails = np.cumsum(mine[::-1], axis=0)[::-1]
    sums = [tails[0], *(np.cumsum(bad, axis=0)[k] + tails[k + 1] for bad in theirs for k in range(len(cell.counts)))]
    return [Moments(total[:, :-1] / cell.N, total[:, -1] / cell.N) for total in sums]


def sum_of(data: Statistics, edges: list[int]) -> np.ndarray:
    """Σ vec(Z) (vec(Z), y)ᵀ over the prompts between two edges each, shape (stretches, p, p + 1)."""
    Z = data.Z.reshape(len(data.response), -1)
    both = np.column_stack([Z, data.response])
    return np.stack([Z[a:b].T @ both[a:b] for a, b in pairwise(edges) if b <= len(Z)])


def ridges(cell: Cell, clean: Statistics, others: list[Statistics]) -> np.ndarray:
    """Γ* of (2.7) on the same data sets, shape (1 + attacks · fractions, D, D), without a product of Z with itself.

    QR factors of stretches of the rows (Z, y), stacked, have the factor R of all rows: the attacked ones come first.
    """
    mine, *theirs = (arithmetic.triangles(_rows(part), cell.edges) for part in (clean, *others))
    tails = list(accumulate(reversed(mine), arithmetic.joined))[::-1]
    heads = [
        arithmetic.joined(first, tail)
        for bad in theirs
        for first, tail in zip(accumulate(bad, arithmetic.joined), tails[1:])
    ]
    found = [arithmetic.ridge_of(R, cell.penalty * cell.N) for R in (tails[0], *heads)]
    return np.stack(found).reshape(-1, cell.D, cell.D)


def _rows(data: Statistics) -> np.ndarray:
    """vec(Z) and y, one prompt a row, shape (N, p + 1)."""
    return np.column_stack([data.Z.reshape(len(data.response), -1), data.response])


def _split(data: Statistics, parts: int) -> list[Statistics]:
    pieces = [np.split(getattr(data, name), parts) for name in FIELDS]
    return [Statistics(*piece) for piece in zip(*pieces)]


def _stack(parts: Iterable[Statistics]) -> Statistics:
    parts = list(parts)
    return Statistics(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def table(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Test error and its rise over that of the clean data set, by attack, fraction and method."""
    clean, attacked = samples[:, :1], samples[:, 1:]
    before = clean[:, 0].mean(axis=0)
    (error, standard_error), (rise, rise_error) = map(_fits.mean_and_error, (attacked, attacked - clean))
    cells = list(product(cell.each, zip(cell.fractions, cell.counts)))
    rows = []
    for i, ((response, alpha), (fraction, count)) in enumerate(cells):
        for j, (method, setting) in enumerate(METHODS):
            told = {"response": response, "alpha": alpha, "fraction": fraction, "attacked": count}
            measured = {"test_error": error[i, j], "standard_error": standard_error[i, j]}
            risen = {"before": before[j], "rise": rise[i, j], "rise_error": rise_error[i, j], "trials": len(samples)}
            rows.append(told | {"setting": str(setting), "method": method} | measured | risen)
    return pd.DataFrame(rows).assign(response_variance=cell.model.response_variance)
