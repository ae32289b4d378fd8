"""Other people's software audited, in its extra environment or by transcription. Runs that are committed are read."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.every_mechanism import worker_diffprivlib, worker_opacus, worker_opendp
from chapters.privacy.every_mechanism.mechanisms import FAR, Data, Pair, pair
from companion.running import extras
from companion.streams import generator
from costofprivacy.privacy import ApproximateDP, audit_mechanism, exact_noise_multiplier
from costofprivacy.privacy.audit import each_of
from costofprivacy.privacy.subsampled import Neighbours, poisson_epsilon

# ---- Transcriptions ----
# Two packages for R, transcribed for one feature and no intercept, as their public source code has them.
#
# *DPpack* 0.2.2, ``LinearRegressionDP`` (`R/StatModels.R`): objective perturbation of Kifer, Smith and Thakurta (2012)
# on features scaled to ±1 and responses scaled to ±p, with |θ|² ≤ p. With p = 1 the objective is ½Σ(x_iθ − y_i)² +
# ½(γ + 2λ/ε)θ² + bθ, b normal with variance ζ²(8 ln(2/δ) + 4ε)/ε², λ = p, ζ = 2p^{3/2}. Its minimum on [−1, 1] has a
# closed form. The package stops its search at a relative tolerance of 10⁻⁴, and no noise pays for it; here the minimum
# is exact, so that an audit of the transcription says nothing about that.
#
# *DPrivStats* 0.1.0, ``dp_lm`` (`R/dp_regression.R`, `R/sensitivity.R`): least squares plus Gaussian noise, calibrated
# exactly to CD/λ_min, where λ_min is the smallest eigenvalue of the data's own XᵀX, C bounds ‖x‖ and D is the range of
# the response. By default the design is *taken as public*. Then λ_min is public, and the sensitivity is right for a
# response that is replaced: (XᵀX)⁻¹x_i is at most C/λ_min long. With ``assume_public_design = FALSE`` the package
# multiplies by 3, which its documentation calls a heuristic. The noise still depends on the records.

PENALTY = 1.0  # γ of DPpack
HEURISTIC = 3.0  # of DPrivStats, where the design is private

ROUGH: Pair = pair(((0.05, 0.0),) * 3, (1.0, 0.5), (0.05, 0.0))  # one record has nearly all of XᵀX
RESPONSES: Pair = pair(((1.0, 0.0),) * 3, (1.0, 1.0), (1.0, -1.0))


def dppack(given: Data, budget: ApproximateDP, normals: np.ndarray) -> np.ndarray:
    """Coefficients of DPpack for |x| ≤ 1 and |y| ≤ 1, one for each normal."""
    x, y = np.clip(given[0][:, 0], -1, 1), np.clip(given[1], -1, 1)
    zeta, lambda_, epsilon = 2.0, 1.0, budget.epsilon
    b = zeta * math.sqrt(8 * math.log(2 / budget.delta) + 4 * epsilon) / epsilon * normals
    curvature = float(x @ x) + PENALTY + 2 * lambda_ / epsilon
    return np.clip((float(x @ y) - b) / curvature, -1, 1)


def dprivstats(given: Data, budget: ApproximateDP, normals: np.ndarray, *, public_design: bool) -> np.ndarray:
    """Coefficients of DPrivStats for |x| ≤ 1 and |y| ≤ 1, one for each normal; by default the design is public."""
    x, y = given[0][:, 0], np.clip(given[1], -1, 1)
    square = float(x @ x)
    sensitivity = 2.0 / square * (1.0 if public_design else HEURISTIC)
    return float(x @ y) / square + sensitivity * exact_noise_multiplier(budget) * normals


# ---- Software ----

BUDGET = ApproximateDP(1.0, 1e-5)  # of every release here
WIDE = 0.05  # δ at which sampled steps are audited
CONFIDENCE = 0.999  # of all these audits together
OPACUS, DIFFPRIVLIB, OPENDP = "opacus", "diffprivlib", "opendp"
RATE, STEPS = 0.5, 3  # of Opacus
FAMILY = 8  # audits here, at most
COLUMNS = ("software", "case", "audited_delta", "releases", "own_claim", "claim", "epsilon_found")


@dataclass(frozen=True)
class Case:
    """One function of one package, with its neighbours.

    Args:
        software, case: what a reader calls them. first, second: x and y of both data sets. delta: at which ε is
            audited. settings: of the worker, sorted. releases: on each input. seed: of the noise, and of the audit.
    """

    software: str
    case: str
    first: tuple[tuple[float, ...], tuple[float, ...]]
    second: tuple[tuple[float, ...], tuple[float, ...]]
    delta: float
    settings: tuple[tuple[str, float], ...]
    releases: int
    seed: int

    @property
    def key(self) -> int:
        return sum(map(ord, self.software + self.case))


def case(software: str, name: str, two: Pair, releases: int, delta: float = BUDGET.delta, **settings: float) -> Case:
    """A case from a pair of data sets."""
    sets = [(tuple(map(float, x[:, 0])), tuple(map(float, y))) for x, y in two]
    return Case(software, name, sets[0], sets[1], delta, tuple(sorted(settings.items())), releases, 25)


EMPTY, SMALL = ((0.0, 0.0), (0.0, 0.0)), ((1.0, 0.5),)
CASES = {
    OPACUS: (case("Opacus", "DP-SGD", pair(EMPTY, (1.0, FAR), (1.0, -FAR)), 5_000, WIDE),),
    DIFFPRIVLIB: (
        case("diffprivlib", "bounds (−1, 1)", pair(EMPTY, (1.0, 1.0), (1.0, -1.0)), 10_000, low=-1.0, high=1.0),
        case("diffprivlib", "bounds (0, 100)", pair(SMALL, (100.0, 1.0), (0.0, 0.0)), 10_000, low=0.0, high=100.0),
    ),
    OPENDP: (case("OpenDP", "Theil–Sen", pair(((1.0, 0.5),), (0.5, 0.0), (0.5, 1.0)), 10_000),),
}


def _opacus(one: Case, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    told = {"epsilon": BUDGET.epsilon, "delta": BUDGET.delta, "rate": RATE, "steps": STEPS}
    return extras.find(OPACUS).call(worker_opacus.descend, arrays, **told, releases=one.releases, seed=one.seed)


def _diffprivlib(one: Case, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    told = {"epsilon": BUDGET.epsilon, "releases": one.releases, "seed": one.seed} | dict(one.settings)
    return extras.find(DIFFPRIVLIB).call(worker_diffprivlib.fit, arrays, **told)


def _opendp(one: Case, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    told = {"epsilon": BUDGET.epsilon, "bound": 1.0, "releases": one.releases}
    return extras.find(OPENDP).call(worker_opendp.theil_sen, arrays, **told)


CALLS: dict[str, Callable[[Case, dict[str, np.ndarray]], dict[str, np.ndarray]]] = {
    OPACUS: _opacus,
    DIFFPRIVLIB: _diffprivlib,
    OPENDP: _opendp,
}


def _claimed(one: Case, stated: float) -> tuple[float, float]:
    """The package's own ε, and the ε that follows for a record that is replaced, both at the δ of the audit."""
    if one.software != "Opacus":
        return stated, stated
    relations = (Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE)
    own, replaced = (poisson_epsilon(stated, RATE, STEPS, one.delta, relation) for relation in relations)
    return own, replaced


