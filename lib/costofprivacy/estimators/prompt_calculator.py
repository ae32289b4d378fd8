r"""Which head to learn from prompts, and the test error that it is expected to have: the calculator for prompts.

The law of the prompts is that of `noisyhead.token_laws`: Gaussian features with E‖x‖² = 1 and eigenvalues λ_i in
geometric progression with condition number κ, directions that nobody knows, tasks w ~ N(0, I), no label noise. So a
response has variance 1, the error of always predicting 0. For two heads the error follows from `noisyhead.best_head`:

* of the best head Γ°, which without privacy many prompts lead to: b = 1 − Σ Lλ_i²/((L + 1)λ_i + 1);
* of the best head without data, gI: 1 − (tr Σ²)²/tr ΣK.

For the two heads of `PrivateHeadRegressor`, with queries="every" and with tasks="isotropic", it has three parts:

.. math:: b\,\Big(1 + \frac{c}{N}\Big) + (1 - b)\,q\Big(\frac{N\mu}{D^2}, \frac LD, \kappa, D\Big) .

**N and μ enter q by their product.** A head is a function of means over N prompts, of noise and of its public plan. The
noise of a mean of terms clipped to C has the standard deviation √2 C/(Nμ_s) or 2C/(Nμ_s), μ_s a fixed share of μ, and
clip norms and gains of `whitened_plan` are functions of D, L and Nμ. Given the means, the law of the head depends on N
and μ by Nμ alone. As N → ∞ at a fixed Nμ the means become expectations; what is left is q. Directions do not matter:
rotated prompts have rotated means, and all noise has the law of its rotation.

**What finite N adds**, to first order in 1/N and for long prompts. There Γ° = Σ⁻¹ and b = (D + 1)/L.

* *Covariance alone*: c = 1. The mean of n = N(L + 1) tokens is Σ^½(I + Z/√n)Σ^½ with E Z² = (D + 1)I for Gaussian
  features, so that Γ̂ − Γ° = Δ = −Σ^{-½}ZΣ^{-½}/√n. The excess of the quadratic test error is E tr(ΔᵀΣΔK) with K = Σ²,
  which is E tr(Z²Σ)/n = (D + 1)/n, about b/N.
* *Private head*: c = D + 2. In coordinates in which the Gram matrix is I, the mean of N gradients G̃ at the best head
  moves the head by itself: the excess is E‖G̃‖²/N. With x̃ = Σ^{-½}x, w̃ = Σ^½w and S̃ the prompt's second moment of x̃,
  G̃ = u m̂ᵀ for u = (S̃ − I)w̃ and ‖m̂‖ = ‖w‖. Given w, E‖u‖² = (D + 1)‖w̃‖²/L. So E‖G̃‖² = (D + 1)/L · E‖w‖² wᵀΣw =
  (D + 2)(D + 1)/L.

**q is measured once**, because clipping has no closed form: `nodes` runs both algorithms as they are on a large pool of
prompts, for which μ is chosen so that Nμ is the node's. `calculator.Table` interpolates y = log(q/(1.2 − q)), linear
along each axis. For the covariance alone q is known where noise is small and prompts are long: noise sW with s =
√2/(Nμ) and E W² = (D + 1)/2 I gives Δ = −sΣ⁻¹WΣ⁻¹, so that (1 − b)q = s² E tr Σ⁻¹W² = (D + 1) tr Σ⁻¹/(Nμ)², the share
L tr Σ⁻¹/(Nμ)² of b. A test compares.

**How good it is.** 40 settings, drawn at random from the stated ranges, were simulated with fresh prompts, and the
forecast was to be within 15 % or three standard errors of the mean test error in at least 90 % of them. It is in 39 for
the private head and in 40 for the covariance alone, half of them within 0.4 %; in 40 more at which noise decides, 0.1 ≤
Nμ/D² ≤ 10, it is in 39 and 40, half of them within 1.4 %. The two others have D = 2 and 3 and few prompts, where a few
fits are far worse than the rest; with 150 data sets or more the forecast is within 11 % there. Between the two ends of
the range lie 7 to 8 in 10 of the simulated fits.

``python -m costofprivacy.estimators.prompt_calculator`` measures the table anew: needed when one of the algorithms
changes, about a quarter of an hour on two cores.
"""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from costofprivacy import _validate
from costofprivacy.estimators import calculator
from costofprivacy.estimators.calculator import DELTA, Table, literal, to_y
from costofprivacy.estimators.prompts import ANY, ISOTROPIC
from costofprivacy.noisyhead import best_head, covariance_head, quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.privacy import ApproximateDP, GaussianDP

