"""The tables of the page on what a correct ε leaves open."""

from __future__ import annotations

import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.privacy.what_this_does_not_protect.repaired import GAINED
from costofprivacy.judging.prose import measured, percent, plain

CHECKLIST = (
    ("Seed", "Randomness of the operating system; never a seed, never a log of one", "leave `random_state` out"),
    (
        "Low bits",
        "A discrete or secure sampler; at least round what is released",
        "OpenDP (`make_gaussian`), Google's differential-privacy libraries",
    ),
    (
        "Tuning",
        "Choose without the data, or pay: compose, or stop at random",
        "“auto” here; `privacy.selection`; Google's `dp_accounting`",
    ),
    ("Scales and bounds", "Public, stated before you look; or bought with part of the budget", "`feature_bounds`"),
    (
        "Repeated releases",
        "One ledger for all that is ever released from the data",
        "an odometer: OpenDP, `dp_accounting`",
    ),
    (
        "Several records of one person",
        "Bound how many a person has; multiply, or make the person the unit",
        "`privacy.groups`",
    ),
    ("Time", "Release at fixed times, on a machine that others cannot watch", "no library does this for you"),
    ("What is learned of everyone", "Ask before you fit whether it should be known at all", "no ε does this for you"),
)


def show_seeds(seeds: pd.DataFrame) -> pd.DataFrame:
    """The attackers with and without a list of seeds."""
    return _attacks(seeds, {"attacker": seeds["attack"]})


def show_audited(audited: pd.DataFrame) -> pd.DataFrame:
    """What an audit of the best of k finds, beside the exact ε of one run and of the best."""
    return pd.DataFrame(
        {
            "runs $k$": audited["runs"],
            "$\\varepsilon$ of one run": audited["one"].map(plain),
            "best of $k$, exactly": audited["best"].map(plain),
            "audit: at least": audited["epsilon"].map(plain),
            "$\\mu$ of one run": audited["one_mu"].map(plain),
            "audit: $\\mu$ at least": audited["mu"].map(plain),
            "advantage": _pairs(audited),
        }
    ).set_index("runs $k$")


def show_repaired(repaired: pd.DataFrame) -> pd.DataFrame:
    """Guarantees that were false in 0.7.0: what is allowed, what the attack gained then, what it gains now."""
    return pd.DataFrame(
        {
            "fault": repaired["fault"],
            "the attack gains": repaired["fault"].map(GAINED),
            "allowed": repaired["allowed"].map(plain),
            "in 0.7.0": repaired["before"].map(plain),
            "now": repaired["now"].map(plain),
        }
    ).set_index("fault")


def show_repeats(repeats: pd.DataFrame) -> pd.DataFrame:
    """Releases averaged: their error falls, and ε grows."""
    return pd.DataFrame(
        {
            "releases": repeats["releases"],
            "error over that of one": repeats["error"].map(plain),
            "$\\varepsilon$ together": repeats["epsilon"].map(plain),
            "advantage, measured": _pairs(repeats),
            "allowed": repeats["bound"].map(plain),
        }
    ).set_index("releases")


def show_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """One person's records: how far two fits are apart, and what that spends."""
    return pd.DataFrame(
        {
            "records": groups["records"],
            "fits apart (in noise)": groups["mu"].map(plain),
            "allowed, $k\\rho$": groups["bound"].map(plain),
            "$\\varepsilon$ at the same $\\delta$": groups["epsilon"].map(plain),
            "largest advantage": groups["advantage"].map(plain),
            "from $(\\varepsilon, \\delta)$ alone: $\\varepsilon$": groups["epsilon_general"].map(plain),
            "and $\\delta$": groups["delta_general"].map(plain),
        }
    ).set_index("records")


def show_timing(timing: pd.DataFrame) -> pd.DataFrame:
    """Whether the time of a pass shows what the data are."""
    return pd.DataFrame(
        {
            "data": timing["data"],
            "records clipped": timing["clipped"].map(percent),
            f"time differs by more than {percent(timing['share'].iloc[0])}": timing["shows"].map(
                {True: "yes", False: "no"}
            ),
        }
    ).set_index("data")


def show_population(population: pd.DataFrame) -> pd.DataFrame:
    """How well members and strangers are predicted, and whether one can tell them apart by it."""
    pairs = [("of members", "members", "members_error"), ("of strangers", "strangers", "strangers_error")]
    columns = {
        f"variance explained {name}": [
            measured(*row) for row in population[[value, error]].itertuples(index=False, name=None)
        ]
        for name, value, error in pairs
    }
    guess = {"advantage of guessing who is in": _pairs(population), "allowed": population["bound"].map(plain)}
    return pd.DataFrame({"$n$": population["n"]} | columns | guess).set_index("$n$")


def show_checklist() -> Markdown:
    """What to do about each gap, and what helps."""
    head = ["| gap | what to do | what helps |", "|---|---|---|"]
    return Markdown("\n".join([*head, *(f"| {' | '.join(row)} |" for row in CHECKLIST)]))


def _attacks(table: pd.DataFrame, first: dict[str, pd.Series]) -> pd.DataFrame:
    shares = {"hits": table["hits"].map(percent), "false alarms": table["false_alarms"].map(percent)}
    found = {"advantage": _pairs(table), "allowed": table["bound"].map(plain)}
    return pd.DataFrame(first | shares | found).set_index(list(first))


def _pairs(table: pd.DataFrame) -> list[str]:
    return [measured(*row) for row in table[["advantage", "standard_error"]].itertuples(index=False, name=None)]
