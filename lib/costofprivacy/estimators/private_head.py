"""The private head that works as an estimator: descent in privately whitened coordinates, on prompts of one's own."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from costofprivacy.estimators import gate
from costofprivacy.estimators.gate import generator
from costofprivacy.estimators.prompts import AUTO, PromptRegressor, scaled
from costofprivacy.estimators.scaling import LARGEST, UNITS
from costofprivacy.noisyhead import covariance_head, whitened_descent
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import GAUSSIAN
from costofprivacy.noisyhead.whitened_plan import STEPS, plan
from costofprivacy.privacy import ApproximateDP, PrivacyProfile, warn_if_delta_is_large

LAST, EVERY = "last", "every"
ANY, ISOTROPIC = "any", "isotropic"
_RANGE = gate.Range(Real, 0, LARGEST, closed="both")


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
        not_finite: what happens to a prompt with NaN or an infinity (`estimators.gate`). "refuse": ``fit`` raises
            ``ValueError``, as scikit-learn wants it; whether there is such a prompt is then not protected. "void": the
            prompt counts as one of zeros, so that the guarantee covers it. What is no number at all counts as NaN.
        random_state: None seeds from the operating system. **With a number the run can be repeated, and is a
            demonstration, no release**: whoever knows the number can subtract the noise, so ``fit`` warns. Generators
            are refused, because the estimator and its pickle would keep their state.

    Attributes:
        ``Gamma_``: shape (D, D), on the stated scale of the features.
        ``plan_``: clip norms, gains and shares of the budget, a `noisyhead.whitened_plan.Plan`; none for
            ``tasks="isotropic"``.
        ``profile_``: what is claimed and what is spent, a `costofprivacy.privacy.PrivacyProfile`.
        ``n_features_in_``: D. ``n_prompts_``: N.

    Raises:
        ValueError: in ``fit``, for data or arguments outside their range, as scikit-learn does. The message never
            quotes a value of the data.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number or ``delta`` is 1/N or more.

    Scikit-learn's ``check_estimator`` is about tables and cannot try prompts;
    ``tests/costofprivacy/estimators/conformance.py`` does.

    >>> from costofprivacy.noisyhead.token_laws import sample, unknown
    >>> rng = np.random.default_rng(0)
    >>> law = unknown(D=3, condition=10.0, rng=rng)
    >>> train, test = (sample(law, N, L=60, rng=rng) for N in (2000, 500))
    >>> model = PrivateHeadRegressor(epsilon=2.0, delta=1e-5, queries="every").fit(train.x, train.y)
    >>> print(round(model.score(test.x, test.y), 1), round(model.profile_.every_iterate.epsilon(1e-5), 6))
    0.9 2.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PromptRegressor._parameter_constraints,
        "feature_norm": [gate.Range(Real, 1 / UNITS, UNITS, closed="both")],
        "response_scale": [gate.Range(Real, 1 / UNITS, UNITS, closed="both")],
        "queries": [StrOptions({LAST, EVERY})],
        "tasks": [StrOptions({ANY, ISOTROPIC})],
        "spread": [_RANGE],
        "label_noise": [_RANGE],
        "steps": [StrOptions({AUTO}), gate.Range(Integral, 1, None, closed="left")],
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
        N = len(X)
        budget = self._budget
        warn_if_delta_is_large(budget.delta, N)
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            x = scaled(X, self.feature_norm)
            released = (
                self._of_tokens(x, budget)
                if self.tasks == ISOTROPIC
                else self._of_examples(x, scaled(y, self.response_scale), budget)
            )
        isotropic = self.tasks == ISOTROPIC
        algorithm = (
            "the prompts' second moment with noise" if isotropic else "descent in privately whitened coordinates"
        )
        self._released(released, N, algorithm, (covariance_head if isotropic else whitened_descent).__name__)
        return self

    def _of_examples(self, x: np.ndarray, y: np.ndarray, budget: ApproximateDP) -> np.ndarray:
        """Γ learnt from responses."""
        N, tokens, D = x.shape
        every, steps = self.queries == EVERY, STEPS if self.steps == AUTO else int(self.steps)
        told = plan(D, tokens - 1, N, budget.to_gaussian(), every_token=every, steps=steps)
        data = examples(Prompts(x, y, np.zeros((N, D))), every_token=every)
        released = whitened_descent.release(data, told, rng=generator(self.random_state))
        self.plan_, self.profile_ = told, whitened_descent.profile(told, budget)
        return released

    def _of_tokens(self, x: np.ndarray, budget: ApproximateDP) -> np.ndarray:
        """Γ of the features' covariance alone."""
        N, tokens, _ = x.shape
        mu, rng = budget.to_gaussian(), generator(self.random_state)
        moment, known = covariance_head.token_moment(x), (float(self.spread), float(self.label_noise))
        released = covariance_head.release(moment, N, tokens - 1, mu, *known, rng=rng)
        self.profile_ = PrivacyProfile(budget, mu, mu)
        return released

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ŷ = xᵀΓm, linear in the responses: these are brought to at most 1 on the way."""
        x, size = scaled(X, self.used_.feature_norm), np.abs(y).max(axis=1)
        labels = np.divide(y, size[:, None], out=np.zeros_like(y), where=size[:, None] > 0)
        context = np.einsum("nl,nld->nd", labels[:, :-1], x[:, :-1]) / (x.shape[1] - 1)
        most = np.finfo(float).max
        with np.errstate(over="ignore"):
            answers = np.einsum("nd,nd->n", x[:, -1] @ self.Gamma_, context) * size
        return np.clip(answers, -most, most)
