"""What is measured for Figure 4, Theorem 5.1 and its proof, as tables."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise, product

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.robustness import arithmetic
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, amount, count, usually
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate
from costofprivacy._validate import SHARE, within
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead import dynamics, head, population, recipes
from costofprivacy.noisyhead.accounts import ALGORITHM, noise_std
from costofprivacy.noisyhead.attack import (
    NONE,
    Attack,
    candidates,
    pretrain_each,
    statistic_energy,
    stealthy_shift,
    with_each,
)
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.noisyhead.ridge import RidgeWithOneMore, ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

# ---- Theorem 5.1 and its proof where its conditions hold: λ > C²/L, κ > N exp(−D²), perturbations of (5.2) ----

RESPONSES = ("left as it is", "shifted by α")  # y_{L+1}: as (5.1) has it, as (A.24) and the published numbers have it
UPPER, LOWER = "upper end, μ = 1", "lower end, μ = 1"
SMALL, SMALL_LOWER = "upper end, small μ", "lower end, small μ"
AMENDED_UPPER, AMENDED_LOWER = "amended upper end, μ = 1", "amended lower end, μ = 1"
AMENDED_SMALL, AMENDED_SMALL_LOWER = "amended upper end, small μ", "amended lower end, small μ"
LEAST_CONSTANT = 1e-4  # c_ℓ of the amended (5.2): with c_ℓ = 1 it admits nothing at sizes that can be run


@dataclass(frozen=True)
class Cell(authors.OfPrompts):
    """Sizes with everything that a trial needs."""

    N: int
    L: int
    D: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    failure: float
    penalty: float
    label_noise: float

    @property
    def key(self) -> int:
        """(L, D) names the random stream."""
        return self.L * 10**3 + self.D

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's hyperparameters, for a single step."""
        return recipes.theorem(self.model, self.N, self.failure, self.penalty)

    def noise_std(self, T: int) -> float:
        """Standard deviation of an entry of z_t for T steps."""
        return noise_std(ALGORITHM, self.hyper, ApproximateDP(self.epsilon, self.delta), self.N, T)

    @cached_property
    def lower(self) -> float:
        """The lower end of (5.2) on α²μ², constant one."""
        return attack_bounds.lower_end(self.model, self.N, self.failure, self.penalty)

    @cached_property
    def upper(self) -> float:
        """The upper end of (5.2) on α²μ⁴, constant one."""
        return attack_bounds.upper_end(self.model, self.N, self.penalty)

    @cached_property
    def perturbations(self) -> dict[tuple[str, str], Attack]:
        """The ends of (5.2), printed and amended, at μ = 1 and at a μ of the size of x̄, by name and response."""
        small = stealthy_shift(self.model)
        chosen = {
            UPPER: (math.sqrt(self.upper), 1.0),
            LOWER: (math.sqrt(self.lower), 1.0),
            SMALL: (math.sqrt(self.upper) / small**2, small),
            SMALL_LOWER: (math.sqrt(self.lower) / small, small),
            AMENDED_UPPER: (math.sqrt(self._upper_amended(1.0)), 1.0),
            AMENDED_LOWER: (math.sqrt(LEAST_CONSTANT * self.lower), 1.0),
            AMENDED_SMALL: (math.sqrt(self._upper_amended(small)), small),
            AMENDED_SMALL_LOWER: (math.sqrt(LEAST_CONSTANT * self.lower) / small, small),
        }
        return {
            (name, response): Attack(alpha, mu, alpha if response == RESPONSES[1] else 0.0)
            for name, (alpha, mu) in chosen.items()
            for response in RESPONSES
        }

    def size_of(self, attack: Attack) -> dict[str, float]:
        """α, as it is and over C."""
        return {"alpha": attack.response_shift, "alpha_over_C": attack.response_shift / self.hyper.clip_norm}

    def _upper_amended(self, mu: float) -> float:
        return attack_bounds.upper_end_amended(self.model, self.N, self.penalty, mu)

    def admits(self, attack: Attack) -> bool:
        """Whether (5.2) with constants one admits it (its very ends included)."""
        return _is_between(attack, self.upper / attack.feature_shift**4, self.lower)

    def admits_amended(self, attack: Attack) -> bool:
        """Whether (5.2) admits it with the upper end that (A.22) needs and a small c_ℓ."""
        return _is_between(attack, self._upper_amended(attack.feature_shift), LEAST_CONSTANT * self.lower)


def _is_between(attack: Attack, upper: float, lower: float) -> bool:
    square = attack.response_shift**2
    return square <= upper * (1 + 1e-9) and square * attack.feature_shift**2 >= lower * (1 - 1e-9)


