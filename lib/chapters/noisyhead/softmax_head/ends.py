"""What needs no private prompt: the best head for a known law, and the best head that knows no axes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from chapters.noisyhead.softmax_head.law import Law
from chapters.noisyhead.softmax_head.names import covariance
from companion.streams import Runner
from costofprivacy.noisyhead import elliptical, softmax
from costofprivacy.noisyhead.softmax import Contexts

KAPPA = 5.0  # a fit starts at A = (κ/D) Σ⁻¹, near the best of long prompts in five dimensions
WIDTHS = (0.1, 50.0)  # where a is looked for


@dataclass(frozen=True)
class EndCell:
    """One law, and how many synthetic prompts its public heads are found on."""

    law: Law
    prompts: int

    @property
    def key(self) -> int:
        """The size names the stream: all covariances have the same directions u."""
        return self.law.N


@dataclass(frozen=True)
class Ends:
    """The public softmax heads of a law.

    Args:
        width: a of the best A = aI. scale: its v. best: eigenvalues of the best A, on the axes of Σ. best_scale: its v.
    """

    width: float
    scale: float
    best: tuple[float, ...]
    best_scale: float


def trial(cell: EndCell, *, rng: np.random.Generator) -> np.ndarray:
    """a, v, then v and the eigenvalues of the best head; shape (3 + D,).

    The tasks are averaged out, and the axes of Σ are those of the coordinates: another rotation turns A with it.
    """
    law, eye = cell.law, np.eye(cell.law.D)
    data = softmax.every_task(law.draw(eye, cell.prompts, rng=rng))
    width = best_width(data)
    best, best_scale = softmax.fit(data, elliptical.matrix(eye, KAPPA / law.D / law.values))
    scale = float(softmax.best_scale(width * eye[None], data)[0][0])
    return np.array([width, scale, best_scale, *np.diagonal(best)])


def best_width(data: Contexts) -> float:
    """The a whose head aI, with the best v for it, has the least mean square error on synthetic prompts."""
    eye = np.eye(data.query.shape[1])[None]
    found = minimize_scalar(
        lambda log: float(softmax.best_scale(np.exp(log) * eye, data)[1][0]),
        bounds=(np.log(WIDTHS[0]), np.log(WIDTHS[1])),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(found.x))


def measure(cells: list[EndCell], runner: Runner, seed: int) -> dict[Law, Ends]:
    """The public heads of each law, each found once."""
    found = runner.run(trial, cells, 1, seed)
    return {cell.law: _read(values[0]) for cell, values in found.items()}


def _read(values: np.ndarray) -> Ends:
    width, scale, best_scale, *best = map(float, values)
    return Ends(width, scale, tuple(best), best_scale)


def table(public: dict[Law, Ends]) -> pd.DataFrame:
    """Table ``public-heads``: the heads that need no private prompt, of either kind, by law."""
    rows = []
    for law, found in public.items():
        linear, _ = elliptical.public_linear(law.values, law.L)
        row = {"covariance": covariance(law.condition), "N": law.N, "L": law.L, "a": found.width, "v": found.scale}
        row |= {"linear_a": linear, "best_v": found.best_scale, "least_best": min(found.best)}
        rows.append(row | {"largest_best": max(found.best)})
    return pd.DataFrame(rows)
