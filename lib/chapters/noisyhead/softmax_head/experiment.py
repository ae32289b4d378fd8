"""What is measured for one softmax head: what is known without data, private training, audits, poisoned prompts."""

from __future__ import annotations

import pandas as pd
from threadpoolctl import threadpool_limits

from chapters.noisyhead.softmax_head import audits, choosing, ends, poison, theory, training
from chapters.noisyhead.softmax_head.choosing import GridCell
from chapters.noisyhead.softmax_head.ends import EndCell, Ends
from chapters.noisyhead.softmax_head.law import Law
from chapters.noisyhead.softmax_head.names import CLIPPED, EXACT
from chapters.noisyhead.softmax_head.poison import PoisonCell
from chapters.noisyhead.softmax_head.training import Cell
from chapters.ranges import DELTA, EPSILON, SEED, TRIALS, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner

PILOT = 10  # trials from whose spread a law's number follows
SYNTHETIC = 1  # added to the seed: synthetic prompts are never the private ones


class Experiment(Parameters):
    """One softmax head beside one linear head: test errors, plans, theory, audits, poisoned prompts."""

    N: tuple[int, ...] = many(count(16, 10**5), 1000, 2000, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(4, 50), 5)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.5, 1.0)
    delta: float = parameter(DELTA, 1e-5)
    condition: tuple[float, ...] = many(amount(1.0, 1e4), 1.0, 10.0)
    """Condition numbers of the features' covariance, whose axes are drawn anew in each trial; 1 must be among them."""
    steps: tuple[int, ...] = many(count(1, 1000), 1, 2, 5, 12, 40)
    """Numbers of steps that a plan may have; with the exact noise, which does not grow with them, the largest."""
    clips: tuple[float, ...] = many(amount(1e-4, 1e3), 0.0125, 0.025, 0.05)
    """Norms at which a plan may clip each prompt's gradient."""
    reaches: tuple[float, ...] = many(amount(1e-3, 1e5), 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
    """Clip norm times learning rate times number of steps: how far steps whose gradients are all cut can go."""
    bounded_times: tuple[float, ...] = many(amount(1e-4, 1e6), 0.05, 0.25, 1.0, 4.0, 16.0)
    """Learning rate times number of steps that a plan may have where responses are clipped alone."""
    trials: int = parameter(TRIALS, 25)
    """Most trials of a law, which has as many as the precision asks for, at least ten; trials of the poisoned runs."""
    precision: float = parameter(chance(1e-4, 0.5), 0.03)
    """Standard error, as a share, to which the test errors of private heads by the best route are measured."""
    public_trials: int = parameter(TRIALS, 3)
    """Draws of synthetic isotropic prompts on which the plans are compared."""
    public_prompts: int = parameter(count(100, 10**6), 4000)
    """Synthetic prompts on which the public heads are found."""
    test_prompts: int = parameter(count(10, 10**6), 1000)
    lengths: tuple[int, ...] = many(count(2, 10**5), 10, 31, 63, 200, 1000)
    """Lengths of prompts at which closed forms are compared with simulated errors."""
    kappas: tuple[float, ...] = many(amount(1e-2, 500.0), 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
    """Inverse temperatures of the softmax at which they are compared."""
    dimensions: tuple[int, ...] = many(count(2, 1000), 2, 3, 4, 5, 10, 20, 50, 100)
    """Dimensions of the features in the limit of long prompts."""
    tokens: int = parameter(count(10**4, 10**9), 2_000_000)
    """Tokens drawn for each of these comparisons."""
    poisoned: tuple[int, ...] = many(count(1, 10**4), 1, 10, 100)
    """Numbers of poisoned prompts."""
    releases: int = parameter(count(1000, 10**8), 200_000)
    """Releases of each audited mechanism on each of two neighbours."""
    audit_mu: float = parameter(amount(0.1, 5.0), 1.5)
    """Gaussian-DP parameter that the audited mechanisms claim."""
    audit_delta: float = parameter(DELTA, 0.01)
    """δ at which they are audited."""
    confidence: float = parameter(chance(0.01, 1 - 1e-9), 0.999)
    """Confidence of an audit."""
    seed: int = parameter(SEED, 13)

    def check(self) -> None:
        """Refuse what no run can have: plans chosen for isotropic features that are not there, too much poison."""
        if 1.0 not in self.condition:
            raise ValueError(f"condition must contain 1, got {list(self.condition)}")
        if max(self.poisoned) >= max(self.N):
            raise ValueError(f"poisoned must be below the largest N = {max(self.N)}, got {max(self.poisoned)}")
        if min(self.steps) < max(self.epsilon):
            raise ValueError(f"steps must be at least the largest epsilon = {max(self.epsilon)}, got {min(self.steps)}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Public heads and plans first, then private runs with them, then everything beside."""
        public = self._public(runner)
        choices = choosing.measure(self._grid(public), runner, self.public_trials, self.seed + SYNTHETIC)
        averages, lasts = (choosing.chosen(choices, output) for output in choosing.OUTPUTS)
        cells = [self._cell(law, public, averages, lasts) for law in self.laws]
        wanted = Precision(self.precision, max(2, self.trials), PILOT, training.quoted(cells))
        samples = runner.run(training.trial, cells, wanted, self.seed)
        attack = self._poisoned(public, averages)
        attacked = runner.run(poison.trial, [attack], self.trials, self.seed)[attack]
        promise = audits.cells(self.audit_mu, self.audit_delta, self.releases, self.confidence)
        return {
            "test-error": training.table(samples),
            "choices": choices,
            "public-heads": ends.table(public),
            **self._theory(public),
            "poison": poison.table(attack, attacked),
            "audit": audits.measure(promise, runner, self.seed),
        }

    @property
    def laws(self) -> list[Law]:
        """One for each covariance and N."""
        return [Law(N, self.D, condition) for condition in self.condition for N in self.N]

    def _public(self, runner: Runner) -> dict[Law, Ends]:
        cells = [EndCell(law, self.public_prompts) for law in self.laws]
        return ends.measure(cells, runner, self.seed + SYNTHETIC)

    def _isotropic(self, N: int) -> Law:
        return Law(N, self.D, 1.0)

    def _grid(self, public: dict[Law, Ends]) -> list[GridCell]:
        laws = [self._isotropic(N) for N in self.N]
        return [
            self.shared(GridCell, law=law, epsilon=e, scale=public[law].scale) for law in laws for e in self.epsilon
        ]

    def _cell(self, law: Law, public: dict[Law, Ends], averages: choosing.Chosen, lasts: choosing.Chosen) -> Cell:
        """The private runs of one law; v and every plan are those of isotropic features."""
        exact = [
            tuple(way for way in lasts[law.N, e] if (way.bound, way.account) == (CLIPPED, EXACT)) for e in self.epsilon
        ]
        return Cell(
            law,
            public[self._isotropic(law.N)].scale,
            public[law],
            self.epsilon,
            self.delta,
            tuple(averages[law.N, e] for e in self.epsilon),
            tuple(exact),
            self.test_prompts,
        )

    def _poisoned(self, public: dict[Law, Ends], averages: choosing.Chosen) -> PoisonCell:
        law, epsilon = self._isotropic(max(self.N)), max(self.epsilon)
        exact = tuple(w for w in averages[law.N, epsilon] if (w.bound, w.account) == (CLIPPED, EXACT))
        return self.shared(PoisonCell, law=law, scale=public[law].scale, epsilon=epsilon, ways=exact)

    def _theory(self, public: dict[Law, Ends]) -> dict[str, pd.DataFrame]:
        law = self._isotropic(max(self.N))
        found = public[law]
        with threadpool_limits(1):
            return {
                "dimensions": theory.dimensions(self.dimensions),
                "lengths": theory.lengths(self.D, self.lengths, self.condition, self.tokens, self.seed),
                "temperatures": theory.temperatures(self.D, law.L, self.kappas, self.tokens, self.seed),
                "curvature": theory.curvature(self.D, law.L, found.width, found.scale, self.tokens // 4, self.seed),
            }
