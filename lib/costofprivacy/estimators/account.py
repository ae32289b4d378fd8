r"""An account: one budget for everything that is released from the same records, charged before anything is drawn.

Inside ``with Account(epsilon=3, delta=1e-6) as account:`` every fit, every `private_bounds`, every private score and
every private search of this process is charged, whoever makes it: ``cross_val_score``, ``GridSearchCV`` and bagging
too. A release that does not fit into what is left is refused with an `AccountError`, before its noise is drawn. What
was charged stays charged, also where a fit fails afterwards.

**What adds up.** Releases that are Gaussian DP are added in μ², those of which only (ε, δ) is proved (objective
perturbation) in ε and δ. What is charged may depend on the results of earlier releases, and so may the size of a later
budget. That needs more than composition of releases whose budgets are fixed in advance, and the account is made for it:

* *Gaussian DP*: as long as Σμ_i² ≤ M², all together are M-Gaussian DP, however the μ_i are chosen (Smith and Thakurta,
  2022, arXiv:2210.17520). M is the largest for which that implies the account's (ε, δ).
* *(ε, δ)*: as long as Σε_i ≤ ε and Σδ_i ≤ δ, all together are (ε, δ)-DP (Rogers, Roth, Ullman and Vadhan, 2016,
  arXiv:1605.08294).
* *Both kinds*: ``approximate`` sets a share of ε and δ aside for the second, before anything is released. The two parts
  are two interactive mechanisms, and their guarantees add up as those of two releases do (Vadhan and Zhang, 2023,
  arXiv:2207.08335). Left out, the first release decides: after one that is Gaussian DP the share is 0, else it is 1,
  and then releases that are Gaussian DP count by the (ε, δ) that they claim. At that time no result is known, so that
  the share does not depend on any. It must not: a share that could follow the results would not be covered by the
  proofs.

So the guarantee of the account is its own (ε, δ), for everything. The receipt adds up what was charged besides; that
sum is a guarantee too where no result decided what came next.

**Who is protected.** All releases must protect the same: records, prompts, or the same unit. Whoever stands in few of
the fits, as in cross-validation, spends less than what is charged.

**Processes.** All threads of this process are charged, whichever of them opened the account; of several open accounts
each is. Two threads must not fit one estimator at once: clone it, or what the fits leave is mixed. Another process
cannot charge it. An estimator that was sent to one, as joblib does with ``n_jobs=2``, refuses to fit there: take
``n_jobs=None``, or threads by ``joblib.parallel_config(backend="threading", n_jobs=2)``. Scikit-learn turns errors of a
fit into scores of NaN and a warning unless ``error_score="raise"``. A function such as `private_bounds` that is called
in another process, and an estimator that is made there, know nothing of the account.

**A bootstrap sample** holds some records several times, and a fit to it protects them less than a fit promises. So
``BaggingRegressor(bootstrap=True)`` and ``AdaBoostRegressor`` are refused in an account, but for fits with ``unit=``,
where a repeated record counts as one more of its unit. Scikit-learn's ensembles hand each member a ``random_state``
besides, which makes its fit a demonstration, as it warns.

**What is not covered**: what is computed from the records without noise. The scores of ``cross_val_score`` and
``GridSearchCV`` are, and so is a choice by them; `private_mean_loss`, `private_r2` and `PrivateSearch` have noise.

>>> import numpy as np
>>> from costofprivacy.estimators import DPGDRegressor, private_bounds
>>> X, y = np.random.default_rng(0).standard_normal((2000, 2)), np.zeros(2000)
>>> with Account(epsilon=1.0, delta=1e-6) as account:
...     bounds = private_bounds(X[:, 0], mu=0.1, grid=np.linspace(-5, 5, 21))
...     model = DPGDRegressor(mu=0.2).fit(X, y)
>>> print(account.total.sentence, round(account.left, 2))
2 releases, together 0.2237-Gaussian DP, hence (0.9406, 1e-06)-DP, to replace one record 0.08
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import ROUND_FLOOR
from typing import Any, ClassVar

from costofprivacy import _validate
from costofprivacy.estimators import spending
from costofprivacy.estimators.guarantee import digits
from costofprivacy.privacy import ApproximateDP, GaussianDP

_OPEN: list[Account] = []
_LOCK = threading.RLock()  # a release is charged before another one asks what is left
_PAID = threading.local()
_ROUNDING = 1 + 2.0**-48  # 16 units of rounding: what is calibrated to all that is left meets it to a few
_HERE = uuid.uuid4().hex  # of this process and its forks: elsewhere a process may have the same number
UNCOVERED = (
    "Not covered: what was computed from the records without noise, such as the scores of cross_val_score and "
    "GridSearchCV, and a choice that was made by them."
)
_RESAMPLED = {"sklearn.ensemble._bagging": "ensemble", "sklearn.ensemble._weight_boosting": ""}


class AccountError(RuntimeError):
    """A release that does not fit into an account, or that the account could not charge; nothing was drawn."""


class Account:
    """A budget that releases are charged to while it is open, as a context manager; it may be opened again.

    Guarantee: everything that was charged is together (ε, δ)-DP.

    Args:
        epsilon, delta: the total, ε in (0, ∞) and δ in (0, 1), δ far below 1 over the number of records.
        approximate: in [0, 1], the share of ε and δ that is set aside for releases that are not Gaussian DP, such as
            fits by objective perturbation. None: 0 or 1, as the first release is one or the other.

    Attributes:
        ``charges``: what was charged, pairs of a name and a promise, in order.

    Raises:
        ValueError: if an argument is outside its range.
    """

    def __init__(self, epsilon: float, delta: float, approximate: float | None = None) -> None:
        self.budget = ApproximateDP(_validate.finite_positive("epsilon", epsilon), delta)
        self.approximate = None if approximate is None else _validate.between("approximate", approximate, 0.0, 1.0)
        self.charges: list[tuple[str, Any]] = []
        self._process = _here()

    def __enter__(self) -> Account:
        with _LOCK:
            _OPEN.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _LOCK:
            _OPEN.remove(self)

    @property
    def total(self) -> spending.Total | None:
        """What everything spends together, if no result decided what came next; None where nothing was charged."""
        if not self.charges:
            return None
        mu, epsilon, _ = self._spent([promise for _, promise in self.charges])
        delta = self._part(1 - self._share).delta if mu and self._share < 1 else 0.5
        claimed = ApproximateDP(epsilon + (GaussianDP(mu).epsilon(delta) if mu else 0.0), self.budget.delta)
        parts = tuple(spending.promised(promise) for _, promise in self.charges)
        told = next((told for _, promise in self.charges if (told := spending.relation(promise))), spending.RECORD)
        return spending.Total(claimed, None if epsilon else GaussianDP(mu), parts, told)

    @property
    def left(self) -> float:
        """μ of the largest further release that is Gaussian DP, where such are added in μ²; else 0."""
        if self._share == 1:
            return 0.0
        spent = self._spent([promise for _, promise in self.charges])[0]
        return math.sqrt(max(0.0, self._part(1 - self._share).to_gaussian().mu ** 2 - spent**2))

    @property
    def left_approximate(self) -> tuple[float, float]:
        """ε and δ that are left for releases that are not Gaussian DP."""
        _, epsilon, delta = self._spent([promise for _, promise in self.charges])
        share = 1.0 if self.approximate is None and not self.charges else self._share
        return max(0.0, share * self.budget.epsilon - epsilon), max(0.0, share * self.budget.delta - delta)

    def receipt(self) -> AccountReceipt:
        """What was charged, one after the other, and the total: in words (``str``) and as JSON (``.json()``)."""
        return AccountReceipt(self)

    @property
    def _share(self) -> float:
        """The share of what is not Gaussian DP; 0 before the first release, if it decides."""
        return self._share_with(self.charges[0][1]) if self.charges else (self.approximate or 0.0)

    def _share_with(self, first: Any) -> float:
        if self.approximate is not None:
            return self.approximate
        return 0.0 if isinstance(spending.promised(first), GaussianDP) else 1.0

    def _part(self, share: float) -> ApproximateDP:
        return ApproximateDP(share * self.budget.epsilon, share * self.budget.delta)

    def _spent(self, promises: list[Any]) -> tuple[float, float, float]:
        """μ of what is added in μ², ε and δ of the others."""
        mu, others = [], []
        for promise in promises:
            found = spending.promised(promise)
            if isinstance(found, GaussianDP) and self._share_with(promises[0]) < 1:
                mu.append(found.mu)
            else:
                others.append(found if isinstance(found, ApproximateDP) else promise.claimed)
        return math.hypot(*mu), math.fsum(each.epsilon for each in others), math.fsum(each.delta for each in others)

    def _refuse_unless_it_fits(self, name: str, promise: Any) -> None:
        """Raise unless a release fits into what is left."""
        if self._process != _here():
            raise AccountError(_ELSEWHERE)
        before = [each for _, each in self.charges]
        relations = {told for each in (*before, promise) if (told := spending.relation(each)) is not None}
        if len(relations) > 1:
            raise AccountError(f"{name}: an account must protect the same neighbours, got {sorted(relations)}")
        share = self._share_with((*before, promise)[0])
        mu, epsilon, delta = self._spent([*before, promise])
        most = self._part(1 - share).to_gaussian().mu if share < 1 else 0.0
        beyond = mu > most * _ROUNDING
        if beyond or epsilon > share * self.budget.epsilon * _ROUNDING or delta > share * self.budget.delta * _ROUNDING:
            asked, left = _in_words(_stated(promise)), _left_in_words(self.left, *self.left_approximate)
            more = "a larger account" if beyond or share == 1 else "a larger share approximate= for such releases"
            raise AccountError(
                f"{name} asks for {asked}, which does not fit into the account of ({self.budget.epsilon:g}, "
                f"{self.budget.delta:g}) after {len(before)} releases; nothing was drawn. What is left is "
                f"{left}: ask for less, or take {more}"
            )


class AccountReceipt:
    """The receipt of an account as it was at the time.

    Args:
        account: of which it is.
    """

    def __init__(self, account: Account) -> None:
        total = account.total
        self._data: dict[str, Any] = {
            "epsilon": account.budget.epsilon,
            "delta": account.budget.delta,
            "releases": [{"release": name, **_stated(promise)} for name, promise in account.charges],
            "charged": None if total is None else total.sentence,
            "neighbours": None if total is None else total.neighbours,
            "left_mu": account.left,
            "left_epsilon_delta": list(account.left_approximate),
            "caveat": UNCOVERED,
        }

    def data(self) -> dict[str, Any]:
        """The receipt as plain values."""
        return dict(json.loads(self.json()))

    def json(self) -> str:
        """The receipt as JSON."""
        return json.dumps(self._data, indent=2)

    def __str__(self) -> str:
        """The receipt in words."""
        told = self._data
        whole = f"({digits(told['epsilon'])}, {digits(told['delta'])})-differential privacy"
        lines = [f"Account of {whole}, of all that was charged together."]
        for number, each in enumerate(told["releases"], 1):
            lines.append(f"{number}. {each['release']}: {_in_words(each)}.")
        left = f"Left: {_left_in_words(told['left_mu'], *told['left_epsilon_delta'])}."
        return "\n".join([*lines, f"Charged: {told['charged'] or 'nothing'}.", left, UNCOVERED])


_ELSEWHERE = (
    "this release belongs to an account that is open in another process, which cannot be charged from here: take "
    'n_jobs=None, or threads, joblib.parallel_config(backend="threading", n_jobs=2). Nothing was drawn'
)
_SENT = _ELSEWHERE + (
    ". If that account is closed and this fit is to spend a budget of its own, which adds up with what was charged, "
    "make a new one: {0}(**estimator.get_params(deep=False))"
)


def _left_in_words(*left: float) -> str:
    mu, epsilon, delta = (digits(value, ROUND_FLOOR) for value in left)
    return f"{mu}-Gaussian DP, and ({epsilon}, {delta}) for what is not Gaussian DP"


def _here() -> tuple[str, int]:
    return _HERE, os.getpid()


def charge(name: str, promise: Callable[[], Any]) -> None:
    """Charge every open account of this process with a release, before it is drawn.

    Args:
        name: of what releases. promise: what it will promise, as `spending.compose` takes it; asked for if needed.

    Raises:
        AccountError: if it does not fit into one of them; then none is charged.
    """
    if in_a_search():
        if not _PAID.fits:
            raise AccountError(
                f"{name} is a release of its own in a run of a search, which counts one fit of its estimator: take it "
                "out of the steps of the pipeline, and make it before the search"
            )
        _PAID.fits -= 1
        return
    if not _OPEN:
        return
    told = promise()
    with _LOCK:
        opened = dict.fromkeys(_OPEN)  # one may be open twice
        for account in opened:
            account._refuse_unless_it_fits(name, told)
        if spending.relation(told) in (None, spending.RECORD):
            _refuse_a_bootstrap_sample(name)
        for account in opened:
            account.charges.append((name, told))


@contextmanager
def paid(fits: int = 0) -> Iterator[None]:
    """Inside, so many fits of this thread are part of a search that was charged as a whole; others are refused."""
    before = getattr(_PAID, "fits", None)
    _PAID.fits = fits
    try:
        yield
    finally:
        _PAID.fits = before


def in_a_search() -> bool:
    """Whether this thread makes a run of a search: then nothing is warned of, since what it catches belongs to all."""
    return getattr(_PAID, "fits", None) is not None


def refuse_elsewhere(estimator: Any) -> None:
    """Raise `AccountError` if an estimator was sent here by a process in which an account was open."""
    if getattr(estimator, "_account_of", _here()) != _here():
        raise AccountError(_SENT.format(type(estimator).__name__))


class Charged:
    """An estimator that remembers, wherever it is sent, that an account was open where it came from.

    What its arguments may be stands in ``ALLOWED``, as `_validate.argument` takes it.
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {}

    def _check_arguments(self) -> None:
        """Raise `InvalidParameterError` for an argument outside its range."""
        for name, allowed in self.ALLOWED.items():
            _validate.argument(name, getattr(self, name), *allowed)

    def __getstate__(self) -> Any:
        """As scikit-learn has it, with the process of the account if one is open."""
        state: Any = super().__getstate__()
        return {**state, "_account_of": vars(self).get("_account_of", _here())} if _OPEN else state

    def __sklearn_clone__(self) -> Any:
        """A clone remembers it too."""
        made = super().__sklearn_clone__()  # type: ignore[misc]
        if "_account_of" in vars(self):
            made._account_of = vars(self)["_account_of"]
        return made


