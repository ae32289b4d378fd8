"""How much work the chapter's runs need, counted from its parameters; its data sets are counted without the texts."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.newsgroups.experiment import Experiment
from costofprivacy.experiments.noisyhead.newsgroups.readings import AS_IS, LOGARITHM, RECIPES, SAME_GROUP
from costofprivacy.experiments.noisyhead.newsgroups.scores import FOLDS
from costofprivacy.running.work import Work

ARTICLES = 18_846  # of 20 Newsgroups
STEP = 9.0  # operations for a coordinate of an update in a tridiagonal basis
LEFT = 0.4  # share of the configurations' steps that are run one by one, as Π_R acts: most of three recipes of five


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: two tridiagonal forms a draw of prompts, and steps in them.

    A draw of N prompts takes (N + 2D²/3) D⁴ operations for H and its tridiagonal form, twice (what ridge sees, what
    NoisyHead does), 4 D⁴ for each test prompt's Z, twice, and D² for each prediction. The noise is drawn once for all
    configurations. A count of neighbours is a product of the articles with themselves, by scale of the scores.
    """
    e = experiment
    p, longest, counted = e.D**2, max(e.T), _configurations(e)
    forms = 2 * ((e.N + 4 / 3 * p) * p**2 + 2 * (e.test_prompts + 1) * p**2)
    predictions = 2 * e.noises * counted * p * e.test_prompts
    rows = LEFT * counted / len(e.T) * sum(e.T) + 4 * longest * len(RECIPES)
    stepped = STEP * e.noises * rows * p
    trial = Work(normals=e.noises * longest * p, flops=forms + predictions, loops=stepped)
    return trial * (e.trials * _readings(e)) + _neighbours(e)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: that of `scheme`, with H and its form once for each data set.

    Readings that differ in C alone, or in the length's unit, have one H of what ridge sees, up to a factor.
    """
    e = experiment
    p, shared = e.D**2, max(0, len(e.clips) - 1) + max(0, len(e.lengths) - 3)
    form = (e.N + 4 / 3 * p) * p**2
    return scheme(e) + Work(flops=-form * shared * e.trials)


def _configurations(experiment: Experiment) -> float:
    """Runs of NoisyHead on one draw: each recipe from either start, and the other budgets and accounts of one."""
    return (2 * len(RECIPES) + len(experiment.other_epsilons) + 3) * len(experiment.T)


def _readings(experiment: Experiment) -> int:
    """The figure's reading and those that differ in one choice, and one that differs in three."""
    e = experiment
    choices = (e.prompts, e.lengths, e.features, e.clips)
    three = SAME_GROUP in e.prompts and LOGARITHM in e.lengths and AS_IS in e.features
    return 1 + sum(len(values) - 1 for values in choices) + three


def _neighbours(experiment: Experiment) -> Work:
    """Distances between held-out articles and the others, and the least of them."""
    articles = experiment.posts or ARTICLES
    pairs = articles**2 * (1 - 1 / FOLDS) * len(experiment.features)
    return Work(flops=2 * pairs * experiment.D, loops=4 * pairs)
