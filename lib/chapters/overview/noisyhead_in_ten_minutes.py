"""What *NoisyHead in ten minutes* says."""

from chapters.method import show as method_show
from chapters.method.measure import ZERO
from chapters.overview import index
from chapters.overview.drawings import head
from chapters.overview.saved import Saved
from companion.judging.prose import compact, compared, percent
from companion.judging.tables import pick
from companion.showing import figures
from companion.showing.plates import Plate


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``noisyhead-in-ten-minutes.md``."""
    row, words = index.head_row(saved), ("better than", "no better than", "worse than")
    return saved.found | {
        "head": head.plate(),
        "heads": heads(saved),
        "start": start(saved),
        "N": f"{row['N']:.0f}",
        "epsilon": f"{row['epsilon']:g}",
        "error": percent(row["test_error"] / row["response_variance"]),
        "best": percent(row["best_linear_head"] / row["response_variance"]),
        "verdict": compared(row["test_error"], row["response_variance"], words, row["standard_error"]),
        "method": method(saved),
        "slips": saved.errata("noisyhead"),
    }


def method(saved: Saved) -> str:
    """What the best method explains with a tuned penalty, from the page on methods."""
    prompts = saved.table("method", "prompts")
    best = method_show.winner(prompts, **method_show.example(prompts))
    share = 1 - best["test_error"] / best["response_variance"]
    penalty = f" with a penalty near {compact(best['penalty'])}" if best["method"] != ZERO else ""
    return f"{method_show.name_of(best['method'])}{penalty} explains {percent(share)} of the variance"


def heads(saved: Saved) -> Plate:
    """Test error of the private heads against the number of prompts."""
    row = index.head_row(saved)
    with figures.panels(figsize=(7.2, 4.0)) as (figure, (axes,)):
        index.draw_heads(axes, saved.table("noisyhead/low-dimensional", "test-error"))
    return Plate(
        figure,
        f"**Test error of the private heads** at $\\varepsilon = {row['epsilon']:g}$. With the published settings "
        f"it is {percent(row['test_error'] / row['response_variance'])} of that of always predicting 0 (dashed) at "
        f"$N = {row['N']:.0f}$. *Published* are the settings that give the paper's numbers; *corrected* are the "
        f"settings that we find right. The bars show two standard errors over {row['trials']:.0f} trials.",
    )


def start(saved: Saved) -> Plate:
    """Excess risk against the number of steps from both starts, which explains the fall in the paper's Figure 3."""
    table = saved.table("noisyhead/early-stopping", "closed-form")
    table = table[table["account"] == "Algorithm 1"]
    first = {s: pick(table, start=s, T=table["T"].min())["total"] for s in ("random", "zero")}
    lowest = {s: rows.loc[rows["total"].idxmin()] for s, rows in table.groupby("start")}
    least, best = ({s: row[column] for s, row in lowest.items()} for column in ("total", "T"))
    with figures.panels(figsize=(7.2, 4.0)) as (figure, (axes,)):
        for (name, rows), look in zip(table.groupby("start"), figures.looks(first).values()):
            label = {"random": "from a random\nstart, as published", "zero": "from zero"}[str(name)]
            axes.plot(rows["T"], rows["total"], label=label, markevery=8, **look)
        figures.log_axes(axes, "$T$ (steps)", "excess risk")
    return Plate(
        figure,
        "**How much of the paper's Figure 3 is due to the random start.** After the first step shown, the excess risk "
        f"is {compact(first['random'])} from the random start and {compact(first['zero'])} from zero. From the random "
        f"start it is smallest after {best['random']:.0f} steps, at {compact(least['random'])}; from zero it is "
        f"smallest after {best['zero']:.0f}. The curves come from a closed form and have no sampling error.",
    )
