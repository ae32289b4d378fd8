"""What *Security and limits* says about sizes: how much each limit of a guarantee gave away where it was attacked."""

import pandas as pd

from chapters.overview.saved import Saved
from chapters.privacy.what_this_does_not_protect import show
from chapters.privacy.what_this_does_not_protect.measure import ESTIMATOR, LISTED, PUBLIC, ROUNDED, STANDARD
from companion.judging.prose import compact, percent
from companion.judging.tables import Tables, nearest, pick, select
from costofprivacy.estimators.forecasting import OBJECTIVE

CHAPTER = "privacy/what-this-does-not-protect"
BEST = "privacy/best-method"
TABLES = ("audited", "groups", "population", "repaired", "repeats", "rounding", "scaling", "seeds", "timing")


def values(saved: Saved) -> dict[str, str]:
    """The places of ``security.md``."""
    tables = {name: saved.table(CHAPTER, name) for name in TABLES}
    one = pick(tables["groups"], records=1)
    gaussian, alone = map(percent, show.permitted(tables))
    cases = saved.table(BEST, "cases")
    taken = cases.loc[cases["chosen"].astype(bool), "method"]
    return {
        "budget": f"$\\varepsilon = {compact(one['epsilon'])}$, $\\delta = {compact(one['delta']).strip('$')}$",
        "promise": gaussian,
        "alone": alone,
        "chosen": f"{(taken == OBJECTIVE).sum()} of {len(taken)} [measured cases]({BEST}.ipynb)",
        "answer": answer(tables),
        "errors": percent(float(rows(tables)["standard_error"].max())).replace(" %", " percentage points"),
        "gaps": gaps(tables),
        "time": time(tables["timing"]),
        "repaired": repaired(tables["repaired"]),
    }


def rows(tables: Tables) -> pd.DataFrame:
    """One row for each limit that was attacked: its name, what was tried, advantage with error, and what helps."""
    runs, releases = show.several(tables["audited"], "runs"), show.several(tables["repeats"], "releases")
    person = show.several(tables["groups"], "records")
    bits, rounded = pick(tables["rounding"], attack=ESTIMATOR), coarse_enough(tables["rounding"])
    seed, far = pick(tables["seeds"], attack=LISTED), nearest(tables["scaling"]["size"], show.FAR_OUT)
    scaled, public = (pick(tables["scaling"], way=way, size=far) for way in (STANDARD, PUBLIC))
    limits = [
        (
            "The last bits",
            f"read the last bits of {bits['d']:.0f} released numbers",
            bits,
            f"round what is released; to $2^{{-{rounded['bits']:.0f}}}$ of the noise, attacks gained {gained(rounded)}",
        ),
        (
            "A known seed",
            f"try each of {seed['guesses']:.0f} seeds, one of which is the right one",
            seed,
            "leave `random_state` out, and keep no record of a seed",
        ),
        (
            "Several runs",
            f"read the best of {runs['runs']:.0f} runs",
            runs,
            "choose the settings without the data, or pay for each run (`privacy.selection`)",
        ),
        (
            "Repeated releases",
            f"average {releases['releases']:.0f} releases from the same data",
            releases,
            "keep one account of all releases, and add up their budgets",
        ),
        (
            "Several rows of one person",
            f"look for a person with {person['records']:.0f} rows",
            person,
            "name the person by `unit=`, and limit her rows by `most_per_unit=`",
        ),
        (
            "Scales from the data",
            f"look for a record at {far:g} after scaling by the mean and variance of the data",
            scaled,
            f"state bounds before you look; with public bounds, the attack gained {gained(public)}",
        ),
    ]
    columns = ["limit", "attack", "advantage", "standard_error", "remedy"]
    told = [(name, what, row["advantage"], row.get("standard_error", 0.0), do) for name, what, row, do in limits]
    return pd.DataFrame(told, columns=columns).assign(bound=float(seed["bound"]))


def coarse_enough(rounding: pd.DataFrame) -> pd.Series:
    """The finest rounding of a release up to which none gave away more than one release may; the coarsest at least."""
    rounded = select(rounding, attack=ROUNDED).sort_values("bits")
    kept = int((~show.beyond(rounded)).cummin().sum())
    return rounded.iloc[max(kept, 1) - 1]


def answer(tables: Tables) -> str:
    """How many of the attacks gained more than one release permits, and how much the best of them did."""
    table = rows(tables)
    over = table[show.beyond(table)]
    if over.empty:
        return f"None of the {len(table)} attacks gained more than one Gaussian release permits."
    most = percent(float(over["advantage"].max()))
    which = "all" if len(over) == len(table) else f"{len(over)}"
    every = show.gaps(tables)
    more = int(show.beyond(every).sum()) - len(over)
    controls = "none of them gained more than is permitted" if not more else f"{more} of them gained more"
    return (
        f"The table has the {len(table)} attacks on these limits; {which} of them gained more than one Gaussian "
        f"release permits, up to {most}. The chapter makes {len(every)} attacks in all. The other "
        f"{len(every) - len(table)} break no rule of the list and serve as controls; {controls}."
    )


def gaps(tables: Tables) -> str:
    """A row for each limit that was attacked."""
    head = ["| limit and attack | advantage | what helps |", "|---|--:|---|"]
    told = [
        f"| **{row['limit']}**: {row['attack']} | {percent(row['advantage'])} | {row['remedy']} |"
        for row in rows(tables).to_dict("records")
    ]
    return "\n".join([*head, *told])


def gained(row: pd.Series) -> str:
    """What an attack gained, beside what one release permits."""
    return percent(row["advantage"]) if show.beyond(row.to_frame().T).item() else "no more than one release permits"


def time(timing: pd.DataFrame) -> str:
    """What the measurements of time found."""
    shown, threshold = int(timing["shows"].sum()), percent(float(timing["share"].iloc[0]))
    found = "none of these" if not shown else f"{shown} of these"
    return (
        f"We also timed one pass over an ordinary data set and over {len(timing) - 1} unusual ones: {found} took over "
        f"{threshold} more or less time than the ordinary one."
    )


def repaired(table: pd.DataFrame) -> str:
    """Whether attacks on the false guarantees of earlier versions are within what is allowed now."""
    open_still = int(show.exceeds(table, "now").sum())
    kept = "all of them stay" if not open_still else f"{len(table) - open_still} of them stay"
    return (
        f"The chapter [What this does not protect]({CHAPTER}.ipynb) repeats {len(table)} attacks on these faults. "
        f"Against the present version, {kept} within what the guarantee allows."
    )
