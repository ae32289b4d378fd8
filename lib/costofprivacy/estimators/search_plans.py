r"""What a search over settings costs: every run pays, or a random number of runs pays a constant.

A *run* fits an estimator with one of k settings on a part of the records, and scores it on the others by a noisy mean
of clipped losses. Fits are μ_f-Gaussian DP, scores μ_s-Gaussian DP, for replacing one record.

**One run with a test share** is max(μ_f, μ_s)-Gaussian DP. *Proof.* The partition does not depend on the records'
values, so the replaced record is on one side of it in both data sets. On the side of the fit: the model is μ_f-Gaussian
DP, and the score is computed from the model and from records that are the same. On the side of the score: the model has
the same law, and given the model the score is μ_s-Gaussian DP. ∎

**One run with F folds** is :math:`\sqrt{(F-1)\mu_f^2 + \mu_s^2}`-Gaussian DP. *Proof.* Each record is in F − 1 of the
fits and its loss is one term of one mean, to which noise is added once. Given the models, that mean is μ_s-Gaussian DP;
composition adds them up. ∎

**All k settings** (`all_settings`): by composition k runs multiply μ² by k, whichever is chosen and even if all scores
are released. A refit on all records adds its own μ². What is released is then Gaussian DP, with equality in the worst
case.

**A random number of runs** (`random_number`): draw K from the geometric law with mean m, make K runs with a test share,
each with a setting drawn uniformly from the k, and release the model, the setting and the score of the best run alone.
Its cost is `costofprivacy.privacy.selection.random_stopping_epsilon`, which grows with ln m and not with k.
*Proof.* One run, with the draw of its setting, has Rényi divergences of at most λμ²/2: given the setting it is
μ-Gaussian DP, hence a function of the Gaussian pair, and the setting has the same probabilities in both data sets. That
is all that the theorem there assumes. ∎ *K and the other runs must stay secret*, and so must the time that the search
takes. A setting is among those that are tried with probability m/(m + k − 1): with γ = 1/m, it is not with probability
:math:`\sum_j\gamma(1 - \gamma)^{j-1}(1 - 1/k)^j`, a geometric series.

**Estimators that are (ε, δ)-DP** but not Gaussian DP, such as objective perturbation: `all_settings` with
``gaussian=False`` adds their ε and δ, and those of the scores. It is much worse for many settings.

**Scores that are private themselves: a mean of clipped losses with Gaussian noise.**
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from costofprivacy import _validate
from costofprivacy.estimators.guarantee import digits
from costofprivacy.estimators.spending import RECORD, Guarantee
from costofprivacy.privacy import ApproximateDP, GaussianDP, records, selection, sums
from costofprivacy.privacy.mechanisms import gaussian_std, noisy

if TYPE_CHECKING:
    import pandas as pd

LEAST, MOST = 1e-4, 50.0  # μ of a run, within which a budget is looked for
TRIED = 3  # times k: the expected number of runs


@dataclass(frozen=True)
class SearchPlan:
    """What a search may spend, and on what. It has no part that depends on data.

    Args:
        claimed: the total, (ε, δ). gaussian: the total as μ, None where it is not Gaussian DP.
        fit, score: of each fit and each score. refit: of the last fit on all records, None where there is none.
        settings: k. folds: F; 1 stands for a test share. mean_runs: m, None where all settings are run.
        neighbours: the relation for which all hold.
    """

    claimed: ApproximateDP
    gaussian: GaussianDP | None
    fit: Guarantee
    score: GaussianDP
    refit: Guarantee | None
    settings: int
    folds: int = 1
    mean_runs: float | None = None
    neighbours: str = RECORD

    def epsilons(self) -> pd.Series:
        """ε at the claimed δ: of the whole search, and of each of its parts if it were alone."""
        import pandas as pd  # here: it takes longer than the rest of this module

        told = {"whole search": self.claimed.epsilon}
        for name, part in {"each fit": self.fit, "each score": self.score, "refit": self.refit}.items():
            if part is not None:
                told[name] = part.epsilon if isinstance(part, ApproximateDP) else part.epsilon(self.claimed.delta)
        return pd.Series(told, name="epsilon")

    @property
    def sentence(self) -> str:
        """The search and its total in words, for a paper."""
        how = "with a test share" if self.folds == 1 else f"with {self.folds} folds"
        if self.mean_runs is None:
            fits = self.settings * self.folds + (self.refit is not None)
            how += f", {fits} fits and {self.settings} noisy scores"
        else:
            how += f", a geometric number of runs with mean {self.mean_runs:g}, the best of which is released"
        spent = f"({digits(self.claimed.epsilon)}, {digits(self.claimed.delta)})-DP, to {self.neighbours}"
        return f"a search over {self.settings} setting{'s' * (self.settings != 1)} {how}, together {spent}"


def all_settings(
    budget: ApproximateDP, settings: int, folds: int = 1, refit_share: float = 0.0, gaussian: bool = True
) -> SearchPlan:
    """The plan that runs every setting: what each fit and score may spend.

    Guarantee: fits, scores and refit together are within the budget, by the composition of the module's text. Fits and
    scores have the same μ.

    Args:
        budget: the total. settings: k ≥ 1. folds: F ≥ 1; 1 stands for a test share.
        refit_share: of μ² (or of ε and δ), in [0, 1), for a last fit on all records; 0 for none.
        gaussian: whether the estimator's fits are Gaussian DP; if not, ε and δ are added.

    Raises:
        ValueError: if an argument is outside its range, or there are folds and no refit: no fold's model is the result.

    >>> plan = all_settings(ApproximateDP(1.0, 1e-6), settings=4)
    >>> print(round(plan.gaussian.mu / plan.fit.mu, 6), plan.sentence.partition(", together")[0])
    2.0 a search over 4 settings with a test share, 4 fits and 4 noisy scores
    """
    k, F = _validate.whole("settings", settings), _validate.whole("folds", folds)
    share = _validate.between("refit_share", refit_share, 0.0, 1.0)
    if share == 1 or (share == 0 and F > 1):
        raise ValueError(f"refit_share must be below 1, and positive with folds, got {refit_share!r}")
    total = budget.to_gaussian() if gaussian else None
    if total is None:
        part = (1 - share) / (k * F)
        each = ApproximateDP(part * budget.epsilon, part * budget.delta)
        last = ApproximateDP(share * budget.epsilon, share * budget.delta) if share else None
        return SearchPlan(budget, None, each, each.to_gaussian(), last, k, F)
    run = GaussianDP(total.mu * math.sqrt((1 - share) / (k * F)))
    refit = GaussianDP(total.mu * math.sqrt(share)) if share else None
    return SearchPlan(budget, total, run, run, refit, k, F)


def random_number(budget: ApproximateDP, settings: int, mean_runs: float | None = None) -> SearchPlan:
    """The plan that makes a random number of runs with a test share: the largest μ of a run.

    Guarantee: the model, the setting and the score of the best run are within the budget, by the module's text.

    Args:
        budget: the total. settings: k ≥ 1. mean_runs: m ≥ 1, the expected number of runs; `TRIED` times k where it is
            left out.

    Raises:
        ValueError: if an argument is outside its range, or no μ of a run between `LEAST` and `MOST` meets the budget.

    >>> budget = ApproximateDP(1.0, 1e-6)
    >>> random_number(budget, settings=100).fit.mu > 1.5 * all_settings(budget, settings=100).fit.mu
    True
    """
    k = _validate.whole("settings", settings)
    m = float(TRIED * k) if mean_runs is None else _validate.finite_positive("mean_runs", mean_runs)
    run = GaussianDP(_largest_run(budget, m))
    return SearchPlan(budget, None, run, run, None, k, 1, m)


@functools.lru_cache
def _largest_run(budget: ApproximateDP, mean_runs: float) -> float:
    """The largest μ of a run for which the best of a random number of runs is within a budget."""

    def beyond(log_mu: float) -> float:
        found = selection.random_stopping_epsilon(GaussianDP(math.exp(log_mu)), mean_runs, budget.delta)
        return found - budget.epsilon

    low, high = math.log(LEAST), math.log(MOST)
    if beyond(low) > 0:
        raise ValueError(f"epsilon must be larger for a random number of runs, got {budget.epsilon!r}")
    if beyond(high) < 0:
        return MOST
    root = float(brentq(beyond, low, high, xtol=1e-12))
    while beyond(root) > 0:
        root -= 1e-12
    return math.exp(root)


# ---- Search scores ----


@np.errstate(all="ignore")
def private_mean_loss(losses: np.ndarray, bound: float, budget: GaussianDP, *, rng: np.random.Generator) -> float:
    """The mean of losses, each clipped to [0, B], with Gaussian noise.

    Guarantee: μ-Gaussian DP for replacing one loss by any other. Each term 2ℓ/B − 1 is in [−1, 1], so a replaced one
    moves their sum by at most 2(1 + `sums.slack`), rounding included; the noise is calibrated to that.

    Args:
        losses: shape (n,), n ≥ 1; NaN counts as B. bound: B in [10⁻¹⁵⁰, 10¹⁵⁰]. budget: μ in (0, ∞). rng: of the noise.

    Returns:
        the noisy mean; it may be negative.

    Raises:
        ValueError: if an argument is outside its range.

    >>> private_mean_loss(np.array([0.0, 1.0, 9.0]), 2.0, GaussianDP(1e9), rng=np.random.default_rng(0)).__round__(6)
    1.0
    """
    bound = _validate.between("bound", bound, records.NEAR, records.FAR)
    clipped = np.clip(np.nan_to_num(records.numbers("losses", losses, (None,)), nan=math.inf), 0.0, bound)
    n = _validate.whole("the number of losses", len(clipped))
    total = float(sums.product(2 * (clipped / bound) - 1, np.ones(n)))
    found = float(noisy(total, gaussian_std(2 * (1 + sums.slack(n, 1)), budget), budget.mu, rng=rng))
    return bound * (0.5 + found / (2 * n))
