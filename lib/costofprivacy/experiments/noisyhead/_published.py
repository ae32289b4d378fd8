"""The authors' numbers, and ours beside them. From the authors' public results; MIT licence, 2025 chebyshevtech."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

TRIALS = 500  # of each published mean
INITIAL_STD = 0.1  # of an entry of the Γ⁰ behind the published numbers
FAR = 1000.0  # standard errors beyond which their number says nothing more
CONSISTENT = 4.0  # combined standard errors within which two estimates agree


def read(name: str) -> pd.DataFrame:
    """A table of ``reference/``, as published."""
    with (files("costofprivacy") / "reference" / f"{name}.csv").open() as stream:
        return pd.read_csv(stream)


def excess_risks(name: str, keys: list[str]) -> pd.DataFrame:
    """The published excess risks of NoisyHead and of gradient descent: keys, method, excess_risk."""
    names = {"excess_risk_noisyhead": "noisyhead", "excess_risk_gd": "gradient-descent"}
    return read(name).rename(columns=names).melt(keys, list(names.values()), "method", "excess_risk")


def beside(ours: pd.DataFrame, theirs: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """Ours joined with theirs: ``<value>_theirs`` and ``deviation``, the difference in combined standard errors.

    Our spread of a single trial is taken for theirs.
    """
    both = ours.merge(theirs, on=keys, suffixes=("", "_theirs"))
    combined = both["standard_error"] * np.sqrt(1 + both["trials"] / TRIALS)
    return both.assign(deviation=(both[value] - both[f"{value}_theirs"]) / combined)


def by_budget(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Excess risks by N, ε and method beside the published ones.

    Gradient descent has no ε here; its published values, one for each ε, are each compared.
    """
    private = ours[ours["method"] == "noisyhead"]
    plain = ours[ours["method"] == "gradient-descent"].drop(columns="epsilon")
    both = [
        beside(private, theirs, ["N", "epsilon", "method"], "excess_risk"),
        beside(plain, theirs, ["N", "method"], "excess_risk"),
    ]
    columns = ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]
    return pd.concat(both, ignore_index=True)[columns]


def agreement(comparison: pd.DataFrame) -> tuple[str, bool, bool]:
    """The comparison in words; whether the published settings match throughout; whether the printed ones do."""
    if not (comparison["method"] == "noisyhead").any():
        return "no published number belongs to these parameters, so the trend alone is judged", True, True
    deviation = comparison["deviation"].abs()
    worst = deviation.groupby(comparison["setting"]).max()
    near = (deviation <= CONSISTENT).groupby(comparison["setting"]).sum()
    numbers = int((comparison["setting"] == "published").sum())
    far = worst["printed"]
    text = (
        f"of {numbers} published numbers {near['published']} lie within {CONSISTENT:g} standard errors under the "
        f"settings behind them (worst {worst['published']:.1f}), {near['printed']} under the printed ones (worst "
        f"{'above 1000' if far > FAR else f'{far:.0f}'})"
    )
    return text, near["published"] == numbers, near["printed"] == numbers


def trend(private: pd.DataFrame) -> np.ndarray:
    """Change from the first to the last N for each ε, and from the least to the largest ε for each N, in errors."""
    sizes = [g.sort_values("N").iloc[[0, -1]] for _, g in private.groupby("epsilon") if len(g) > 1]
    budgets = [g.sort_values("epsilon").iloc[[0, -1]] for _, g in private.groupby("N") if len(g) > 1]
    return np.array([change(pair)[0] for pair in (*sizes, *budgets)])


def rises(private: pd.DataFrame) -> str:
    """The steps in N at which the risk rises by more than the allowed error, in words."""
    steps = []
    for epsilon, g in private.groupby("epsilon"):
        rows = g.sort_values("N")
        for i in np.flatnonzero(change(rows) > CONSISTENT):
            pair = rows.iloc[[i, i + 1]]
            first, last = pair["excess_risk"]
            steps.append(
                f"ε = {epsilon:g} from {first:.3g} at N = {pair['N'].iloc[0]} to {last:.3g} at {pair['N'].iloc[1]}"
            )
    return ", ".join(steps)


def change(rows: pd.DataFrame) -> np.ndarray:
    """Each step of the risk in combined standard errors."""
    risk, error = rows["excess_risk"].to_numpy(), rows["standard_error"].to_numpy()
    return np.diff(risk) / np.hypot(error[1:], error[:-1])


def deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations by setting and method: numbers, mean, largest, how many beyond ``CONSISTENT``."""
    theirs = comparison[comparison["setting"] != "corrected"]
    sizes = theirs["deviation"].abs().groupby([theirs["setting"], theirs["method"]])
    summary = sizes.agg(numbers="count", mean="mean", largest="max")
    beyond = sizes.agg(lambda size: int((size > CONSISTENT).sum()))
    shown = summary.assign(mean=summary["mean"].map("{:.3g}".format), largest=summary["largest"].map("{:.3g}".format))
    return shown.assign(beyond_4=beyond)
