r"""Private descent that clips each prompt's gradient, for any head.

.. math:: A^{t+1} = A^t - \eta\Big(\frac1N\sum_{k\le N}\mathrm{clip}_c\big(\nabla\ell_k(A^t)\big) + s\,\xi_t\Big),
          \qquad t = 0, \dots, T - 1.

*Guarantee.* Replace one prompt by any other: the mean of clipped gradients moves by at most 2c/N (`sensitivity`), at
every A, whatever the loss is. So T steps with noise s are √T·2c/(Ns)-GDP together, all iterates released
(`costofprivacy.privacy.every_iterate`), and so is all that is computed from them, their average among it. Nothing is
asked of the loss: neither convexity nor a bound on features, responses or weights. What a prompt may hold is settled by
`bounded`, prompt by prompt. Numbers that are public, weights at the start among them, are at most `LARGEST`: so far
gradients are clipped to rounding.

The account that pays for the last iterate alone (`costofprivacy.privacy.last_iterate`) needs steps that do not expand.
A gradient step on a loss that is not convex expands somewhere, and that account then allows no less noise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead import softmax
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.softmax import Contexts
from costofprivacy.privacy import ApproximateDP, exact_composed_noise_multiplier, sums
from costofprivacy.privacy.records import numbers

LARGEST = 1e30  # products of four numbers up to this, squared, stay within doubles
FASTEST, LOUDEST = 1e100, 1e100  # η and s: their product with a gradient stays within doubles


@dataclass(frozen=True, eq=False)
class Gradient:
    """The mean of N prompts' clipped gradients: a function of weights of shape (B, D, D), with what it is clipped at.

    Args:
        mean: the function. clip_norms: c of each of the B heads. N: how many prompts.
    """

    mean: Callable[[np.ndarray], np.ndarray]
    clip_norms: tuple[float, ...]
    N: int

    def __call__(self, A: np.ndarray) -> np.ndarray:
        """The means at weights A, shape (B, D, D)."""
        return self.mean(A)


@dataclass(frozen=True)
class Plan:
    """What a run is told, fixed before it sees a prompt.

    Args:
        steps: T ≥ 1. clip_norm: c in [1/`LARGEST`, ∞]. learning_rate: η in (0, `FASTEST`].
        noise_std: s in [0, `LOUDEST`], of an entry of the mean gradient. A run with s = 0, or with c = ∞, is for
            comparison: it is no release.

    Raises:
        ValueError: if an argument is outside its range.
    """

    steps: int
    clip_norm: float
    learning_rate: float
    noise_std: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "steps")
        _validate.keep(self, _validate.within(1 / LARGEST, math.inf, _validate.POSITIVE), "clip_norm")
        _validate.keep(self, _validate.within(0, FASTEST, _validate.FINITE_POSITIVE), "learning_rate")
        _validate.keep(self, _validate.within(0, LOUDEST, _validate.NONNEGATIVE), "noise_std")


@dataclass(frozen=True)
class Released:
    """What runs release: the last iterate, and the mean of the iterates in their second half; shapes (B, D, D)."""

    last: np.ndarray
    average: np.ndarray


def sensitivity(clip_norm: float, N: int) -> float:
    """2c/N: how far the mean of clipped gradients moves when one of N prompts is replaced by any other.

    Guarantee: for every pair of prompts, at all weights up to `LARGEST`, of a `Gradient` with this c and N; with
    rounding, times 1 + `costofprivacy.privacy.sums.slack` (N, D²), which a run adds to its noise.

    Raises:
        ValueError: if c is not in [1/`LARGEST`, `LOUDEST`], or N not a whole number of at least 1.
    """
    norm = _validate.between("clip_norm", _validate.finite_positive("clip_norm", clip_norm), 1 / LARGEST, LOUDEST)
    return 2 * norm / _validate.whole("N", N)


def noise_std(budget: ApproximateDP, clip_norm: float, steps: int, N: int) -> float:
    """The least s by which all T iterates together are (ε, δ)-DP, exactly composed; replace one prompt.

    Guarantee: (ε, δ)-DP of all that a run of `descend` with this c, T and N shows.
    """
    return sensitivity(clip_norm, N) * exact_composed_noise_multiplier(budget, steps)


@np.errstate(all="ignore")
def bounded(prompts: Prompts) -> Prompts:
    """The prompts, all 0 where one holds a number that is not finite or beyond `LARGEST`; a map of single prompts.

    Guarantee: no number of x or y is beyond `LARGEST`, and what becomes of a prompt depends on it alone. A
    prompt of zeros has the gradient 0. The tasks w, which no learner sees, stay as they are.
    """
    sound = np.abs(prompts.x).max(axis=(1, 2), initial=0.0) <= LARGEST
    sound &= np.abs(prompts.y).max(axis=1, initial=0.0) <= LARGEST
    if sound.all():
        return prompts
    x, y = np.where(sound[:, None, None], prompts.x, 0.0), np.where(sound[:, None], prompts.y, 0.0)
    return Prompts(x, y, prompts.w)


@np.errstate(all="ignore")
def softmax_gradient_of(data: Contexts, scale: float, plans: Sequence[Plan]) -> Gradient:
    """The mean of the clipped gradients of ½(ŷ − t)² of softmax heads with the scale v, a head for each plan.

    Guarantee: replacing one prompt by any other moves it by at most 2c/N, c that of the plan. A prompt that holds a
    number that is not finite or beyond `LARGEST` is void.

    Raises:
        ValueError: if there is no prompt, a prompt has no labelled token, or |v| is beyond `LARGEST`.
    """
    parts = data.keys, data.responses, data.query, data.target
    sound = np.logical_and.reduce([np.abs(p).max(axis=tuple(range(1, p.ndim)), initial=0.0) <= LARGEST for p in parts])
    if not sound.all():
        data = Contexts(*(np.where(sound.reshape(-1, *[1] * (p.ndim - 1)), p, 0.0) for p in parts))
    _check_sizes(data.keys.shape[0], data.keys.shape[1])
    clip, scales = _clips(plans), np.full(len(plans), _validate.between("scale", scale, -LARGEST, LARGEST))
    return Gradient(lambda A: softmax.mean_gradient(A, scales, data, clip), tuple(clip.tolist()), len(data.target))


def _check_sizes(N: int, L: int) -> None:
    N = _validate.whole("number of prompts", N)
    L = _validate.whole("number of labelled tokens", L)


@np.errstate(all="ignore")
def linear_gradient(prompts: Prompts, plans: Sequence[Plan]) -> Gradient:
    """The mean of the clipped gradients (⟨Γ, Z⟩ − t)Z of linear heads, a head for each plan.

    Guarantee: replacing one prompt by any other moves it by at most 2c/N, c that of the plan.

    Raises:
        ValueError: if there is no prompt, or a prompt has no labelled token.
    """
    _check_sizes(len(prompts.y), prompts.y.shape[1] - 1)
    sound, clip = bounded(prompts), _clips(plans)
    context = np.einsum("nl,nld->nd", sound.y[:, :-1], sound.x[:, :-1], optimize=True) / (sound.x.shape[1] - 1)
    query, target = sound.x[:, -1], sound.y[:, -1]
    N, D = query.shape
    Z = (query[:, :, None] * context[:, None]).reshape(N, -1)
    norm = np.linalg.norm(query, axis=1) * np.linalg.norm(context, axis=1)

    @np.errstate(all="ignore")
    def gradient(Gamma: np.ndarray) -> np.ndarray:
        residual = Gamma.reshape(len(Gamma), -1) @ Z.T - target
        residual *= softmax.kept(clip[:, None], np.abs(residual) * norm)
        total = sums.pairwise(lambda rows: residual[:, rows] @ Z[rows], N)
        return (total / N).reshape(-1, D, D)

    return Gradient(gradient, tuple(clip.tolist()), N)


def descend(gradient: Gradient, initial: np.ndarray, plans: Sequence[Plan], *, rng: np.random.Generator) -> Released:
    """Run plans of one length side by side, with the same noise directions: each alone has the law of the algorithm.

    Guarantee: a plan's run is √T·2c/(Ns)-Gaussian DP, all iterates released, for replacing one prompt by any other.
    (One draw of noise serves all plans: of several, one may be released.) Gradients that were clipped at another c are
    refused. A plan's noise is made larger by the factor 1 + `costofprivacy.privacy.sums.slack` (N, D²), which pays for
    the rounding of a mean. A plan with s = 0 has no guarantee.

    Args:
        gradient: mean clipped gradients, of shape (B, D, D) for weights of that shape, from a function above.
        initial: A⁰ of each plan, shape (B, D, D), chosen without the prompts. plans: B of them, with one T.
        rng: source of the noise; advanced by T·D² normals.

    Raises:
        ValueError: if the plans differ in T, the shapes disagree, ``gradient`` was not made with the clip norms of the
            plans, or ``initial`` is not within `LARGEST`.
    """
    return _run(gradient, initial, plans, lambda: rng.standard_normal(np.shape(initial)[1:]))


def descend_apart(
    gradient: Gradient, initial: np.ndarray, plans: Sequence[Plan], *, rng: np.random.Generator
) -> Released:
    """`descend` with noise of its own for every plan: independent runs, as an audit wants them.

    Guarantee: that of `descend` for each plan; together they spend the root of the sum of squares.
    """
    return _run(gradient, initial, plans, lambda: rng.standard_normal(np.shape(initial)))


def _run(gradient: Gradient, initial: np.ndarray, plans: Sequence[Plan], draw: Callable[[], np.ndarray]) -> Released:
    T = {plan.steps for plan in plans}
    if len(T) != 1:
        raise ValueError(f"plans must have one number of steps, got {sorted(T)}")
    initial = numbers("initial", initial, (len(plans), None, None))
    told = tuple(plan.clip_norm for plan in plans)
    if not isinstance(gradient, Gradient) or gradient.clip_norms != told:
        raise ValueError("gradient must be clipped at the norms of the plans, by a function of this module")
    if not np.abs(initial).max(initial=0.0) <= LARGEST:
        raise ValueError(f"initial must be finite and at most {LARGEST:g}")
    steps = T.pop()
    rate = np.array([plan.learning_rate for plan in plans])[:, None, None]
    std = np.array([plan.noise_std for plan in plans])[:, None, None]
    std *= 1 + sums.slack(gradient.N, initial[0].size)
    A, total, first = initial, np.zeros(initial.shape), steps // 2
    for t in range(steps):
        A = A - rate * (gradient(A) + std * draw())
        if t >= first:
            total += A
    return Released(A, total / (steps - first))


def _clips(plans: Sequence[Plan]) -> np.ndarray:
    return np.array([plan.clip_norm for plan in plans])
