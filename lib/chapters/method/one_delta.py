"""One δ for the whole page: budgets that were measured at another one, restated."""

from typing import Any

from chapters.method import experiment
from chapters.noisyhead.a_head_that_works import experiment as heads
from companion.declaration import declarations
from companion.judging.prose import compact
from costofprivacy.estimators import calculator
from costofprivacy.privacy import ApproximateDP, GaussianDP

DELTA = calculator.DELTA  # of the page


def default(kind: type, name: str) -> Any:
    """The value of a chapter's parameter unless another is asked for."""
    return next(declared.default for declared in declarations(kind) if declared.name == name)


PROMPTS, HEADS = default(experiment.Experiment, "delta"), default(heads.Experiment, "delta")  # of chapters on prompts


def restated(epsilon: float, delta: float) -> float:
    """ε at `DELTA` of what was calibrated as a Gaussian mechanism to (ε, δ): the same noise, hence the same μ.

    It holds for objective perturbation, too, if δ > `DELTA`. That method spends a κ that does not depend on δ, and its
    ε − κ increases less, because its μ is that of a smaller budget.

    Args:
        epsilon: ε in (0, ∞). delta: δ in (0, 1).
    """
    return GaussianDP(ApproximateDP(epsilon, delta).to_gaussian().mu).epsilon(DELTA)


def shown(epsilon: float, delta: float) -> str:
    """`restated`, with three digits."""
    return f"{restated(epsilon, delta):.3g}"


def explained(epsilon: float, delta: float) -> str:
    """How a measured budget and the page's belong together, in a sentence."""
    return (
        f"All tables of this page state $\\varepsilon$ at $\\delta$ = {compact(DELTA)}. Both chapters on prompts were "
        f"measured at $\\delta$ = {compact(delta)}, where the noise of $\\varepsilon = {epsilon:g}$ is the noise of "
        f"$\\varepsilon = {shown(epsilon, delta)}$ at the page's $\\delta$."
    )