RIDGE_QUANTITIES = ("displacement", "energy", "contribution", "weights", "bound")
HEAD_QUANTITIES = ("independent", "common")


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One data set: ‖Σ vec(Z) vec(Z)ᵀ‖_F/N; then NoisyHead's displacements by T, then ridge's quantities; flat."""
    raw, clipped = head.sample_statistics(cell.model, cell.N - 1, cell.hyper.clip_norm, rng=rng)
    return measured(cell, raw, clipped, sample(cell.model, 1, rng=rng), rng)


def measured(cell: Cell, raw: Statistics, clipped: Statistics, prompt: Prompts, rng: np.random.Generator) -> np.ndarray:
    """`trial` on a data set that is drawn already: prompts that stay clean, raw and clipped, and the attacked one."""
    rest = head.moments(raw)
    gram = np.linalg.norm(with_each(rest, cell.N - 1, candidates(prompt, [NONE]))[0].gram)
    heads = [_noisyhead(cell, clipped, prompt, T, rng) for T in cell.T]
    return np.concatenate([[gram], *heads, _ridge(cell, rest, prompt).reshape(-1)])


def _noisyhead(cell: Cell, clipped: Statistics, prompt: Prompts, T: int, rng: np.random.Generator) -> np.ndarray:
    """Squared displacement over a fresh prompt, by independent noise and by common noise, Γ⁰ = 0: shape (2,)."""
    hyper = replace(cell.hyper, steps=T)
    clean, bad = arithmetic.training_sets(clipped, prompt, [cell.perturbations[UPPER, RESPONSES[1]]], hyper)
    std = cell.noise_std(T)
    noises = np.stack([std * arithmetic.noise(seed, T, cell.D) for seed in rng.integers(2**63, size=2)])
    first, independent, common = pretrain_each([clean, bad, bad], hyper, noises, [0, 1, 0])
    return population.excess_risk(cell.model, np.stack([independent - first, common - first]))


def _ridge(cell: Cell, rest: Moments, prompt: Prompts) -> np.ndarray:
    """For each perturbation: displacement, ‖Z'‖², ‖y'Z' − yZ‖, ‖Γ*_bad − Γ*‖, what bounds it: shape (B, 5)."""
    solver = RidgeWithOneMore(rest, cell.N - 1, cell.penalty)
    last = candidates(prompt, [NONE, *cell.perturbations.values()])
    steps = solver.step(last.Z, last.response)
    moved = steps[1:] - steps[0]
    products = last.response[:, None, None] * last.Z
    bounds = attack_bounds.ridge_step_bound(rest, cell.N - 1, cell.penalty, last.response)
    return np.stack(
        [
            population.excess_risk(cell.model, moved),
            last.norm[1:] ** 2,
            np.linalg.norm(products[1:] - products[0], axis=(1, 2)),
            np.linalg.norm(moved, axis=(1, 2)),
            bounds[1:] + bounds[0],
        ],
        axis=1,
    )


def contribution_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """‖y'Z' − yZ‖/(α²μ²) of one prompt under each perturbation with μ = 1, shape (B,)."""
    attacks = [attack for attack in cell.perturbations.values() if attack.feature_shift == 1]
    last = candidates(sample(cell.model, 1, rng=rng), [NONE, *attacks])
    products = last.response[:, None, None] * last.Z
    claimed = np.array([attack.response_shift**2 for attack in attacks])
    return np.asarray(np.linalg.norm(products[1:] - products[0], axis=(1, 2)) / claimed)


def contribution_table(cell: Cell, ratios: np.ndarray) -> pd.DataFrame:
    """Both sides of (A.24) under each perturbation with μ = 1."""
    named = [(name, attack) for name, attack in cell.perturbations.items() if attack.feature_shift == 1]
    return pd.DataFrame(
        [
            {
                **{"N": cell.N, "L": cell.L, "D": cell.D, "perturbation": name, "response": response},
                **cell.size_of(attack),
                "admissible": cell.admits(attack),
                "least_ratio": ratio.min(),
                "a24_frequency": float((ratio >= 1).mean()),
                "trials": len(ratio),
            }
            for ((name, response), attack), ratio in zip(named, ratios.T, strict=True)
        ]
    )


def tables(measured: list[tuple[str, Cell, np.ndarray]]) -> dict[str, pd.DataFrame]:
    """Tables ``gram``, ``heads`` and ``perturbations`` of (axis, sizes, samples)."""
    makers = {"gram": gram_rows, "heads": head_rows, "perturbations": perturbation_rows}
    return {
        name: pd.DataFrame(
            [{"axis": axis, "N": of.N, "L": of.L, "D": of.D} | row for axis, of, x in measured for row in make(of, x)]
        )
        for name, make in makers.items()
    }


def gram_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Both sides of (A.21), divided by N, the root mean square of the left and ‖E vec(Z) vec(Z)ᵀ‖_F = e/D."""
    mean, error = _fits.mean_and_error(values[:, 0])
    yield {
        "norm": mean,
        "standard_error": error,
        "trials": len(values),
        "closed_form": attack_bounds.gram_norm_rms(cell.model, cell.N) / cell.N,
        "norm_of_mean": attack_bounds.gram_norm(cell.model, cell.N) / cell.N,
        "bound": attack_bounds.least_penalty(cell.model, cell.N, cell.failure),
        "penalty": cell.penalty,
    }


def head_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """NoisyHead's displacement by T and kind of noise beside the bounds of (5.3), of (A.20) and our own."""
    energy = population.context_energy(cell.model)
    R = cell.hyper.weight_bound
    for t, T in enumerate(cell.T):
        steps = replace(cell.hyper, steps=T)
        own = {
            "independent": attack_bounds.ball_displacement_mean(cell.model, R),
            "common": attack_bounds.trajectory_displacement(steps, cell.N) ** 2 * energy / cell.D**2,
        }
        for k, noise in enumerate(HEAD_QUANTITIES):
            mean, error = _fits.mean_and_error(values[:, 1 + 2 * t + k])
            yield {
                "T": T,
                "noise": noise,
                "displacement": mean,
                "standard_error": error,
                "trials": len(values),
                "bound_theorem": attack_bounds.noisyhead_displacement(cell.model, cell.N, cell.failure),
                "bound_ball": attack_bounds.ball_displacement(cell.model, cell.N, cell.failure, R),
                "bound_amended": own[noise],
            }


