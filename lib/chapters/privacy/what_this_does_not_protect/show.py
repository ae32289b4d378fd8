"""What does a correct ε not protect against, and what should one use for a real release?"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown

from chapters.privacy.what_this_does_not_protect import measure
from companion.judging.prose import Sentences, compact, listed, measured, percent, plain, span, with_errors
from companion.judging.tables import Tables, nearest, pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate

SEVERAL = 10  # runs, releases and records that the leading figure speaks of, or the nearest that were measured
FAR_OUT = 100.0  # the size of the one record there
NOTHING = 1e-9  # of the noise: what rounding leaves


def gaps(tables: Tables) -> pd.DataFrame:
    """The attacks side by side: advantage, its error (0 where exact), and what one release promises at most."""
    seeds, scaling = tables["seeds"], tables["scaling"]
    far = nearest(scaling["size"], FAR_OUT)
    runs, releases = several(tables["audited"], "runs"), several(tables["repeats"], "releases")
    person, bits = several(tables["groups"], "records"), pick(tables["rounding"], attack=measure.ESTIMATOR)
    attacks = {
        "who was in the data": tables["population"].iloc[-1],
        "one release, seed unknown": pick(seeds, attack=measure.UNKNOWN),
        f"scaled by public bounds\n(a record at {far:g})": pick(scaling, way=measure.PUBLIC, size=far),
        f"best of {runs['runs']:.0f} runs": runs,
        f"{releases['releases']:.0f} releases averaged": releases,
        f"{person['records']:.0f} records of one person": person,
        f"last bits of {bits['d']:.0f} numbers": bits,
        f"scaled by the data\n(a record at {far:g})": pick(scaling, way=measure.STANDARD, size=far),
        "seed from a short list": pick(seeds, attack=measure.LISTED),
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
        "For a release use exact noise, as [*Fit your own data*](#your-data-secure) explains, and the checklist below.",
    ]


def statements(tables: Tables) -> Sentences:
    """Each gap in one sentence, computed; how long a fit takes is the machine's, and is not among them."""
    released, undone = (pick(tables["undone"], what=what) for what in (measure.RELEASED, measure.UNDONE))
    rounded, scaling = select(tables["rounding"], attack=measure.ROUNDED), tables["scaling"]
    best, repeats = several(tables["tuning"], "runs"), tables["repeats"].sort_values("releases").tail(1)
    groups, repaired = tables["groups"].sort_values("records"), tables["repaired"]
    last = tables["population"].sort_values("n").iloc[-1]
    apart = CONSISTENT * float(np.hypot(last["members_error"], last["strangers_error"]))

    def over(name: str, **where: Any) -> bool:
        return beyond(select(tables[name], **where)).item()

    checks = (
        (
            undone["distance"] / undone["noise"] < NOTHING < released["distance"],
            ("A known seed gives the noise away exactly.", "A known seed does not give the noise away."),
        ),
        (
            over("seeds", attack=measure.LISTED),
            ("A seed from a short list is found by trying.", "A seed from a short list is not found."),
        ),
        (
            over("seeds", attack=measure.UNKNOWN),
            ("One release gives away more than it promises.", "One release keeps what it promises."),
        ),
        (
            over("rounding", attack=measure.ESTIMATOR),
            ("The last bits of a release tell neighbours apart.", "The last bits of a release tell nothing."),
        ),
        (
            over("rounding", attack=measure.ROUNDED, bits=rounded["bits"].min()),
            ("Rounding does not hide the last bits.", "Releases rounded well above the last bit tell nothing more."),
        ),
        (
            over("discrete", attack=measure.DISCRETE),
            ("A discrete Gaussian breaks the promise.", "A discrete Gaussian keeps the promise."),
        ),
        (
            best["best"] > best["one"] * (1 + NOTHING),
            ("The best of ten runs spends more than one.", "The best of ten runs spends what one does."),
        ),
        (
            beyond(scaling[(scaling["way"] != measure.PUBLIC) & (scaling["size"] >= FAR_OUT)]).all(),
            ("Scaling by private data undoes the promise.", "Scaling by private data does no harm."),
        ),
        (
            beyond(select(scaling, way=measure.PUBLIC)).any(),
            ("Scaling by public bounds breaks it.", "Scaling by public bounds keeps it."),
        ),
        (
            beyond(repeats.assign(bound=tables["seeds"]["bound"].iloc[0])).item(),
            ("Repeated releases add up.", "Repeated releases do not add up."),
        ),
        (
            groups["mu"].iloc[-1] > groups["bound"].iloc[0] * (1 + NOTHING),
            ("A person with several records is protected less than promised.", "Several records change nothing."),
        ),
        (
            exceeds(repaired, "before").all(),
            ("Guarantees of version 0.7.0 were false.", "No guarantee of version 0.7.0 was false."),
        ),
        (
            exceeds(repaired, "now").any(),
            ("One of these guarantees is still broken.", "Each of these guarantees is kept now."),
        ),
        (
            abs(last["members"] - last["strangers"]) <= apart and last["strangers"] > 0,
            ("Strangers are predicted as well as members.", "Members are predicted better than strangers."),
        ),
    )
    return Sentences(tuple(yes if holds else no for holds, (yes, no) in checks))


