"""What is measured for Table 1: NoisyHead and DP-ridge on the same prompts, at the same budgets."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from chapters.noisyhead import authors
from chapters.noisyhead.low_dimensional.measure import published as published_figure_1
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy.noisyhead import (
    accounts,
    dynamics,
    head,
    hyperparameters,
    population,
    pretraining,
    private_ridge,
    recipes,
)
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.curvature import for_updates
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, audit_mechanism, detectable
from costofprivacy.privacy.audit import each_of
from costofprivacy.settings import Setting

# ---- Closed forms ----

FeatureBound = Callable[[PromptModel, int, float], float]


def published_at(
    model: PromptModel,
    N: int,
    failure: float,
    penalty: float,
    bound: FeatureBound = hyperparameters.feature_bound_proof,
) -> Hyperparameters:
    """NoisyHead's published setting at any λ and G (the printed η₀ would take ηλ beyond 1 for λ ≥ 10)."""
    C, G = hyperparameters.clip_norm(model, N, failure), bound(model, N, failure)
    R = hyperparameters.weight_bound(model, N, failure, penalty)
    rate = hyperparameters.learning_rate_published(G, penalty)
    return Hyperparameters(C, G, R, penalty, rate, hyperparameters.iterations(recipes.POWER_OF_N, N, rate, penalty))


def corrected_at(model: PromptModel, N: int, failure: float, penalty: float) -> Hyperparameters:
    """The same with λ/2 in the update and R = C/(2√λ)."""
    asked = published_at(model, N, failure, penalty)
    R = hyperparameters.weight_bound_singular(asked.clip_norm, penalty)
    return replace(asked, weight_bound=R, penalty=penalty / 2)


def ladder(
    model: PromptModel, hyper: Mapping[Setting, Hyperparameters], penalty: float, N: int, budget: ApproximateDP
) -> pd.DataFrame:
    """Noise part of the excess risk in closed form (Π_R idle), from DP-ridge as printed to NoisyHead as published.

    One thing changes from each row to the next; ``factor`` says what it costs. ``limit_of_R`` is the excess risk of
    weights on the sphere of radius R, beyond which Π_R holds NoisyHead back.
    """
    told = PrivateRidge(hyper[Setting.PUBLISHED].clip_norm, hyper[Setting.PUBLISHED].feature_bound, penalty, N)
    right, asked = hyper[Setting.CORRECTED], hyper[Setting.PUBLISHED]
    wide = replace(right, weight_bound=asked.weight_bound)
    energy = population.context_energy(model)

    def step_std(account: str, run: Hyperparameters) -> float:
        return noise_std(account, run, budget, N, run.steps)

    stages = [
        ("DP-ridge, noise as printed", None, private_ridge.noise_std_printed(told, budget)),
        ("DP-ridge, right sensitivity, exact Gaussian mechanism", None, private_ridge.noise_std(told, budget)),
        ("NoisyHead, last iterate, R = C/(2√λ), λ/2 in the update", right, step_std(LAST, right)),
        ("… every iterate, exact composition", right, step_std(EVERY, right)),
        ("… R = C²√(N/L)/λ", wide, step_std(EVERY, wide)),
        ("… classical mechanism, basic composition", wide, step_std(ALGORITHM, wide)),
        ("… λ in the update: NoisyHead as published", asked, step_std(ALGORITHM, asked)),
    ]
    rows = []
    for name, run, std in stages:
        risk = std**2 * energy if run is None else dynamics.noise_risk(run, model, std, energy / model.D**2)
        limit = math.inf if run is None else run.weight_bound**2 * energy / model.D**2
        row = {"stage": name, "N": N, "epsilon": budget.epsilon, "noise_std": std, "noise_risk": risk}
        rows.append(row | {"limit_of_R": limit})
    table = pd.DataFrame(rows)
    return table.assign(factor=table["noise_risk"] / table["noise_risk"].shift())


@dataclass(frozen=True)
class Path:
    """A way to infinity: N, L and D at a size, and by what λ is multiplied there."""

    sizes: Callable[[int, int], tuple[int, PromptModel]]
    growth: Callable[[int, PromptModel], float] = lambda N, model: 1.0


