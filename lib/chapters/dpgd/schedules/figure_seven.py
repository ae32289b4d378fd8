"""Figure 7 of arXiv:2505.16329v2: schedules tuned by the deterministic equivalent, then run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion.streams import Runner
from costofprivacy.dpgd import chain, control, descent, spectrum, system, tuning
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.system import System

ISOTROPIC, UNIFORM = "isotropic", "uniform"
SPECTRA: dict[str, Callable[[int], Spectrum]] = {ISOTROPIC: spectrum.isotropic, UNIFORM: spectrum.uniform}
HARMONIC, OPTIMUM = "harmonic", "optimum"
INITIAL_RISK = 0.5  # (θ*_i)² = 1/d and tr Σ = d
TOLERANCE = 1e-4  # relative, of tuned risks


@dataclass(frozen=True)
class Setting:
    """A problem of Figure 7: a spectrum and a number of records; d, ζ, c and ρ as in `Experiment`."""

    spectrum: str
    n: int
    d: int
    label_noise: float
    clip: float
    rho: float
    exponents: tuple[float, ...]

    @property
    def key(self) -> int:
        """Spectrum and n name the random stream."""
        return len(SPECTRA) * self.n + list(SPECTRA).index(self.spectrum)

    @property
    def model(self) -> RegressionModel:
        """(θ*_i)² = 1/d in the eigenbasis."""
        shape = SPECTRA[self.spectrum](self.d)
        return RegressionModel(shape, spectrum.projections(shape, initial_risk=INITIAL_RISK), self.label_noise)

    @property
    def equations(self) -> System:
        """The deterministic equivalent in this dimension; one equation for Σ = I."""
        if self.spectrum == ISOTROPIC:
            return system.isotropic(INITIAL_RISK, self.d / self.n, self.label_noise)
        return system.of_model(self.model, self.n)

    @property
    def names(self) -> list[str]:
        """The schedules of the figure, as its table names them."""
        return [f"{exponent:g}" for exponent in self.exponents] + [HARMONIC]

    @property
    def optimum(self) -> control.Optimum:
        """The best schedule for Σ = I with this γ."""
        gamma = self.d / self.n
        return control.least(control.fixed_clip(INITIAL_RISK, gamma, self.label_noise, self.clip, self.rho))


def polynomial(exponent: float) -> Callable[[float], Schedule]:
    """The schedule (5.1) of arXiv:2505.16329v2 for each η̃(0), α = 0 included."""
    return (lambda rate: Polynomial(rate, exponent)) if exponent else Constant


def tune(setting: Setting, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0), τ and the released risk of each schedule of the figure, then of the optimum for Σ = I, shape (k, 3)."""
    equations, clip, rho = setting.equations, setting.clip, setting.rho
    rows = []
    for exponent in setting.exponents:
        best = tuning.best_rate(equations, polynomial(exponent), clip, rho)
        rows.append((best.initial, math.nan, best.risk))
    harmonic = tuning.best_harmonic(equations, clip, rho, TOLERANCE)
    assert isinstance(harmonic.schedule, Harmonic)
    rows.append((harmonic.initial, harmonic.schedule.offset, harmonic.risk))
    found = setting.optimum
    rows.append((found.schedule.initial, found.schedule.switch, found.risk))
    return np.array(rows)


@dataclass(frozen=True)
class Run:
    """Algorithm 1 with tuned schedules: the setting, η̃(0) and τ of each, and the number of chains in a trial."""

    setting: Setting
    plans: tuple[tuple[float, float], ...]
    chains: int

    @property
    def key(self) -> int:
        """That of the setting: the schedules share their draws."""
        return self.setting.key

    @property
    def configurations(self) -> list[Configuration]:
        """Those of the figure; for Σ = I the optimum after them."""
        s = self.setting
        found: list[Schedule] = [polynomial(a)(rate) for a, (rate, _) in zip(s.exponents, self.plans)]
        rate, offset = self.plans[-1]
        found.append(Harmonic(rate * offset, offset))
        if s.spectrum == ISOTROPIC:
            found.append(s.optimum.schedule)
        return [Configuration(s.clip, schedule, s.rho) for schedule in found]


def simulate(run: Run, *, rng: np.random.Generator) -> np.ndarray:
    """Released risks, shape (chains, schedules): by the risk chain for Σ = I, else by the algorithm itself."""
    setting = run.setting
    if setting.spectrum == ISOTROPIC:
        spaces = chain.eigenspaces(setting.model)
        return chain.risk_at(spaces, run.configurations, setting.n, [1.0], run.chains, rng=rng)[:, :, 0].T
    return descent.descend(setting.model, run.configurations, setting.n, [1.0], rng=rng).released_risk[None]


def tables(settings: list[Setting], runner: Runner, trials: int, seed: int, simulated: int) -> dict[str, pd.DataFrame]:
    """Tables ``figure-7`` and ``optimum``; what has more than ``simulated`` records is not run, only solved."""
    tuned = {setting: values[0] for setting, values in runner.run(tune, settings, 1, 0).items()}
    runs = [_run(setting, found, trials) for setting, found in tuned.items() if setting.n <= simulated]
    alone = [run for run in runs if run.chains == 1]
    together = [run for run in runs if run.chains > 1]
    risks = {r.setting: v[0] for r, v in runner.run(simulate, together, 1, seed).items()} if together else {}
    risks |= {r.setting: v[:, 0] for r, v in runner.run(simulate, alone, trials, seed).items()} if alone else {}
    rows = [row for setting, found in tuned.items() for row in _rows(setting, found, risks.get(setting), trials)]
    table = pd.DataFrame(rows)
    optimum = table["schedule"] == OPTIMUM
    return {
        "figure-7": table[~optimum].rename(columns={"turn": "offset"}).reset_index(drop=True),
        "optimum": table[optimum].rename(columns={"turn": "switch"}).reset_index(drop=True),
    }


def _run(setting: Setting, found: np.ndarray, trials: int) -> Run:
    plans = tuple((float(rate), float(turn)) for rate, turn, _ in found[:-1])
    return Run(setting, plans, trials if setting.spectrum == ISOTROPIC else 1)


def _rows(setting: Setting, found: np.ndarray, risks: np.ndarray | None, trials: int) -> list[dict[str, object]]:
    """A row for each schedule; the optimum is that of Σ = I, so it has one there alone."""
    names = [*setting.names, OPTIMUM] if setting.spectrum == ISOTROPIC else setting.names
    return [
        {
            "spectrum": setting.spectrum,
            "schedule": name,
            "n": setting.n,
            "ode_risk": risk,
            "risk_mean": math.nan if risks is None else risks[:, k].mean(),
            "risk_sd": math.nan if risks is None else risks[:, k].std(ddof=1),
            "trials": 0 if risks is None else trials,
            "rate": rate,
            "turn": turn,
        }
        for k, (name, (rate, turn, risk)) in enumerate(zip(names, found))
    ]
