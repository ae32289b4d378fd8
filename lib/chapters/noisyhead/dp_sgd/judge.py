"""Verdicts on Figure 5, section 6.4 and what sections 1.1 and 1.2 say on DP-SGD, arXiv:2504.16000v2."""

import numpy as np
import pandas as pd

from chapters.noisyhead.dp_sgd.measure import (
    ADD,
    ALGORITHM,
    DP_SGD,
    LOSS,
    NOISYHEAD,
    PAIR,
    PROMPT,
    REPLACE,
    RESPONSES,
    UPDATE,
    ZERO,
)
from companion.judging import growth
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Declared, Relative, Squares
from companion.judging.vocabulary import ABOUT, CONSISTENT, ON_A_PAR, about
from costofprivacy.settings import Setting

PLACE = ["N", "epsilon"]
READINGS = {  # NoisyHead's accounting, DP-SGD's, and what its gradients are
    "stated": (ALGORITHM, ADD, LOSS),
    "same": (REPLACE, REPLACE, UPDATE),
    "mixed": (REPLACE, ADD, LOSS),
    "clipped": (REPLACE, REPLACE, RESPONSES),
}
LARGEST = {  # what the largest ratio of each reading is called
    "stated": "largest ratio of the excess risks, each method with the noise that it states",
    "same": "largest ratio with the same exact accounting, one prompt replaced",
    "mixed": "largest ratio with exact accounting, each method with its own neighbours",
    "clipped": r"largest ratio with the same exact accounting, DP-SGD clipped at $\mathcal{C}$",
}
NAMES = {NOISYHEAD: "NoisyHead", DP_SGD: "DP-SGD"}


def ratios(figure: pd.DataFrame, head: str, sgd: str, gradients: str, setting: str = Setting.PUBLISHED) -> pd.DataFrame:
    """NoisyHead's excess risk over DP-SGD's at each N and ε, with its standard error, each by its own accounting."""
    rows = select(figure, setting=str(setting))
    ours = select(rows, method=NOISYHEAD, account=head)
    theirs = select(rows, method=DP_SGD, account=sgd, gradients=gradients)
    both = ours.merge(theirs, on=PLACE, suffixes=("", "_sgd"))
    ratio = both["excess_risk"] / both["excess_risk_sgd"]
    relative = np.hypot(
        both["standard_error"] / both["excess_risk"], both["standard_error_sgd"] / both["excess_risk_sgd"]
    )
    return both[PLACE].assign(ratio=ratio, error=ratio * relative)


def least_over_zero(figure: pd.DataFrame, setting: Setting) -> pd.Series:
    """The least excess risk of each method over that of answering 0 at the same N, in a setting; by method."""
    rows = select(figure, setting=str(setting))
    zero = select(rows, method=ZERO).set_index("N")["excess_risk"]
    least: pd.Series = (rows["excess_risk"] / rows["N"].map(zero)).groupby(rows["method"]).min()
    return least


def compared(found: Record) -> dict[str, pd.DataFrame]:
    """NoisyHead over DP-SGD by reading. Kept: the largest ratio of each, and how far a method is above answering 0."""
    figure = found["figure-5"]
    readings = {name: ratios(figure, *reading) for name, reading in READINGS.items()}
    for name, table in readings.items():
        row = table.loc[table["ratio"].idxmax()]
        place = f"setting = published, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}"
        found.number(LARGEST[name], row["ratio"], error=row["error"], against=1.0, table="figure-5", row=place)
    least = least_over_zero(figure, Setting.PUBLISHED)
    for method, called in NAMES.items():
        name = f"least excess risk of {called} over that of always predicting 0"
        found.number(name, least[method], against=1.0, table="figure-5", row="setting = published")
    return readings


@judges("noisyhead/figure-5")
def figure_5(found: Record) -> Ruling:
    """Is NoisyHead's risk at or below DP-SGD's everywhere: with Algorithm 1's noise, and at one exact accounting?"""
    both = [table for name, table in compared(found).items() if name in ("stated", "same")]
    printed, narrower = ((table["ratio"] <= ON_A_PAR + CONSISTENT * table["error"]).all() for table in both)
    stated, same = (table["ratio"].max() for table in both)
    return found.ruling(printed, narrower=narrower, stated=stated, same=same)


