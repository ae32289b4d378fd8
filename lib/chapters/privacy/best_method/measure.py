"""The committed campaign, and some of its cases measured now."""

import pandas as pd

from chapters.privacy.best_method import campaign, committed, data
from chapters.ranges import SEED, amount, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner


class Experiment(Parameters):
    """Some cases of the campaign, measured again, beside the whole campaign as it is committed."""

    n: tuple[int, ...] = many(count(10, 10**5), 1000, 3000, ascending=True)
    """Records in a case that is measured now; each must be a size of the campaign."""
    d: int = parameter(count(2, 100), 10)
    epsilon: tuple[float, ...] = many(amount(1e-3, 100), 1.0, 3.0, ascending=True)
    trials: int = parameter(count(2, 10**4), 40)
    """Data sets in each case that is measured now."""
    seed: int = parameter(SEED, 43)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``cases`` and ``intervals``, as committed, and ``again``, measured now."""
        asked = [campaign.Cell(name, n, self.d, self.epsilon) for name in data.MADE for n in self.n]
        again = campaign.measure(asked, self.trials, self.trials, self.seed, runner)
        return {name: committed.read(name) for name in committed.NAMES} | {"again": again}
