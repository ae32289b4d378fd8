"""The answer of the page on a private head that works, and what it reads from its tables."""

import pandas as pd
from IPython.display import Markdown

from chapters.noisyhead.a_head_that_works import floor, ladder, readings
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, METHODS, PRIVATE
from chapters.noisyhead.a_head_that_works.problems import ISOTROPIC, NON_PRIVATE
from companion.judging.prose import compact, listed, measured, percent, plain
from companion.judging.tables import Tables, pick, select

NEAR = 2.0  # a rate with two fitted constants that misses by more predicts nothing


def answer(tables: Tables) -> list[str]:
    """The result at the largest size, where pretraining is worth anything, and what the page does."""
    table, names = tables["test-error"], sorted(dict.fromkeys(tables["test-error"]["covariance"]), key=ISOTROPIC.__eq__)
    over = [percent(readings.over_non_private(tables, name)) for name in names]
    excess = [compact(readings.excess_over_non_private(tables, name)) for name in names]
    return [
        f"At $\\varepsilon = {table['epsilon'].max():g}$, $N = {table['N'].max()}$ our head's test error is "
        f"{listed(over)} above that of least squares without privacy ({'; '.join(map(readings.title, names))}). Its "
        f"excess over the best head is {listed(excess)} times as large.",
        *(["On isotropic prompts the head that uses no data beats both."] if _no_data_wins(tables, names) else []),
        *_worth(tables["area"]),
        "You will see what each change of NoisyHead is worth.",
    ]


def _no_data_wins(tables: Tables, names: list[str]) -> bool:
    return ISOTROPIC in names and readings.no_data_is_best(tables, ISOTROPIC)


def _worth(area: pd.DataFrame) -> list[str]:
    """How often pretraining beats the head without data, and loses to it; nothing where none was asked for."""
    wins = readings.won(area)
    if not len(wins):
        return []
    alone = float(readings.won(area, method=COVARIANCE).mean())
    return [
        f"With an unknown covariance it beats the head without data in {percent(float(wins.mean()))} of cases "
        f"and loses in {percent(readings.lost(area)[0])}. For isotropic tasks the covariance alone wins in "
        f"{percent(alone)}."
    ]


def read_audit(audit: pd.DataFrame) -> Markdown:
    """Whether the mechanism is acquitted and each fault is found, by the way in which it asks."""
    above = audit.assign(above=readings.above_claim(audit))
    told = []
    for every, rows in above.groupby("every_token", sort=False):
        found = rows.groupby("fault", sort=False)["above"].any()
        right, faults = bool(found.iloc[0]), found.iloc[1:]
        told.append(
            f"{'every token' if every else 'the last token alone'} asked, the mechanism is found "
            f"{'above' if right else 'below'} its claim, and {int(faults.sum())} of {len(faults)} faults above it"
        )
    least = percent(float(audit["least_deficit"].max()))
    return Markdown(
        f"With {'; with '.join(told)}. On neighbours that attain the sensitivity, noise that is {least} too small "
        "would be found with probability 90 %."
    )


def read_ladder(tables: Tables) -> Markdown:
    """What the ladder says of the start and of the end: NoisyHead as printed, and which tokens are best asked."""
    steps, asked = tables["ladder"], readings.asked(tables)
    printed = select(steps[steps["epsilon"] == steps["epsilon"].min()], rung=ladder.PRINTED)
    errors = ", ".join(
        f"{measured(row.test_error, row.standard_error)} {readings.where(row.covariance)}"
        for row in printed.itertuples()
    )
    edges = steps[steps["rung"].isin(ladder.SEARCHED)]["edge"]
    return Markdown(
        f"Always predicting 0 has error 1. At $\\varepsilon = {printed['epsilon'].iloc[0]:g}$ NoisyHead as printed has "
        f"error {errors}. Asking every token has a smaller error than asking the last one alone in "
        f"{int(asked['better'].sum())} of {len(asked)} cases of this table, and a larger one in "
        f"{int(asked['worse'].sum())}{_where(asked)}. An asterisk marks a searched number at an edge of its grid, in "
        f"{int(edges.sum())} of {len(edges)} cases."
    )


def _where(asked: pd.DataFrame) -> str:
    """In which cases asking every token has a larger error."""
    rows = asked[asked["worse"]]
    told = [f"{readings.where(row.covariance)} at $\\varepsilon = {row.epsilon:g}$" for row in rows.itertuples()]
    return f" ({listed(told)})" if told else ""


def read_area(area: pd.DataFrame) -> Markdown:
    """How often each head wins and loses, and by how much at worst."""
    told = []
    for method in METHODS:
        for unknown, kind in ((True, "with an unknown covariance"), (False, "on isotropic prompts")):
            wins = readings.won(area, unknown, method)
            if len(wins):
                share, worst = readings.lost(area, unknown, method)
                told.append(
                    f"{kind} the {readings.METHODS[method]} wins {int(wins.sum())} of {len(wins)} cells and loses "
                    f"{round(share * len(wins))}, at worst with {compact(worst)} times the error without data"
                )
    rows = area[area["method"] == PRIVATE]
    more = int((rows["non_private"] > rows["no_data"]).sum())
    return Markdown(
        f"{readings.sentences(told)} Least squares without privacy has a larger error than the head without "
        f"data in {more} of {len(rows)} cells."
    )


