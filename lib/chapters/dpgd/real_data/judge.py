"""Verdicts on Figures 5, 6 and 8, and on the small clipping constants that they show, of arXiv:2505.16329v2."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from chapters.dpgd.real_data.measure import ALL, BLOWN, FIGURES, HARMONIC, KEPT, PAPERS
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, WORSE
from costofprivacy.datasets import HOUSING, MNIST, NORMALISATION

# ---- What a map of risks over (c, η̃(0)) shows: its valley, and what lies beyond the paper's lines ----

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

    @property
    def worse(self) -> bool:
        """Whether it is above 1 beyond doubt, and by a factor that counts."""
        return self.value > WORSE and self.above


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

    def over(self, first: np.ndarray, second: np.ndarray) -> Ratio:
        """The least risk among some rows over that among others."""
        return ratio(self.least(first), self.least(second))

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
    def largest_clip(self) -> Ratio:
        """The least risk with the largest c over the least of all."""
        return self.over(self.clips == self.clips.max(), self.clips <= self.clips.max())

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


# ---- Figures 5 and 6 ----

SHOWN = {MNIST: FIGURES[MNIST], HOUSING: "kept"}  # the tables of what the paper shows
PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
AGGRESSIVE = 0.1  # a clipping constant up to here is small


def absent(found: Record, *asked: str) -> bool:
    """Whether a data set of the paper was missing: what stands in for it says nothing about it."""
    rows = found["rows"]
    return any((rows.loc[rows["asked"] == name, "data"] != name).any() for name in asked)


def unknown(found: Record) -> Ruling:
    """What is said where one was."""
    return found.ruling(decided=False, grounds="stand-in")


def shown(found: Record, asked: str) -> list[Panel]:
    """The maps that the paper shows: all seeds on MNIST, those that do not blow up on housing.

    Maps that are left with too few seeds to compare are not among them.
    """
    return [panel for panel in panels(found[SHOWN[asked]]) if len(panel.risks) >= FEWEST]


def finite(value: float) -> float | None:
    """A standard error, if there are seeds enough for one."""
    return value if math.isfinite(value) else None


def keep(found: Record, name: str, value: Ratio, table: str, row: str) -> Ratio:
    """Keep a ratio with its standard error, against 1."""
    found.number(name, value.value, table=table, row=row, against=1.0, error=finite(value.value * value.error))
    return value


@judges("dpgd/figure-5", asked=MNIST)
@judges("dpgd/figure-6", asked=HOUSING)
def figure(found: Record, asked: str) -> Ruling:
    """Do the three features show, in the seeds that do not blow up?

    The valleys have to lie parallel to the line, and no large clip may be better; all else that is missing is named.
    Beyond the cap no risk may be the least, and at the best clip it has to be higher.
    """
    if absent(found, asked):
        return unknown(found)
    table, maps, kept, gains = SHOWN[asked], shown(found, asked), True, [1.0]
    missing = {"large clips": False, "beyond the cap": False, "line at zero": False}
    for panel in maps:
        row, where, every = panel.row, f"γ = {panel.gamma:g}, α = {panel.alpha:g}", panel.clips > 0
        slope, error, cap = panel.slope, panel.slope_error, math.log(1 / panel.gamma)
        found.number(f"slope of the valley, {where}", slope, table=table, row=row, against=-1.0, error=finite(error))
        found.number(f"cη̃(0) in the valley, {where}", panel.product, table=table, row=row, against=cap)
        name, worsening = "least risk with c > 1 over that with c ≤ 1", panel.over(panel.clips > 1, panel.clips <= 1)
        keep(found, f"{name}, {where}", worsening, table, row)
        largest = keep(found, f"least risk at the largest c over the least, {where}", panel.largest_clip, table, row)
        name, cut = "least risk beyond 2/γ over that below", ~panel.inside
        beyond, harm = (ratio(panel.least(c, cut), panel.least(c, ~cut)) for c in (every, panel.clips == panel.best[0]))
        keep(found, f"{name}, {where}", beyond, table, row)
        keep(found, f"{name}, at the best c, {where}", harm, table, row)
        gain = max(panel.gains, key=lambda each: (each.above, each.value))
        keep(found, f"largest gain beyond 2/γ at one c, {where}", gain, table, row)
        found.number(f"seeds, {where}", len(panel.risks), table=table, row=row)
        kept &= not (abs(slope + 1) - PARALLEL - CONSISTENT * error > 0 or worsening.below)
        missing["large clips"] |= not largest.worse
        missing["beyond the cap"] |= beyond.below or not harm.value > WORSE
        missing["line at zero"] |= panel.gamma >= 1
        gains += [gain.value for gain in panel.gains if gain.worse]
    grounds = ", ".join(name for name, true in missing.items() if true)
    grounds = grounds or ("no gain" if asked == HOUSING and len(gains) == 1 else "")
    harmful = kept and not missing["large clips"] and not missing["beyond the cap"]
    decided = bool(maps) and not any(math.isnan(panel.slope) for panel in maps)
    printed = harmful and not missing["line at zero"]
    return found.ruling(printed, corrected=harmful, narrower=kept, decided=decided, grounds=grounds, gain=max(gains))


def of_both(found: Record, name: str, of: Callable[[Panel], Ratio]) -> list[Ratio]:
    """A ratio of risks in each map of both data sets."""
    ratios = []
    for asked in (MNIST, HOUSING):
        for panel in shown(found, asked):
            where = f"{asked.split(',')[0]}, γ = {panel.gamma:g}, α = {panel.alpha:g}"
            ratios.append(keep(found, f"{name}, {where}", of(panel), SHOWN[asked], panel.row))
    return ratios


@judges("dpgd/section-5.1-large-clip-real")
def large_clip(found: Record) -> Ruling:
    """Is the harm of a large clipping constant, max(1, c²) in (5.12), evident in Figures 5 and 6?"""
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    costs = of_both(found, "least risk at the largest c over the least", lambda panel: panel.largest_clip)
    harmful, least = [cost.worse for cost in costs], min((cost.value for cost in costs), default=math.nan)
    decided = all(shown(found, asked) for asked in (MNIST, HOUSING))
    return found.ruling(all(harmful), narrower=any(harmful), decided=decided, least=least)


@judges("dpgd/section-1-small-clip-real")
def small_clip(found: Record) -> Ruling:
    """Has a small clipping constant, with a learning rate to fit, less risk than the largest, and as little as any?

    A map in which the clipping constant changes nothing shows no benefit.
    """
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    name = f"least risk with c ≤ {AGGRESSIVE:g} over the least of all"
    costs = of_both(found, name, lambda panel: panel.over(panel.clips <= AGGRESSIVE, panel.clips > 0))
    name = f"least risk at the largest c over the least with c ≤ {AGGRESSIVE:g}"
    gains = of_both(found, name, lambda panel: panel.over(panel.clips == panel.clips.max(), panel.clips <= AGGRESSIVE))
    best = not any(cost.above and cost.value > ON_A_PAR for cost in costs)
    gained, most = [gain.worse for gain in gains], max((cost.value for cost in costs), default=math.nan)
    decided = all(shown(found, asked) for asked in (MNIST, HOUSING))
    return found.ruling(best and all(gained), narrower=best and any(gained), decided=decided, most=most)


# ---- How section 7 prepares real data, what it plots, and which seeds it leaves out ----

ALL_BUT = 0.9  # of the coordinates: a normalisation that reaches so many does what it says
TRACE = 1.25  # quotient up to which tr Σ is d
MOST = 0.5  # of the coordinates that vary where they are normalised
ALIKE = 1.5  # quotient up to which two typical errors, or two lengths of θ, are alike
EXPLAINED = 0.5  # of a blown-up loss: what the worst rows must hold to explain it


@judges("dpgd/section-7-normalisation")
def normalisation(found: Record) -> Ruling:
    """Has each coordinate unit variance after normalisation by a subset, on the rows that are trained on?"""
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    table = found["rows"]
    groups, over = table.groupby("asked"), (table["trace"] / table["d"]).groupby(table["asked"])
    share = (table["unit_variance"] / table["d"]).groupby(table["asked"]).mean()
    live, median, largest = groups["live"].mean() / groups["d"].first(), over.median(), over.max()
    for asked in PAPERS:
        for name, values in (
            ("fraction of coordinates with a variance of ½ to 2", share),
            ("fraction that vary in the normalising rows", live),
            ("tr Σ over d, median", median),
            ("tr Σ over d, largest", largest),
        ):
            row = f"asked = {asked}"
            found.number(f"{name}, {asked.split(',')[0]}", values[asked], table="rows", row=row, against=1.0)
    unit, narrower = share >= ALL_BUT, (share >= MOST * live).all()
    grounds = "single shuffles" if unit[MNIST] else ""
    printed = unit.all() and (largest <= TRACE).all()
    rows = int(select(table, asked=MNIST)["normalisation"].iloc[0])
    return found.ruling(printed, narrower=narrower, grounds=grounds, share=share[MNIST], rows=rows)


@judges("dpgd/section-7-loss")
def loss(found: Record) -> Ruling:
    """Is what the maps show the mean of half the squares, 𝒫 of (3.2)? Is no map above the cap with that alone?"""
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    half, largest = float(found["rows"]["trivial"].mean()), 0.0
    found.number("mean of half the squares, always predicting 0", half, table="rows")
    for table in FIGURES.values():
        highest = max(panels(found[table]), key=lambda panel: float(panel.mean.min()))
        least, where = float(highest.mean.min()), f"in the map of {table} where it is largest"
        for name, value in {"half the squares": least, "the squares": 2 * least}.items():
            found.number(f"least mean of {name}, {where}", value, table=table, row=highest.row, against=BLOWN)
        largest = max(largest, least)
    return found.ruling(largest <= BLOWN, decided=2 * largest > BLOWN, half=half)


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
def seeds(found: Record) -> Ruling:
    """Where the loss of a seed is large, is it the algorithm that is unstable, or do a few validation rows carry it?

    A few rows carry it if they hold the losses of all seeds that blow up, while the typical error of these seeds and
    the length of their θ are like the others'. How many seeds it are hangs on the number of rows that normalise, which
    the paper does not print: no criterion.
    """
    if absent(found, HOUSING):
        return unknown(found)
    table = fractions(found["seeds"])
    for _, row in table.iterrows():
        where, place = f"n = {row['n']:g}", f"n = {row['n']:g}, normalisation = {row['normalisation']:g}"
        where = f"{where}, {row['normalisation']:g} normalising rows"
        for name, column, against, error in (
            ("fraction of seeds with a large loss", "share", None, row["standard_error"]),
            ("their median error over the others'", "typical", ALIKE, None),
            ("length of their θ over the others'", "norm", ALIKE, None),
            ("fraction of their loss in the worst 0.2 % of rows", "explained", EXPLAINED, None),
            ("largest risk", "worst", None, None),
            ("largest risk with limited features", "worst_limited", BLOWN, None),
        ):
            if not math.isnan(row[column]):
                name = f"{name}, {where}"
                found.number(name, row[column], table="seeds", row=place, against=against, error=error)
    out = table[table["share"] > 0]
    alike = (out[["typical", "norm"]] <= ALIKE).all(axis=None)
    rows = alike and (out["explained"] >= EXPLAINED).all()
    shares, grounds = table["share"], "no cure" if table["limited"].max() > 0 else ""
    quoted = {"least": shares.min(), "most": shares.max(), "limited": table["worst_limited"].max()}
    return found.ruling(not rows, corrected=rows, decided=len(out) > 0, grounds=grounds, **quoted)


# ---- Figure 8 ----

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


def leads(places: list[pd.DataFrame]) -> int:
    """At how many sizes the harmonic schedule is ahead of every other beyond doubt; a table of `margins` for each."""
    return sum(bool(rows["ahead"].all()) for rows in places)


@judges("dpgd/figure-8")
def figure_8(found: Record) -> Ruling:
    """Is no schedule better than the harmonic one at any n?

    The harmonic schedule tends to output perturbation as τ grows, so a tie with that is all that it can have where
    output perturbation is best. Section 7 calls that optimal, too. Kept is, for each n, the schedule that the harmonic
    one is least ahead of, or most behind.
    """
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    tables = {data: margins(found["figure-8"], data, view) for data, view in VIEWS.items()}
    places = []
    for data, table in tables.items():
        for n, rows in table.groupby("n"):
            worst, row = rows.loc[rows["quotient"].idxmax()], f"data = {data}, view = {VIEWS[data]}, n = {n:g}"
            name = f"harmonic over α = {worst['schedule']}, {data.split(',')[0]}, n = {n:g}"
            error = worst["quotient"] * worst["standard_error"]
            found.number(name, worst["quotient"], table="figure-8", row=row, against=1.0, error=error)
            places.append(rows)
    behind = sum(bool((rows["behind"] & (rows["quotient"] > WORSE)).any()) for rows in places)
    decided, ahead = all(map(len, tables.values())), leads(places) or "none"
    return found.ruling(behind == 0, narrower=behind < len(places), decided=decided, ahead=ahead, sizes=len(places))


@judges("dpgd/section-7-theory-harmonic")
def theory_harmonic(found: Record) -> Ruling:
    """What the equations say, fed the spectra of these data: no factor contradicts the theory, which is a rate."""
    if absent(found, MNIST, HOUSING):
        return unknown(found)
    risks = found["theory"].pivot(index=["data", "n"], columns="schedule", values="risk")
    quotients = risks[HARMONIC] / risks.drop(columns=HARMONIC).min(axis=1)
    for (data, n), value in quotients.items():
        name = f"harmonic over the best other, by the equations, {data.split(',')[0]}, n = {n}"
        found.number(name, value, table="theory", against=1.0)
    return found.ruling(decided=False, worst=quotients.max())
