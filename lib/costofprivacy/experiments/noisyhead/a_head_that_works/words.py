"""What a reader is told in the place of the tables' names."""

from __future__ import annotations

from collections.abc import Iterable

from costofprivacy.experiments.noisyhead.a_head_that_works import floor, tasks, theory
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import (
    BEST,
    ISOTROPIC,
    NO_DATA,
    NON_PRIVATE,
    UNKNOWN,
    ZERO,
)

METHODS = {
    PRIVATE: "private head",
    COVARIANCE: "covariance alone",
    LAST_TOKEN: "private head, last token asked",
    NON_PRIVATE: "least squares, no privacy",
    NO_DATA: "head without data",
    BEST: "best head",
    ZERO: "answering 0",
}
RUNGS = {
    LAST_TOKEN: "whitened, last token asked",
    PRIVATE: "whitened, every token asked",
    COVARIANCE: "covariance alone",
}
LABELS = {PRIVATE: "private", COVARIANCE: "covariance alone", NON_PRIVATE: "non-private", NO_DATA: "no data"}
FEATURES = {
    theory.SPHERE: "unit sphere",
    theory.SHORTENED: "Gaussian, brought to norm 1",
    theory.STRETCHED: "stretched sphere",
    theory.GAUSSIAN: "Gaussian",
}
TASKS = {
    tasks.ALIKE: "isotropic",
    tasks.ALONG: "along the features",
    tasks.AGAINST: "against the features",
    tasks.UNEVEN: "uneven",
}

WAYS = {floor.NOISY: "as it is", floor.QUIET: "without noise", floor.FREE: "and without clipped gradients"}


def _condition(covariance: str) -> str:
    return covariance.removeprefix(UNKNOWN)


def title(covariance: str) -> str:
    """A covariance as a panel or a row has it."""
    return "isotropic" if covariance == ISOTROPIC else f"unknown, condition {_condition(covariance)}"


def where(covariance: str) -> str:
    """A covariance as a sentence has it."""
    if covariance == ISOTROPIC:
        return "on isotropic prompts"
    return f"with an unknown covariance of condition number {_condition(covariance)}"


def rung(name: str) -> str:
    """A rung of the ladder, or an end of it."""
    return RUNGS.get(name) or METHODS.get(name, name)


def started(sentence: str) -> str:
    """With a capital letter, and nothing else changed."""
    return sentence[:1].upper() + sentence[1:]


def sentences(told: Iterable[str]) -> str:
    """Each as a sentence of its own."""
    return " ".join(f"{started(sentence)}." for sentence in told)
