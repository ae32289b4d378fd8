"""Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from costofprivacy import _fits, _validate, figures
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead import _limits
from costofprivacy.experiments.noisyhead._low_dimension import noise_std, settings, square_model
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import bounds, head, hyperparameters, population, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

INITIAL_STD = 0.1  # of an entry of Γ⁰ behind the published numbers
PUBLISHED_TRIALS = 500  # of each published mean
CONSISTENT = 4.0  # combined standard errors within which two estimates agree
SQUARE = r"$N$, with $L = \lfloor\sqrt{N}\rfloor$"
POWER = 0.05  # within which an exponent at N = 1e30 is that power
IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    kappa: float
    penalty: float
    tau: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """L = ⌊√N⌋."""
        return square_model(self.D, self.N, self.tau)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return settings(self.model, self.N, self.kappa, self.penalty)

    @cached_property
    def columns(self) -> list[tuple[str, float, str]]:
        """(setting, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        per_setting = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent"), (np.nan, "zero")]
        return [(str(s), e, method) for s in Setting for e, method in (*per_setting, (np.nan, "ridge"))]

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        budgets = [ApproximateDP(e, self.delta) for e in self.epsilon]
        return {s: tuple(noise_std(s, hyper, b, self.N) for b in budgets) for s, hyper in self.hyper.items()}


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error."""
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    seen, truth = head.moments(raw), head.moments(test).gram
    reference = ridge(seen, cell.penalty)
    start = INITIAL_STD * rng.standard_normal((cell.D, cell.D))
    weights = []
    for setting, hyper in cell.hyper.items():
        data = head.moments(head.project(clipped, hyper.feature_bound))
        initial = start if setting == Setting.PUBLISHED else None
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=rng, initial=initial),
            pretraining.gradient_descent(seen, hyper, initial),
            np.zeros_like(reference),
            reference,
        ]
    Gamma = np.stack(weights)
    difference = (Gamma - reference).reshape(len(weights), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


@dataclass(frozen=True)
class Experiment:
    """Figure 1: excess risk of NoisyHead against N for several ε, at fixed dimension.

    Args:
        N: numbers of training prompts, each at least 4; L = ⌊√N⌋.
        D: feature dimension, at least 2.
        epsilon: privacy budgets ε > 0.
        delta: δ in (0, 1).
        kappa: κ in (0, 1].
        penalty: λ > 0.
        tau: standard deviation of the label noise, ≥ 0.
        trials: at least 2.
        test_prompts: test prompts in each trial, at least 1.
        seed: root of all random streams, ≥ 0.
    """

    N: tuple[int, ...] = (1000, 1500, 2000, 2500, 3000, 3500, 4000)
    D: int = 5
    epsilon: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)
    delta: float = 1e-5
    kappa: float = 1.0
    penalty: float = 5.0
    tau: float = 0.0
    trials: int = 500
    test_prompts: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "N", _validate.each(_validate.whole, "N", self.N, at_least=4))
        object.__setattr__(self, "epsilon", _validate.each(_validate.finite_positive, "epsilon", self.epsilon))
        _validate.whole("D", self.D, at_least=2)
        _validate.probability("delta", self.delta)
        _validate.between("kappa", _validate.positive("kappa", self.kappa), 0, 1)
        _validate.finite_positive("penalty", self.penalty)
        _validate.nonnegative("tau", self.tau)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("test_prompts", self.test_prompts)
        _validate.whole("seed", self.seed, at_least=0)
        for cell in self.cells:
            _check_budgets(cell)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        fixed = (self.D, self.epsilon, self.delta, self.kappa, self.penalty, self.tau, self.test_prompts)
        return [Cell(N, *fixed) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 1, test errors, the noise part, published numbers, conditions, floors and exponents, as tables."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        excess = _table(samples, 0, "excess_risk")
        excess = excess[excess["method"] != "ridge"].reset_index(drop=True)
        fixed = (self.D, self.penalty, self.tau)
        budget = ApproximateDP(max(self.epsilon), self.delta)
        floors = [_limits.minimiser_floors(*fixed), _limits.projection_floors(*fixed, self.kappa, runner, self.seed)]
        return {
            "figure-1": excess,
            "test-error": _with_best(_table(samples, 1, "test_error"), self),
            "noise-part": pd.concat([noise_rows(c, v[:, 0]) for c, v in samples.items()], ignore_index=True),
            "comparison": compare(excess, published() if self.is_published else published().head(0)),
            "conditions": pd.concat([condition_rows(c) for c in self.cells], ignore_index=True),
            "floors": pd.concat(floors, ignore_index=True),
            "exponents": _limits.exponents(*fixed, self.kappa, budget),
        }

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it, N and ε aside."""
        fixed = ("D", "delta", "kappa", "penalty", "tau", "test_prompts")
        return all(getattr(self, name) == getattr(Experiment, name) for name in fixed)


def _check_budgets(cell: Cell) -> None:
    """Refuse an ε for which the classical calibration of a single step is no bound (ε/T > 1)."""
    T = min(hyper.steps for hyper in cell.hyper.values())
    if max(cell.epsilon) > T:
        raise ValueError(f"epsilon must be at most T = {T} at N = {cell.N}, got {max(cell.epsilon)}")


def _table(samples: dict[Cell, np.ndarray], index: int, quantity: str) -> pd.DataFrame:
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = pd.DataFrame(cell.columns, columns=["setting", "epsilon", "method"])
        labels.insert(1, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


def _with_best(table: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    best = {c.N: population.best_prediction_error(c.model) for c in experiment.cells}
    return table.assign(best_linear_head=table["N"].map(best), response_variance=1 + experiment.tau**2)


def noise_rows(cell: Cell, excess: np.ndarray) -> pd.DataFrame:
    """Excess risk that the noise alone adds: trial by trial, NoisyHead's less its twin's, beside the closed form.

    The closed form, std² E‖m‖² Σ (1 − η₀(2λ + h))^{2t}, supposes that Π_R is idle; ``limit_of_R`` is the excess risk
    of weights on the sphere of radius R, where Π_R holds what the noise would carry further.
    """
    rows, columns = [], pd.DataFrame(cell.columns, columns=["setting", "epsilon", "method"])
    energy = population.context_energy(cell.model) / cell.D**2
    for setting, hyper in cell.hyper.items():
        own = columns["setting"] == setting
        twin = excess[:, np.flatnonzero(own & (columns["method"] == "gradient-descent"))[0]]
        private = np.flatnonzero(own & (columns["method"] == "noisyhead"))
        for i, epsilon, std in zip(private, cell.epsilon, cell.noise[setting], strict=True):
            mean, error = _fits.mean_and_error(excess[:, i] - twin)
            closed = bounds.noise_risk(hyper, cell.model, std, energy)
            limit = hyper.weight_bound**2 * energy
            rows.append((str(setting), cell.N, epsilon, mean, error, len(excess), closed, limit))
    names = ["setting", "N", "epsilon", "noise_risk", "standard_error", "trials", "closed_form", "limit_of_R"]
    return pd.DataFrame(rows, columns=names)


def condition_rows(cell: Cell) -> pd.DataFrame:
    """What Theorems 4.1 and 4.2 ask of the experiment: their probability, η₀'s interval, "low-dimensional"."""
    rows = [
        (
            str(setting),
            cell.N,
            cell.model.L,
            bounds.success_probability(cell.kappa),
            hyper.learning_rate / hyperparameters.learning_rate_interval(hyper.feature_bound, cell.penalty),
            cell.D**2,
            np.log(cell.N),
            np.log(cell.N * cell.model.L),
        )
        for setting, hyper in cell.hyper.items()
    ]
    names = ["setting", "N", "L", "probability", "eta0_over_limit", "D_squared", "log_N", "log_NL"]
    return pd.DataFrame(rows, columns=names)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 1: N, epsilon, method, excess_risk (means of 500 trials).

    From the authors' public results; MIT licence, 2025 chebyshevtech.
    """
    with (files("costofprivacy") / "reference" / "noisyhead-low-dimensional.csv").open() as stream:
        wide = pd.read_csv(stream)
    names = {"excess_risk_noisyhead": "noisyhead", "excess_risk_gd": "gradient-descent"}
    return wide.rename(columns=names).melt(["N", "epsilon"], list(names.values()), "method", "excess_risk")


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside theirs where both are: difference in combined standard errors, our spread a trial taken for theirs.

    Gradient descent has no ε here; its published values, one for each ε, are each compared.
    """
    private = table[table["method"] == "noisyhead"].merge(
        theirs, on=["N", "epsilon", "method"], suffixes=("", "_theirs")
    )
    plain = table[table["method"] == "gradient-descent"].drop(columns="epsilon")
    plain = plain.merge(theirs, on=["N", "method"], suffixes=("", "_theirs"))
    both = pd.concat([private, plain], ignore_index=True)
    combined = both["standard_error"] * np.sqrt(1 + both["trials"] / PUBLISHED_TRIALS)
    both["deviation"] = (both["excess_risk"] - both["excess_risk_theirs"]) / combined
    return both[
        ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]
    ]


# --------------------------------------------------------------------------------------------------- verdicts


def judge_figure_1(table: pd.DataFrame, comparison: pd.DataFrame, conditions: pd.DataFrame) -> Judgement:
    """Figure 1: does the risk fall with N and with ε, and do the printed settings give the published numbers?"""
    published_rows = table[table["setting"] == "published"]
    private = published_rows[published_rows["method"] == "noisyhead"]
    trivial = published_rows[published_rows["method"] == "zero"].set_index("N")["excess_risk"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    beside = f"the least excess risk is {least:.2g} times that of always answering 0"
    if comparison.empty and len(private) < 2:
        return Judgement(Verdict.UNTESTABLE, f"a single N and ε show no trend, and none is published; {beside}")
    if not _trend(private):
        return Judgement(
            Verdict.FAILS, f"the excess risk does not fall with N at each ε and with ε at each N; {beside}"
        )
    rises = _rises(private)
    agreement, matched, printed = _agreement(comparison)
    evidence = "; ".join(text for text in (agreement, rises, beside, _outside(conditions)) if text)
    if not matched:
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(Verdict.HOLDS if printed and not rises else Verdict.AMENDED, evidence)


def _outside(conditions: pd.DataFrame) -> str:
    """How far the experiment is outside Theorems 4.1 and 4.2, in words; empty if it is inside."""
    probability, eta0 = conditions["probability"].min(), conditions["eta0_over_limit"]
    if probability > 0 and eta0.max() <= 1:
        return ""
    return (
        f"Theorems 4.1 and 4.2 promise it nothing (probability {probability:g}; η₀ is {eta0.min():.2f} to "
        f"{eta0.max():.2f} times their limit)"
    )


def _agreement(comparison: pd.DataFrame) -> tuple[str, bool, bool]:
    """The comparison in words; whether the published settings match throughout; whether the printed ones do."""
    if comparison.empty:
        return "", True, True
    deviation = comparison["deviation"].abs()
    worst = deviation.groupby(comparison["setting"]).max()
    near = (deviation <= CONSISTENT).groupby(comparison["setting"]).sum()
    numbers = int((comparison["setting"] == "published").sum())
    text = (
        f"of {numbers} published numbers {near['published']} lie within {CONSISTENT:g} standard errors under the "
        f"settings behind them (worst {worst['published']:.1f}), {near['printed']} under the printed ones (worst "
        f"{worst['printed']:.0f}), whose G is smaller"
    )
    return text, near["published"] == numbers, near["printed"] == numbers


def _trend(private: pd.DataFrame) -> bool:
    """Whether the risk is lower at the last N than at the first for each ε, and falls with ε at each N."""
    sizes = [g.sort_values("N").iloc[[0, -1]] for _, g in private.groupby("epsilon") if len(g) > 1]
    budgets = [g.sort_values("epsilon").iloc[[0, -1]] for _, g in private.groupby("N") if len(g) > 1]
    return all(_change(pair)[0] < -CONSISTENT for pair in (*sizes, *budgets))


def _rises(private: pd.DataFrame) -> str:
    """The steps in N at which the risk rises by more than the allowed error, in words."""
    steps = []
    for epsilon, g in private.groupby("epsilon"):
        rows = g.sort_values("N")
        for i in np.flatnonzero(_change(rows) > CONSISTENT):
            pair = rows.iloc[[i, i + 1]]
            first, last = pair["excess_risk"]
            steps.append(
                f"ε = {epsilon:g} from {first:.2f} at N = {pair['N'].iloc[0]} to {last:.2f} at {pair['N'].iloc[1]}"
            )
    return "it rises, where Π_R holds the noise back, at " + ", ".join(steps) if steps else ""


def _change(rows: pd.DataFrame) -> np.ndarray:
    """Each step of the risk in combined standard errors."""
    risk, error = rows["excess_risk"].to_numpy(), rows["standard_error"].to_numpy()
    return np.diff(risk) / np.hypot(error[1:], error[:-1])


def idle_rows(noise: pd.DataFrame) -> pd.DataFrame:
    """The rows in which Π_R plays no part."""
    return noise[noise["closed_form"] < IDLE * noise["limit_of_R"]]


def slopes(noise: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent of the noise part in N by setting and ε, rows with an idle Π_R; empty for a single N.

    ``without_logs`` is the exponent that is left once the factor log¹⁰(NL) of (4.3) is divided out.
    """
    rows = []
    for (setting, epsilon), g in idle_rows(noise).groupby(["setting", "epsilon"], sort=False):
        if g["N"].nunique() > 1:
            exponent, error = _fits.power_law(g["N"], g["noise_risk"], g["standard_error"])
            logs = np.log(g["N"] * np.sqrt(g["N"]).astype(int)) ** 10
            bare, _ = _fits.power_law(g["N"], g["noise_risk"] / logs, g["standard_error"] / logs)
            rows.append((setting, epsilon, exponent, bare, error, len(g)))
    return pd.DataFrame(rows, columns=["setting", "epsilon", "exponent", "without_logs", "standard_error", "sizes"])


def _slope_text(noise: pd.DataFrame) -> str:
    fitted = slopes(noise)
    fitted = fitted[fitted["setting"] == "published"]
    if fitted.empty:
        return "a single N gives the noise part no slope here"
    best = fitted.loc[fitted["sizes"].idxmax()]
    return f"the noise part falls like N^({best['exponent']:.2f} ± {best['standard_error']:.2f}) here"


def judge_theorem_11_low(noise: pd.DataFrame, floors: pd.DataFrame, exponents: pd.DataFrame) -> Judgement:
    """Theorem 1.1, low dimension: N^{-3/2}L^{-2} up to logarithms, for the difference in prediction error."""
    last = exponents.groupby("algorithm", sort=False)["exponent"].last()
    claimed, bare, fixed = last[_limits.CLAIMED], last[_limits.OWN_LOGS], last[_limits.FIXED]
    rate = (
        f"{_slope_text(noise)}; with its logarithms divided out it falls like N^{bare:.2f} at N = 1e30 in closed form, "
        f"as claimed (N^{claimed:.1f})"
    )
    if abs(bare - claimed) > POWER:
        return Judgement(Verdict.FAILS, f"even the noise part alone falls like N^{bare:.2f}, not N^{claimed:.1f}")
    if not _projection_stays(floors):
        return Judgement(Verdict.HOLDS, rate)
    far = floors[floors["part"] == "projection"].sort_values("N").iloc[-1]
    return Judgement(
        Verdict.FAILS,
        f"{rate}; but that speed is bought by a G that falls to 0 while ‖Z‖ does not: Π_G costs "
        f"{far['test_error_gap']:.1e} ± {far['gap_error']:.0e} in prediction error at L = {far['L']:.0f}, "
        "growing with N; "
        f"with a G that leaves Z alone the noise part has the power {fixed:.2f}, logarithms included",
    )


def _projection_stays(floors: pd.DataFrame) -> bool:
    """Whether the bias of Π_G is beyond doubt at the largest N and has grown against the bound (4.3)."""
    rows = floors[floors["part"] == "projection"].sort_values("N")
    seen = rows[rows["floor"] > CONSISTENT * rows["standard_error"]]
    if seen.empty or seen["N"].iloc[-1] != rows["N"].iloc[-1]:
        return False
    return bool((seen["floor"] / seen["bound"]).is_monotonic_increasing)


def judge_theorem_42i(table: pd.DataFrame, floors: pd.DataFrame) -> Judgement:
    """Theorem 4.2(i): at ε = ∞ the bound (4.3) tends to 0 with N, for any constant; does the left side?"""
    plain = table[(table["setting"] == "published") & (table["method"] == "gradient-descent")].sort_values("N").iloc[-1]
    minimiser = floors[floors["part"] == "minimiser"].sort_values("N").iloc[-1]
    rests = plain["excess_risk"] > max(CONSISTENT * plain["standard_error"], 0.5 * minimiser["floor"])
    first = (
        f"without noise the excess risk rests at {plain['excess_risk']:.2e} (N = {plain['N']}; in closed form "
        f"{minimiser['floor']:.2e} as N → ∞), which λ/2 in the update cures, or Γ* read as the minimiser of the loss "
        "with 1/(2N)"
    )
    if _projection_stays(floors):
        far = floors[floors["part"] == "projection"].sort_values("N").iloc[-1]
        return Judgement(
            Verdict.FAILS,
            f"{first}; what stays is the bias of Π_G, {far['floor']:.2e} ± {far['standard_error']:.0e} at "
            f"L = {far['L']:.0f}, {far['floor'] / far['bound']:.0f} times (4.3) at ε = ∞ with constant one, "
            "growing towards "
            f"{far['zero_risk']:.2e}, the excess risk of answering 0, while (4.3) falls to 0",
        )
    if rests:
        return Judgement(Verdict.AMENDED, first)
    return Judgement(Verdict.HOLDS, "without noise the excess risk falls with the bound (4.3)")


# ----------------------------------------------------------------------------------------------------- tables


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    theirs = comparison[comparison["setting"] != "corrected"]
    sizes = theirs["deviation"].abs().groupby([theirs["setting"], theirs["method"]])
    summary = sizes.agg(numbers="count", mean="mean", largest="max").round(2)
    return summary.assign(beyond_4=sizes.agg(lambda size: int((size > CONSISTENT).sum())))


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """The conditions of the theorems at the first and the last N, for the page."""
    ends = conditions[conditions["N"].isin([conditions["N"].min(), conditions["N"].max()])]
    names = {
        "probability": "1 − 4κ",
        "eta0_over_limit": "η₀ / limit",
        "D_squared": "D²",
        "log_N": "log N",
        "log_NL": "log NL",
    }
    return ends.set_index(["N", "setting"])[list(names)].rename(columns=names).round(2)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε: NoisyHead by setting, its reference, Γ = 0, the best linear head."""
    rows = table[table["N"] == table["N"].max()]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows[rows["method"] == "noisyhead"]
    shown = dict(zip("NoisyHead, " + private["setting"], private["test_error"]))
    shown["gradient descent"] = _of(rows, "gradient-descent")
    shown["reference Γ*"] = _of(rows, "ridge")
    shown["Γ = 0"] = _of(rows, "zero")
    shown["best linear head"] = rows["best_linear_head"].iloc[0]
    errors = pd.Series(shown)
    predicted = 1 - errors / rows["response_variance"].iloc[0]
    return pd.DataFrame({"test error": errors, "share of Var(y) predicted": predicted}).round(5)


def _of(rows: pd.DataFrame, method: str) -> float:
    return rows.loc[(rows["method"] == method) & (rows["setting"] == "published"), "test_error"].iloc[0]


# ---------------------------------------------------------------------------------------------------- figures


def draw_figure_1(table: pd.DataFrame, comparison: pd.DataFrame) -> Figure:
    """Left: the published setting beside the authors' numbers. Right: all settings at the largest ε, and Γ = 0."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        private = table[table["method"] == "noisyhead"]
        mine = private[private["setting"] == "published"]
        for (epsilon, rows), look in zip(mine.groupby("epsilon"), figures.looks(mine["epsilon"].unique()).values()):
            figures.points(left, rows, "N", "excess_risk", label=f"ε = {epsilon:g}", **look)
        theirs = comparison[(comparison["setting"] == "published") & (comparison["method"] == "noisyhead")]
        left.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="authors'")
        _draw_settings(right, table, private["epsilon"].max())
        for axes in (left, right):
            figures.log_axes(axes, "$N$ (training prompts)", "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
        left.set_title("settings behind the published numbers")
        left.legend(ncols=2)
        return figure


def _draw_settings(axes: plt.Axes, table: pd.DataFrame, epsilon: float) -> None:
    names = [("noisyhead", s) for s in Setting] + [("zero", Setting.PUBLISHED), ("gradient-descent", Setting.PUBLISHED)]
    for (method, setting), look in zip(names, figures.looks(names).values()):
        rows = table[(table["method"] == method) & (table["setting"] == setting)]
        rows = rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()]
        label = {"noisyhead": f"NoisyHead, {setting}", "zero": "Γ = 0", "gradient-descent": "gradient descent"}[method]
        figures.points(axes, rows, "N", "excess_risk", label=label, **look)
    axes.set_title(f"all settings, ε = {epsilon:g}")
    axes.legend(fontsize=8)


def draw_test_error(table: pd.DataFrame) -> Figure:
    """Left: test error at the largest ε beside Γ = 0 and the best linear head. Right: share of Var(y) predicted."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        epsilon, sizes = table["epsilon"].max(), table.drop_duplicates("N").sort_values("N")
        names = [*(("noisyhead", s) for s in Setting), ("ridge", Setting.PUBLISHED)]
        for (method, setting), look in zip(names, figures.looks(names).values()):
            rows = table[(table["method"] == method) & (table["setting"] == setting)]
            rows = rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()]
            label = f"NoisyHead, {setting}" if method == "noisyhead" else "its reference Γ*"
            figures.points(left, rows, "N", "test_error", label=label, **look)
            if method == "ridge" or setting == Setting.CORRECTED:
                figures.points(right, _percent_predicted(rows), "N", "share", label=label, **look)
        left.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="Γ = 0")
        left.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best linear head")
        right.axhline(0, color="k", ls="--", lw=1, label="Γ = 0")
        figures.log_axes(left, "$N$ (training prompts)", "test error")
        right.set(xscale="log", xlabel="$N$ (training prompts)", ylabel="share of Var(y) predicted, %")
        for axes in (left, right):
            figures.plain_ticks(axes, table["N"].unique())
            axes.legend(fontsize=8)
        left.set_title(f"ε = {epsilon:g}")
        right.set_title("enlarged: the reference and the corrected algorithm")
        return figure


def _percent_predicted(rows: pd.DataFrame) -> pd.DataFrame:
    variance = rows["response_variance"]
    share, error = 100 * (1 - rows["test_error"] / variance), 100 * rows["standard_error"] / variance
    return rows.assign(share=share, standard_error=error)


def draw_exponents(exponents: pd.DataFrame, noise: pd.DataFrame) -> Figure:
    """Local exponent of the noise part in N, with the slopes fitted to the simulation."""
    with figures.style():
        figure, axes = plt.subplots()
        curves = exponents[exponents["algorithm"] != _limits.CLAIMED]
        for (name, rows), look in zip(
            curves.groupby("algorithm", sort=False), figures.looks(curves["algorithm"].unique()).values()
        ):
            axes.plot(rows["N"], rows["exponent"], label=name, markevery=3, **look)
        fitted = slopes(noise)
        for setting, rows in fitted[fitted["setting"] != "printed"].groupby("setting", sort=False):
            best = rows.loc[rows["sizes"].idxmax()]
            middle = np.sqrt(float(noise["N"].min()) * float(noise["N"].max()))
            label = f"simulated, {setting}, ε = {best['epsilon']:g}"
            axes.errorbar(middle, best["exponent"], 2 * best["standard_error"], fmt="k+", ms=12, capsize=3, label=label)
        claimed = exponents[exponents["algorithm"] == _limits.CLAIMED]
        axes.plot(claimed["N"], claimed["exponent"], "--", color="0.35", lw=1, label="claimed, Theorem 1.1")
        axes.set(xscale="log", xlabel=SQUARE, ylabel="local exponent of the noise part")
        axes.legend(fontsize=8)
        return figure


def draw_floors(floors: pd.DataFrame) -> Figure:
    """What is left without any noise, against the bound (4.3) at ε = ∞."""
    with figures.style():
        figure, axes = plt.subplots()
        labels = {"minimiser": r"descent rests at $\Gamma_{2\lambda}$", "projection": r"$\Pi_G$ shortens $Z$"}
        for (part, rows), look in zip(floors.groupby("part", sort=False), figures.looks(labels).values()):
            seen = rows[rows["floor"] > 2 * rows["standard_error"]]
            figures.points(axes, seen, "N", "floor", label=labels[str(part)], **look)
        bound = floors[floors["part"] == "minimiser"]
        axes.plot(bound["N"], bound["bound"], "k--", lw=1, label="right side of (4.3) at ε = ∞, constant 1")
        figures.log_axes(axes, SQUARE, "excess risk without noise")
        axes.set_ylim(bottom=1e-20)
        axes.legend()
        return figure
