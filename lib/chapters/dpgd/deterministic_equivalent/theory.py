"""Tables for Definition 4.2, (4.11)–(4.14), (4.17)–(4.22) and Appendix C of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from chapters.dpgd.deterministic_equivalent import displays, enclosure, homogenised, last_step, one_step, sums
from chapters.dpgd.deterministic_equivalent.regime import Regime, gathered
from companion.streams import Runner

STEP_TRIALS = 10  # of single steps, for each trial of paths


def tables(
    regime: Regime, sizes: tuple[int, ...], step_d: tuple[int, ...], trials: int, runner: Runner, seed: int
) -> dict[str, pd.DataFrame]:
    """All of them by name: those without chance, those of single steps, and those of whole paths.

    Args:
        regime: the numbers of Figure 1. The equations are judged with private noise: with ρ = 1 where it has ρ = ∞.
        sizes: numbers of samples n at which Algorithm 1 and the diffusion are compared, ascending.
        step_d: dimensions in which a single step is measured, ascending.
        trials: for each n, at least 2; a trial has `homogenised.PATHS` paths.
        runner: how trials are run. seed: root of all random streams.
    """
    regime = regime if math.isfinite(regime.rho) else replace(regime, rho=1.0)
    steps = [one_step.Cell(regime, d) for d in step_d]
    pairs = runner.run(homogenised.trial, [homogenised.Cell(regime, n) for n in sizes], trials, seed + 1)
    small = [homogenised.Cell(regime, sizes[0], scale) for scale in homogenised.SMALL]
    last = runner.run(last_step.trial, last_step.cells(regime), STEP_TRIALS * trials, seed + 3)
    return {
        "identities": enclosure.identities(regime, seed),
        "one-step": gathered(one_step.rows, runner.run(one_step.trial, steps, STEP_TRIALS * trials, seed)),
        "enclosure": enclosure.table(regime),
        "sums": sums.table(regime, sizes),
        "homogenised": gathered(homogenised.rows, pairs),
        "growth": gathered(homogenised.growth_rows, runner.run(homogenised.growth_trial, small, trials, seed + 2)),
        "diffusion": gathered(homogenised.integral_rows, pairs),
        "displays": displays.table(regime, seed),
        "last-step": gathered(last_step.rows, last).sort_values(["squared_norm", "d"], ignore_index=True),
        "caps": last_step.caps(),
    }
