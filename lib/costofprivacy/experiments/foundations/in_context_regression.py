"""The head as a regression on Z, the terms that w₁₂ = 0 drops, and the best that a linear head can do."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from costofprivacy import _fits, _validate, figures
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, embed, sample
from costofprivacy.noisyhead.ridge import ridge

ROUNDING = 1e-12  # relative to the largest prediction
CONSISTENT = 4.0  # standard errors
IDENTITY_PROMPTS = 200


@dataclass(frozen=True)
class Cell:
    """One shape of prompts with everything a trial needs."""

    D: int
    L: int
    tau: float
    N: int
    test_prompts: int
    penalty: tuple[float, ...]

    @property
    def key(self) -> int:
        """(D, L) names the random stream."""
        return self.D * 1_000_000 + self.L

    @property
    def model(self) -> PromptModel:
        """The law of this cell's prompts."""
        return PromptModel(self.D, self.L, self.tau)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test error of the ridge-trained head for each penalty, on independent test prompts; shape (penalties,)."""
    train, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    test, _ = head.sample_statistics(cell.model, cell.test_prompts, rng=rng)
    seen = head.moments(train)
    residuals = [test.response - head.predict(ridge(seen, lam), test) for lam in cell.penalty]
    return np.mean(np.square(residuals), axis=1)


@dataclass(frozen=True)
class Experiment:
    """What a linear head can do on this task before privacy enters.

    Args:
        D: feature dimensions, each at least 1.
        L: prompt lengths, each at least 1.
        tau: standard deviation of the label noise, ≥ 0.
        N: training prompts, at least 1.
        penalty: ridge penalties λ > 0 to choose from.
        test_prompts: test prompts in each trial, at least 1.
        trials: at least 2.
        seed: root of all random streams, ≥ 0.
    """

    D: tuple[int, ...] = (2, 5, 10)
    L: tuple[int, ...] = (5, 10, 31, 63, 200)
    tau: float = 0.0
    N: int = 4000
    penalty: tuple[float, ...] = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0)
    test_prompts: int = 4000
    trials: int = 50
    seed: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "D", _validate.each(_validate.whole, "D", self.D))
        object.__setattr__(self, "L", _validate.each(_validate.whole, "L", self.L))
        object.__setattr__(self, "penalty", _validate.each(_validate.finite_positive, "penalty", self.penalty))
        _validate.nonnegative("tau", self.tau)
        _validate.whole("N", self.N)
        _validate.whole("test_prompts", self.test_prompts)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("seed", self.seed, at_least=0)

    @property
    def cells(self) -> list[Cell]:
        """One for each (D, L)."""
        return [Cell(D, L, self.tau, self.N, self.test_prompts, self.penalty) for D in self.D for L in self.L]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``identities``, ``dropped-terms`` and ``test-error``."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        return {
            "identities": pd.concat([identities(c, self.seed) for c in self.cells], ignore_index=True),
            "dropped-terms": pd.concat([dropped_terms(c, self.seed) for c in self.cells], ignore_index=True),
            "test-error": pd.concat([error_rows(c, v) for c, v in samples.items()], ignore_index=True),
        }


def random_head(D: int, rng: np.random.Generator) -> LinearAttentionHead:
    """A head with independent standard normal weights, every block included."""
    return LinearAttentionHead(rng.standard_normal((D + 1, D + 1)), rng.standard_normal((D + 1, D + 1)))


def without_cross_blocks(full: LinearAttentionHead) -> LinearAttentionHead:
    """The same head with w₂₁^PV = w₂₁^KQ = 0 (which the paper writes w₁₂)."""
    W_PV, W_KQ = full.W_PV.copy(), full.W_KQ.copy()
    W_PV[-1, :-1] = 0.0
    W_KQ[-1, :-1] = 0.0
    return LinearAttentionHead(W_PV, W_KQ)


def identities(cell: Cell, seed: int) -> pd.DataFrame:
    """Largest difference between the head (2.2) and each of its reductions, relative to the largest prediction."""
    rng = generator(seed, cell.key, 2**32)
    drawn = sample(cell.model, IDENTITY_PROMPTS, rng=rng)
    full = random_head(cell.D, rng)
    plain = without_cross_blocks(full)
    data = head.statistics(drawn)
    attention, reduced = _attention(drawn, full), _attention(drawn, plain)
    terms = head.bilinear_terms(drawn, full)
    w22, W11 = full.W_PV[-1, -1], full.W_KQ[:-1, :-1]
    candidates = {
        "(2.3), all weights": (_bilinear(drawn, full), attention),
        "(2.4), with W11 transposed": (np.sum(list(terms.values()), axis=0), attention),
        "(2.4), as printed": (_as_printed(drawn, full), attention),
        "(2.5), Γ = w22 W11 transposed": (head.predict(plain.Gamma, data), reduced),
        "(2.5), as printed": (head.predict(w22 * W11, data), reduced),
        "task + rank-one = ⟨Γ', Z⟩": (
            head.predict(w22 * W11.T + np.outer(full.W_KQ[-1, :-1], full.W_PV[-1, :-1]), data),
            terms["task"] + terms["rank-one"],
        ),
    }
    rows = [
        (name, cell.D, cell.L, IDENTITY_PROMPTS, np.abs(a - b).max() / np.abs(b).max())
        for name, (a, b) in candidates.items()
    ]
    return pd.DataFrame(rows, columns=["identity", "D", "L", "prompts", "relative_difference"])


def _attention(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    return head.predict_by_attention(embed(drawn), weights)


def _bilinear(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    """Right side of (2.3), matrix by matrix."""
    E = embed(drawn)
    left = weights.W_PV[-1] @ (E @ E.transpose(0, 2, 1)) / (E.shape[2] - 1)
    return np.einsum("nk,kd,nd->n", left, weights.W_KQ[:, :-1], drawn.x[:, -1])


def _as_printed(drawn: Prompts, weights: LinearAttentionHead) -> np.ndarray:
    """⟨x, Q⁽¹⁾ + Q⁽²⁾⟩/L as (2.4) prints it, W₁₁ without its transpose."""
    x, y, query = drawn.x, drawn.y[:, :-1], drawn.x[:, -1]
    v, u = weights.W_PV[-1, :-1], weights.W_KQ[-1, :-1]
    w22, W11 = weights.W_PV[-1, -1], weights.W_KQ[:-1, :-1]
    total = np.einsum("nl,nld->nd", y, x[:, :-1])
    first = w22 * total @ W11.T + w22 * (y**2).sum(axis=1)[:, None] * u
    second = np.einsum("nld,nl->nd", x, x @ v) @ W11.T + (total @ v)[:, None] * u
    return np.einsum("nd,nd->n", query, first + second) / y.shape[1]


def dropped_terms(cell: Cell, seed: int) -> pd.DataFrame:
    """What the terms even in y have in common with the response and with the terms odd in y.

    For a random head: the mean product of ``features`` + ``energy`` with y and with ``task`` + ``rank-one``, and the
    mean square, which is what keeping them would add to the test error.
    """
    rng = generator(seed, cell.key, 2**32 + 1)
    drawn = sample(cell.model, cell.test_prompts, rng=rng)
    terms = head.bilinear_terms(drawn, random_head(cell.D, rng))
    even, odd = terms["features"] + terms["energy"], terms["task"] + terms["rank-one"]
    products = {"even terms × y": even * drawn.y[:, -1], "even terms × odd terms": even * odd, "even terms²": even**2}
    rows = []
    for name, values in products.items():
        mean, error = _fits.mean_and_error(values)
        rows.append((name, cell.D, cell.L, float(mean), float(error), len(values)))
    return pd.DataFrame(rows, columns=["product", "D", "L", "mean", "standard_error", "prompts"])


def error_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Test error by penalty, with the population's ridge solution and the best head in closed form."""
    mean, error = _fits.mean_and_error(samples)
    rows = [
        (cell.D, cell.L, lam, m, e, len(samples), population.ridge_prediction_error(cell.model, lam))
        for lam, m, e in zip(cell.penalty, mean, error)
    ]
    columns = ["D", "L", "penalty", "test_error", "standard_error", "trials", "closed_form"]
    table = pd.DataFrame(rows, columns=columns)
    best = population.best_prediction_error(cell.model)
    return table.assign(best=best, response_variance=cell.model.response_variance)


