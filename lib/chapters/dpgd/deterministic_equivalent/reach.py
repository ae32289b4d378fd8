"""Where the deterministic equivalent of arXiv:2505.16329v2 stops working: other features, small d, c → 0, η̃ > 2/γ.

Everything here has the square-root schedule, whose private noise is the same in every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.integrate import solve_ivp

from chapters.dpgd.deterministic_equivalent.regime import Regime, Sized
from companion import _fits
from costofprivacy.dpgd import chain, clipping, equivalent, spectrum, system
from costofprivacy.dpgd.descent import Configuration, descend, steps_at
from costofprivacy.dpgd.schedule import Polynomial, noise_intensity
from costofprivacy.dpgd.spectrum import EllipticalT, FeatureLaw, Gaussian, Rademacher, RegressionModel, StudentT

CHAINS = 1000  # in one trial
TIMES = np.arange(101) / 100
LAWS: dict[str, FeatureLaw] = {
    "Gaussian": Gaussian(),
    "Rademacher": Rademacher(),
    "Student t, 5": StudentT(5.0),
    "Student t, 2.5": StudentT(2.5),
    "elliptical t, 5": EllipticalT(5.0),
    "elliptical t, 20": EllipticalT(20.0),
}
TARGETS = ("spread", "one coordinate")
PILOT = 12  # runs from whose spread the number of runs follows
SCALES = 2000  # quantiles of an elliptical law's scale
CLIPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RATES = (1.0, 3.0, 10.0, 18.0, 20.0, 22.0, 30.0, 100.0, 1000.0)
MIDDLE = 100  # the dimension of the axes other than d


@dataclass(frozen=True)
class LawCell(Sized):
    """Features of some law; a θ* that is spread out and one that is on one coordinate share a run's data."""

    law: str

    @property
    def key(self) -> int:
        """Law and dimension name the random stream."""
        return list(LAWS).index(self.law) * 10**7 + self.d

    @property
    def law_of_features(self) -> FeatureLaw:
        """The law by its name."""
        return LAWS[self.law]

    @property
    def targets(self) -> np.ndarray:
        """θ* of each of `TARGETS`, both of norm 1, shape (targets, d)."""
        return np.stack([np.full(self.d, self.d**-0.5), np.eye(self.d)[0]])

    def model(self, target: np.ndarray) -> RegressionModel:
        """Isotropic features."""
        return RegressionModel(spectrum.isotropic(self.d), target, self.regime.label_noise, self.law_of_features)

    @property
    def configuration(self) -> Configuration:
        """Algorithm 1 with the square-root schedule."""
        return self.regime.configuration(self.regime.schedule(0.5))


