"""A fraction of the training prompts attacked: what becomes of the test error on clean prompts.

Section 1.1 speaks of "a fraction of prompts"; Theorem 5.1 and Figure 4 attack a single one. The attack on each of them
is (5.1), with the sizes of Figure 4 and a budget of Algorithm 1 that stays that of one prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.robustness import arithmetic, figure
from costofprivacy.experiments.noisyhead.robustness.theorem import RESPONSES
from costofprivacy.noisyhead import head, population, pretraining
from costofprivacy.noisyhead.attack import NONE, Attack, candidates
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.prompts import Prompts, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

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
    def each(self) -> list[tuple[str, float]]:
        """The response of an attacked prompt's query and α of each attack."""
        return list(product(RESPONSES, self.alpha))

    def attack_of(self, response: str, alpha: float) -> Attack:
        """(5.1) as printed, or with the response of the query shifted as well."""
        return Attack(alpha, self.mu, alpha if response == RESPONSES[1] else 0.0)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one data set: clean, then by attack and fraction; shape (1 + attacks · fractions, methods).

    The attacked prompts are the first ones, so that those of a small fraction are among those of a larger one. Γ⁰ and
    the noise are the same in all rows.
    """
    raw, clipped, attacked = _draw(cell, rng)
    starts = [figure.initial_std(setting) * rng.standard_normal((cell.D, cell.D)) for setting in Setting]
    seed = int(rng.integers(2**63))
    rows = [_errors(cell, raw, clipped, starts, seed)]
    for bad_raw, bad_clipped in attacked:
        for count in cell.counts:
            rows.append(_errors(cell, _first(raw, bad_raw, count), _first(clipped, bad_clipped, count), starts, seed))
    return np.stack(rows)


def _draw(cell: Cell, rng: np.random.Generator) -> tuple[Statistics, Statistics, list[tuple[Statistics, Statistics]]]:
    """Statistics of all prompts, raw and clipped, and of those that are attacked at most, by attack."""
    bounds = (np.inf, cell.hyper[Setting.PRINTED].clip_norm)
    attacks = [NONE, *(cell.attack_of(*told) for told in cell.each)]
    parts: list[list[list[Statistics]]] = [[[], []] for _ in attacks]
    for start, prompts in _chunks(cell, rng):
        first = max(0, min(max(cell.counts) - start, len(prompts.y)))
        bad = Prompts(prompts.x[:first], prompts.y[:first], prompts.w[:first])
        for attack, kept in zip(attacks, parts):
            chosen = prompts if attack is NONE else bad
            for bound, into in zip(bounds, kept):
                if len(chosen.y):
                    into.append(candidates(chosen, [attack], bound))
    (raw, clipped), *others = ([_stack(part) for part in kept] for kept in parts)
    return raw, clipped, [(of_raw, of_clipped) for of_raw, of_clipped in others]


def _chunks(cell: Cell, rng: np.random.Generator) -> Iterator[tuple[int, Prompts]]:
    size = max(1, head.CHUNK_NORMALS // (cell.D * (cell.L + 2)))
    for start in range(0, cell.N, size):
        yield start, sample(cell.model, min(size, cell.N - start), rng=rng)


def _stack(parts: list[Statistics]) -> Statistics:
    return Statistics(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("query", "context", "response")))


def _first(clean: Statistics, bad: Statistics, count: int) -> Statistics:
    """The clean prompts, the first ``count`` of them replaced by the attacked ones."""
    pairs = ((getattr(clean, name), getattr(bad, name)) for name in ("query", "context", "response"))
    return Statistics(*(np.concatenate([theirs[:count], mine[count:]]) for mine, theirs in pairs))


def _errors(cell: Cell, raw: Statistics, clipped: Statistics, starts: list[np.ndarray], seed: int) -> np.ndarray:
    """Test error of each of `METHODS`, trained on the same prompts, in closed form over clean test prompts."""
    Z, D = raw.Z.reshape(cell.N, -1), cell.D
    heads = [arithmetic.by_qr(Z, raw.response, cell.penalty, 0).reshape(D, D)]
    for setting, start in zip(Setting, starts):
        hyper, std = cell.hyper[setting], cell.noise[setting]
        data = head.moments(head.project(clipped, hyper.feature_bound))
        if setting == Setting.PRINTED:
            heads.append(ridge(data, cell.penalty))
        heads += list(pretraining.pretrain(data, hyper, [0.0, std], rng=np.random.default_rng(seed), initial=start))
    return population.prediction_error(cell.model, np.stack(heads))


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
