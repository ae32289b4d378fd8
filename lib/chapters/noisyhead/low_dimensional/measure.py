"""What is measured for Figure 1, the rate of low dimension, its proof, and prompts with a common weight."""

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import pandas as pd
from scipy.stats import norm, poisson

from chapters.noisyhead import authors
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import accounts, bounds, dynamics, head, hyperparameters, population, pretraining, recipes
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import sample
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

# ---- Common weight ----
# What the privacy of a prompt (Definition 3.1) costs if all N prompts share one w: each holds L pairs (x, y) with x
# uniform on the unit sphere and y = ⟨w, x⟩ + τξ.
#
# **Mechanism.** Clip D/L Σ yx of each prompt at r; their mean over the prompts plus N(0, (2r/(Nμ₁))² I) is w₁. Clip
# D/L Σ (y − ⟨w₁, x⟩)x at c; their mean plus N(0, (2c/(Nμ₂))² I), added to w₁, is the release.
#
# **Guarantee.** √(μ₁² + μ₂²)-Gaussian DP for replacing one prompt: each mean moves by at most 2r/N or 2c/N, and
# Gaussian mechanisms compose adaptively by the sum of squares.

CONSTANT, SMALL, NONE = "1", "L^(-1/2)", "none"  # τ; without label noise one prompt alone gives w exactly


@dataclass(frozen=True)
class CommonWeightCell(authors.BySize):
    """N prompts of L = ⌊√N⌋ pairs with one coefficient vector."""

    N: int
    D: int
    epsilon: float
    delta: float
    noise: str = CONSTANT

    @property
    def L(self) -> int:
        """Pairs in a prompt."""
        return math.isqrt(self.N)

    @property
    def label_noise(self) -> float:
        """Standard deviation τ of the label noise."""
        return {CONSTANT: 1.0, SMALL: self.L**-0.5, NONE: 0.0}[self.noise]

    @property
    def share(self) -> float:
        """μ₁ = μ₂ = μ/√2 of each stage."""
        return ApproximateDP(self.epsilon, self.delta).to_gaussian().mu / math.sqrt(2)

    @property
    def bounds(self) -> tuple[float, float, float]:
        """The clips r and c and what bounds ‖w − w₁‖; all hold, and no clip acts, but with probability at most 5κ."""
        D, pairs, tail = self.D, self.N * self.L, math.sqrt(2 * math.log(1 / FAILURE))
        longest = math.sqrt(D) + tail  # ‖w‖
        token = self.label_noise * D / math.sqrt(self.L) * (1 + math.sqrt(2 * math.log(self.N / FAILURE)))
        first = D * longest + token
        sampled = (math.sqrt(D - 1) + D * tail) * longest + self.label_noise * D * (1 + tail)
        away = sampled / math.sqrt(pairs) + 2 * first / (self.N * self.share) * longest
        return first, D * away + token, away

    @property
    def noise_stds(self) -> tuple[float, float]:
        """Standard deviation of the noise of each stage."""
        first, second = (2 * clip / (self.N * self.share) for clip in self.bounds[:2])
        return first, second

    @property
    def upper(self) -> float:
        """What the release costs: the noise of its second stage, and E‖Σ A_k/N − I‖²‖w − w₁‖²/D without that noise."""
        return self.noise_stds[1] ** 2 + (self.D - 1) / (self.N * self.L) * self.bounds[2] ** 2

    @property
    def lower(self) -> float:
        """No private release is nearer to least squares for every w, in squared prediction: see the page's lemma.

        The largest of the lemma's bounds over a few shifts, shares of a shift and numbers of prompts, for balanced
        prompts, Σ xxᵀ = (L/D)I.
        """
        best = 0.0
        for shift in np.geomspace(0.5, 64, 29):
            a = shift / (self.epsilon * self.N)
            different, moved = maximal_coupling(a)
            variance = moved * different / (self.N * a**2) - 1 / self.N
            expected = self.N * different
            for theta in (0.3, 0.5, 0.7):
                far = 1 - variance / (variance + (1 - theta) ** 2)
                m = np.arange(math.ceil(expected) + 1, math.ceil(3 * expected) + 20)
                grown = np.exp(m * self.epsilon)
                sure = (far - poisson.sf(m, expected) - m * grown * self.delta) / (1 + grown)
                best = max(best, (theta * a / 2) ** 2 * sure.max())
        return self.label_noise**2 / self.L * best


