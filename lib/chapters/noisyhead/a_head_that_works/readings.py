"""What the tables say, and in what words: the gap and what closes it, where pretraining is worth anything."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works import ladder, tasks, theory
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from chapters.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE, UNKNOWN, ZERO
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

TARGETS = {ISOTROPIC: 0.15, "unknown-10": 0.25}  # over the best non-private head, at the largest N and ε
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


def plain_and_ill(tables: Tables) -> tuple[str, str]:
    """The covariance that the page begins with and one to hold against it, the same where there is one alone.

    Isotropic, where it was asked for, and the first that is not.
    """
    names = list(dict.fromkeys(tables["test-error"]["covariance"]))
    first = ISOTROPIC if ISOTROPIC in names else names[0]
    return first, next((name for name in names if name != first), first)


def aims(tables: Tables) -> dict[str, float]:
    """`TARGETS`, of the covariances that were asked for."""
    asked = set(tables["test-error"]["covariance"])
    return {name: share for name, share in TARGETS.items() if name in asked}


def corner(tables: Tables, covariance: str) -> pd.Series:
    """Test errors by method at the largest N and ε."""
    rows = select(tables["test-error"], covariance=covariance)
    rows = rows[(rows["N"] == rows["N"].max()) & (rows["epsilon"] == rows["epsilon"].max())]
    return rows.set_index("method")["test_error"]


def over_non_private(tables: Tables, covariance: str) -> float:
    """By what share the private head's test error exceeds the best non-private one's there."""
    row = corner(tables, covariance)
    return float(row[PRIVATE] / row[NON_PRIVATE] - 1)


def excess_over_non_private(tables: Tables, covariance: str) -> float:
    """The private head's excess over the best head there, over the non-private one's."""
    row = corner(tables, covariance)
    return float((row[PRIVATE] - row[BEST]) / (row[NON_PRIVATE] - row[BEST]))


def steps(tables: Tables, covariance: str, epsilon: float | None = None) -> pd.DataFrame:
    """The ladder at one ε, the largest if none is given, in order, with the rung's share of the gap that is left.

    The gap is from answering 0 to the best head.
    """
    rows = select(tables["ladder"], covariance=covariance)
    rows = select(rows, epsilon=rows["epsilon"].max() if epsilon is None else epsilon).set_index("rung")
    best = rows.loc[BEST, "test_error"]
    left = (rows["test_error"] - best) / (1.0 - best)
    return rows.assign(left=left)


def closer(tables: Tables, covariance: str) -> str:
    """The change that closes most of the gap, each held against the rung that it changes."""
    left = steps(tables, covariance)["left"]
    return min(ladder.BEFORE, key=lambda name: float(left[name] - left[ladder.BEFORE[name]]))


def closed(tables: Tables, covariance: str, name: str) -> float:
    """The share of the gap that a change closes."""
    left = steps(tables, covariance)["left"]
    return float(left[ladder.BEFORE[name]] - left[name])


def fewer(tables: Tables) -> pd.Series:
    """In each cell of the main table whether the covariance alone errs less than the private head."""
    rows = tables["test-error"]
    wide = rows.pivot(index=["covariance", "N", "epsilon"], columns="method", values="test_error")
    return wide[COVARIANCE] < wide[PRIVATE]


def misled(tables: Tables) -> pd.DataFrame:
    """Where tasks are not isotropic, test errors by method, and by what factor the covariance alone errs more."""
    rows = tables["tasks"][tables["tasks"]["tasks"] != "isotropic"]
    wide = rows.pivot(index=["covariance", "tasks"], columns="method", values="test_error").reset_index()
    return wide.assign(factor=wide[COVARIANCE] / wide[PRIVATE])


def asked(tables: Tables) -> pd.DataFrame:
    """In each case of the ladder by how much asking every token errs more than asking the last one alone."""
    rows = tables["ladder"]
    where = ["covariance", "N", "epsilon"]
    wide = rows.pivot(index=where, columns="rung", values="test_error")
    error = rows.pivot(index=where, columns="rung", values="standard_error")
    margin = CONSISTENT * np.hypot(error[PRIVATE], error[LAST_TOKEN])
    more = (wide[PRIVATE] - wide[LAST_TOKEN]).rename("more")
    return pd.DataFrame({"more": more, "worse": more > margin, "better": more < -margin}).reset_index()


def dearer(errors: pd.DataFrame) -> pd.DataFrame:
    """Where more budget makes the private head worse beyond doubt: pairs of neighbouring ε at one N."""
    found = []
    for (covariance, N), rows in select(errors, method=PRIVATE).groupby(["covariance", "N"], sort=False):
        rows = rows.sort_values("epsilon")
        for (_, less), (_, more) in zip(rows.iloc[:-1].iterrows(), rows.iloc[1:].iterrows(), strict=True):
            margin = CONSISTENT * float(np.hypot(less["standard_error"], more["standard_error"]))
            if more["test_error"] > less["test_error"] + margin:
                found.append((covariance, N, less["epsilon"], less["test_error"], more["epsilon"], more["test_error"]))
    return pd.DataFrame(found, columns=["covariance", "N", "epsilon", "error", "more_epsilon", "more_error"])


def worth(area: pd.DataFrame, method: str = PRIVATE) -> pd.DataFrame:
    """The cells of the area with whether the method beats the head without data, beyond doubt, or loses to it."""
    rows = select(area, method=method)
    margin = CONSISTENT * rows["standard_error"]
    wins = rows["test_error"] + margin < rows["no_data"]
    return rows.assign(wins=wins, loses=rows["test_error"] - margin > rows["no_data"])


def won(area: pd.DataFrame, unknown: bool = True, method: str = PRIVATE) -> pd.Series:
    """Whether the method wins, in the cells with an unknown covariance, or in the isotropic ones."""
    rows = worth(area, method)
    return rows.loc[(rows["condition"] > 1) == unknown, "wins"]


def lost(area: pd.DataFrame, unknown: bool = True, method: str = PRIVATE) -> tuple[float, float]:
    """The share of these cells in which it loses, and the largest ratio of its error to that without data."""
    rows = worth(area, method)
    rows = rows[(rows["condition"] > 1) == unknown]
    return float(rows["loses"].mean()), float((rows["test_error"] / rows["no_data"]).max())


def threshold(area: pd.DataFrame, method: str = PRIVATE) -> pd.DataFrame:
    """For each (κ, N) the least ε of the grid from which on the method wins; NaN where it never does."""
    rows = worth(area, method).sort_values("epsilon")
    found = []
    for (condition, N), cell in rows.groupby(["condition", "N"]):
        lost = cell.loc[~cell["wins"], "epsilon"]
        later = cell.loc[cell["epsilon"] > (lost.max() if len(lost) else 0.0), "epsilon"]
        found.append({"condition": condition, "N": N, "epsilon": later.min() if len(later) else np.nan})
    return pd.DataFrame(found)


def rate_miss(rate: pd.DataFrame, method: str, covariance: str) -> float:
    """The largest factor between the fitted aγ + bγ²/ρ² and the excess."""
    rows = select(rate, method=method, covariance=covariance)
    ratio = rows["fitted"] / rows["excess"]
    return float(np.maximum(ratio, 1 / ratio).max())


def no_data_is_best(tables: Tables, covariance: str = ISOTROPIC) -> bool:
    """Whether the head without data is the best head."""
    row = corner(tables, covariance)
    return bool(abs(row[NO_DATA] - row[BEST]) <= 1e-9)


def above_claim(audit: pd.DataFrame) -> pd.Series:
    """Whether ε or μ is found above the claim."""
    return (audit["found_epsilon"] > audit["exact_epsilon"]) | (audit["found_mu"] > audit["mu"])