def measured(name: str, asked: Sequence[Case]) -> list[pd.DataFrame]:
    """A table of one row for each case: what is claimed, and what the audit of the scores finds."""
    found = []
    for one in asked:
        arrays = {"x": np.array([one.first[0], one.second[0]]), "y": np.array([one.first[1], one.second[1]])}
        out = CALLS[name](one, arrays)
        own, replaced = _claimed(one, float(out["stated"][0]))
        bounds = audit_of_scores(out["scores"], one.delta, rng=generator(one.seed, one.key, 0))
        told = {"software": one.software, "case": one.case, "audited_delta": one.delta, "releases": one.releases}
        found.append(pd.DataFrame([told | {"own_claim": own, "claim": replaced, "epsilon_found": bounds}]))
    return found


def audit_of_scores(scores: np.ndarray, delta: float, *, rng: np.random.Generator) -> float:
    """The lower bound on ε from scores that were drawn before, shape (2, releases)."""
    used = [0, 0]

    def drawn(which: int, count: int, source: np.random.Generator) -> np.ndarray:
        used[which] += count
        return scores[which, used[which] - count : used[which]]

    confidence = each_of(FAMILY, CONFIDENCE)
    found = audit_mechanism(drawn, 0, 1, delta=delta, releases=scores.shape[1], confidence=confidence, rng=rng)
    return found.epsilon


WORKERS: dict[str, Any] = {
    OPACUS: worker_opacus.descend,
    DIFFPRIVLIB: worker_diffprivlib.fit,
    OPENDP: worker_opendp.theil_sen,
}


def record(name: str) -> extras.Record:
    """Where the runs of an environment are kept."""
    code = (WORKERS[name], CALLS[name], _claimed, measured, audit_of_scores)
    return extras.Record(extras.Extra(name), "privacy/every-mechanism", f"{name}-runs", code)


def table(name: str) -> pd.DataFrame:
    """The runs of an environment; without it, those that are committed."""
    kept = record(name)
    if kept.extra.present:
        return kept.runs(CASES[name], 1, lambda cells: measured(name, cells))
    known = [kept.committed(one, 1) for one in CASES[name]]
    found = [runs for runs in known if runs is not None]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["trial", *COLUMNS, "digest"])


def transcribed(releases: int, seed: int) -> pd.DataFrame:
    """The packages for R: what the audit of each transcription finds at `BUDGET`."""
    made = {
        ("DPpack", "objective perturbation"): (dppack, RESPONSES),
        ("DPrivStats", "a response is replaced"): (partial(dprivstats, public_design=True), RESPONSES),
        ("DPrivStats", "a record is replaced"): (partial(dprivstats, public_design=False), ROUGH),
    }
    rows = []
    for (software, name), (function, two) in made.items():

        def scores(given: Any, count: int, rng: np.random.Generator, draw: Any = function) -> np.ndarray:
            return np.asarray(draw(given, BUDGET, rng.standard_normal(count)))

        rng, each = generator(seed, len(name), 0), each_of(FAMILY, CONFIDENCE)
        found = audit_mechanism(scores, *two, delta=BUDGET.delta, releases=releases, confidence=each, rng=rng)
        row = {"software": software, "case": name, "audited_delta": BUDGET.delta, "releases": releases}
        rows.append(row | {"own_claim": BUDGET.epsilon, "claim": BUDGET.epsilon, "epsilon_found": found.epsilon})
    return pd.DataFrame(rows)
