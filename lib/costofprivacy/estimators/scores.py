r"""Private scores: how good a model is for people who were not asked, with noise and a stated cost.

A score on held-out records is a release of these records. `private_mean_loss` and `private_r2` release it with Gaussian
noise. They spend of the people who are scored: if nobody of them was in the fit, nobody spends both.

**Units.** With ``unit`` the losses of a unit are averaged first, and then the averages of the m units: each unit counts
once, however many records it has. So replacing a unit moves one of m terms, whatever it holds, and there is no need of
``most_per_unit``. *Proof.* An average of numbers in [0, B] is in [0, B], and depends on one unit alone. So
the m averages are m records of the mechanism without units. ∎

**A private R².** With the responses y clipped to public bounds [a, b] and centre c = (a + b)/2, three means are
released with μ/√3 each: of the losses min((ŷ − y)², B), of y − a, and of (y − c)². Then

.. math:: R^2 = 1 - \frac{\text{mean loss}}{\text{mean}(y - c)^2 - (\text{mean } y - c)^2}

is a function of the three. Together they are μ-Gaussian DP, by composition (arXiv:1905.02383, Corollary 3.3), and what
is made of them costs nothing. ∎ It can be below 0 or above 1. With the noise's standard deviations s of the three and v
the denominator, its standard error is to first order

.. math:: \frac1v \sqrt{s_1^2 + (1 - R^2)^2 \big(s_3^2 + 4 (\text{mean } y - c)^2 s_2^2\big)},

which is computed from what was released. s_1 = B√3/(nμ) and s_3 = ((b − a)/2)²√3/(nμ), so bounds wider than the
responses are make it large.

>>> rng = np.random.default_rng(0)
>>> y = rng.uniform(0, 10, 50_000)
>>> found = private_r2(y, y + rng.standard_normal(50_000), response_bounds=(0, 10), mu=0.5)
>>> print(round(found, 2), round(found.standard_error, 4), found.guarantee.gaussian)
0.88 0.0002 GaussianDP(mu=0.5)
"""

import math
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import account, gate, search_plans, units
from costofprivacy.estimators.guarantee import RECORD, Guarantee
from costofprivacy.estimators.scaling import LARGEST, SMALLEST, public_scale
from costofprivacy.privacy import GaussianDP, records


class PrivateScore(float):
    """A score that was released; ``guarantee`` says what it spends, and `spending.compose` adds it to a fit.

    ``standard_error`` is that of the noise, without the chance of who is scored.
    """

    guarantee: Guarantee
    standard_error: float


@gate.refusing_rho
def private_mean_loss(
    losses: Any,
    bound: float,
    *,
    mu: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: Any = None,
    noise: str = gate.FAST,
    random_state: int | None = None,
) -> PrivateScore:
    """The mean of losses, each clipped to [0, B], with Gaussian noise of standard deviation B/(nμ).

    Guarantee: μ-Gaussian DP for replacing one record, or with ``unit`` all records of one unit, whatever they hold.

    Args:
        losses: n losses, such as squared errors on held-out records; NaN counts as B.
        bound: B in [10⁻¹⁵⁰, 10¹⁵⁰], public.
        mu: μ in [10⁻³⁰, 10³⁰]; or epsilon, with delta: ε > 0 and δ in (0, 1), instead. There is no default budget.
        unit: whose loss each is, n identifiers; or None.
        noise: "fast", or "secure" for exact draws by OpenDP (`privacy.secure`), which must be installed.
        random_state: None to release; a number makes a demonstration that can be repeated, and no release.

    Returns:
        The noisy mean, which may be negative: a number that knows its guarantee.

    Raises:
        ValueError: if an argument is outside its range. AccountError: if it does not fit into an open account.

    Warns:
        PrivacyWarning: if ``random_state`` is a number, δ is 0.1/n or more, or ε above 20.

    >>> print(round(private_mean_loss(np.full(10_000, 3.0), 2.0, mu=5.0), 2))
    2.0
    """
    bound = _validate.between("bound", bound, records.NEAR, records.FAR)
    gate.refuse_column("losses", losses)
    values = records.numbers("losses", losses, (None,))
    asked = (mu, epsilon, delta), unit, noise, random_state
    (mean,), (error,), told = _means("private_mean_loss", [(values, bound)], *asked)
    return _told(mean, error, told)


