"""What the page that chooses a method shows of the chapter on a private head that works."""

from collections.abc import Mapping

import pandas as pd
from IPython.display import Markdown

from chapters.method.one_delta import shown
from chapters.noisyhead.a_head_that_works import ladder, readings
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from chapters.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE, UNKNOWN
from companion.judging.prose import compact, percent, plain, with_errors
from companion.judging.tables import pick, select

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


def opening(saved: Mapping[str, pd.DataFrame], delta: float) -> list[str]:
    """What to use for prompts whose covariance is unknown, and for isotropic ones, where no data may be best.

    Args:
        saved: tables of the chapter on a private head. delta: δ at which they were measured.
    """
    steps = largest(saved["ladder"])
    where = f"$N = {int(steps['N'].iloc[0])}$, $\\varepsilon = {shown(steps['epsilon'].iloc[0], delta)}$"
    lines = []
    unknown = [str(name) for name in steps["covariance"].unique() if name != ISOTROPIC]
    if unknown:
        private = 1 - min(_least(steps, unknown[0])[1], 1.0)
        none = 1 - float(pick(steps, covariance=unknown[0], rung=NO_DATA)["test_error"])
        lines.append(
            f"For *prompts*, each its own small regression: train a *head* that predicts new ones "
            f"(`PrivateHeadRegressor`). {_uneven(unknown[0])}, it explains {percent(private)} of the variance "
            f"({where}); one without data {percent(none)}."
        )
    learned = _least(steps, ISOTROPIC)[1]
    public = float(pick(steps, covariance=ISOTROPIC, rung=NO_DATA)["test_error"])
    better, than = ("better", "against") if public < learned else ("not better", "but")
    lines.append(
        f"If they vary equally (*isotropic* prompts), a head without data is {better}: its test error is "
        f"{plain(public)}, {than} {plain(learned)}."
    )
    return lines


def _uneven(covariance: str) -> str:
    """An unknown covariance as the opening has it, before anything is explained."""
    condition = covariance.removeprefix(UNKNOWN)
    return f"If features vary {condition} times more in some unknown directions than others"


def _least(steps: pd.DataFrame, covariance: str) -> tuple[str, float]:
    """The private method that learns from responses with the least error, and that error."""
    errors = select(steps, covariance=covariance).set_index("rung")["test_error"]
    learning = errors[[rung for rung in SHOWN if rung in ladder.RUNGS and rung != COVARIANCE]]
    return str(learning.idxmin()), float(learning.min())


def read(saved: Mapping[str, pd.DataFrame], delta: float) -> Markdown:
    """What to use, from the same table, and when the covariance alone.

    Args:
        saved: tables of the chapter on a private head. delta: δ at which they were measured.
    """
    steps = largest(saved["ladder"])
    size = f"$N = {steps['N'].iloc[0]}$, $\\varepsilon = {shown(steps['epsilon'].iloc[0], delta)}$"
    rows, alone = [], 0
    for name, part in steps.groupby("covariance", sort=False):
        errors = part.set_index("rung")["test_error"]
        least, _ = _least(steps, str(name))
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
