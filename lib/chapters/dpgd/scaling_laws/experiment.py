"""What is measured of the scaling laws of arXiv:2505.16329v2: Section 6 and Appendix E."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws import curves, orders, proof, theory
from chapters.dpgd.scaling_laws.curves import Cell, Law
from chapters.ranges import CLIP, NOISE, RISK, SEED, count, from_zero, real
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.dpgd import scaling

ALPHAS = (0.0, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0, 1e4)  # along which h goes to its limit
MAP_PHI = (*np.round(np.linspace(-2, 0.95, 60), 3).tolist(), 0.99, 0.999)
MAP_PSI = (-1.0, 0.0, 0.25, 0.5)
MAP_ALPHA = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
OTHER_PHI = (-1.0, 0.0, 0.15, 0.3, 0.5, 0.65)  # at the κ₁, α and b of Figures 10 to 13
CLOSE, SKIP = 30, 10  # every decade of the closed form up to here, then every tenth
COARSE = 0.01  # γ at which (6.2) is evaluated along a path


class Experiment(Parameters):
    """Figures 2 and 3 with the optimised risk of the deterministic equivalent, and Appendix E tried step by step."""

    flat_phi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.25)
    """Exponents φ of the spectrum in Figure 2."""
    flat_psi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.5)
    """Exponents ψ of the target in Figure 2."""
    flat_alpha: tuple[float, ...] = many(from_zero(50.0), 0.0, 0.5, 1.0, 2.0, ascending=True)
    """Exponents α of the schedule in Figure 2."""
    flat_b: tuple[float, ...] = many(real(-5.0, 5.0), 0.0, 0.5)
    """Exponents b of the privacy parameter in Figure 2, whose ρ is the power b of γ."""
    steep_phi: tuple[float, ...] = many(real(-10.0, 1.0), 0.7, 0.8)
    """Exponents φ of the spectrum in Figure 3."""
    steep_psi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.1)
    """Exponents ψ of the target in Figure 3."""
    steep_alpha: tuple[float, ...] = many(from_zero(50.0), *(float(alpha) for alpha in range(1, 11)), ascending=True)
    """Exponents α of the schedule in Figure 3."""
    steep_b: float = parameter(real(-5.0, 5.0), 0.5)
    """Exponent b of the privacy parameter in Figure 3."""
    clip: float = parameter(CLIP, 0.1)
    label_noise: float = parameter(NOISE, 0.3)
    initial_risk: float = parameter(RISK, 0.5)
    """Risk R(0) of the start, which the paper does not print."""
    decades: tuple[int, ...] = many(count(1, 15), *range(2, 11), ascending=True)
    """Decades of γ at which the learning rate is optimised: γ is 10 to minus each."""
    far: int = parameter(count(30, 300), 60)
    """Last decade of the closed form."""
    starts: tuple[float, ...] = many(RISK, 0.1, 0.5, 2.0)
    """Risks R(0) of the start that are tried beside it."""
    order_decades: tuple[int, ...] = many(count(2, 15), 3, 6, 9, 12, 15, ascending=True)
    """Decades of γ on which orders of the risk are tried."""
    clip_decades: tuple[int, ...] = many(count(2, 15), 4, 7, 10, 13, ascending=True)
    """Decades of γ on which clipping constants are tried."""
    checked: tuple[int, ...] = many(count(1, 15), 2, 3)
    """Decades of γ at which the optimised risk is computed again by LSODA."""
    draws: int = parameter(count(10, 10**6), 2000)
    """Random places on which Theorem 4 is held against a numerical optimum."""
    seed: int = parameter(SEED, 10)

    @property
    def flat(self) -> list[Law]:
        """The curves of Figure 2."""
        return [self._law(*p) for p in product(self.flat_phi, self.flat_psi, self.flat_alpha, self.flat_b)]

    @property
    def steep(self) -> list[Law]:
        """The curves of Figure 3."""
        return [self._law(*p) for p in product(self.steep_phi, self.steep_psi, self.steep_alpha, [self.steep_b])]

    @property
    def _beyond(self) -> list[int]:
        """Decades of the closed form: each one for a while after the last solved one, then some."""
        first = self.decades[-1] + 1
        return [*range(first, min(CLOSE, self.far) + 1), *range(CLOSE + SKIP, self.far + 1, SKIP)]

    def check(self) -> None:
        """Refuse a target without a finite norm, and decades too few to see a slope."""
        for figure, phis, psis in (("flat", self.flat_phi, self.flat_psi), ("steep", self.steep_phi, self.steep_psi)):
            if max(psis) >= 1 - max(phis):
                at = f"got {max(psis):g} with {figure}_phi = {max(phis):g}"
                raise ValueError(f"{figure}_psi must be below 1 - {figure}_phi, {at}")
        if len(self.decades) <= curves.WINDOW or self.decades[-1] >= CLOSE:
            raise ValueError(f"decades must be more than {curves.WINDOW} and below {CLOSE}, got {list(self.decades)}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """The tables of Figures 2 and 3 and what follows from them, then those of the theory."""
        tables = self._figures(runner) | self._orders(runner)
        rng = np.random.default_rng(self.seed)
        places = theory.draw(self.draws, rng)
        equal = theory.equality(max(30, self.draws // 20), rng)
        return tables | {
            "exponents": theory.exponents(pd.concat([places, equal], ignore_index=True)),
            "limits": theory.limits(places.head(max(10, self.draws // 20)), ALPHAS),
            "critical": theory.critical_map(MAP_PHI, MAP_PSI, MAP_ALPHA),
            "panels": theory.panels(),
            "other_spectra": theory.other_spectra(OTHER_PHI),
            "kernels": theory.kernels(),
            "spectra": theory.spectra(),
            "references": proof.references(),
            "reasons": proof.reasons(places.head(max(10, self.draws // 10))),
            "linear": proof.linear(orders.whole(self._law(0.0, 0.5, 0.0, 0.0)), 1e-4, 100.0),
            "comparison": proof.comparison(self._law(0.0, 0.0, 0.0, 0.0), 1e-6, 3000.0),
        }

    def _law(self, phi: float, psi: float, alpha: float, b: float) -> Law:
        return Law(phi, psi, alpha, b, self.clip, self.label_noise, self.initial_risk)

    def _figures(self, runner: Runner) -> dict[str, pd.DataFrame]:
        gammas = _gammas(self.decades)
        other = [replace(law, initial_risk=start) for law in self.flat + self.steep[:1] for start in self.starts]
        other = [law for law in other if law.alpha == (1.0 if 1.0 in self.flat_alpha else self.flat_alpha[0])]
        bare = curves.without_privacy(self.flat)
        laws = list(dict.fromkeys([*self.flat, *self.steep, *bare, *other]))
        solved = _along(runner, curves.solve, laws, gammas)
        tables = {
            name: pd.concat([curves.rows(law, gammas, solved[law]) for law in chosen], ignore_index=True)
            for name, chosen in (("figure-2", self.flat), ("figure-3", self.steep), ("free", bare))
        }
        starts = [curves.rows(law, gammas, solved[law]).assign(initial_risk=law.initial_risk) for law in other]
        far = curves.approach([*self.flat, *self.steep], _gammas(self._beyond))
        drawn = pd.concat([tables["figure-2"], tables["figure-3"]], ignore_index=True)
        slopes = curves.local_slopes(drawn)
        return {
            "figure-2": tables["figure-2"],
            "figure-3": tables["figure-3"],
            "slopes": slopes,
            "fits": curves.fits(drawn),
            "approach": far,
            "settled": curves.settled(slopes, far),
            "cost": curves.cost(tables["figure-2"], tables["free"]),
            "starts": pd.concat(starts, ignore_index=True),
            "check": self._checked(runner, solved),
        }

    def _checked(self, runner: Runner, solved: dict[Law, list[np.ndarray]]) -> pd.DataFrame:
        at = {gamma: place for place, gamma in enumerate(_gammas(self.decades))}
        known = [(law, gamma, solved[law][at[gamma]]) for law in [*self.flat, *self.steep]
                 for gamma in _gammas(self.checked) if gamma in at]  # fmt: skip
        cells = {curves.Checked(law, gamma, float(found[1])): float(found[0]) for law, gamma, found in known}
        values = runner.run(curves.check, list(cells), 1, 0) if cells else {}
        rows = [cell.law.place | {"gamma": cell.gamma, "risk": risk, "lsoda": same, "lsoda_least": least}
                for cell, risk in cells.items() for same, least in values[cell]]  # fmt: skip
        return pd.DataFrame(rows)

    def _orders(self, runner: Runner) -> dict[str, pd.DataFrame]:
        gammas = _gammas(self.order_decades)
        cases = [self._law(*place) for place in orders.CASES]
        theorem = orders.theorem_cells(cases, gammas)
        some = [orders.whole(law) for law in cases]
        lemma = [orders.Given(law, g, a) for law in some for a in orders.EXPONENTS for g in gammas]
        known = [self._law(*place) for place in orders.BOUNDED]
        along = [orders.Given(law, g, float(scaling.rate_exponent(**law.place))) for law in known for g in gammas[1:]]
        along += [orders.Given(orders.whole(self._law(*orders.UNBOUNDED)), g, orders.STEEPEST) for g in gammas]
        named = orders.clip_cells([cases[0], cases[5], cases[8], cases[11]], _gammas(self.clip_decades))
        clips = runner.run(orders.best_at, list(dict.fromkeys(cell for _, cell in named)), 1, 0)
        checked = [orders.Given(law, COARSE, -0.6) for law in known if law.alpha > 0]
        equal = [(self._law(*place), float(scaling.rate_exponent(*place))) for place in orders.EQUAL]
        return {
            "powers": _rows(runner, orders.released, theorem, orders.theorem_row),
            "orders": _rows(runner, orders.released, lemma, orders.order_row),
            "paths": pd.concat(
                [orders.path_rows(c, v[0]) for c, v in runner.run(orders.paths, along, 1, 0).items()], ignore_index=True
            ),
            "parts": pd.concat(
                [_parts(c, v[0]) for c, v in runner.run(orders.parts, checked, 1, 0).items()], ignore_index=True
            ),
            "clips": pd.DataFrame([_clip_row(name, cell, clips[cell][0]) for name, cell in named]),
            "printed_exponent": orders.printed_exponent(),
            "logarithm": pd.concat([orders.logarithm(orders.whole(law), a) for law, a in equal], ignore_index=True),
        }


def _gammas(decades: Sequence[int]) -> tuple[float, ...]:
    return tuple(10.0**-decade for decade in decades)


def _along(
    runner: Runner, trial: Callable[..., np.ndarray], laws: Sequence[Law], gammas: Sequence[float]
) -> dict[Law, list[np.ndarray]]:
    """A trial at each γ of each curve."""
    cells = [Cell(law, gamma) for law in laws for gamma in gammas]
    found = runner.run(trial, cells, 1, 0) if cells else {}
    return {law: [found[Cell(law, gamma)][0] for gamma in gammas] for law in laws}


def _rows(runner: Runner, trial: Any, cells: Sequence[Any], row: Callable[..., dict[str, float]]) -> pd.DataFrame:
    return pd.DataFrame([row(cell, values[0]) for cell, values in runner.run(trial, cells, 1, 0).items()])


def _parts(cell: orders.Given, found: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame([cell.law.place | {"gamma": cell.gamma, "grid": grid, "risk": risk, "side": side}
                         for grid, (risk, side) in zip(("coarse", "fine"), found)])  # fmt: skip


def _clip_row(name: str, cell: Cell, found: np.ndarray) -> dict[str, Any]:
    law = cell.law
    told = {"case": int(scaling.regime(**law.place)), "clip": name, "value": law.clip, "gamma": cell.gamma}
    rest = {"inverse_gamma": 1 / cell.gamma, "risk": found[0], "eta0": found[1], "h": law.h}
    return law.place | told | rest | {"ratio": found[0] / cell.gamma**law.h}