@gate.refusing_rho
def private_r2(
    y: Any,
    predicted: Any,
    *,
    response_bounds: tuple[float, float],
    loss_bound: float | None = None,
    mu: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: Any = None,
    noise: str = gate.FAST,
    random_state: int | None = None,
) -> PrivateScore:
    """R² of predictions, from three private means (see the module's text).

    Guarantee: μ-Gaussian DP for replacing one record, or with ``unit`` all records of one unit, whatever they hold.

    Args:
        y: responses, shape (n,); a missing one counts with the largest error and beyond the bounds, so leave such
            records out if it may be known how many there are.
        predicted: predictions of a model that was fitted to others, shape (n,).
        response_bounds: public (low, high), to which responses are clipped: of size at most 10⁵⁰, and 10⁻⁵⁰ apart.
        loss_bound: B, public: squared errors are clipped to it; ((high − low)/2)² if left out. Less noise with less.
        mu, epsilon, delta, unit, noise, random_state: as for `private_mean_loss`.

    Returns:
        R²; NaN where the noisy variance of the responses is not positive.

    Raises:
        ValueError, AccountError: as there.

    Warns:
        PrivacyWarning: as there.
    """
    stated = public_scale("response", response_bounds, 0.0, 1.0)
    if stated.low is None or stated.high is None:
        raise ValueError(f"response_bounds must be a pair (low, high), got {response_bounds!r}")
    low, high = float(stated.low), float(stated.high)
    half = (high - low) / 2
    most = _validate.between("loss_bound", half**2 if loss_bound is None else loss_bound, records.NEAR, records.FAR)
    gate.refuse_column("y", y)
    gate.refuse_column("predicted", predicted)
    responses = records.numbers("y", y, (None,))
    guesses = records.numbers("predicted", predicted, (len(responses),))
    with np.errstate(all="ignore"):
        inside = np.clip(responses, low, high)
        means = [((inside - guesses) ** 2, most), (inside - low, 2 * half), ((inside - low - half) ** 2, half**2)]
    asked = (mu, epsilon, delta), unit, noise, random_state
    (loss, mean, square), errors, told = _means("private_r2", means, *asked)
    variance = square - (mean - half) ** 2
    if not variance > 0:
        return _told(math.nan, math.nan, told)
    below = math.hypot(errors[2], 2 * (mean - half) * errors[1])
    return _told(1 - loss / variance, math.hypot(errors[0], loss / variance * below) / variance, told)


def _means(
    name: str,
    parts: list[tuple[np.ndarray, float]],
    asked: tuple[float | None, ...],
    unit: Any,
    noise: str,
    random_state: Any,
) -> tuple[list[float], list[float], Guarantee]:
    """Noisy means of several numbers of each record, clipped to [0, B] each, their noise, and what they spend."""
    told = gate.budget(*asked)
    mu = _validate.between("mu", told.mu, SMALLEST, LARGEST)
    n = _validate.whole("the number of records", len(parts[0][0]))
    identified = units.identified(unit, None if unit is None else 1, n, void=None)
    related = RECORD if identified is None else identified.unit.neighbours
    size = n if identified is None else int(identified.unit.count or 1)
    gate.warn_of_use(told.claimed, size, stacklevel=5)
    promise = Guarantee(told.claimed, GaussianDP(mu), "costofprivacy.estimators.scores", related)
    rng, each = gate.generator(random_state, noise), GaussianDP(mu / math.sqrt(len(parts)))
    account.charge(name, lambda: promise)
    gate.warn_of_a_seed(random_state, 4)
    found = []
    for values, bound in parts:
        kept = np.clip(np.nan_to_num(values, nan=math.inf), 0.0, bound)
        if identified is not None:
            kept = np.bincount(identified.codes, kept / bound) / np.bincount(identified.codes) * bound
        found.append(search_plans.private_mean_loss(kept, bound, each, rng=rng))
    return found, [bound / (size * each.mu) for _, bound in parts], promise


def _told(value: float, error: float, promise: Guarantee) -> PrivateScore:
    score = PrivateScore(value)
    score.guarantee, score.standard_error = promise, error
    return score
