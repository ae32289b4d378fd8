"""DP-GD as an estimator: private linear regression in one pass, over arrays or over a stream."""

import copy
import itertools
import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.onepass import Batch
from costofprivacy.estimators import account, gate, public, units
from costofprivacy.estimators.gate import budget, generator
from costofprivacy.estimators.guarantee import RECORD, Guarantee, as_used, issue, refuse_bounds_of_records
from costofprivacy.estimators.scaling import LARGEST, SMALLEST, Scale, bounds_by_name, filled_by_name, public_scale
from costofprivacy.privacy import GaussianDP, PrivacyProfile, groups

ROWS = 4096  # of an array that are scaled at a time
_RANGE = _validate.within(SMALLEST, LARGEST)  # of a number on the stated scale
LABEL_NOISE, INITIAL_RISK = 0.3, 0.5  # ζ and R(0) where nothing is expected of R²: the paper's
PROOF = "costofprivacy.dpgd.onepass"
PUBLIC = (
    *("feature_bounds", "feature_center", "feature_scale", "response_bounds", "response_center", "response_scale"),
    *("expected_r2", "spectrum", "clip", "schedule", "learning_rate"),
)


class DPGDRegressor(gate.TableRegressor):
    r"""Differentially private linear regression: DP-GD, Algorithm 1 of arXiv:2505.16329v2.

    One pass, each record used once; its gradient is clipped, and noise is added so that releasing ``coef_`` and
    ``intercept_`` is μ-Gaussian DP. The paper, and `costofprivacy.dpgd` with it, writes ρ for this μ; everywhere else ρ
    is the parameter of zero-concentrated DP.

    Guarantee: μ-Gaussian DP, hence ρ-zCDP with ρ = μ²/2, for replacing one record by any other, whether or not anything
    that is stated below about the data is true. ``profile_`` says what that is in (ε, δ). No iterate before the last is
    released: ``coef_`` does not exist before the pass is finished. A record that is not finite is refused, which is not
    covered, or is void, which is: see ``not_finite``. Nothing on the fitted estimator depends on the data but ``coef_``
    and ``intercept_`` (and what is public: the records' number, the features' number and names).

    Assumes, for accuracy alone: features of mean 0 and variance 1, a response of mean square about 1, *on the stated
    scale*, in no particular order. Nothing is ever standardised by the data. Data on another scale need ``feature_*``
    and ``response_*``: public numbers, known before the data (`estimators.scaling` has the proof that they cost
    nothing).

    Args:
        mu: μ in [10⁻³⁰, 10³⁰] or ∞, which adds no noise and protects nothing.
        epsilon: ε in [10⁻⁸, 10⁶] or ∞, the other way to ask for privacy; needs ``delta``. There is no default budget:
            ``fit`` refuses where neither is given.
        delta: δ in [10⁻³⁰⁰, 1), far below 1/n: from 0.1/n on ``fit`` warns. With ``mu`` it is where the profile states
            its ε (10⁻⁶ by default).
        clip: c in [10⁻³⁰, 10³⁰], the clipping constant of the scaled residual; C_clip = c√d. ∞ without privacy.
        schedule: "constant" (all noise at the end), "even" (the same in each step), "harmonic" (β/(t + τ)), "auto" for
            the best of them, or a `costofprivacy.dpgd.schedule.Schedule`.
        learning_rate: η̃(0) in [10⁻³⁰, 10³⁰]; a step is η̃(k/n)/n long. "auto" with a schedule object, which has its
            own.
        fit_intercept: whether the response's mean on the stated scale may differ from 0.
        most_per_unit: k, how many records of a unit are used at most. It goes with ``unit``, an argument of ``fit``:
            then the guarantee is for replacing all records of one unit, such as a patient, and the noise is that for k
            records (`estimators.units`). A stream must hold at most k records of a unit. None protects records.
        feature_center, feature_scale: public; a number, or one for each feature, whose size is at most 10⁵⁰. The scale
            is at least 10⁻⁵⁰.
        feature_bounds: public (low, high), numbers or one for each feature, or a dictionary of pairs by feature name,
            instead of center and scale: features are clipped to them and carried to [−√3, √3].
        response_center, response_scale, response_bounds: the same for the response.
        spectrum: public; the eigenvalues of the scaled features' second moment, d of them, or their sum tr Σ. All 1
            where it is left out.
        expected_r2: in (0, 1), public; the share of the scaled response's variance, which is taken to be 1, that the
            features are expected to explain. Left out: the paper's ζ = 0.3 and R(0) = ½.
        shuffle: whether an array's rows are taken in random order, which data in a telling order need. The guarantee
            holds in any order that does not depend on the data.
        not_finite: what happens to a record with NaN or an infinity (`estimators.gate`). "refuse": ``fit`` raises
            ``ValueError``; whether there is such a record is then not protected. "void": it contributes nothing, and
            the guarantee covers it; ``predict`` answers it as a record at ``feature_center`` or in the middle of the
            bounds. Cells of lists, frames and arrays of objects that are no number count as NaN.
        noise: "fast". "secure" is refused: rounding may move two iterates apart, which the proof for the last forbids.
        random_state: None seeds from the operating system. **With a number the run can be repeated, and is a
            demonstration, no release**: whoever knows the number can subtract the noise, so ``fit`` warns. Generators
            are refused, because the estimator and its pickle would keep their state.

    Each "auto" is chosen by the deterministic equivalent from n, d, μ, ``spectrum`` and ``expected_r2``; no data are
    looked at, so it costs no privacy.

    Attributes:
        ``coef_``: shape (d,), in the units of the data.
        ``intercept_``: number; without an intercept, what the stated centres make of it.
        ``profile_``: what is claimed and what is spent, a `costofprivacy.privacy.PrivacyProfile`.
        ``guarantee_``: what is promised, a `guarantee.Guarantee`; `receipt` puts it into words.
        ``configuration_``: the c, η̃ and μ of the run, a `costofprivacy.dpgd.descent.Configuration`.
        ``expected_risk_``: the excess risk on the stated scale that the deterministic equivalent promises if the public
            knowledge is right; NaN where its equations do not settle.
        ``n_records_``: records read, void ones included; fewer than announced where a stream ended early. With
            ``unit``, the places of all units, filled or not.
        ``receipt_``: what `receipt` tells. ``used_``: a copy of the arguments as the fit used them, which `predict`
            goes by.
        ``n_features_in_``, ``feature_names_in_``: as in scikit-learn.

    Raises:
        ValueError: in ``fit``, for data or arguments outside their range, as scikit-learn does. The message never
            quotes a value of the data.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number, δ is 0.1/n or more, or ε above 20.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 5))
    >>> y = X @ [0.5, -0.5, 0.5, -0.3, 0.2] + 0.3 * rng.standard_normal(20_000)
    >>> model = DPGDRegressor(epsilon=1.0, delta=1e-6).fit(X, y)
    >>> print(model.coef_.round(1), round(model.profile_.last_iterate.epsilon(1e-6), 6))
    [ 0.5 -0.5  0.5 -0.3  0.2] 1.0
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        "mu": [_RANGE, math.inf, None],
        "epsilon": [gate.EPSILON, math.inf, None],
        "delta": [gate.DELTA, None],
        "clip": [_validate.among((public.AUTO,)), _RANGE, math.inf],
        "schedule": [_validate.among(public.SCHEDULES), callable],
        "learning_rate": [_validate.among((public.AUTO,)), _RANGE],
        "fit_intercept": [bool],
        "most_per_unit": [_validate.integer(1), None],
        "expected_r2": [_validate.PROBABILITY, None],
        "shuffle": [bool],
        "not_finite": [_validate.among(gate.RULES)],
        "noise": [_validate.among(gate.NOISES)],
        "random_state": [_validate.integer(0), None],
    }

    @gate.refusing_rho
    def __init__(
        self,
        *,
        mu: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        clip: float | str = "auto",
        schedule: Any = "auto",
        learning_rate: float | str = "auto",
        fit_intercept: bool = True,
        most_per_unit: int | None = None,
        feature_center: Any = 0.0,
        feature_scale: Any = 1.0,
        feature_bounds: Any = None,
        response_center: float = 0.0,
        response_scale: float = 1.0,
        response_bounds: Any = None,
        spectrum: Any = None,
        expected_r2: float | None = None,
        shuffle: bool = True,
        not_finite: str = "refuse",
        noise: str = gate.FAST,
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    set_params = gate.refusing_rho(gate.TableRegressor.set_params)

    def fit(self, X: Any, y: Any, unit: Any = None) -> "DPGDRegressor":
        """One pass over arrays.

        Args:
            X: features, shape (n, d). y: responses, shape (n,).
            unit: whose record each is, if a unit may have several and all of them are to be protected together: n
                identifiers, or the name of a column of the data frame X, which is no feature then. It goes with
                ``most_per_unit``, and with ``shuffle`` (`estimators.units`).

        Returns:
            The estimator, fitted.
        """
        gate.begin(self)
        X, y, told = gate.table_of_units(self, X, y, unit)
        if told is not None and not self.shuffle:
            raise InvalidParameterError(
                "shuffle must be True with unit: where a record stands must not depend on other units, got False"
            )
        claimed = budget(self.mu, self.epsilon, self.delta).claimed
        gate.warn_of_use(claimed, len(X) if told is None else int(told.unit.count or 1))
        return self._fit(X, y, generator(self.random_state), told)

    def _promised(self, unit: units.Unit | None) -> Guarantee:
        """What a fit will promise, from public numbers alone."""
        asked = budget(self.mu, self.epsilon, self.delta)
        proof, related = (PROOF, RECORD) if unit is None else (f"{units.PROOF}, {PROOF}", unit.neighbours)
        return Guarantee(asked.claimed, GaussianDP(asked.mu), proof, related)

    def _fit(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator, told: units.Identified | None = None
    ) -> "DPGDRegressor":
        """One pass over checked arrays with a given source of noise: for simulations. A release has its own source."""
        self.n_features_in_ = X.shape[1]
        if told is not None:
            X, y = told.placed(X, y, rng=rng)
        order = rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
        pieces = (order[start : start + ROWS] for start in range(0, len(X), ROWS))
        unit = None if told is None else told.unit
        return self._release(((X[rows], y[rows]) for rows in pieces), len(X), unit, rng)

    def fit_stream(self, batches: Iterable[tuple[Any, Any]], n: int) -> "DPGDRegressor":
        """One pass over batches of records, which need not fit into memory together.

        The noise depends on n, so it is announced. A stream that ends early is released with the noise that it still
        owes (`costofprivacy.dpgd.onepass` has the proof), one with more records is refused and nothing is released.
        Where it ends must not depend on what is in it; so how many records were read is public, and the receipt says
        it beside n. Records are used in the order in which they come.

        With ``not_finite="refuse"`` the error is raised at the batch that holds the record, in the middle of the pass:
        nothing is released, but how far the stream was read shows where the record is. With "void" nothing can be seen.

        Args:
            batches: pairs of features, shape (m, d), and responses, shape (m,); read once.
            n: number of records announced, at least 1.

        Returns:
            The estimator, fitted.

        Raises:
            ValueError: if there are more than n records or none, or a batch is not as scikit-learn wants data.
        """
        gate.begin(self)
        announced = _validate.whole("n", n)
        gate.warn_of_use(budget(self.mu, self.epsilon, self.delta).claimed, announced)
        valid = (  # as arrays of doubles, all with the features of the first
            gate.table(self, X, y, reset=k == 0, least=min(gate.held(y), 1))
            for k, (X, y) in enumerate(gate.pairs(batches))
        )
        first = next(valid, None)
        if first is None:
            raise ValueError("Found array with 0 sample(s) in the stream while a minimum of 1 is required.")
        unit = units.streamed(self.most_per_unit)
        return self._release(itertools.chain([first], valid), announced, unit, generator(self.random_state))

    def _check_arguments(self) -> None:
        """As scikit-learn does; a budget must be stated besides."""
        super()._check_arguments()
        budget(self.mu, self.epsilon, self.delta)

    def _feature_scale(self) -> Scale:
        """The stated scale of the features, on which tr Σ is d."""
        d, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        bounds = bounds_by_name(self.feature_bounds, names)
        center, scale = (
            filled_by_name(part, getattr(self, part), names, usual)
            for part, usual in (("feature_center", 0.0), ("feature_scale", 1.0))
        )
        found = public_scale("feature", bounds, center, scale, d, names)
        unit = float(np.sqrt(public.stated_eigenvalues(self.spectrum, d).mean()))
        return Scale(found.center, found.scale * unit, found.low, found.high)

    def _release(
        self, batches: Iterable[Batch], n: int, unit: units.Unit | None, rng: np.random.Generator
    ) -> "DPGDRegressor":
        """Run the pass on scaled records; only then do the results come into being."""
        if unit is not None:
            refuse_bounds_of_records(self)
        used = as_used(self)
        asked, d = budget(self.mu, self.epsilon, self.delta), self.n_features_in_
        size = 1 if unit is None else unit.most  # μ of a unit is μ/k of a record
        eigenvalues = public.stated_eigenvalues(self.spectrum, d)
        features = self._feature_scale()
        response = public_scale("response", self.response_bounds, self.response_center, self.response_scale)
        share = self.expected_r2
        signal = (LABEL_NOISE, INITIAL_RISK) if share is None else (math.sqrt(1 - float(share)), float(share) / 2)
        known = public.knowledge(eigenvalues, self.fit_intercept, *signal)
        configuration, risk = self._configuration(known, n, asked.mu / size)
        account.charge(type(self).__name__, lambda: self._promised(unit))  # whatever is public has been checked
        usable = itertools.starmap(gate.marked, batches) if self.not_finite == gate.VOID else batches
        ones = int(self.fit_intercept)
        # in rows: how an array lies in memory decides the last bits of its products
        scaled = (
            (np.column_stack([features.apply(np.ascontiguousarray(X)), np.ones((len(X), ones))]), response.apply(y))
            for X, y in usable
        )
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            released = onepass.release(scaled, configuration, n, known.d, rng=rng)
        done = copy.copy(self)
        done.coef_ = response.scale * released.theta[:d] / features.scale
        constant = response.scale * released.theta[d] if self.fit_intercept else 0.0
        done.intercept_ = float(response.center + constant - np.sum(done.coef_ * features.center))
        done.n_records_, done.used_ = released.records, used
        done.configuration_, done.expected_risk_ = configuration, risk
        every, last = (groups.group(each, size) for each in (released.every_iterate, released.last_iterate))
        related = RECORD if unit is None else unit.neighbours
        done.profile_ = PrivacyProfile(asked.claimed, every, last, neighbours=related.partition(" by ")[0])
        done.guarantee_ = Guarantee(asked.claimed, last, PROOF if unit is None else f"{units.PROOF}, {PROOF}", related)
        done.receipt_ = issue(done, PUBLIC, "one pass of DP-GD", n, unit)
        self.__dict__.update(vars(done))  # at once: an interrupted fit has a receipt, or nothing that it released
        return self

    def _configuration(self, known: public.Knowledge, n: int, mu: float) -> tuple[Configuration, float]:
        """c, η̃ and μ of the run, and the risk that the equations promise."""
        clip = None if self.clip == public.AUTO else float(self.clip)
        rate = None if self.learning_rate == public.AUTO else float(self.learning_rate)
        if clip is not None and math.isinf(clip) and math.isfinite(mu):
            raise InvalidParameterError(f"clip must be finite for a finite mu, got {self.clip!r}")
        if isinstance(self.schedule, str):
            best = public.tuned(known, n, mu, clip, self.schedule, rate)
            return Configuration(best.clip, best.schedule, mu), best.risk
        if rate is not None:
            raise InvalidParameterError(f"learning_rate must be 'auto' with a schedule of its own, got {rate!r}")
        chosen, risk = public.clipped(known, n, mu, clip, self.schedule)
        return Configuration(chosen, self.schedule, mu), risk
