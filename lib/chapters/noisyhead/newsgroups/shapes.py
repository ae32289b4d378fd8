"""Tables of the runs: excess risk by T, the shapes of its curves with paired errors, test errors, the noise's parts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups.readings import OVER, ZERO
from chapters.noisyhead.newsgroups.runs import DESCENT, ENDS, MEAN, NOUGHT, PRIVATE, RIDGE, UNIT_NOISE, Cell
from companion import _fits
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM

LABELS = ["prompts", "length", "features", "clip"]
RUN = ["recipe", "start", "account", "epsilon"]
BEST, LAST_STEP = "best number of steps", "last number of steps"


def labelled(cell: Cell, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the names of the cell's reading in front."""
    reading = cell.reading
    for place, name in enumerate(LABELS):
        table.insert(place, name, getattr(reading, name))
    return table


def curves(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean excess risk of NoisyHead and of descent by T in every run, and of answering 0; infinite where it overflows.

    Args:
        samples: of `runs.trial`, shape (trials, 2, columns).
    """
    with np.errstate(invalid="ignore", over="ignore"):
        mean, error = _fits.mean_and_error(samples[:, 0])
    table = cell.columns.assign(excess_risk=mean, standard_error=error, trials=len(samples))
    return labelled(cell, table[table["method"].isin([PRIVATE, DESCENT, NOUGHT])].copy())


def near(table: pd.DataFrame, base: Cell) -> pd.DataFrame:
    """The curves that differ from the figure's in one choice at most; what a row does not have does not differ."""
    return table[_differences(table, base) <= 1].reset_index(drop=True)


def figure(table: pd.DataFrame, base: Cell) -> pd.DataFrame:
    """The curves of Figure 6 itself."""
    return table[_differences(table, base) == 0].reset_index(drop=True)


def _differences(table: pd.DataFrame, base: Cell) -> pd.Series:
    """In how many choices each row differs from the figure."""
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
        risk = excess[:, own.index]
        at = columns[(columns["method"] == DESCENT) & (columns["recipe"] == recipe) & (columns["start"] == start)].index
        zero = columns[(columns["method"] == NOUGHT) & (columns["recipe"] == recipe)].index[0]
        row: dict[str, object] = dict(zip(RUN, (recipe, start, account, epsilon), strict=True))
        row |= _shape(own["T"].to_numpy(), risk) | _descent(excess[:, at])
        rows.append(row | {"zero": excess[:, zero].mean()})
    table = labelled(cell, pd.DataFrame(rows))
    return table.assign(N=cell.reading.sizes[0], trials=len(samples))


def _shape(T: np.ndarray, risk: np.ndarray) -> dict[str, float]:
    """The course of one run's risk of shape (trials, T)."""
    mean, logs = risk.mean(axis=0), np.log(risk)
    best = int(mean.argmin())
    return {
        "first_T": int(T[0]),
        "first": mean[0],
        "second": mean[1],
        "least": mean[best],
        "last": mean[-1],
        "best_T": int(T[best]),
        "early": _score(logs[:, 1] - logs[:, 0]),
        "fall": _score(logs[:, 0] - logs[:, best]),
        "rise": _score(logs[:, -1] - logs[:, best]),
    }


def _descent(risk: np.ndarray) -> dict[str, float]:
    """The ends of descent's risk and its largest rise at a step, in standard errors."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(np.log(risk), axis=1)
        rises = max((_score(steps[:, k]) for k in range(steps.shape[1])), default=0.0)
        mean = risk.mean(axis=0)
    return {"descent_first": mean[0], "descent_last": mean[-1], "descent_rise": rises}


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
