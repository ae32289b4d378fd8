r"""The other private regressions of the library on the campaign's own records, beside the best of its four methods.

Each method of `METHODS` gets what the four get: the records of `campaign.trial`, draw by draw, on the stated scale with
a column of ones for the intercept, and the same public numbers. Its settings come from these numbers alone. They are
those of the ``plan`` of its module, or the choices of the older comparison (`rivals.choices`), with

* **bounds** where a method asks for them: B keeps `KEPT` of the second moment of Gaussian features, as for boosted
  AdaSSP among the four, and Y is `TALL` standard deviations of the response;
* **signal and noise**: E(xᵀθ*)² is the stated R² and ζ² = 1 − R², for a response of variance 1;
* **descents cut short**: `shrinking_clip` takes 0.05 μ²n²/d² rounds, which is up to a million here. Where these are
  more than `MOST_ROUNDS`, it is planned as for as many records as make so many rounds. `checkpoint_descent` takes at
  most `MOST_STEPS` steps, releases no diagnostics, and is planned for least squares on the records.

**The cells**, fixed before any result was seen: all of the campaign up to `LARGEST` records and `WIDEST` features, at
its four budgets, with the first `SEEDS` data sets of the same streams; and MNIST with the fewest records, with the
first `FEW`, because its 784 features make it the dearest of all. The whole takes about a quarter of an hour on a core.
Noise comes from a stream of its own for each method, so that no method's numbers depend on which others there are.

**What cannot run** is NaN, with a reason that follows from public numbers (`reason`). What diverges is cut at `FAR`
times the variance of the response.

**Pairs.** `measure` runs the four on the same data sets too, which costs nothing where the campaign's blocks are kept.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from chapters.privacy.best_method import campaign, data
from chapters.privacy.rivals import choices
from chapters.privacy.rivals.choices import Public
from companion import _fits
from companion.streams import Runner
from costofprivacy import datasets
from costofprivacy.estimators import expected, scaling
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import (
    adaptive_clipping,
    batch_descent,
    checkpoint_descent,
    correlated_noise,
    gaussian_mixing,
    hessian_mixing,
    objective_perturbation,
    output_perturbation,
    robust_clipping,
    shrinking_clip,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds

LARGEST, WIDEST = 20_640, 100
SEEDS, FEW = 20, 10
IMAGES = (datasets.MNIST, 2000)
KEPT, TALL = 0.95, 3.0
MOST_ROUNDS, MOST_STEPS = 300, 300
FAR = 1e6
Run = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def public(cell: campaign.Cell, epsilon: float) -> Public:
    """What every method is told, on the scale where features and response have variance 1; d counts the intercept."""
    r2, d = data.planned(cell.data, cell.d)["expected_r2"], cell.d + 1
    bound = expected.feature_bound(d, KEPT)
    return Public(cell.n, d, ApproximateDP(epsilon, cell.delta), bound, TALL, math.sqrt(1 - r2), r2 / 2)


def _bounds(told: Public) -> Bounds:
    return Bounds(told.features, told.response)


def _guesses(told: Public) -> tuple[int, int, float, float]:
    return told.n, told.d, 2 * told.initial_risk, told.label_noise**2


def _radius(told: Public) -> float:
    """‖θ*‖ for features with second moment I."""
    return math.sqrt(2 * told.initial_risk)


def _objective(told: Public) -> Run:
    """Objective perturbation without a pilot."""
    c, share = choices.objective_perturbation_choice(told)
    clip_norm = told.clip_norm(c)
    added = objective_perturbation.calibrate(told.budget, share, clip_norm, told.features)
    return lambda x, y, rng: objective_perturbation.release(x, y, clip_norm, added, rng=rng)


def _output(told: Public) -> Run:
    c, penalty = choices.output_perturbation(told)
    gaussian = told.budget.to_gaussian()
    return lambda x, y, rng: output_perturbation.release(x, y, told.clip_norm(c), penalty, gaussian, rng=rng)


def _adassp(told: Public) -> Run:
    bounds, gaussian = _bounds(told), told.budget.to_gaussian()

    def run(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        moments = sufficient_statistics.moments(x, y, bounds)
        return sufficient_statistics.release(moments, bounds, gaussian, rng=rng)

    return run


def _tukey(told: Public) -> Run:
    return lambda x, y, rng: tukey.fit(x, y, choices.models(told), told.budget, rng=rng)


def _sampled(told: Public) -> Run:
    """DP-SGD on Poisson samples of a tenth."""
    chosen, q = choices.sampled(told), choices.SAMPLING
    noise = batch_descent.noise_multiplier(told.budget, q, len(chosen.rates))
    clip_norm = told.clip_norm(chosen.clip)
    return lambda x, y, rng: batch_descent.release(x, y, clip_norm, chosen.rates, noise, q, rng=rng)


def _shrinking(told: Public) -> Run:
    gaussian = told.budget.to_gaussian()
    most = int(told.d * math.sqrt(MOST_ROUNDS / shrinking_clip.ROUNDS) / gaussian.mu)
    n = max(1, min(told.n, most))
    plan = shrinking_clip.plan(n, told.d, _radius(told), told.label_noise, gaussian)
    return lambda x, y, rng: shrinking_clip.release(x, y, plan, rng=rng)


def _checkpoint(told: Public) -> Run:
    plan = checkpoint_descent.plan(
        told.n,
        told.d,
        told.budget.to_gaussian(),
        told.label_noise,
        signal=_radius(told),
        of="empirical",
        share=0.0,
        most_steps=MOST_STEPS,
    )
    return lambda x, y, rng: checkpoint_descent.release(x, y, plan, rng=rng).mean(plan)


def _adaptive(told: Public) -> Run:
    plan = adaptive_clipping.plan(*_guesses(told), told.budget.to_gaussian())
    return lambda x, y, rng: adaptive_clipping.release(x, y, plan, rng=rng)


def _robust(told: Public) -> Run:
    plan = robust_clipping.plan(*_guesses(told), told.budget.to_gaussian())
    return lambda x, y, rng: robust_clipping.release(x, y, plan, rng=rng)


def _correlated(told: Public) -> Run:
    """The pass is over a random order, which the proof admits: real records could come sorted."""
    plan = correlated_noise.plan(*_guesses(told), told.budget.to_gaussian())

    def run(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        order = rng.permutation(len(y))
        return correlated_noise.release(x[order], y[order], plan, rng=rng)

    return run


def _mixing(told: Public) -> Run:
    plan = gaussian_mixing.plan(told.n, told.d, _bounds(told), _radius(told), told.label_noise, told.budget)
    return lambda x, y, rng: gaussian_mixing.release(x, y, plan, rng=rng)


def _hessian(told: Public) -> Run:
    plan = hessian_mixing.plan(told.n, told.d, _bounds(told), _radius(told), told.label_noise, told.budget)
    return lambda x, y, rng: hessian_mixing.release(x, y, plan, rng=rng)


TUKEY = "TukeyEM"
METHODS: dict[str, Callable[[Public], Run]] = {
    "objective perturbation, no pilot": _objective,
    "output perturbation": _output,
    "AdaSSP": _adassp,
    TUKEY: _tukey,
    "DP-SGD, samples of a tenth": _sampled,
    "shrinking clip": _shrinking,
    "checkpoint descent": _checkpoint,
    "adaptive clipping": _adaptive,
    "robust clipping": _robust,
    "correlated noise (DP-FTRL)": _correlated,
    "Gaussian mixing": _mixing,
    "Hessian mixing": _hessian,
}


def reason(name: str, told: Public) -> str:
    """Why a method cannot run; empty where it can."""
    if name == TUKEY:
        parts = choices.models(told)
        if parts < tukey.LEAST_MODELS or parts // 4 - 1 <= tukey.count_threshold(told.budget):
            return "too few records for its test to pass"
    return ""


@functools.lru_cache(maxsize=1024)
def prepared(name: str, told: Public) -> Run:
    """A method with its settings, which depend on nothing but what is public."""
    return METHODS[name](told)


def cells() -> list[campaign.Cell]:
    """The campaign's cells in which the methods run."""
    return [
        cell for cell in campaign.cells() if (cell.n <= LARGEST and cell.d <= WIDEST) or (cell.data, cell.n) == IMAGES
    ]