def maximal_coupling(a: float) -> tuple[float, float]:
    """P(X ≠ X') and E[(X' − X)² | X ≠ X'] of the maximal coupling of X from N(0, 1) and X' from N(a, 1).

    Where they differ, X and X' are independent, X below a/2 and X' above it.
    """
    different = math.erf(a / math.sqrt(8))
    mean = a * norm.cdf(a / 2) / different
    square = 1 + (a * norm.pdf(a / 2) + a**2 * norm.cdf(a / 2)) / different
    return different, float(2 * (square - mean**2) + (2 * mean - a) ** 2)


def common_weight_trial(cell: CommonWeightCell, *, rng: np.random.Generator) -> np.ndarray:
    """Squared distance in prediction of one private release to least squares on all pairs, shape (1,)."""
    N, L, D = cell.N, cell.L, cell.D
    w = rng.standard_normal(D)
    x = rng.standard_normal((N, L, D))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    y = x @ w + cell.label_noise * rng.standard_normal((N, L))
    (first, second, _), stds = cell.bounds, cell.noise_stds
    start = _clipped_mean(x, y, first) + stds[0] * rng.standard_normal(D)
    found = start + _clipped_mean(x, y - x @ start, second) + stds[1] * rng.standard_normal(D)
    flat = x.reshape(-1, D)
    best = np.linalg.solve(flat.T @ flat, flat.T @ y.ravel())
    return np.array([np.sum((found - best) ** 2) / D])


def _clipped_mean(x: np.ndarray, y: np.ndarray, clip: float) -> np.ndarray:
    D, L = x.shape[2], x.shape[1]
    every = D / L * np.einsum("kl,kld->kd", y, x)
    lengths = np.linalg.norm(every, axis=1, keepdims=True)
    return np.asarray((every * np.minimum(1, clip / lengths)).mean(axis=0))


def common_weight(D: int, budget: ApproximateDP, runner: Runner, seed: int) -> pd.DataFrame:
    """The cost of the mechanism, run and in closed form, the lower bound, and both rates that Section 1.1 compares.

    The mechanism is run with label noise of constant size alone.
    """
    told, decades = (D, budget.epsilon, budget.delta), [10**k for k in range(5, 31, 5)]
    near = [CommonWeightCell(N, *told) for N in (1000, 2000, 4000, 8000)]
    far = [CommonWeightCell(N, *told, noise) for noise in (CONSTANT, SMALL, NONE) for N in decades]
    samples = runner.run(common_weight_trial, near, 20, seed)
    measured = {cell: _fits.mean_and_error(values[:, 0]) for cell, values in samples.items()}
    rows = []
    for cell in (*near, *far):
        cost, error = measured.get(cell, (math.nan, math.nan))
        N, L = float(cell.N), float(cell.L)
        budgeted = math.log(1 / cell.delta) / cell.epsilon**2
        rows.append(
            {
                "label_noise": cell.noise,
                "N": N,
                "L": L,
                "cost": float(cost),
                "standard_error": float(error),
                "upper": cell.upper,
                "lower": cell.lower,
                "expected": budgeted / (N * L) ** 2,
                "claimed": budgeted / (N**1.5 * L**2),
            }
        )
    return pd.DataFrame(rows)


# ---- Limits of section 6.1's setting as N → ∞ with L = √N, at fixed D ----

