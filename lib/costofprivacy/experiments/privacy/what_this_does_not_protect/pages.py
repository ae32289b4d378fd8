"""The answer, the figures and the checked statements of the page on what a correct ε leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.privacy.what_this_does_not_protect.bits import DISCRETE, ESTIMATOR, ROUNDED
from costofprivacy.experiments.privacy.what_this_does_not_protect.scaling import PUBLIC, SCALES, STANDARD
from costofprivacy.experiments.privacy.what_this_does_not_protect.seeds import LISTED, RELEASED, UNDONE, UNKNOWN
from costofprivacy.judging.prose import compact, listed, measured, percent, plain, span
from costofprivacy.judging.sentences import Check, Sentences, checked
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

SEVERAL = 10  # runs, releases and records that the leading figure speaks of, or the nearest that were measured
FAR_OUT = 100.0  # the size of the one record there
NOTHING = 1e-9  # of the noise: what rounding leaves


def nearest(values: pd.Series, wanted: float) -> float:
    """The value of a column nearest on a logarithmic scale."""
    return values.iloc[int(np.abs(np.log(values.to_numpy(dtype=float) / wanted)).argmin())]


def gaps(tables: Tables) -> pd.DataFrame:
    """The attacks side by side: advantage, its error (0 where exact), and what one release promises at most."""
    promise = float(tables["seeds"]["bound"].iloc[0])
    far = nearest(tables["scaling"]["size"], FAR_OUT)
    ways = {way: pick(tables["scaling"], way=way, size=far) for way in (STANDARD, PUBLIC)}
    many = {name: _several(tables[name], of) for name, of in (("audited", "runs"), ("repeats", "releases"))}
    person, last = _several(tables["groups"], "records"), tables["population"].iloc[-1]
    bits = pick(tables["rounding"], attack=ESTIMATOR)
    rows = [
        ("who was in the data", last["advantage"], last["standard_error"]),
        ("one release, seed unknown", *_measured(pick(tables["seeds"], attack=UNKNOWN))),
        (f"scaled by public bounds\n(a record at {far:g})", *_measured(ways[PUBLIC])),
        (f"best of {many['audited']['runs']:.0f} runs", *_measured(many["audited"])),
        (f"{many['repeats']['releases']:.0f} releases averaged", *_measured(many["repeats"])),
        (f"{person['records']:.0f} records of one person", person["advantage"], 0.0),
        (f"last bits of {bits['d']:.0f} numbers", *_measured(bits)),
        (f"scaled by the data\n(a record at {far:g})", *_measured(ways[STANDARD])),
        ("seed from a short list", *_measured(pick(tables["seeds"], attack=LISTED))),
    ]
    return pd.DataFrame(rows, columns=["attack", "advantage", "standard_error"]).assign(promise=promise)


def _measured(row: pd.Series) -> tuple[float, float]:
    return row["advantage"], row["standard_error"]


def _several(table: pd.DataFrame, column: str) -> pd.Series:
    return pick(table, **{column: nearest(table[column], SEVERAL)})


def exceeds(row: Mapping[str, float] | pd.Series) -> bool:
    """Whether an attack has more than is promised, beyond doubt."""
    return bool(row["advantage"] > row["promise"] + CONSISTENT * row["standard_error"])


def answer(tables: Tables) -> str:
    """What a single release promises, which attacks have more, and what to do."""
    table = gaps(tables)
    over = table[table.apply(exceeds, axis=1)]
    worst = over.loc[over["advantage"].idxmax()] if len(over) else None
    told = (
        f"{len(over)} of {len(table)} attacks here have more, up to {percent(float(worst['advantage']))}"
        if worst is not None
        else "No attack here has more"
    )
    return (
        f"At this budget no attack on one release gains more than {percent(float(table['promise'].iloc[0]))} over "
        f"guessing. {told}: they use the seed, the last bits, the scale, or many releases. The mathematics stands; its "
        f"conditions failed. For a real release use a library that samples securely, and the checklist below."
    )


def draw_gaps(tables: Tables) -> Plate:
    """The advantage of each attack beside what one release promises."""
    table = gaps(tables)
    with figures.style():
        figure, axes = plt.subplots(figsize=(7.6, 4.8))
        places = np.arange(len(table))
        look: dict[str, Any] = {"capsize": 2, "linestyle": "none"}
        for over, marker, colour in ((True, "s", figures.COLOURS[3]), (False, "o", figures.COLOURS[0])):
            rows = table.apply(exceeds, axis=1) == over
            error = 2 * table.loc[rows, "standard_error"]
            axes.errorbar(table.loc[rows, "advantage"], places[rows], xerr=error, marker=marker, color=colour, **look)
        axes.axvline(float(table["promise"].iloc[0]), color="k", ls="--", lw=1)
        axes.set_yticks(places, table["attack"])
        axes.set(xlim=(-0.08, 1.08), xlabel="advantage of the attack")
    over = table[table.apply(exceeds, axis=1)]
    names = listed(_flat(name) for name in over["attack"]) if len(over) else "none"
    return Plate(
        figure,
        caption=(
            f"**What the budget does not cover.** Each attack tells two neighbouring data sets apart. The dashed line "
            f"is "
            f"the most that one release allows, {compact(float(table['promise'].iloc[0]))}. Squares are beyond it: "
            f"{names}. Bars are two standard errors; one person's records are exact."
        ),
        alt="Advantages: " + ", ".join(f"{_flat(r.attack)} {plain(r.advantage)}" for r in table.itertuples()) + ".",
    )


def _flat(text: str) -> str:
    return text.replace("\n", " ")


def draw_bits(bits: pd.DataFrame, rounding: pd.DataFrame) -> Plate:
    """Left: the attack on last bits by the value's size. Right: on the estimator's releases, rounded to fewer bits."""
    rounded = select(rounding, attack=ROUNDED).sort_values("bits", ascending=False)
    whole = pick(rounding, attack=ESTIMATOR)
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0))
        for d, look in figures.looks(sorted(bits["d"].unique(), reverse=True)).items():
            rows = select(bits, d=d)
            figures.points(left, rows, "ratio", "advantage", label=_counted(d), **look)
        left.set(xscale="log", xlabel="value over noise", ylabel="advantage", ylim=(-0.05, 1.05))
        left.set_title("Gaussian mechanism")
        right.errorbar(
            rounded["bits"],
            rounded["advantage"],
            yerr=2 * rounded["standard_error"],
            fmt="o-",
            capsize=2,
            label="rounded",
        )
        right.axhline(whole["advantage"], color=figures.COLOURS[3], ls="-.", lw=1, label="as released")
        right.set(xlabel="bits kept below the noise", ylabel="advantage", ylim=(-0.05, 1.05))
        right.set_title(f"estimator, {whole['d']:.0f} coefficients")
        for axes in (left, right):
            axes.axhline(whole["bound"], color="k", ls="--", lw=1)
        figures.end_labels(left)
        right.legend()
    small = bits[bits["ratio"] == bits["ratio"].min()].set_index("d")["advantage"]
    first = rounded[rounded["advantage"] <= CONSISTENT * rounded["standard_error"]]
    hidden = f"At {int(first['bits'].max())} bits nothing is left to see. " if len(first) else ""
    return Plate(
        figure,
        caption=(
            f"**The last bits.** The attacker rules a data set out if no double could have given the release. Left: "
            f"values small beside the noise give away {span(small)} for {span(small.index)} numbers. Right: the "
            f"coefficients of `DPGDRegressor` give away {compact(whole['advantage'])}, and rounding hides it. {hidden}"
            f"Dashed: what the guarantee allows. Bars are two standard errors."
        ),
        alt=(
            "Left, smallest values: "
            + ", ".join(f"{_counted(d)} {plain(v)}" for d, v in small.items())
            + f". Right: as released {plain(whole['advantage'])}, "
            + ", ".join(f"{r.bits:.0f} bits {plain(r.advantage)}" for r in rounded.itertuples())
            + "."
        ),
    )


def _counted(d: object) -> str:
    return f"{d} numbers" if d != 1 else "1 number"


def draw_tuning(tuning: pd.DataFrame) -> Plate:
    """ε against the number of runs of which the best is released."""
    lines = {
        "composed": "all released",
        "best": "best of k,\nat least",
        "stopped_at_most": "random number,\nat most",
        "one": "one run",
    }
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.2))
        for (column, label), look in zip(lines.items(), figures.looks(lines).values(), strict=True):
            axes.plot(tuning["runs"], tuning[column], label=label, **look)
        figures.log_axes(axes, "runs $k$, or their expected number", "$\\varepsilon$ spent")
        figures.end_labels(axes)
    last, ten = tuning.iloc[-1], _several(tuning, "runs")
    return Plate(
        figure,
        caption=(
            f"**The best of several runs.** Each run alone spends {compact(ten['one'])}. Releasing the best of "
            f"{ten['runs']:.0f} spends at least {compact(ten['best'])}, computed exactly for scores that are Gaussian; "
            f"all "
            f"together spend {compact(ten['composed'])}. With a random number of runs, {last['runs']:.0f} expected, "
            f"{compact(last['stopped_at_most'])} is enough. Closed forms have no sampling error."
        ),
        alt=(
            f"At {last['runs']:.0f} runs: all released {plain(last['composed'])}, best at least {plain(last['best'])}, "
            f"random number at most {plain(last['stopped_at_most'])}, one run {plain(last['one'])}."
        ),
    )


def draw_scaling(scaling: pd.DataFrame) -> Plate:
    """The advantage by the size of the record that may be there, for each way to scale."""
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.0))
        for way, look in figures.looks(SCALES).items():
            label = str(way).replace(" of the", "\nof the")
            figures.points(axes, select(scaling, way=way), "size", "advantage", label=label, **look)
        axes.axhline(scaling["bound"].iloc[0], color="k", ls="--", lw=1)
        axes.set(xscale="log", xlabel="the record's feature, in standard deviations", ylabel="advantage")
        figures.end_labels(axes)
    ends = {way: select(scaling, way=way).sort_values("size")["advantage"].iloc[-1] for way in SCALES}
    told = ", ".join(f"{way} {compact(value)}" for way, value in ends.items())
    trials = int(scaling["trials"].min())
    return Plate(
        figure,
        caption=(
            f"**Scaled by private data.** Was a record with one large feature there? Advantage at the largest size: "
            f"{told}. "
            f"The fit itself is private at the budget, dashed. Bars are two standard errors over {trials} releases of "
            f"each."
        ),
        alt=f"Advantage at the largest size: {', '.join(f'{way} {plain(value)}' for way, value in ends.items())}.",
    )


def statements(tables: Tables) -> Sentences:
    """Each gap in one sentence, computed; how long a fit takes is the machine's, and is not among them."""
    checks: tuple[Check, ...] = (
        (_undone, "A known seed gives the noise away exactly.", "A known seed does not give the noise away."),
        (_over(LISTED), "A seed from a short list is found by trying.", "A seed from a short list is not found."),
        (_over(UNKNOWN), "One release gives away more than it promises.", "One release keeps what it promises."),
        (_bits, "The last bits of a release tell neighbours apart.", "The last bits of a release tell nothing."),
        (
            _rounded,
            "Releases rounded well above the last bit tell nothing more.",
            "Rounding does not hide the last bits.",
        ),
        (_discrete, "A discrete Gaussian keeps the promise.", "A discrete Gaussian breaks the promise."),
        (_best, "The best of ten runs spends more than one.", "The best of ten runs spends what one does."),
        (_scaled, "Scaling by private data undoes the promise.", "Scaling by private data does no harm."),
        (_public, "Scaling by public bounds keeps it.", "Scaling by public bounds breaks it."),
        (_add, "Repeated releases add up.", "Repeated releases do not add up."),
        (_person, "A person with several records is protected less than promised.", "Several records change nothing."),
        (_were, "Guarantees of version 0.7.0 were false.", "No guarantee of version 0.7.0 was false."),
        (_kept, "Each of these guarantees is kept now.", "One of these guarantees is still broken."),
        (_learns, "Strangers are predicted as well as members.", "Members are predicted better than strangers."),
    )
    return checked(tables, checks)


