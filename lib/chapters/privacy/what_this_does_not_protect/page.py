"""The opening lines, the checked statements and the sentences of the page on what a correct ε leaves open."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown

from chapters.privacy.what_this_does_not_protect.bits import DISCRETE, ESTIMATOR, ROUNDED
from chapters.privacy.what_this_does_not_protect.scaling import PUBLIC, STANDARD
from chapters.privacy.what_this_does_not_protect.seeds import LISTED, RELEASED, UNDONE, UNKNOWN
from companion.judging.prose import compact, measured, percent
from companion.judging.sentences import Check, Sentences, checked
from companion.judging.tables import Tables, nearest, pick, select
from companion.judging.vocabulary import CONSISTENT

SEVERAL = 10  # runs, releases and records that the leading figure speaks of, or the nearest that were measured
FAR_OUT = 100.0  # the size of the one record there
NOTHING = 1e-9  # of the noise: what rounding leaves


def gaps(tables: Tables) -> pd.DataFrame:
    """The attacks side by side: advantage, its error (0 where exact), and what one release promises at most."""
    seeds, scaling = tables["seeds"], tables["scaling"]
    far = nearest(scaling["size"], FAR_OUT)
    runs, releases = several(tables["audited"], "runs"), several(tables["repeats"], "releases")
    person, bits = several(tables["groups"], "records"), pick(tables["rounding"], attack=ESTIMATOR)
    attacks = {
        "who was in the data": tables["population"].iloc[-1],
        "one release, seed unknown": pick(seeds, attack=UNKNOWN),
        f"scaled by public bounds\n(a record at {far:g})": pick(scaling, way=PUBLIC, size=far),
        f"best of {runs['runs']:.0f} runs": runs,
        f"{releases['releases']:.0f} releases averaged": releases,
        f"{person['records']:.0f} records of one person": person,
        f"last bits of {bits['d']:.0f} numbers": bits,
        f"scaled by the data\n(a record at {far:g})": pick(scaling, way=STANDARD, size=far),
        "seed from a short list": pick(seeds, attack=LISTED),
    }
    rows = [(name, row["advantage"], row.get("standard_error", 0.0)) for name, row in attacks.items()]
    promise = float(seeds["bound"].iloc[0])
    return pd.DataFrame(rows, columns=["attack", "advantage", "standard_error"]).assign(bound=promise)


def most(epsilon: float, delta: float) -> float:
    """The most that any attack on one release gains if (ε, δ) is all that is proved, (e^ε − 1 + 2δ)/(e^ε + 1).

    Let P be the probability of a hit and Q that of a false alarm. Then P ≤ e^ε Q + δ, and, of the opposite decision,
    1 − Q ≤ e^ε (1 − P) + δ. Their sum is 1 + A ≤ e^ε (1 − A) + 2δ for the advantage A = P − Q. Randomised response
    that gives its secret away with probability δ attains it.

    >>> round(most(1.0, 1e-5), 4)
    0.4621
    """
    return (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)


def permitted(tables: Tables) -> tuple[float, float]:
    """The most that one release permits if it is Gaussian private, and if (ε, δ) is all that is proved."""
    one = pick(tables["groups"], records=1)
    return float(tables["seeds"]["bound"].iloc[0]), most(float(one["epsilon"]), float(one["delta"]))


def several(table: pd.DataFrame, column: str) -> pd.Series:
    """The row of several runs, releases or records."""
    return pick(table, **{column: nearest(table[column], SEVERAL)})


def beyond(rows: pd.DataFrame) -> pd.Series:
    """Which attacks have more than is promised, beyond doubt."""
    return rows["advantage"] > rows["bound"] + CONSISTENT * rows["standard_error"]


def answer(tables: Tables) -> list[str]:
    """Which attacks have more than a single release promises, what to do, and what a reader will see."""
    table = gaps(tables)
    over = table.loc[beyond(table), "advantage"]
    gaussian, alone = map(percent, permitted(tables))
    told = f"{len(over)} of {len(table)} attacks here gain more, up to {percent(over.max())}."
    return [
        "A correct $\\varepsilon$ does not cover a known seed, the last bits, a scale taken from the data, or many "
        "releases.",
        f"No attack on one Gaussian release at this budget gains more than {gaussian} over guessing; "
        f"$(\\varepsilon,\\delta)$ alone permits {alone}. {told if len(over) else 'No attack here gains more.'}",
        "We derive what several releases, several records and a seed give away, and attack by hand.",
        "For a real release use a library that samples securely, and the checklist at the end.",
    ]


def statements(tables: Tables) -> Sentences:
    """Each gap in one sentence, computed; how long a fit takes is the machine's, and is not among them."""
    checks: tuple[Check, ...] = (
        (_undone, "A known seed gives the noise away exactly.", "A known seed does not give the noise away."),
        (
            _over("seeds", attack=LISTED),
            "A seed from a short list is found by trying.",
            "A seed from a short list is not found.",
        ),
        (
            _over("seeds", attack=UNKNOWN),
            "One release gives away more than it promises.",
            "One release keeps what it promises.",
        ),
        (
            _over("rounding", attack=ESTIMATOR),
            "The last bits of a release tell neighbours apart.",
            "The last bits of a release tell nothing.",
        ),
        (
            _rounded,
            "Rounding does not hide the last bits.",
            "Releases rounded well above the last bit tell nothing more.",
        ),
        (
            _over("discrete", attack=DISCRETE),
            "A discrete Gaussian breaks the promise.",
            "A discrete Gaussian keeps the promise.",
        ),
        (_best, "The best of ten runs spends more than one.", "The best of ten runs spends what one does."),
        (_scaled, "Scaling by private data undoes the promise.", "Scaling by private data does no harm."),
        (_public, "Scaling by public bounds breaks it.", "Scaling by public bounds keeps it."),
        (_add, "Repeated releases add up.", "Repeated releases do not add up."),
        (_person, "A person with several records is protected less than promised.", "Several records change nothing."),
        (_were, "Guarantees of version 0.7.0 were false.", "No guarantee of version 0.7.0 was false."),
        (_are, "One of these guarantees is still broken.", "Each of these guarantees is kept now."),
        (_learns, "Strangers are predicted as well as members.", "Members are predicted better than strangers."),
    )
    return checked(tables, checks)


