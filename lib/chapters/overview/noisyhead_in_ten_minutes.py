"""What *NoisyHead in ten minutes* says."""

from chapters.method import show as method_show
from chapters.method.measure import ZERO
from chapters.overview import index
from chapters.overview.drawings import head
from chapters.overview.saved import Saved
from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import Plate


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``noisyhead-in-ten-minutes.md``."""
    row = index.head_row(saved)
    return saved.found | {
        "head": head.plate(),
        "heads": heads(saved),
        "start": start(saved),
        "N": f"{row['N']:.0f}",
        "epsilon": f"{row['epsilon']:g}",
        "error": percent(row["test_error"] / row["response_variance"]),
        "best": percent(row["best_linear_head"] / row["response_variance"]),
        "verdict": index.verdict(saved),
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
    row, word = index.head_row(saved), index.verdict(saved)
    with figures.panels(figsize=(7.2, 4.0)) as (figure, (axes,)):
        index.draw_heads(axes, saved.table("noisyhead/low-dimensional", "test-error"))
    return Plate(
        figure,
        f"**With the published settings the private head does {word} always predicting 0 (dashed).** Its test error is "
        f"{percent(row['test_error'] / row['response_variance'])} of that of always predicting 0, at "
        f"$N = {row['N']:.0f}$ and $\\varepsilon = {row['epsilon']:g}$. *Published* are the settings that give the "
        "paper's numbers; *corrected* are those that we find right. The bars show two standard errors over "
        f"{row['trials']:.0f} trials.",
    )


def start(saved: Saved) -> Plate:
    """Excess risk against the number of steps from both starts, which explains the fall in the paper's Figure 3."""
    table = saved.table("noisyhead/early-stopping", "closed-form")
    table = table[table["account"] == "Algorithm 1"]
    best = {s: rows.loc[rows["total"].idxmin(), "T"] for s, rows in table.groupby("start")}
    with figures.panels(figsize=(7.2, 4.0)) as (figure, (axes,)):
        for (name, rows), look in zip(table.groupby("start"), figures.looks(best).values()):
            label = {"random": "from a random\nstart, as published", "zero": "from zero"}[str(name)]
            axes.plot(rows["T"], rows["total"], label=label, markevery=8, **look)
        figures.log_axes(axes, "$T$ (steps)", "excess risk")
    return Plate(
        figure,
        f"**From the random start the risk is smallest after {best['random']:.0f} steps, from zero after "
        f"{best['zero']:.0f}.** The curves come from a closed form and have no sampling error.",
    )
