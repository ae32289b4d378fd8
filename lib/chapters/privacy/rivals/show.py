"""At equal privacy and equal data, which private linear regression has the least error, and when?"""

import math
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.rivals import measure
from chapters.privacy.rivals.judge import per_feature
from companion import _fits
from companion.judging.prose import listed, measured, percent, plain
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy import datasets

# ---- diffprivlib's runs as rows of the table ``errors``, beside the methods that are measured here ----

LABEL = "diffprivlib, δ = 0"
METHODS = (*measure.METHODS, LABEL)
CELL = ["problem", "n", "epsilon"]


def joined(tables: Tables) -> pd.DataFrame:
    """The table ``errors`` with rows for diffprivlib, and the column ``failed``: the share of trials without an answer.

    ``behind`` is a difference of means there, its error the root of the sum of squares: the records are the same, so
    that it errs on the large side. Where diffprivlib loses least, the others are behind it by such differences.
    """
    errors = tables["errors"].assign(failed=0.0)
    rows = []
    for key, runs in tables[measure.NAME].groupby(CELL, sort=False):
        cell = np.logical_and.reduce([errors[name] == value for name, value in zip(CELL, key, strict=True)])
        front = errors[cell & (errors["setting"] == 0) & errors["method"].isin(measure.METHODS)]
        leader = front.loc[front["lost"].idxmin()]
        own = [_diffprivlib(runs, setting, leader) for setting in range(measure.SETTINGS)]
        if own[0]["behind"] < 0:
            compared = cell & errors["method"].isin(measure.METHODS)
            errors.loc[compared, "behind"] = errors.loc[compared, "lost"] - own[0]["lost"]
            errors.loc[compared, "behind_error"] = np.hypot(errors.loc[compared, "lost_error"], own[0]["lost_error"])
            own = [row | {"behind": row["lost"] - own[0]["lost"]} for row in own]
        rows += own
    return pd.concat([errors, pd.DataFrame(rows)], ignore_index=True) if rows else errors


def _diffprivlib(runs: pd.DataFrame, setting: int, leader: pd.Series) -> dict[str, Any]:
    error, width = runs[f"error_{setting}"].to_numpy(), (runs["zero"] - runs["floor"]).to_numpy()
    test, test_error = _fits.mean_and_error(error)
    lost, lost_error = _fits.mean_and_error((error - runs["floor"].to_numpy()) / width)
    shared = leader[["problem", "n", "d", "epsilon", "zero", "floor"]].to_dict() | {"delta": 0.0}
    shared |= {"trials": len(runs), "method": LABEL, "setting": setting}
    measured = {"test_error": test, "test_error_error": test_error, "lost": lost, "lost_error": lost_error}
    behind = {"behind": lost - leader["lost"], "behind_error": math.hypot(lost_error, leader["lost_error"])}
    return shared | measured | behind | {"failed": float(runs[f"unsolved_{setting}"].mean())}


def origin(tables: Tables) -> str:
    """Where diffprivlib's runs on this page come from, and which cases have none."""
    cells = tables["errors"][[*CELL, "d"]].drop_duplicates()
    known = set(tables[measure.NAME][CELL].itertuples(index=False, name=None))
    said = [f"*diffprivlib.* {measure.RECORD.origin(tables[measure.NAME])}"]
    large = cells[cells["d"] > measure.MOST]
    if len(large):
        counts = listed(f"{measure.coefficients(d):,} at $d={d}$" for d in sorted(set(large["d"])))
        said.append(
            f"It was not run beyond {measure.MOST} features ({len(large)} of {len(cells)} cases): it would "
            f"share $\\varepsilon$ among {counts}."
        )
    missing = set(cells.loc[cells["d"] <= measure.MOST, CELL].itertuples(index=False, name=None)) - known
    if missing:
        said.append(
            f"{len(missing)} of {len(cells)} cases are not measured: they are not among the committed runs; to measure "
            f"them: `{measure.RECORD.extra.remedy}`."
        )
    return " ".join(said)


def failures(tables: Tables) -> str:
    """In how many cases the choice from public knowledge fails in some trial."""
    rows = joined(tables)
    rows = rows[(rows["method"] == LABEL) & (rows["setting"] == 0)]
    if rows.empty:
        return "It was measured in no case of this page."
    some, every = int((rows["failed"] > 0).sum()), int((rows["failed"] == 1).sum())
    return f"Its public setting fails in some trial in {some} of {len(rows)} cases, in all trials in {every}."


# ---- Case by case: who has the least error, who cannot be told from it, and how far DP-GD is behind ----

SHORT = {
    measure.UNEVEN: "power-law",
    datasets.HOUSING: "housing",
    datasets.MNIST: "MNIST 1, 7",
    datasets.DIGITS: "digits 1, 7",
}


def short(problem: str) -> str:
    """A data set's name in a title."""
    return SHORT.get(problem, problem)