def _over(name: str, **where: Any) -> Callable[[Tables], bool]:
    """Whether the one attack of a table that has these values has more than is promised."""
    return lambda tables: beyond(select(tables[name], **where)).item()


def _undone(tables: Tables) -> bool:
    released, undone = (pick(tables["undone"], what=what) for what in (RELEASED, UNDONE))
    return bool(undone["distance"] / undone["noise"] < NOTHING < released["distance"])


def _rounded(tables: Tables) -> bool:
    rows = select(tables["rounding"], attack=ROUNDED)
    return beyond(select(rows, bits=rows["bits"].min())).item()


def _best(tables: Tables) -> bool:
    row = several(tables["tuning"], "runs")
    return bool(row["best"] > row["one"] * (1 + NOTHING))


def _scaled(tables: Tables) -> bool:
    rows = tables["scaling"]
    return bool(beyond(rows[(rows["way"] != PUBLIC) & (rows["size"] >= FAR_OUT)]).all())


def _public(tables: Tables) -> bool:
    return bool(beyond(select(tables["scaling"], way=PUBLIC)).any())


def _add(tables: Tables) -> bool:
    last = tables["repeats"].sort_values("releases").tail(1)
    return beyond(last.assign(bound=tables["seeds"]["bound"].iloc[0])).item()


def _person(tables: Tables) -> bool:
    table = tables["groups"].sort_values("records")
    return bool(table["mu"].iloc[-1] > table["bound"].iloc[0] * (1 + NOTHING))


def _were(tables: Tables) -> bool:
    return bool(_broken(tables["repaired"], "before").all())


def _are(tables: Tables) -> bool:
    return bool(_broken(tables["repaired"], "now").any())


def _broken(repaired: pd.DataFrame, column: str) -> pd.Series:
    """Whether an attack gains more than is allowed, beyond rounding and doubt."""
    return repaired[column] > repaired["allowed"] * (1 + NOTHING) + CONSISTENT * repaired[f"{column}_error"]


def _learns(tables: Tables) -> bool:
    row = tables["population"].sort_values("n").iloc[-1]
    error = float(np.hypot(row["members_error"], row["strangers_error"]))
    return bool(abs(row["members"] - row["strangers"]) <= CONSISTENT * error and row["strangers"] > 0)


def read_seeds(tables: Tables) -> Markdown:
    """What a seed gives away, in numbers."""
    told, row = tables["undone"].set_index("what"), pick(tables["seeds"], attack=LISTED)
    return Markdown(
        f"The release is {compact(told.loc[RELEASED, 'distance'])} away from the fit without noise; the noise has a "
        f"typical length of {compact(told['noise'].iloc[0])}. Without the noise of its seed, the release is only "
        f"{compact(told.loc[UNDONE, 'distance'])} away, which is rounding. A seed from a list of {row['guesses']:.0f} "
        f"is as bad: the attack has an advantage of {compact(row['advantage'])} over {row['trials']:.0f} releases of "
        "each data set."
    )


def read_discrete(discrete: pd.DataFrame) -> Markdown:
    """What the discrete Gaussian gives away."""
    row = pick(discrete, attack=DISCRETE)
    found = measured(row["advantage"], row["standard_error"])
    return Markdown(
        f"The discrete Gaussian on a grid of {row['grid']:.0f} units to a standard deviation has no last bits. The "
        f"best attack on it has an advantage of {found}; {compact(row['bound'])} is allowed."
    )
