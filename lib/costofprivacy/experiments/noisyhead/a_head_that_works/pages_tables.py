"""The tables of the page on a private head that works."""

from __future__ import annotations

import numpy as np
import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.noisyhead.a_head_that_works import findings
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, NON_PRIVATE
from costofprivacy.prose import listed, measured, percent, plain

NEAR = 2.0  # a rate with two fitted constants that misses by more predicts nothing


def show_theory(theory: pd.DataFrame) -> pd.DataFrame:
    """Closed form beside simulation, for the best head and the one without data."""
    rows = theory[theory["head"].isin(["best", "no-data"])]
    return pd.DataFrame(
        {
            "features": rows["features"],
            "$\\kappa$": rows["condition"].map("{:g}".format),
            "$D$": rows["D"],
            "$L$": rows["L"],
            "$\\tau$": rows["label_noise"].map("{:g}".format),
            "head": rows["head"],
            "closed form": rows["closed_form"].map(plain),
            "simulated": _pairs(rows, "test_error"),
        }
    ).set_index("features")


def show_thresholds(area: pd.DataFrame) -> pd.DataFrame:
    """For each κ and N the least ε tried from which on the private head beats the one without data."""
    found = findings.threshold(area)
    text = found.assign(text=[f"{e:g}" if np.isfinite(e) else "none" for e in found["epsilon"]])
    wide = text.assign(condition=text["condition"].map("{:g}".format)).pivot(
        index="condition", columns="N", values="text"
    )
    order = [f"{k:g}" for k in sorted(found["condition"].unique())]
    return wide.loc[order].rename(columns=lambda n: f"$N = {n}$").rename_axis(index="$\\kappa$", columns=None)


def show_tasks(tasks: pd.DataFrame) -> pd.DataFrame:
    """Test errors where tasks are not isotropic."""
    text = tasks.assign(text=_pairs(tasks, "test_error"))
    wide = text.pivot(index=["covariance", "tasks"], columns="method", values="text")
    names = {BEST: "best head", NON_PRIVATE: "non-private", PRIVATE: "private", COVARIANCE: "covariance alone"}
    return wide[list(names)].rename(columns=names).rename_axis(columns=None)


def show_poison(poison: pd.DataFrame) -> pd.DataFrame:
    """What one poisoned prompt does to the private head and to least squares."""
    return pd.DataFrame(
        {
            "the poisoned prompt": poison["attack"],
            "size": poison["size"].map("{:g}".format),
            "private: test error": poison["clean"].map(plain),
            "its change": _pairs(poison, "change"),
            "shift over noise": poison["shift_over_noise"].map(plain),
            "bound $\\mu$": poison["mu"].map(plain),
            "least squares: test error": poison["plain_clean"].map(plain),
            "poisoned": poison["plain_poisoned"].map(plain),
        }
    ).set_index("the poisoned prompt")


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What audits found."""
    return pd.DataFrame(
        {
            "fault": audit["fault"],
            "neighbours": audit["pair"],
            "$\\delta$": audit["delta"].map(plain),
            "exact $\\varepsilon$": audit["exact_epsilon"].map(plain),
            "audit: at least": audit["found_epsilon"].map(plain),
            "above the claim": np.where(audit["found_epsilon"] > audit["exact_epsilon"], "yes", "no"),
        }
    ).set_index("fault")


def show_rate(rate: pd.DataFrame) -> pd.DataFrame:
    """The fitted constants and the largest miss, by covariance and method."""
    rows = []
    for (covariance, method), part in rate.groupby(["covariance", "method"], sort=False):
        miss = findings.rate_miss(rate, method, covariance)
        told = {"covariance": covariance, "method": method, "$a$": plain(part["a"].iloc[0])}
        rows.append(told | {"$b$": plain(part["b"].iloc[0]), "largest factor": plain(miss)})
    return pd.DataFrame(rows).set_index("covariance")


def read_rate(rate: pd.DataFrame) -> Markdown:
    """Whether the rate predicts each method, by the largest miss over the covariances."""
    misses = {
        method: max(findings.rate_miss(rate, method, name) for name in rate["covariance"].unique())
        for method in dict.fromkeys(rate["method"])
    }
    told = [f"*{m}* {'yes' if miss <= NEAR else 'no'} (within a factor {plain(miss)})" for m, miss in misses.items()]
    return Markdown(f"Does it predict the excess to a factor {NEAR:g}? {listed(told)}.")


def show_targets(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """By how much the private head exceeds the non-private one at the largest size."""
    aims = findings.aims(tables)
    return pd.DataFrame(
        {
            "covariance": list(aims),
            "private over non-private": [percent(findings.over_non_private(tables, name)) for name in aims],
            "our aim: at most": [percent(share) for share in aims.values()],
        }
    ).set_index("covariance")


def _pairs(table: pd.DataFrame, column: str) -> list[str]:
    return [measured(v, e) for v, e in zip(table[column], table["standard_error"], strict=True)]
