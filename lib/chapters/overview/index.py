"""What the front page says: one figure, three answers for each paper, and bars of verdicts."""

import html
import math

import pandas as pd
from matplotlib.axes import Axes

from chapters.overview.saved import Saved
from companion.judging import cards, claims, errata
from companion.judging.findings import Verdict
from companion.judging.prose import compact, compared, course, percent
from companion.judging.tables import pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy import __version__
from costofprivacy.settings import Setting

INDISTINCT = 0.03  # share by which lines of a logarithmic panel must differ to be told apart
ALPHA = 0.5  # the learning rate schedule of DP-GD's figure that is shown: the same noise in every step
TITLE, AUTHOR, YEAR = "The Cost of Privacy: an executable companion", "The Cost of Privacy contributors", 2026
CITATION = f"""```bibtex
@misc{{{{costofprivacy,
  author = {{{{{{{{{AUTHOR}}}}}}}}},
  title = {{{{{{{{{TITLE}}}}}}}}},
  year = {{{{{YEAR}}}}},
  note = {{{{Version {{version}}}}}},
}}}}
```"""  # CITATION.cff says the same to machines


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``index.md``."""
    counted = claims.counts(claims.ledger(saved.register.values(), saved.findings))
    return {
        "figure": carrying(saved),
        "judged": f"{sum(found.verdict != Verdict.UNTESTABLE for found in saved.findings.values())}",
        "all": f"{len(saved.register)}",
        "errata": f"{len(errata.errata(saved.register, saved.findings))} independent slips and missing conditions",
        "noisyhead_learns": learns(saved),
        "noisyhead_private": saved.headline("noisyhead/theorem-3.2"),
        "noisyhead_rate": saved.headline("noisyhead/theorem-4.1"),
        "dpgd_predicts": predicts(saved),
        "dpgd_private": saved.headline("dpgd/proposition-4.1"),
        "dpgd_rate": saved.headline("dpgd/equation-1.4"),
        "noisyhead_bar": bar(counted.loc["noisyhead"]),
        "dpgd_bar": bar(counted.loc["dpgd"]),
        "noisyhead_authors": saved.papers["noisyhead"]["authors"],
        "dpgd_authors": saved.papers["dpgd"]["authors"],
        "citation": CITATION.format(version=__version__),
    }


def head_row(saved: Saved) -> pd.Series:
    """NoisyHead in the published settings at the largest N and ε of Figure 1, with its test error."""
    table = saved.table("noisyhead/low-dimensional", "test-error")
    where = {"N": table["N"].max(), "epsilon": table["epsilon"].max()}
    return pick(table, **where, method="noisyhead", setting=str(Setting.PUBLISHED))


def learns(saved: Saved) -> str:
    """Whether the trained head predicts anything, in one sentence."""
    row = head_row(saved)
    words = ("It beats", "It does no better than", "It does worse than")
    word = compared(row["test_error"], row["response_variance"], words, row["standard_error"])
    head, best = (row[name] / row["response_variance"] for name in ("test_error", "best_linear_head"))
    return (
        f"{word} always predicting 0 in the paper's own first experiment: its test error is {percent(head)} of the "
        f"response's variance, the best linear head's {percent(best)}."
    )


def path_end(saved: Saved) -> pd.Series:
    """DP-GD at the end of the pass in the largest dimension of its Figure 1: simulated and predicted risk."""
    table = select(saved.table("dpgd/deterministic-equivalent", "figure-1"), spectrum="isotropic", alpha=ALPHA)
    rows = table[table["d"] == table["d"].max()]
    return rows.loc[rows["t"].idxmax()]


def off(end: pd.Series) -> float:
    """How far the mean simulated risk is from the predicted one, as a share of the latter."""
    return float(end["risk_mean"] / end["ode_risk"] - 1)


def last_step(saved: Saved) -> str:
    """What the risk does from the last time drawn before the end to the release, with a constant rate."""
    table = select(saved.table("dpgd/deterministic-equivalent", "figure-1"), spectrum="isotropic", alpha=0.0)
    before, end = (row for _, row in table[table["d"] == table["d"].max()].sort_values("t").iloc[-2:].iterrows())
    told = course(before["risk_mean"], end["risk_mean"], math.hypot(before["standard_error"], end["standard_error"]))
    return f"With a constant rate it {told} from $t = {before['t']:g}$ to the release"


def predicts(saved: Saved) -> str:
    """How near the equations come to the algorithm, in one sentence."""
    row = path_end(saved)
    errors = abs(row["risk_mean"] - row["ode_risk"]) / row["standard_error"]
    word = compared(row["risk_mean"], row["ode_risk"], ("below", "off", "above"))
    verb = "predict" if errors <= CONSISTENT else "miss"
    return (
        f"Its equations {verb} the algorithm: in dimension {row['d']:.0f} the mean simulated risk ends "
        f"{percent(abs(off(row)))} {word} the predicted one, within {compact(errors)} standard errors "
        f"([Figure 1](#{saved.register['dpgd/figure-1'].anchor}))."
    )


def carrying(saved: Saved) -> Plate:
    """Left: what NoisyHead's heads predict. Right: DP-GD's risk beside its deterministic equivalent."""
    row, end = head_row(saved), path_end(saved)
    with figures.panels(2, figsize=(9.2, 4.0)) as (figure, (left, right)):
        draw_heads(left, saved.table("noisyhead/low-dimensional", "test-error"))
        draw_path(right, saved.table("dpgd/deterministic-equivalent", "figure-1"))
        left.set_title(f"NoisyHead at ε = {row['epsilon']:g}")
        right.set_title(f"DP-GD in dimension {end['d']:.0f}")
    return Plate(
        figure,
        caption=(
            f"**Left**: what the private heads are worth, in units of the response's variance. At $N = {row['N']:.0f}$ "
            f"the published settings give {compact(row['test_error'])}, answering 0 gives "
            f"{compact(row['response_variance'])}. **Right**: DP-GD's risk over one pass of the data, simulated (band "
            f"of two standard deviations over {end['trials']:.0f} runs) and predicted. {last_step(saved)}."
        ),
    )


def draw_heads(axes: Axes, table: pd.DataFrame) -> None:
    """Test error against N at the largest ε, beside answering 0 and the best linear head.

    Where the corrected settings explain almost nothing, their line lies on that of answering 0, and a note says so.
    """
    rows = select(table, epsilon=table["epsilon"].max(), method="noisyhead")
    for setting, look in figures.looks((Setting.PUBLISHED, Setting.CORRECTED)).items():
        own = rows[rows["setting"] == setting]
        figures.points(axes, own, "N", "test_error", label=f"NoisyHead,\n{setting}", **look)
    sizes = table.drop_duplicates("N").sort_values("N")
    axes.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="always\nanswering 0")
    axes.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best\nlinear head")
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
        low, high = rows["risk_mean"] - 2 * rows["risk_sd"], rows["risk_mean"] + 2 * rows["risk_sd"]
        axes.fill_between(rows["t"], low, high, color=colour, alpha=0.25, lw=0)
        axes.plot(rows["t"], rows["risk_mean"], color=colour, label=f"{names[float(alpha)]},\nsimulated")
        axes.plot(rows["t"], rows["ode_risk"], "k--", lw=1, label="predicted\n(dashed)" if alpha == ALPHA else None)
    axes.set(xlabel="$t$ (share of the data seen)", ylabel="excess risk", yscale="log")


def bar(row: pd.Series) -> str:
    """Numbers of claims by verdict, as a bar for the eye and a sentence for the ear."""
    shown = [(verdict, int(row[verdict])) for verdict in (*map(str, Verdict), claims.PENDING) if row[verdict]]
    told = [f"{count} {cards.label(verdict)}" for verdict, count in shown]
    said = f"{int(row.sum())} claims: {', '.join(told)}"
    parts = "".join(
        f"<span class='verdict-bar-{cards.slug(verdict)}' style='flex-grow:{count}' title='{title}'></span>"
        for (verdict, count), title in zip(shown, told, strict=True)
    )
    words = " ".join(f"{count} {cards.badge(verdict)}" for verdict, count in shown)
    return f"<div class='verdict-bar' role='img' aria-label='{html.escape(said)}'>{parts}</div>\n\n{words}"