def exceeds(repaired: pd.DataFrame, column: str) -> pd.Series:
    """Which attacks gain more than is allowed, ``before`` or ``now``, beyond rounding and doubt."""
    return repaired[column] > repaired["allowed"] * (1 + NOTHING) + CONSISTENT * repaired[f"{column}_error"]


def read_seeds(tables: Tables) -> Markdown:
    """What a seed gives away, in numbers."""
    told, row = tables["undone"].set_index("what")["distance"], pick(tables["seeds"], attack=measure.LISTED)
    return Markdown(
        f"The release is {compact(told[measure.RELEASED])} away from the fit without noise; the noise has a "
        f"typical length of {compact(tables['undone']['noise'].iloc[0])}. Without the noise of its seed, the release "
        f"is only {compact(told[measure.UNDONE])} away, which is rounding. A seed from a list of {row['guesses']:.0f} "
        f"is as bad: the attack has an advantage of {compact(row['advantage'])} over {row['trials']:.0f} releases of "
        "each data set."
    )


def read_discrete(discrete: pd.DataFrame) -> Markdown:
    """What the discrete Gaussian gives away."""
    row = pick(discrete, attack=measure.DISCRETE)
    found = measured(row["advantage"], row["standard_error"])
    return Markdown(
        f"The discrete Gaussian on a grid of {row['grid']:.0f} units to a standard deviation has no last bits. The "
        f"best attack on it has an advantage of {found}; {compact(row['bound'])} is allowed."
    )


def caption_gaps(tables: Tables) -> str:
    """Which attacks gain more than one release promises."""
    table = gaps(tables)
    over = table.loc[beyond(table), "attack"].str.replace("\n", " ")
    return (
        f"**{len(over)} of {len(table)} attacks gain more than one Gaussian release allows.** Each attack tells two "
        f"neighbouring data sets apart. Dashed: the most that one Gaussian release allows, "
        f"{compact(table['bound'].iloc[0])}. Squares are beyond it: {listed(over) if len(over) else 'none'}. Bars are "
        "two standard errors; one person's records are exact."
    )


