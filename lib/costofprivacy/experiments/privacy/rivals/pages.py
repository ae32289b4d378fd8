"""The answer, the figures and the tables of the page on rivals."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import datasets
from costofprivacy.experiments.privacy.rivals import methods, problems
from costofprivacy.experiments.privacy.rivals.joined import METHODS, joined
from costofprivacy.experiments.privacy.rivals.verdicts import per_feature
from costofprivacy.judging.prose import compact, listed, measured, percent, plain
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

CELL = ["problem", "epsilon", "n"]
SHORT = {
    problems.UNEVEN: "power-law",
    datasets.HOUSING: "housing",
    datasets.MNIST: "MNIST 1, 7",
    datasets.DIGITS: "digits 1, 7",
}
NARROW_SPACE = "\u202f"  # does not break
LOWEST, HIGHEST = 3e-5, 3.0  # of the lost share, in figures


def public(errors: pd.DataFrame) -> pd.DataFrame:
    """The rows of the comparison: every method at its public setting."""
    return errors[(errors["setting"] == 0) & errors["method"].isin(METHODS)]


def best_settings(errors: pd.DataFrame) -> pd.DataFrame:
    """Every method at the best of its settings in each cell, which no private choice can know."""
    own = errors[errors["method"].isin(METHODS)]
    return own.loc[own.groupby([*CELL, "method"], sort=False)["lost"].idxmin()]


def not_told_from_least(cell: pd.DataFrame) -> pd.Series:
    """Which methods of a cell cannot be told from the least; one that fails in some trial can."""
    return (cell["behind"] <= CONSISTENT * cell["behind_error"]) & (cell["failed"] == 0)


def over(row: pd.Series, least: pd.Series) -> tuple[float, float]:
    """What one method loses over what the least of its cell does, and its standard error.

    Both were run on the same records: their covariance follows from the errors of each and of the difference, which
    is ``behind``.
    """
    ratio = row["lost"] / least["lost"]
    shared = (row["lost_error"] ** 2 + least["lost_error"] ** 2 - row["behind_error"] ** 2) / 2
    parts = (row["lost_error"] / row["lost"]) ** 2 + (least["lost_error"] / least["lost"]) ** 2
    return ratio, abs(ratio) * max(0.0, parts - 2 * shared / (row["lost"] * least["lost"])) ** 0.5


def winners(errors: pd.DataFrame) -> pd.DataFrame:
    """For each cell: the least public method, those that cannot be told from it, and the best of DP-GD."""
    rows = []
    for key, cell in public(errors).groupby(CELL, sort=False):
        least = cell.loc[cell["lost"].idxmin()]
        tied = cell[not_told_from_least(cell)]["method"]
        ours = cell[cell["method"].isin(methods.OURS)]
        own = ours.loc[ours["lost"].idxmin()]
        rows.append(
            dict(zip(CELL, key, strict=True))
            | {"d": least["d"], "least": least["method"], "lost": least["lost"], "lost_error": least["lost_error"]}
            | {"tied": [name for name in tied if name != least["method"]], "ours": own["method"]}
            | {"ours_lost": own["lost"], "ours_error": own["lost_error"]}
            | {"beaten": own["behind"] > CONSISTENT * own["behind_error"]}
            | dict(zip(("over", "over_error"), over(own, least), strict=True))
        )
    return pd.DataFrame(rows)


def answer(tables: Tables) -> str:
    """Who has the least error how often, and where DP-GD is not behind."""
    found = winners(joined(tables))
    in_front = {name: sum(name == row.least or name in row.tied for row in found.itertuples()) for name in METHODS}
    first = max(in_front, key=lambda name: in_front[name])
    beaten = int(found["beaten"].sum())
    behind = found[found["beaten"] & (found["lost"] > CONSISTENT * found["lost_error"])] if beaten else found
    behind = behind if len(behind) else found
    worst, errors = behind.loc[behind["over"].idxmax()], tables["errors"]
    return (
        f"At equal privacy, data and knowledge, {first} is best, or on a par, in {in_front[first]} of {len(found)} "
        f"cases. DP-GD is behind in {beaten}, losing up to {measured(worst['over'], worst['over_error'])} times as "
        f"much ({short(worst['problem'])}, $\\varepsilon = {worst['epsilon']:g}$). Told the features' second moment, "
        f"it loses {measured(*mean_gain(errors))} times less ({short(problems.UNEVEN)}, "
        f"$\\varepsilon = {errors['epsilon'].min():g}$)."
    )


def short(problem: str) -> str:
    """A data set's name in a title."""
    return SHORT.get(problem, problem)


