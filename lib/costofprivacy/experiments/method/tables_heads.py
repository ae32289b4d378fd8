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
        rows.append(f"{readings.where(str(name))} *{SHOWN[least]}* ({plain(errors[least])}, {_beside(errors, least)})")
        alone += int(errors[COVARIANCE] < errors[least])
    misled = readings.misled({"tasks": saved["tasks"]})
    worst = misled.loc[misled["factor"].idxmax()]
    return Markdown(
        f"At {size} the least error of those that learn from responses has {'; '.join(rows)}. The covariance alone "
        f"errs less than that in {alone} of {len(rows)} cases, but supposes that tasks are isotropic: where they are "
        f"not, it errs up to {compact(worst['factor'])} times as much as the private head. `PrivateHeadRegressor` is "
        'the whitened descent for your own prompts; with `tasks="isotropic"` it is the covariance alone.'
    )


def _beside(errors: pd.Series, least: str) -> str:
    """The head without data beside it."""
    better = errors[NO_DATA] < errors[least]
    return f"no data: {plain(errors[NO_DATA])}{', which is less' if better else ''}"


def explained(saved: Mapping[str, pd.DataFrame]) -> str:
    """The share of the variance that the private head explains at the largest size, isotropic: responses have 1."""
    rows = saved["test-error"]
    where = {"N": rows["N"].max(), "epsilon": rows["epsilon"].max(), "covariance": ISOTROPIC, "method": PRIVATE}
    return percent(1 - float(pick(rows, **where)["test_error"]))
