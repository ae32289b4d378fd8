"""Verdicts on Figures 5 and 6, and on the small clipping constants that they show, of arXiv:2505.16329v2."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from chapters.dpgd.real_data.measure import ALL, BLOWN, FIGURES, HARMONIC, KEPT, PAPERS
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, WORSE
from costofprivacy.datasets import HOUSING, MNIST, NORMALISATION

# ---- Reading ----
# What a map of risks over (c, η̃(0)) shows: its valley, and what lies beyond the paper's lines.

SMALL = 0.3  # clipping constants up to this one count as small: those where the valley is fitted
WITHIN = 0.9  # of 2/γ: a valley up to there is not cut by the cap
FEWEST = 3  # seeds that a comparison needs, and rows that a slope does


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over seeds of one risk over another, with the standard error of its logarithm.

    Few seeds tell their own spread badly: so many standard errors of a normal law are those of Student's law with as
    many chances.
    """

    value: float
    error: float
    seeds: int

    @property
    def above(self) -> bool:
        """Whether it is above 1 beyond doubt."""
        return bool(self.seeds >= FEWEST and math.log(self.value) > student(CONSISTENT, self.seeds) * self.error)

    @property
    def below(self) -> bool:
        """Whether it is below 1 beyond doubt."""
        return Ratio(1 / self.value, self.error, self.seeds).above


def student(errors: float, seeds: int) -> float:
    """The bound of Student's law for a mean of some seeds that is passed as often as ``errors`` of the normal law."""
    return float(stats.t.isf(stats.norm.sf(errors), seeds - 1))


def ratio(first: np.ndarray, second: np.ndarray) -> Ratio:
    """Of risks by seed, both of shape (seeds,), on the same rows and noise: seeds are compared with themselves."""
    logs = np.log(first / second)
    error = logs.std(ddof=1) / math.sqrt(len(logs)) if len(logs) >= FEWEST else math.inf
    return Ratio(float(np.exp(logs.mean())), float(error), len(logs))


@dataclass(frozen=True, eq=False)
class Panel:
    """The risks of one map.

    Args:
        gamma, alpha: of the map. clips: c, shape (k,). rates: η̃(0), shape (m,). risks: shape (seeds, k, m).
    """

    gamma: float
    alpha: float
    clips: np.ndarray
    rates: np.ndarray
    risks: np.ndarray

    @property
    def row(self) -> str:
        """Which rows of the table it is."""
        return f"gamma = {self.gamma:g}, alpha = {self.alpha:g}"

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean over seeds, shape (k, m)."""
        return self.risks.mean(axis=0)

    def least(self, clips: np.ndarray, rates: np.ndarray | None = None) -> np.ndarray:
        """By seed, the risk at the place of the least mean among these rows and columns; shape (seeds,)."""
        columns = np.ones(len(self.rates), bool) if rates is None else rates
        inside = np.where(np.outer(clips, columns), self.mean, np.inf)
        return self.risks.reshape(len(self.risks), -1)[:, inside.argmin()]

    @property
    def best(self) -> tuple[float, float]:
        """(c, η̃(0)) of the least mean."""
        row, column = np.unravel_index(self.mean.argmin(), self.mean.shape)
        return float(self.clips[row]), float(self.rates[column])

    @property
    def inside(self) -> np.ndarray:
        """Which η̃(0) are at most 2/γ, up to the rounding of the table."""
        return self.rates <= 2 / self.gamma * 1.005

    @property
    def valley(self) -> np.ndarray:
        """For each c the η̃(0) ≤ 2/γ of the least mean, shape (k,)."""
        return self.rates[np.where(self.inside, self.mean, np.inf).argmin(axis=1)]

    @property
    def _open(self) -> np.ndarray:
        """Rows of small c whose valley neither 2/γ nor the end of the map cuts."""
        return (self.clips <= SMALL) & (self.valley < WITHIN * 2 / self.gamma) & (self.valley > self.rates[0])

    @property
    def slope(self) -> float:
        """d ln η̃/d ln c along the valley; NaN where too few rows show it."""
        open_ = self._open
        if open_.sum() < FEWEST:
            return math.nan
        return float(np.polyfit(np.log(self.clips[open_]), np.log(self.valley[open_]), 1)[0])

    @property
    def slope_error(self) -> float:
        """The slope's standard error, by leaving out one seed after the other; ∞ with too few seeds."""
        if len(self.risks) < FEWEST:
            return math.inf
        others = [replace(self, risks=np.delete(self.risks, k, axis=0)).slope for k in range(len(self.risks))]
        return float(np.std(others) * math.sqrt(len(others) - 1))

    @property
    def product(self) -> float:
        """The geometric mean of cη̃(0) along the valley; NaN where no row shows it."""
        open_ = self._open
        return float(np.exp(np.log((self.clips * self.valley)[open_]).mean())) if open_.any() else math.nan

    @property
    def worsening(self) -> Ratio:
        """The least risk with c > 1 over the least with c ≤ 1."""
        return ratio(self.least(self.clips > 1), self.least(self.clips <= 1))

    @property
    def largest_clip(self) -> Ratio:
        """The least risk with the largest c over the least of all."""
        return ratio(self.least(self.clips == self.clips.max()), self.least(self.clips <= self.clips.max()))

    @property
    def beyond(self) -> Ratio:
        """The least risk with η̃(0) > 2/γ over the least with η̃(0) ≤ 2/γ."""
        every = np.ones(len(self.clips), bool)
        return ratio(self.least(every, ~self.inside), self.least(every, self.inside))

    @property
    def gains(self) -> list[Ratio]:
        """For each c the least risk with η̃(0) ≤ 2/γ over the least beyond."""
        rows = np.eye(len(self.clips), dtype=bool)
        return [ratio(self.least(row, self.inside), self.least(row, ~self.inside)) for row in rows]


