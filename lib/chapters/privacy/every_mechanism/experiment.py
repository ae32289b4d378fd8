"""What each release claims, and what audits of it find."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.every_mechanism import audits, exact, software
from chapters.ranges import SEED, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner


class Experiment(Parameters):
    """Audits of every release at one standard setting."""

    mu: float = parameter(amount(0.1, 5.0), 1.0)
    """Gaussian privacy parameter of the standard setting; other releases have the same ε at δ."""
    delta: float = parameter(chance(1e-50, 0.04), 1e-5)
    releases: int = parameter(count(100, 10**8), 10**6)
    """Releases of each of two neighbours in an audit."""
    hostile_releases: int = parameter(count(100, 10**8), 10**5)
    """Releases of each of two neighbours with hostile records."""
    deficits: tuple[float, ...] = many(chance(1e-3, 0.99), 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, ascending=True)
    """Shares by which the noise is deliberately too small."""
    seed: int = parameter(SEED, 25)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of our releases and their laws, of transcribed packages, and of the runs in extra environments."""
        asked = audits.cells(self.mu, self.delta, self.releases, self.hostile_releases, self.deficits)
        others = {"transcribed": software.transcribed(self.releases, self.seed)}
        runs = {f"{name}-runs": software.table(name) for name in software.CASES}
        known = {"exact": exact.table(self.mu, self.delta)}
        return audits.measure(asked, runner, self.seed) | known | others | runs