DECADES = tuple(10**k for k in range(3, 31))  # N
LENGTHS = (10, 32, 100, 316, 1000, 3162, 10000, 31623)
GROUPS, GROUP_PROMPTS = 20, 50
FIXED = "corrected, Π_G idle"
CLAIMED = "Theorem 1.1"
OWN_LOGS = "published, its logarithms out"
FREE = ApproximateDP(math.inf, 0.5)  # at ε = ∞ privacy costs nothing
FLOORS = ["part", "N", "L", "floor", "standard_error", "test_error_gap", "gap_error", "bound", "zero_risk"]


def minimiser_floors(D: int, penalty: float, label_noise: float) -> pd.DataFrame:
    """E⟨Γ_{2λ} − Γ_λ, Z⟩², where descent without noise comes to rest, beside (4.3) at ε = ∞."""
    rows = []
    for N in DECADES:
        model = recipes.square_model(D, N, label_noise)
        floor, zero = population.minimiser_gap(model, penalty), population.zero_excess_risk(model, penalty)
        gap = population.ridge_prediction_error(model, 2 * penalty) - population.ridge_prediction_error(model, penalty)
        bound = bounds.low_dimensional_cost(model, N, FREE)
        rows.append(("minimiser", float(N), float(model.L), floor, 0.0, gap, 0.0, bound, zero))
    return pd.DataFrame(rows, columns=FLOORS)


@dataclass(frozen=True)
class Length(authors.OfPrompts):
    """A prompt length, with N = L²."""

    L: int
    D: int
    label_noise: float
    failure: float

    @property
    def key(self) -> int:
        """L names the random stream."""
        return self.L


def projection_floors(
    D: int, penalty: float, label_noise: float, failure: float, runner: Runner, seed: int
) -> pd.DataFrame:
    """E⟨Γ̃ − Γ_λ, Z⟩², Γ̃ the population's ridge solution for statistics clipped at C and projected by Π_G.

    By isotropy Γ̃ = g̃I with g̃ = E⟨w, m̃⟩/(E‖m̃‖² + λD²) for the shortened context m̃; g is estimated on the same
    prompts, which cancels most of the noise. The standard error is the jackknife's over groups of prompts.
    ``test_error_gap`` is the part of the cost that Theorem 1.1 speaks of, the difference in prediction error
    2(g − g̃)/D − (g² − g̃²)E‖m‖²/D. The query's response stays unclipped in g̃.
    """
    rows, cells = [], [Length(L, D, label_noise, failure) for L in LENGTHS]
    for cell, values in runner.run(contexts, cells, GROUPS, seed).items():
        difference, error = _jackknife(values, penalty * D**2)
        energy, N = population.context_energy(cell.model) / D, cell.L**2
        slope = 2 / D - 2 * population.ridge_scale(cell.model, penalty) * energy
        floor, floor_error = difference**2 * energy, 2 * abs(difference) * error * energy
        gap, gap_error = -difference * slope + floor, error * slope
        zero = population.zero_excess_risk(cell.model, penalty)
        bound = bounds.low_dimensional_cost(cell.model, N, FREE)
        rows.append(("projection", float(N), float(cell.L), floor, floor_error, gap, gap_error, bound, zero))
    return pd.DataFrame(rows, columns=FLOORS)


def contexts(cell: Length, *, rng: np.random.Generator) -> np.ndarray:
    """⟨w, m⟩, ‖m‖², ⟨w, m̃⟩, ‖m̃‖² of each prompt of a group, shape (GROUP_PROMPTS, 4)."""
    C = hyperparameters.clip_norm(cell.model, cell.L**2, cell.failure)
    G = hyperparameters.feature_bound_proof(cell.model, cell.L**2, cell.failure)
    drawn = sample(cell.model, GROUP_PROMPTS, C, rng=rng)
    w, raw = drawn.task, drawn.raw
    short = head.project(head.Statistics(drawn.query, drawn.clipped, drawn.response), G).context
    return np.stack([v.sum(axis=1) for v in (w * raw, raw**2, w * short, short**2)], axis=1)


