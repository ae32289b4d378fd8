"""Do the hyper-parameters and schedules of the theory do as well on real data?"""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from chapters.dpgd.real_data.judge import fractions, leads, margins, own_fractions, panels
from chapters.dpgd.real_data.measure import ALL, BLOWN, FIGURES, KEPT, LIMIT, LIMITED, PAPERS, PLACE, SCHEDULES
from companion.judging import words
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from companion.judging.prose import compact, listed, percent, plain, span, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.datasets import MNIST

# ---- Maps ----

CAP = BLOWN  # of the paper's maps: risks above it are not compared
TICKS = (0.05, 0.1, 0.2, 0.3, 0.4)
LEARNT = 0.4  # risks below it are told apart from the risk of answering 0
TREATED = {math.inf: "features as they are", LIMIT: "features limited"}
FORMS = {"printed": r"$\|x\|^2 = d$, as printed", "typical": r"$\|x\|^2$ its median"}
RISK = r"$\mathcal{P}(\theta^p)$ (units of $y^2$)"


def caption_map(tables: Tables, name: str) -> str:
    """What the maps of Figure 5 or 6 show: ``figure-5`` or ``figure-6``."""
    table, rows = tables[name], tables["rows"]
    asked = next(data for data, figure in FIGURES.items() if figure == name)
    data, found, seeds = select(rows, asked=asked)["data"].iloc[0], panels(table), int(table["seed"].nunique())
    risks = [panel.least(panel.clips > 0) for panel in found]
    # By how much a single seed of a map is above its median seed, where the mean is drawn in full.
    over = [(p.risks.max(axis=0) / np.median(p.risks, axis=0))[p.mean < CAP].max(initial=1.0) for p in found]
    head = words.headline(judges_of(__package__)[f"dpgd/{name}"], tables).rstrip(".")
    return (
        f"**{head}.** {f'Figure {name[-1]} of the paper, re-run' if data == asked else 'Maps of a stand-in'} on "
        f"{data}: mean held-out risk of {seeds} seeds, none left out, capped at {CAP:g}. Dashed red: $c=1$, "
        "$\\tilde\\eta(0)=2/\\gamma$ and, where it exists, $c\\tilde\\eta(0)=\\ln(1/\\gamma)$. Points: the least risk "
        f"of each row. Where the mean is below the cap, a single seed is up to {compact(max(over))} times the median "
        "seed. The relative standard error of the least risk is "
        f"{span((float(r.std(ddof=1) / math.sqrt(len(r)) / r.mean()) for r in risks), percent)}."
    )


# ---- Seeds ----