# --------------------------------------------------------------------------------------------------- verdicts


def _worst(identities: pd.DataFrame, name: str) -> float:
    return float(identities.loc[identities["identity"] == name, "relative_difference"].max())


def judge_equation_23(identities: pd.DataFrame) -> Judgement:
    """(2.3): the last entry of the head's output is the bilinear form."""
    worst = _worst(identities, "(2.3), all weights")
    shapes = len(identities[["D", "L"]].drop_duplicates())
    evidence = f"largest relative difference over {shapes} shapes with random weights: {worst:.0e}"
    return Judgement(Verdict.HOLDS if worst < ROUNDING else Verdict.FAILS, evidence)


def _transposed(identities: pd.DataFrame, right: str, printed: str) -> Judgement:
    amended, as_printed = _worst(identities, right), _worst(identities, printed)
    if as_printed < ROUNDING:
        return Judgement(Verdict.HOLDS, f"largest relative difference as printed: {as_printed:.0e}")
    evidence = (
        f"the printed form is off by {as_printed:.2g} of the largest prediction, with W₁₁ transposed by {amended:.0e}"
    )
    return Judgement(Verdict.AMENDED if amended < ROUNDING else Verdict.FAILS, evidence)


def judge_equation_24(identities: pd.DataFrame) -> Judgement:
    """(2.4): the form multiplied out; W₁₁ wants a transpose."""
    return _transposed(identities, "(2.4), with W11 transposed", "(2.4), as printed")


