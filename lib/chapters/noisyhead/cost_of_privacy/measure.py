"""What is measured of Theorem 4.1: both sides of (4.2), and the events and steps of its proof."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead import authors
from chapters.ranges import DELTA, EPSILON, NOISE_OR_NONE, PENALTY, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead import (
    accounts,
    bounds,
    dynamics,
    head,
    hyperparameters,
    population,
    pretraining,
    prompts,
    recipes,
)
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.curvature import for_updates
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

# ---- Problem ----


@dataclass(frozen=True)
class Size(authors.OfPrompts):
    """N prompts of L tokens in dimension D, with all that their law and the radii depend on."""

    N: int
    L: int
    D: int
    failure: float
    label_noise: float

    @property
    def key(self) -> int:
        """(N, L, D) names the random stream: the axes meet in common prompts."""
        return (self.N * 10**6 + self.L) * 10**3 + self.D


@dataclass(frozen=True)
class Problem(Size):
    """A size with a penalty: what (2.6) and Algorithm 1 without noise need."""

    penalty: float

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """Theorem 4.1's hyperparameters, and the corrected ones, both with η₀ at 0.9 of its interval's end."""
        printed = recipes.theorem(self.model, self.N, self.failure, self.penalty)
        C, G = printed.clip_norm, hyperparameters.feature_bound_uniform(self.model, self.N, self.failure)
        R = hyperparameters.weight_bound_singular(C, self.penalty)
        rate = recipes.INTERVAL_SHARE * hyperparameters.learning_rate_interval(G, self.penalty)
        return {Setting.PRINTED: printed, Setting.CORRECTED: Hyperparameters(C, G, R, self.penalty / 2, rate, 1)}


# ---- Events ----

LONGEST = 10.0**30  # number of prompts at which the constants are compared along D


def trial(cell: Size, *, rng: np.random.Generator) -> np.ndarray:
    """On one data set: max ‖Σx_i‖/√L, max |y|, max ‖Z‖, mean ‖Z‖, shares of ‖Z‖ above each of `levels`; shape (8,)."""
    sums, responses, norms = extremes(rng, cell.N, cell.L, cell.D, cell.label_noise)
    shares = [(level < norms).mean() for level in levels(cell).values()]
    return np.array([sums.max() / np.sqrt(cell.L), responses.max(), norms.max(), norms.mean(), *shares])


@compiled
def extremes(
    rng: np.random.Generator, N: int, L: int, D: int, label_noise: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """‖Σx_i‖, max |y| and ‖Z‖ = ‖L⁻¹ Σ y_i x_i‖ of N prompts, no token of which is kept; three of shape (N,).

    The numbers are drawn in the order of `prompts.sample`, whose prompts these are, and added token by token.
    """
    w, x, total, context = np.empty(D), np.empty(D), np.empty(D), np.empty(D)
    sums, responses, norms = np.empty(N), np.zeros(N), np.empty(N)
    for n in range(N):
        for d in range(D):
            w[d] = rng.standard_normal()
            total[d] = context[d] = 0.0
        for i in range(L + 1):
            square = along = 0.0
            for d in range(D):
                x[d] = rng.standard_normal()
                square += x[d] * x[d]
                along += w[d] * x[d]
            length = math.sqrt(square)
            y = along / length
            if label_noise > 0:
                y += label_noise * rng.standard_normal()
            responses[n] = max(responses[n], abs(y))
            if i < L:
                for d in range(D):
                    total[d] += x[d] / length
                    context[d] += y * x[d] / length
        sums[n] = math.sqrt(np.sum(total * total))
        norms[n] = math.sqrt(np.sum(context * context)) / L
    return sums, responses, norms


def levels(cell: Size) -> dict[str, float]:
    """The levels that ‖Z‖ is held against."""
    arguments = (cell.model, cell.N, cell.failure)
    return {
        "G, theorem": hyperparameters.feature_bound_theorem(*arguments),
        "G, proof": hyperparameters.feature_bound_proof(*arguments),
        "G0, proof": hyperparameters.query_bound_proof(*arguments),
        "G, uniform in L": hyperparameters.feature_bound_uniform(*arguments),
    }


def event_row(cell: Size, samples: np.ndarray) -> dict[str, float]:
    """How often the events of the proof fail, over data sets, and what share of prompts each level cuts."""
    bound_of = levels(cell)
    C = hyperparameters.clip_norm(cell.model, cell.N, cell.failure)
    sums, responses, largest, mean_norm = samples[:, :4].T
    allowed = responses * sums / np.sqrt(cell.L)  # the least G that gives the data set 𝒟₂, for its least C
    row = {
        "N": cell.N,
        "L": cell.L,
        "D": cell.D,
        "data_sets": len(samples),
        "mean_norm": mean_norm.mean(),
        "standard_error": mean_norm.std(ddof=1) / np.sqrt(len(samples)),
        "root_energy": np.sqrt(population.context_energy(cell.model)),
        "D2_fails": int((sums > bound_of["G, proof"] / (C / np.sqrt(cell.L))).sum()),
        "D2_lemma_fails": int((sums > 1 + np.sqrt(np.log(cell.N / cell.failure) / cell.D)).sum()),
        "D3_fails": int((responses > C).sum()),
        "D3_union_bound": cell.N * (cell.L + 1) * 2 * stats.norm.sf(C / np.sqrt(cell.model.response_variance)),
        "A4_ratio": (largest / allowed).max(),
        "A4_violated": int((largest > allowed).sum()),
        "kappa": cell.failure,
    }
    return row | bound_of | {f"share above {name}": share.mean() for name, share in zip(bound_of, samples[:, 4:].T)}


def constants(N: float, D: int, failure: float) -> dict[str, float]:
    """The constant that 𝒟₂ needs in front of each form of G as L → ∞, where ‖Σx_i‖²/L is χ²_D/D.

    The level that all N prompts respect with probability 1 − κ is the upper κ/N quantile, to first order. For the
    form of Lemma A.2 the constant is at most √2: P(χ_D > √D + √(2t)) ≤ e^{−t} by Gaussian concentration.
    """
    level, odds = np.sqrt(stats.chi2.isf(failure / N, D) / D), np.log(N / failure)
    return {"constant_proof": level / (1 + (odds / D**2) ** 0.25), "constant_lemma": level / (1 + np.sqrt(odds / D))}


def signed_sums(D: int, rng: np.random.Generator) -> pd.DataFrame:
    """Prompts whose features come in opposite pairs: their sum is 0, so that 𝒟₂ has every G > 0, and Z is not."""
    rows = []
    for L in (2, 10, 100, 1000):
        drawn = rng.standard_normal((L // 2 + 1, D))
        query, *tokens = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        w, x = rng.standard_normal(D), np.array([*tokens, *(-token for token in tokens), query])
        prompt = prompts.Prompts(x[None], (x @ w)[None], w[None])
        response = np.abs(prompt.y).max()
        sum_norm = math.hypot(*(math.fsum(column) for column in x[:-1].T))  # exact: the pairs cancel to the last bit
        row = {"L": L, "D": D, "sum_norm": sum_norm, "largest_response": response, "allowed": response * sum_norm / L}
        rows.append(row | {"statistic_norm": head.statistics(prompt).norm[0]})
    return pd.DataFrame(rows)


# ---- Sides ----

QUANTITIES = ("descent", "noise", "total", "weight_noise")


@dataclass(frozen=True)
class Cell(Problem, authors.WithBudget):
    """A problem with a budget, and the numbers of steps after which it is looked at; none: that of Theorem 4.2(i)."""

    T: tuple[int, ...]
    epsilon: float
    delta: float

    def steps(self, hyper: Hyperparameters) -> tuple[int, ...]:
        """T of the axis, or that of Theorem 4.2(i)."""
        return self.T or (bounds.low_dimensional_iterations(self.model, self.N, hyper.learning_rate, self.penalty),)

    def noise_std(self, setting: Setting, T: int) -> float:
        """Standard deviation of an entry of z_t for T steps: as Algorithm 1 prints it, or exactly composed."""
        return accounts.setting_noise_std(setting, replace(self.hyper[setting], steps=T), self.budget, self.N)


def sides_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Descent, noise, total excess risk, squared weight error of the noise, ‖Γ*‖_F on one data set; (settings, T, 5).

    *descent*: the noiseless twin against Γ*; *noise*: NoisyHead against its twin; both over a fresh prompt, in closed
    form.
    """
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.sample_statistics(cell.model, cell.N, clip, rng=rng)
    reference = ridge(head.moments(raw), cell.penalty)
    rows = []
    for setting, hyper in cell.hyper.items():
        T = cell.steps(hyper)
        std = [*(cell.noise_std(setting, t) for t in T), *np.zeros(len(T))]
        data = for_updates(head.moments(head.project(clipped, hyper.feature_bound)))
        private, twin = np.split(pretraining.pretrain(data, hyper, std, rng=rng, steps=[*T, *T]), 2)
        risks = [population.excess_risk(cell.model, d) for d in (twin - reference, private - twin, private - reference)]
        spread = ((private - twin) ** 2).sum(axis=(1, 2))
        rows.append(np.stack([*risks, spread, np.full(len(T), np.linalg.norm(reference))], axis=-1))
    return np.stack(rows)