def read_tasks(tables: Tables) -> Markdown:
    """When to take which head."""
    fewer, misled = readings.fewer(tables), readings.misled(tables)
    worst = misled.loc[misled["factor"].idxmax()]
    return Markdown(
        f"Where tasks are known to be isotropic, the covariance alone has a smaller error than the private head "
        f"in {int(fewer.sum())} of {len(fewer)} cells of the main table. Where they are not, its error is up to "
        f"{compact(worst['factor'])} times as large ({compact(worst[COVARIANCE])} against {compact(worst[PRIVATE])}, "
        f"{readings.where(worst['covariance'])}, tasks {readings.TASKS[worst['tasks']]}). "
        '`PrivateHeadRegressor` is the private head; with `tasks="isotropic"` it is the covariance alone.'
    )


def read_poison(poison: pd.DataFrame) -> Markdown:
    """The bound that needs no normal law, and how near the attacks come to the other one."""
    share = float((poison["shift_over_noise"] / poison["mu"]).max())
    where = f"$N = {poison['N'].iloc[0]}$, $\\varepsilon = {poison['epsilon'].iloc[0]:g}$"
    return Markdown(
        f"At {where} no event's probability moves by more than "
        f"{percent(float(poison['probability_bound'].max()))}, whatever the prompt and whatever is released. These "
        f"attacks move the mean by at most {percent(share)} of what $\\mu$ allows."
    )


def read_rate(rate: pd.DataFrame) -> Markdown:
    """Whether the rate predicts each method, by the largest miss over the covariances, and how excesses end."""
    misses = {
        method: max(readings.rate_miss(rate, method, name) for name in rate["covariance"].unique())
        for method in dict.fromkeys(rate["method"])
    }
    told = [
        f"{readings.METHODS[m]}: {'yes' if miss <= NEAR else 'no'} (within a factor {plain(miss)})"
        for m, miss in misses.items()
    ]
    ends = readings.sentences(_ends(rate, name) for name in dict.fromkeys(rate["covariance"]))
    return Markdown(f"Does it predict the excess to a factor {NEAR:g}? {readings.started(listed(told))}. {ends}")


def _ends(rate: pd.DataFrame, covariance: str) -> str:
    """By what factor the last step in N changes the excess, private and not."""
    rows = select(rate, covariance=covariance, epsilon=rate["epsilon"].max())
    before, last = sorted(rows["N"].unique())[-2:]
    factors = {
        method: float(pick(rows, method=method, N=last)["excess"] / pick(rows, method=method, N=before)["excess"])
        for method in (PRIVATE, NON_PRIVATE)
    }
    return (
        f"{readings.where(covariance)}, from $N = {before}$ to ${last}$ at "
        f"$\\varepsilon = {rows['epsilon'].iloc[0]:g}$, the private head's excess changes by a factor "
        f"{compact(factors[PRIVATE])}, that of least squares by {compact(factors[NON_PRIVATE])}"
    )


def read_floor(tables: Tables) -> Markdown:
    """How much of the private head's excess is no noise, and whether more budget ever makes it worse."""
    quiet = select(tables["floor"], method=PRIVATE, epsilon=tables["floor"]["epsilon"].max())
    told = []
    for name, rows in quiet.groupby("covariance", sort=False):
        excess = (rows.set_index("way")["test_error"] - rows["best"].iloc[0]).to_dict()
        told.append(
            f"{readings.where(str(name))}, {percent(excess[floor.QUIET] / excess[floor.NOISY])} of the excess is left "
            f"without noise, {percent(excess[floor.FREE] / excess[floor.NOISY])} without clipping either"
        )
    size = f"$N = {quiet['N'].iloc[0]}$, $\\varepsilon = {quiet['epsilon'].iloc[0]:g}$"
    return Markdown(f"This is at {size}. {readings.sentences(told)} {_dearer(tables)}")


def _steps(errors: pd.DataFrame) -> int:
    """Pairs of neighbouring ε in the main table."""
    rows = select(errors, method=PRIVATE)
    return len(rows) - len(rows[["covariance", "N"]].drop_duplicates())


def _dearer(tables: Tables) -> str:
    """Whether more budget makes the private head worse, and what the same plans do without noise."""
    found = readings.dearer(tables["test-error"])
    if not len(found):
        return "Nowhere in the main table does more budget make the private head worse beyond doubt."
    row = found.loc[(found["more_error"] / found["error"]).idxmax()]
    where = readings.where(row["covariance"])
    quiet = select(tables["floor"], method=PRIVATE, way=floor.QUIET, covariance=row["covariance"])
    errors = quiet.set_index("epsilon")["test_error"]
    same = ", ".join(f"{compact(errors[e])} by the plan of $\\varepsilon = {e:g}$" for e in errors.index)
    return (
        f"More budget is not always better: from one $\\varepsilon$ of the main table to the next the error grows "
        f"beyond doubt in {len(found)} of {_steps(tables['test-error'])} cases, {where} and "
        f"$N = {row['N']}$ from {row['error']:.4g} at $\\varepsilon = {row['epsilon']:g}$ to {row['more_error']:.4g} "
        f"at ${row['more_epsilon']:g}$. Without noise, at the largest $N$: {same}."
    )