def trial(cell: campaign.Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Excess error of each of `METHODS` over least squares on the records of `campaign.trial`: (budgets, methods)."""
    records = data.draw(cell.data, cell.n, cell.d, rng=rng)
    floor = campaign.mean_square(records, campaign.least_squares(records.X, records.y))
    most, streams = FAR * float(records.y.var()), rng.spawn(len(METHODS))
    found = np.full((len(cell.epsilon), len(METHODS)), math.nan)
    for k, epsilon in enumerate(cell.epsilon):
        told = public(cell, epsilon)
        for m, name in enumerate(METHODS):
            if not reason(name, told):
                theta = fit(name, records, told, streams[m])
                with np.errstate(over="ignore", invalid="ignore"):
                    found[k, m] = min(campaign.mean_square(records, theta) - floor, most)
    return found


def fit(name: str, records: data.Records, told: Public, rng: np.random.Generator) -> np.ndarray:
    """Coefficients and intercept of a private fit in the units of the data, shape (d + 1,)."""
    features, response = scales(records)
    x = np.column_stack([features.apply(records.X), np.ones(len(records.y))])
    theta = prepared(name, told)(x, response.apply(records.y), rng)
    slopes = response.scale * theta[:-1] / features.scale
    with np.errstate(over="ignore", invalid="ignore"):
        return np.append(slopes, response.center + response.scale * theta[-1] - np.sum(slopes * features.center))


def scales(records: data.Records) -> tuple[scaling.Scale, scaling.Scale]:
    """The stated scale of the features and of the response, as `estimators.tabular` takes it."""

    def scale(part: str, d: int | None) -> scaling.Scale:
        bounds, center, unit = (records.public.get(f"{part}_{word}") for word in ("bounds", "center", "scale"))
        return scaling.stated_scale(part, bounds, center, unit, d)

    return scale("feature", records.X.shape[1]), scale("response", None)


def measure(asked: Sequence[campaign.Cell], many: int, few: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The table ``rivals``, with ``many`` data sets up to `WIDEST` features, ``few`` above; seed: the campaign's."""
    own: dict[campaign.Cell, np.ndarray] = {}
    four: dict[campaign.Cell, np.ndarray] = {}
    for trials, part in (
        (many, [cell for cell in asked if cell.d <= WIDEST]),
        (few, [cell for cell in asked if cell.d > WIDEST]),
    ):
        if part:
            own |= runner.run(trial, part, trials, seed)
            four |= runner.run(campaign.trial, part, trials, seed)
    return pd.DataFrame([row for cell in asked for row in _rows(cell, own[cell], four[cell])])


def _rows(cell: campaign.Cell, own: np.ndarray, four: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows of a cell.

    ``behind`` and ``choice_behind`` are by how much a method, and the one that is chosen from public numbers, are above
    the best of the four, ``lead`` by how much a method is below the chosen one, data set by data set.
    """
    for k, epsilon in enumerate(cell.epsilon):
        excess, constant = four[:, k, :, 0], float(four[:, k, 0, campaign.VALUES.index("constant")].mean())
        leader, choice = int(excess.mean(axis=0).argmin()), campaign.choice(cell, epsilon)
        told = public(cell, epsilon)
        for m, name in enumerate(METHODS):
            row = {"data": cell.data, "n": cell.n, "d": cell.d, "epsilon": epsilon, "delta": cell.delta}
            row |= {"method": name, "trials": len(own)} | _mean("excess", own[:, k, m])
            row |= {"best": campaign.METHODS[campaign.NAMES[leader]], "best_excess": float(excess[:, leader].mean())}
            row |= _mean("behind", own[:, k, m] - excess[:, leader]) | {"constant": constant}
            row |= {"choice": campaign.METHODS[campaign.NAMES[choice]]}
            row |= {"choice_excess": float(excess[:, choice].mean())}
            row |= _mean("choice_behind", excess[:, choice] - excess[:, leader])
            row |= _mean("lead", excess[:, choice] - own[:, k, m])
            yield row | {"reason": reason(name, told)}


def _mean(name: str, values: np.ndarray) -> dict[str, float]:
    mean, error = _fits.mean_and_error(values)
    return {name: float(mean), f"{name}_error": float(error)}