# ---- Table ----

FILE = "prompt_table.json"
PRIVATE, COVARIANCE, NO_DATA = "private head", "covariance alone", "head without data"
LEARNED = (PRIVATE, COVARIANCE)
STRENGTHS = (-1.5, *np.arange(-1, 1.6, 0.25).tolist(), 2.0, 3.0, 4.0)  # log₁₀ of Nμ/D²
LENGTHS = (1.0, 3.0, 10.0, 30.0)  # L/D
CONDITIONS = (1.0, 5.0, 50.0, 1000.0)  # κ
DIMENSIONS = {2: 400, 3: 88, 5: 32, 9: 9, 20: 6}  # D, and draws of the private head's noise: few where they agree
LEAST_PROMPTS, SHORTEST = 50, 5  # N/D and L from which on the formula is used
MOST_PROMPTS = 10**9
SEED, MOST_NUMBERS, FEWEST, MOST = 38, 600_000, 200, 3000  # of features, then of prompts, in a pool
ALONE = 300  # draws of the noise of the covariance alone


def axes() -> tuple[np.ndarray, ...]:
    """The nodes, in the coordinates of `coordinates`."""
    return np.array(STRENGTHS), np.log(LENGTHS), np.log(CONDITIONS), np.log(list(DIMENSIONS))


def coordinates(N: float, L: float, D: int, mu: float, condition: float) -> tuple[float, float, float, float]:
    """A question in the table's coordinates."""
    return math.log10(N * mu / D**2), math.log(L / D), math.log(condition), math.log(D)


def sampling(head: str, D: int) -> int:
    """c of the module's text: N prompts add c/N of the least error."""
    return D + 2 if head == PRIVATE else 1


