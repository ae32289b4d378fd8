"""What is measured of section 7: the data, Figure 6 in every reading of the text, and what it protects."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.linalg import lstsq
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from chapters.noisyhead import authors
from chapters.noisyhead.newsgroups import articles
from chapters.noisyhead.newsgroups.articles import REMOVALS, Articles, words_of
from chapters.ranges import DELTA, SEED, TRIALS, amount, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate, datasets
from costofprivacy._validate import POSITIVE, among, at_least, within
from costofprivacy.noisyhead import bounds, head, hyperparameters, pretraining, recipes, tridiagonal
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters, learning_rate_interval
from costofprivacy.noisyhead.population import ridge_scale
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.tridiagonal import Configurations, TridiagonalMoments, in_tridiagonal_basis
from costofprivacy.privacy import ApproximateDP, GaussianDP

# ---- Readings ----

PROMPTS = ("posts that recur", "posts used once", "posts of one group", "paragraphs used once")
RECURRING, ONCE, SAME_GROUP, PIECES = PROMPTS
SPREAD, STANDARD, LOGARITHM = "over its standard deviation", "standardised", "its standardised logarithm"
LARGEST, TOKENS = "over the largest", "in tokens"
SPHERE, AS_IS = "on the unit sphere", "as TF-IDF gives them"
OVER, ROBUST, THEOREM = "section 6.2", "section 6.3", "Theorem 4.1"
HIGH, LOW = "section 6.1 in high dimension", "section 6.1 in low dimension"
RECIPES = (OVER, HIGH, LOW, ROBUST, THEOREM)
ZERO, RANDOM = "zero", "random"
LOW_PENALTY, ROBUST_PENALTY, THEOREM_PENALTY = 5.0, 0.01, 1.0
ROBUST_SHARE = 0.7  # 0.007/(0.01 + G²)² over λ/(λ + G²)²


def _standardised(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / values.std())


LENGTHS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    SPREAD: lambda y: y / y.std(),
    STANDARD: _standardised,
    LOGARITHM: lambda y: _standardised(np.log(y)),
    LARGEST: lambda y: y / y.max(),
    TOKENS: lambda y: y,
}


@dataclass(frozen=True)
class Reading:
    """How articles become prompts: which articles, what is taken of them, and how many prompts.

    Args:
        articles: what there is. prompts: one of `PROMPTS`. length: one of `LENGTHS`. features: `SPHERE` or `AS_IS`.
        N, test_prompts: at most so many for training and for testing; fewer in this proportion, where articles run out.
        L: labelled articles of a prompt. failure: κ. clip: C over that of (4.1); G and R follow from C.
    """

    articles: Articles
    prompts: str
    length: str
    features: str
    N: int
    test_prompts: int
    L: int
    failure: float
    clip: float = 1.0

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Prompts for training and for testing."""
        wanted = self.N + self.test_prompts
        have = len(self.articles) // (self.L + 1) if self.prompts in (ONCE, PIECES) else wanted
        if have >= wanted:
            return self.N, self.test_prompts
        train = round(have * self.N / wanted)
        return train, have - train

    @cached_property
    def model(self) -> PromptModel:
        """The law of section 2 with these sizes, which the recipes ask for."""
        return PromptModel(self.articles.scores.shape[1], self.L)

    @cached_property
    def hyper(self) -> dict[str, Hyperparameters]:
        """C, G, R of (4.1), with λ and η₀ of each recipe; T comes with the run."""
        N, model, failure, clip = self.sizes[0], self.model, self.failure, self.clip
        C = clip * hyperparameters.clip_norm(model, N, failure)
        G = clip * hyperparameters.feature_bound_theorem(model, N, failure)
        high = N / model.D
        rates = {
            OVER: (high, hyperparameters.learning_rate_scaled(G, high, 0.02 / 3)),
            HIGH: (high, hyperparameters.learning_rate_scaled(G, high, 0.07)),
            LOW: (LOW_PENALTY, hyperparameters.learning_rate_printed(G)),
            ROBUST: (ROBUST_PENALTY, hyperparameters.learning_rate_scaled(G, ROBUST_PENALTY, ROBUST_SHARE)),
        }
        end = hyperparameters.learning_rate_interval(G, THEOREM_PENALTY)
        rates[THEOREM] = (THEOREM_PENALTY, recipes.INTERVAL_SHARE * end)
        R = {name: clip**2 * hyperparameters.weight_bound(model, N, failure, rates[name][0]) for name in rates}
        return {name: Hyperparameters(C, G, R[name], *rates[name], steps=1) for name in rates}

    def told(self, recipe: str, steps: int) -> Hyperparameters:
        """The hyperparameters of a recipe for so many steps."""
        return replace(self.hyper[recipe], steps=steps)

    @cached_property
    def tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Features, shape (articles, D), and responses, shape (articles,), of all articles; scaled by all of them."""
        x = self.articles.scores
        if self.features == SPHERE:
            x = x / np.linalg.norm(x, axis=1, keepdims=True)
        return x, LENGTHS[self.length](self.articles.lengths)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """The articles of each prompt, training prompts first, its query last; shape (prompts, L + 1)."""
        count, tokens, total = sum(self.sizes), self.L + 1, len(self.articles)
        if self.prompts in (ONCE, PIECES):
            return rng.permutation(total)[: count * tokens].reshape(count, tokens)
        if self.prompts == RECURRING:
            return np.array([rng.choice(total, tokens, replace=False) for _ in range(count)])
        of_group = [np.flatnonzero(self.articles.groups == g) for g in np.unique(self.articles.groups)]
        groups = rng.integers(len(of_group), size=count)
        return np.array([rng.choice(of_group[g], tokens, replace=False) for g in groups])

    def statistics(self, rows: np.ndarray, clip_norm: float = math.inf) -> Statistics:
        """Query, context and response of prompts; with every query of norm one, its norm moved into the context.

        So Z is what it was, and ‖Z‖_F the norm of the context, which `head.project` asks for.
        """
        x, y = self.tokens
        y = np.clip(y, -clip_norm, clip_norm)
        query, context = x[rows[:, -1]], np.einsum("nl,nld->nd", y[rows[:, :-1]], x[rows[:, :-1]]) / self.L
        size = np.linalg.norm(query, axis=1, keepdims=True)
        return Statistics(query / size, context * size, y[rows[:, -1]])


# ---- Runs ----

ALONG = "one run, read on its way"
PRIVATE, DESCENT, RIDGE, NOUGHT = "noisyhead", "gradient-descent", "ridge", "zero"
MEAN, CONTEXT_MEAN = "mean of the training lengths", "mean of the prompt's own lengths"
NO_DATA, BEST_HEAD, LINEAR = "head without data", "best ridge head", "linear in the query"
ENDS = (MEAN, CONTEXT_MEAN, NO_DATA, BEST_HEAD, LINEAR)
UNIT_NOISE = "unit noise"  # the noise part of the risk for noise of variance one in every step
PENALTIES = tuple(10.0**k for k in range(-9, 3))  # of the best ridge head


@dataclass(frozen=True)
class Cell:
    """A reading with the runs on it.

    Args:
        reading: how articles become prompts. T: numbers of steps, ascending. epsilons: the first one is the figure's.
        delta: δ. noises: draws of the noise on each draw of prompts. parts: whether the noise's parts are measured.
    """

    reading: Reading
    T: tuple[int, ...]
    epsilons: tuple[float, ...]
    delta: float
    noises: int
    parts: bool = False
    key: ClassVar[int] = 0  # all readings share their random numbers

    def budget(self, epsilon: float) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(epsilon, self.delta)

    @property
    def accounts(self) -> list[tuple[str, float]]:
        """Accounts and budgets of section 6.2's recipe from 0; the figure's first."""
        others = [(account, self.epsilons[0]) for account in (EVERY, LAST, ALONG)]
        return [*((ALGORITHM, epsilon) for epsilon in self.epsilons), *others]

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(recipe, start, account, epsilon, method, T) of each number that a trial returns."""
        rows: list[dict[str, object]] = []
        for recipe in RECIPES:
            none = {"recipe": recipe, "start": "", "account": "", "epsilon": np.nan}
            for start in (ZERO, RANDOM):
                run = {"recipe": recipe, "start": start}
                for account, epsilon in self.of(recipe, start):
                    own = run | {"account": account, "epsilon": epsilon}
                    rows += [own | {"method": PRIVATE, "T": T} for T in self.T]
                rows += [none | run | {"method": DESCENT, "T": T} for T in self.T]
            rows += [none | {"method": method, "T": 0} for method in (NOUGHT, RIDGE)]
        none = {"recipe": OVER, "start": "", "account": "", "epsilon": np.nan}
        rows += [none | {"method": method, "T": 0} for method in ENDS]
        return pd.DataFrame([*rows, *(none | {"method": UNIT_NOISE, "T": T} for T in self.T if self.parts)])

    def of(self, recipe: str, start: str) -> list[tuple[str, float]]:
        """Accounts and budgets that are run with a recipe from a start."""
        return self.accounts if (recipe, start) == (OVER, ZERO) else self.accounts[:1]

    def noise(self, recipe: str, account: str, epsilon: float) -> list[float]:
        """Standard deviation of an entry of z_t for each T."""
        N, budget = self.reading.sizes[0], self.budget(epsilon)
        longest = max(self.T)
        how, steps = (EVERY, [longest] * len(self.T)) if account == ALONG else (account, list(self.T))
        return [noise_std(how, self.reading.told(recipe, T), budget, N, T) for T in steps]

    def at(self, method: str) -> np.ndarray:
        """The columns of a method."""
        return np.flatnonzero(self.columns["method"] == method)

    @cached_property
    def private(self) -> Configurations:
        """NoisyHead's runs, in the order of the columns."""
        runs = [(recipe, start) for recipe in RECIPES for start in (ZERO, RANDOM)]
        std = [s for recipe, start in runs for way in self.of(recipe, start) for s in self.noise(recipe, *way)]
        return self._configurations(PRIVATE, np.array(std))

    @cached_property
    def descent(self) -> Configurations:
        """The same without noise and without Π_R."""
        return self._configurations(DESCENT, np.zeros(len(self.at(DESCENT))))

    def _configurations(self, method: str, std: np.ndarray) -> Configurations:
        rows = self.columns.iloc[self.at(method)]
        told = [self.reading.told(recipe, T) for recipe, T in zip(rows["recipe"], rows["T"], strict=True)]
        penalty, rate = (np.array([getattr(hyper, name) for hyper in told]) for name in ("penalty", "learning_rate"))
        radius = np.array([hyper.weight_bound if method == PRIVATE else np.inf for hyper in told])
        begun = (rows["start"] == RANDOM).to_numpy(float)
        return Configurations(penalty, rate, radius, std, rows["T"].to_numpy(int), begun)