def judge_equation_25(identities: pd.DataFrame) -> Judgement:
    """(2.5): ŷ = ⟨Γ, Z⟩; Γ = w₂₂ W₁₁ wants a transpose."""
    return _transposed(identities, "(2.5), Γ = w22 W11 transposed", "(2.5), as printed")


def judge_appendix_a1(dropped: pd.DataFrame, identities: pd.DataFrame) -> Judgement:
    """Appendix A.1: the dropped terms carry nothing."""
    products = dropped[dropped["product"] != "even terms²"]
    score = (products["mean"].abs() / products["standard_error"]).max()
    added = dropped.loc[dropped["product"] == "even terms²", "mean"].min()
    contained = _worst(identities, "task + rank-one = ⟨Γ', Z⟩")
    evidence = (
        "for random normal weights the two terms even in y are uncorrelated with y and with the rest (worst "
        f"{score:.1f} standard errors in "
        f"{len(products)} products) and would add at least {added:.2g} to the test error; the fourth term is "
        f"itself of the form ⟨Γ, Z⟩ (to {contained:.0e})"
    )
    allowed = max(CONSISTENT, float(np.sqrt(2 * np.log(100 * len(products)))))
    fine = score < allowed and added > 0 and contained < ROUNDING
    return Judgement(Verdict.HOLDS if fine else Verdict.FAILS, evidence)


# ----------------------------------------------------------------------------------------------------- tables


def show_identities(identities: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of each identity over all shapes, for the page."""
    worst = identities.groupby("identity", sort=False)["relative_difference"].max()
    return worst.map("{:.1e}".format).to_frame("largest relative difference")


def show_dropped_terms(dropped: pd.DataFrame) -> pd.DataFrame:
    """Means of the products over all shapes, and their sizes in standard errors, for the page."""
    scored = dropped.assign(score=dropped["mean"] / dropped["standard_error"]).groupby("product", sort=False)
    shown = scored.agg(least_mean=("mean", "min"), largest_mean=("mean", "max"))
    return shown.join(scored.agg(least_score=("score", "min"), largest_score=("score", "max"))).round(3)


def show_tuned(table: pd.DataFrame) -> pd.DataFrame:
    """Test error with the best penalty for each shape beside the best linear head, for the page."""
    tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()].set_index(["D", "L"])
    return tuned[["penalty", "test_error", "standard_error", "best"]].round(5)


# ---------------------------------------------------------------------------------------------------- figures


def draw_prompt(drawn: Prompts, embedding: np.ndarray) -> Figure:
    """One prompt: responses along the task, and its embedding E."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4), width_ratios=(1, 1.5))
        along = drawn.x[0] @ drawn.w[0] / np.linalg.norm(drawn.w[0])
        left.plot(along[:-1], drawn.y[0, :-1], "o", label="labelled tokens")
        left.plot(along[-1], drawn.y[0, -1], "*", ms=12, label="query (its response is asked for)")
        left.set(xlabel=r"$\langle w, x\rangle/\|w\|$", ylabel="$y$")
        left.legend()
        limit = np.abs(embedding[0]).max()
        image = right.imshow(embedding[0], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        right.set(xlabel="token (the last is the query)", ylabel="row of $E$ (the last holds $y$)")
        right.grid(False)
        figure.colorbar(image, ax=right)
        return figure


def draw_test_error(table: pd.DataFrame) -> Figure:
    """Left: test error against λ at the largest L. Right: the best over λ against L, with the closed form."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        longest = table[table["L"] == table["L"].max()]
        tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()]
        for D, look in figures.looks(sorted(table["D"].unique())).items():
            rows = longest[longest["D"] == D].sort_values("penalty")
            figures.points(left, rows, "penalty", "test_error", label=f"D = {D}", ls="", **look)
            left.plot(rows["penalty"], rows["closed_form"], color=look["color"], lw=1)
            rows = tuned[tuned["D"] == D].sort_values("L")
            figures.points(right, rows, "L", "test_error", label=f"D = {D}", ls="", **look)
            right.plot(rows["L"], rows["best"], color=look["color"], lw=1)
        left.axhline(table["response_variance"].max(), color="0.35", ls="--", lw=1, label="Γ = 0")
        right.axhline(table["response_variance"].max(), color="0.35", ls="--", lw=1)
        figures.log_axes(left, r"$\lambda$", "test error")
        figures.log_axes(right, "$L$ (tokens in a prompt)", "")
        left.set_title(f"L = {table['L'].max()}: points simulated, lines in closed form")
        right.set_title("λ tuned; lines: the best linear head")
        figures.plain_ticks(right, table["L"].unique())
        left.legend()
        return figure
