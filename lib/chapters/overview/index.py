"""What the front page says of each paper: what was found, in a sentence with its figure, and a bar of verdicts."""

import pandas as pd
from matplotlib.axes import Axes

from chapters.overview.saved import Saved
from companion.build import repository
from companion.judging import cards, claims, errata
from companion.judging.findings import Verdict
from companion.judging.prose import compared, percent
from companion.judging.tables import pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.running import stamps
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy import __version__
from costofprivacy.settings import Setting

INDISTINCT = 0.03  # share by which lines of a logarithmic panel must differ to be told apart
SIZE, PANEL = (5.4, 2.15), 1.6  # inches: two figures beside each other on the first screen; a panel's height
ALPHA = 0.5  # the learning rate schedule of DP-GD's figure that is shown: the same noise in every step
JUMP = "With a constant rate all noise comes at $t = 1$, hence the jump; with *even noise* each step has the same."
TITLE, AUTHOR, YEAR = "The Cost of Privacy: an executable companion", "The Cost of Privacy contributors", 2026
_ENTRY = {"title": f"{{{TITLE}}}", "author": f"{{{AUTHOR}}}", "year": YEAR, "note": f"Version {__version__}"}
BIBTEX = "\n".join(["@misc{costofprivacy,", *(f"  {key} = {{{value}}}," for key, value in _ENTRY.items()), "}"])
CITATION = f"{AUTHOR}, *{TITLE}*, version {__version__}, {YEAR}."  # CITATION.cff says the same to machines


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``index.md``."""
    table = claims.ledger(saved.register.values(), saved.findings)
    address = repository.address(stamps.find_root(saved.tree))
    return {
        "judged": f"{sum(found.verdict != Verdict.UNTESTABLE for found in saved.findings.values())}",
        "all": f"{len(saved.register)}",
        "errata": f"{len(errata.errata(saved.register, saved.findings))}",
        "noisyhead": heads(saved),
        "dpgd": paths(saved),
        **{f"{k}_bar": bar(table[table["paper"] == k], p["short"]) for k, p in saved.papers.items()},
        **{f"{k}_authors": ", ".join(a.split()[-1] for a in p["authors"].split(", ")) for k, p in saved.papers.items()},
        "dispute": f"[Open an issue]({address}/issues)" if address else "Open an issue where you got this book",
        "citation": f"{CITATION} [BibTeX](#how-to-cite)",
    }


def head_row(saved: Saved) -> pd.Series:
    """NoisyHead in the published settings at the largest N and ε of Figure 1, with its test error."""
    table = saved.table("noisyhead/low-dimensional", "test-error")
    return pick(table, **table[["N", "epsilon"]].max(), method="noisyhead", setting=str(Setting.PUBLISHED))


def verdict(saved: Saved) -> str:
    """How that head compares with always predicting 0."""
    row, words = head_row(saved), ("better than", "no better than", "worse than")
    return compared(row["test_error"], row["response_variance"], words, row["standard_error"])


def heads(saved: Saved) -> Plate:
    """Whether NoisyHead's trained head predicts anything, in one sentence, with its test errors."""
    row = head_row(saved)
    head, best = (row[name] / row["response_variance"] for name in ("test_error", "best_linear_head"))
    with figures.panels(figsize=SIZE, ends=False) as (figure, (axes,)):
        draw_heads(axes, saved.table("noisyhead/low-dimensional", "test-error"))
        figures.end_labels(axes, PANEL)
    return Plate(
        figure,
        f"**In the paper's own first experiment the private head does {verdict(saved)} always predicting 0.** Its test "
        f"error is {percent(head)} of the response's variance, the best linear head's {percent(best)}.",
    )


def off(saved: Saved) -> str:
    """The most by which the mean simulated risk ends beside the prediction, over the panels of Figure 1, as words."""
    ends = path_ends(saved)
    return percent(abs(ends["risk_mean"] / ends["ode_risk"] - 1).max())


def path_ends(saved: Saved) -> pd.DataFrame:
    """The end of the pass in every panel of DP-GD's Figure 1, in the largest dimension."""
    table = saved.table("dpgd/deterministic-equivalent", "figure-1")
    return table[(table["d"] == table["d"].max()) & (table["t"] == table["t"].max())]


