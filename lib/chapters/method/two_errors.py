"""Why DP-ridge has a large test error in one table of the page and a small one in another: its bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from IPython.display import Markdown

from chapters.method import experiment
from chapters.method.experiment import BEST, RIDGE
from chapters.method.one_delta import HEADS, PROMPTS, default
from chapters.method.tables_heads import largest
from chapters.noisyhead.a_head_that_works import experiment as heads
from chapters.noisyhead.a_head_that_works import ladder
from chapters.noisyhead.a_head_that_works.problems import ISOTROPIC
from chapters.noisyhead.rivals import closed_forms
from companion.judging.prose import compact
from companion.judging.tables import nearest, pick
from costofprivacy.noisyhead import population, private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

PAPERS, TUNED = "the paper's formulas", "tuned on public prompts"


@dataclass(frozen=True)
class Error:
    """A test error of DP-ridge on isotropic prompts, and what its noise adds to it.

    Args:
        bounds: where they come from. told: C, G, λ and N. test_error: as a table of the page has it. noise: the part
            of it that is due to the Gaussian noise. typical: root mean square of ‖Z‖_F.
    """

    bounds: str
    told: PrivateRidge
    test_error: float
    noise: float
    typical: float

    @property
    def rest(self) -> float:
        """The test error without noise."""
        return self.test_error - self.noise


def errors(prompts: pd.DataFrame, saved: Mapping[str, pd.DataFrame]) -> list[Error]:
    """DP-ridge with the paper's bounds, and with tuned ones: at the largest ε of the ladder, or the nearest."""
    tuned = pick(largest(saved["ladder"]), covariance=ISOTROPIC, rung=ladder.RIDGE)
    where = {name: nearest(prompts[name], float(tuned[name])) for name in ("N", "epsilon")}
    papers = pick(prompts, method=RIDGE, choice=BEST, **where)
    D, noise, failure = (default(experiment.Experiment, name) for name in ("D", "label_noise", "failure"))
    model = PromptModel(D, math.isqrt(int(papers["N"])), noise)
    bounds = closed_forms.corrected_at(model, int(papers["N"]), failure, float(papers["penalty"]))
    first = PrivateRidge(bounds.clip_norm, bounds.feature_bound, float(papers["penalty"]), int(papers["N"]))
    C, G, penalty = map(float, str(tuned["option"]).split())
    second = PrivateRidge(C, G, penalty, int(tuned["N"]))
    return [
        _error(PAPERS, first, float(papers["test_error"]), ApproximateDP(where["epsilon"], PROMPTS), model),
        _error(
            TUNED,
            second,
            float(tuned["test_error"]),
            ApproximateDP(float(tuned["epsilon"]), HEADS),
            PromptModel(default(heads.Experiment, "D"), math.isqrt(second.N)),
        ),
    ]


def _error(bounds: str, told: PrivateRidge, test_error: float, budget: ApproximateDP, model: PromptModel) -> Error:
    energy = population.context_energy(model)
    noise = private_ridge.noise_std(told, budget) ** 2 * energy
    return Error(bounds, told, test_error, noise, math.sqrt(energy))


def show(prompts: pd.DataFrame, saved: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Both errors with their bounds and their parts."""
    rows = [
        {
            "bounds": each.bounds,
            "$N$": each.told.N,
            "$C$": compact(each.told.clip_norm),
            "$G$": compact(each.told.feature_bound),
            r"$\lambda$": compact(each.told.penalty),
            "noise": compact(each.noise),
            "without noise": compact(each.rest),
            "test error": compact(each.test_error),
        }
        for each in errors(prompts, saved)
    ]
    return pd.DataFrame(rows).set_index("bounds")


def read(prompts: pd.DataFrame, saved: Mapping[str, pd.DataFrame]) -> Markdown:
    """What makes the difference."""
    papers, tuned = errors(prompts, saved)
    problem = (
        f"Both runs have the same problem ($N = {papers.told.N}$ isotropic prompts) and the same budget."
        if papers.told.N == tuned.told.N
        else f"The numbers of prompts differ here ($N = {papers.told.N}$ and $N = {tuned.told.N}$)."
    )
    return Markdown(
        f"{problem} They differ in the bounds $C$ on a response and $G$ on the norm of a prompt's statistic $Z$, and "
        f"hence in the penalty. The noise of DP-ridge grows with $CG/(\\lambda N)$. The paper's formulas choose $C$ "
        f"and $G$ so that practically no prompt is clipped: $G$ is {compact(papers.told.feature_bound)}, while $Z$ has "
        f"a norm of about {compact(papers.typical)}. Only a large penalty keeps the noise small then, and it shrinks "
        f"the head: even without noise, the test error is {compact(papers.rest)}. The noise adds "
        f"{compact(papers.noise)}."
        f"\n\nThe tuned bounds shorten nearly every $Z$, because $G$ is {compact(tuned.told.feature_bound)}, and keep "
        f"its direction. The noise is then small at a penalty that hardly shrinks the head: it adds "
        f"{compact(tuned.noise)}, and without it the error is {compact(tuned.rest)}. So the difference between the two "
        f"errors is the price of bounds that were chosen without looking at prompts like yours."
    )