def law_trial(cell: LawCell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk at `TIMES` in one run for each target, shape (targets, times)."""
    model, ways = cell.model(np.zeros(cell.d)), [cell.configuration] * len(TARGETS)
    return descend(model, ways, cell.n, TIMES, -cell.targets, rng=rng).risk


def path_means(samples: np.ndarray) -> np.ndarray:
    """The mean risk along each run, shape (trials, targets): its precision is that of the relative gap."""
    return samples.mean(axis=-1)


def averaged_path(cell: LawCell, law: EllipticalT, times: np.ndarray) -> np.ndarray:
    """R(t) for isotropic elliptical features x = √q g, q random: (4.11) with its first two terms averaged over q.

    Given q, ‖x‖² ≈ qd, so the step is capped at 2/(γq) and the residual r ~ N(0, 2𝒫_q), 𝒫_q = qR + ζ²/2, is clipped at
    c/√q. With μ and ν taken there, R' = −2R E[q η̄_q μ] + γ E[q η̄_q² ν 𝒫_q] + 2c²σ̃²γ².
    """
    regime, way, gamma = cell.regime, cell.configuration, cell.d / cell.n
    scales = (law.degrees - 2) / stats.chi2.isf((np.arange(SCALES) + 0.5) / SCALES, law.degrees)
    clips = regime.clip / np.sqrt(scales)

    def slope(t: float, risk: np.ndarray) -> np.ndarray:
        rate = np.minimum(way.schedule(t), 2 / (gamma * scales))
        losses = scales * np.maximum(risk, 0) + regime.label_noise**2 / 2
        descent = 2 * risk * (scales * rate * clipping.descent_reduction(clips, losses)).mean()
        sampling = gamma * (scales * rate**2 * clipping.variance_reduction(clips, losses) * losses).mean()
        return sampling - descent + 2 * (regime.clip * gamma) ** 2 * noise_intensity(way.schedule, t, regime.rho)

    start = [cell.model(cell.targets[0]).initial_risk]
    solution = solve_ivp(slope, (0, 1), start, method="LSODA", dense_output=True, rtol=1e-8, atol=1e-10)
    return solution.sol(times)[0]


def law_rows(cell: LawCell, samples: np.ndarray) -> pd.DataFrame:
    """The mean risk against R(t) for each target: averaged over time, and at the release."""
    way, when, law = cell.configuration, steps_at(TIMES, cell.n) / cell.n, cell.law_of_features
    averaged = averaged_path(cell, law, when).mean() if isinstance(law, EllipticalT) else np.nan
    rows = []
    for name, target, paths in zip(TARGETS, cell.targets, np.moveaxis(samples, 1, 0)):
        model = cell.model(target)
        predicted = equivalent.risk_path(system.of_model(model, cell.n), way.schedule, way.clip, way.rho, when)
        gap, gap_error = _fits.mean_and_error((paths - predicted).mean(axis=1) / predicted.mean())
        released, released_error = _fits.mean_and_error(paths[:, -1] / predicted[-1] - 1)
        rows.append(
            {
                "law": cell.law,
                "target": name,
                "d": cell.d,
                "n": cell.n,
                "relative_gap": gap,
                "standard_error": gap_error,
                "relative_gap_averaged": averaged / predicted.mean() - 1,
                "relative_gap_released": released,
                "standard_error_released": released_error,
                "ode_released": predicted[-1],
                "zero_risk": model.initial_risk,
                "trials": len(paths),
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class AxisCell(Sized):
    """Points along one axis that share a dimension, and so a chain's draws.

    Args:
        axis: "d", "c", "c, η̃(0)c fixed" or "initial rate". values: of the axis.
    """

    axis: str
    values: tuple[float, ...]

    @property
    def key(self) -> int:
        """The dimension names the random stream."""
        return self.d

    @property
    def model(self) -> RegressionModel:
        """Isotropic Gaussian data."""
        return self.regime.model(spectrum.isotropic(self.d))

    @property
    def configurations(self) -> list[Configuration]:
        """Algorithm 1 at each point of the axis."""
        return [self._configuration(value) for value in self.values]

    def _configuration(self, value: float) -> Configuration:
        regime = self.regime
        clip = value if self.axis.startswith("c") else regime.clip
        rates = {"initial rate": value, "c, η̃(0)c fixed": regime.learning_rate * regime.clip / value}
        return Configuration(clip, Polynomial(rates.get(self.axis, regime.learning_rate), 0.5), regime.rho)


def axis_cells(d: tuple[int, ...], regime: Regime) -> list[AxisCell]:
    """The axes: d alone; the others at dimension `MIDDLE`."""
    others = {"c": CLIPS, "c, η̃(0)c fixed": CLIPS, "initial rate": RATES}
    return [
        *(AxisCell(regime, size, "d", (float(size),)) for size in d),
        *(AxisCell(regime, MIDDLE, axis, values) for axis, values in others.items()),
    ]


def axis_trial(cell: AxisCell, *, rng: np.random.Generator) -> np.ndarray:
    """Means over `CHAINS` chains of the risk at `TIMES` and of its square, shape (2, configurations, times)."""
    risk = chain.risk_at(chain.eigenspaces(cell.model), cell.configurations, cell.n, TIMES, CHAINS, rng=rng)
    return np.stack([risk.mean(axis=1), (risk**2).mean(axis=1)])


def axis_rows(cell: AxisCell, samples: np.ndarray) -> pd.DataFrame:
    """The largest bias and spread of the risk along the path, each over R(t) at its time."""
    (mean, square), when = samples.mean(axis=0), steps_at(TIMES, cell.n) / cell.n
    sd, chains = np.sqrt(np.maximum(square - mean**2, 0)), len(samples) * CHAINS
    equations, out = system.of_model(cell.model, cell.n), []
    for i, (value, way) in enumerate(zip(cell.values, cell.configurations)):
        predicted = equivalent.risk_path(equations, way.schedule, way.clip, way.rho, when)
        bias, spread = mean[i] / predicted - 1, sd[i] / predicted
        at = np.abs(bias).argmax()
        out.append(
            {
                "axis": cell.axis,
                "value": value,
                "d": cell.d,
                "n": cell.n,
                "relative_bias": bias[at],
                "standard_error": spread[at] / np.sqrt(chains),
                "relative_spread": spread.max(),
                "ode_released": predicted[-1],
                "risk_released": mean[i, -1],
                "zero_risk": cell.model.initial_risk,
                "diverged": int(not np.isfinite(mean[i]).all()),
                "chains": chains,
            }
        )
    return pd.DataFrame(out)
