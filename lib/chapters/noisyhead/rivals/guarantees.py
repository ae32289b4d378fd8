"""What one prompt can move the ridge solution, and what DP-ridge's noise hides of that: exactly, and by audit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from companion.streams import Runner, generator
from costofprivacy.noisyhead import head, private_ridge
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, audit_mechanism, detectable
from costofprivacy.privacy.audit import each_of

Pair = tuple[Statistics, Statistics]

SEARCH, TYPICAL, DRAWN = 2**32, 2**32 + 1, 2**32 + 2  # trial numbers of the streams used here
FAR = 10.0  # how many times C the response is that (2.6) as it stands does not clip
PRINTED, DOUBLED, RIGHT = "as printed", "with the Gaussian mechanism's 2", "right"


def moved(pair: Pair, penalty: float) -> float:
    """‖Γ̂ − Γ̂'‖_F of the ridge solutions on two data sets."""
    first, second = (ridge(head.moments(data), penalty) for data in pair)
    return float(np.linalg.norm(first - second))


def flipped(data: Statistics, told: PrivateRidge) -> Pair:
    """A data set whose last prompt is made as large as projection allows, with response C and with −C."""
    context, response = data.context.copy(), data.response.copy()
    context[-1] *= told.largest / np.linalg.norm(context[-1])
    response[-1] = told.clip_norm
    other = response.copy()
    other[-1] *= -1
    return Statistics(data.query, context, response), Statistics(data.query, context, other)


def removed(told: PrivateRidge, D: int) -> Pair:
    """Every other prompt 0; the last one as large as it can be, or 0 as well."""
    with_prompt, _ = private_ridge.flipped_neighbours(told, D)
    return with_prompt, replace(with_prompt, context=np.zeros_like(with_prompt.context))


def unclipped(told: PrivateRidge, D: int) -> Pair:
    """As `private_ridge.flipped_neighbours`, with the responses ten times C that (2.6) does not clip."""
    first, second = private_ridge.flipped_neighbours(told, D)
    return replace(first, response=FAR * first.response), replace(second, response=FAR * second.response)


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
    A'⁻¹U = A⁻¹U(I + KM)⁻¹, M = UᵀA⁻¹U. So each move needs two columns of A⁻¹Z and a 2 × 2 system.

    Args:
        data: the N prompts of a data set, then those that replace them. told: C, G, λ, N.
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
            clipped_as[told.clip_norm] = _clipped(model, told, pairs, seed)
        clipped, replaced = (head.project(data, told.feature_bound) for data in clipped_as[told.clip_norm])
        neighbours = {
            "flipped": private_ridge.flipped_neighbours(told, D),
            "typical": flipped(clipped, told),
            "removed": removed(told, D),
            "unclipped": unclipped(told, D),
            "constructed": private_ridge.worst_neighbours(told, D),
        }
        bounds = {
            "printed": private_ridge.sensitivity_printed(told),
            "bound": private_ridge.sensitivity(told),
            "coarse": private_ridge.sensitivity_coarse(told),
        }
        found = {
            "largest_found": search(told, pairs, generator(seed, told.N, SEARCH)),
            "drawn": drawn(replaced, told),
        }
        row = {"setting": setting, "N": told.N, "clip_norm": told.clip_norm, "feature_bound": told.feature_bound}
        moves = {name: moved(pair, told.penalty) for name, pair in neighbours.items()}
        rows.append(row | bounds | moves | found | {"pairs": pairs})
    return pd.DataFrame(rows)


def _clipped(model: PromptModel, told: PrivateRidge, pairs: int, seed: int) -> Pair:
    """A drawn data set, and another one with the prompts that replace its own; responses clipped."""
    sizes = {TYPICAL: told.N, DRAWN: told.N + pairs}
    one, two = (
        head.sample_statistics(model, size, told.clip_norm, rng=generator(seed, told.N, stream))[1]
        for stream, size in sizes.items()
    )
    return one, two


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

    @property
    def key(self) -> int:
        """All audits of one size share their random stream, which no training-set size names."""
        return 0


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