def _undone(tables: Tables) -> bool:
    table = tables["undone"]
    left = pick(table, what=UNDONE)["distance"] / pick(table, what=UNDONE)["noise"]
    return bool(left < NOTHING < pick(table, what=RELEASED)["distance"])


def _over(attack: str) -> Callable[[Tables], bool]:
    return lambda tables: exceeds(_promised(pick(tables["seeds"], attack=attack)))


def _promised(row: pd.Series) -> dict[str, float]:
    return {"advantage": row["advantage"], "standard_error": row["standard_error"], "promise": row["bound"]}


def _bits(tables: Tables) -> bool:
    return exceeds(_promised(pick(tables["rounding"], attack=ESTIMATOR)))


def _rounded(tables: Tables) -> bool:
    rows = select(tables["rounding"], attack=ROUNDED)
    return not exceeds(_promised(rows.loc[rows["bits"].idxmin()]))


def _discrete(tables: Tables) -> bool:
    return not exceeds(_promised(pick(tables["discrete"], attack=DISCRETE)))


def _best(tables: Tables) -> bool:
    row = _several(tables["tuning"], "runs")
    return bool(row["best"] > row["one"] * (1 + NOTHING))


def _scaled(tables: Tables) -> bool:
    rows = tables["scaling"]
    return all(
        exceeds(_promised(row)) for _, row in rows[(rows["way"] != PUBLIC) & (rows["size"] >= FAR_OUT)].iterrows()
    )