def panels(table: pd.DataFrame) -> list[Panel]:
    """The maps in a table with the columns gamma, alpha, c, eta0, seed and risk, the largest γ first, then by α."""
    found = []
    for (gamma, alpha), rows in table.groupby(["gamma", "alpha"]):
        grid = rows.pivot(index="seed", columns=["c", "eta0"], values="risk").sort_index(axis=1)
        clips, rates = (grid.columns.unique(level).to_numpy(float) for level in ("c", "eta0"))
        risks = grid.to_numpy().reshape(len(grid), len(clips), len(rates))
        found.append(Panel(float(gamma), float(alpha), clips, rates, risks))
    return sorted(found, key=lambda panel: (panel.alpha, -panel.gamma))


# ---- Judges ----

SHOWN = {MNIST: FIGURES[MNIST], HOUSING: "kept"}  # the tables of what the paper shows
PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
AGGRESSIVE = 0.1  # a clipping constant up to here is small
UNKNOWN = Ruling(
    Verdict.UNTESTABLE, grounds="stand-in"
)  # what stands in for a data set of the paper says nothing about it


def absent(tables: Tables, *asked: str) -> bool:
    """Whether a data set of the paper was missing when the tables were measured."""
    rows = tables["rows"]
    return any((rows.loc[rows["asked"] == name, "data"] != name).any() for name in asked)


def shown(tables: Tables, asked: str) -> list[Panel]:
    """The maps that the paper shows: all seeds on MNIST, those that do not blow up on housing.

    Maps that are left with too few seeds to compare are not among them.
    """
    return [panel for panel in panels(tables[SHOWN[asked]]) if len(panel.risks) >= FEWEST]