def _refuse_a_bootstrap_sample(name: str) -> None:
    """Raise if a fit is one of an ensemble of scikit-learn that repeats records; it tells no estimator of that."""
    frame = sys._getframe()
    while frame is not None:
        ensemble = _RESAMPLED.get(frame.f_globals.get("__name__", ""))
        if ensemble is not None and getattr(frame.f_locals.get(ensemble), "bootstrap", not ensemble):
            raise AccountError(
                f"{name} would be fitted to a sample in which records are repeated, which protects them less than it "
                "promises: take bootstrap=False, or protect units with unit= and most_per_unit=. Nothing was drawn"
            )
        frame = frame.f_back  # type: ignore[assignment]


def _in_words(stated: dict[str, Any]) -> str:
    """What one release spends, with four digits, the last of them rounded up; `json` has all."""
    told = [digits(value) for name in ("mu", "epsilon", "delta") if (value := stated[name]) is not None]
    return f"({', '.join(told)})-DP" if len(told) == 2 else f"{told[0]}-Gaussian DP"


def _stated(promise: Any) -> dict[str, float | None]:
    """A promise as numbers: μ where it is Gaussian DP, else ε and δ."""
    found = spending.promised(promise)
    if isinstance(found, GaussianDP):
        return {"mu": found.mu, "epsilon": None, "delta": None}
    return {"mu": None, "epsilon": found.epsilon, "delta": found.delta}
