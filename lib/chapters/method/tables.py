"""The tables of the page that chooses a method."""

import numpy as np
import pandas as pd

from chapters.method import one_delta, regression
from chapters.method.experiment import ZERO
from chapters.method.page import BEHIND, WORTH, name_of, private_best, share, winner, worse_with_more
from chapters.privacy.rivals.cells import short, winners
from chapters.privacy.rivals.tables import NARROW_SPACE, show_winners
from companion.judging.prose import compact, percent
from companion.judging.tables import select


def show_prompts(prompts: pd.DataFrame, checked: pd.DataFrame, delta: float) -> pd.DataFrame:
    """What to use at each size and budget: the method, its penalty, its error and what it explains.

    Args:
        prompts, checked: tables of the chapter. delta: δ at which they were measured; ε is stated at the page's.
    """
    rows = []
    for N, epsilon in dict.fromkeys(prompts[["N", "epsilon"]].itertuples(index=False, name=None)):
        best = winner(prompts, N=N, epsilon=epsilon)
        run = select(checked, N=N, epsilon=epsilon, method=best["method"])
        rows.append(
            {
                "$N$": N,
                r"$\varepsilon$": one_delta.shown(epsilon, delta),
                "use": name_of(best["method"]),
                r"penalty $\lambda$": _knob(best["penalty"]),
                "test error, formula": compact(best["test_error"]),
                "as run": " ± ".join(map(compact, run[["test_error", "standard_error"]].iloc[0])) if len(run) else "",
                "variance explained": percent(share(best)),
                "worth using": "yes" if share(best) >= WORTH else "no",
            }
        )
    return pd.DataFrame(rows).set_index(["$N$", r"$\varepsilon$"])


def show_regression(table: pd.DataFrame) -> pd.DataFrame:
    """What to use for one regression by records per feature and μ: its excess risk and its settings."""
    rows = []
    for (records, rho), group in table.groupby(["records", "rho"], sort=False):
        best, risks = private_best(group), group.set_index("method")["excess_risk"]
        rows.append(
            {
                "$n/d$": records,
                r"$\mu$": f"{rho:g}",
                "use": name_of(best["method"]),
                "excess risk": compact(best["excess_risk"]),
                "answering 0": compact(risks[ZERO]),
                "least squares, no privacy": compact(risks[regression.LEAST_SQUARES]),
                "clip $c$": _knob(best["clip"]),
                r"first rate $\tilde\eta(0)$": _knob(best["rate"]),
                r"$\tau$": _knob(best["offset"]),
            }
        )
    return pd.DataFrame(rows).set_index(["$n/d$", r"$\mu$"])


def _knob(value: float) -> str:
    """A setting of the chosen method; nothing where it has none."""
    return "" if np.isnan(value) else compact(value)


def show_rivals(errors: pd.DataFrame) -> pd.DataFrame:
    """What to use for one regression by data, ε and n/d, and the best form of DP-GD beside it.

    A star marks a case with a larger error than at a smaller ε, and a dagger one in which DP-GD is significantly worse:
    `page.read_rivals` says why.
    """
    shown = show_winners(errors).reset_index()
    for row in worse_with_more(winners(errors)).itertuples():
        same = (shown["data"] == short(row.problem)) & (shown["n"] == row.n) & (shown["ε"] == f"{row.epsilon:g}")
        shown.loc[same, "lost, %"] += f"{NARROW_SPACE}*"
    behind = shown["behind"] == "yes"
    shown["its loss, %"] += behind.map({True: f"{NARROW_SPACE}{BEHIND}", False: ""})
    shown = shown.drop(columns=["n", "not told from it", "behind"])
    return shown.rename(columns={"least error": "use"}).set_index(["data", "ε", "n/d"])