def _jackknife(values: np.ndarray, ridge: float) -> tuple[float, float]:
    """g̃ − g on all groups (first axis), and its standard error by leaving out one of them at a time."""

    def difference(groups: np.ndarray) -> float:
        mean = groups.mean(axis=(0, 1))
        return float(mean[2] / (mean[3] + ridge) - mean[0] / (mean[1] + ridge))

    left_out = np.array([difference(np.delete(values, i, axis=0)) for i in range(len(values))])
    return difference(values), float(np.sqrt((len(values) - 1) * left_out.var()))


def exponents(D: int, penalty: float, label_noise: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise part of the excess risk in closed form for N up to 10³⁰, with local exponents in N, the claims' too.

    `FIXED` is the corrected algorithm with a G that leaves Π_G idle at every L.

    C⁸(1 + (log(N/κ)/D²)^{1/4})⁴T² log(1.25T/δ) are the logarithms in the variance of Algorithm 1's noise: from
    s² = 2η₀²T²σ² log(1.25T/δ)/(εN)², σ ~ 2RG², R = C²√(N/L)/λ and G = C L^{-1/2}(1 + (log(N/κ)/D²)^{1/4}).
    """
    rows = []
    for N in DECADES:
        model = recipes.square_model(D, N, label_noise)
        known = recipes.low_dimension(model, N, failure, penalty)
        G = hyperparameters.feature_bound_uniform(model, N, FAILURE)
        rate = hyperparameters.learning_rate_published(G, penalty)
        T = hyperparameters.iterations(2.5, N, rate, penalty)
        idle = replace(known[Setting.CORRECTED], feature_bound=G, learning_rate=rate, steps=T)
        chosen = [(str(setting), setting, known[setting]) for setting in (Setting.PUBLISHED, Setting.CORRECTED)]
        for name, setting, hyper in (*chosen, (FIXED, Setting.CORRECTED, idle)):
            std = accounts.setting_noise_std(setting, hyper, budget, N)
            curve = population.context_energy(model) / D**2
            risk = dynamics.noise_risk(hyper, model, std, curve)
            rows.append({"algorithm": name, "N": float(N), "noise_risk": risk})
            if setting == Setting.PUBLISHED:
                spread, T = (1 + (math.log(N / failure) / model.D**2) ** 0.25) ** 4, hyper.steps
                logs = hyper.clip_norm**8 * spread * T**2 * math.log(1.25 * T / budget.delta)
                rows.append({"algorithm": OWN_LOGS, "N": float(N), "noise_risk": risk / logs})
        for name, bound in (("bound (4.3)", bounds.low_dimensional_cost), (CLAIMED, bounds.low_dimensional_rate)):
            rows.append({"algorithm": name, "N": float(N), "noise_risk": bound(model, N, budget)})
    table = pd.DataFrame(rows)
    table["exponent"] = table.groupby("algorithm", sort=False)["noise_risk"].transform(
        lambda risk: _fits.local_exponents(np.array(DECADES, dtype=float), risk.to_numpy())
    )
    return table


# ---- The proof of Theorem 4.2(i) in closed form ----

PROOF_PENALTY, LABEL_NOISE = 1.0, 0.5  # of the proof's steps: λ ≍ 1, and a ν that is not one


def steps(budget: ApproximateDP) -> pd.DataFrame:
    """Both sides of (A.15), (A.16), of the display before (A.17), and of (A.17), hidden constants one.

    The axes are N, L, and N with D² = log NL, the largest that low dimension allows; κ = e^{-D²} and T of the theorem.
    """
    points = [
        *(("N", 10**k, 100, 3) for k in range(3, 31, 3)),
        *(("L", 10**6, 10**k, 3) for k in range(2, 31, 2)),
        *(("D", 10**k, 100, math.isqrt(math.floor(math.log(100 * 10**k)))) for k in range(3, 124, 12)),
    ]
    rows: list[dict[str, object]] = []
    for axis, N, L, D in points:
        model, failure = PromptModel(D, L, LABEL_NOISE), math.exp(-(D**2))
        rested, nu = recipes.theorem(model, N, failure, PROOF_PENALTY), model.response_variance
        hyper = replace(rested, steps=bounds.low_dimensional_iterations(model, N, rested.learning_rate, PROOF_PENALTY))
        query_bound = hyperparameters.query_bound_theorem(model, N, failure)
        C, G, R, T = hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.steps
        noise = bounds.cost_of_noise(hyper, query_bound, model, budget, N)
        logs, privacy = math.log(N * L), math.log(1 / budget.delta) / budget.epsilon**2
        scale = C * G + R * G**2
        sides = {
            "(A.15)": (bounds.cost_of_descent(hyper, query_bound), nu**3 * logs**3 / (N * L**3)),
            "(A.16)": (noise, C**2 / L * scale**2 * D * T**3 * privacy / N**2),
            "CG + RG²": (scale, nu**2 * logs**3 * math.sqrt(N) / (L * D**2)),
            "(A.17)": (noise, nu**5 * logs**10 / (N * L**3) * privacy),
        }
        at = {"axis": axis, "N": float(N), "L": float(L), "D": D}
        rows += [at | {"step": step, "left": left, "right": right} for step, (left, right) in sides.items()]
    return pd.DataFrame(rows)


def floor_axes(D: int, penalty: float, failure: float) -> pd.DataFrame:
    """What Π_G and the wrong resting point leave without noise on long prompts, beside (4.3) at ε = ∞."""
    decades = range(3, 31, 3)
    points = [("N", 10**k, 10**4) for k in decades] + [("L", 10**4, 10**k) for k in decades]
    rows = []
    for axis, N, L in points:
        model = PromptModel(D, L)
        G = hyperparameters.feature_bound_theorem(model, N, failure)
        left = {
            "floor": shortening_risk(D, G, penalty),
            "minimiser": population.minimiser_gap(model, penalty),
            "bound": bounds.low_dimensional_cost(model, N, FREE),
            "zero_risk": population.zero_excess_risk(model, penalty),
        }
        rows.append({"axis": axis, "N": float(N), "L": float(L), "feature_bound": G} | left)
    return pd.DataFrame(rows)


# ---- The experiment ----

FAILURE = 0.01  # κ where a probability is asked for; κ = 1 promises none


@dataclass(frozen=True)
class Cell(authors.LowDimension):
    """One training-set size with everything a trial needs."""

    test_prompts: int

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        per_setting = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent"), (np.nan, "zero")]
        rows = [(str(s), e, method) for s in Setting for e, method in (*per_setting, (np.nan, "ridge"))]
        return pd.DataFrame(rows, columns=["setting", "epsilon", "method"])

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        return {
            s: tuple(accounts.setting_noise_std(s, hyper, b, self.N) for b in self.budgets)
            for s, hyper in self.hyper.items()
        }


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error."""
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    seen, truth = head.moments(raw), head.moments(test).gram
    reference, eigen = ridge(seen, cell.penalty), in_eigenbasis(seen)
    start = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D))
    shortened = cache(lambda bound: in_eigenbasis(head.moments(head.project(clipped, bound))))
    weights = []
    for setting, hyper in cell.hyper.items():
        data = shortened(hyper.feature_bound)
        initial = start if setting == Setting.PUBLISHED else None
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=rng, initial=initial),
            *pretraining.descent_path(eigen, hyper, [hyper.steps], initial),
            np.zeros_like(reference),
            reference,
        ]
    Gamma = np.stack(weights)
    difference = (Gamma - reference).reshape(len(weights), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


class Experiment(Parameters):
    """Figure 1: excess risk of NoisyHead against N for several ε, at fixed dimension."""

    N: tuple[int, ...] = many(count(4, 10**7), 1000, 1500, 2000, 2500, 3000, 3500, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.4, 0.6, 0.8, 1.0)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    seed: int = parameter(SEED, 1)

    def check(self) -> None:
        """Refuse penalties without a run, and ε > T, for which the classical calibration of a step is no bound."""
        for cell in self.cells:
            T = [hyper.steps for hyper in cell.hyper.values()]
            if max(cell.epsilon) > min(T):
                raise ValueError(f"epsilon must be at most T = {min(T)} at N = {cell.N}, got {max(cell.epsilon)}")
            recipes.check_steps(max(T), cell.penalty, cell.N)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 1, test errors, the noise part, published numbers, conditions, floors and exponents, as tables."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        excess = authors.means(samples, 0, "excess_risk")
        excess = excess[excess["method"] != "ridge"].reset_index(drop=True)
        error = authors.means(samples, 1, "test_error")
        best = error["N"].map({c.N: population.best_prediction_error(c.model) for c in self.cells})
        fixed = (self.D, self.penalty, self.label_noise)
        budget = ApproximateDP(max(self.epsilon), self.delta)
        floors = [minimiser_floors(*fixed), projection_floors(*fixed, self.failure, runner, self.seed)]
        return {
            "figure-1": excess,
            "test-error": error.assign(best_linear_head=best, response_variance=1 + self.label_noise**2),
            "noise-part": pd.concat([noise_rows(c, v[:, 0]) for c, v in samples.items()], ignore_index=True),
            "comparison": authors.by_budget(excess, authors.if_published(self, published())),
            "conditions": pd.concat([condition_rows(c) for c in self.cells], ignore_index=True),
            "floors": pd.concat(floors, ignore_index=True),
            "exponents": exponents(*fixed, self.failure, budget),
            "floor-axes": floor_axes(self.D, self.penalty, FAILURE),
            "proof-steps": steps(budget),
            "common-weight": common_weight(self.D, budget, runner, self.seed + 1),
        }


def noise_rows(cell: Cell, excess: np.ndarray) -> pd.DataFrame:
    """Excess risk that the noise alone adds: trial by trial, NoisyHead's less its twin's, beside the closed form.

    The closed form, std² E‖m‖² Σ (1 − η₀(2λ + h))^{2t}, supposes that Π_R is idle; ``limit_of_R`` is the excess risk
    of weights on the sphere of radius R, where Π_R holds what the noise would carry further.
    """
    rows, energy = [], population.context_energy(cell.model) / cell.D**2
    for setting, hyper in cell.hyper.items():
        own, method = cell.columns["setting"] == setting, cell.columns["method"]
        twin = excess[:, np.flatnonzero(own & (method == "gradient-descent"))[0]]
        private = np.flatnonzero(own & (method == "noisyhead"))
        for i, epsilon, std in zip(private, cell.epsilon, cell.noise[setting], strict=True):
            mean, error = _fits.mean_and_error(excess[:, i] - twin)
            closed = dynamics.noise_risk(hyper, cell.model, std, energy)
            rows.append(
                {
                    "setting": str(setting),
                    "N": cell.N,
                    "epsilon": epsilon,
                    "noise_risk": mean,
                    "standard_error": error,
                    "trials": len(excess),
                    "closed_form": closed,
                    "limit_of_R": hyper.weight_bound**2 * energy,
                }
            )
    return pd.DataFrame(rows)


def condition_rows(cell: Cell) -> pd.DataFrame:
    """What Theorems 4.1 and 4.2 ask of the experiment: their probability, η₀'s interval, "low-dimensional"."""
    rows = []
    for setting, hyper in cell.hyper.items():
        limit = hyperparameters.learning_rate_interval(hyper.feature_bound, cell.penalty)
        rows.append(
            {
                "setting": str(setting),
                "N": cell.N,
                "L": cell.model.L,
                "probability": bounds.success_probability(cell.failure),
                "eta0_over_limit": hyper.learning_rate / limit,
                "D_squared": cell.D**2,
                "log_N": np.log(cell.N),
                "log_NL": np.log(cell.N * cell.model.L),
            }
        )
    return pd.DataFrame(rows)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 1: N, epsilon, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-low-dimensional", ["N", "epsilon"])