def draw_seeds(table: pd.DataFrame) -> Plate:
    """Every seed: its risk against the largest feature among its held-out rows, and with limited features."""
    sizes = sorted(table["normalisation"].unique())
    rows = select(table, normalisation=sizes[len(sizes) // 2])
    columns = dict(zip(("risk", "limited"), TREATED.values(), strict=True))
    groups = rows.groupby("n")
    with figures.panels(groups.ngroups, ends=False, figsize=(7.8, 3.6), sharey=True) as (figure, beside):
        for axes, (n, group) in zip(beside, groups, strict=True):
            for name, look in figures.looks(columns).items():
                axes.plot(group["largest"], group[name], ls="", ms=3, label=columns[name], rasterized=True, **look)
            axes.axhline(BLOWN, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, "largest feature of a held-out row", RISK)
            axes.set_title(f"$n = {n}$")
        figure.legend(*beside[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    found = fractions(rows)
    told = "; ".join(f"n {int(n)}: {percent(share)} of the seeds" for n, share in zip(found["n"], found["share"]))
    explained = found["explained"].dropna()
    head = f"Up to {percent(found['share'].max())} of the shuffles blow up"
    head += ", but none with limited features" if rows["limited"].max() < BLOWN else ""
    carried = ""
    if len(explained):
        carried = f" In them the worst 0.2 % of the rows carry {span(explained, percent)} of the loss."
    return Plate(
        figure,
        f"**{head}.** {table['data'].iloc[0]}, output perturbation, {int(groups.size().min())} shuffles for each $n$; "
        f"a point is one shuffle, so no error is drawn. Above the dashed line, at {BLOWN:g}, a seed counts as blown "
        f"up: {told}.{carried} With features limited at {LIMIT:g} standard deviations the largest risk is "
        f"{plain(rows['limited'].max())}.",
    )


# ---- Equations ----


def compared(equations: pd.DataFrame, remedy: pd.DataFrame, *maps: pd.DataFrame) -> pd.DataFrame:
    """Each place of the maps: the measured risk, and both risks by the equations; all below the cap of the maps.

    Measured is the median over seeds where features are as they are, and the mean over seeds where they are limited.
    """
    raw = pd.concat([table.groupby(PLACE, as_index=False)["risk"].median() for table in maps])
    found = pd.concat([raw.assign(limit=math.inf), remedy[[*PLACE, "risk"]].assign(limit=LIMIT)])
    rows = found.merge(equations, on=[*PLACE, "limit"])
    return rows[(rows[["risk", "printed", "typical"]] < CAP).all(axis=1)]


def draw_equations(equations: pd.DataFrame, remedy: pd.DataFrame, mnist: pd.DataFrame, housing: pd.DataFrame) -> Plate:
    """Measured risks against those of the deterministic equivalent that is fed the data's spectrum."""
    rows = compared(equations, remedy, mnist, housing)
    learnt = rows[rows["risk"] < LEARNT]
    sets = list(dict.fromkeys(equations["data"]))
    cases = {
        f"{data.split(',')[0]}, {treated}": select(learnt, data=data, limit=limit)
        for (limit, treated), data in itertools.product(TREATED.items(), sets)
    }
    with figures.style():
        figure, panels = plt.subplots(2, len(sets), figsize=(7.8, 7.0), squeeze=False, dpi=80)
        for axes, (name, part) in zip(panels.ravel(), cases.items(), strict=True):
            for form, look in figures.looks(FORMS).items():
                axes.plot(part[form], part["risk"], ls="", ms=2, label=FORMS[form], rasterized=True, **look)
            ends = [part["risk"].min() * 0.9, LEARNT]
            axes.plot(ends, ends, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, r"$\mathcal{P}$ by the equations", r"$\mathcal{P}$ measured")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axes.minorticks_off()
            axes.set_title(name)
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    offs = {form: percent(float((learnt["risk"] / learnt[form] - 1).abs().median())) for form in FORMS}
    told = []
    for name, part in cases.items():
        off = [percent(float((part["risk"] / part[form] - 1).abs().median())) for form in FORMS if len(part)]
        printed, typical = off or ["nothing to tell"] * 2
        told.append(f"on {name}, {printed} as printed and {typical} with the median")
    return Plate(
        figure,
        f"**With the median of $\\|x\\|^2$ the equations are off by {offs['typical']} in the median, as printed by "
        f"{offs['printed']}.** A point is a place of the maps where less than {LEARNT:g} is measured and less than "
        f"{CAP:g} solved; dashed: equality. Measured is the median seed above, the mean of the seeds below. The "
        f"median relative distance is {'; '.join(told)}. Points of a map share their rows, so that their errors are "
        "correlated.",
    )


def show_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """What the rows are like, by data set and n: means over the seeds, medians where rare values rule."""
    groups = rows.groupby(["data", "n"], sort=False)
    ranges = {"that vary": "live", "of variance ½ to 2": "unit_variance", "tr Σ": "trace", "median of ‖x‖²": "typical"}
    shown = pd.DataFrame(
        {
            "test rows": groups["test_rows"].first().map(int).map(str),
            "features": groups["d"].first().map(str),
            **{name: groups[column].agg(lambda values: span(values, plain)) for name, column in ranges.items()},
            "risk of answering 0": groups["trivial"].mean().map(plain),
            "least linear risk": groups["floor"].mean().map(plain),
        }
    )
    return shown.rename_axis(["data set", "n"])


def show_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """By n and number of normalisation rows: how many seeds blow up, and what distinguishes them."""
    found = fractions(table)
    numbers = {
        "their typical error, over the others'": "typical",
        "their training risk, over the others'": "training",
        "loss in the worst 0.2 % of rows": "explained",
        "largest feature, median": "feature_out",
        "the others'": "feature_in",
        "largest risk": "worst",
        "features limited": "worst_limited",
    }
    shown = {"n": found["n"], "rows that normalise": found["normalisation"]}
    shown["seeds that blow up"] = pd.Series(with_errors(found, "share"))
    for name, column in numbers.items():
        tell = percent if column == "explained" else plain
        shown[name] = found[column].map(tell, na_action="ignore").fillna("–")
    return pd.DataFrame(shown).set_index(["n", "rows that normalise"])


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of the risk over seeds, by data set, view, n and schedule."""
    groups = table.groupby(["data", "view", "n", "schedule"], sort=False)["risk"]
    found = groups.agg(risk="mean", standard_error="sem", seeds="count").reset_index()
    return found.assign(schedule=found["schedule"].map(NAMES))


# ---- Figure 8 ----

NAMES = {name: name if name == "harmonic" else rf"$\alpha = {name}$" for name in SCHEDULES}


def cases(found: pd.DataFrame) -> list[tuple[str, str]]:
    """The panels of Figure 8: for each data set what the paper shows, and with limited features."""
    shown = []
    for k, data in enumerate(dict.fromkeys(found["data"])):
        kept = k > 0 and KEPT in set(select(found, data=data)["view"])
        shown += [(data, KEPT if kept else ALL), (data, LIMITED)]
    return shown


def caption_figure_8(tables: Tables) -> str:
    """Which schedule has the least risk in Figure 8, and how sure that is."""
    table = tables["figure-8"]
    found, ends = means(table), []
    for data, view in cases(found):
        chosen = select(found, data=data, view=view)
        if len(chosen):
            last, where = chosen[chosen["n"] == chosen["n"].max()].set_index("schedule")["risk"], data.split(",")[0]
            ends.append(f"on {where}, {view}, {last.idxmin()} is lowest at {compact(last.min())}")
    head = words.headline(judges_of(__package__)["dpgd/figure-8"], tables).rstrip(".")
    named = "Figure 8 of the paper, re-run" if set(table["data"]) == set(tables["rows"]["asked"]) else "Stand-ins"
    return (
        f"**{head}.** {named}: held-out risk of each schedule at $c$, $\\rho$ of the figure, its other "
        "hyper-parameters chosen on the other half of the seeds; bars are two standard errors. Below: features limited "
        f"at {LIMIT:g} standard deviations. At the largest $n$, {listed(ends)}. {_behind(table, cases(found))}"
    )


def _behind(table: pd.DataFrame, cases: list[tuple[str, str]]) -> str:
    """Seed by seed: in how many cases the harmonic schedule leads all others, and in which another leads it."""
    rows = pd.concat([margins(table, data, view).assign(data=data, view=view) for data, view in cases])
    places = [group for _, group in rows.groupby(["data", "view", "n"])]
    if not places:
        return ""
    lead = f"Compared seed by seed, the harmonic one is lowest beyond the errors in {leads(places)} of {len(places)}"
    found = rows[rows["behind"].astype(bool)]
    if found.empty:
        return f"{lead} cases, and no other is lower than it beyond the errors."
    better = listed(
        f"{NAMES[row.schedule]} on {row.data.split(',')[0]}, {row.view}, $n={int(row.n)}$" for row in found.itertuples()
    )
    return f"{lead} cases; it is behind {better}."


def answer(tables: Tables) -> list[str]:
    """The shape of the maps, what ruins some shuffles, and which schedule is best."""
    rows = tables["rows"]
    used = [str(select(rows, asked=name)["data"].iloc[0]) for name in PAPERS]
    if used != list(PAPERS):
        return [
            "This page says nothing of the paper's data, because some of them are missing here.",
            f"Its tables are of {used[0]} and {used[1]}, which come with scikit-learn.",
            "`make data` fetches the paper's.",
        ]
    shares = own_fractions(tables["seeds"])
    out, left, judges = shares.loc[shares["share"].idxmax()], float(shares["limited"].max()), judges_of(__package__)
    lost = Verdict.FAILS in (judges[f"dpgd/{name}"](tables).verdict for name in ("figure-5", "figure-6"))
    shape = f"The maps {'do not have' if lost else 'have'} the predicted shape"
    found = [panel for panel in panels(tables[FIGURES[MNIST]]) if panel.gamma < 1]
    if found:  # else ln(1/γ) = 0
        lines = span(panel.product / math.log(1 / panel.gamma) for panel in found)
        also = ";" if lost else ", but"
        shape += rf"{also} on MNIST the best $c\tilde\eta(0)$ is {lines} times $\ln(1/\gamma)$"
    cured = f"all but {percent(left)}" if left else "all"
    return [
        f"{shape}.",
        f"On housing, a few held-out rows ruin {percent(float(out['share']))} of the shuffles; features limited to "
        f"{LIMIT:g} standard deviations cure {cured}.",
        words.headline(judges["dpgd/figure-8"], tables),
    ]


def said_of_data(tables: Tables) -> str:
    """Which data sets the tables are of, in a sentence; a stand-in is named as one."""
    rows = tables["rows"].drop_duplicates("asked")
    told = [
        f"{row['data']}, {int(row['d'])} features"
        + ("" if row["data"] == row["asked"] else f" (in the place of {row['asked']}, which was not at hand)")
        for _, row in rows.iterrows()
    ]
    return f"The tables on this page are of {listed(told)}."
