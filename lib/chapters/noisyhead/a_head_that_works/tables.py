"""The tables of the page on a private head that works."""

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works import floor, ladder, readings
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, METHODS, PRIVATE
from chapters.noisyhead.a_head_that_works.problems import BEST, NO_DATA, NON_PRIVATE, ZERO
from companion.judging.prose import percent, plain, with_errors
from companion.judging.tables import Tables

WAYS = {floor.NOISY: "as it is", floor.QUIET: "without noise", floor.FREE: "and without clipped gradients"}
EDGE = "\u2009*"  # beside an error whose chosen numbers lie at an edge of their grid


def show_theory(theory: pd.DataFrame) -> pd.DataFrame:
    """Closed form beside simulation, for the best head and the one without data."""
    rows = theory[theory["head"].isin([BEST, NO_DATA])]
    return pd.DataFrame(
        {
            "features": rows["features"].map(readings.FEATURES),
            "$\\kappa$": rows["condition"].map("{:g}".format),
            "$D$": rows["D"],
            "$L$": rows["L"],
            "$\\tau$": rows["label_noise"].map("{:g}".format),
            "head": rows["head"].map(readings.METHODS),
            "test error, closed form": rows["closed_form"].map(plain),
            "simulated": with_errors(rows, "test_error"),
        }
    ).set_index("features")


def show_ends(tables: Tables) -> pd.DataFrame:
    """Test errors at the largest N and ε: the four ends and the private heads between them."""
    columns, order = {}, (ZERO, NO_DATA, PRIVATE, COVARIANCE, NON_PRIVATE, BEST)
    for name in dict.fromkeys(tables["test-error"]["covariance"]):
        row, over = readings.corner(tables, name), percent(readings.over_non_private(tables, name))
        told = {readings.METHODS[method]: plain(row[method]) for method in order}
        columns[readings.title(name)] = told | {"private head over least squares": over}
    return pd.DataFrame(columns).rename_axis("at the largest $N$ and $\\varepsilon$")


def show_ladder(steps: pd.DataFrame) -> pd.DataFrame:
    """The test error of every rung and of the four ends, at each ε and covariance."""
    edge = steps["edge"].astype(bool) if "edge" in steps else pd.Series(False, steps.index)
    text = [error + EDGE * at for error, at in zip(with_errors(steps, "test_error"), edge, strict=True)]
    columns = [f"{readings.title(c)}, ε = {e:g}" for c, e in zip(steps["covariance"], steps["epsilon"], strict=True)]
    wide = steps.assign(text=text, column=columns).pivot(index="rung", columns="column", values="text")
    rows = [ZERO, NO_DATA, *ladder.RUNGS, NON_PRIVATE, BEST]
    names = {name: readings.rung(name) for name in rows}
    return wide.loc[rows, list(dict.fromkeys(columns))].rename(index=names).rename_axis(index="change", columns=None)


def show_thresholds(area: pd.DataFrame) -> pd.DataFrame:
    """For each κ, method and N the least ε tried from which on it beats the head without data."""
    rows = pd.concat(readings.threshold(area, method).assign(head=readings.METHODS[method]) for method in METHODS)
    text = [f"{epsilon:g}" if np.isfinite(epsilon) else "none" for epsilon in rows["epsilon"]]
    wide = rows.assign(text=text).pivot(index=["condition", "head"], columns="N", values="text")
    wide = wide.rename(index="{:g}".format, level="condition").rename(columns="$N = {}$".format)
    return wide.rename_axis(index=["$\\kappa$", "head"], columns=None)


def show_tasks(tasks: pd.DataFrame) -> pd.DataFrame:
    """Test errors where tasks are not isotropic."""
    names = {"covariance": tasks["covariance"].map(readings.title), "tasks": tasks["tasks"].map(readings.TASKS)}
    text = tasks.assign(text=with_errors(tasks, "test_error"), **names)
    wide = text.pivot(index=["covariance", "tasks"], columns="method", values="text")
    shown = {name: readings.METHODS[name] for name in (BEST, NON_PRIVATE, PRIVATE, COVARIANCE)}
    return wide[list(shown)].rename(columns=shown).rename_axis(index=["features", "tasks"], columns=None)


def show_poison(poison: pd.DataFrame) -> pd.DataFrame:
    """What one poisoned prompt does to the private head and to least squares."""
    return pd.DataFrame(
        {
            "features": poison["covariance"].map(readings.title),
            "the poisoned prompt": poison["attack"],
            "size": poison["size"].map("{:g}".format),
            "private: test error": poison["clean"].map(plain),
            "its change": with_errors(poison, "change"),
            "shift over noise": poison["shift_over_noise"].map(plain),
            "bound $\\mu$": poison["mu"].map(plain),
            "least squares: test error": poison["plain_clean"].map(plain),
            "poisoned": poison["plain_poisoned"].map(plain),
        }
    ).set_index(["features", "the poisoned prompt"])


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What audits found."""
    return pd.DataFrame(
        {
            "fault": audit["fault"],
            "asked": np.where(audit["every_token"], "every token", "last token"),
            "neighbours": audit["pair"],
            "$\\delta$": audit["delta"].map(plain),
            "exact $\\varepsilon$": audit["exact_epsilon"].map(plain),
            "audit: at least": audit["found_epsilon"].map(plain),
            "exact $\\mu$": audit["mu"].map(plain),
            "audit: $\\mu$ at least": audit["found_mu"].map(plain),
            "above the claim": np.where(readings.above_claim(audit), "yes", "no"),
        }
    ).set_index("fault")


def show_rate(rate: pd.DataFrame) -> pd.DataFrame:
    """The fitted constants and the largest miss, by covariance and method."""
    columns = ["features", "head", "$a$", "$b$", "largest factor between fit and measurement"]
    rows = []
    for (covariance, method), part in rate.groupby(["covariance", "method"], sort=False):
        numbers = part["a"].iloc[0], part["b"].iloc[0], readings.rate_miss(rate, method, covariance)
        rows.append((readings.title(covariance), readings.METHODS[method], *map(plain, numbers)))
    return pd.DataFrame(rows, columns=columns).set_index("features")


def show_floor(quiet: pd.DataFrame) -> pd.DataFrame:
    """The excess over the best head: as it is, without noise, and without clipping either."""
    quiet = quiet.assign(excess=quiet["test_error"] - quiet["best"])
    index = {
        "features": quiet["covariance"].map(readings.title),
        "head": quiet["method"].map(readings.METHODS),
        "$\\varepsilon$": quiet["epsilon"].map("{:g}".format),
        readings.METHODS[NON_PRIVATE]: (quiet["non_private"] - quiet["best"]).map(plain),
    }
    told = pd.DataFrame(index).assign(way=quiet["way"].map(WAYS), text=with_errors(quiet, "excess"))
    wide = told.pivot(index=list(index), columns="way", values="text")[list(WAYS.values())]
    order = pd.MultiIndex.from_frame(told[list(index)].drop_duplicates())
    return wide.loc[order].reset_index(readings.METHODS[NON_PRIVATE]).rename_axis(columns=None)
