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
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
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
    """Whether NoisyHead is everywhere on a par with DP-SGD or better, within the errors."""
    return bool((found["ratio"] <= ON_A_PAR + CONSISTENT * found["error"]).all())


def on_par(found: pd.DataFrame) -> bool:
    """Whether the two risks are everywhere on a par, within the errors."""
    low, high = found["ratio"] - CONSISTENT * found["error"], found["ratio"] + CONSISTENT * found["error"]
    return bool((low <= ON_A_PAR).all() and (high >= 1 / ON_A_PAR).all())


def _readings(figure: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """NoisyHead over DP-SGD as the text has it, at the same exact accounting, and in the other readings."""
    return {name: ratios(figure, *reading) for name, reading in READINGS.items()}


def _comparisons(figure: pd.DataFrame) -> tuple[Number, ...]:
    """The largest ratio in each reading, and how far each method is above answering 0."""
    published = select(figure, setting=str(Setting.PUBLISHED))
    private = published[published["method"].isin(list(NAMES))]
    zero = select(published, method=ZERO).set_index("N")["excess_risk"]
    beside = (private["excess_risk"] / private["N"].map(zero)).groupby(private["method"]).min()
    name = "least excess risk of {} over that of always predicting 0"
    least = {name.format(NAMES[m]): (beside[m], 1.0) for m in NAMES}
    largest = (_largest(found, LARGEST[name]) for name, found in _readings(figure).items())
    return *largest, *numbers("figure-5", least, "setting = published")


def _largest(found: pd.DataFrame, name: str) -> Number:
    row = found.loc[found["ratio"].idxmax()]
    place = f"setting = published, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}"
    return Number(name, row["ratio"], row["error"], 1.0, "figure-5", place)


@judges("noisyhead/figure-5")
def figure_5(tables: Tables) -> Ruling:
    """Is NoisyHead's risk at or below DP-SGD's everywhere: with Algorithm 1's noise, and at one exact accounting?"""
    found = _readings(tables["figure-5"])
    verdict = reads(printed=matched(found["stated"]), narrower=matched(found["same"]))
    quoted = {name: found[name]["ratio"].max() for name in ("stated", "same")}
    return Ruling(verdict, _comparisons(tables["figure-5"]), quoted)


def closed_form_error(figure: pd.DataFrame, method: str) -> float:
    """The largest relative error of a method's closed form, beyond four standard errors, where noise dominates."""
    rows = select(figure, setting=str(Setting.PUBLISHED), method=method, account=REPLACE)
    rows = rows[rows["gradients"].fillna("").isin(["", LOSS, UPDATE])]
    off = (rows["closed_form"] - rows["excess_risk"]).abs() - CONSISTENT * rows["standard_error"]
    return float((off.clip(lower=0) / rows["excess_risk"]).max())


@judges("noisyhead/section-1.2-dp-sgd")
def analogous(tables: Tables) -> Ruling:
    """Does a closed form like that of NoisyHead give the risk of DP-SGD, wherever no gradient is cut?"""
    error = closed_form_error(tables["figure-5"], DP_SGD)
    named = {f"relative error of the closed form of {NAMES[DP_SGD]}, beyond the trials' own": (error, ABOUT)}
    found = numbers("figure-5", named, "setting = published, account = replace one")
    return Ruling(reads(printed=error <= ABOUT), found)


@judges("noisyhead/section-6.4-parity")
def parity(tables: Tables) -> Ruling:
    """Are the two on a par, and has NoisyHead alone a closed form of privacy against utility?"""
    figure = tables["figure-5"]
    found, errors = _readings(figure), {method: closed_form_error(figure, method) for method in NAMES}
    named = {
        f"relative error of the closed form of {name}, beyond the trials' own": (errors[method], ABOUT)
        for method, name in NAMES.items()
    }
    stated, alone = on_par(found["stated"]), errors[NOISYHEAD] <= ABOUT < errors[DP_SGD]
    verdict = reads(printed=stated and alone, narrower=on_par(found["same"]))
    whose = "each one's" if errors[NOISYHEAD] <= ABOUT else "neither's"
    grounds = " and ".join(ground for ground, met in (("printed noise", stated), ("closed form", alone)) if not met)
    closed = numbers("figure-5", named, "setting = published, account = replace one")
    quoted = {"worst": found["stated"]["ratio"].max(), "whose": whose}
    return Ruling(verdict, _comparisons(figure) + closed, quoted, grounds)


@judges("noisyhead/section-6.4-fair")
def fair(tables: Tables) -> Ruling:
    """Do the same T, η₀ and clipping constants let both sides spend the same?"""
    accounts = select(tables["accounts"], setting=str(Setting.PUBLISHED))
    told = {
        "NoisyHead, Algorithm 1": select(accounts, method=NOISYHEAD, account=ALGORITHM),
        "DP-SGD, Opacus's accountant": select(accounts, method=DP_SGD, account=ADD, gradients=LOSS),
        "NoisyHead, exact": select(accounts, method=NOISYHEAD, account=REPLACE),
        "DP-SGD, exact": select(accounts, method=DP_SGD, account=REPLACE, gradients=UPDATE),
    }
    shares = {name: rows[f"spent, {REPLACE}"] / rows["epsilon"] for name, rows in told.items()}
    named = {
        f"privacy loss as a fraction of the stated budget, {name}": (share[share.sub(1).abs().idxmax()], 1.0)
        for name, share in shares.items()
    }
    head, sgd, *exact = (share.to_numpy() for share in shares.values())
    verdict = reads(printed=_as_one(head / sgd), narrower=all(_as_one(share) for share in exact))
    found = numbers("accounts", named, "setting = published, neighbours replace one prompt")
    return Ruling(verdict, found, {"head": head.min(), "sgd": sgd.max()})


def _as_one(ratio: np.ndarray) -> bool:
    """Whether two privacy losses are everywhere approximately the same."""
    return all(about(value, 1.0) for value in ratio)


@judges("noisyhead/section-1.1-dp-sgd")
def naive(tables: Tables) -> Ruling:
    """Does the noise of DP-SGD over NoisyHead's grow with the length of prompts?"""
    records, runs = tables["records"], tables["opacus-runs"]
    prompt, pair = (growth.power(select(records, record=record), "L", "ratio", "") for record in (PROMPT, PAIR))
    longest = select(records, record=PROMPT).sort_values("L").iloc[-1]
    at, a_prompt, a_pair = f"L = {longest['L']:.0f}", f"record = {PROMPT}", f"record = {PAIR}"
    named = {
        "power of the length in DP-SGD's noise over NoisyHead's, a prompt is a record": (prompt, LOST_POWER, a_prompt),
        "the same, a pair is a record": (pair, LOST_POWER, a_pair),
        "DP-SGD's noise over NoisyHead's, a prompt is a record": (longest["ratio"], 1.0, f"{a_prompt}, {at}"),
    }
    clipped = numbers("opacus-runs", {"gradients that Opacus clips for each prompt": (runs["rows"].mean(), 1.0)}, "")
    decided = not (np.isnan(prompt) or np.isnan(pair))
    verdict = reads(printed=prompt > LOST_POWER, narrower=pair > LOST_POWER, decided=decided)
    return Ruling(verdict, numbers("records", named) + clipped)