def closed_form_error(found: Record, method: str) -> float:
    """The largest relative error of a method's closed form, beyond four standard errors, where noise dominates."""
    rows = select(found["figure-5"], setting=str(Setting.PUBLISHED), method=method, account=REPLACE)
    rows = rows[rows["gradients"].fillna("").isin(["", LOSS, UPDATE])]
    off = (rows["closed_form"] - rows["excess_risk"]).abs() - CONSISTENT * rows["standard_error"]
    return found.number(
        f"relative error of the closed form of {NAMES[method]}, beyond the trials' own",
        (off.clip(lower=0) / rows["excess_risk"]).max(),
        against=ABOUT,
        table="figure-5",
        row="setting = published, account = replace one",
    )


@judges("noisyhead/section-1.2-dp-sgd")
def analogous(found: Record) -> Ruling:
    """Does a closed form like that of NoisyHead give the risk of DP-SGD, wherever no gradient is cut?"""
    return found.ruling(closed_form_error(found, DP_SGD) <= ABOUT)


@judges("noisyhead/section-6.4-parity")
def parity(found: Record) -> Ruling:
    """Are the two on a par, and has NoisyHead alone a closed form of privacy against utility?"""
    readings = compared(found)
    head, sgd = (closed_form_error(found, method) for method in NAMES)

    def on_par(table: pd.DataFrame) -> bool:
        low, high = table["ratio"] - CONSISTENT * table["error"], table["ratio"] + CONSISTENT * table["error"]
        return bool((low <= ON_A_PAR).all() and (high >= 1 / ON_A_PAR).all())

    stated, alone = on_par(readings["stated"]), head <= ABOUT < sgd
    return found.ruling(
        stated and alone,
        narrower=on_par(readings["same"]),
        grounds=" and ".join(ground for ground, met in (("printed noise", stated), ("closed form", alone)) if not met),
        worst=readings["stated"]["ratio"].max(),
        whose="each one's" if head <= ABOUT else "neither's",
    )


@judges("noisyhead/section-6.4-fair")
def fair(found: Record) -> Ruling:
    """Do the same T, η₀ and clipping constants let both sides spend the same?"""
    accounts = select(found["accounts"], setting=str(Setting.PUBLISHED))
    sides = {
        "NoisyHead, Algorithm 1": select(accounts, method=NOISYHEAD, account=ALGORITHM),
        "DP-SGD, Opacus's accountant": select(accounts, method=DP_SGD, account=ADD, gradients=LOSS),
        "NoisyHead, exact": select(accounts, method=NOISYHEAD, account=REPLACE),
        "DP-SGD, exact": select(accounts, method=DP_SGD, account=REPLACE, gradients=UPDATE),
    }
    shares = {name: rows[f"spent, {REPLACE}"] / rows["epsilon"] for name, rows in sides.items()}
    row = "setting = published, neighbours replace one prompt"
    for side, share in shares.items():
        name = f"privacy loss as a fraction of the stated budget, {side}"
        found.number(name, share[share.sub(1).abs().idxmax()], against=1.0, table="accounts", row=row)
    head, sgd, *exact = (share.to_numpy() for share in shares.values())
    printed, *alike = (all(about(value, 1.0) for value in ratio) for ratio in (head / sgd, *exact))
    return found.ruling(printed, narrower=all(alike), head=head.min(), sgd=sgd.max())


@judges("noisyhead/section-1.1-dp-sgd")
def naive(found: Record) -> Ruling:
    """Does the noise of DP-SGD over NoisyHead's grow with the length of prompts?"""
    records, by_prompt = found["records"], f"record = {PROMPT}"
    prompt, pair = (growth.power(select(records, record=record), "L", "ratio", "") for record in (PROMPT, PAIR))
    longest = select(records, record=PROMPT).sort_values("L").iloc[-1]
    name = "power of the length in DP-SGD's noise over NoisyHead's, a prompt is a record"
    found.number(name, prompt, against=LOST_POWER, table="records", row=by_prompt)
    found.number("the same, a pair is a record", pair, against=LOST_POWER, table="records", row=f"record = {PAIR}")
    name, row = "DP-SGD's noise over NoisyHead's, a prompt is a record", f"{by_prompt}, L = {longest['L']:.0f}"
    found.number(name, longest["ratio"], against=1.0, table="records", row=row)
    name = "gradients that Opacus clips for each prompt"
    found.number(name, found["opacus-runs"]["rows"].mean(), against=1.0, table="opacus-runs", row="")
    decided = not (np.isnan(prompt) or np.isnan(pair))
    return found.ruling(prompt > LOST_POWER, narrower=pair > LOST_POWER, decided=decided)


# ---- How near this chapter's numbers come on another machine ----

TOLERANCES: Declared = {
    "opacus-runs": {  # without noise Opacus's steps are ours, but for rounding
        "excess_risk": Squares(3e-18),
        "distance": Relative(scale=1e-8),
    }
}
