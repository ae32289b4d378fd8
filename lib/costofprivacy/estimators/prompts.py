r"""Linear attention heads, privately pretrained on prompts, as estimators: NoisyHead, and the private head that works.

**What every estimator of prompts does: its checks of data, how it forgets, answers and is scored.**

**NoisyHead's hyper-parameters from the public law of the prompts, section 2 of arXiv:2504.16000v2.**

What a user does not give is chosen so that the test error in closed form is least,

.. math:: 1 + \tau^2 - \mathrm{gain}_T + \mathrm{noise}_T,

with `learning_curve.noiseless_gain` and `dynamics.noise_risk`, over the penalty and the number of steps. C and G are
those of (4.1) and of the proof of Theorem 4.1. R is C/(2√λ), which no ridge solution exceeds, or less where the law of
the prompts says less: twice the norm √D g of the population's ridge solution gI (`population.ridge_scale`). η₀ = 1/(λ +
G²) is the largest for which no direction of the update is overshot. Where the steps have converged the noise of the
last iterate does not depend on η₀; larger steps need fewer of them.
"""

import copy
import functools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import account, gate, guarantee
from costofprivacy.estimators.account import Charged
from costofprivacy.estimators.gate import approximate, generator
from costofprivacy.estimators.scaling import LARGEST, UNITS
from costofprivacy.noisyhead import (
    accounts,
    covariance_head,
    dynamics,
    head,
    hyperparameters,
    population,
    pretraining,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.token_laws import GAUSSIAN
from costofprivacy.privacy import ApproximateDP, PrivacyProfile, records, sums

# ---- Prompt regressor ----

AUTO = "auto"
FAR = 1e100  # no scaled value is beyond, so that no square overflows


class PromptRegressor(Charged, RegressorMixin, BaseEstimator):
    """An estimator that learns one matrix from prompts; a subclass has ``fit`` and ``_answer``.

    Args:
        epsilon, delta, not_finite, random_state: parameters that every subclass has; `estimators.gate` says what the
            last two mean.

    Attributes:
        ``Gamma_``: what is released, shape (D, D). ``n_features_in_``: D. ``used_``: a copy of the arguments as the
            fit used them, which `predict` goes by. ``guarantee_``: what is promised.
            ``receipt_``: what `receipt` tells, made by the fit and frozen.
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [gate.EPSILON, None],
        "delta": [gate.DELTA, None],
        "not_finite": [_validate.among(gate.RULES)],
        "random_state": [_validate.integer(0), None],
    }

    Gamma_: np.ndarray
    profile_: PrivacyProfile
    guarantee_: guarantee.Guarantee
    receipt_: guarantee.Receipt
    used_: Any
    n_features_in_: int
    n_prompts_: int
    epsilon: float | None
    delta: float | None
    not_finite: str
    random_state: int | None

    def predict(self, X: Any, y: Any) -> np.ndarray:
        """The response to each prompt's query, shape (N,).

        Args:
            X: features, shape (N, L + 1, D); any L.
            y: responses of the labelled tokens, shape (N, L), or with a last column, which no answer depends on.

        A prompt that is not finite is refused, or answered by 0, as ``not_finite`` says.
        """
        check_is_fitted(self, "Gamma_")
        used = self.used_
        X = gate.prompts(used, X)
        N, tokens, D = X.shape
        if self.n_features_in_ != D:
            name = type(self).__name__
            raise ValueError(f"X has {D} features, but {name} is expecting {self.n_features_in_} features.")
        labelled = gate.responses(used, y, N, (tokens - 1, tokens))[:, : tokens - 1]
        with np.errstate(all="ignore"):
            return self._answer(*used._allowed(X, np.column_stack([labelled, np.zeros(N)])))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predicted responses to the queries.

        Args:
            X: features, shape (N, L + 1, D). y: responses, shape (N, L + 1). sample_weight: shape (N,), or None.
        """
        predicted = self.predict(X, y)
        wanted = gate.responses(self.used_, y, len(predicted), (np.shape(X)[1],))[:, -1]
        return gate.r2(wanted, predicted, sample_weight)

    def receipt(self) -> guarantee.Receipt:
        """What was released under which guarantee, in words (``str``) and as JSON (``.json()``)."""
        check_is_fitted(self, "Gamma_")
        return replace(self.receipt_)

    def _check_arguments(self) -> None:
        """As scikit-learn does; a budget must be stated besides."""
        super()._check_arguments()
        approximate(self.epsilon, self.delta)

    def _begin(self, X: Any, y: Any) -> tuple[np.ndarray, ...]:
        """Check the arguments, forget an earlier fit and check the data: whatever fails leaves nothing released."""
        gate.begin(self, stacklevel=4)
        X = gate.prompts(self, X)
        y = gate.responses(self, y, len(X), (X.shape[1],))
        self.used_ = clone(self)
        return self._allowed(X, y)

    def _released(self, Gamma: np.ndarray, prompts: int, algorithm: str, proof: str) -> None:
        """The last step of a fit: what it releases, and the receipt."""
        done, profile = copy.copy(self), self.profile_
        done.Gamma_, done.n_prompts_, done.n_features_in_ = Gamma, prompts, len(Gamma)
        done.guarantee_ = guarantee.Guarantee(profile.claimed, profile.last_iterate, proof, guarantee.PROMPT)
        own = set(self.ALLOWED) - set(PromptRegressor.ALLOWED)
        done.receipt_ = guarantee.issue(done, tuple(sorted(own)), algorithm, prompts)
        self.__dict__.update(vars(done))  # at once: an interrupted fit has a receipt, or nothing that it released

    def _allowed(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Prompts as they are where all are finite, else with 0 for each that is not."""
        return records.voided(X, y) if self.not_finite == gate.VOID else (X, y)

    def __sklearn_tags__(self) -> Any:
        """With ``not_finite="void"`` data may hold NaN, and cells that are no numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = tags.input_tags.string = self.not_finite == gate.VOID
        return tags

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The answers to checked prompts, a response of 0 in the place of the query's: shape (N,)."""
        raise NotImplementedError


def scaled(values: np.ndarray, scale: float) -> np.ndarray:
    """Values over a public scale, cut at ±`FAR`: a map of single values, which costs no privacy."""
    with np.errstate(all="ignore"):
        return np.clip(values / float(scale), -FAR, FAR)


# ---- Prompt tuning ----

PENALTIES = tuple(np.geomspace(1e-6, 1e2, 49).tolist())
STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
FAILURE = 0.1  # κ in C and G
ROOM = 2.0  # of R over the norm of the matrix that is looked for


@dataclass(frozen=True)
class Given:
    """What the user has fixed; None for what is to be chosen. λ is the ridge penalty: the update has λ/2."""

    clip_norm: float | None = None
    feature_bound: float | None = None
    weight_bound: float | None = None
    penalty: float | None = None
    learning_rate: float | None = None
    steps: int | None = None


@functools.lru_cache(maxsize=256)
def tuned(model: PromptModel, N: int, budget: ApproximateDP, account: str, given: Given) -> Hyperparameters:
    """C, G, R, λ, η₀ and T with the least test error in closed form.

    Assumes, for accuracy alone: the law of the prompts, and Π_R idle.

    Args:
        model: D, L and τ of the scaled prompts. N: training prompts. budget: ε and δ.
        account: of `accounts.ACCOUNTS`, how the noise is calibrated. given: what is fixed.
    """
    penalties = PENALTIES if given.penalty is None else (given.penalty,)
    steps = STEPS if given.steps is None else (given.steps,)
    candidates = [replace(hyper, steps=T) for hyper in (_at(model, N, given, lam) for lam in penalties) for T in steps]

    def excess(hyper: Hyperparameters) -> float:
        """The test error less that of answering 0."""
        std = accounts.noise_std(account, hyper, budget, N, hyper.steps)
        with np.errstate(over="raise", invalid="raise"):  # as an overflow of Python's own numbers does
            noise = dynamics.noise_risk(hyper, model, std, dynamics.curvature(model))
            return noise - float(dynamics.noiseless_gain(hyper, model, N, np.array(hyper.steps)))

    return min(candidates, key=excess)


def _at(model: PromptModel, N: int, given: Given, penalty: float) -> Hyperparameters:
    """All but T at a ridge penalty λ."""
    C = given.clip_norm or hyperparameters.clip_norm(model, N, FAILURE)
    # G of the proof of Theorem 4.1, for the C that is used
    share = hyperparameters.feature_bound_proof(model, N, FAILURE) / hyperparameters.clip_norm(model, N, FAILURE)
    G = given.feature_bound or min(C, C * share)
    expected = ROOM * math.sqrt(model.D) * population.ridge_scale(model, penalty)  # of the population's ridge solution
    R = given.weight_bound or min(hyperparameters.weight_bound_singular(C, penalty), expected)
    return Hyperparameters(C, G, R, penalty / 2, given.learning_rate or 1 / (penalty + G**2), 1)


_TUNED = ("clip_norm", "feature_bound", "weight_bound", "penalty", "learning_rate", "steps")
_UNIT = _validate.within(1 / UNITS, UNITS)
_RANGE = _validate.within(1e-10, 1e10)  # of a number on the stated scale


class NoisyHeadRegressor(PromptRegressor):
    r"""In-context linear regression with differential privacy: NoisyHead, Algorithm 1 of arXiv:2504.16000v2.

    A prompt is a small regression of its own: L labelled tokens and a query. From N prompts the estimator learns one
    matrix Γ, by noisy descent on the penalised square loss of the query's response; then it answers the query of a new
    prompt by ŷ = x_{L+1}ᵀ Γ m with the prompt's own context m = L⁻¹ Σ y_i x_i.

    Guarantee: (ε, δ)-differential privacy of ``Gamma_`` for replacing one whole prompt by any other, whether or not
    anything stated below about the data is true. By default only the last iterate is released, and the noise is
    calibrated to that: T steps that contract (`costofprivacy.privacy.last_iterate`).

    *Why the scales keep the sensitivity.* Each token is divided by the public ``feature_norm`` and shortened to norm 1
    where it is longer, each response divided by ``response_scale`` and clipped to [−C, C]: maps of single prompts,
    fixed before the data. So ‖x_{L+1}‖ ≤ 1 and, m shortened to G, ‖Z‖_F = ‖x_{L+1}‖‖m‖ ≤ G for *every* prompt, which
    is all that the bound 2η₀G(C + RG)/N on a step's sensitivity asks for; Π_R keeps ‖Γ‖_F ≤ R. The noise is larger by
    the share `privacy.sums.slack` (N, D²), which pays for the rounding of sums over N prompts.

    Assumes, for accuracy alone: the law of section 2 of the paper on the stated scale, tokens of norm 1 and responses
    of variance 1 + τ² and mean 0.

    Args:
        epsilon: ε in [10⁻⁸, 10⁶]. delta: δ in [10⁻³⁰⁰, 1), well below 1/N: from 1/N on ``fit`` warns. There is no
            default budget: ``fit`` refuses where one of them is left out.
        feature_norm: public; the norm of a token. response_scale: public; the standard deviation of a response. Both
            are in [10⁻⁵⁰, 10⁵⁰].
        label_noise: τ in [0, 10¹⁰], public; of the scaled responses.
        clip_norm, feature_bound, weight_bound: C, G and R. penalty: λ of the ridge problem to solve (the update has
            λ/2, so that it rests there). learning_rate: η₀. All are in [10⁻¹⁰, 10¹⁰]. steps: T. Each "auto" is chosen
            by the closed forms for the law of the prompts (`estimators.prompts`): no data are looked at.
        account: "last iterate", or "every iterate" where the iterates are to be released too.
        not_finite: what happens to a prompt with NaN or an infinity (`estimators.gate`). "refuse": ``fit`` raises
            ``ValueError``, as scikit-learn wants it; whether there is such a prompt is then not protected. "void": the
            prompt counts as one of zeros, so that the guarantee covers it. What is no number at all counts as NaN.
        random_state: None seeds from the operating system. **With a number the run can be repeated, and is a
            demonstration, no release**: whoever knows the number can subtract the noise, so ``fit`` warns. Generators
            are refused, because the estimator and its pickle would keep their state.

    Attributes:
        ``Gamma_``: shape (D, D), on the stated scale.
        ``hyperparameters_``: C, G, R, λ/2, η₀ and T of the run.
        ``noise_std_``: standard deviation of the noise in an entry of a step.
        ``profile_``: what is claimed and what is spent, a `costofprivacy.privacy.PrivacyProfile`.
        ``n_features_in_``: D. ``n_prompts_``: N.

    Raises:
        ValueError: in ``fit``, for data or arguments outside their range, as scikit-learn does. The message never
            quotes a value of the data.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number, ``delta`` is 0.1/N or more or ε above 20.

    Scikit-learn's ``check_estimator`` is about tables and cannot try prompts;
    ``tests/costofprivacy/estimators/conformance.py`` does.

    >>> from costofprivacy.noisyhead.prompts import PromptModel, sample
    >>> rng = np.random.default_rng(0)
    >>> train, test = (sample(PromptModel(D=2, L=30), N, rng=rng) for N in (50_000, 1000))
    >>> model = NoisyHeadRegressor(epsilon=1.0, delta=1e-6).fit(train.x, train.y)
    >>> print(round(model.score(test.x, test.y), 1), round(model.profile_.last_iterate.epsilon(1e-6), 6))
    1.0 1.0
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        **PromptRegressor.ALLOWED,
        "feature_norm": [_UNIT],
        "response_scale": [_UNIT],
        "label_noise": [_validate.within(0, 1e10)],
        **{name: [_validate.among((AUTO,)), _RANGE] for name in _TUNED[:-1]},
        "steps": [_validate.among((AUTO,)), _validate.integer(1)],
        "account": [_validate.among((accounts.LAST, accounts.EVERY))],
    }

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_norm: float = 1.0,
        response_scale: float = 1.0,
        label_noise: float = 0.0,
        clip_norm: float | str = "auto",
        feature_bound: float | str = "auto",
        weight_bound: float | str = "auto",
        penalty: float | str = "auto",
        learning_rate: float | str = "auto",
        steps: int | str = "auto",
        account: str = "last iterate",
        not_finite: str = "refuse",
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    def fit(self, X: Any, y: Any) -> "NoisyHeadRegressor":
        """Pretrain on N prompts.

        Args:
            X: features, shape (N, L + 1, D); the last token of a prompt is its query.
            y: responses, shape (N, L + 1); the last one is what the head learns to answer.

        Returns:
            The estimator, fitted.
        """
        X, y = self._begin(X, y)
        N, tokens, D = X.shape
        budget = approximate(self.epsilon, self.delta)
        gate.warn_of_use(budget, N)
        values = {name: None if getattr(self, name) == AUTO else getattr(self, name) for name in _TUNED}
        model = PromptModel(D, tokens - 1, float(self.label_noise))
        try:
            hyper = tuned(model, N, budget, self.account, Given(**values))
        except ArithmeticError:  # of public numbers
            given = {name: value for name, value in values.items() if value is not None}
            raise InvalidParameterError(f"no noise can be computed for {given}: too large or too small") from None
        std = accounts.noise_std(self.account, hyper, budget, N, hyper.steps) * (1 + sums.slack(N, D**2))
        spent = pretraining.profile(hyper, budget, N, std)
        account.charge(type(self).__name__, lambda: spent)
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            data = in_eigenbasis(self._moments(X, y, hyper))
            released = pretraining.release(data, hyper, std, rng=generator(self.random_state))
        self.hyperparameters_, self.noise_std_ = hyper, std
        self.profile_ = spent
        self._released(released, N, f"NoisyHead, {hyper.steps} steps", "costofprivacy.noisyhead.pretraining")
        return self

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        told = head.predict(self.Gamma_, self._statistics(X, y, self.hyperparameters_))
        return told * float(self.used_.response_scale)

    def _statistics(self, X: np.ndarray, y: np.ndarray, hyper: Hyperparameters) -> Statistics:
        """Clipped and projected statistics of scaled prompts."""
        x, responses = scaled(X, self.used_.feature_norm), scaled(y, self.used_.response_scale)
        x /= np.maximum(np.linalg.norm(x, axis=2, keepdims=True), 1.0)
        prompts = Prompts(x, responses, np.zeros((len(x), x.shape[2])))
        return head.project(head.statistics(prompts, hyper.clip_norm), hyper.feature_bound)

    def _moments(self, X: np.ndarray, y: np.ndarray, hyper: Hyperparameters) -> Moments:
        """Moments of all prompts, some prompts at a time, added in pairs (`privacy.sums`)."""

        def block(part: slice) -> np.ndarray:
            some = self._statistics(X[part], y[part], hyper)
            Z = some.Z.reshape(len(some.response), -1)
            return np.vstack([Z.T @ Z, some.response @ Z])

        both = sums.pairwise(block, len(X)) / len(X)
        return Moments(both[:-1], both[-1])


# ---- The private head ----

LAST, EVERY = "last", "every"
ANY, ISOTROPIC = "any", "isotropic"
_KNOWN = _validate.within(0, LARGEST)


class PrivateHeadRegressor(PromptRegressor):
    r"""In-context linear regression with differential privacy: noisy descent in privately whitened coordinates.

    A prompt is a small regression of its own: L labelled tokens and a query. From N prompts the estimator learns one
    matrix Γ; then it answers the query of a new prompt by ŷ = x_{L+1}ᵀ Γ m with the prompt's own context m = L⁻¹ Σ y_i
    x_i. Two second moments are released first, then a few steps in coordinates in which they are I
    (`noisyhead.whitened_descent`), so that features of any covariance are learnt alike. Where the tasks are known to be
    isotropic the features' covariance is all that there is to learn (`noisyhead.covariance_head`): one release, no
    response is looked at.

    Guarantee: (ε, δ)-differential privacy of ``Gamma_``, and of everything that the run releases on the way, for
    replacing one whole prompt by any other, whether or not anything stated below about the data is true. Each prompt's
    moments and gradient are clipped; it may be asked once or L + 1 times and is one record all the same. For
    ``tasks="isotropic"`` one Gaussian mechanism on the mean of the prompts' clipped token moments, with the whole
    budget.

    Assumes, for accuracy alone: features whose root mean square norm is about ``feature_norm``, responses whose root
    mean square is about ``response_scale``; for ``queries="every"`` tokens that are exchangeable given their prompt's
    task; for ``tasks="isotropic"`` that E wwᵀ is a multiple of I, w being a prompt's own coefficients. Where that is
    not so the head stays wrong, however many prompts there are.

    Args:
        epsilon: ε in [10⁻⁸, 10⁶]. delta: δ in [10⁻³⁰⁰, 1), well below 1/N: from 1/N on ``fit`` warns. There is no
            default budget: ``fit`` refuses where one of them is left out.
        feature_norm: public, in [10⁻⁵⁰, 10⁵⁰]; the root mean square norm of a token. A prompt with a feature beyond 10⁶
            of it counts as 0.
        response_scale: public, in [10⁻⁵⁰, 10⁵⁰]; the root mean square of a response, for which the same holds. It does
            not matter for ``tasks="isotropic"``.
        queries: "last" learns from the response to each prompt's last token and assumes nothing of the others;
            "every" asks each token once, the others being its context: more examples for the same privacy. It does
            not matter for ``tasks="isotropic"``.
        tasks: "any", or "isotropic" where that is known.
        spread: public; s in E‖x‖²xxᵀ = (tr Σ)Σ + sΣ², 2 for Gaussian features, 0 for features of constant norm.
        label_noise: public; τ in [0, 10³⁰], the standard deviation of the noise in responses over that of the rest.
            This and ``spread``, which is in the same range, are for ``tasks="isotropic"`` alone.
        steps: T; "auto" is `whitened_plan.STEPS`. Clip norms and gains follow from D, L, N, T and the budget
            (`whitened_plan.plan`): no data are looked at.
        not_finite, random_state: as for `NoisyHeadRegressor`.

    Attributes:
        ``Gamma_``: shape (D, D), on the stated scale of the features.
        ``plan_``: clip norms, gains and shares of the budget, a `noisyhead.whitened_plan.Plan`; none for
            ``tasks="isotropic"``.
        ``profile_``: what is claimed and what is spent, a `costofprivacy.privacy.PrivacyProfile`.
        ``n_features_in_``: D. ``n_prompts_``: N.

    Raises, Warns: as `NoisyHeadRegressor`.

    >>> from costofprivacy.noisyhead.token_laws import sample, unknown
    >>> rng = np.random.default_rng(0)
    >>> law = unknown(D=3, condition=10.0, rng=rng)
    >>> train, test = (sample(law, N, L=60, rng=rng) for N in (2000, 500))
    >>> model = PrivateHeadRegressor(epsilon=2.0, delta=1e-5, queries="every").fit(train.x, train.y)
    >>> print(round(model.score(test.x, test.y), 1), round(model.profile_.every_iterate.epsilon(1e-5), 6))
    0.9 2.0
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        **PromptRegressor.ALLOWED,
        "feature_norm": [_validate.within(1 / UNITS, UNITS)],
        "response_scale": [_validate.within(1 / UNITS, UNITS)],
        "queries": [_validate.among((LAST, EVERY))],
        "tasks": [_validate.among((ANY, ISOTROPIC))],
        "spread": [_KNOWN],
        "label_noise": [_KNOWN],
        "steps": [_validate.among((AUTO,)), _validate.integer(1)],
    }

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_norm: float = 1.0,
        response_scale: float = 1.0,
        queries: str = "last",
        tasks: str = "any",
        spread: float = GAUSSIAN,
        label_noise: float = 0.0,
        steps: int | str = "auto",
        not_finite: str = "refuse",
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    def fit(self, X: Any, y: Any) -> "PrivateHeadRegressor":
        """Pretrain on N prompts.

        Args:
            X: features, shape (N, L + 1, D); the last token of a prompt is its query.
            y: responses, shape (N, L + 1).

        Returns:
            The estimator, fitted.
        """
        X, y = self._begin(X, y)
        (N, tokens, D), budget = X.shape, approximate(self.epsilon, self.delta)
        gate.warn_of_use(budget, N)
        mu = budget.to_gaussian()
        account.charge(type(self).__name__, lambda: PrivacyProfile(budget, mu, mu))
        rng = generator(self.random_state)
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            x = scaled(X, self.feature_norm)
            if self.tasks == ISOTROPIC:  # Γ of the features' covariance alone
                algorithm, proof = "the prompts' second moment with noise", covariance_head.__name__
                moment, known = covariance_head.token_moment(x), (float(self.spread), float(self.label_noise))
                released = covariance_head.release(moment, N, tokens - 1, mu, *known, rng=rng)
                self.profile_ = PrivacyProfile(budget, mu, mu)
            else:
                algorithm, proof = "descent in privately whitened coordinates", whitened_descent.__name__
                every, steps = self.queries == EVERY, whitened_plan.STEPS if self.steps == AUTO else int(self.steps)
                told = whitened_plan.plan(D, tokens - 1, N, mu, every_token=every, steps=steps)
                data = examples(Prompts(x, scaled(y, self.response_scale), np.zeros((N, D))), every_token=every)
                released = whitened_descent.release(data, told, rng=rng)
                self.plan_, self.profile_ = told, whitened_descent.profile(told, budget)
        self._released(released, N, algorithm, proof)
        return self

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ŷ = xᵀΓm, linear in the responses: these are brought to at most 1 on the way."""
        x, size = scaled(X, self.used_.feature_norm), np.abs(y).max(axis=1)
        labels = np.divide(y, size[:, None], out=np.zeros_like(y), where=size[:, None] > 0)
        context = np.einsum("nl,nld->nd", labels[:, :-1], x[:, :-1]) / (x.shape[1] - 1)
        most = np.finfo(float).max
        with np.errstate(over="ignore"):
            answers = np.einsum("nd,nd->n", x[:, -1] @ self.Gamma_, context) * size
        return np.clip(answers, -most, most)