def perturbation_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Ridge's displacement and the steps (A.22)-(A.24) for each perturbation."""
    first = 1 + len(HEAD_QUANTITIES) * len(cell.T)
    measured = values[:, first:].reshape(len(values), -1, len(RIDGE_QUANTITIES))
    for b, ((name, response), attack) in enumerate(cell.perturbations.items()):
        displacement, energy, contribution, weights, bound = measured[:, b].T
        mean, error = _fits.mean_and_error(displacement)
        mean_energy, energy_error = _fits.mean_and_error(energy)
        yield {
            "perturbation": name,
            "response": response,
            **cell.size_of(attack),
            "mu": attack.feature_shift,
            "admissible": cell.admits(attack),
            "admissible_amended": cell.admits_amended(attack),
            "displacement": mean,
            "standard_error": error,
            "trials": len(values),
            "claimed": attack_bounds.ridge_displacement(attack, cell.N, cell.penalty),
            "bound": float((bound**2).mean()) * population.context_energy(cell.model) / cell.D**2,
            "energy": mean_energy,
            "energy_error": energy_error,
            "energy_closed_form": statistic_energy(cell.model, attack),
            "energy_claimed": attack_bounds.outlier_energy(cell.model, cell.N, cell.failure, attack),
            "energy_over_N_penalty": mean_energy / (cell.N * cell.penalty),
            "a23_ratio": float(np.median(weights * cell.N * cell.penalty / contribution)),
            "a24_frequency": float((contribution >= (attack.response_shift * attack.feature_shift) ** 2).mean()),
        }


# ---- A fraction of the training prompts attacked: what becomes of the test error on clean prompts ----
# Section 1.1 speaks of "a fraction of prompts"; Theorem 5.1 and Figure 4 attack a single one. The attack on each of
# them is (5.1), with the sizes of Figure 4 and a budget of Algorithm 1 that stays that of one prompt.

FIELDS = ("query", "context", "response")
FEW = 25  # prompts whose features are there at once: half a megabyte at Figure 4's sizes
Pair = tuple[Statistics, Statistics]  # raw and clipped
RIDGE, BOUNDED, QUIET, NOISYHEAD = "ridge", "ridge, clipped and projected", "noisyhead without noise", "noisyhead"
METHODS = (
    (RIDGE, Setting.PRINTED),
    (BOUNDED, Setting.PRINTED),  # with the C and G that Theorem 4.1 prints
    *((method, setting) for setting in Setting for method in (QUIET, NOISYHEAD)),
)


@dataclass(frozen=True)
class CorruptedCell(arithmetic.Cell):
    """Figure 4's sizes and budget, the shifts α of each attacked prompt, and the fractions that are attacked."""

    fractions: tuple[float, ...]

    @cached_property
    def counts(self) -> list[int]:
        """How many prompts each fraction is; at least one."""
        return [max(1, round(fraction * self.N)) for fraction in self.fractions]

    @property
    def edges(self) -> list[int]:
        """Where the stretches of prompts between two fractions begin and end."""
        return [0, *self.counts, self.N]

    @property
    def each(self) -> list[tuple[str, float]]:
        """The response of an attacked prompt's query and α of each attack."""
        return list(product(RESPONSES, self.alpha))


