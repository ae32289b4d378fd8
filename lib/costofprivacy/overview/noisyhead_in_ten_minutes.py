"""What *NoisyHead in ten minutes* says."""

from costofprivacy.experiments.method import page
from costofprivacy.experiments.method.experiment import ZERO
from costofprivacy.judging.prose import compact, compared, percent
from costofprivacy.judging.tables import pick
from costofprivacy.overview import index
from costofprivacy.overview.saved import Saved
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

CLAIMS = {
    "private": "noisyhead/theorem-3.2",
    "low": "noisyhead/theorem-1.1-low",
    "high": "noisyhead/theorem-1.1-high",
    "bound": "noisyhead/theorem-4.1",
    "stopping": "noisyhead/section-4-optimal-stopping",
    "figure_2": "noisyhead/figure-2",
    "figure_3": "noisyhead/figure-3",
    "robust": "noisyhead/theorem-5.1-noisyhead",
    "robust_ridge": "noisyhead/theorem-5.1-ridge",
    "rival": "noisyhead/table-1-order",
    "rival_privacy": "noisyhead/appendix-b-privacy",
    "dp_sgd": "noisyhead/figure-5",
    "articles": "noisyhead/figure-6",
    "articles_learnt": "noisyhead/section-1.1-utility",
}


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``noisyhead-in-ten-minutes.md``."""
    row = index.head_row(saved)
    found: dict[str, str | Plate] = {name: saved.found(claim) for name, claim in CLAIMS.items()}
    return found | {
        "heads": heads(saved),
        "start": start(saved),
        "N": f"{row['N']:.0f}",
        "epsilon": f"{row['epsilon']:g}",
        "error": percent(row["test_error"] / row["response_variance"]),
        "best": percent(row["best_linear_head"] / row["response_variance"]),
        "verdict": compared(
            row["test_error"],
            row["response_variance"],
            ("better than", "no better than", "worse than"),
            row["standard_error"],
        ),
        "method": method(saved),
        "slips": saved.slips("noisyhead"),
    }


def method(saved: Saved) -> str:
    """What a tuned penalty changes, from the page on methods."""
    prompts = saved.table("method", "prompts")
    best = page.winner(prompts, **page.example(prompts))
    share = 1 - best["test_error"] / best["response_variance"]
    penalty = f" with a penalty near {compact(best['penalty'])}" if best["method"] != ZERO else ""
    return f"{page.name_of(best['method'])}{penalty} explains {percent(share)} of the variance"


def heads(saved: Saved) -> Plate:
    """Test error of the private heads against the number of prompts."""
    row = index.head_row(saved)
    with figures.panels(ends=False, figsize=(6.6, 4.0)) as (figure, (axes,)):
        index.draw_heads(axes, saved.table("noisyhead/low-dimensional", "test-error"))
    return Plate(
        figure,
        caption=(
            f"**What the private heads predict** at $\\varepsilon = {row['epsilon']:g}$. The dashed line is the error "
            f"of always answering 0. *Published* are the settings behind the paper's numbers, *corrected* those "
            f"that we find right. Bars of two standard errors over {row['trials']:.0f} trials."
        ),
    )


def start(saved: Saved) -> Plate:
    """Excess risk against steps from both starts: what falls in the paper's Figure 3."""
    table = saved.table("noisyhead/early-stopping", "closed-form")
    table = table[table["account"] == "Algorithm 1"]
    first = {s: pick(table, start=s, T=table["T"].min())["total"] for s in ("random", "zero")}
    lowest = {s: rows.loc[rows["total"].idxmin()] for s, rows in table.groupby("start")}
    least, best = ({s: row[column] for s, row in lowest.items()} for column in ("total", "T"))
    with figures.panels(ends=False, figsize=(6.6, 4.0)) as (figure, (axes,)):
        for (name, rows), look in zip(table.groupby("start"), figures.looks(first).values()):
            label = {"random": "from a random start, as published", "zero": "from zero"}[str(name)]
            axes.plot(rows["T"], rows["total"], label=label, markevery=8, **look)
        figures.log_axes(axes, "$T$ (steps)", "excess risk")
        axes.legend()
    return Plate(
        figure,
        caption=(
            f"**Where the paper's Figure 3 comes from.** In the first steps shown the excess risk is "
            f"{compact(first['random'])} from the random start and {compact(first['zero'])} from zero. It is least "
            f"after {best['random']:.0f} steps from the random start, at {compact(least['random'])}, and after "
            f"{best['zero']:.0f} from zero. Closed form, no sampling error."
        ),
    )
