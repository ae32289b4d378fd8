"""All runs of one trial of Figure 3: NoisyHead by account and number of steps, and its noiseless twin.

Where Π_R surely projects nothing they come from one series (`costofprivacy.noisyhead.series`), without a Gram matrix;
elsewhere, step by step from the same noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chapters.noisyhead.early_stopping.cell import RANDOM, RUNS, Cell
from costofprivacy.noisyhead import head, population, pretraining, series
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.series import Noise, Training
from costofprivacy.settings import Setting


@dataclass(frozen=True)
class Draws:
    """What a trial draws.

    Args:
        raw, clipped: the training prompts, and these with responses clipped at C. test: the test prompts.
        start: Γ⁰ where it is random, shape (D, D). stream: names the stream of the noise.
    """

    raw: Statistics
    clipped: Statistics
    test: Statistics
    start: np.ndarray
    stream: int

    @property
    def seen(self) -> Training:
        """The training prompts as they are; rows of weights are followed by their answers to the test prompts."""
        Z = self.test.Z.reshape(len(self.test.response), -1)
        return Training(self.raw, self.start.reshape(-1), lambda rows: np.hstack([rows, rows @ Z.T]))

    def told(self, seen: Training, feature_bound: float) -> Training:
        """The clipped and projected prompts, or the very ones seen where that changes nothing."""
        told = head.project(self.clipped, feature_bound)
        return seen if _same(told, self.raw) else Training(told, seen.start, seen.image)


def _same(one: Statistics, other: Statistics) -> bool:
    """Whether clipping and projection changed nothing."""
    return np.array_equal(one.context, other.context) and np.array_equal(one.response, other.response)


def measured(cell: Cell, draws: Draws) -> np.ndarray:
    """Excess risk over the test prompts and expected test error of each run, shape (2, columns)."""
    seen, D = draws.seen, cell.model.D
    reference = _reference(seen, cell.penalty)
    rows = np.vstack([*_runs(cell, draws, seen), np.zeros_like(reference), reference])
    weights, answers = np.split(rows, [D**2], axis=1)
    excess = ((answers - reference[D**2 :]) ** 2).mean(axis=1)
    return np.stack([excess, population.prediction_error(cell.model, weights.reshape(-1, D, D))])


def _runs(cell: Cell, draws: Draws, seen: Training) -> Iterator[np.ndarray]:
    """NoisyHead by account and T, then its noiseless twin by T, for each of ``RUNS``."""
    told = {setting: draws.told(seen, hyper.feature_bound) for setting, hyper in cell.hyper.items()}
    noise = _noise(cell, told, draws.stream)
    unit = _units(cell, told, noise)
    for setting, begins, accounts in RUNS:
        hyper, moves, data = cell.hyper[setting], float(begins == RANDOM), told[setting]
        share = moves * min(1.0, hyper.weight_bound / float(np.linalg.norm(draws.start)))
        std, steps = cell.noise[setting, accounts], np.tile(cell.T, len(accounts))
        spread = std.reshape(len(accounts), -1, 1) * unit[setting][cell.ranks]
        rows = (data.descent(hyper, cell.T, share) + spread).reshape(len(std), -1)
        sure = series.idle(data, hyper, noise[setting], std, steps, share)
        if not sure.all():
            rows[~sure] = _literal(draws, data, hyper, std[~sure], steps[~sure], moves)
        yield rows
        yield _descent(seen, hyper, cell.later, moves)


def _noise(cell: Cell, told: dict[Setting, Training], stream: int) -> dict[Setting, Noise]:
    """The noise of each setting, added up from one stream."""
    hyper = cell.hyper
    found = series.noises(
        [series.shrink(hyper[s]) for s in told],
        [told[s].ends for s in told],
        sorted(set(cell.T)),
        max(series.terms(series.ratio(told[s], hyper[s])) for s in told),
        rng=np.random.default_rng(stream),
    )
    return dict(zip(told, found, strict=True))


def _units(cell: Cell, told: dict[Setting, Training], noise: dict[Setting, Noise]) -> dict[Setting, np.ndarray]:
    """What unit noise leaves in the weights of each setting, by T: settings with the same prompts go together."""
    found: dict[Setting, np.ndarray] = {}
    for data in dict.fromkeys(told.values()):
        own = [s for s in told if told[s] is data]
        sums = data.noise([cell.hyper[s].learning_rate for s in own], [noise[s].sums for s in own])
        found |= dict(zip(own, sums, strict=True))
    return found


def _literal(
    draws: Draws, told: Training, hyper: Hyperparameters, std: np.ndarray, steps: np.ndarray, moves: float
) -> np.ndarray:
    """Algorithm 1 step by step, on the numbers that `_noise` added up."""
    data, noise = head.moments(told.data), np.random.default_rng(draws.stream)
    found = pretraining.pretrain(data, hyper, std, rng=noise, steps=steps, initial=moves * draws.start)
    return told.image(found.reshape(len(std), -1))


def _descent(seen: Training, hyper: Hyperparameters, steps: tuple[int, ...], share: float) -> np.ndarray:
    """The noiseless twin from share·Γ⁰ after each T."""
    if np.isfinite(series.ratio(seen, hyper)):
        return seen.descent(hyper, steps, share)
    D = seen.data.query.shape[1]
    data = in_eigenbasis(head.moments(seen.data))
    found = pretraining.descent_path(data, hyper, steps, share * seen.start.reshape(D, D))
    return seen.image(found.reshape(len(found), -1))


def _reference(seen: Training, penalty: float) -> np.ndarray:
    """Γ* of (2.7)."""
    if seen.bound <= series.LARGEST_RATIO * penalty:
        return seen.ridge(penalty)
    return seen.image(ridge(head.moments(seen.data), penalty).reshape(1, -1))[0]
