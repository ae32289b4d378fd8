"""The tables of the page on what a correct ε leaves open."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.what_this_does_not_protect import later, repaired
from companion.judging.prose import percent, plain, with_errors

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
    shares = {"hits": seeds["hits"].map(percent), "false alarms": seeds["false_alarms"].map(percent)}
    found = {"advantage": with_errors(seeds, "advantage"), "allowed": seeds["bound"].map(plain)}
    return pd.DataFrame({"attacker": seeds["attack"]} | shares | found).set_index("attacker")


def show_audited(audited: pd.DataFrame) -> pd.DataFrame:
    """What an audit of the best of k finds, beside the exact ε of one run and of the best."""
    columns = {
        "$\\varepsilon$ of one run": "one",
        "best of $k$, exactly": "best",
        "audit: at least": "epsilon",
        "$\\mu$ of one run": "one_mu",
        "audit: $\\mu$ at least": "mu",
    }
    told = _plain(audited, columns) | {"advantage": with_errors(audited, "advantage")}
    return pd.DataFrame({"runs $k$": audited["runs"]} | told).set_index("runs $k$")


def show_repaired(table: pd.DataFrame) -> pd.DataFrame:
    """Guarantees that were false in 0.7.0: what is allowed, what the attack gained then, what it gains now."""
    return _faults(table, repaired.GAINED, "in 0.7.0")


def show_later(table: pd.DataFrame) -> pd.DataFrame:
    """Guarantees that were false until 0.15.0, in the same columns."""
    return _faults(table, later.GAINED, "in 0.15.0")


def _faults(table: pd.DataFrame, gained: Mapping[str, str], version: str) -> pd.DataFrame:
    faults = {"fault": table["fault"], "the attack gains": table["fault"].map(dict(gained))}
    told = _plain(table, {"allowed": "allowed", version: "before", "now": "now"})
    return pd.DataFrame(faults | told).set_index("fault")


def show_repeats(repeats: pd.DataFrame) -> pd.DataFrame:
    """Releases averaged: their error falls, and ε grows."""
    told = _plain(repeats, {"error over that of one": "error", "$\\varepsilon$ together": "epsilon"})
    told |= {"advantage, measured": with_errors(repeats, "advantage"), "allowed": repeats["bound"].map(plain)}
    return pd.DataFrame({"releases": repeats["releases"]} | told).set_index("releases")


def show_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """One person's records: how far two fits are apart, and what that spends."""
    columns = {
        "fits apart (in noise)": "mu",
        "allowed, $k\\rho$": "bound",
        "$\\varepsilon$ at the same $\\delta$": "epsilon",
        "largest advantage": "advantage",
        "from $(\\varepsilon, \\delta)$ alone: $\\varepsilon$": "epsilon_general",
        "and $\\delta$": "delta_general",
    }
    return pd.DataFrame({"records": groups["records"]} | _plain(groups, columns)).set_index("records")


def show_timing(timing: pd.DataFrame) -> pd.DataFrame:
    """Whether the time of a pass shows what the data are."""
    differs = f"time differs by more than {percent(timing['share'].iloc[0])}"
    told = {"records clipped": timing["clipped"].map(percent), differs: timing["shows"].map({True: "yes", False: "no"})}
    return pd.DataFrame({"data": timing["data"]} | told).set_index("data")


def show_population(population: pd.DataFrame) -> pd.DataFrame:
    """How well members and strangers are predicted, and whether one can tell them apart by it."""
    told = {
        "variance explained of members": with_errors(population, "members", "members_error"),
        "variance explained of strangers": with_errors(population, "strangers", "strangers_error"),
        "advantage of guessing who is in": with_errors(population, "advantage"),
        "allowed": population["bound"].map(plain),
    }
    return pd.DataFrame({"$n$": population["n"]} | told).set_index("$n$")


def show_checklist() -> Markdown:
    """What to do about each gap, and what helps."""
    head = ["| gap | what to do | what helps |", "|---|---|---|"]
    return Markdown("\n".join([*head, *(f"| {' | '.join(row)} |" for row in CHECKLIST)]))


def _plain(table: pd.DataFrame, columns: Mapping[str, str]) -> dict[str, Any]:
    """Columns of a table under the names that they have for readers."""
    return {label: table[name].map(plain) for label, name in columns.items()}