def _quarter(size: int, D: int) -> tuple[int, PromptModel]:
    return size, PromptModel(D, math.isqrt(math.isqrt(size)))


PATHS = {
    "N, with L = N^(1/2)": Path(lambda size, D: (size, PromptModel(D, math.isqrt(size)))),
    "N, with L = N^(1/4)": Path(_quarter),
    "N, with L = N^(1/4), λ ∝ √N/L": Path(_quarter, lambda N, model: math.sqrt(N) / model.L),
    "N, with L = N": Path(lambda size, D: (size, PromptModel(D, size))),
    "D, with L² = N = 10⁶": Path(lambda size, D: (10**6, PromptModel(size, 1000))),
}
SIZES = tuple(10**k for k in range(3, 31))
PUBLISHED, CORRECTED, LAST_ITERATE = "NoisyHead, published", "NoisyHead, corrected", "NoisyHead, last iterate"


def powers(D: int, penalty: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise parts of DP-ridge (rightly calibrated) and of NoisyHead along `PATHS`, in closed form.

    ``over_ridge`` is NoisyHead's over DP-ridge's, ``exponent`` its local exponent along the path; ``rests_at`` the
    excess risk at which NoisyHead stays without noise, because its update rests elsewhere.
    """
    tables = []
    for name, path in PATHS.items():
        rows = []
        for size in SIZES:
            N, model = path.sizes(size, D)
            lam = penalty * path.growth(N, model)
            asked, right = (of(model, N, failure, lam) for of in (published_at, corrected_at))
            told = PrivateRidge(asked.clip_norm, asked.feature_bound, lam, N)
            energy, gap = population.context_energy(model), population.minimiser_gap(model, lam)
            ridge_risk = private_ridge.noise_std(told, budget) ** 2 * energy
            for algorithm, account, hyper, rest in (
                (PUBLISHED, ALGORITHM, asked, gap),
                (CORRECTED, EVERY, right, 0.0),
                (LAST_ITERATE, LAST, right, 0.0),
            ):
                std = noise_std(account, hyper, budget, N, hyper.steps)
                risk = dynamics.noise_risk(hyper, model, std, energy / model.D**2)
                row = {"path": name, "size": float(size), "algorithm": algorithm}
                rows.append(row | {"ridge_risk": ridge_risk, "noise_risk": risk, "rests_at": rest})
        table = pd.DataFrame(rows)
        table["over_ridge"] = table["noise_risk"] / table["ridge_risk"]
        table["exponent"] = table.groupby("algorithm", sort=False)["over_ridge"].transform(
            lambda ratio: _fits.local_exponents(np.array(SIZES, dtype=float), ratio.to_numpy())
        )
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


GRID = tuple(np.geomspace(1e-3, 1e2, 41))


def penalties(
    model: PromptModel, failure: float, N: int, budget: ApproximateDP, grid: Sequence[float] = GRID
) -> pd.DataFrame:
    """Test error against λ, in closed form (no clipping): without privacy, DP-ridge, NoisyHead with its last iterate.

    The population's ridge solution at λ, and the noise part of each method, rightly calibrated, added to its error.
    """
    rows = []
    for penalty in grid:
        hyper = corrected_at(model, N, failure, penalty)
        told = PrivateRidge(hyper.clip_norm, hyper.feature_bound, penalty, N)
        energy, plain = population.context_energy(model), population.ridge_prediction_error(model, penalty)
        once = private_ridge.noise_std(told, budget) ** 2 * energy
        std = noise_std(LAST, hyper, budget, N, hyper.steps)
        stepwise = dynamics.noise_risk(hyper, model, std, energy / model.D**2)
        errors = {"ridge, no privacy": plain, "DP-ridge": plain + once, "NoisyHead, last iterate": plain + stepwise}
        rows += [{"penalty": penalty, "method": method, "test_error": error} for method, error in errors.items()]
    table = pd.DataFrame(rows)
    return table.assign(N=N, epsilon=budget.epsilon, response_variance=model.response_variance)


# ---- Guarantees ----

SEARCH, TYPICAL, DRAWN = 2**32, 2**32 + 1, 2**32 + 2  # trial numbers of the streams used here
FAR = 10.0  # how many times C the response is that (2.6) as it stands does not clip
PRINTED, DOUBLED, RIGHT = "as printed", "with the Gaussian mechanism's 2", "right"


def moved(pair: tuple[Statistics, Statistics], penalty: float) -> float:
    """‖Γ̂ − Γ̂'‖_F of the ridge solutions on two data sets."""
    first, second = (ridge(head.moments(data), penalty) for data in pair)
    return float(np.linalg.norm(first - second))


def flipped(data: Statistics, told: PrivateRidge) -> tuple[Statistics, Statistics]:
    """A data set whose last prompt is made as large as projection allows, with response C and with −C."""
    context, response = data.context.copy(), data.response.copy()
    context[-1] *= told.largest / np.linalg.norm(context[-1])
    response[-1] = told.clip_norm
    other = response.copy()
    other[-1] *= -1
    return Statistics(data.query, context, response), Statistics(data.query, context, other)


def search(told: PrivateRidge, pairs: int, rng: np.random.Generator) -> float:
    """The largest move over random neighbours, worked out by the rank-one update in the plane that matters.

    The other N − 1 prompts are equal, of random length along the first axis; two prompts in the plane of that axis and
    another, of random angle, length and response, half of them as long and as large as they can be.
    """
    lam_n, others, size = told.penalty * told.N, told.N - 1, (2, pairs)
    along = rng.uniform(0, told.largest, pairs) ** 2 * others
    solution = told.clip_norm * np.sqrt(others * along) / (lam_n + along)
    angle = rng.uniform(-math.pi, math.pi, size)
    length = told.largest * np.where(rng.random(size) < 0.5, 1.0, rng.random(size))
    response = told.clip_norm * np.where(
        rng.random(size) < 0.5, rng.choice([-1.0, 1.0], size), rng.uniform(-1, 1, size)
    )
    z = length * np.array([np.cos(angle), np.sin(angle)])
    solved = z / np.stack([lam_n + along, np.full(pairs, lam_n)])[:, None]
    step = solved * (response - solution * z[0]) / (1 + (z * solved).sum(axis=0))
    return float(np.linalg.norm(step[:, 0] - step[:, 1], axis=0).max())


def drawn(data: Statistics, told: PrivateRidge) -> float:
    """The largest move over drawn neighbours: one prompt after the other of a drawn data set gives way to a drawn one.

    The paper's reading, "with high probability"; Definition 3.1 speaks of all neighbours.

    With A = λN I + Σ zzᵀ, s = A⁻¹ Σ yz and residuals r = y − ⟨s, z⟩, replacing z_o by z_n moves the solution by
    d = A'⁻¹(r_n z_n − r_o z_o), A' = A + UKUᵀ, U = (z_n, z_o), K = diag(1, −1); and by the rank-two update
    A'⁻¹U = A⁻¹U(I + KM)⁻¹, M = UᵀA⁻¹U. So each move needs two columns of A⁻¹Z and a 2 × 2 system. ``data`` holds the N
    prompts of a data set, then those that replace them.
    """
    z, y, N = data.Z.reshape(len(data.response), -1), data.response, told.N
    gram = z[:N].T @ z[:N] + told.penalty * N * np.eye(z.shape[1])
    solved = np.linalg.solve(gram, z.T).T
    residual = y - solved @ (z[:N].T @ y[:N])
    new, old = np.arange(N, len(y)), np.arange(N, len(y)) % N
    U, moves = (np.stack([of[new], of[old]], axis=1) for of in (z, solved))
    system = np.eye(2) + np.array([[1.0], [-1.0]]) * (U @ moves.transpose(0, 2, 1))
    weights = np.linalg.solve(system, np.stack([residual[new], -residual[old]], axis=1)[:, :, None])
    return float(np.linalg.norm((weights * moves).sum(axis=1), axis=1).max())


def sensitivity_rows(model: PromptModel, settings: Mapping[str, PrivateRidge], pairs: int, seed: int) -> pd.DataFrame:
    """Bounds on the sensitivity and moves found, by setting of G, at one N.

    ``flipped``: every other prompt 0, one response flipped; ``typical``: the same response in a drawn data set;
    ``removed``: that prompt against an empty one; ``unclipped``: the flip without clipping; ``largest_found``: random
    search; ``drawn``: the largest over drawn replacements, ``pairs`` of them; ``constructed``: the pair that is worst
    by the derivation.
    """
    rows, D, clipped_as = [], model.D, {}
    for setting, told in settings.items():
        if told.clip_norm not in clipped_as:  # the settings differ in G alone
            # a drawn data set, and another one with the prompts that replace its own; responses clipped
            clipped_as[told.clip_norm] = [
                head.sample_statistics(model, size, told.clip_norm, rng=generator(seed, told.N, stream))[1]
                for stream, size in ((TYPICAL, told.N), (DRAWN, told.N + pairs))
            ]
        clipped, replaced = (head.project(data, told.feature_bound) for data in clipped_as[told.clip_norm])
        first, second = private_ridge.flipped_neighbours(told, D)
        far = [replace(one, response=FAR * one.response) for one in (first, second)]
        neighbours = {
            "flipped": (first, second),
            "typical": flipped(clipped, told),
            "removed": (first, replace(first, context=np.zeros_like(first.context))),
            "unclipped": (far[0], far[1]),
            "constructed": private_ridge.worst_neighbours(told, D),
        }
        bounds = {
            "printed": private_ridge.sensitivity_printed(told),
            "bound": private_ridge.sensitivity(told),
            "coarse": private_ridge.sensitivity_coarse(told),
        }
        found = {"largest_found": search(told, pairs, generator(seed, told.N, SEARCH)), "drawn": drawn(replaced, told)}
        row = {"setting": setting, "N": told.N, "clip_norm": told.clip_norm, "feature_bound": told.feature_bound}
        moves = {name: moved(pair, told.penalty) for name, pair in neighbours.items()}
        rows.append(row | bounds | moves | found | {"pairs": pairs})
    return pd.DataFrame(rows)


def calibrations(told: PrivateRidge, budget: ApproximateDP) -> dict[str, float]:
    """Standard deviation of an entry of the noise by calibration."""
    printed = private_ridge.noise_std_printed(told, budget)
    return {PRINTED: printed, DOUBLED: math.sqrt(2) * printed, RIGHT: private_ridge.noise_std(told, budget)}


def privacy_rows(told: PrivateRidge, D: int, budgets: Sequence[ApproximateDP]) -> pd.DataFrame:
    """What a release spends on the constructed neighbours: ε at the claimed δ, δ at the claimed ε; exact profiles.

    A lower bound on what DP-ridge spends: other neighbours may move further, up to `private_ridge.sensitivity`.
    """
    rows, distance = [], moved(private_ridge.worst_neighbours(told, D), told.penalty)
    for budget in budgets:
        for name, std in calibrations(told, budget).items():
            spent = GaussianDP(distance / std)
            claim = {"N": told.N, "epsilon": budget.epsilon, "delta": budget.delta, "calibration": name}
            exact = {"epsilon_spent": spent.epsilon(budget.delta), "delta_spent": float(spent.delta(budget.epsilon))}
            rows.append(claim | {"noise_std": std, "distance": distance} | exact)
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class AuditCell:
    """One mechanism to be audited: DP-ridge with some noise, on the constructed neighbours.

    The bounds of all ``family`` audits hold together with ``confidence``.
    """

    told: PrivateRidge
    D: int
    budget: ApproximateDP
    calibration: str
    releases: int
    confidence: float
    family: int = 1
    key: ClassVar[int] = 0  # all audits of one size share their random stream, which no training-set size names


def audit_trial(cell: AuditCell, *, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds on ε and on μ from releases alone, and the counts behind ε; shape (5,).

    A release's score is its component along the difference of the two solutions (`private_ridge.components`).
    """
    std, penalty = calibrations(cell.told, cell.budget)[cell.calibration], cell.told.penalty
    first, second = (head.moments(data) for data in private_ridge.worst_neighbours(cell.told, cell.D))
    difference = (ridge(first, penalty) - ridge(second, penalty)).reshape(-1)
    direction = difference / np.linalg.norm(difference)

    def scores(data: Moments, count: int, rng: np.random.Generator) -> np.ndarray:
        return private_ridge.components(data, cell.told, std, direction, count, rng=rng)

    found = audit_mechanism(
        scores,
        first,
        second,
        delta=cell.budget.delta,
        releases=cell.releases,
        confidence=each_of(cell.family, cell.confidence),
        rng=rng,
    )
    return np.array([found.epsilon, found.mu, *found.hits, found.releases])


def audits(runner: Runner, cells: Sequence[AuditCell], seed: int) -> pd.DataFrame:
    """What the audits find, beside the claim and what the exact profile says is spent.

    ``mu`` is that of Gaussian noise that is (ε, δ)-DP exactly, ``least_deficit`` the least by which noise can be too
    small for the bound on it to show that.
    """
    rows = []
    for cell, found in runner.run(audit_trial, cells, 1, seed).items():
        exact = privacy_rows(cell.told, cell.D, [cell.budget]).set_index("calibration").loc[cell.calibration]
        epsilon_found, mu_found, *counts = found[0]
        hits_first, hits_second, releases = map(int, counts)
        claim = cell.budget.to_gaussian().mu
        row = {"N": cell.told.N, "calibration": cell.calibration, "epsilon": cell.budget.epsilon}
        row |= {"epsilon_spent": exact["epsilon_spent"], "epsilon_found": epsilon_found}
        row |= {"mu": claim, "mu_spent": exact["distance"] / exact["noise_std"], "mu_found": mu_found}
        row |= {"hits_first": hits_first, "hits_second": hits_second, "releases": releases}
        least = detectable(claim, cell.releases, each_of(cell.family, cell.confidence))
        rows.append(row | {"confidence": cell.confidence, "least_deficit": least})
    return pd.DataFrame(rows)


# ---- Readings ----
# What the symbols of Appendix B could have been when Table 1 was made; the first option of each is what the text says.
DIMENSIONS: dict[str, Callable[[int], int]] = {"5": lambda N: 5, "⌊√N⌋": math.isqrt}
LENGTHS: dict[str, Callable[[int], int]] = {"⌊√N⌋": math.isqrt, "31": lambda N: 31}
FAILURES = {"1": 1.0, "0.05": 0.05, "1e-5": 1e-5}
PENALTIES: dict[str, Callable[[PromptModel, int], float]] = {
    "5": lambda model, N: 5.0,
    "√N": lambda model, N: math.sqrt(N),
    "N/D²": lambda model, N: N / model.D**2,
    "N/D": lambda model, N: N / model.D,
    "5N/1000": lambda model, N: 5 * N / 1000,
    "0.01": lambda model, N: 0.01,
}
FEATURE_BOUNDS: dict[str, FeatureBound] = {
    "theorem": hyperparameters.feature_bound_theorem,
    "proof": hyperparameters.feature_bound_proof,
    "C/√L": lambda model, N, failure: hyperparameters.clip_norm(model, N, failure) / math.sqrt(model.L),
    "C": hyperparameters.clip_norm,
}
DELTAS = {"1e-5": 1e-5, "1e-2": 1e-2}
FACTORS = {"1": 1, "2": 2, "4": 4, "8": 8}  # on the variance: 2 for the Gaussian mechanism, 4 for replacing
MEASURES: dict[str, Callable[[PromptModel], float]] = {
    "excess risk": population.context_energy,
    "‖Γ̂ − Γ*‖²": lambda model: float(model.D**2),
}
OPTIONS: dict[str, Mapping[str, object]] = {
    "λ": PENALTIES,
    "κ": FAILURES,
    "G": FEATURE_BOUNDS,
    "L": LENGTHS,
    "D": DIMENSIONS,
    "δ": DELTAS,
    "factor": FACTORS,
    "measure": MEASURES,
}
KEPT = 100  # of the nearest readings, beside the text's own
NEAR = 4.0  # standard errors within which a reading is kept whatever its rank
PAPERS = {name: {next(iter(options))} for name, options in OPTIONS.items()} | {"G": {"theorem", "proof"}}


@cache
def _model(length: str, dimension: str, N: int) -> PromptModel:
    return PromptModel(DIMENSIONS[dimension](N), LENGTHS[length](N))


def predicted(reading: Mapping[str, str], N: int, epsilon: float) -> float:
    """DP-ridge's noise in the reading's measure: C²G² log(1.25/δ)/(λNε)², times the factor, times E‖m‖² or D²."""
    std = _noise_std(*(reading[name] for name in ("λ", "κ", "G", "L", "D", "δ")), N, epsilon)
    return std**2 * FACTORS[reading["factor"]] * MEASURES[reading["measure"]](_model(reading["L"], reading["D"], N))


@cache
def _noise_std(
    penalty: str, kappa: str, bound: str, length: str, dimension: str, delta: str, N: int, epsilon: float
) -> float:
    model, failure = _model(length, dimension, N), FAILURES[kappa]
    C, G = hyperparameters.clip_norm(model, N, failure), FEATURE_BOUNDS[bound](model, N, failure)
    told = PrivateRidge(C, G, PENALTIES[penalty](model, N), N)
    return private_ridge.noise_std_printed(told, ApproximateDP(epsilon, DELTAS[delta]))


def readings(theirs: pd.DataFrame, relative_error: float) -> pd.DataFrame:
    """Every combination of `OPTIONS` against DP-ridge's column of Table 1, the nearest first.

    ``departures`` counts the choices that are not the text's, ``power`` is fitted from the first to the last N,
    ``least`` and ``largest`` are the extreme ratios of prediction to print, and ``deviation`` is the worst distance in
    standard errors of the print, each ``relative_error`` times its number.
    """
    printed = theirs[theirs["method"] == "dp-ridge"].sort_values(["N", "epsilon"])
    cells, risk = list(zip(printed["N"], printed["epsilon"])), printed["excess_risk"].to_numpy()
    span = math.log(cells[-1][0] / cells[0][0])
    rows = []
    for choice in product(*OPTIONS.values()):
        reading = dict(zip(OPTIONS, choice))
        ours = np.array([predicted(reading, N, epsilon) for N, epsilon in cells])
        ratio, departures = ours / risk, sum(value not in PAPERS[name] for name, value in reading.items())
        worst = np.abs(np.log(ratio)).max() / relative_error
        power = math.log(ours[-1] * cells[-1][1] ** 2 / (ours[0] * cells[0][1] ** 2)) / span
        against = {"power": power, "least": ratio.min(), "largest": ratio.max(), "deviation": worst}
        rows.append(reading | {"departures": departures} | against)
    return pd.DataFrame(rows).sort_values("deviation", kind="stable", ignore_index=True)


def other_column(theirs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's column of Table 1 beside what the nearest of the text's readings, and of all, give NoisyHead.

    In closed form: the noise part as far as Π_R lets it go, the lesser of ``noise_risk`` and ``limit_of_R``.
    """
    nearest = {"nearest of the text's": table[table["departures"] == 0].iloc[0], "nearest of all": table.iloc[0]}
    printed, rows = theirs[theirs["method"] == "noisyhead"], []
    for name, reading in nearest.items():
        for N, epsilon, risk in zip(printed["N"], printed["epsilon"], printed["excess_risk"]):
            model, failure = _model(reading["L"], reading["D"], N), FAILURES[reading["κ"]]
            penalty, bound = PENALTIES[reading["λ"]](model, N), FEATURE_BOUNDS[reading["G"]]
            hyper = published_at(model, N, failure, penalty, bound)
            std = pretraining.noise_std_printed(hyper, ApproximateDP(epsilon, DELTAS[reading["δ"]]), N)
            energy = population.context_energy(model) / model.D**2
            noise_risk = dynamics.noise_risk(hyper, model, std, energy)
            row = {"reading": name, "N": N, "epsilon": epsilon, "excess_risk_theirs": risk}
            rows.append(row | {"noise_risk": noise_risk, "limit_of_R": hyper.weight_bound**2 * energy})
    return pd.DataFrame(rows)


# ---- The experiment ----

NOISYHEAD, EXPERIMENT_LAST, DESCENT = "noisyhead", "noisyhead, last iterate", "descent without noise"
DP_RIDGE, SOLUTION, ZERO, REFERENCE = "dp-ridge", "ridge without noise", "zero", "ridge"


class Column(NamedTuple):
    """One number of a trial: ε is NaN where a method has none, ``share`` the part of T that is run, NaN likewise."""

    setting: str
    epsilon: float
    method: str
    share: float
    std: float
    steps: int


@dataclass(frozen=True)
class Cell(authors.LowDimension):
    """One training-set size with everything a trial needs."""

    shares: tuple[float, ...]
    test_prompts: int

    def told(self, setting: Setting) -> PrivateRidge:
        """What DP-ridge is told: C and G as NoisyHead's in the same setting."""
        hyper = self.hyper[setting]
        return PrivateRidge(hyper.clip_norm, hyper.feature_bound, self.penalty, self.N)

    @cached_property
    def solved(self) -> dict[Setting, list[Column]]:
        """The columns of DP-ridge in each setting, then of no noise; its noise is the right one where corrected."""
        columns: dict[Setting, list[Column]] = {}
        for s in Setting:
            noise = private_ridge.noise_std if s == Setting.CORRECTED else private_ridge.noise_std_printed
            own = [(b.epsilon, DP_RIDGE, np.nan, noise(self.told(s), b), 0) for b in self.budgets]
            columns[s] = [Column(str(s), *each) for each in (*own, (np.nan, SOLUTION, np.nan, 0.0, 0))]
        return columns

    @cached_property
    def descended(self) -> dict[Setting, list[Column]]:
        """The columns of NoisyHead in each setting: each share of T with every ε and accounting, then no noise."""
        columns: dict[Setting, list[Column]] = {setting: [] for setting in Setting}
        for setting, share in product(Setting, self.shares):
            hyper = self.hyper[setting]
            hyper = replace(hyper, steps=max(1, round(share * hyper.steps)))
            rows = [(NOISYHEAD, b.epsilon, accounts.setting_noise_std(setting, hyper, b, self.N)) for b in self.budgets]
            if setting == Setting.CORRECTED:
                last = ((b.epsilon, noise_std(LAST, hyper, b, self.N, hyper.steps)) for b in self.budgets)
                rows += [(EXPERIMENT_LAST, *each) for each in last]
            rows.append((DESCENT, np.nan, 0.0))
            columns[setting] += [Column(str(setting), e, method, share, std, hyper.steps) for method, e, std in rows]
        return columns

    @cached_property
    def columns(self) -> list[Column]:
        """What each number of a trial is."""
        common = [Column(str(Setting.PUBLISHED), np.nan, m, np.nan, 0.0, 0) for m in (ZERO, REFERENCE)]
        return [c for s in Setting for c in (*self.solved[s], *self.descended[s])] + common


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error.

    DP-ridge has the same noise direction in all settings and for all ε, NoisyHead the same directions step by step.
    """
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    truth, reference = head.moments(test).gram, ridge(head.moments(raw), cell.penalty)
    start, noise = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D)), rng.integers(2**32, size=2)
    weights = []
    for setting, hyper in cell.hyper.items():
        data = head.moments(head.project(clipped, hyper.feature_bound))
        once, each = cell.solved[setting], cell.descended[setting]
        initial = start if setting == Setting.PUBLISHED else None
        solver, learner = (np.random.default_rng(n) for n in noise)
        weights += [
            private_ridge.simulate(data, cell.penalty, [c.std for c in once], 1, rng=solver)[0],
            pretraining.pretrain(
                for_updates(data),
                hyper,
                [c.std for c in each],
                rng=learner,
                steps=[c.steps for c in each],
                initial=initial,
            ),
        ]
    Gamma = np.concatenate([*weights, np.stack([np.zeros_like(reference), reference])])
    difference = (Gamma - reference).reshape(len(Gamma), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


class Experiment(Parameters):
    """Table 1: excess risk of NoisyHead and of DP-ridge, and what DP-ridge's noise guarantees."""

    N: tuple[int, ...] = many(count(4, 10**7), 2000, 3000, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.4)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    shares: tuple[float, ...] = many(amount(1e-3, 1e3), 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
    """Parts of its number of steps for which NoisyHead is also run; 1 must be among them."""
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    pairs: int = parameter(count(1, 10**8), 20_000)
    """Random pairs of neighbours, and drawn ones, that are tried against the sensitivity."""
    releases: int = parameter(count(1000, 10**10), 4_000_000)
    """Releases of each audited mechanism on each of two neighbours."""
    confidence: float = parameter(chance(0.01, 1 - 1e-9), 0.9999)
    """Confidence of an audit."""
    seed: int = parameter(SEED, 4)

    def check(self) -> None:
        """Refuse shares without the whole run, and budgets and penalties that no run of a cell can have."""
        if 1.0 not in self.shares:
            raise ValueError(f"shares must contain 1, got {list(self.shares)}")
        for cell in self.cells:
            steps = [column.steps for columns in cell.descended.values() for column in columns]
            if max(cell.epsilon) > min(steps):  # the classical calibration of a step is no bound where ε/T > 1
                raise ValueError(f"epsilon must be at most T = {min(steps)} at N = {cell.N}, got {max(cell.epsilon)}")
            recipes.check_steps(max(steps), cell.penalty, cell.N)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table 1 and its comparison, test errors, early stopping, privacy, readings of Appendix B, powers."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        risks, errors = (
            authors.means(samples, index, name, place=0).drop(columns="std")
            for index, name in enumerate(("excess_risk", "test_error"))
        )
        whole = risks["share"].isna() | (risks["share"] == 1)
        table = risks[whole].drop(columns=["share", "steps"])
        table = table[table["method"] != REFERENCE].reset_index(drop=True)
        last, private = self.cells[-1], table[(table["method"] == DP_RIDGE) & (table["setting"] == Setting.PUBLISHED)]
        spread = (private["standard_error"] * np.sqrt(private["trials"]) / private["excess_risk"]).mean()
        theirs = published()
        read = readings(theirs, spread / math.sqrt(authors.TRIALS))
        kept = (read.index < KEPT) | (read["departures"] == 0) | (read["deviation"] <= NEAR)
        both = authors.beside(table, authors.if_published(self, theirs), ["N", "epsilon", "method"], "excess_risk")
        both["ratio"] = both["excess_risk_theirs"] / both["excess_risk"]
        order = ["method", "setting", "N", "epsilon", "excess_risk", "standard_error", "trials"]
        order += ["excess_risk_theirs", "excess_risk_figure_1", "ratio", "deviation"]
        best = errors["N"].map({cell.N: population.best_prediction_error(cell.model) for cell in self.cells})
        errors = errors.assign(best_linear_head=best, response_variance=1 + self.label_noise**2)
        told = [{str(s): c.told(s) for s in (Setting.PRINTED, Setting.PUBLISHED)} for c in self.cells]
        budgets, first = self.cells[0].budgets, told[0][Setting.PUBLISHED]
        kinds = list(product(budgets, (PRINTED, RIGHT)))
        audited = [AuditCell(first, self.D, *kind, self.releases, self.confidence, family=len(kinds)) for kind in kinds]
        with threadpool_limits(1):
            moves = [sensitivity_rows(c.model, t, self.pairs, self.seed) for c, t in zip(self.cells, told)]
            spent = [privacy_rows(t[Setting.PUBLISHED], self.D, budgets) for t in told]
        return {
            "table-1": table,
            "comparison": both[order],
            "test-error": errors[whole].drop(columns=["share", "steps"]).reset_index(drop=True),
            "steps": risks[risks["share"].notna()].reset_index(drop=True),
            "ladder": ladder(last.model, last.hyper, last.penalty, last.N, last.budgets[-1]),
            "sensitivity": pd.concat(moves, ignore_index=True),
            "privacy": pd.concat(spent, ignore_index=True),
            "audit": audits(runner, audited, self.seed),
            "readings": read[kept].assign(tried=len(read)).reset_index(drop=True),
            "other-column": other_column(theirs, read),
            "powers": powers(self.D, self.penalty, self.failure, last.budgets[-1]),
            "penalties": penalties(last.model, last.failure, last.N, last.budgets[-1]),
        }


def published() -> pd.DataFrame:
    """Table 1 as printed: N, epsilon, method, excess_risk; for NoisyHead also Figure 1's number of the same cell.

    ``excess_risk_figure_1`` is from the authors' public results (MIT licence, 2025 chebyshevtech), means of 500 trials.
    """
    wide = authors.read("noisyhead-table-1")
    names = {"excess_risk_noisyhead": NOISYHEAD, "excess_risk_dp_ridge": DP_RIDGE}
    long = wide.rename(columns=names).melt(["N", "epsilon"], list(names.values()), "method", "excess_risk")
    return long.merge(published_figure_1(), on=["N", "epsilon", "method"], how="left", suffixes=("", "_figure_1"))
