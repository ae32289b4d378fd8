"""Verdicts on Figure 5, section 6.4 and section 1.1's words on DP-SGD, arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.dp_sgd.cell import (
    ADD,
    ALGORITHM,
    DP_SGD,
    LOSS,
    NOISYHEAD,
    REPLACE,
    RESPONSES,
    UPDATE,
    ZERO,
)
from costofprivacy.experiments.noisyhead.dp_sgd.records import PAIR, PROMPT
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.settings import Setting

MARGIN = 1.05  # a ratio of risks up to this is a match, whatever the trials can tell apart
PAR = 2.0  # risks within this factor of each other are on a par
SPENT = 0.05  # relative difference of two ε that count as one
CLOSED = 0.1  # relative error of a closed form that describes what is measured
SAME = (
    "Where both sides are composed exactly for one neighbouring relation, and a gradient is clipped at the bound that "
    r"$\mathcal{C}$, $G$ and $R$ give it."
)
PLACE = ["N", "epsilon"]
READINGS = {  # NoisyHead's accounting, DP-SGD's, and what its gradients are
    "stated": (ALGORITHM, ADD, LOSS),
    "same": (REPLACE, REPLACE, UPDATE),
    "mixed": (REPLACE, ADD, LOSS),
    "clipped": (REPLACE, REPLACE, RESPONSES),
}


def ratios(figure: pd.DataFrame, head: str, sgd: str, gradients: str, setting: str = Setting.PUBLISHED) -> pd.DataFrame:
    """NoisyHead's excess risk over DP-SGD's at each N and ε, with its standard error.

    Args:
        figure: the table of Figure 5. head: NoisyHead's accounting. sgd: DP-SGD's. gradients: where DP-SGD clips.
        setting: of the hyperparameters.
    """
    rows = select(figure, setting=str(setting))
    ours = select(rows, method=NOISYHEAD, account=head)
    theirs = select(rows, method=DP_SGD, account=sgd, gradients=gradients)
    both = ours.merge(theirs, on=PLACE, suffixes=("", "_sgd"))
    ratio = both["excess_risk"] / both["excess_risk_sgd"]
    relative = np.hypot(
        both["standard_error"] / both["excess_risk"], both["standard_error_sgd"] / both["excess_risk_sgd"]
    )
    return both[PLACE].assign(ratio=ratio, error=ratio * relative)


def matched(found: pd.DataFrame) -> bool:
    """Whether NoisyHead is nowhere worse than DP-SGD, to the margin and within the errors."""
    return bool((found["ratio"] <= MARGIN + CONSISTENT * found["error"]).all())


def on_par(found: pd.DataFrame) -> bool:
    """Whether the two risks are everywhere within a factor of two, and the errors, of each other."""
    low, high = found["ratio"] - CONSISTENT * found["error"], found["ratio"] + CONSISTENT * found["error"]
    return bool((low <= PAR).all() and (high >= 1 / PAR).all())


def _largest(found: pd.DataFrame, name: str, against: float | None = 1.0) -> Number:
    row = found.loc[found["ratio"].idxmax()]
    place = f"setting = published, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}"
    return Number(name, row["ratio"], row["error"], against, "figure-5", place)


def _comparisons(figure: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], tuple[Number, ...]]:
    """NoisyHead over DP-SGD as the text has it, at the same exact accounting, and in the other readings."""
    found = {name: ratios(figure, *reading) for name, reading in READINGS.items()}
    least = select(figure, setting=str(Setting.PUBLISHED))
    private = least[least["method"].isin([NOISYHEAD, DP_SGD])]
    zero = select(least, method=ZERO).set_index("N")["excess_risk"]
    beside = (private["excess_risk"] / private["N"].map(zero)).groupby(private["method"]).min()
    numbers = (
        _largest(found["stated"], "largest ratio to DP-SGD, Algorithm 1's noise and Opacus's accountant"),
        _largest(found["same"], "largest ratio, both exact, a prompt replaced, the same gradients"),
        _largest(found["mixed"], "largest ratio, both exact, each its own relation, DP-SGD on the loss"),
        _largest(found["clipped"], "largest ratio, both exact, DP-SGD clipped at $\\mathcal{C}$"),
        *(Number(f"least excess risk of {name} over that of answering 0", beside[method], None, 1.0, "figure-5",
                 "setting = published") for method, name in ((NOISYHEAD, "NoisyHead"), (DP_SGD, "DP-SGD"))),
    )  # fmt: skip
    return found, numbers


@judges("noisyhead/figure-5")
def figure_5(tables: Tables) -> Finding:
    """Is NoisyHead's risk at or below DP-SGD's everywhere: with Algorithm 1's noise, and at one exact accounting?"""
    found, numbers = _comparisons(tables["figure-5"])
    change = "The code or the numbers behind Figure 5, in which the noise of either side could be read off."
    stated, same = found["stated"]["ratio"].max(), found["same"]["ratio"].max()
    if matched(found["stated"]):
        headline = f"NoisyHead's excess risk is at most {compact(stated)} times that of DP-SGD, in every case."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if matched(found["same"]):
        headline = (
            f"As printed, NoisyHead's excess risk is up to {compact(stated)} times that of DP-SGD; with the same exact "
            f"accounting on both sides, at most {compact(same)} times."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, SAME, change)
    headline = (
        f"NoisyHead's excess risk is up to {compact(stated)} times that of DP-SGD as printed, and up to "
        f"{compact(same)} times with the same exact accounting."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def closed_form_error(figure: pd.DataFrame, method: str) -> float:
    """The largest relative error of a method's closed form, beyond four standard errors, where noise dominates."""
    rows = select(figure, setting=str(Setting.PUBLISHED), method=method, account=REPLACE)
    rows = rows[rows["gradients"].fillna("").isin(["", LOSS, UPDATE])]
    off = (rows["closed_form"] - rows["excess_risk"]).abs() - CONSISTENT * rows["standard_error"]
    return float((off.clip(lower=0) / rows["excess_risk"]).max())


@judges("noisyhead/section-6.4-parity")
def parity(tables: Tables) -> Finding:
    """Are the two on a par, and has NoisyHead alone a closed form of privacy against utility?"""
    figure = tables["figure-5"]
    found, numbers = _comparisons(figure)
    errors = {method: closed_form_error(figure, method) for method in (NOISYHEAD, DP_SGD)}
    numbers += tuple(
        Number(f"relative error of the closed form of {name}, beyond the trials' own", errors[method], None, CLOSED,
               "figure-5", "setting = published, account = replace one")
        for method, name in ((NOISYHEAD, "NoisyHead"), (DP_SGD, "DP-SGD"))
    )  # fmt: skip
    change = "A term of DP-SGD's risk, clipping aside, that no closed form has."
    alone = errors[NOISYHEAD] <= CLOSED < errors[DP_SGD]
    stated, same = on_par(found["stated"]), on_par(found["same"])
    worst = found["stated"]["ratio"].max()
    if stated and alone:
        headline = "The two methods are on a par, and NoisyHead alone has a closed form that fits."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if not same:
        headline = "The two methods are not on a par, with the printed noise or with the same exact accounting."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    told = "only NoisyHead's" if alone else "each one's" if errors[NOISYHEAD] <= CLOSED else "neither's"
    opening = (
        "The two are on a par as printed"
        if stated
        else f"The two are on a par with the same exact accounting, not as printed (factor {compact(worst)})"
    )
    headline = f"{opening}; {told} risk follows a closed form."
    correction = SAME if alone else f"{SAME} The closed form is the quadratic objective's, of either method."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)