@dataclass(frozen=True)
class Features:
    """What some maps show of the three features.

    Args:
        found: the maps.
    """

    found: list[Panel]

    @cached_property
    def flat(self) -> list[Panel]:
        """The maps in which a large clipping constant does no harm beyond the errors."""
        return [panel for panel in self.found if not _seen(panel.largest_clip)]

    @cached_property
    def gains(self) -> list[float]:
        """The factors by which a learning rate beyond 2/γ is better at a single clipping constant."""
        return [gain.value for panel in self.found for gain in panel.gains if gain.above and gain.value > WORSE]

    @property
    def outside(self) -> list[Panel]:
        """The maps whose least risk of all is beyond 2/γ."""
        return [panel for panel in self.found if panel.beyond.below]

    @property
    def degenerate(self) -> list[Panel]:
        """The maps whose line is at zero."""
        return [panel for panel in self.found if panel.gamma >= 1]

    @property
    def grounds(self) -> str:
        """Which features are missing."""
        missing = {
            "large clips": bool(self.flat),
            "beyond the cap": bool(self.outside),
            "line at zero": bool(self.degenerate),
        }
        return ", ".join(name for name, true in missing.items() if true)

    @property
    def verdict(self) -> Verdict:
        """Whether the valleys lie parallel to the line and no large clip is better, and nothing else is missing."""
        kept = not any(_astray(panel) > 0 or panel.worsening.below for panel in self.found)
        harmful = kept and not self.flat and not self.outside
        printed = harmful and not self.degenerate
        decided = bool(self.found) and not any(math.isnan(panel.slope) for panel in self.found)
        return reads(printed, corrected=harmful, narrower=kept, decided=decided)

    def numbers(self, table: str) -> tuple[Number, ...]:
        """Of each map in a table, its valley and its edges."""
        return tuple(number for panel in self.found for number in _of_panel(panel, table))


@judges("dpgd/figure-5")
def figure_5(tables: Tables) -> Ruling:
    """Do the three features show on MNIST?"""
    if absent(tables, MNIST):
        return UNKNOWN
    seen = Features(shown(tables, MNIST))
    return Ruling(seen.verdict, seen.numbers(SHOWN[MNIST]), {}, seen.grounds)


@judges("dpgd/figure-6")
def figure_6(tables: Tables) -> Ruling:
    """Do they show on California housing, in the seeds that do not blow up?"""
    if absent(tables, HOUSING):
        return UNKNOWN
    seen = Features(shown(tables, HOUSING))
    grounds = seen.grounds or ("" if seen.gains else "no gain")
    return Ruling(seen.verdict, seen.numbers(SHOWN[HOUSING]), {"gain": max(seen.gains, default=1.0)}, grounds)


def _astray(panel: Panel) -> float:
    """By how much a valley's slope is off beyond doubt."""
    return abs(panel.slope + 1) - PARALLEL - CONSISTENT * panel.slope_error


def _seen(cost: Ratio) -> bool:
    return cost.value > WORSE and cost.above


def _of_panel(panel: Panel, table: str) -> tuple[Number, ...]:
    where = f"γ = {panel.gamma:g}, α = {panel.alpha:g}"
    gain = max(panel.gains, key=lambda each: each.value if each.above else 0.0)
    named = {
        "slope of the valley": {"value": panel.slope, "error": _finite(panel.slope_error), "against": -1.0},
        "cη̃(0) in the valley": (panel.product, math.log(1 / panel.gamma)),
        "least risk with c > 1 over that with c ≤ 1": _against_one(panel.worsening),
        "least risk at the largest c over the least": _against_one(panel.largest_clip),
        "least risk beyond 2/γ over that below": _against_one(panel.beyond),
        "largest gain beyond 2/γ at one c": _against_one(gain),
        "seeds": len(panel.risks),
    }
    return numbers(table, {f"{name}, {where}": given for name, given in named.items()}, panel.row)


def _against_one(found: Ratio) -> dict[str, float | None]:
    """A ratio with its standard error, against 1."""
    return {"value": found.value, "error": _spread(found), "against": 1.0}