def paths(saved: Saved) -> Plate:
    """How near DP-GD's equations come to the algorithm in all panels of Figure 1, in one sentence, with two of them."""
    ends = path_ends(saved)
    away = abs(ends["risk_mean"] - ends["ode_risk"])
    verb = "predict" if (away <= CONSISTENT * ends["standard_error"]).all() else "miss"
    with figures.panels(figsize=SIZE, ends=False) as (figure, (axes,)):
        draw_path(axes, saved.table("dpgd/deterministic-equivalent", "figure-1"))
        figures.end_labels(axes, PANEL)
    return Plate(
        figure,
        f"**The paper's equations {verb} the algorithm's risk in all {len(ends)} panels of its Figure 1.** In "
        f"dimension {ends['d'].max()} the mean risk ends within {off(saved)} of the prediction. {JUMP}",
    )


def draw_heads(axes: Axes, table: pd.DataFrame) -> None:
    """Test error against N at the largest ε, beside answering 0 and the best linear head.

    Where the corrected settings explain almost nothing, their line lies on that of answering 0, and a note says so.
    """
    rows = select(table, epsilon=table["epsilon"].max(), method="noisyhead")
    for setting, look in figures.looks((Setting.PUBLISHED, Setting.CORRECTED)).items():
        own = rows[rows["setting"] == setting]
        figures.points(axes, own, "N", "test_error", label=str(setting), **look)
    sizes = table.drop_duplicates("N").sort_values("N")
    axes.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="answering 0")
    axes.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best linear head")
    figures.log_axes(axes, "$N$ (training prompts)", "test error")
    figures.plain_ticks(axes, sizes["N"].to_numpy())
    if told := hidden(rows):
        middle = sizes.iloc[len(sizes) // 3]
        axes.annotate(
            told,
            (middle["N"], middle["response_variance"]),
            (0.04, 0.42),
            textcoords="axes fraction",
            fontsize=figures.LETTERS,
            arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.8, "relpos": (0.4, 1), "shrinkB": 4},
        )


def hidden(rows: pd.DataFrame) -> str:
    """Why the line of the corrected settings cannot be seen beside that of answering 0; nothing where it can be."""
    corrected = rows[rows["setting"] == str(Setting.CORRECTED)]
    left = corrected["test_error"] / corrected["response_variance"]
    if not (abs(left - 1) < INDISTINCT).all():
        return ""
    most = max(1 - left.min(), 0.0)
    return f"corrected: predicts at most {percent(most)}\nof the variance, so its line\nlies on that of answering 0"


def draw_path(axes: Axes, table: pd.DataFrame) -> None:
    """Risk against time for both schedules of Figure 1, isotropic features, in the largest dimension."""
    table = table[(table["spectrum"] == "isotropic") & (table["d"] == table["d"].max())]
    names = {0.0: "constant rate", ALPHA: "even noise"}
    for (alpha, rows), look in zip(table.groupby("alpha"), figures.looks(names).values()):
        colour = look["color"]
        low, high = rows["risk_mean"] - rows["risk_sd"], rows["risk_mean"] + rows["risk_sd"]
        axes.fill_between(rows["t"], low, high, color=colour, alpha=0.25, lw=0)
        axes.plot(rows["t"], rows["risk_mean"], color=colour, label=names[float(alpha)])
        axes.plot(rows["t"], rows["ode_risk"], "k--", lw=1, label="predicted" if alpha == ALPHA else None)
    axes.set(xlabel="$t$ (share of the data seen)", ylabel="excess risk", yscale="log")
    axes.tick_params(axis="y", which="minor", labelleft=False)


def bar(rows: pd.DataFrame, paper: str) -> str:
    """Numbers of claims by verdict, as a bar for the eye and in words, each of which leads to these claims."""
    parts, words = "", []
    count, empty = (part["verdict"].value_counts() for part in (rows, rows[rows["vacuous"]]))
    for verdict in (each for each in Verdict if each in count):
        slug, to = cards.slug(verdict), f"ledger.html#paper={paper}&verdict={verdict.replace(' ', '+')}"
        parts += f"<span class='verdict-bar-{slug}' style='flex-grow:{count[verdict]}'></span>"
        told = cards.counted(verdict, count[verdict]) + (f" ({empty[verdict]} vacuously)" if verdict in empty else "")
        words.append(f'<a class="verdict verdict-{slug}" href="{to}">{told}</a>')
    return f"<div class='verdict-bar' aria-hidden='true'>{parts}</div>\n\n{' · '.join(words)}"