def public(errors: pd.DataFrame) -> pd.DataFrame:
    """The rows of the comparison: every method at its public setting."""
    return errors[(errors["setting"] == 0) & errors["method"].isin(METHODS)]


def least_epsilon(errors: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows at the least ε in which each named column has the given value."""
    return select(errors, epsilon=errors["epsilon"].min(), **where)


def best_settings(errors: pd.DataFrame) -> pd.DataFrame:
    """Every method at the best of its settings in each cell, which no private choice can know."""
    own = errors[errors["method"].isin(METHODS)]
    return own.loc[own.groupby([*CELL, "method"], sort=False)["lost"].idxmin()]


def least(rows: pd.DataFrame) -> pd.Series:
    """The row that loses least."""
    return rows.loc[rows["lost"].idxmin()]


def not_told_from_least(cell: pd.DataFrame) -> pd.Series:
    """Which methods of a cell cannot be told from the least; one that fails in some trial can."""
    return (cell["behind"] <= CONSISTENT * cell["behind_error"]) & (cell["failed"] == 0)


def over(row: pd.Series, front: pd.Series) -> tuple[float, float]:
    """What one method loses over what the least of its cell does, and its standard error.

    Both were run on the same records: their covariance follows from the errors of each and of the difference, which
    is ``behind``.
    """
    ratio = row["lost"] / front["lost"]
    shared = (row["lost_error"] ** 2 + front["lost_error"] ** 2 - row["behind_error"] ** 2) / 2
    parts = (row["lost_error"] / row["lost"]) ** 2 + (front["lost_error"] / front["lost"]) ** 2
    return ratio, abs(ratio) * max(0.0, parts - 2 * shared / (row["lost"] * front["lost"])) ** 0.5


def winners(errors: pd.DataFrame) -> pd.DataFrame:
    """For each cell: the least public method, those that cannot be told from it, and the best of DP-GD."""
    rows = []
    for _, cell in public(errors).groupby(CELL, sort=False):
        front, own = least(cell), least(cell[cell["method"].isin(measure.OURS)])
        tied = cell.loc[not_told_from_least(cell), "method"]
        ratio, error = over(own, front)
        rows.append(
            front[[*CELL, "d", "lost", "lost_error"]].to_dict()
            | {"least": front["method"], "tied": [name for name in tied if name != front["method"]]}
            | {"ours": own["method"], "ours_lost": own["lost"], "ours_error": own["lost_error"]}
            | {"beaten": own["behind"] > CONSISTENT * own["behind_error"], "over": ratio, "over_error": error}
        )
    return pd.DataFrame(rows)


def at_middle_sizes(errors: pd.DataFrame) -> pd.DataFrame:
    """The cells of the leading figure: the least ε, and the middle size of each data set."""
    rows = least_epsilon(errors)
    sizes = {name: sorted(part["n"].unique()) for name, part in rows.groupby("problem", sort=False)}
    return pd.concat([select(rows, problem=name, n=s[len(s) // 2]) for name, s in sizes.items()])


def caption_rivals(tables: Tables) -> str:
    """What each method loses on each data set, and which loses least."""
    shown = at_middle_sizes(joined(tables))
    found = winners(shown)
    counts = found["least"].value_counts()
    said = listed(f"{row.least} on {short(row.problem)} data ({plain(row.lost)})" for row in found.itertuples())
    ours = listed(f"{plain(row.ours_lost)} on {short(row.problem)}" for row in found.itertuples())
    return (
        f"**{counts.index[0].capitalize()} has the least error on {counts.iloc[0]} of {len(found)} data sets.** Marks: "
        f"the excess error as a share of what can be explained, at $\\varepsilon = {shown['epsilon'].min():g}$; 0 is "
        "the best linear predictor, 1 the constant one (dashed). Filled: settings from public knowledge, with bars of "
        f"two standard errors. Open: the best of {measure.SETTINGS} settings, not private. A mark at 3 stands for 3 or "
        f"more; diffprivlib has a mark where it was run. Least: {said}. The best form of DP-GD: {ours}."
    )


def draw_needs(tables: Tables) -> Plate:
    """Left: records for each feature that halve the risk, against d. Right: risk against the clip."""
    needs = {name: per_feature(tables["thresholds"], name) for name in (measure.ADASSP, measure.FULL)}
    dimensions, clipping = needs[measure.ADASSP]["d"].to_numpy(), tables["clipping"]
    rows = pd.concat([need.assign(method=name) for name, need in needs.items()])
    with figures.panels(2, ends=False, figsize=(8.2, 3.6)) as (drawn, (left, right)):
        figures.curves(left, rows, "d", "records", "method", {name: name.replace(", ", ",\n") for name in needs})
        figures.slope(left, dimensions, needs[measure.ADASSP]["records"].iloc[0], 0.5, r"$\sqrt{d}$")
        figures.log_axes(left, "$d$", "$n/d$ that halves the risk")
        figures.plain_ticks(left, dimensions)
        figures.few_decades(left)
        figures.end_labels(left)
        look = {"color": figures.COLOURS[2], "marker": "D", "label": "ten steps on all records"}
        figures.points(right, clipping, "clip", "share", **look)
        figures.log_axes(right, "$c$ over the response's deviation", "share of the risk left")
    best = clipping.loc[clipping["share"].idxmin()]
    ends = {name: [plain(need["records"].iloc[end]) for end in (0, -1)] for name, need in needs.items()}
    told = listed(f"{name} needs {first} to {last}" for name, (first, last) in ends.items())
    return Plate(
        drawn,
        f"**To halve the risk, {told} records for each feature, from the smallest to the largest dimension.** "
        f"Right: ten steps on all records; the risk is least at {plain(best['clip'])} deviations, where "
        f"{percent(best['clipped'])} of the gradients are clipped. Bars of two standard errors.",
    )


NARROW_SPACE = "\u202f"  # does not break
REMEDIES = (measure.HARMONIC, measure.PILOT, measure.FULL, *measure.TOLD)


def show_rivals(errors: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What every method loses at its public setting, and the ends; a star where it is not told from the least."""
    rows = select(errors, setting=0, epsilon=epsilon)
    star = not_told_from_least(rows) & rows["method"].isin(METHODS)
    entries = rows.apply(_entry, axis=1) + star.map({True: f"{NARROW_SPACE}*", False: ""})
    columns = {
        f"{short(problem)}, {n}": cell.set_index("method")["entry"]
        for (problem, n), cell in rows.assign(entry=entries).groupby(["problem", "n"], sort=False)
    }
    methods = pd.Index((*METHODS, *measure.TOLD, *measure.ENDS), name="method")
    return pd.DataFrame(columns, index=methods).fillna("–")


def _entry(row: pd.Series) -> str:
    if row["failed"]:
        return f"fails in {round(row['failed'] * row['trials'])} of {row['trials']}".replace(" ", NARROW_SPACE)
    return in_percent(row["lost"], row["lost_error"])


def in_percent(lost: float, error: float) -> str:
    """A share with its error, both in per cent, on one line."""
    return measured(100 * lost, 100 * error).replace(" ", NARROW_SPACE)


def show_winners(errors: pd.DataFrame) -> pd.DataFrame:
    """Who is best, case by case, and how far the best form of DP-GD is behind."""
    rows = [
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
        for row in winners(errors).itertuples()
    ]
    return pd.DataFrame(rows).set_index(["data", "ε", "n"])


def show_gap(errors: pd.DataFrame) -> pd.DataFrame:
    """The remedies: each over the least of the comparison, at the largest size and least ε of each data set.

    With standard errors; the least itself is 1 and has none.
    """
    rows = least_epsilon(errors, setting=0)
    found = []
    for problem, part in rows.groupby("problem", sort=False):
        cell = select(part, n=part["n"].max())
        known, front = cell.set_index("method"), least(public(cell))
        told = {
            name: measured(*over(known.loc[name], front)).replace(" ", NARROW_SPACE) if name in known.index else "–"
            for name in REMEDIES
        }
        found.append({"data": short(str(problem)), "n": cell["n"].iloc[0]} | told)
    return pd.DataFrame(found).set_index(["data", "n"])


def answer(tables: Tables) -> list[str]:
    """Who has the least error how often, where DP-GD is not behind, and what the page does."""
    found, errors = winners(joined(tables)), tables["errors"]
    in_front = {name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in METHODS}
    first = max(in_front, key=lambda name: in_front[name])
    behind = found[found["beaten"] & (found["lost"] > CONSISTENT * found["lost_error"])]
    behind = behind if len(behind) else found
    worst = behind.loc[behind["over"].idxmax()]
    uneven = least_epsilon(errors, problem=measure.UNEVEN, setting=0)
    told = [pick(uneven, n=uneven["n"].max(), method=name) for name in (measure.HARMONIC, measure.WHITENED)]
    gain = float(told[0]["lost"] / told[1]["lost"])  # its error as if both were independent
    gained = measured(gain, gain * math.hypot(*(row["lost_error"] / row["lost"] for row in told)))
    return [
        f"At equal privacy, data and knowledge, {first} is best or not distinguishable from it in "
        f"{in_front[first]} of {len(found)} cases.",
        f"DP-GD is worse in {int(found['beaten'].sum())} of them, with up to "
        f"{measured(worst['over'], worst['over_error'])} times the excess error ({short(worst['problem'])}, "
        f"$\\varepsilon = {worst['epsilon']:g}$).",
        f"If DP-GD knows the features' second moment, its excess error is {gained} times smaller "
        f"({short(measure.UNEVEN)}, $\\varepsilon = {errors['epsilon'].min():g}$).",
    ]