def corrupted_trial(cell: CorruptedCell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one data set: clean, then by attack and fraction; shape (1 + attacks · fractions, methods).

    The attacked prompts are the first ones, so that those of a small fraction are among those of a larger one. Γ⁰ and
    the noise are the same in all rows. Features are drawn for the prompts that are attacked; of the others their
    statistics, which is all that a learner sees.
    """
    bound, most = cell.hyper[Setting.PRINTED].clip_norm, max(cell.counts)
    few = (sample(cell.model, min(FEW, most - start), rng=rng) for start in range(0, most, FEW))
    data = attacked(cell, few)
    if most < cell.N:
        rest = head.sample_statistics(cell.model, cell.N - most, bound, rng=rng)
        raw, clipped = (_stack(both) for both in zip(data[0], rest))
        data[0] = raw, clipped
    return corrupted_measured(cell, data, rng)


def attacked(cell: CorruptedCell, parts: Iterable[Prompts]) -> list[Pair]:
    """Statistics of prompts, raw and clipped, as they are and under each attack.

    It is (5.1) as printed, or with the response of the query shifted as well.
    """
    bounds = (np.inf, cell.hyper[Setting.PRINTED].clip_norm)
    attacks = [NONE, *(Attack(a, cell.mu, a if response == RESPONSES[1] else 0.0) for response, a in cell.each)]

    def by_attack(few: Prompts, bound: float) -> list[Statistics]:
        data = candidates(few, attacks, bound)
        return [Statistics(*piece) for piece in zip(*(np.split(getattr(data, name), len(attacks)) for name in FIELDS))]

    found = [[by_attack(few, bound) for bound in bounds] for few in parts]
    raw, clipped = ([_stack(kept) for kept in zip(*of_bound)] for of_bound in zip(*found))
    return list(zip(raw, clipped, strict=True))


def corrupted_measured(cell: CorruptedCell, data: list[Pair], rng: np.random.Generator) -> np.ndarray:
    """`trial` on a data set that is drawn already, and by attack its first prompts, attacked.

    Test errors are in closed form over clean test prompts.
    """
    starts = [arithmetic.initial_std(setting) * rng.standard_normal((cell.D, cell.D)) for setting in Setting]
    seed = int(rng.integers(2**63))
    (raw, clipped), *others = data
    heads = [ridges(cell, raw, [bad for bad, _ in others])]
    for (setting, hyper), start in zip(cell.hyper.items(), starts):
        near = [head.project(part, hyper.feature_bound) for part in (clipped, *(bad for _, bad in others))]
        sets = data_sets(cell, near[0], near[1:])
        if setting == Setting.PRINTED:
            heads.append(np.stack([ridge(one, cell.penalty) for one in sets]))
        noise = cell.noise[setting] * arithmetic.noise(seed, hyper.steps, cell.D)
        noises, same = np.stack([0 * noise, noise]), np.tile(start, (len(sets), 1, 1))
        heads += [pretrain_each(sets, hyper, noises, [which] * len(sets), same) for which in (0, 1)]
    return population.prediction_error(cell.model, np.stack(heads, axis=1))


def data_sets(cell: CorruptedCell, clean: Statistics, others: list[Statistics]) -> list[Moments]:
    """Moments of all prompts: clean, then by attack and fraction with the first ones attacked.

    Moments are sums over prompts, so each stretch of prompts between two fractions is summed once.
    """

    def sums(data: Statistics) -> np.ndarray:
        """Σ vec(Z) (vec(Z), y)ᵀ over each stretch, as far as there are prompts, shape (stretches, p, p + 1)."""
        Z = data.Z.reshape(len(data.response), -1)
        both = np.column_stack([Z, data.response])
        return np.stack([Z[a:b].T @ both[a:b] for a, b in pairwise(cell.edges) if b <= len(Z)])

    mine, *theirs = map(sums, (clean, *others))
    tails = np.cumsum(mine[::-1], axis=0)[::-1]
    whole = [tails[0], *(np.cumsum(bad, axis=0)[k] + tails[k + 1] for bad in theirs for k in range(len(cell.counts)))]
    return [Moments(total[:, :-1] / cell.N, total[:, -1] / cell.N) for total in whole]


def ridges(cell: CorruptedCell, clean: Statistics, others: list[Statistics]) -> np.ndarray:
    """Γ* of (2.7) on the same data sets, shape (1 + attacks · fractions, D, D), without a product of Z with itself.

    QR factors of stretches of the rows (Z, y), stacked, have the factor R of all rows: the attacked ones come first.
    """
    rows = [np.column_stack([part.Z.reshape(len(part.response), -1), part.response]) for part in (clean, *others)]
    mine, *theirs = (arithmetic.triangles(part, cell.edges) for part in rows)
    tails = list(accumulate(reversed(mine), arithmetic.joined))[::-1]
    heads = [
        arithmetic.joined(first, tail)
        for bad in theirs
        for first, tail in zip(accumulate(bad, arithmetic.joined), tails[1:])
    ]
    found = [arithmetic.ridge_of(R, cell.penalty * cell.N) for R in (tails[0], *heads)]
    return np.stack(found).reshape(-1, cell.D, cell.D)


def _stack(parts: Iterable[Statistics]) -> Statistics:
    parts = list(parts)
    return Statistics(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def corrupted_table(cell: CorruptedCell, samples: np.ndarray) -> pd.DataFrame:
    """Test error and its rise over that of the clean data set, by attack, fraction and method."""
    clean, attacked = samples[:, :1], samples[:, 1:]
    before = clean[:, 0].mean(axis=0)
    (error, standard_error), (rise, rise_error) = map(_fits.mean_and_error, (attacked, attacked - clean))
    rows = []
    for i, ((response, alpha), (fraction, bad)) in enumerate(product(cell.each, zip(cell.fractions, cell.counts))):
        for j, (method, setting) in enumerate(METHODS):
            row = {"response": response, "alpha": alpha, "fraction": fraction, "attacked": bad}
            row |= {"setting": str(setting), "method": method}
            row |= {"test_error": error[i, j], "standard_error": standard_error[i, j], "before": before[j]}
            rows.append(row | {"rise": rise[i, j], "rise_error": rise_error[i, j], "trials": len(samples)})
    return pd.DataFrame(rows).assign(response_variance=cell.model.response_variance)


# ---- Theorem 5.1, Remark 5.1 and the proof in closed form, followed along each size as far as one likes ----

MULTIPLES = (1.01, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # λ over C²/L in the table of windows
FAR = tuple(10**k for k in range(3, 31, 3))  # N at which the limits of Remark 5.1 are followed
PATH = 0.75  # the q along which both displacements are followed: √N ≪ L ≪ N
LEAST = MULTIPLES[0]  # λ over C²/L where the least admissible penalty is wanted
LEAST_AXIS = "N, least λ"  # along N at L = ⌊N^{3/4}⌋ and the least λ, where the bound on the displacement is tightest
N, L, D = 10**4, 10**3, 8  # where an axis of `sizes` starts or passes; κ > N exp(−D²) up to N = 1e25
AXES = {  # sizes along each axis, and λ over C²/L, or None for the chapter's λ
    "N": ([(10**k, L, D) for k in range(3, 16, 2)], None),
    "L": ([(N, 10**k, D) for k in range(2, 17, 2)], None),
    "D": ([(N, L, D * 2**k) for k in range(8)], None),
    LEAST_AXIS: ([(n, math.floor(n**PATH), D) for n in FAR[:8]], LEAST),
}
FEW_STEPS, BALL, GRAM, OUTLIER, GAP = "first of (5.3)", "(A.20)", "(A.21)", "(A.22)", "second of (5.3)"


def windows(cells: list[Cell]) -> pd.DataFrame:
    """(5.2) at μ = 1 and the second inequality of (5.3) at its lower end, by L and by λ over C²/L; constants one."""
    rows = []
    for cell in cells:
        sizes = cell.model, cell.N
        least = attack_bounds.least_penalty(*sizes, cell.failure)
        for multiple in MULTIPLES:
            penalty = multiple * least
            lower = attack_bounds.lower_end(*sizes, cell.failure, penalty)
            upper = attack_bounds.upper_end(*sizes, penalty)
            gap = lower / (cell.N * penalty) / attack_bounds.noisyhead_displacement(*sizes, cell.failure)
            row = {"N": cell.N, "L": cell.L, "D": cell.D, "penalty_over_least": multiple, "penalty": penalty}
            row |= {"lower_end": lower, "upper_end": upper, "open_at_mu_1": lower <= upper, "gap": gap}
            rows.append(row)
    return pd.DataFrame(rows)


def simplified(failure: float) -> pd.DataFrame:
    """The lower end of (5.2) at λ = 1 over N²/L², along L = ⌊N^q⌋ for several q."""
    rows = []
    for q in (0.6, 0.75, 1.0, 1.25, 1.5):  # any q above 1/2 has N/L² log²(NL) → 0
        for N in FAR:
            model = _least_model(N, q, failure)
            ratio = attack_bounds.lower_end(model, N, failure, 1.0) / attack_bounds.lower_end_simplified(model, N)
            rows.append({"power": q, "N": float(N), "L": float(model.L), "D": model.D, "ratio": ratio})
    return pd.DataFrame(rows)


def _least_model(N: int, power: float, failure: float) -> PromptModel:
    D = max(2, math.floor(math.sqrt(max(0.0, math.log(N / failure)))) + 1)
    return PromptModel(D, math.floor(N**power))


def path(epsilon: float, delta: float, failure: float, penalty: float) -> pd.DataFrame:
    """NoisyHead's side of (5.3) along L = ⌊N^{3/4}⌋, in closed form: bounds at T = ⌈log N⌉, the limit T → ∞.

    The bound stands twice, at λ and at a λ just above C²/L.
    """
    rows, budget = [], ApproximateDP(epsilon, delta)
    for N in FAR:
        model, T = _least_model(N, PATH, failure), math.ceil(math.log(N))
        least = LEAST * attack_bounds.least_penalty(model, N, failure)
        hyper, small = (recipes.theorem(model, N, failure, value, T) for value in (penalty, least))
        bounds = [
            attack_bounds.rerun_displacement_mean(model, h, N, noise_std(ALGORITHM, h, budget, N, T))
            for h in (hyper, small)
        ]
        rows.append(
            {
                "N": float(N),
                "L": float(model.L),
                "D": model.D,
                "T": T,
                "bound_theorem": attack_bounds.noisyhead_displacement(model, N, failure),
                "bound_few_steps": bounds[0],
                "bound_small_penalty": bounds[1],
                "limit_many_steps": attack_bounds.filled_ball_displacement(model, hyper.weight_bound),
            }
        )
    return pd.DataFrame(rows)


def query_alone(model: PromptModel, N: int, hyper: Hyperparameters) -> pd.DataFrame:
    """Squared displacements if one prompt's query has the response y + α, and nothing else of the prompt changes.

    Γ* of (2.7) is linear in that response: it moves by α times the inverse matrix times vec(Z), here with the
    population's matrix N(λ + E‖Z‖²/D²)I. NoisyHead clips, and moves by no more than its bound.
    """
    energy, D = population.context_energy(model), model.D
    each = energy / (N * (hyper.penalty + energy / D**2)) ** 2 * energy / D**2
    bound = attack_bounds.trajectory_displacement(hyper, N) ** 2 * energy / D**2
    return pd.DataFrame(
        [{"alpha": a, "ridge": a**2 * each, "bound": bound} for a in (10.0**k for k in range(0, 13, 2))]
    )


def sizes(epsilon: float, delta: float, failure: float, penalty: float) -> pd.DataFrame:
    """Both sides of the claims about NoisyHead and about the matrices, along N, L and D; hidden constants one.

    ``length_over`` is L over the length up to which the claim is true, whatever the other sizes; none where no length
    decides.
    """
    rows, budget = [], ApproximateDP(epsilon, delta)
    for axis, (points, multiple) in AXES.items():
        for N, L, D in points:
            model = PromptModel(D, L)
            least = attack_bounds.least_penalty(model, N, failure)
            value = penalty if multiple is None else multiple * least
            hyper = recipes.theorem(model, N, failure, value, math.ceil(math.log(N)))
            claimed = attack_bounds.noisyhead_displacement(model, N, failure)
            log, T, R = math.log(N * L / failure), hyper.steps, hyper.weight_bound
            # The Gram matrix of the projected statistics has mean eigenvalue min(e, G²)/D² at most, and the noise's
            # risk is convex in it: twice the risk there is the least that two noises make, unless Π_R holds them on
            # the sphere.
            curvature = min(dynamics.curvature(model), hyper.feature_bound**2 / D**2)
            noises = 2 * dynamics.noise_risk(hyper, model, noise_std(ALGORITHM, hyper, budget, N, T), curvature)
            attack = Attack(math.sqrt(attack_bounds.upper_end(model, N, value)), 1.0)
            energy = attack_bounds.outlier_energy(model, N, failure, attack)
            gap = attack_bounds.lower_end(model, N, failure, value) / (N * value)
            ball = attack_bounds.ball_displacement_mean(model, R), attack_bounds.ball_displacement(model, N, failure, R)
            few = min(noises, attack_bounds.filled_ball_displacement(model, R))
            sides = {
                FEW_STEPS: (few, claimed, L * T**2 * math.log(1.25 * T / delta) / (epsilon**2 * N**3)),
                GAP: (claimed, gap, None),
                BALL: (*ball, L / (D**3 * log)),
                GRAM: (attack_bounds.gram_norm_rms(model, N) / N, least, L / (D**2 * log)),
                OUTLIER: (statistic_energy(model, attack), energy, None),
            }
            for claim in (FEW_STEPS,) if axis == LEAST_AXIS else sides:
                left, right, length_over = sides[claim]
                row = {"axis": axis, "N": float(N), "L": float(L), "D": D, "penalty": value, "claim": claim}
                rows.append(row | {"left": left, "right": right, "ratio": left / right, "length_over": length_over})
    return pd.DataFrame(rows)


# ---- The experiment ----

LONG = {"N": 20, "L": 10**4, "D": 5, "failure": 1.01 * 20 * math.exp(-25), "penalty": 7.1}  # (5.2) admits α < 1


class Experiment(Parameters):
    """Figure 4 and Theorem 5.1: what one perturbed prompt does to NoisyHead and to ridge.

    The parameters ``bound_*`` are the sizes at which Theorem 5.1 and its proof are measured, inside its conditions
    λ > C²/L and κ > N exp(−D²).
    """

    N: int = parameter(count(3, 10**7), 5000, published=True)
    L: int = parameter(count(1, 10**6), 500, published=True)
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: float = parameter(EPSILON, 0.5, published=True)
    """Privacy budget ε of approximate differential privacy, at most the least number of steps."""
    delta: float = parameter(DELTA, 1e-2, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 0.01, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    mu: float = parameter(amount(1e-6, 1e6), 1.0, published=True)
    """Shift μ of every coordinate of the attacked prompt's features."""
    c: tuple[float, ...] = many(amount(1e-3, 1e6), 2.0, 4.0, ascending=True)
    """Factors c of the shift α = cNᵖ of the attacked prompt's responses."""
    p: tuple[float, ...] = many(within(0, 10.0), 2.0, 2.02, 2.04, 2.06, 2.08, 2.1, ascending=True)
    """Powers p of N in the shift α = cNᵖ."""
    trials: int = parameter(TRIALS, 500)
    """Data sets for Figure 4."""
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    arithmetic_trials: int = parameter(TRIALS, 60)
    """Data sets on which ridge is evaluated in many ways."""
    digit_trials: int = parameter(count(1, 10**5), 6)
    """Data sets on which ridge is evaluated in fifty digits."""
    fractions: tuple[float, ...] = many(usually(SHARE, 1e-7, 0.5), 2e-4, 0.01, 0.05, 0.1, 0.3, ascending=True)
    """Fractions of the training prompts that are attacked at once; at least one prompt."""
    fraction_alpha: tuple[float, ...] = many(amount(1e-3, 1e9), 1.0, 10.0, 1000.0, 5e7, ascending=True)
    """Shifts α of these prompts' responses, up to the least one of Figure 4."""
    fraction_trials: int = parameter(TRIALS, 60)
    """Data sets in which a fraction is attacked."""
    bound_N: int = parameter(count(2, 10**7), 500)
    """Training prompts at which the theorem is measured, in prompts."""
    bound_L: tuple[int, ...] = many(count(1, 10**6), 100, 316, 1000, 3162, 10000, ascending=True)
    """Labelled tokens at which the theorem is measured, in tokens, at the first dimension."""
    bound_D: tuple[int, ...] = many(count(2, 1000), 5, 10, 20, ascending=True)
    """Dimensions at which the theorem is measured, at the middle prompt length."""
    bound_T: tuple[int, ...] = many(count(1, 10**6), 6, 1000, ascending=True)
    """Numbers of steps with which NoisyHead runs there: one of the order of log N, one that fills the ball."""
    bound_failure: float = parameter(KAPPA, 0.01)
    """Failure probability κ there."""
    bound_penalty: float = parameter(PENALTY, 1.0)
    """Ridge penalty λ there."""
    bound_trials: int = parameter(TRIALS, 20)
    """Data sets at each of these sizes."""
    seed: int = parameter(SEED, 5)

    def check(self) -> None:
        """Refuse budgets, penalties and sizes that no run can have, or that are outside Theorem 5.1's conditions."""
        _validate.between("epsilon", self.epsilon, 0, max(1, min(math.floor(math.log(self.N)), *self.bound_T)))
        recipes.check_steps(max(hyper.steps for hyper in self.cell.hyper.values()), self.penalty, self.N)
        for _, cell in self.bound_cells:
            least = attack_bounds.least_penalty(cell.model, cell.N, cell.failure)
            if cell.penalty <= least:
                raise ValueError(
                    f"bound_penalty must be above C²/L = {least:.3g} at L = {cell.L}, got {cell.penalty!r}"
                )
            smallest = cell.N * math.exp(-(cell.D**2))
            if cell.failure <= smallest:
                raise ValueError(f"bound_failure must be above N exp(-D²) = {smallest:.3g}, got {cell.failure!r}")

    @cached_property
    def shifts(self) -> pd.DataFrame:
        """p, c and α = cN^p of each point of Figure 4."""
        return pd.DataFrame([{"p": p, "c": c, "alpha": c * float(self.N) ** p} for c in self.c for p in self.p])

    @cached_property
    def cell(self) -> arithmetic.Cell:
        """Figure 4's cell: all α on common prompts, from the least one."""
        return self.shared(arithmetic.Cell, alpha=tuple(sorted(set(self.shifts["alpha"]))))

    @cached_property
    def fraction_cell(self) -> CorruptedCell:
        """The same sizes, with a fraction of the prompts attacked."""
        return self.shared(CorruptedCell, alpha=self.fraction_alpha)

    @cached_property
    def bound_cells(self) -> list[tuple[str, Cell]]:
        """The axis of L at the first D, then the axis of D at the middle L."""
        middle = self.bound_L[len(self.bound_L) // 2]
        points = [("L", L, self.bound_D[0]) for L in self.bound_L] + [("D", middle, D) for D in self.bound_D]
        told = {"N": self.bound_N, "T": self.bound_T, "failure": self.bound_failure, "penalty": self.bound_penalty}
        return [(axis, self.shared(Cell, L=L, D=D, **told)) for axis, L, D in points]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """All tables of the chapter."""
        cell, bound = self.cell, (self.bound_failure, self.bound_penalty)
        samples = runner.run(arithmetic.trial, [cell], self.trials, self.seed)[cell]
        moments = []  # of each number of a trial: mean, error and the trials in which there was one
        for moved, error in zip(samples[:, 0].T, samples[:, 1].T):
            moments.append((*arithmetic.finite_mean(moved), *arithmetic.finite_mean(error)[:2]))
        names = ["displacement", "standard_error", "trials", "test_error", "test_standard_error"]
        measured = cell.columns.join(pd.DataFrame(moments, columns=names))
        table = figure_4(measured, self.shifts)
        every = self.shared(arithmetic.Problem, alpha=tuple(sorted({*cell.alpha, *arithmetic.DECADES})))
        few = self.shared(arithmetic.Problem, alpha=cell.alpha)
        evaluated = runner.run(arithmetic.rounding_trial, [every], self.arithmetic_trials, self.seed)[every]
        exact = runner.run(arithmetic.digit_trial, [few], self.digit_trials, self.seed)[few]
        few_bad = self.fraction_cell
        corrupt = runner.run(corrupted_trial, [few_bad], self.fraction_trials, self.seed + 2)[few_bad]
        distinct = list(dict.fromkeys(bound_cell for _, bound_cell in self.bound_cells))
        sides = runner.run(trial, distinct, self.bound_trials, self.seed + 1)
        long = self.shared(Cell, T=self.bound_T, **LONG)
        contributions = runner.run(contribution_trial, [long], 20 * self.bound_trials, self.seed + 3)[long]
        return {
            "figure-4": table,
            "comparison": compare(table, authors.if_published(self, published())),
            "parts": parts(cell, measured),
            "test-error": test_errors(cell, measured),
            "fractions": corrupted_table(few_bad, corrupt),
            "growth": growth(cell, measured),
            "query-alone": query_alone(cell.model, cell.N, cell.hyper[Setting.CORRECTED]),
            "arithmetic": arithmetic.table(every, evaluated),
            "digits": arithmetic.digit_table(few, exact),
            "conditions": conditions(cell),
            **tables([(axis, of, sides[of]) for axis, of in self.bound_cells]),
            "long-prompts": contribution_table(long, contributions),
            "windows": windows([of for axis, of in self.bound_cells if axis == "L"]),
            "simplified": simplified(self.bound_failure),
            "path": path(self.epsilon, self.delta, *bound),
            "sizes": sizes(self.epsilon, self.delta, *bound),
        }


def figure_4(measured: pd.DataFrame, shifts: pd.DataFrame) -> pd.DataFrame:
    """Displacement by setting, p, c and method."""
    rows = shifts.merge(measured[measured["part"] == "attacked"], on="alpha")
    names = ["setting", "p", "c", "alpha", "method", "displacement", "standard_error", "trials"]
    order = {name: i for i, name in enumerate((*map(str, Setting), "noisyhead", "ridge", "ridge-normal-equations"))}
    by = ["setting", "method", "c", "p"]
    return rows[names].sort_values(by, key=lambda k: k.map(order).fillna(k), ignore_index=True)


def parts(cell: arithmetic.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's displacement at the least α, whole and from one difference at a time; closed form or bound beside."""
    mine = measured[measured["method"] == "noisyhead"]
    closed = mine.set_index(["setting", "part"])["displacement"]
    rows = mine.loc[mine["alpha"] == cell.alpha[0], ["setting", "part", "displacement", "standard_error", "trials"]]
    whole = rows[rows["part"] == "attacked"].set_index("setting")["displacement"]
    energy = population.context_energy(cell.model)
    reach = {str(s): attack_bounds.trajectory_displacement(h, cell.N) ** 2 for s, h in cell.hyper.items()}
    table = rows.assign(
        share=rows["displacement"] / rows["setting"].map(whole),
        closed_form=[closed.get((s, f"{part}, closed form"), np.nan) for s, part in zip(rows["setting"], rows["part"])],
        bound=rows["setting"].map(reach).where(rows["part"] == "attack") * energy / cell.D**2,
    )
    return table.reset_index(drop=True).replace({"part": {"attacked": "all", "start": "initial weights"}})


def test_errors(cell: arithmetic.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """Test error of each head before the attack and at the least α, Var(y) and the best linear head beside."""
    kept = measured[(measured["part"] == "clean") | (measured["alpha"] == cell.alpha[0])]
    kept = kept[kept["part"].isin(["clean", "attacked"])]
    renamed = kept.drop(columns=["displacement", "standard_error", "alpha"]).rename(
        columns={"part": "prompts", "test_standard_error": "standard_error"}
    )
    best = population.best_prediction_error(cell.model)
    table = renamed.assign(response_variance=cell.model.response_variance, best_linear_head=best)
    order = ["setting", "method", "prompts", "test_error", "standard_error", "trials"]
    return table[[*order, "response_variance", "best_linear_head"]].reset_index(drop=True)


def growth(cell: arithmetic.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """Ridge's displacement over many decades of α by rank-one updates, its limit measured and in closed form."""
    tables = []
    for setting, response, ratio in zip(arithmetic.RIDGE_SETTINGS, RESPONSES, (0.0, 1.0), strict=True):
        mine = measured[(measured["setting"] == setting) & (measured["method"] == "ridge")]
        limit = mine.loc[mine["part"] == "limit", "displacement"].iloc[0]
        closed = attack_bounds.ridge_limit(cell.model, cell.penalty, cell.mu, ratio)
        rows = mine.loc[mine["part"] == "growth", ["alpha", "displacement", "standard_error", "trials"]]
        rows.insert(0, "response", response)
        tables.append(rows.assign(limit=limit, limit_closed_form=closed))
    return pd.concat(tables, ignore_index=True)


def conditions(cell: arithmetic.Cell) -> pd.DataFrame:
    """What Theorem 5.1 asks of Figure 4, at its least and its largest α; hidden constants one."""
    model, N = cell.model, cell.N
    upper = attack_bounds.upper_end(model, N, cell.penalty)
    lower = attack_bounds.lower_end(model, N, cell.failure, cell.penalty)
    rows = []
    for alpha in (cell.alpha[0], cell.alpha[-1]):
        attack = cell.attack(Setting.PRINTED, alpha)
        row = {
            "alpha": alpha,
            "penalty_over_least": cell.penalty / attack_bounds.least_penalty(model, N, cell.failure),
            "over_upper_end": alpha**2 * cell.mu**4 / upper,
            "over_lower_end": (alpha * cell.mu) ** 2 / lower,
            "lower_over_upper_end": lower / upper,
            "probability": 1 - 5 * cell.failure,
            "claimed_for_noisyhead": attack_bounds.noisyhead_displacement(model, N, cell.failure),
            "claimed_for_ridge": attack_bounds.ridge_displacement(attack, N, cell.penalty),
        }
        rows.append(row)
    return pd.DataFrame(rows).drop_duplicates(ignore_index=True)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 4: p, c, method, displacement (means of 500 trials)."""
    names = {"displacement_noisyhead": "noisyhead", "displacement_ridge": "ridge-normal-equations"}
    return (
        authors.read("noisyhead-robustness")
        .rename(columns=names)
        .melt(["p", "c"], list(names.values()), "method", "displacement")
    )


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside theirs: difference in combined standard errors, our spread of a trial taken for theirs."""
    both = authors.beside(table, theirs, ["p", "c", "method"], "displacement")
    numbers = ["displacement", "standard_error", "trials", "displacement_theirs", "deviation"]
    return both[["setting", "p", "c", "alpha", "method", *numbers]]
