"""Verdicts on the events of Appendix A.3 of arXiv:2504.16000v2 and their probabilities: (A.10)-(A.14)."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead.cost_of_privacy.trends import Trend, lost, told, trend
from chapters.noisyhead.cost_of_privacy.verdicts import failure_probability, short
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ROUNDING

CONFIDENCE = 1e-3  # of the binomial statements
LEMMA = math.sqrt(2)  # the constant that serves in Lemma A.2
SHARE = "share above G0, proof"


def _count(events: pd.DataFrame, column: str) -> tuple[int, int, bool]:
    """Failures, data sets, and whether a failure probability of at most κ is compatible with them."""
    failures, data_sets = int(events[column].sum()), int(events["data_sets"].sum())
    return failures, data_sets, bool(stats.binom.sf(failures - 1, data_sets, failure_probability(events)) > CONFIDENCE)


@judges("noisyhead/equation-a.10")
def equation_a10(tables: Tables) -> Ruling:
    """(A.10): 𝒟₃ fails with probability at most κ."""
    events = tables["events"]
    failures, data_sets, compatible = _count(events, "D3_fails")
    union, kappa = events["D3_union_bound"].max(), failure_probability(events)
    named = {
        "data sets with a response beyond C; expected at most": (failures, kappa * data_sets, f"of {data_sets}"),
        "union bound on their probability, largest": (union, kappa, "its largest"),
    }
    undecided = compatible and union > kappa
    return Ruling(reads(printed=compatible, decided=not undecided), numbers("events", named))


@judges("noisyhead/equation-a.11")
def equation_a11(tables: Tables) -> Ruling:
    """(A.11): 𝒟₂ fails with probability at most κ, for the fourth root in G up to a constant."""
    sizes, dimensions = tables["constants"], tables["constants-by-dimension"]
    failures, data_sets, compatible = _count(tables["events"], "D2_lemma_fails")
    logs = trend(sizes, "log_odds", sizes["constant_proof"], 0.0, LOST_POWER)
    across = trend(dimensions, "D", dimensions["constant_proof"], 0.0, LOST_POWER)
    if logs is None or across is None:
        return Ruling(Verdict.UNTESTABLE)
    lemma = max(sizes["constant_lemma"].max(), dimensions["constant_lemma"].max())
    found = (
        logs.number("the constant needed with the printed radius", "constants", "last two N"),
        across.number("the constant needed with the printed radius", "constants-by-dimension", "last two D"),
        *numbers("constants", {"constant needed with Lemma A.2's radius, largest": (lemma, LEMMA)}, "its largest"),
        *numbers("events", {"data sets that exceed Lemma A.2's radius": failures}, f"of {data_sets}"),
    )
    kept = compatible and not across.lost
    return Ruling(reads(printed=kept and not logs.lost, corrected=kept and lemma <= LEMMA), found)


def _closed(norms: pd.DataFrame, norm: str, bound: str) -> list[Trend | None]:
    """How a norm over its bound goes along N, L and D in closed form."""
    parts = {axis: select(norms, axis=axis) for axis in ("N", "L", "D")}
    return [trend(rows, axis, rows[norm] / rows[bound], 0.0, LOST_POWER) for axis, rows in parts.items()]


@judges("noisyhead/equation-a.12")
def equation_a12(tables: Tables) -> Ruling:
    """(A.12): ‖Γ*‖ ≤ R, on data along N, and in closed form along N, L and D."""
    norms, radius = tables["norms"], tables["radius"]
    trends = _closed(norms, "ridge_norm", "weight_bound")
    ratio, worst = norms["ridge_norm"] / norms["weight_bound"], lost(trends)
    measured, sure = (radius["norm_max"] / radius["R_printed"]).max(), ratio[norms["sure"]].max()
    in_norms = {
        "‖Γ*‖/R, largest, prompts of any length": (ratio.max(), 1.0, "all"),
        "‖Γ*‖/R, largest under the condition": (sure, 1.0, "sure"),
    }
    in_data = {
        "‖Γ*‖/R, largest in drawn data": (measured, 1.0, "all"),
        "noise variance with the printed R over that with C/(2√λ), largest": radius["variance_saved"].max(),
    }
    found = (*told(trends, "‖Γ*‖/R", "norms"), *numbers("norms", in_norms), *numbers("radius", in_data))
    left = measured > 1
    verdict = reads(
        printed=not left and not worst,
        narrower=not left and [g.size for g in worst] == ["L"] and sure <= 1,
        decided=left or bool(worst) or None not in trends,
    )
    return Ruling(verdict, found, {"power": worst[0].power if worst else np.nan})


@judges("noisyhead/display-before-a.12")
def display_before_a12(tables: Tables) -> Ruling:
    """Can the largest responses be taken out of Σ y_k Z_k? Both sides, over |y_{1,L+1}|, for one prompt of pairs."""
    paired = tables["signed-sums"]
    excess = paired["statistic_norm"] - paired["allowed"]
    shown = paired.loc[excess.idxmax()]
    named = {
        "left side over the query's response, one prompt": (shown["statistic_norm"], shown["allowed"]),
        "norm of the sum of its features": shown["sum_norm"],
    }
    return Ruling(reads(printed=excess.max() <= ROUNDING), numbers("signed-sums", named, f"L = {shown['L']:.0f}"))


def _statistic(tables: Tables) -> dict[str, list[Trend | None]]:
    """How ‖Z‖/G₀ goes, by table: in data along L, in closed form along N, L and D."""
    events = tables["events"]
    ratio, error = (events[name] / events["G0, proof"] for name in ("mean_norm", "standard_error"))
    measured = trend(events, "L", ratio, error, LOST_POWER_SIMULATED)
    return {"events": [measured], "norms": _closed(tables["norms"], "statistic_norm", "query_bound")}


@judges("noisyhead/equation-a.13")
def equation_a13(tables: Tables) -> Ruling:
    """(A.13): ‖Z‖ ≤ G₀ with probability 1 − κ, for G₀ of order C/√L."""
    events, by_table = tables["events"], _statistic(tables)
    trends, kappa = [*by_table["events"], *by_table["norms"]], failure_probability(events)
    few, worst = short(events, kappa), lost(trends)
    inside = events[SHARE][few].max() if few.any() else np.inf
    named = {
        "share of prompts above G₀, short prompts": (inside, kappa, "L ≤ D log(NL/κ)"),
        "share of prompts above G₀, all": (events[SHARE].max(), kappa, "its largest"),
    }
    powers = (number for table, found in by_table.items() for number in told(found, "‖Z‖/G₀", table))
    verdict = reads(
        printed=not worst,
        narrower={g.size for g in worst} == {"L"} and inside <= kappa,
        decided=bool(worst) or None not in trends,
    )
    return Ruling(verdict, (*powers, *numbers("events", named)), {"power": worst[0].power if worst else np.nan})


@judges("noisyhead/equation-a.14")
def equation_a14(tables: Tables) -> Ruling:
    """(A.14): all events together with probability 1 − 4κ; where ‖Z‖ outgrows G₀ no constant gives that."""
    events, kappa = tables["events"], failure_probability(tables["events"])
    at_most, claimed, few = 1 - events[SHARE], 1 - 4 * kappa, short(events, kappa)  # other events can only cost more
    least, inside = at_most.min(), at_most[few].min() if few.any() else -np.inf
    length = events.loc[at_most.idxmin(), "L"]
    parts = {"sums": _count(events, "D2_lemma_fails"), "responses": _count(events, "D3_fails")}
    named = {
        "probability of all events, at most": (least, claimed, f"L = {length:.0f}"),
        "the same, short prompts": (inside, claimed, "L ≤ D log(NL/κ)"),
    }
    counted = {f"data sets with {name} beyond their radius": (k, None, f"of {n}") for name, (k, n, _) in parts.items()}
    rare = all(compatible for _, _, compatible in parts.values())
    bounded = not any(lost(trends) for trends in _statistic(tables).values())
    verdict = reads(printed=rare and (least >= claimed or bounded), narrower=rare and inside >= claimed)
    return Ruling(verdict, numbers("events", named | counted), {"length": length, "least": least})
