"""What is measured of learning rate schedules: Figure 7, rates, the best schedule, vanishing label noise."""

from __future__ import annotations

from itertools import product

import pandas as pd

from chapters.dpgd.schedules import best, figure_seven, identities, orders, small_noise
from chapters.ranges import CLIP, NOISE, RHO, SEED, SMALL_GAMMA, TRIALS, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner

NONNEGATIVE_EXPONENTS = (0.0, 0.5, 1.0, 2.0)  # of Figure 7


class Experiment(Parameters):
    """Schedules of arXiv:2505.16329v2: Figure 7, the rates of Propositions 5.1 and 5.2 and Theorem 2, and the best."""

    d: int = parameter(count(2, 10**5), 100)
    n: tuple[int, ...] = many(
        count(10, 10**8),
        *(1000, 1778, 3162, 5623, 10000, 17783, 31623, 56234, 100000, 177828, 316228, 562341, 1000000),
        ascending=True,
    )
    """Numbers of records of Figure 7."""
    label_noise: float = parameter(NOISE, 0.3)
    rho: float = parameter(RHO, 0.1)
    clip: float = parameter(CLIP, 0.1)
    simulated: int = parameter(count(10, 10**8), 1000000)
    """The largest number of records that the algorithm is run on; above it, the equations alone."""
    gammas: tuple[float, ...] = many(SMALL_GAMMA, *(10.0**-k for k in range(2, 11)), ascending=True)
    """Aspect ratios d/n along which the rates are followed."""
    best_n: tuple[float, ...] = many(
        amount(0.1, 1e12), 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, 100000.0, ascending=True
    )
    """Records per dimension, n/d, at which families of schedules are held against the best one."""
    best_rho: tuple[float, ...] = many(RHO, 0.03, 0.1, 0.3, 1.0, 10.0, ascending=True)
    """Privacy parameters at which they are."""
    search_n: tuple[float, ...] = many(amount(0.1, 1e12), 30.0, 100.0, 1000.0, 10000.0, ascending=True)
    """Records per dimension, n/d, at which the best schedule is searched for without its theorem."""
    small_gammas: tuple[float, ...] = many(chance(1e-10, 0.999), 1e-2, 1e-3, 1e-4, 1e-5, ascending=True)
    """Aspect ratios d/n at which the label noise vanishes."""
    small_noises: tuple[float, ...] = many(amount(1e-12, 1e3), *(10.0**-k for k in range(0, 9)), ascending=True)
    """Standard deviations ζ of the label noise on the way to 0."""
    trials: int = parameter(TRIALS, 10)
    seed: int = parameter(SEED, 7)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of Figure 7 and its optimum, of the rates, of the best schedules, and of small label noise."""
        settings = [
            self.shared(figure_seven.Setting, spectrum=name, n=n, exponents=NONNEGATIVE_EXPONENTS)
            for name, n in product(figure_seven.SPECTRA, self.n)
        ]
        tables = figure_seven.tables(settings, runner, self.trials, self.seed, self.simulated)
        return tables | self._rates(runner) | self._best(runner) | self._checks()

    def _rates(self, runner: Runner) -> dict[str, pd.DataFrame]:
        points = [
            self.shared(orders.Point, path=path, gamma=gamma) for path, gamma in product(orders.PATHS, self.gammas)
        ]
        found = runner.run(orders.tuned, points, 1, 0)
        polynomial = orders.own_choice(self.gammas, self.label_noise, self.clip)
        return {
            "rates": pd.DataFrame([row for point, v in found.items() for row in orders.tuned_rows(point, v[0])]),
            "decay": pd.concat([polynomial, orders.spread_polynomial(self.label_noise, self.clip)], ignore_index=True),
            "theorem-2": orders.theorem_rows(self.label_noise),
            "offsets": orders.offset_rows(self.gammas, self.label_noise, self.clip),
        }

    def _best(self, runner: Runner) -> dict[str, pd.DataFrame]:
        places = [self.shared(best.Place, n_over_d=n, rho=rho) for rho, n in product(self.best_rho, self.best_n)]
        found = runner.run(best.gains, places, 1, 0)
        tasks = [
            best.Search(name, self.shared(best.Place, n_over_d=n)) for name, n in product(best.SEARCHED, self.search_n)
        ]
        return {
            "gains": pd.DataFrame([row for place, v in found.items() for row in best.gain_rows(place, v[0])]),
            "search": best.search_rows(runner.run(best.search, tasks, 1, 0)),
            "small-noise": small_noise.rows(
                runner.run(small_noise.solve, small_noise.places(self.small_gammas, self.small_noises), 1, 0)
            ),
        }

    def _checks(self) -> dict[str, pd.DataFrame]:
        return {
            "exponential-integrals": identities.lemma_d2(),
            "solutions": identities.solutions(),
            "heuristic": identities.heuristic(),
            "constants": identities.constants(self.label_noise, figure_seven.INITIAL_RISK),
        }