def side_rows(axis: str, cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Means over the data sets beside the two terms of (4.2), hidden constants one, and the amended bound."""
    rows = []
    for s, (setting, hyper) in enumerate(cell.hyper.items()):
        for t, T in enumerate(cell.steps(hyper)):
            place = {"axis": axis, "setting": str(setting), "N": cell.N, "L": cell.L, "D": cell.D, "T": T}
            told, std = replace(hyper, steps=T), cell.noise_std(setting, T)
            query_bound = hyperparameters.query_bound_theorem(cell.model, cell.N, cell.failure)
            printed = setting == Setting.PRINTED  # (4.2) is about this one alone
            noise = bounds.cost_of_noise(told, query_bound, cell.model, cell.budget, cell.N)
            right = {
                "bound_descent": bounds.cost_of_descent(told, query_bound) if printed else np.nan,
                "bound_noise": noise if printed else np.nan,
                "bound_amended": bounds.amended_cost(told, cell.model, std),
                "noise_std": std,
                "limit_of_R": hyper.weight_bound**2 * population.context_energy(cell.model) / cell.D**2,
                "zero_risk": population.zero_excess_risk(cell.model, cell.penalty),
            }
            mean, error = _fits.mean_and_error(samples[:, s, t])
            for quantity, value, standard_error in zip(QUANTITIES, mean, error):  # ‖Γ*‖ is left to `radius_row`
                left = {"quantity": quantity, "value": value, "standard_error": standard_error, "trials": len(samples)}
                rows.append(place | left | right)
    return pd.DataFrame(rows)


def radius_row(cell: Cell, samples: np.ndarray) -> dict[str, float]:
    """‖Γ*‖_F over the data sets, the radii that are to bound it, and the noise variance that the right one saves."""
    norms, hyper = samples[:, 0, 0, -1], cell.hyper[Setting.PRINTED]
    C, right = hyper.clip_norm, cell.hyper[Setting.CORRECTED].weight_bound
    sigma = [hyperparameters.sensitivity_scale(C, R, hyper.feature_bound) for R in (hyper.weight_bound, right)]
    return {
        "N": cell.N,
        "L": cell.L,
        "norm_mean": norms.mean(),
        "standard_error": norms.std(ddof=1) / np.sqrt(len(norms)),
        "norm_max": norms.max(),
        "trials": len(norms),
        "R_printed": hyper.weight_bound,
        "R_with_1_over_N": hyperparameters.weight_bound_kept(cell.model, cell.N, cell.failure, cell.penalty),
        "R_objective": hyperparameters.weight_bound_objective(C, cell.penalty),
        "R_singular": right,
        "variance_saved": (sigma[0] / sigma[1]) ** 2,
    }


# ---- Limits ----

MANY = tuple(10**k for k in range(3, 31, 3))  # numbers of prompts
LENGTHS = tuple(10**k for k in range(1, 16))
DIMENSIONS = (2, 5, 10, 20, 50, 100, 200)
STEPS = (1, 3, 10, 30, 100, 300, 1000)
SOME, LENGTH, PATIENCE = 1000, 100, 100  # N, L and T where the axis of another size stands still
SHORT = 10  # tokens: a length below log(N/κ) at every N of `MANY`
LOW, LOW_N, LOW_L = (2, 3, 5, 7), 10**12, 25  # dimensions with D² ≤ log(NL) at this N and L
ROUNDING = 1e-28  # of the risk of answering 0: the square of what a difference of two equal numbers leaves


@dataclass(frozen=True)
class Point:
    """A cell on an axis, run for the first of its T with the printed hyperparameters."""

    axis: str
    cell: Cell

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Those of Theorem 4.1, with T."""
        printed = self.cell.hyper[Setting.PRINTED]
        return replace(printed, steps=self.cell.steps(printed)[0])

    @property
    def place(self) -> dict[str, object]:
        """Where it is; N and L as floats, since they leave the whole numbers of a table."""
        cell = self.cell
        return {"axis": self.axis, "N": float(cell.N), "L": float(cell.L), "D": cell.D, "T": self.hyper.steps}

    def noise(self) -> float:
        """E⟨Γ^T − Γ^T_noiseless, Z⟩², Π_R idle."""
        std = self.cell.noise_std(Setting.PRINTED, self.hyper.steps)
        return dynamics.noise_risk(self.hyper, self.cell.model, std, dynamics.curvature(self.cell.model))

    def descent(self, penalty: float, start: float) -> float:
        """E⟨Γ^T_noiseless − Γ*, Z⟩² for this penalty in the update and ‖Γ⁰‖² = ``start``."""
        told, T, cell = replace(self.hyper, penalty=penalty), np.array([self.hyper.steps]), self.cell
        risk = float(dynamics.descent_risk(told, cell.model, cell.N, cell.penalty, start, T)[0])
        return risk if risk > ROUNDING * population.zero_excess_risk(cell.model, cell.penalty) else 0.0


def norms(cell: Cell) -> pd.DataFrame:
    """‖Z‖ beside G₀, and ‖Γ*‖ beside R, along N, L and D, as root mean squares.

    ``short`` is the condition L ≤ D log(NL/κ); ``sure`` is L ≤ 4NC²/λ, under which R ≥ C/(2√λ) ≥ ‖Γ*‖ for every data
    set.
    """
    sizes = [("N", n, LENGTH, cell.D) for n in MANY]
    sizes += [("L", SOME, length, cell.D) for length in LENGTHS]
    sizes += [("D", SOME, LENGTH, D) for D in DIMENSIONS]
    rows = []
    for axis, N, L, D in sizes:
        own = replace(cell, N=N, L=L, D=D)
        hyper, model = own.hyper[Setting.PRINTED], own.model
        rows.append(
            {
                "axis": axis,
                "N": float(N),
                "L": float(L),
                "D": D,
                "statistic_norm": math.sqrt(population.context_energy(model)),
                "query_bound": hyperparameters.query_bound_proof(model, N, own.failure),
                "short": D * math.log(N * L / own.failure) >= L,
                "ridge_norm": ridge_norm(own),
                "weight_bound": hyper.weight_bound,
                "weight_bound_sure": hyperparameters.weight_bound_singular(hyper.clip_norm, own.penalty),
                "sure": 4 * N * hyper.clip_norm**2 / own.penalty >= L,
            }
        )
    return pd.DataFrame(rows)


def ridge_norm(cell: Cell) -> float:
    """Root of E‖Γ*‖²_F, Γ* = b/(λ + h) with b the cross moment."""
    return math.sqrt(dynamics.cross_energy(cell.model, cell.N)) / (cell.penalty + dynamics.curvature(cell.model))


def conditional(cell: Cell) -> pd.DataFrame:
    """Both parts of the left side of (A.9), given ‖Z‖ ≤ G₀ and no Z_k altered, beside the two of its right side.

    Given ‖Z‖ ≤ G₀ the mean of ‖Z‖² is at most the lesser of G₀² and E‖Z‖². Along N prompts are short, so that the
    event is likely, and T is that of Theorem 4.2(i). L goes as far as ‖Γ*‖ ≤ R, the event 𝒟₁.
    """
    still = replace(cell, N=SOME, L=LENGTH, T=(PATIENCE,))
    points = [Point("N", replace(still, N=n, L=SHORT, T=())) for n in MANY]
    longer = (replace(still, L=length) for length in LENGTHS)
    points += [Point("L", long) for long in longer if ridge_norm(long) <= long.hyper[Setting.PRINTED].weight_bound]
    points += [Point("D", replace(still, D=D)) for D in DIMENSIONS]
    points += [Point("T", replace(still, T=(steps,))) for steps in STEPS]
    rows = []
    for point in points:
        own, hyper = point.cell, point.hyper
        query_bound = hyperparameters.query_bound_theorem(own.model, own.N, own.failure)
        share, start = min(1.0, query_bound**2 / population.context_energy(own.model)), hyper.weight_bound**2
        left = {
            "noise": share * point.noise(),
            "descent_printed": share * point.descent(own.penalty, start),
            "descent_halved": share * point.descent(own.penalty / 2, start),
        }
        noise = bounds.cost_of_noise(hyper, query_bound, own.model, own.budget, own.N)
        right = {"bound_noise": noise, "bound_descent": bounds.cost_of_descent(hyper, query_bound)}
        rows.append(point.place | left | right)
    return pd.DataFrame(rows)


def dominance(cell: Cell) -> pd.DataFrame:
    """Remark 4.2 at the T of Theorem 4.2(i), from Γ⁰ = 0: the noise, and what is left without any.

    ``inside`` is the condition L ≤ log(N/κ), under which G exceeds every ‖Z_k‖ at fixed D.
    """
    still = replace(cell, N=SOME, L=LENGTH, T=())
    points = [Point("N, short prompts", replace(still, N=n, L=SHORT)) for n in MANY]
    points += [Point("N, L = √N", replace(still, N=n, L=math.isqrt(n))) for n in MANY]
    points += [Point("L", replace(still, L=length)) for length in LENGTHS]
    points += [Point("D", replace(still, N=LOW_N, L=LOW_L, D=D)) for D in LOW]
    return pd.DataFrame(
        [
            point.place
            | {
                "noise": point.noise(),
                "descent_printed": point.descent(cell.penalty, 0.0),
                "descent_halved": point.descent(cell.penalty / 2, 0.0),
                "projection": shortening_risk(point.cell.D, point.hyper.feature_bound, cell.penalty),
                "zero_risk": population.zero_excess_risk(point.cell.model, cell.penalty),
                "inside": math.log(point.cell.N / cell.failure) >= point.cell.L,
            }
            for point in points
        ]
    )


# ---- Prediction ----

PENALTIES = (1e-3, 1e-1, 1.0, 5.0)
DRAWS = 20_000  # fresh prompts at each penalty
NOISE_STD = 1.0  # of an entry of the noise that is added to Γ*
BIAS, NOISE = "rest at ridge(2λ)", "noise of mean zero"


def split(model: PromptModel, rng: np.random.Generator) -> pd.DataFrame:
    """Γ* of the population beside the two ways in which Algorithm 1 misses it: a bias, and noise.

    ``split_worst`` is the largest L_test(Γ̂) over 2L_test(Γ*) + 2(difference of predictions)² of any prompt;
    ``error_gap`` the mean of L_test(Γ̂) − L_test(Γ*), ``excess_risk`` that of the squared difference, in closed form.
    """
    rows = []
    for penalty in PENALTIES:
        fresh, _ = head.sample_statistics(model, DRAWS, rng=rng)
        identity, g = np.eye(model.D), population.ridge_scale(model, penalty)
        bias = (population.ridge_scale(model, 2 * penalty) - g) * identity
        noise = NOISE_STD * rng.standard_normal((DRAWS, model.D, model.D))
        for name, difference in ((BIAS, np.broadcast_to(bias, noise.shape)), (NOISE, noise)):
            wrong = fresh.response - head.predict(g * identity, fresh)
            moved = np.einsum("nd,nde,ne->n", fresh.query, difference, fresh.context)
            private, best = (wrong - moved) ** 2, wrong**2
            gap, of_noise = private - best, NOISE_STD**2 * population.context_energy(model)
            row = {"difference": name, "D": model.D, "L": model.L, "penalty": penalty}
            row |= {"split_worst": (private / (2 * best + 2 * moved**2)).max(), "error_gap": gap.mean()}
            row |= {"gap_error": gap.std(ddof=1) / np.sqrt(len(gap))}
            risk = float(population.excess_risk(model, bias)) if name == BIAS else of_noise
            rows.append(row | {"excess_risk": risk, "draws": DRAWS})
    return pd.DataFrame(rows)


# ---- Steps ----

LONG = 10**12  # steps, in closed form, after which descent has come to rest
RADII = np.logspace(-4, 0, 9)  # distances from Γ* over ‖Γ*‖ at which the recursion is tried
PROBES = 20  # directions at each distance
RESPONSE_STEPS = 100  # steps through which unit noise is followed


def noise_response_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ‖²_F and E⟨Γ, Z⟩² of RESPONSE_STEPS steps that are fed unit noise and no responses, Π_R away; shape (2,)."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    silent = Moments(head.moments(raw).gram, np.zeros(cell.D**2))
    free = replace(
        cell.hyper[Setting.PRINTED], weight_bound=recipes.FREE, feature_bound=recipes.FREE, steps=RESPONSE_STEPS
    )
    Gamma = pretraining.pretrain(for_updates(silent), free, [1.0], rng=rng)[0]
    return np.array([(Gamma**2).sum(), population.excess_risk(cell.model, Gamma)])


def response_rows(cell: Problem, samples: np.ndarray) -> pd.DataFrame:
    """Mean response to unit noise beside Σ_t (1 − η₀(2λ + h))^{2t}, times D² for the weights, E‖m‖² for the risk."""
    mean, error = _fits.mean_and_error(samples)
    energy = population.context_energy(cell.model)
    told = replace(cell.hyper[Setting.PRINTED], steps=RESPONSE_STEPS)
    risk = dynamics.noise_risk(told, cell.model, 1.0, energy / cell.D**2)
    measured = {"value": mean, "standard_error": error, "trials": len(samples)}
    closed = {"closed_form": [risk / energy * cell.D**2, risk]}
    return pd.DataFrame({"quantity": ["weights", "excess_risk"], "D": cell.D} | measured | closed)


def recursion_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """The steps (A.5)-(A.8) tried on a data set, as printed and projected with λ/2; shape (settings, 4).

    Least ⟨∇, Γ − Γ*⟩/(λ‖Γ − Γ*‖²); λ_max(∇²)/(G² + 2λ); worst step over (A.3)'s factor; (A.8) at rest, over R².
    """
    drawn = head.sample_statistics(cell.model, cell.N, rng=rng)[0]
    printed, penalty, found = cell.hyper[Setting.PRINTED], cell.penalty, []
    projected = head.project(drawn, printed.feature_bound)
    for hyper, used in ((printed, drawn), (replace(printed, penalty=penalty / 2), projected)):
        data = head.moments(used)
        centre = ridge(data, penalty).reshape(-1)
        norm = np.linalg.norm(centre)
        rest = pretraining.gradient_descent(data, replace(hyper, steps=LONG)).reshape(-1)
        # The gradient's own direction is the worst; where descent rests at Γ* there is none.
        away = rest - centre if np.linalg.norm(rest - centre) > 1e-12 * norm else rng.standard_normal(len(centre))
        directions = np.vstack([away, -away, rng.standard_normal((PROBES - 2, len(centre)))])
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        offset = (RADII[:, None, None] * norm * directions).reshape(-1, len(centre))
        Gamma, square = centre + offset, (offset**2).sum(axis=1)
        gradient = Gamma @ data.gram - data.cross + 2 * hyper.penalty * Gamma
        convexity = (gradient * offset).sum(axis=1) / (penalty * square)
        smooth = hyper.feature_bound**2 + 2 * penalty
        factor = 1 - 2 * hyper.learning_rate * penalty + (hyper.learning_rate * smooth) ** 2
        stepped = ((offset - hyper.learning_rate * gradient) ** 2).sum(axis=1) / (factor * square)
        curvature = np.linalg.eigvalsh(data.gram)[-1] + 2 * hyper.penalty
        left_over = ((rest - centre) ** 2).sum() / hyper.weight_bound**2
        found.append([convexity.min(), curvature / smooth, stepped.max(), left_over])
    return np.array(found)


def projection_step(rng: np.random.Generator) -> pd.DataFrame:
    """(A.2) at random Γ* in the unit ball and noise of many sizes: the largest ratio of its left to its right sides."""
    rows, draws = [], 2000
    for D, split in product((2, 5, 20), (0.1, 1.0, 10.0)):
        p = D**2
        star = rng.standard_normal((draws, p))
        star *= rng.random((draws, 1)) / np.linalg.norm(star, axis=1, keepdims=True)
        descended, noise = (
            rng.standard_normal((draws, p)) * rng.lognormal(-1, 1, (draws, 1)) / np.sqrt(p) for _ in range(2)
        )
        moved = star + descended + noise
        left = pretraining.project_ball(moved, 1.0) - star
        left, middle, before, added = ((v**2).sum(axis=1) for v in (left, descended + noise, descended, noise))
        right = (1 + 1 / split) * before + (1 + split) * added
        outside = float((np.linalg.norm(moved, axis=1) > 1).mean())
        row = {"D": D, "C0": split, "draws": draws, "outside": outside}
        rows.append(row | {"left_over_middle": (left / middle).max(), "middle_over_right": (middle / right).max()})
    return pd.DataFrame(rows)


# ---- The experiment ----


class Experiment(Parameters):
    """Both sides of (4.2) along T, N, D and L, and the events and steps of its proof."""

    N: tuple[int, ...] = many(count(2, 10**7), 250, 500, 1000, 2000, 4000, ascending=True)
    """Numbers of training prompts. Of N, L and D each axis runs through one, the others at their middle element."""
    L: tuple[int, ...] = many(count(1, 10**6), 10, 31, 100, 316, 1000, 2000, ascending=True)
    """Numbers of labelled tokens in a prompt."""
    D: tuple[int, ...] = many(count(2, 1000), 2, 3, 5, 10, 20, ascending=True)
    """Dimensions of a feature."""
    T: tuple[int, ...] = many(count(1, 10**6), 1, 2, 5, 10, 20, 30, 50, 75, 100, ascending=True)
    """Numbers of steps, at the middle of N, L and D; elsewhere that of Theorem 4.2(i)."""
    epsilon: float = parameter(EPSILON, 1.0)
    """Privacy budget ε of approximate differential privacy, at most the least T."""
    delta: float = parameter(DELTA, 1e-5)
    failure: float = parameter(chance(1e-50, 0.99), 0.01)
    penalty: float = parameter(PENALTY, 5.0)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    trials: int = parameter(TRIALS, 100)
    """Data sets for both sides of (4.2)."""
    event_trials: int = parameter(TRIALS, 20)
    """Data sets for the events of the proof."""
    seed: int = parameter(SEED, 4)

    def check(self) -> None:
        """Refuse a budget or a penalty that some cell cannot have."""
        _validate.between("epsilon", self.epsilon, 0, min(self.T))
        for cell in (cell for axis in self.axes.values() for cell in axis):
            longest = max(max(cell.steps(hyper)) for hyper in cell.hyper.values())
            recipes.check_steps(longest, cell.penalty, cell.N)

    @property
    def base(self) -> dict[str, int]:
        """The middle of the three axes; of two middle elements the lower."""
        return {name: getattr(self, name)[(len(getattr(self, name)) - 1) // 2] for name in ("N", "L", "D")}

    def along(self, axis: str) -> list[dict[str, int]]:
        """The sizes of an axis."""
        return [self.base | {axis: value} for value in getattr(self, axis)]

    @property
    def axes(self) -> dict[str, list[Cell]]:
        """The cells of each axis: all of T at the middle, then those of N, L and D with the T of Theorem 4.2(i)."""
        theorem = {axis: [self.shared(Cell, T=(), **sizes) for sizes in self.along(axis)] for axis in ("N", "L", "D")}
        return {"T": [self.shared(Cell, **self.base)]} | theorem

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Both sides of (4.2), the radius of Γ*, the events, the steps of the proof, and closed forms, as tables."""
        cells = dict.fromkeys(cell for axis in self.axes.values() for cell in axis)  # the axes meet in the middle
        samples = runner.run(sides_trial, list(cells), self.trials, self.seed)
        rows = [side_rows(name, cell, samples[cell]) for name, axis in self.axes.items() for cell in axis]
        radii = [radius_row(cell, samples[cell]) for cell in self.axes["N"]]
        lengths = [self.shared(Size, **sizes) for sizes in self.along("L")]
        dimensions = [self.shared(Problem, **sizes) for sizes in self.along("D")]
        problem, middle, kappa = self.shared(Problem, **self.base), self.axes["T"][0], self.failure
        happened = runner.run(trial, lengths, self.event_trials, self.seed + 1)
        recursion = runner.run(recursion_trial, [problem], self.event_trials, self.seed + 2)
        response = runner.run(noise_response_trial, dimensions, self.trials, self.seed + 3)
        worst = []  # over the data sets: (A.5) bounds from below, the others from above
        for s, setting in enumerate((Setting.PRINTED, Setting.CORRECTED)):
            for check, values in zip(("(A.5)", "(A.6)", "(A.7)", "(A.8)"), recursion[problem][:, s].T):
                extreme = values.min() if check == "(A.5)" else values.max()
                worst.append({"setting": str(setting), "check": check, "worst": extreme, "data_sets": len(values)})
        return {
            "both-sides": pd.concat(rows, ignore_index=True),
            "radius": pd.DataFrame(radii),
            "events": pd.DataFrame([event_row(c, v) for c, v in happened.items()]),
            "noise-response": pd.concat([response_rows(c, v) for c, v in response.items()], ignore_index=True),
            "recursion": pd.DataFrame(worst),
            "projection-step": projection_step(generator(self.seed + 4, 0, 0)),
            "signed-sums": signed_sums(middle.D, generator(self.seed + 5, 0, 0)),
            "split": split(middle.model, generator(self.seed + 6, 0, 0)),
            "constants": pd.DataFrame(
                [
                    {"N": N, "log_odds": np.log(N / kappa)} | constants(N, middle.D, kappa)
                    for N in (10.0**power for power in range(3, 31, 3))
                ]
            ),
            "constants-by-dimension": pd.DataFrame(
                [{"N": LONGEST, "D": D} | constants(LONGEST, D, kappa) for D in (2, 5, 10, 20, 50, 100, 1000, 10000)]
            ),
            "norms": norms(middle),
            "conditional": conditional(middle),
            "dominance": dominance(middle),
        }
