"""Each gap between a correct ε and a safe release, as a measured attack at the same nominal budget."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.what_this_does_not_protect import (
    bits,
    later,
    population,
    repaired,
    repeats,
    scaling,
    seeds,
    timing,
    tuning,
)
from chapters.privacy.what_this_does_not_protect.pair import Pair
from chapters.ranges import SEED, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.privacy import ApproximateDP

TIMED_RECORDS = 2048


class Experiment(Parameters):
    """Attacks on releases that are (ε, δ)-DP on paper."""

    epsilon: float = parameter(amount(1e-3, 100), 1.0)
    delta: float = parameter(chance(1e-50, 0.1), 1e-5)
    n: int = parameter(count(20, 10**6), 100)
    """Records of the fits that are attacked."""
    d: int = parameter(count(2, 1000), 10)
    bits_d: tuple[int, ...] = many(count(1, 10**4), 1, 10, 100, ascending=True)
    """Coordinates of a release whose last bits are read."""
    runs: tuple[int, ...] = many(count(1, 10**6), 1, 2, 5, 10, 30, 100, 1000, ascending=True)
    """Private runs of which the best is released, and releases that are averaged."""
    group: tuple[int, ...] = many(count(1, 1000), 1, 2, 5, 10, ascending=True)
    """Records of one person."""
    members: tuple[int, ...] = many(count(100, 10**6), 1000, 10000, 50000, ascending=True)
    """Records of the fits from which strangers are predicted."""
    guesses: int = parameter(count(2, 10**5), 1000)
    """Seeds of a short list."""
    audit_releases: int = parameter(count(1000, 10**8), 400_000)
    """Releases of each input in an audit."""
    trials: int = parameter(count(20, 10**6), 2000)
    """Releases of each of two neighbours in an attack."""
    fits: int = parameter(count(2, 1000), 20)
    """Fits from which strangers are predicted."""
    seed: int = parameter(SEED, 12)

    def check(self) -> None:
        """A person has fewer records than there are."""
        if self.group[-1] >= self.n:
            raise ValueError(f"group must have fewer than n = {self.n} records, got {self.group[-1]}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """A table a gap."""
        told = ApproximateDP(self.epsilon, self.delta).to_gaussian()
        pair = Pair(self.n, self.d, told.mu, self.seed)
        return {
            "undone": seeds.undone(pair),
            "seeds": seeds.attacks(pair, self.trials, self.guesses, self.seed),
            "bits": bits.by_ratio(self.bits_d, told.mu, self.trials, self.seed),
            "rounding": bits.of_estimator(self.d, told.mu, self.trials // 4, self.seed),
            "discrete": bits.of_discrete(told.mu, 5 * self.trials, self.seed),
            "tuning": tuning.table(self.runs, told, self.delta),
            "audited": tuning.audited([k for k in self.runs if k <= 10], told, 1e-3, self.audit_releases, self.seed),
            "scaling": scaling.table(runner, self.n, 3, told.mu, self.trials // 4, self.seed),
            "repeats": repeats.releases(self.runs, told, self.delta, self.trials, self.seed),
            "groups": repeats.groups(self.group, pair, self.delta),
            "timing": timing.table(Pair(TIMED_RECORDS, self.d, told.mu, self.seed)),
            "population": population.table(runner, self.members, self.d, told.mu, self.fits, self.seed),
            "repaired": repaired.table(pair, max(50, self.trials // 20), self.seed),
            "later": later.table(self.seed),
        }
