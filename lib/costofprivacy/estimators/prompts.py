"""NoisyHead as an estimator: a linear attention head, privately pretrained on prompts."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from costofprivacy.estimators.budget import generator
from costofprivacy.estimators.prompt_regressor import AUTO, PromptRegressor, scaled
from costofprivacy.estimators.prompt_tuning import Given, tuned
from costofprivacy.estimators.scaling import UNITS
from costofprivacy.noisyhead import accounts, head, pretraining
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.privacy import sums, warn_if_delta_is_large

_TUNED = ("clip_norm", "feature_bound", "weight_bound", "penalty", "learning_rate", "steps")
_UNIT = Interval(Real, 1 / UNITS, UNITS, closed="both")
_RANGE = Interval(Real, 1e-10, 1e10, closed="both")  # of a number on the stated scale


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
            by the closed forms for the law of the prompts (`estimators.prompt_tuning`): no data are looked at.
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
        PrivacyWarning: in ``fit``, if ``random_state`` is a number or ``delta`` is 1/N or more.

    Scikit-learn's ``check_estimator`` is about tables and cannot try prompts;
    ``tests/costofprivacy/estimators/conformance.py`` does.

    >>> from costofprivacy.noisyhead.prompts import PromptModel, sample
    >>> rng = np.random.default_rng(0)
    >>> train, test = (sample(PromptModel(D=2, L=30), N, rng=rng) for N in (50_000, 1000))
    >>> model = NoisyHeadRegressor(epsilon=1.0, delta=1e-6).fit(train.x, train.y)
    >>> print(round(model.score(test.x, test.y), 1), round(model.profile_.last_iterate.epsilon(1e-6), 6))
    1.0 1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PromptRegressor._parameter_constraints,
        "feature_norm": [_UNIT],
        "response_scale": [_UNIT],
        "label_noise": [Interval(Real, 0, 1e10, closed="both")],
        **{name: [StrOptions({AUTO}), _RANGE] for name in _TUNED[:-1]},
        "steps": [StrOptions({AUTO}), Interval(Integral, 1, None, closed="left")],
        "account": [StrOptions({accounts.LAST, accounts.EVERY})],
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
        self.epsilon = epsilon
        self.delta = delta
        self.feature_norm = feature_norm
        self.response_scale = response_scale
        self.label_noise = label_noise
        self.clip_norm = clip_norm
        self.feature_bound = feature_bound
        self.weight_bound = weight_bound
        self.penalty = penalty
        self.learning_rate = learning_rate
        self.steps = steps
        self.account = account
        self.not_finite = not_finite
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> NoisyHeadRegressor:
        """Pretrain on N prompts.

        Args:
            X: features, shape (N, L + 1, D); the last token of a prompt is its query.
            y: responses, shape (N, L + 1); the last one is what the head learns to answer.

        Returns:
            The estimator, fitted.
        """
        X, y = self._begin(X, y)
        N, tokens, D = X.shape
        budget = self._budget
        warn_if_delta_is_large(budget.delta, N)
        values = {name: None if getattr(self, name) == AUTO else getattr(self, name) for name in _TUNED}
        model = PromptModel(D, tokens - 1, float(self.label_noise))
        try:
            hyper = tuned(model, N, budget, self.account, Given(**values))
        except ArithmeticError:  # of public numbers
            given = {name: value for name, value in values.items() if value is not None}
            raise InvalidParameterError(f"no noise can be computed for {given}: too large or too small") from None
        std = accounts.noise_std(self.account, hyper, budget, N, hyper.steps) * (1 + sums.slack(N, D**2))
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            data = in_eigenbasis(self._moments(X, y, hyper))
            released = pretraining.release(data, hyper, std, rng=generator(self.random_state))
        self.hyperparameters_, self.noise_std_ = hyper, std
        self.profile_ = pretraining.profile(hyper, budget, N, std)
        self._released(released, N, f"NoisyHead, {hyper.steps} steps", "costofprivacy.noisyhead.pretraining")
        return self

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return head.predict(self.Gamma_, self._statistics(X, y, self.hyperparameters_)) * self.used_.response_scale

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