@judges("noisyhead/section-6.4-fair")
def fair(tables: Tables) -> Finding:
    """Do the same T, η₀ and clipping constants let both sides spend the same?"""
    accounts = select(tables["accounts"], setting=str(Setting.PUBLISHED))
    column = f"spent, {REPLACE}"
    told = {
        "NoisyHead, Algorithm 1": select(accounts, method=NOISYHEAD, account=ALGORITHM),
        "DP-SGD, Opacus's accountant": select(accounts, method=DP_SGD, account=ADD, gradients=LOSS),
        "NoisyHead, exact": select(accounts, method=NOISYHEAD, account=REPLACE),
        "DP-SGD, exact": select(accounts, method=DP_SGD, account=REPLACE, gradients=UPDATE),
    }
    shares = {name: rows[column] / rows["epsilon"] for name, rows in told.items()}
    numbers = tuple(
        Number(f"spent share of the budget, {name}", share[share.sub(1).abs().idxmax()], None, 1.0, "accounts",
               "setting = published, neighbours replace one prompt") for name, share in shares.items()
    )  # fmt: skip
    change = "A printed account of the noise on each side, for one neighbouring relation."
    head, sgd, *exact = (share.to_numpy() for share in shares.values())
    if (np.abs(np.log(head / sgd)) < SPENT).all():
        headline = "With the same settings both sides spend the same of their privacy budget."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        f"At equal settings NoisyHead spends as little as {compact(head.min())} of its privacy budget, DP-SGD up to "
        f"{compact(sgd.max())} of its own, counted alike."
    )
    if all((np.abs(np.log(share)) < SPENT).all() for share in exact):
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, SAME, change)
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("noisyhead/section-1.1-dp-sgd")
def naive(tables: Tables) -> Finding:
    """Does the noise of DP-SGD over NoisyHead's grow with the length of prompts?"""
    records, runs = tables["records"], tables["opacus-runs"]
    powers = {record: growth.power(select(records, record=record), "L", "ratio", "") for record in (PROMPT, PAIR)}
    longest = select(records, record=PROMPT).sort_values("L").iloc[-1]
    numbers = (
        Number("power of the length in DP-SGD's noise over NoisyHead's, a prompt a record", powers[PROMPT], None,
               LOST_POWER, "records", f"record = {PROMPT}"),
        Number("the same, a pair a record", powers[PAIR], None, LOST_POWER, "records", f"record = {PAIR}"),
        Number("the ratio itself, a prompt a record", longest["ratio"], None, 1.0, "records",
               f"record = {PROMPT}, L = {longest['L']:.0f}"),
        Number("gradients that Opacus clips for each prompt", runs["rows"].mean(), None, 1.0, "opacus-runs"),
    )  # fmt: skip
    change = "A DP-SGD whose noise grows with the length while it clips one gradient for each prompt."
    if any(np.isnan(power) for power in powers.values()):
        return Finding(Verdict.UNTESTABLE, "A single length shows no growth.", numbers, would_change=change)
    if powers[PROMPT] > LOST_POWER:
        headline = "The noise of DP-SGD grows with the length of prompts against that of NoisyHead, as stated."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if powers[PAIR] > LOST_POWER:
        headline = (
            "DP-SGD pays for every pair only where pairs are the records; clipping one gradient per prompt, it needs "
            f"{compact(longest['ratio'])} times NoisyHead's noise at any length."
        )
        correction = (
            "Where each context pair is a record of its own and a prompt a group of them. The DP-SGD of section 6.4 "
            "clips one gradient for each prompt."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    headline = "The noise of DP-SGD does not grow with the length of prompts, whatever is a record."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