def _public(tables: Tables) -> bool:
    return not any(exceeds(_promised(row)) for _, row in select(tables["scaling"], way=PUBLIC).iterrows())


def _add(tables: Tables) -> bool:
    first = float(tables["seeds"]["bound"].iloc[0])
    last = tables["repeats"].sort_values("releases").iloc[-1]
    return exceeds(_promised(last) | {"promise": first})


def _person(tables: Tables) -> bool:
    table = tables["groups"].sort_values("records")
    return bool(table["mu"].iloc[-1] > table["bound"].iloc[0] * (1 + NOTHING))


def _were(tables: Tables) -> bool:
    return bool(_beyond(tables["repaired"], "before").all())


def _kept(tables: Tables) -> bool:
    return not _beyond(tables["repaired"], "now").any()


def _beyond(repaired: pd.DataFrame, column: str) -> pd.Series:
    """Whether an attack gains more than is allowed, beyond rounding and doubt."""
    return repaired[column] > repaired["allowed"] * (1 + NOTHING) + CONSISTENT * repaired[f"{column}_error"]


def _learns(tables: Tables) -> bool:
    row = tables["population"].sort_values("n").iloc[-1]
    error = float(np.hypot(row["members_error"], row["strangers_error"]))
    return bool(abs(row["members"] - row["strangers"]) <= CONSISTENT * error and row["strangers"] > 0)


def read_seeds(tables: Tables) -> Markdown:
    """What a seed gives away, in numbers."""
    told, seeds = tables["undone"].set_index("what")["distance"], tables["seeds"].set_index("attack")
    noise, row = float(tables["undone"]["noise"].iloc[0]), seeds.loc[LISTED]
    return Markdown(
        f"The release is {compact(told[RELEASED])} away from the fit without noise, as noise of length "
        f"{compact(noise)} has "
        f"it. Less the noise of its seed it is {compact(told[UNDONE])} away, which is rounding. A seed from a list of "
        f"{row['guesses']:.0f} is as bad: advantage {compact(row['advantage'])} over {row['trials']:.0f} releases of "
        f"each."
    )


def read_discrete(discrete: pd.DataFrame) -> Markdown:
    """What the discrete Gaussian gives away."""
    row = pick(discrete, attack=DISCRETE)
    found = measured(row["advantage"], row["standard_error"])
    return Markdown(
        f"The discrete Gaussian on a grid of {row['grid']:.0f} units to a standard deviation has no last bits. The "
        f"best attack on it has an advantage of {found}; {compact(row['bound'])} is allowed."
    )