def _spread(found: Ratio) -> float | None:
    """The standard error of a ratio; None where there are too few seeds for one."""
    return _finite(found.value * found.error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# ------------------------------------------------------------------------------------------- small and large clips


@judges("dpgd/section-5.1-large-clip-real")
def large_clip(tables: Tables) -> Ruling:
    """Is the harm of a large clipping constant, max(1, c²) in (5.12), evident in Figures 5 and 6?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    costs = _costs(tables, lambda panel: panel.largest_clip)
    harmful = [_seen(cost) for _, _, cost in costs]
    found = tuple(
        _number("least risk at the largest c over the least", asked, panel, cost, SHOWN[asked])
        for asked, panel, cost in costs
    )
    least = min((cost.value for _, _, cost in costs), default=math.nan)
    verdict = reads(printed=all(harmful), narrower=any(harmful), decided=_both(costs))
    return Ruling(verdict, found, {"least": least})


@judges("dpgd/section-1-small-clip-real")
def small_clip(tables: Tables) -> Ruling:
    """Has a small clipping constant, with a learning rate to fit, less risk than the largest, and as little as any?

    A map in which the clipping constant changes nothing shows no benefit.
    """
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    costs = _costs(tables, _small)
    gains = _costs(tables, _benefit)
    best = not any(cost.above and cost.value > ON_A_PAR for _, _, cost in costs)
    gained = [_seen(gain) for _, _, gain in gains]
    found = tuple(
        _number(name, asked, panel, cost, SHOWN[asked])
        for name, ratios in (
            (f"least risk with c ≤ {AGGRESSIVE:g} over the least of all", costs),
            (f"least risk at the largest c over the least with c ≤ {AGGRESSIVE:g}", gains),
        )
        for asked, panel, cost in ratios
    )
    most = max((cost.value for _, _, cost in costs), default=math.nan)
    verdict = reads(printed=best and all(gained), narrower=best and any(gained), decided=_both(costs))
    return Ruling(verdict, found, {"most": most})


def _both(costs: list[tuple[str, Panel, Ratio]]) -> bool:
    """Whether there are maps of both data sets that have seeds enough."""
    return {asked for asked, _, _ in costs} == {MNIST, HOUSING}


def _costs(tables: Tables, cost: Callable[[Panel], Ratio]) -> list[tuple[str, Panel, Ratio]]:
    """A ratio of risks in each map of both data sets."""
    return [(asked, panel, cost(panel)) for asked in (MNIST, HOUSING) for panel in shown(tables, asked)]


def _small(panel: Panel) -> Ratio:
    return ratio(panel.least(panel.clips <= AGGRESSIVE), panel.least(np.ones(len(panel.clips), bool)))


def _benefit(panel: Panel) -> Ratio:
    return ratio(panel.least(panel.clips == panel.clips.max()), panel.least(panel.clips <= AGGRESSIVE))


def _number(name: str, asked: str, panel: Panel, cost: Ratio, table: str) -> Number:
    where = f"{asked.split(',')[0]}, γ = {panel.gamma:g}, α = {panel.alpha:g}"
    return Number(f"{name}, {where}", cost.value, _spread(cost), 1.0, table, panel.row)


# ---- Rows ----
# Verdicts on how section 7 of arXiv:2505.16329v2 prepares real data, what it plots, and which seeds it leaves out.

ALL_BUT = 0.9  # of the coordinates: a normalisation that reaches so many does what it says
TRACE = 1.25  # quotient up to which tr Σ is d
MOST = 0.5  # of the coordinates that vary where they are normalised
ALIKE = 1.5  # quotient up to which two typical errors, or two lengths of θ, are alike
EXPLAINED = 0.5  # of a blown-up loss: what the worst rows must hold to explain it


# ------------------------------------------------------------------------------------------- what is prepared


@judges("dpgd/section-7-normalisation")
def normalisation(tables: Tables) -> Ruling:
    """Has each coordinate unit variance after normalisation by a subset, on the rows that are trained on?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    found = _normalised(tables["rows"])
    named = {
        f"{name}, {asked.split(',')[0]}": (values[asked], 1.0, f"asked = {asked}")
        for asked in PAPERS
        for name, values in (
            ("fraction of coordinates with a variance of ½ to 2", found["share"]),
            ("fraction that vary in the normalising rows", found["live"]),
            ("tr Σ over d, median", found["median"]),
            ("tr Σ over d, largest", found["largest"]),
        )
    }
    unit, largest = found["share"] >= ALL_BUT, found["largest"]
    narrower = bool((found["share"] >= MOST * found["live"]).all())
    verdict = reads(printed=unit.all() and (largest <= TRACE).all(), narrower=narrower)
    grounds = "single shuffles" if unit[MNIST] else ""
    return Ruling(verdict, numbers("rows", named), {"share": found["share"][MNIST]}, grounds)


def _normalised(table: pd.DataFrame) -> pd.DataFrame:
    """By data set: the shares of coordinates with unit variance, and that vary; the median and the largest tr Σ/d."""
    over = (table["trace"] / table["d"]).groupby(table["asked"])
    share = (table["unit_variance"] / table["d"]).groupby(table["asked"]).mean()
    groups = table.groupby("asked")
    live = groups["live"].mean() / groups["d"].first()
    return pd.DataFrame({"share": share, "live": live, "median": over.median(), "largest": over.max()})


@judges("dpgd/section-7-loss")
def loss(tables: Tables) -> Ruling:
    """Is what the maps show the mean of half the squares, 𝒫 of (3.2)? Is no map above the cap with that alone?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    half = float(tables["rows"]["trivial"].mean())
    named = {"mean of half the squares, always predicting 0": half}
    told, largest = numbers("rows", named), 0.0
    for figure in FIGURES.values():
        highest = max(panels(tables[figure]), key=lambda panel: float(panel.mean.min()))
        least = float(highest.mean.min())
        of_map = {
            f"least mean of half the squares, in the map of {figure} where it is largest": (least, BLOWN),
            f"least mean of the squares, in the map of {figure} where it is largest": (2 * least, BLOWN),
        }
        told, largest = (*told, *numbers(figure, of_map, highest.row)), max(largest, least)
    return Ruling(reads(printed=largest <= BLOWN, decided=2 * largest > BLOWN), told, {"half": half})


# ------------------------------------------------------------------------------------------- seeds that blow up


def fractions(table: pd.DataFrame) -> pd.DataFrame:
    """By n and number of normalisation rows: the share of seeds that blow up, its error, and what they are like.

    Columns ``typical``, ``training`` and ``norm`` are medians over the seeds that blow up, over those of the others;
    ``explained`` is the median share of their loss in the worst rows.
    """
    rows = []
    for (n, size), group in table.groupby(["n", "normalisation"]):
        out = group["risk"] > BLOWN
        share = float(out.mean())
        found: dict[str, float] = {"n": n, "normalisation": size, "seeds": len(group), "share": share}
        found["standard_error"] = math.sqrt(max(share * (1 - share), 1 / len(group)) / len(group))
        for name in ("typical", "training", "norm"):
            found[name] = float(group.loc[out, name].median() / group.loc[~out, name].median())
        found["explained"] = float((1 - group["without_worst"] / group["risk"])[out].median())
        found["limited"] = float((group["limited"] > BLOWN).mean())
        found["worst_limited"], found["worst"] = float(group["limited"].max()), float(group["risk"].max())
        found["feature_out"] = float(group.loc[out, "largest"].median())
        found["feature_in"] = float(group.loc[~out, "largest"].median())
        rows.append(found)
    return pd.DataFrame(rows)


def own_fractions(table: pd.DataFrame) -> pd.DataFrame:
    """`fractions` with the number of normalisation rows that the maps have, ascending in n; all where none has it."""
    own = table[table["normalisation"] == NORMALISATION]
    return fractions(own if len(own) else table).sort_values("n")


@judges("dpgd/section-7-seeds")
def seeds(tables: Tables) -> Ruling:
    """Where the loss of a seed is large, is it the algorithm that is unstable, or do a few validation rows carry it?

    How many seeds it are hangs on the number of rows that normalise, which the paper does not print: no criterion.
    """
    if absent(tables, HOUSING):
        return UNKNOWN
    found = fractions(tables["seeds"])
    out = found[found["share"] > 0]
    rows = _rows_alone(out)
    verdict = reads(printed=not rows, corrected=rows, decided=len(out) > 0)
    told = tuple(number for _, row in found.iterrows() for number in _of_seeds(row))
    quoted = {"least": found["share"].min(), "most": found["share"].max(), "limited": found["worst_limited"].max()}
    return Ruling(verdict, told, quoted, "no cure" if found["limited"].max() > 0 else "")


def _rows_alone(out: pd.DataFrame) -> bool:
    """Whether a few rows hold the losses of all seeds that blow up, while the rest of these seeds is like the others.

    The rest is their typical error on validation rows, and the length of the released θ.
    """
    alike = (out[["typical", "norm"]] <= ALIKE).all(axis=None)
    return bool(alike and (out["explained"] >= EXPLAINED).all())


def _of_seeds(row: pd.Series) -> tuple[Number, ...]:
    where = f"n = {row['n']:g}, {row['normalisation']:g} normalising rows"
    named = {
        f"fraction of seeds with a large loss, {where}": {"value": row["share"], "error": row["standard_error"]},
        f"their median error over the others', {where}": (row["typical"], ALIKE),
        f"length of their θ over the others', {where}": (row["norm"], ALIKE),
        f"fraction of their loss in the worst 0.2 % of rows, {where}": (row["explained"], EXPLAINED),
        f"largest risk, {where}": row["worst"],
        f"largest risk with limited features, {where}": (row["worst_limited"], BLOWN),
    }
    found = numbers("seeds", named, f"n = {row['n']:g}, normalisation = {row['normalisation']:g}")
    return tuple(number for number in found if not math.isnan(number.value))


# ---- Schedules ----
# Verdicts on Figure 8 of arXiv:2505.16329v2 and what section 7 says of it.

VIEWS = {MNIST: ALL, HOUSING: KEPT}  # what the paper shows


def margins(table: pd.DataFrame, data: str, view: str) -> pd.DataFrame:
    """By n and other schedule: the harmonic schedule's risk over the other's, the geometric mean over seeds.

    Columns: n, schedule, quotient, standard_error of its logarithm, seeds; and what is beyond doubt, ``behind`` and
    ``ahead``.
    """
    rows = []
    for n, group in select(table, data=data, view=view).groupby("n"):
        risks = group.pivot(index="seed", columns="schedule", values="risk")
        for name in risks.columns.drop(HARMONIC):
            found = ratio(risks[HARMONIC].to_numpy(), risks[name].to_numpy())
            place = {"n": n, "schedule": name, "quotient": found.value, "standard_error": found.error}
            rows.append(place | {"seeds": len(risks), "behind": found.above, "ahead": found.below})
    return pd.DataFrame(rows, columns=["n", "schedule", "quotient", "standard_error", "seeds", "behind", "ahead"])


@judges("dpgd/figure-8")
def figure_8(tables: Tables) -> Ruling:
    """Is no schedule better than the harmonic one at any n?

    The harmonic schedule tends to output perturbation as τ grows, so a tie with that is all that it can have where
    output perturbation is best. Section 7 calls that optimal, too.
    """
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    rows = {data: margins(tables["figure-8"], data, view) for data, view in VIEWS.items()}
    found = tuple(number for data, table in rows.items() for number in _closest(table, data, VIEWS[data]))
    places = [group for table in rows.values() for _, group in table.groupby("n")]
    behind = sum(bool((group["behind"] & (group["quotient"] > WORSE)).any()) for group in places)
    decided = all(len(table) for table in rows.values())
    verdict = reads(printed=behind == 0, narrower=behind < len(places), decided=decided)
    quoted = {"ahead": leads(places) or "none", "sizes": len(places)}
    return Ruling(verdict, found, quoted)


def leads(places: list[pd.DataFrame]) -> int:
    """At how many sizes the harmonic schedule is ahead of every other beyond doubt; a table of `margins` for each."""
    return sum(bool(rows["ahead"].all()) for rows in places)


def _closest(rows: pd.DataFrame, data: str, view: str) -> tuple[Number, ...]:
    """For each n, the schedule that the harmonic one is least ahead of, or most behind."""
    if rows.empty:
        return ()
    worst = rows.loc[rows.groupby("n")["quotient"].idxmax()]
    named = {
        f"harmonic over α = {row['schedule']}, {data.split(',')[0]}, n = {row['n']:g}": {
            "value": row["quotient"],
            "error": row["quotient"] * row["standard_error"],
            "against": 1.0,
            "row": f"data = {data}, view = {view}, n = {row['n']:g}",
        }
        for _, row in worst.iterrows()
    }
    return numbers("figure-8", named)


@judges("dpgd/section-7-theory-harmonic")
def theory_harmonic(tables: Tables) -> Ruling:
    """What the equations say, fed the spectra of these data: no factor contradicts the theory, which is a rate."""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    risks = tables["theory"].pivot(index=["data", "n"], columns="schedule", values="risk")
    quotients = risks[HARMONIC] / risks.drop(columns=HARMONIC).min(axis=1)
    named = {
        f"harmonic over the best other, by the equations, {data.split(',')[0]}, n = {n}": (value, 1.0)
        for (data, n), value in quotients.items()
    }
    return Ruling(Verdict.UNTESTABLE, numbers("theory", named), {"worst": quotients.max()})
