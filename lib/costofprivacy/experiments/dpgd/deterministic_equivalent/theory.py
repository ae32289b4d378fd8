"""Tables for Definition 4.2, (4.11)–(4.14), (4.22) and Appendix C of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import enclosure, homogenised, one_step, sums
from costofprivacy.experiments.dpgd.deterministic_equivalent._setting import Setting
from costofprivacy.montecarlo import Runner

STEP_TRIALS = 10  # for each trial of paths


def tables(
    setting: Setting, sizes: tuple[int, ...], step_d: tuple[int, ...], trials: int, runner: Runner, seed: int
) -> dict[str, pd.DataFrame]:
    """Tables ``identities``, ``one-step``, ``enclosure``, ``sums``, ``homogenised`` and ``growth``.

    Args:
        setting: the numbers of Figure 1. The equations are judged with private noise: with ρ = 1 where it has ρ = ∞.
        sizes: numbers of samples n at which Algorithm 1 and the diffusion are compared, ascending.
        step_d: dimensions in which a single step is measured, ascending.
        trials: for each n, at least 2; a trial has `homogenised.PATHS` paths.
        runner: how trials are run. seed: root of all random streams.
    """
    setting = setting if math.isfinite(setting.rho) else replace(setting, rho=1.0)
    steps = runner.run(one_step.trial, [one_step.Cell(d, setting) for d in step_d], STEP_TRIALS * trials, seed)
    pairs = runner.run(homogenised.trial, [homogenised.Cell(n, setting) for n in sizes], trials, seed + 1)
    small = [homogenised.Cell(sizes[0], setting, scale) for scale in homogenised.SMALL]
    grown = runner.run(homogenised.growth_trial, small, trials, seed + 2)
    return {
        "identities": enclosure.identities(setting, seed),
        "one-step": pd.concat([one_step.rows(*item) for item in steps.items()], ignore_index=True),
        "enclosure": enclosure.table(setting),
        "sums": sums.table(setting, sizes),
        "homogenised": pd.concat([homogenised.rows(*item) for item in pairs.items()], ignore_index=True),
        "growth": pd.concat([homogenised.growth_rows(*item) for item in grown.items()], ignore_index=True),
    }
