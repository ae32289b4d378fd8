"""What is measured of section 7: the data, Figure 6 in every reading of the text, and what it protects."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pandas as pd

from chapters.noisyhead.newsgroups import articles, counts, guarantee, runs, scores, shapes
from chapters.noisyhead.newsgroups.articles import REMOVALS, Articles
from chapters.noisyhead.newsgroups.readings import (
    AS_IS,
    LENGTHS,
    LOGARITHM,
    OVER,
    PIECES,
    PROMPTS,
    SAME_GROUP,
    SPHERE,
    SPREAD,
    Reading,
)
from chapters.noisyhead.newsgroups.words import words_of
from chapters.ranges import DELTA, SEED, TRIALS, amount, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate, datasets
from costofprivacy._validate import POSITIVE, among, at_least, within
from costofprivacy.noisyhead import bounds, hyperparameters
from costofprivacy.privacy import ApproximateDP

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
        posts, pieces = self._articles()
        base = self.reading(posts)
        every = self._readings(base, pieces)
        told = (self.T, (self.epsilon, *self.other_epsilons), self.delta, self.noises)
        cells = [runs.Cell(reading, *told, parts=reading is base) for reading in every]
        samples = runner.run(runs.trial, cells, self.trials, self.seed)
        curves = pd.concat([shapes.curves(cell, samples[cell]) for cell in cells], ignore_index=True)
        held = [guarantee.Occurrence(r) for r in every if replace(r, prompts=base.prompts, articles=posts) == base]
        found = guarantee.occurrence_rows(runner.run(guarantee.occurrences, held, self.trials, self.seed))
        asked = [scores.Question(replace(base, features=x), (SPREAD, LOGARITHM)) for x in self.features]
        return {
            "data": scores.description(base),
            "counts": self._counts(runner, base),
            "scores": scores.rows(runner.run(scores.explained, asked, 1, self.seed)),
            "figure-6": shapes.near(curves, cells[0]),
            "shapes": pd.concat([shapes.shapes(cell, samples[cell]) for cell in cells], ignore_index=True),
            "test-error": pd.concat([shapes.errors(cell, samples[cell]) for cell in cells], ignore_index=True),
            "noise-parts": shapes.noise_parts(cells[0], samples[cells[0]]),
            "bound": self._bound(cells[0], curves),
            "occurrences": found,
            "guarantee": guarantee.spent(base, cells[0].budget(self.epsilon), self.T, int(found["most_prompts"].max())),
        }

    def reading(self, posts: Articles) -> Reading:
        """The figure's own: the first of every choice."""
        first = {"prompts": self.prompts[0], "length": self.lengths[0], "features": self.features[0]}
        return self.shared(Reading, articles=posts, clip=self.clips[0], **first)

    def _articles(self) -> tuple[Articles, Articles | None]:
        """Posts and, where they are asked for, their paragraphs; without the data, the stand-in under its own name."""
        try:
            texts, groups, available = articles.chosen(self.posts, self.seed)
        except datasets.DataMissing:
            return articles.of_digits(self.D), None
        told = (words_of(texts), groups, self.D, available)
        return articles.of_posts(*told), articles.of_paragraphs(*told) if PIECES in self.prompts else None

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

    def _counts(self, runner: Runner, base: Reading) -> pd.DataFrame:
        if base.articles.instead_of:
            return counts.none()
        readings = [self.shared(counts.Reading, removed=name) for name in self.removals]
        found = runner.run(counts.counted, readings, 1, self.seed)
        return counts.rows(found, self.L + 1, self.N + self.test_prompts)

    def _bound(self, cell: runs.Cell, curves: pd.DataFrame) -> pd.DataFrame:
        """Table ``bound``: the risk of the figure beside the two terms of (4.2), hidden constants one."""
        reading, budget = cell.reading, cell.budget(self.epsilon)
        G0 = hyperparameters.query_bound_theorem(reading.model, reading.sizes[0], self.failure)
        own = shapes.figure(curves, cell)
        own = own[own["method"] == runs.PRIVATE]
        far = [sum(self._terms(reading, T, G0, budget)) for T in range(1, FARTHEST + 1)]
        rows = []
        for row in own.itertuples():
            descent, noise = self._terms(reading, row.T, G0, budget)
            measured = {"T": row.T, "excess_risk": row.excess_risk, "standard_error": row.standard_error}
            rows.append(measured | {"descent_42": descent, "noise_42": noise, "trials": row.trials})
        return pd.DataFrame(rows).assign(bound_best_T=1 + min(range(FARTHEST), key=far.__getitem__))

    def _terms(self, reading: Reading, T: int, query_bound: float, budget: ApproximateDP) -> tuple[float, float]:
        """The two terms of (4.2) after T steps of section 6.2's recipe."""
        hyper, N = reading.told(OVER, T), reading.sizes[0]
        noise = bounds.cost_of_noise(hyper, query_bound, reading.model, budget, N)
        return bounds.cost_of_descent(hyper, query_bound), noise