@dataclass(frozen=True)
class Seen:
    """Training prompts as a learner sees them, Γ⁰ and the test prompts' Z, in a basis in which H is tridiagonal."""

    moments: TridiagonalMoments
    start: np.ndarray
    Z: np.ndarray

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        """⟨Γ, Z⟩ on the test prompts for coordinates of shape (B, D²), shape (B, n)."""
        return np.asarray(coordinates @ self.Z.T)

    def run(self, told: Configurations, noise: np.ndarray) -> np.ndarray:
        """Γ^T's predictions, with the noise in coordinates."""
        return self.predict(tridiagonal.run(self.moments, told, self.start, noise))

    def ridge(self, penalty: float) -> np.ndarray:
        """The ridge solution's predictions, shape (n,)."""
        return self.predict(self.moments.solve(penalty)[None])[0]


@dataclass(frozen=True)
class Draw:
    """Training prompts as ridge and descent see them and as NoisyHead does, and test prompts."""

    train_rows: np.ndarray
    test_rows: np.ndarray
    mean_response: float
    seen: Seen
    told: Seen
    test: Statistics

    def errors(self, predicted: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Mean square distances of predictions of shape (B, n) from Γ*'s and from the lengths, shape (2, B)."""
        return np.stack([((predicted - against) ** 2).mean(axis=1) for against in (reference, self.test.response)])


def drawn(reading: Reading, rng: np.random.Generator) -> Draw:
    """Prompts and Γ⁰ of a trial; clipped and projected for NoisyHead, as they are for ridge and descent."""
    rows, D = reading.draw(rng), reading.model.D
    start = authors.INITIAL_STD * rng.standard_normal(D * D)
    train, test = rows[: reading.sizes[0]], rows[reading.sizes[0] :]
    hyper, asked = reading.told(OVER, 1), reading.statistics(test)
    raw = reading.statistics(train)
    told = head.project(reading.statistics(train, hyper.clip_norm), hyper.feature_bound)
    carried = np.vstack([start, asked.Z.reshape(len(asked.response), -1)])
    basis = in_tridiagonal_basis(raw)
    same = np.array_equal(raw.context, told.context) and np.array_equal(raw.response, told.response)
    other = basis if same else in_tridiagonal_basis(told)
    pretraining.refuse_unbounded(other, hyper.clip_norm, hyper.feature_bound)
    return Draw(train, test, raw.response.mean(), _seen(basis, carried), _seen(other, carried), asked)


def _seen(basis: TridiagonalMoments, carried: np.ndarray) -> Seen:
    """Γ⁰, the first row, and the test prompts' Z, the others, in a basis."""
    moved = basis.along(carried)
    return Seen(basis, moved[0], moved[1:])


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of prompts and all runs on it: shape (2, columns), excess risk over Γ* and test error.

    All runs share Γ⁰ and the directions of the noise. Descent beyond its largest learning rate overflows to infinity.
    """
    reading = cell.reading
    draw = drawn(reading, rng)
    stream = np.random.default_rng(int(rng.integers(2**63)))
    found = np.empty((2, len(cell.columns)))
    with np.errstate(over="ignore", invalid="ignore"):
        references = {recipe: draw.seen.ridge(reading.told(recipe, 1).penalty) for recipe in RECIPES}
        beside = np.array([references[recipe] for recipe in cell.columns["recipe"]])
        shape = (max(cell.T), len(draw.told.start))
        private = [draw.told.run(cell.private, stream.standard_normal(shape)) for _ in range(cell.noises)]
        descent = [draw.seen.run(cell.descent, np.zeros(shape))]
        for method, predicted in ((PRIVATE, private), (DESCENT, descent)):
            at = cell.at(method)
            found[:, at] = np.mean([draw.errors(one, beside[at]) for one in predicted], axis=0)
        ridges = np.array(list(references.values()))
        for method, answers in ((NOUGHT, 0 * ridges), (RIDGE, ridges)):
            found[:, cell.at(method)] = draw.errors(answers, ridges)
        ends = np.flatnonzero(cell.columns["method"].isin(ENDS))
        found[:, ends] = draw.errors(_ends(draw, reading), references[OVER])
    if cell.parts:
        found[:, cell.at(UNIT_NOISE)] = unit_noise(cell, draw)
    return np.where(np.isnan(found), np.inf, found)


def _ends(draw: Draw, reading: Reading) -> np.ndarray:
    """Predictions that need no privacy, or no head: `ENDS` in order, shape (5, n).

    The best ridge head has the penalty that does best on the test prompts themselves. The linear model has every
    labelled article of the training prompts.
    """
    response, train, test = draw.test.response, draw.train_rows, draw.test_rows
    x, y = reading.tokens
    rests = np.array([draw.seen.ridge(penalty) for penalty in PENALTIES])
    best = rests[((rests - response) ** 2).mean(axis=1).argmin()]
    nothing = ridge_scale(reading.model, 0.0) * np.einsum("nd,nd->n", draw.test.query, draw.test.context)
    middle = np.full_like(response, draw.mean_response)
    seen = np.unique(train)
    fit = lstsq(np.column_stack([np.ones(len(seen)), x[seen]]), y[seen], lapack_driver="gelsy")[0]
    linear = fit[0] + x[test[:, -1]] @ fit[1:]
    return np.stack([middle, y[test[:, :-1]].mean(axis=1), nothing, best, linear])


def unit_noise(cell: Cell, draw: Draw) -> np.ndarray:
    """E⟨Σ_t A^t z_t, Z⟩² over the test prompts for z_t of variance one, T terms, A section 6.2's update."""
    hyper = cell.reading.told(OVER, 1)
    each = tridiagonal.grown(draw.told.moments, hyper.penalty, hyper.learning_rate, draw.told.Z, max(cell.T))
    return np.asarray(each.mean(axis=0)[np.array(cell.T) - 1])


# ---- Shapes ----

LABELS = ["prompts", "length", "features", "clip"]
RUN = ["recipe", "start", "account", "epsilon"]
BEST, LAST_STEP = "best number of steps", "last number of steps"


def labelled(cell: Cell, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the names of the cell's reading in front."""
    reading = cell.reading
    for place, name in enumerate(LABELS):
        table.insert(place, name, getattr(reading, name))
    return table


def curves_of(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean excess risk of NoisyHead and descent by T in every run, and of answering 0; infinite where it overflows."""
    with np.errstate(invalid="ignore", over="ignore"):
        mean, error = _fits.mean_and_error(samples[:, 0])
    table = cell.columns.assign(excess_risk=mean, standard_error=error, trials=len(samples))
    return labelled(cell, table[table["method"].isin([PRIVATE, DESCENT, NOUGHT])].copy())


def near(table: pd.DataFrame, base: Cell) -> pd.DataFrame:
    """The curves that differ from the figure's in one choice at most; what a row does not have does not differ."""
    return table[_differences(table, base) <= 1].reset_index(drop=True)


def _differences(table: pd.DataFrame, base: Cell) -> pd.Series:
    own: dict[str, object] = {name: getattr(base.reading, name) for name in LABELS}
    own |= {"recipe": OVER, "start": ZERO, "account": ALGORITHM, "epsilon": base.epsilons[0]}
    count = pd.Series(0, index=table.index)
    for name, value in own.items():
        count += (table[name] != value) & table[name].notna() & (table[name] != "")
    return count


def shapes(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """For each run where its risk begins, is least and ends; changes of its logarithm in standard errors, paired."""
    columns, excess, rows = cell.columns, samples[:, 0], []
    private = columns[columns["method"] == PRIVATE]
    for (recipe, start, account, epsilon), own in private.groupby(RUN, sort=False):
        risk, T = excess[:, own.index], own["T"].to_numpy()
        mean, logs = risk.mean(axis=0), np.log(risk)
        best = int(mean.argmin())
        at = columns[(columns["method"] == DESCENT) & (columns["recipe"] == recipe) & (columns["start"] == start)].index
        zero = columns[(columns["method"] == NOUGHT) & (columns["recipe"] == recipe)].index[0]
        row: dict[str, object] = dict(zip(RUN, (recipe, start, account, epsilon), strict=True))
        row |= {"first_T": int(T[0]), "first": mean[0], "second": mean[1], "least": mean[best], "last": mean[-1]}
        row |= {
            "best_T": int(T[best]),
            "early": _score(logs[:, 1] - logs[:, 0]),
            "fall": _score(logs[:, 0] - logs[:, best]),
            "rise": _score(logs[:, -1] - logs[:, best]),
        }
        with np.errstate(invalid="ignore", over="ignore"):
            steps, ends = np.diff(np.log(excess[:, at]), axis=1), excess[:, at].mean(axis=0)
            rises = max((_score(step) for step in steps.T), default=0.0)
        row |= {"descent_first": ends[0], "descent_last": ends[-1], "descent_rise": rises}
        rows.append(row | {"zero": excess[:, zero].mean()})
    table = labelled(cell, pd.DataFrame(rows))
    return table.assign(N=cell.reading.sizes[0], trials=len(samples))


def _score(differences: np.ndarray) -> float:
    """A mean over its standard error; 0 where nothing differs, infinite where it overflows."""
    if not np.isfinite(differences).all():
        return float("inf")
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    mean = differences.mean()
    return 0.0 if mean == 0 else float(np.sign(mean) * np.inf if error == 0 else mean / error)


def errors(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Table ``test-error``: test errors of the ends, of Γ* and of both algorithms, and what they gain on the mean.

    ``gain`` is 1 − error/error of answering the mean of the training lengths, trial by trial. NoisyHead stands there
    with the number of steps that is best on the test prompts themselves, in its favour, and with the last one.
    """
    columns, error = cell.columns, samples[:, 1]
    base = error[:, columns.index[columns["method"] == MEAN][0]]
    rows = [_error(row.recipe, row.method, row.T, error[:, row.Index], base)
            for row in columns[columns["method"].isin([*ENDS, NOUGHT, RIDGE])].itertuples()]  # fmt: skip
    figure = columns[(columns["start"] == ZERO) & columns["account"].isin(["", ALGORITHM])]
    figure = figure[figure["epsilon"].isna() | (figure["epsilon"] == cell.epsilons[0])]
    for (recipe, method), own in figure.groupby(["recipe", "method"], sort=False):
        mean = error[:, own.index].mean(axis=0)
        for step, at in ((BEST, int(mean.argmin())), (LAST_STEP, -1)):
            name = f"{method}, {step}"
            rows.append(_error(recipe, name, own["T"].iloc[at], error[:, own.index[at]], base))
    return labelled(cell, pd.DataFrame(rows)).assign(trials=len(samples))


def _error(recipe: str, method: str, T: int, error: np.ndarray, base: np.ndarray) -> dict[str, object]:
    with np.errstate(invalid="ignore", over="ignore"):
        mean, spread = _fits.mean_and_error(np.stack([error, 1 - error / base], axis=1))
    names = ("test_error", "gain"), ("standard_error", "gain_error")
    values = dict(zip(names[0], mean, strict=True)) | dict(zip(names[1], spread, strict=True))
    return {"recipe": recipe, "method": method, "T": int(T)} | values


def noise_parts(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """The noise's part of the figure's risk by T and account: a step's variance, and what steps of variance one add."""
    own = cell.columns[cell.columns["method"] == UNIT_NOISE]
    mean, error = _fits.mean_and_error(samples[:, 0, own.index])
    rows = []
    for account in ACCOUNTS:
        variance = np.square(cell.noise(OVER, account, cell.epsilons[0]))
        for T, v, m, e in zip(own["T"], variance, mean, error, strict=True):
            rows.append({"account": account, "T": T, "step_variance": v, "accumulated": m, "standard_error": e})
    return pd.DataFrame(rows).assign(trials=len(samples))


# ---- Guarantee ----


@dataclass(frozen=True)
class Occurrence:
    """A reading whose prompts are drawn and looked at, without anything run on them."""

    reading: Reading
    key: ClassVar[int] = 0  # the random numbers of the runs: the very prompts


def occurrences(cell: Occurrence, *, rng: np.random.Generator) -> np.ndarray:
    """Training prompts that a training article stands in, on average and at most; share of test articles in training.

    The last is the share of all places in test prompts whose article stands in a training prompt as well.
    """
    rows, N = cell.reading.draw(rng), cell.reading.sizes[0]
    train, test = rows[:N], rows[N:]
    times = np.bincount(train.ravel(), minlength=len(cell.reading.articles))
    return np.array([times[times > 0].mean(), times.max(), (times[test] > 0).mean()])


def occurrence_rows(found: dict[Occurrence, np.ndarray]) -> pd.DataFrame:
    """Table ``occurrences``."""
    table = []
    for cell, values in found.items():
        mean = values.mean(axis=0)
        sizes = dict(zip(("N", "test_prompts"), cell.reading.sizes, strict=True))
        row = {"prompts": cell.reading.prompts, "articles": len(cell.reading.articles)} | sizes
        shares = {"prompts_per_article": mean[0], "most_prompts": int(values[:, 1].max()), "test_seen": mean[2]}
        table.append(row | shares | {"trials": len(values)})
    return pd.DataFrame(table)


def spent(reading: Reading, budget: ApproximateDP, steps: tuple[int, ...], most: int) -> pd.DataFrame:
    """Table ``guarantee``: the ε at the claimed δ for one prompt, and for an article of 1 to ``most`` prompts.

    Replacing k prompts moves each step by at most k times what one does, so that every μ is k times as large.
    """
    table, N = [], reading.sizes[0]
    for T in steps:
        hyper = reading.told(OVER, T)
        profile = pretraining.profile(hyper, budget, N, noise_std(ALGORITHM, hyper, budget, N, T))
        for k in range(1, most + 1):
            one = {"every_iterate": profile.every_iterate.mu, "last_iterate": profile.last_iterate.mu}
            exact = {name: GaussianDP(k * mu).epsilon(budget.delta) for name, mu in one.items()}
            table.append({"T": T, "prompts_held": k, "claimed": budget.epsilon} | exact)
    return pd.DataFrame(table)


# ---- Own radii ----
# One step of Algorithm 1 from 0 with radii of our own, where the prompts tell a head most: one group, log lengths.
#
# Section 7 prints no hyperparameters. Those of other sections take C, G and R from (4.1), which suits features of any
# direction; the scores of articles nearly have one, and centred lengths make ‖Z‖ far smaller than that G. λ = G²/2
# makes the interval of Theorem 4.1 for η₀ as long as it can be. **The radii are chosen with the data in view**, which
# an ε for the weights does not count.

C, G, R, PENALTY = 2.0, 0.05, 3.0, 0.05**2 / 2
OWN = Hyperparameters(C, G, R, PENALTY, recipes.INTERVAL_SHARE * learning_rate_interval(G, PENALTY), steps=1)
OWN_RADII_TRIALS = 40


@dataclass(frozen=True)
class OwnRadiiCell:
    """A reading, of which the sizes count, with the budgets, the figure's first."""

    reading: Reading
    epsilons: tuple[float, ...]
    delta: float
    key: ClassVar[int] = 3  # prompts of its own

    @property
    def kindest(self) -> Reading:
        """The reading with the choices that tell a head most."""
        return replace(self.reading, prompts=SAME_GROUP, length=LOGARITHM, features=AS_IS)


def own_radii_trial(cell: OwnRadiiCell, *, rng: np.random.Generator) -> np.ndarray:
    """1 − test error over that of the mean of the training lengths for each budget; all share the noise's direction."""
    reading, N = cell.kindest, cell.reading.sizes[0]
    rows = reading.draw(rng)
    seen = head.project(reading.statistics(rows[:N], OWN.clip_norm), OWN.feature_bound)
    asked, middle = reading.statistics(rows[N:]), reading.tokens[1][rows[:N, -1]].mean()
    std = [noise_std(ALGORITHM, OWN, ApproximateDP(epsilon, cell.delta), N, 1) for epsilon in cell.epsilons]
    step = OWN.learning_rate / N * np.einsum("k,kd,ke->de", seen.response, seen.query, seen.context)
    moved = step.ravel() + np.outer(std, rng.standard_normal(step.size))
    predicted = pretraining.project_ball(moved, OWN.weight_bound) @ asked.Z.reshape(len(asked.response), -1).T
    errors = ((predicted - asked.response) ** 2).mean(axis=1)
    return np.asarray(1 - errors / ((middle - asked.response) ** 2).mean())


def own_radii_rows(cell: OwnRadiiCell, samples: np.ndarray) -> pd.DataFrame:
    """Table ``own-radii``: what is gained on the mean, by ε."""
    gain, error = _fits.mean_and_error(samples)
    told = {"clip_norm": C, "feature_bound": G, "weight_bound": R, "penalty": PENALTY}
    table = pd.DataFrame({"epsilon": cell.epsilons, "gain": gain, "gain_error": error})
    return table.assign(**told, learning_rate=OWN.learning_rate, T=OWN.steps, trials=len(samples))


# ---- Scores ----

FOLDS = 5
MODELS: dict[str, Callable[[], Any]] = {
    "linear": LinearRegression,
    "nearest neighbours": lambda: KNeighborsRegressor(30, algorithm="brute"),
}


@dataclass(frozen=True)
class Question:
    """A reading's features, and the scales of a length that they are asked for: neighbours are sought once."""

    reading: Reading
    lengths: tuple[str, ...]
    key: ClassVar[int] = 2  # the folds' random numbers


def explained(question: Question, *, rng: np.random.Generator) -> np.ndarray:
    """R² on held-out articles by scale of the length, model and fold, shape (lengths, 2, 5)."""
    x, lengths = question.reading.tokens[0], question.reading.articles.lengths
    y = np.column_stack([LENGTHS[name](lengths) for name in question.lengths])
    folds = KFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    found = np.empty((len(question.lengths), len(MODELS), FOLDS))
    for k, (train, test) in enumerate(folds.split(x)):
        for m, make in enumerate(MODELS.values()):
            predicted = make().fit(x[train], y[train]).predict(x[test])
            found[:, m, k] = r2_score(y[test], predicted, multioutput="raw_values")
    return found


def score_rows(found: dict[Question, np.ndarray]) -> pd.DataFrame:
    """Table ``scores``: the share of a length's variance that its scores explain; errors over the folds."""
    table = []
    for question, values in found.items():
        for length, by_model in zip(question.lengths, values[0], strict=True):
            for model, shares in zip(MODELS, by_model, strict=True):
                row = {"features": question.reading.features, "length": length, "model": model}
                row |= {"explained": shares.mean(), "standard_error": shares.std(ddof=1) / math.sqrt(FOLDS)}
                table.append(row | {"folds": FOLDS})
    return pd.DataFrame(table)


def description(reading: Reading) -> pd.DataFrame:
    """Table ``data``: the articles that the figure is made of."""
    articles, C = reading.articles, reading.told(next(iter(reading.hyper)), 1).clip_norm
    norms, lengths = np.linalg.norm(articles.scores, axis=1), articles.lengths
    row = {
        "name": articles.name,
        "instead_of": articles.instead_of,
        "available": articles.available,
        "used": len(articles),
        "D": articles.scores.shape[1],
        "L": reading.L,
        "wanted": reading.N + reading.test_prompts,
        "short_share": (articles.scores[:, -1] == 0).mean(),
        "mean_length": lengths.mean(),
        "median_length": np.median(lengths),
        "length_spread": lengths.std(),
        "longest": lengths.max(),
        "mean_norm": norms.mean(),
        "alignment": np.linalg.norm((articles.scores / norms[:, None]).mean(axis=0)),
        "clip_norm": C,
        "clipped_share": (np.abs(LENGTHS[reading.length](lengths)) > C).mean(),
    }
    return pd.DataFrame([row])


# ---- The experiment ----

FEWEST = 40  # posts for each place in a prompt: a group has enough for a prompt of its own
FARTHEST = 20_000  # steps up to which the bound is followed


class Experiment(Parameters):
    """Figure 6: NoisyHead and descent on prompts of articles of 20 Newsgroups, in every reading of section 7."""

    data_sets: ClassVar[tuple[str, ...]] = (datasets.NEWSGROUPS,)

    N: int = parameter(count(50, 10**5), 822)
    """Training prompts; fewer, in proportion, where each article stands in one prompt and they run out."""
    test_prompts: int = parameter(count(10, 10**5), 205)
    """Test prompts; fewer, in the same proportion."""
    L: int = parameter(count(2, 1000), 30)
    D: int = parameter(within(2, 40, after=at_least(2), convert=int), 30)
    """Largest TF-IDF scores that are kept of an article."""
    T: tuple[int, ...] = many(count(1, 10**5), *range(1, 101, 11), ascending=True)
    """Numbers of steps, at least three of them; each is a run of its own."""
    epsilon: float = parameter(within(1e-3, 1, after=POSITIVE), 0.8)
    """Privacy budget ε of the figure; section 7 prints none, section 6.2 has this one."""
    other_epsilons: tuple[float, ...] = many(within(1e-3, 1, after=POSITIVE), 0.1, 0.3, 1.0, ascending=True)
    """Further budgets."""
    delta: float = parameter(DELTA, 1e-5)
    failure: float = parameter(within(1e-50, 1, after=POSITIVE), 1.0)
    prompts: tuple[str, ...] = many(among(PROMPTS), *PROMPTS)
    """How articles become prompts; the first one is the figure's."""
    lengths: tuple[str, ...] = many(among(tuple(LENGTHS)), *LENGTHS)
    """How an article's length is scaled; the first one is the figure's."""
    features: tuple[str, ...] = many(among((SPHERE, AS_IS)), SPHERE, AS_IS)
    """How an article's scores are scaled; the first one is the figure's."""
    clips: tuple[float, ...] = many(amount(1e-3, 1e3), 1.0, 0.5, 2.0)
    """The level C at which a length is clipped, over that of (4.1); G and R follow. The first one is the figure's."""
    removals: tuple[str, ...] = many(among(tuple(REMOVALS)), *REMOVALS)
    """What is cut out of posts before they are counted; the runs are on whole posts."""
    posts: int = parameter(count(0, 10**6), 0)
    """Posts that are used, drawn at random; 0 for all of them."""
    trials: int = parameter(TRIALS, 20)
    """Draws of prompts."""
    noises: int = parameter(count(1, 10**4), 8)
    """Draws of the noise on each draw of prompts."""
    seed: int = parameter(SEED, 20)

    def check(self) -> None:
        """Refuse too few numbers of steps or posts, a first choice without posts, and budgets that are none."""
        if len(self.T) < 3:
            raise ValueError(f"T must hold at least three numbers of steps, got {list(self.T)}")
        if self.epsilon in self.other_epsilons:
            raise ValueError(f"other_epsilons must not hold epsilon = {self.epsilon}, got {list(self.other_epsilons)}")
        _validate.between("epsilon", max(self.epsilon, *self.other_epsilons), 0, min(self.T))
        if 0 < self.posts < FEWEST * (self.L + 1):
            least = FEWEST * (self.L + 1)
            raise ValueError(f"posts must be 0 or at least {FEWEST}·(L + 1) = {least}, got {self.posts}")
        if self.prompts[0] == PIECES:
            raise ValueError(f"prompts must not begin with {PIECES!r}: the figure is made of posts")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """The data and its counts, Figure 6 in every reading, test errors, the noise's parts, bound and guarantee."""
        try:
            texts, groups, available = articles.chosen(self.posts, self.seed)
        except datasets.DataMissing:  # the stand-in under its own name
            posts, pieces = articles.of_digits(self.D), None
        else:
            cut = (words_of(texts), groups, self.D, available)
            posts, pieces = articles.of_posts(*cut), articles.of_paragraphs(*cut) if PIECES in self.prompts else None
        base = self.reading(posts)
        every = self._readings(base, pieces)
        told = (self.T, (self.epsilon, *self.other_epsilons), self.delta, self.noises)
        cells = [Cell(reading, *told, parts=reading is base) for reading in every]
        samples = runner.run(trial, cells, self.trials, self.seed)
        curves = pd.concat([curves_of(cell, samples[cell]) for cell in cells], ignore_index=True)
        held = [Occurrence(r) for r in every if replace(r, prompts=base.prompts, articles=posts) == base]
        found = occurrence_rows(runner.run(occurrences, held, self.trials, self.seed))
        own = OwnRadiiCell(base, told[1], self.delta)
        asked = [Question(replace(base, features=x), (SPREAD, LOGARITHM)) for x in self.features]
        cuts = [] if posts.instead_of else [self.shared(articles.Cut, removed=name) for name in self.removals]
        counted = runner.run(articles.counted, cuts, 1, self.seed)
        return {
            "data": description(base),
            "counts": articles.rows(counted, self.L + 1, self.N + self.test_prompts),
            "scores": score_rows(runner.run(explained, asked, 1, self.seed)),
            "figure-6": near(curves, cells[0]),
            "shapes": pd.concat([shapes(cell, samples[cell]) for cell in cells], ignore_index=True),
            "test-error": pd.concat([errors(cell, samples[cell]) for cell in cells], ignore_index=True),
            "own-radii": own_radii_rows(own, runner.run(own_radii_trial, [own], OWN_RADII_TRIALS, self.seed)[own]),
            "noise-parts": noise_parts(cells[0], samples[cells[0]]),
            "bound": self._bound(cells[0], curves),
            "occurrences": found,
            "guarantee": spent(base, cells[0].budget(self.epsilon), self.T, int(found["most_prompts"].max())),
        }

    def reading(self, posts: Articles) -> Reading:
        """The figure's own: the first of every choice."""
        first = {"prompts": self.prompts[0], "length": self.lengths[0], "features": self.features[0]}
        return self.shared(Reading, articles=posts, clip=self.clips[0], **first)

    def _readings(self, base: Reading, pieces: Articles | None) -> list[Reading]:
        """The figure's reading, those that differ from it in one choice, and one that tells a head more in three."""
        other = [replace(base, prompts=name) for name in self.prompts[1:] if name != PIECES]
        if pieces is not None:
            other.append(replace(base, prompts=PIECES, articles=pieces))
        other += [replace(base, length=name) for name in self.lengths[1:]]
        other += [replace(base, features=name) for name in self.features[1:]]
        other += [replace(base, clip=clip) for clip in self.clips[1:]]
        if SAME_GROUP in self.prompts and LOGARITHM in self.lengths and AS_IS in self.features:
            other.append(replace(base, prompts=SAME_GROUP, length=LOGARITHM, features=AS_IS))
        return [base, *(reading for reading in dict.fromkeys(other) if reading != base)]

    def _bound(self, cell: Cell, curves: pd.DataFrame) -> pd.DataFrame:
        """Table ``bound``: the risk of the figure beside the two terms of (4.2), hidden constants one."""
        reading, budget = cell.reading, cell.budget(self.epsilon)
        G0 = hyperparameters.query_bound_theorem(reading.model, reading.sizes[0], self.failure)
        own = curves[(_differences(curves, cell) == 0) & (curves["method"] == PRIVATE)]
        far = [sum(self._terms(reading, T, G0, budget)) for T in range(1, FARTHEST + 1)]
        rows = []
        for row in own.itertuples():
            descent, noise = self._terms(reading, row.T, G0, budget)
            measured = {"T": row.T, "excess_risk": row.excess_risk, "standard_error": row.standard_error}
            rows.append(measured | {"descent_42": descent, "noise_42": noise, "trials": row.trials})
        return pd.DataFrame(rows).assign(bound_best_T=1 + min(range(FARTHEST), key=far.__getitem__))

    def _terms(self, reading: Reading, T: int, query_bound: float, budget: ApproximateDP) -> tuple[float, float]:
        hyper, N = reading.told(OVER, T), reading.sizes[0]
        noise = bounds.cost_of_noise(hyper, query_bound, reading.model, budget, N)
        return bounds.cost_of_descent(hyper, query_bound), noise
