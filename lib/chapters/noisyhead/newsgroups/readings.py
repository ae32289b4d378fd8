"""What section 7 of arXiv:2504.16000v2 leaves open, and what is tried: prompts, the length's scale, hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chapters.noisyhead.newsgroups.articles import Articles
from costofprivacy.noisyhead import hyperparameters, recipes
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel

RECURRING, ONCE, SAME_GROUP, PIECES = (
    "posts that recur",
    "posts used once",
    "posts of one group",
    "paragraphs used once",
)
PROMPTS = (RECURRING, ONCE, SAME_GROUP, PIECES)
SPREAD, STANDARD, LOGARITHM, LARGEST, TOKENS = (
    "over its standard deviation",
    "standardised",
    "its standardised logarithm",
    "over the largest",
    "in tokens",
)
SPHERE, AS_IS = "on the unit sphere", "as TF-IDF gives them"
OVER, HIGH, LOW, ROBUST, THEOREM = (
    "section 6.2",
    "section 6.1 in high dimension",
    "section 6.1 in low dimension",
    "section 6.3",
    "Theorem 4.1",
)
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