def draw_bits(bits: pd.DataFrame, rounding: pd.DataFrame) -> Plate:
    """Left: the attack on last bits by the value's size. Right: on the estimator's releases, rounded to fewer bits."""
    rounded = select(rounding, attack=measure.ROUNDED).sort_values("bits", ascending=False)
    whole = pick(rounding, attack=measure.ESTIMATOR)
    names = {d: f"{d} number{'s' if d != 1 else ''}" for d in sorted(bits["d"].unique(), reverse=True)}
    with figures.panels(2, ends=False, figsize=(9.4, 4.0)) as (figure, (left, right)):
        figures.curves(left, bits, "ratio", "advantage", "d", names)
        left.set(xscale="log", xlabel="value over noise", ylabel="advantage", ylim=(-0.05, 1.05))
        left.set_title("Gaussian mechanism")
        error = 2 * rounded["standard_error"]
        right.errorbar(rounded["bits"], rounded["advantage"], yerr=error, fmt="o-", capsize=2, label="rounded")
        right.axhline(whole["advantage"], color=figures.COLOURS[3], ls="-.", lw=1, label="as released")
        right.set(xlabel="bits kept below the noise", ylabel="advantage", ylim=(-0.05, 1.05))
        right.set_title(f"estimator, {whole['d']:.0f} coefficients")
        for axes in (left, right):
            axes.axhline(whole["bound"], color="k", ls="--", lw=1)
        figures.end_labels(left)
        right.legend()
    small = select(bits, ratio=bits["ratio"].min()).set_index("d")["advantage"]
    first = rounded[rounded["advantage"] <= CONSISTENT * rounded["standard_error"]]
    hidden = f"At {int(first['bits'].max())} bits nothing is left to see. " if len(first) else ""
    return Plate(
        figure,
        f"**Values that are small beside the noise give the attacker an advantage of {span(small)} for "
        f"{span(small.index)} numbers.** She rules a data set out if no double could have given the release. "
        f"Right: the coefficients of `DPGDRegressor` give away {compact(whole['advantage'])}, and rounding hides "
        f"it. {hidden}Dashed: what the guarantee allows. Bars are two standard errors.",
    )


def draw_tuning(tuning: pd.DataFrame) -> Plate:
    """ε against the number of runs of which the best is released."""
    lines = {
        "composed": "all released",
        "best": "best of k,\nat least",
        "stopped_at_most": "random number,\nat most",
        "one": "one run",
    }
    with figures.panels(figsize=(6.6, 4.2)) as (figure, (axes,)):
        for (column, look), label in zip(figures.looks(lines).items(), lines.values(), strict=True):
            figures.points(axes, tuning, "runs", str(column), label=label, **look)
        figures.log_axes(axes, "runs $k$, or their expected number", "$\\varepsilon$ spent")
    last, ten = tuning.iloc[-1], several(tuning, "runs")
    return Plate(
        figure,
        f"**Releasing the best of {ten['runs']:.0f} runs spends at least {compact(ten['best'])}, where each run "
        f"alone spends {compact(ten['one'])}.** This is computed exactly for scores that are Gaussian; all "
        f"together spend {compact(ten['composed'])}. With a random number of runs, {last['runs']:.0f} expected, "
        f"{compact(last['stopped_at_most'])} is enough. Closed forms have no sampling error.",
    )


CHECKLIST = (
    ("Seed", "Randomness of the operating system; never a seed, never a log of one", "leave `random_state` out"),
    (
        "Low bits",
        "Exact noise on a grid; rounding the release hides less and proves nothing",
        '`noise="secure"`; OpenDP (`make_gaussian`), Google\'s differential-privacy libraries',
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
        "Make the person the unit, and bound how many of her records are used",
        "`unit=` and `most_per_unit=`",
    ),
    ("Time", "Release at fixed times, on a machine that others cannot watch", "no library does this for you"),
    ("What is learned of everyone", "Ask before you fit whether it should be known at all", "no ε does this for you"),
)


def show_repaired(table: pd.DataFrame) -> pd.DataFrame:
    """Guarantees that were false in 0.7.0: what is allowed, what the attack gained then, what it gains now."""
    return _faults(table, measure.REPAIRED_GAINED, "in 0.7.0")


def show_later(table: pd.DataFrame) -> pd.DataFrame:
    """Guarantees that were false until 0.15.0, in the same columns."""
    return _faults(table, measure.GAINED, "in 0.15.0")


def _faults(table: pd.DataFrame, gained: Mapping[str, str], version: str) -> pd.DataFrame:
    faults = {"fault": table["fault"], "the attack gains": table["fault"].map(dict(gained))}
    told = {"allowed": "allowed", version: "before", "now": "now"}
    return pd.DataFrame(faults | {label: table[name].map(plain) for label, name in told.items()}).set_index("fault")


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
