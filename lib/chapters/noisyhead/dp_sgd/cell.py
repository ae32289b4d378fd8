"""One size of the comparison: what both methods are told, and the noise that each accounting gives them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.noisyhead import accounts, pretraining, recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import Descent
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP, GaussianDP, every_iterate
from costofprivacy.privacy.subsampled import Neighbours, poisson_epsilon, poisson_noise_multiplier
from costofprivacy.settings import Setting

NOISYHEAD, DP_SGD, ZERO = "noisyhead", "dp-sgd", "zero"
ALGORITHM = accounts.ALGORITHM  # the classical calibration, basic composition; neighbours replace a prompt
ADD, REPLACE = str(Neighbours.ADD_OR_REMOVE), str(Neighbours.REPLACE)  # exact composition, for either relation
LOSS, UPDATE, RESPONSES = "the loss, at σ", "the update, at σ/2", "the loss, at C"  # gradients, and where clipped
CLIPS = (LOSS, UPDATE, RESPONSES)


def clip_at(hyper: Hyperparameters, gradients: str) -> tuple[float, float]:
    """Factor f of DP-SGD's gradient and the norm that it is clipped at.

    f(C + RG)G bounds a gradient wherever Algorithm 1 can be: σ = 2G(C + RG) for the loss, half for the update.
    """
    return {
        LOSS: (pretraining.OF_THE_LOSS, hyper.sigma),
        UPDATE: (pretraining.OF_ALGORITHM_1, hyper.sigma / 2),
        RESPONSES: (pretraining.OF_THE_LOSS, hyper.clip_norm),
    }[gradients]


@dataclass(frozen=True)
class Method:
    """A way to train: the method, whose gradients it clips where (DP-SGD), and by which accounting at which ε."""

    method: str
    gradients: str = ""
    account: str = ""
    epsilon: float = np.nan


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    failure: float
    penalty: float
    label_noise: float
    batch: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """L = ⌊√N⌋."""
        return recipes.square_model(self.D, self.N, self.label_noise)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.low_dimension(self.model, self.N, self.failure, self.penalty)

    def descent(self, setting: Setting) -> Descent:
        """What DP-SGD is told: the same η₀ and T, and the λ of the loss."""
        hyper = self.hyper[setting]
        return Descent(self.penalty, hyper.learning_rate, hyper.steps, self.batch)

    def clip(self, setting: Setting, gradients: str) -> tuple[float, float]:
        """Factor f of DP-SGD's gradient and the norm that it is clipped at."""
        return clip_at(self.hyper[setting], gradients)

    @cached_property
    def private(self) -> dict[str, list[Method]]:
        """The private ways to train, by method, in the order of a trial's numbers."""
        head = [Method(NOISYHEAD, "", a, e) for a in (ALGORITHM, REPLACE, ADD) for e in self.epsilon]
        sgd = [Method(DP_SGD, g, a, e) for g in CLIPS for a in (REPLACE, ADD) for e in self.epsilon]
        return {NOISYHEAD: head, DP_SGD: sgd}

    @cached_property
    def columns(self) -> list[tuple[Setting, Method]]:
        """Setting and method of each number that a trial returns."""
        private = [*self.private[NOISYHEAD], *self.private[DP_SGD]]
        return [(setting, method) for setting in Setting for method in (*private, Method(ZERO))]

    def multiplier(self, setting: Setting, way: Method) -> float:
        """The exactly composed noise multiplier of a step: noise over the norm that bounds one prompt's gradient."""
        share = 1.0 if way.method == NOISYHEAD else self.batch / self.N
        budget = ApproximateDP(way.epsilon, self.delta)
        return poisson_noise_multiplier(budget, share, self.hyper[setting].steps, Neighbours(way.account))

    def noise(self, setting: Setting, way: Method) -> float:
        """Standard deviation of the noise: in an entry of Γ for NoisyHead, of the mean gradient for DP-SGD."""
        hyper = self.hyper[setting]
        if way.account == ALGORITHM:
            return accounts.noise_std(ALGORITHM, hyper, ApproximateDP(way.epsilon, self.delta), self.N, hyper.steps)
        if way.method == NOISYHEAD:
            return self._moved(setting) * self.multiplier(setting, way)
        return self.clip(setting, way.gradients)[1] / self.batch * self.multiplier(setting, way)

    @cached_property
    def noises(self) -> dict[tuple[Setting, Method], float]:
        """The standard deviations of all private ways to train."""
        ways = [(setting, way) for setting, way in self.columns if way.method != ZERO]
        return {(setting, way): self.noise(setting, way) for setting, way in ways}

    def spent(self, setting: Setting, way: Method, neighbours: Neighbours) -> float:
        """The ε that all iterates spend together, exactly composed, for a neighbouring relation."""
        steps = self.hyper[setting].steps
        if way.method == NOISYHEAD:
            one = GaussianDP(self._moved(setting) * neighbours.reach / self.noise(setting, way))
            return every_iterate(one, steps).epsilon(self.delta)
        return poisson_epsilon(self.multiplier(setting, way), self.batch / self.N, steps, self.delta, neighbours)

    def _moved(self, setting: Setting) -> float:
        """How far one prompt more or less moves a step of Algorithm 1, at most."""
        hyper = self.hyper[setting]
        return hyper.learning_rate * hyper.sigma / 2 / self.N

    def noise_in_weights(self, setting: Setting, way: Method) -> float:
        """Standard deviation of what the noise of one step adds to an entry of Γ."""
        rate = 1.0 if way.method == NOISYHEAD else self.hyper[setting].learning_rate
        return rate * self.noise(setting, way)
