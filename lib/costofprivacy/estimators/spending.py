r"""Several releases from the same records: what they spend together, and how to share one budget among them.

Private bounds and then a fit, or several fits, are one release when they touch the same records. Two rules hold, also
where a later release depends on the results of an earlier one (as a fit does on bounds that were found before):

* releases that are μ_i-Gaussian DP are together :math:`\sqrt{\sum_i\mu_i^2}`-Gaussian DP (Dong, Roth and Su, 2022,
  arXiv:1905.02383, Corollary 3.3);
* releases that are (ε_i, δ_i)-DP are together :math:`(\sum_i\varepsilon_i, \sum_i\delta_i)`-DP (Dwork and Roth, 2014,
  Theorem 3.16).

Where there are both, the Gaussian ones are first added by the first rule and stated at the δ that the others leave.

*Disjoint records are something else*: of two fits on different people, each spends on its own people alone.

**Cross-validation and grids.** Scikit-learn's ``cross_val_score``, ``cross_validate``, ``GridSearchCV`` and
``learning_curve`` make a clone of the estimator for each fit. A clone knows nothing of the others, so *each fit spends
a whole budget and nothing warns*, but in an `account.Account`, which charges each and refuses what does not fit. With F
folds each record is in F − 1 of the fits, and a grid of k settings that refits the best makes k(F − 1) + 1 of them for
each record. `times` adds them up:

>>> each = ApproximateDP(1.0, 1e-6).to_gaussian()  # a fit with epsilon=1, delta=1e-6 that is Gaussian DP
>>> print(times(each, 4, delta=1e-6).sentence)  # 5 folds
4 releases, together 0.4735-Gaussian DP, hence (2.123, 1e-06)-DP, to replace one record
>>> print(times(ApproximateDP(1.0, 1e-6), 4, delta=4e-6).sentence)  # objective perturbation: ε and δ are added
4 releases, together (4, 4e-06)-DP, to replace one record

**Bagging spends more than a budget for each fit.** With ``bootstrap=True``, its default, a record can stand in one
sample k times, whatever ``max_samples`` is. Replacing it is then k changes: that fit is kμ-Gaussian DP for this record
(`costofprivacy.privacy.groups`), and all fits together are :math:`\mu\sqrt{\sum_b k_b^2}`-Gaussian DP for one that
stands k_b times in sample b. For (ε, δ) alone a group costs far more. With ``bootstrap=False`` a record is at most
once in a fit, and `times` adds them up.

>>> import numpy as np
>>> counts = np.random.default_rng(0).multinomial(1000, np.full(1000, 1 / 1000), size=10)  # 10 samples of 1000 records
>>> print(counts.max(), round(float(np.sqrt((counts**2).sum(axis=0).max() / 10)), 2))  # and μ over that of 10 fits
8 2.68

``StackingRegressor`` fits each estimator F + 1 times, F of them for each record, and then a last one to their
predictions, which must be private as well.

*That is for the models alone.* A score of scikit-learn is computed from the held-out records without noise: whoever
publishes scores, or the setting that they chose, has no guarantee at all. `costofprivacy.estimators.PrivateSearch` has
noisy scores and one budget for everything; `costofprivacy.estimators.forecast` needs no fit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from costofprivacy import _validate
from costofprivacy.estimators.guarantee import digits
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile

_TOGETHER = 1 + 1e-9  # shares that are written in decimals sum to 1 up to this
Guarantee = GaussianDP | ApproximateDP
RECORD = "replace one record"


@dataclass(frozen=True)
class Total:
    """What several releases spend together.

    Args:
        claimed: the total as (ε, δ). gaussian: the total as μ, None where a release is not Gaussian DP.
        parts: the guarantees that were added. neighbours: the relation for which all hold.
    """

    claimed: ApproximateDP
    gaussian: GaussianDP | None
    parts: tuple[Guarantee, ...]
    neighbours: str = RECORD

    @property
    def sentence(self) -> str:
        """The total in words, for a paper."""
        told = "" if self.gaussian is None else f"{digits(self.gaussian.mu)}-Gaussian DP, hence "
        counted = f"{len(self.parts)} release" + "s" * (len(self.parts) != 1)
        claimed = f"({digits(self.claimed.epsilon)}, {digits(self.claimed.delta)})-DP"
        return f"{counted}, together {told}{claimed}, to {self.neighbours}"


def compose(*releases: Any, delta: float) -> Total:
    """What releases from the same records spend together, in the order in which they were made or any other.

    Args:
        releases: at least one; each a `GaussianDP`, an `ApproximateDP`, a `PrivacyProfile` (of which what was released
            counts, the last iterate), a promise with ``claimed`` and ``gaussian`` (such as a `Total`), or something
            that has one as ``guarantee_``, ``profile_``, ``profile`` or ``guarantee``, such as a fitted estimator, the
            pipeline that it ends, private bounds or a receipt. A model out of a `PrivateSearch` counts as all of it.
        delta: δ in (0, 1) of the total.

    Raises:
        ValueError: if there is no release, one is of another kind, the relations of neighbours differ, or the δ of the
            releases leave nothing of ``delta`` for the Gaussian ones.

    >>> total = compose(GaussianDP(0.6), GaussianDP(0.8), delta=1e-5)
    >>> print(total.sentence)
    2 releases, together 1-Gaussian DP, hence (4.378, 1e-05)-DP, to replace one record
    """
    delta = _validate.probability("delta", delta)
    if not releases:
        raise ValueError("releases must be at least one, got none")
    relations = {told for release in releases if (told := relation(release)) is not None}
    if len(relations) > 1:
        raise ValueError(f"releases must protect the same neighbours, got {sorted(relations)}")
    parts = tuple(promised(release) for release in releases)
    gaussian = [part.mu for part in parts if isinstance(part, GaussianDP)]
    others = [part for part in parts if isinstance(part, ApproximateDP)]
    mu = GaussianDP(math.hypot(*gaussian)) if gaussian else None
    used = math.fsum(part.delta for part in others)
    if used > delta or (mu is not None and used == delta):
        raise ValueError(f"delta must be above the sum of the releases' own, {used:g}, got {delta!r}")
    epsilon = math.fsum(part.epsilon for part in others) + (0.0 if mu is None else mu.epsilon(delta - used))
    protected = relations.pop() if relations else RECORD
    return Total(ApproximateDP(epsilon, delta), None if others else mu, parts, protected)


def times(release: Any, fits: int, *, delta: float) -> Total:
    """What several releases spend together that all spend the same, such as the fits of a cross-validation.

    Args:
        release: one of them, as for `compose`. fits: how many of them used a record, at least 1. delta: as there.

    Raises:
        ValueError: as `compose`, or if ``fits`` is not a whole number of at least 1.

    >>> print(times(GaussianDP(0.5), 4, delta=1e-5).sentence)
    4 releases, together 1-Gaussian DP, hence (4.378, 1e-05)-DP, to replace one record
    """
    return compose(*[release] * _validate.whole("fits", fits), delta=delta)


def split(budget: Guarantee, shares: Sequence[float]) -> tuple[Guarantee, ...]:
    """Budgets for several releases which together spend at most one.

    Args:
        budget: the total. An `ApproximateDP` is shared as it is: ε and δ both. A `GaussianDP` is shared in μ²; that is
            better, where all releases are Gaussian DP: ``ApproximateDP(epsilon, delta).to_gaussian()`` is that budget.
        shares: positive, with a sum of at most 1.

    Raises:
        ValueError: if the budget is of another kind, or a share outside its range.

    >>> total = ApproximateDP(1.0, 1e-6).to_gaussian()
    >>> bounds, fit = split(total, [0.1, 0.9])
    >>> round(compose(bounds, fit, delta=1e-6).claimed.epsilon, 6)
    1.0
    """
    checked = [_validate.positive("each of shares", share) for share in shares]
    if not checked or math.fsum(checked) > _TOGETHER:
        raise ValueError(f"shares must be at least one, with a sum of at most 1, got {list(shares)!r}")
    whole = max(1.0, math.fsum(checked))
    if isinstance(budget, GaussianDP):
        return tuple(GaussianDP(budget.mu * math.sqrt(share / whole)) for share in checked)
    if isinstance(budget, ApproximateDP):
        return tuple(ApproximateDP(budget.epsilon * share / whole, budget.delta * share / whole) for share in checked)
    raise ValueError(f"budget must be a GaussianDP or an ApproximateDP, got {budget!r}")


def promised(release: Any) -> Guarantee:
    """The guarantee of a release: as Gaussian DP where that is proved, else as (ε, δ).

    Args:
        release: as for `compose`.

    Raises:
        ValueError: if it is of another kind.
    """
    found = _promise(release)
    if isinstance(found, PrivacyProfile):
        return found.last_iterate
    if not isinstance(found, Guarantee) and hasattr(found, "claimed"):
        found = getattr(found, "gaussian", None) or found.claimed
    if not isinstance(found, Guarantee):
        raise ValueError(
            "each of releases must be a GaussianDP, an ApproximateDP, a PrivacyProfile or have one, "
            f"got a {type(release).__name__}"
        )
    return found


def relation(release: Any) -> str | None:
    """The neighbours that a release protects, "replace one record" or "replace one prompt"; None where it says none."""
    told = getattr(_promise(release), "neighbours", None)
    return None if told is None else str(told).partition(" by ")[0]  # the first words of a receipt's


def _promise(release: Any) -> Any:
    if hasattr(release, "named_steps"):  # a pipeline, whose import takes long
        return _promise(release[-1])
    for name in ("search_", "guarantee_", "profile_", "profile", "guarantee"):
        if hasattr(release, name):
            return getattr(release, name)
    return release