def leading(errors: pd.DataFrame) -> pd.DataFrame:
    """The cells of the leading figure: the least ε, and the middle size of each data set."""
    rows = errors[errors["epsilon"] == errors["epsilon"].min()]
    sizes = {name: sorted(part["n"].unique()) for name, part in rows.groupby("problem", sort=False)}
    return pd.concat([select(rows, problem=name, n=s[len(s) // 2]) for name, s in sizes.items()])


def draw_rivals(errors: pd.DataFrame) -> Plate:
    """A panel for each data set, a line for each method: what is lost at the public and at the best setting."""
    shown, every = leading(errors), list(METHODS)
    names = list(shown["problem"].unique())
    with figures.style():
        drawn, panels = plt.subplots(1, len(names), figsize=(2.3 * len(names) + 2.4, 4.6), squeeze=False, sharey=True)
        for axes, name in zip(panels[0], names, strict=True):
            _draw_panel(axes, select(shown, problem=name))
        panels[0, 0].set_yticks(range(len(every)), every)
        panels[0, 0].invert_yaxis()
        drawn.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    epsilon, found = shown["epsilon"].min(), winners(shown)
    said = listed(f"{row.least} on {short(row.problem)} data ({plain(row.lost)})" for row in found.itertuples())
    ours = listed(f"{plain(row.ours_lost)} on {short(row.problem)}" for row in found.itertuples())
    return Plate(
        drawn,
        caption=(
            f"**What each method loses of what can be explained**, $\\varepsilon = {epsilon:g}$: 0 is the best linear "
            f"predictor, 1 the constant one (dashed); dotted is least squares without privacy, where it fits. Filled: "
            f"settings from public knowledge, with bars of two standard errors. Open: the best of {methods.SETTINGS} "
            f"settings, not private. An arrow is beyond the axis; diffprivlib has a mark where it was run. Least: "
            f"{said}. The best of DP-GD: {ours}."
        ),
        alt=f"Share lost at the public setting. Least: {said}. Best form of DP-GD: {ours}. Constant predictor: 1.",
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One data set."""
    asked, best = public(rows).set_index("method"), best_settings(rows).set_index("method")
    for ours, colour in ((True, figures.COLOURS[0]), (False, figures.COLOURS[3])):
        names = [name for name in METHODS if (name in methods.OURS) == ours and name in asked.index]
        places = [METHODS.index(name) for name in names]
        lost = asked.loc[names, "lost"]
        within, bars = lost.where(lost <= HIGHEST), 2 * asked.loc[names, "lost_error"]
        label = "DP-GD" if ours else "rivals"
        axes.errorbar(within, places, xerr=bars, fmt="o", color=colour, capsize=2, label=label)
        axes.plot(np.full(len(places), HIGHEST), np.where(lost > HIGHEST, places, np.nan), ">", color=colour)
        axes.plot(
            best.loc[names, "lost"].clip(LOWEST, HIGHEST), places, "o", mfc="none", mec=colour, ms=9,
            label="best setting, not private" if ours else "_others",
        )  # fmt: skip
    free = pick(rows, method=methods.LEAST_SQUARES)["lost"]
    axes.axvline(1, ls="--", lw=1, color="0.35")
    if LOWEST < free < 1:
        axes.axvline(free, ls=":", lw=1.5, color="0.35")
    axes.set(xscale="log", xlim=(min(LOWEST * 10, asked["lost"].min() / 3, best["lost"].min() / 3), HIGHEST * 1.3))
    first = rows.iloc[0]
    axes.set(title=f"{short(first['problem'])}\n$n={first['n']}$, $d={first['d']}$", xlabel="share lost")


def draw_sizes(errors: pd.DataFrame) -> Plate:
    """Gaussian data: what is lost against n, for some methods."""
    shown = (methods.HARMONIC, methods.FULL, methods.OBJECTIVE, methods.ADASSP)
    rows = errors[(errors["setting"] == 0) & (errors["epsilon"] == errors["epsilon"].min())]
    looks = figures.looks(shown)
    with figures.style():
        drawn, panels = plt.subplots(1, 2, figsize=(8.6, 3.9), sharey=True)
        for axes, name in zip(panels, problems.SYNTHETIC, strict=True):
            part = select(rows, problem=name)
            for method in shown:
                own = select(part, method=method).rename(columns={"lost_error": "standard_error"})
                own = own.drop(columns=["test_error"])
                figures.points(axes, own, "n", "lost", label=method.replace(", ", ",\n"), **looks[method])
            free = select(part, method=methods.LEAST_SQUARES).sort_values("n")
            axes.plot(free["n"], free["lost"], "k:", lw=1.5, label="no privacy")
            figures.log_axes(axes, "$n$ (records)", "share lost")
            axes.set_title(f"{name}, $d={part['d'].iloc[0]}$")
        figures.end_labels(panels[1])
    last = rows[
        (rows["problem"] == problems.UNEVEN) & (rows["n"] == rows[rows["problem"] == problems.UNEVEN]["n"].max())
    ]
    values = listed(f"{name} {plain(pick(last, method=name)['lost'])}" for name in shown)
    epsilon = rows["epsilon"].min()
    return Plate(
        drawn,
        caption=(
            f"**More records**, Gaussian data at $\\varepsilon = {epsilon:g}$; bars of two standard errors. At the "
            f"right end on uneven data: {values}."
        ),
        alt=f"Share lost on power-law data at n = {last['n'].max()}: {values}.",
    )


def draw_needs(tables: Tables) -> Plate:
    """Left: records for each feature that halve the risk, against d. Right: risk against the clip."""
    both = (methods.ADASSP, methods.FULL)
    looks = figures.looks(both)
    with figures.style():
        drawn, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.6))
        for name in both:
            rows = per_feature(tables["thresholds"], name)
            figures.points(left, rows, "d", "records", label=name.replace(", ", ",\n"), **looks[name])
        rows = per_feature(tables["thresholds"], methods.ADASSP)
        figures.slope(left, rows["d"].to_numpy(), rows["records"].iloc[0], 0.5, r"$\sqrt{d}$")
        figures.log_axes(left, "$d$", "$n/d$ that halves the risk")
        figures.plain_ticks(left, rows["d"].to_numpy())
        figures.few_decades(left)
        figures.end_labels(left)
        clipping = tables["clipping"]
        figures.points(right, clipping, "clip", "share", color=figures.COLOURS[2], marker="D")
        figures.log_axes(right, "$c$ over the response's deviation", "share of the risk left")
    ends = {name: per_feature(tables["thresholds"], name).iloc[[0, -1]]["records"].tolist() for name in both}
    best = clipping.loc[clipping["share"].idxmin()]
    told = listed(f"{name} {plain(a)} to {plain(b)}" for name, (a, b) in ends.items())
    return Plate(
        drawn,
        caption=(
            f"**How many records are needed, and how hard to clip.** Left: records for each feature, from the smallest "
            f"to the largest dimension: {told}. Right: ten steps on all records; the risk is least at "
            f"{plain(best['clip'])} deviations, where {percent(best['clipped'])} of the gradients are clipped. "
            "Bars of two standard errors."
        ),
        alt=f"Records for each feature: {told}. Least risk at a clip of {plain(best['clip'])} deviations.",
    )


def show_rivals(errors: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What every method loses at its public setting, and the ends; a star where it is not told from the least."""
    rows = errors[(errors["setting"] == 0) & (errors["epsilon"] == epsilon)]
    ends = (*METHODS, *methods.TOLD, *methods.ENDS)
    columns = {}
    for (problem, n), cell in rows.groupby(["problem", "n"], sort=False):
        known = cell.set_index("method")
        star = not_told_from_least(known)
        columns[f"{short(problem)}, {n}"] = [
            _entry(known.loc[name], name in METHODS and star[name]) if name in known.index else "–" for name in ends
        ]
    return pd.DataFrame(columns, index=pd.Index(ends, name="method"))


def _entry(row: pd.Series, star: bool = False) -> str:
    """What is lost, or in how many trials there is no answer."""
    if row["failed"]:
        return f"fails in {round(row['failed'] * row['trials'])} of {row['trials']}".replace(" ", NARROW_SPACE)
    return in_percent(row["lost"], row["lost_error"]) + (NARROW_SPACE + "*" if star else "")


def in_percent(lost: float, error: float) -> str:
    """A share with its error, both in per cent, on one line."""
    return measured(100 * lost, 100 * error).replace(" ", NARROW_SPACE)


def show_best(errors: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """The same at the best of each method's settings."""
    rows = best_settings(errors[errors["epsilon"] == epsilon])
    columns = {}
    for (problem, n), cell in rows.groupby(["problem", "n"], sort=False):
        known = cell.set_index("method")
        columns[f"{short(problem)}, {n}"] = [
            _entry(known.loc[name]) if name in known.index else "–" for name in METHODS
        ]
    return pd.DataFrame(columns, index=pd.Index(METHODS, name="method"))


def show_winners(errors: pd.DataFrame) -> pd.DataFrame:
    """Who is best, case by case, and how far the best form of DP-GD is behind."""
    rows = []
    for row in winners(errors).itertuples():
        rows.append(
            {
                "data": short(row.problem),
                "ε": f"{row.epsilon:g}",
                "n": row.n,
                "n/d": plain(row.n / row.d),
                "least error": row.least,
                "lost, %": in_percent(row.lost, row.lost_error),
                "not told from it": ", ".join(row.tied) or "none",
                "best of DP-GD": row.ours,
                "its loss, %": in_percent(row.ours_lost, row.ours_error),
                "behind": "yes" if row.beaten else "no",
            }
        )
    return pd.DataFrame(rows).set_index(["data", "ε", "n"])


def show_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Test errors themselves at the least ε: the constant predictor, least squares, and the least private method."""
    rows = []
    for (problem, epsilon, n), cell in errors[errors["setting"] == 0].groupby(CELL, sort=False):
        if epsilon != errors["epsilon"].min():
            continue
        known, asked = cell.set_index("method"), public(cell)
        least = asked.loc[asked["lost"].idxmin()]
        rows.append(
            {
                "data": short(problem),
                "n": n,
                "constant": compact(known.loc[methods.ZERO, "test_error"]),
                "best linear": compact(cell["floor"].iloc[0]),
                "least squares, no privacy": measured(
                    *known.loc[methods.LEAST_SQUARES, ["test_error", "test_error_error"]]
                ),
                "least private": measured(least["test_error"], least["test_error_error"]),
                "by": least["method"],
                "trials": cell["trials"].iloc[0],
            }
        )
    return pd.DataFrame(rows).set_index(["data", "n"])


def gap(errors: pd.DataFrame) -> pd.DataFrame:
    """The remedies: each over the least of the comparison, at the largest size and least ε of each data set.

    With standard errors; the least itself is 1 and has none.
    """
    rows = errors[(errors["setting"] == 0) & (errors["epsilon"] == errors["epsilon"].min())]
    found = []
    remedies = (methods.HARMONIC, methods.PILOT, methods.FULL, *methods.TOLD)
    for problem, part in rows.groupby("problem", sort=False):
        cell = part[part["n"] == part["n"].max()].set_index("method")
        asked = public(cell.reset_index())
        least = asked.loc[asked["lost"].idxmin()]
        found.append(
            {"data": short(str(problem)), "n": cell["n"].max()}
            | {
                name: measured(*over(cell.loc[name], least)).replace(" ", NARROW_SPACE) if name in cell.index else "–"
                for name in remedies
            }
        )
    return pd.DataFrame(found).set_index(["data", "n"])


def mean_gain(errors: pd.DataFrame) -> tuple[float, float]:
    """How many times less harmonic DP-GD loses on the most uneven Gaussian data once it is told the second moment.

    With its standard error, as if the two errors were independent.
    """
    rows = errors[(errors["problem"] == problems.UNEVEN) & (errors["epsilon"] == errors["epsilon"].min())]
    last = select(rows[rows["n"] == rows["n"].max()], setting=0)
    first, second = (pick(last, method=name) for name in (methods.HARMONIC, methods.WHITENED))
    gain = float(first["lost"] / second["lost"])
    return gain, gain * math.hypot(*(row["lost_error"] / row["lost"] for row in (first, second)))