def nodes(D: int, L: int, condition: float) -> np.ndarray:
    """y of both heads for each of `STRENGTHS`, and of the 90 % and 10 % points of a single fit's q: shape (2, …, 3)."""
    rng = np.random.default_rng((SEED, D, L, round(condition)))
    law = token_laws.gaussian(np.diag(token_laws.eigenvalues(D, condition)))
    N = min(max(MOST_NUMBERS // (D * L), FEWEST), MOST)
    data, _ = quadratic.drawn(law, N, L, rng=rng)
    moment, least = data.features(covariance_head.CLIP_NORM)[0], best_head.best_error(law, L)
    found = np.empty((len(LEARNED), len(STRENGTHS), 3))
    for k, strength in enumerate(STRENGTHS):
        mu = GaussianDP(10**strength * D**2 / N)
        plan = whitened_plan.plan(D, L, N, mu, every_token=True)
        noise = rng.standard_normal((DIMENSIONS[D], 2 + len(plan.gains), D, D))
        learned = whitened_descent.simulate(data, plan, noise)
        alone = [covariance_head.release(moment, N, L, mu, law.spread, rng=rng) for _ in range(ALONE)]
        for i, (name, heads) in enumerate(zip(LEARNED, (learned, np.stack(alone)), strict=True)):
            excess = best_head.head_error(law, L, heads) - least * (1 + sampling(name, D) / N)
            found[i, k] = to_y(np.array([excess.mean(), *np.quantile(excess, [0.9, 0.1])]) / (1 - least))
    return found


def made(jobs: int = 1) -> Table:
    """The table, measured anew by so many processes."""
    asked = list(itertools.product(LENGTHS, CONDITIONS, DIMENSIONS))
    sizes = [(D, round(ratio * D), condition) for ratio, condition, D in asked]
    found = np.array(joblib.Parallel(jobs, verbose=5)(joblib.delayed(nodes)(*size) for size in sizes))
    return Table(axes(), np.moveaxis(found, 0, 2).reshape(2, *map(len, axes()), 3), LEARNED)


# ---- What the calculator answers ----

BEST, ZERO = "best head without privacy", "always predicting 0"
_FIT = """\
from costofprivacy.estimators import PrivateHeadRegressor

public = {{"feature_norm": 1.0, "response_scale": 1.0}}  # root mean squares
budget = {{"epsilon": {epsilon}, "delta": {delta}}}
model = PrivateHeadRegressor(WAY, **budget, **public)
print(model.fit(X, y).receipt())"""
CODE = {
    NO_DATA: """\
# X: tokens of mean square norm 1, shape (N, L + 1, D); y: shape (N, L + 1)
context = (y[:, :-1, None] * X[:, :-1]).mean(axis=1)
predicted = {scale} * (X[:, -1] * context).sum(axis=1)""",
    PRIVATE: _FIT.replace("WAY", 'queries="every"'),
    COVARIANCE: _FIT.replace("WAY", 'tasks="isotropic"'),
}


@dataclass(frozen=True)
class HeadAnswer:
    """What the calculator says of prompts.

    Args:
        head: the one with the least expected error that needs no more than is known of the tasks. error: its test
            error, as a share of a response's variance. low, high: the 10 % and 90 % points of a single fit's, by its
            noise. without_privacy: the error of the best head. loss: ``error`` over that, less 1. useful: whether
            ``head`` learns from the prompts.
        epsilon, delta, mu, rho: the budget. code: the lines that fit the head. heads: ``error``, ``low``, ``high`` and
            ``loss`` of every head.
    """

    head: str
    error: float
    low: float
    high: float
    without_privacy: float
    loss: float
    useful: bool
    epsilon: float
    delta: float
    mu: float
    rho: float
    code: str
    heads: pd.DataFrame


def prompts(
    N: int,
    L: int,
    D: int,
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    delta: float = DELTA,
    condition: float = 10.0,
    tasks: str = ANY,
) -> HeadAnswer:
    """Which head to learn from N prompts, and its expected test error.

    Args:
        N: number of prompts, from 50 D to 10⁹. L: labelled tokens of a prompt, from D, and 5, to 30 D. D: features, in
            2 to 20. epsilon, rho, mu, delta: the budget, as for `calculator.answer`; a prompt is a record.
        condition: κ in [1, 1000], of the features' second moment. tasks: "any" or "isotropic", as for
            `PrivateHeadRegressor`: the covariance alone is answered only where tasks are known to be isotropic.

    Raises:
        ValueError: if an argument is outside its range, or not exactly one of ε, ρ and μ is given.

    >>> told = prompts(4000, 63, 5, epsilon=1.0, delta=1e-5, condition=10.0)
    >>> print(told.head, f"{told.without_privacy:.3f}")
    private head 0.083
    """
    D = int(_validate.between("D", _validate.whole("D", D), min(DIMENSIONS), max(DIMENSIONS)))
    L = int(_validate.between("L", _validate.whole("L", L), max(SHORTEST, D), round(LENGTHS[-1] * D)))
    N = int(_validate.between("N", _validate.whole("N", N), LEAST_PROMPTS * D, MOST_PROMPTS))
    condition = _validate.between("condition", condition, CONDITIONS[0], CONDITIONS[-1])
    _validate.one_of("tasks", tasks, (ANY, ISOTROPIC))
    delta = _validate.probability("delta", delta)
    eps = calculator.budget_epsilon(epsilon, rho, mu, delta)
    gaussian = ApproximateDP(eps, delta).to_gaussian().mu
    law = token_laws.gaussian(np.diag(token_laws.eigenvalues(D, condition)))
    least, scale = best_head.best_error(law, L), best_head.scale_without_data(law, L)
    none = float(best_head.head_error(law, L, scale * np.eye(D)))
    point = coordinates(N, L, D, gaussian, condition)
    r2 = calculator.read(FILE).look_up(dict.fromkeys(LEARNED, point), 1 - least)
    more = np.array([[least * sampling(name, D) / N] for name in LEARNED])
    errors = np.minimum(1 - r2[["r2", "high", "low"]].to_numpy() + more, 1.0)
    known = {NO_DATA: none, BEST: least, ZERO: 1.0}
    rows = dict(zip(LEARNED, errors, strict=True)) | {name: (value,) * 3 for name, value in known.items()}
    heads = pd.DataFrame(rows, index=["error", "low", "high"]).T.rename_axis("head")
    heads["loss"] = heads["error"] / least - 1
    head = str(heads["error"][[NO_DATA, PRIVATE, *[COVARIANCE] * (tasks == ISOTROPIC)]].idxmin())
    error, low, high, loss = map(float, heads.loc[head])
    code = CODE[head].format(epsilon=literal(eps), delta=literal(delta), scale=literal(scale))
    budget = (eps, delta, gaussian, gaussian**2 / 2)
    return HeadAnswer(head, error, low, high, least, loss, head != NO_DATA, *budget, code, heads)


if __name__ == "__main__":
    (Path(__file__).parent / FILE).write_text(made(joblib.cpu_count()).text() + "\n", "utf-8")
