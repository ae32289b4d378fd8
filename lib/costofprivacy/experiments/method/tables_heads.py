"""What the page that chooses a method shows of the chapter on a private head that works."""

from collections.abc import Mapping

import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.noisyhead.a_head_that_works import ladder, readings
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE
from costofprivacy.judging.prose import compact, percent, plain, with_errors
from costofprivacy.judging.tables import pick

SHOWN = {
    ladder.PRINTED: "NoisyHead, as printed",
    ladder.TUNED: "NoisyHead, at its best",
    ladder.RIDGE: "DP-ridge",
    ladder.MOMENTS: "sufficient statistics (AdaSSP)",
    ladder.BOOSTED: "boosted AdaSSP",
    ladder.PERTURBED: "objective perturbation",
    ladder.ONE_PASS: "one pass (DP-GD)",
    ladder.CLIPPED: "full batches, each prompt's gradient clipped",
    LAST_TOKEN: readings.rung(LAST_TOKEN),
    PRIVATE: readings.rung(PRIVATE),
    COVARIANCE: readings.rung(COVARIANCE),
    NON_PRIVATE: "no privacy",
    NO_DATA: "no data: what is public alone",
    BEST: "best linear head",
}


def largest(steps: pd.DataFrame) -> pd.DataFrame:
    """The ladder at its largest ε."""
    return steps[steps["epsilon"] == steps["epsilon"].max()]


def show(saved: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Test errors of methods for prompts, by covariance."""
    steps = largest(saved["ladder"])
    text = steps.assign(text=with_errors(steps, "test_error"))
    wide = text.pivot(index="rung", columns="covariance", values="text").loc[list(SHOWN), text["covariance"].unique()]
    return wide.rename(index=SHOWN, columns=readings.title).rename_axis(index="method", columns=None)


def read(saved: Mapping[str, pd.DataFrame]) -> Markdown:
    """What to use, from the same table, and when the covariance alone."""
    steps = largest(saved["ladder"])
    size = f"$N = {steps['N'].iloc[0]}$, $\\varepsilon = {steps['epsilon'].iloc[0]:g}$"
    rows, alone = [], 0
    for name, part in steps.groupby("covariance", sort=False):
        errors = part.set_index("rung")["test_error"]
        least = str(errors[[rung for rung in SHOWN if rung in ladder.RUNGS and rung != COVARIANCE]].idxmin())
        rows.append(f"*{SHOWN[least]}* {readings.where(str(name))} ({plain(errors[least])}; {_beside(errors, least)})")
        alone += int(errors[COVARIANCE] < errors[least])
    misled = readings.misled({"tasks": saved["tasks"]})
    worst = misled.loc[misled["factor"].idxmax()]
    lines = "\n".join(f"- {row}" for row in rows)
    return Markdown(
        f"At {size}, these have the smallest test error among the methods that learn from responses:\n\n{lines}\n\n"
        f"The head that is computed from the covariance alone has a smaller error in {alone} of {len(rows)} cases, but "
        f"it assumes that tasks are isotropic. If they are not, its error is up to {compact(worst['factor'])} times "
        "that of the private head. `PrivateHeadRegressor` trains the whitened descent on your own prompts; with "
        '`tasks="isotropic"` it uses the covariance alone.'
    )


def _beside(errors: pd.Series, least: str) -> str:
    """The head without data beside it."""
    better = errors[NO_DATA] < errors[least]
    return f"without data {plain(errors[NO_DATA])}{', which is smaller' if better else ''}"


def tuned(saved: Mapping[str, pd.DataFrame]) -> str:
    """What to use for prompts: what DP-ridge and the private head explain of isotropic responses, of variance 1."""
    steps = largest(saved["ladder"])
    ridge, own = (
        1 - float(pick(steps, covariance=ISOTROPIC, rung=rung)["test_error"]) for rung in (ladder.RIDGE, PRIVATE)
    )
    names = ("the head of this book (`PrivateHeadRegressor`)", own), ("DP-ridge", ridge)
    (first, most), (second, less) = sorted(names, key=lambda name: -name[1])
    where = f"At $N = {int(steps['N'].iloc[0])}$ and $\\varepsilon = {steps['epsilon'].iloc[0]:g}$"
    return (
        f"For prompts: use {first}. {where} it explains {percent(most)} of the variance; {second}, with all "
        f"bounds tuned on public prompts, {percent(less)}."
    )
