"""The tables of the page on a private head that works, and what is read from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.noisyhead.a_head_that_works import findings, ladder, words
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, METHODS, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, NO_DATA, NON_PRIVATE, ZERO
from costofprivacy.judging.prose import compact, listed, measured, percent, plain
from costofprivacy.judging.tables import Tables, select

EDGE = "\u2009*"  # beside an error whose chosen numbers lie at an edge of their grid


def show_theory(theory: pd.DataFrame) -> pd.DataFrame:
    """Closed form beside simulation, for the best head and the one without data."""
    rows = theory[theory["head"].isin([BEST, NO_DATA])]
    return pd.DataFrame(
        {
            "features": rows["features"].map(words.FEATURES),
            "$\\kappa$": rows["condition"].map("{:g}".format),
            "$D$": rows["D"],
            "$L$": rows["L"],
            "$\\tau$": rows["label_noise"].map("{:g}".format),
            "head": rows["head"].map(words.METHODS),
            "test error, closed form": rows["closed_form"].map(plain),
            "simulated": _pairs(rows, "test_error"),
        }
    ).set_index("features")


def show_ends(tables: Tables) -> pd.DataFrame:
    """Test errors at the largest N and ε: the four ends and the private heads between them."""
    columns = {}
    for name in dict.fromkeys(tables["test-error"]["covariance"]):
        row = findings.corner(tables, name)
        order = (ZERO, NO_DATA, PRIVATE, COVARIANCE, NON_PRIVATE, BEST)
        columns[words.title(name)] = {words.METHODS[method]: plain(row[method]) for method in order}
        columns[words.title(name)]["private head over least squares"] = percent(findings.over_non_private(tables, name))
    return pd.DataFrame(columns).rename_axis("at the largest $N$ and $\\varepsilon$")


def show_ladder(steps: pd.DataFrame) -> pd.DataFrame:
    """The test error of every rung and of the four ends, at each ε and covariance."""
    edge = steps["edge"].astype(bool) if "edge" in steps else pd.Series(False, steps.index)
    text = [error + EDGE * at for error, at in zip(_pairs(steps, "test_error"), edge, strict=True)]
    columns = [f"{words.title(c)}, ε = {e:g}" for c, e in zip(steps["covariance"], steps["epsilon"], strict=True)]
    wide = steps.assign(text=text, column=columns).pivot(index="rung", columns="column", values="text")
    rows = [ZERO, NO_DATA, *ladder.RUNGS, NON_PRIVATE, BEST]
    names = {name: words.rung(name) for name in rows}
    return wide.loc[rows, list(dict.fromkeys(columns))].rename(index=names).rename_axis(index="change", columns=None)


def read_ladder(tables: Tables) -> Markdown:
    """What the ladder says of the start and of the end: NoisyHead as printed, and which tokens are best asked."""
    steps, asked = tables["ladder"], findings.asked(tables)
    printed = select(steps[steps["epsilon"] == steps["epsilon"].min()], rung=ladder.PRINTED)
    errors = ", ".join(
        f"{measured(row.test_error, row.standard_error)} {words.where(row.covariance)}" for row in printed.itertuples()
    )
    edges = steps[steps["rung"].isin(ladder.SEARCHED)]["edge"]
    return Markdown(
        f"NoisyHead as printed errs {errors} at $\\varepsilon = {printed['epsilon'].iloc[0]:g}$, where answering 0 "
        f"errs 1. Asking every token errs less than asking the last one alone in {int(asked['better'].sum())} of "
        f"{len(asked)} cases of this table and more in {int(asked['worse'].sum())}{_where(asked)}. An asterisk: a "
        f"number that was searched lies at an edge of its grid, in {int(edges.sum())} of {len(edges)} cases."
    )


def _where(asked: pd.DataFrame) -> str:
    """In which cases asking every token errs more."""
    rows = asked[asked["worse"]]
    told = [f"{words.where(row.covariance)} at $\\varepsilon = {row.epsilon:g}$" for row in rows.itertuples()]
    return f" ({listed(told)})" if told else ""


def show_thresholds(area: pd.DataFrame) -> pd.DataFrame:
    """For each κ, method and N the least ε tried from which on it beats the head without data."""
    parts = []
    for method in METHODS:
        found = findings.threshold(area, method)
        text = [f"{e:g}" if np.isfinite(e) else "none" for e in found["epsilon"]]
        parts.append(found.assign(text=text, method=words.METHODS[method]))
    rows = pd.concat(parts)
    wide = rows.pivot(index=["condition", "method"], columns="N", values="text").reset_index()
    wide["condition"] = wide["condition"].map("{:g}".format)
    wide = wide.rename(columns={"condition": "$\\kappa$", "method": "head"}).rename_axis(columns=None)
    return wide.set_index(["$\\kappa$", "head"]).rename(columns=lambda n: f"$N = {n}$")


def read_area(area: pd.DataFrame) -> Markdown:
    """How often each head wins and loses, and by how much at worst."""
    told = []
    for method in METHODS:
        for unknown, kind in ((True, "with an unknown covariance"), (False, "on isotropic prompts")):
            wins = findings.won(area, unknown, method)
            if len(wins):
                share, worst = findings.lost(area, unknown, method)
                told.append(
                    f"{kind} the {words.METHODS[method]} wins {int(wins.sum())} of {len(wins)} cells and loses "
                    f"{round(share * len(wins))}, at worst with {compact(worst)} times the error without data"
                )
    rows = area[area["method"] == PRIVATE]
    more = int((rows["non_private"] > rows["no_data"]).sum())
    return Markdown(
        f"{words.sentences(told)} Least squares without privacy errs more than the head without data in "
        f"{more} of {len(rows)} cells."
    )


def show_tasks(tasks: pd.DataFrame) -> pd.DataFrame:
    """Test errors where tasks are not isotropic."""
    names = {"covariance": tasks["covariance"].map(words.title), "tasks": tasks["tasks"].map(words.TASKS)}
    text = tasks.assign(text=_pairs(tasks, "test_error"), **names)
    wide = text.pivot(index=["covariance", "tasks"], columns="method", values="text")
    shown = {name: words.METHODS[name] for name in (BEST, NON_PRIVATE, PRIVATE, COVARIANCE)}
    return wide[list(shown)].rename(columns=shown).rename_axis(index=["features", "tasks"], columns=None)


def read_tasks(tables: Tables) -> Markdown:
    """When to take which head."""
    fewer, misled = findings.fewer(tables), findings.misled(tables)
    worst = misled.loc[misled["factor"].idxmax()]
    return Markdown(
        f"Where tasks are known to be isotropic, the covariance alone errs less than the private head in "
        f"{int(fewer.sum())} of {len(fewer)} cells of the main table. Where they are not, it errs up to "
        f"{compact(worst['factor'])} times as much ({compact(worst[COVARIANCE])} against {compact(worst[PRIVATE])}, "
        f"{words.where(worst['covariance'])}, tasks {words.TASKS[worst['tasks']]}). "
        '`PrivateHeadRegressor` is the private head; with `tasks="isotropic"` it is the covariance alone.'
    )


def show_poison(poison: pd.DataFrame) -> pd.DataFrame:
    """What one poisoned prompt does to the private head and to least squares."""
    return pd.DataFrame(
        {
            "features": poison["covariance"].map(words.title),
            "the poisoned prompt": poison["attack"],
            "size": poison["size"].map("{:g}".format),
            "private: test error": poison["clean"].map(plain),
            "its change": _pairs(poison, "change"),
            "shift over noise": poison["shift_over_noise"].map(plain),
            "bound $\\mu$": poison["mu"].map(plain),
            "least squares: test error": poison["plain_clean"].map(plain),
            "poisoned": poison["plain_poisoned"].map(plain),
        }
    ).set_index(["features", "the poisoned prompt"])


def read_poison(poison: pd.DataFrame) -> Markdown:
    """The bound that needs no normal law, and how near the attacks come to the other one."""
    share = float((poison["shift_over_noise"] / poison["mu"]).max())
    where = f"$N = {poison['N'].iloc[0]}$, $\\varepsilon = {poison['epsilon'].iloc[0]:g}$"
    return Markdown(
        f"At {where} no event's probability moves by more than "
        f"{percent(float(poison['probability_bound'].max()))}, whatever the prompt and whatever is released. These "
        f"attacks move the mean by at most {percent(share)} of what $\\mu$ allows."
    )


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What audits found."""
    return pd.DataFrame(
        {
            "fault": audit["fault"],
            "asked": np.where(audit["every_token"], "every token", "last token"),
            "neighbours": audit["pair"],
            "$\\delta$": audit["delta"].map(plain),
            "exact $\\varepsilon$": audit["exact_epsilon"].map(plain),
            "audit: at least": audit["found_epsilon"].map(plain),
            "exact $\\mu$": audit["mu"].map(plain),
            "audit: $\\mu$ at least": audit["found_mu"].map(plain),
            "above the claim": np.where(_above(audit), "yes", "no"),
        }
    ).set_index("fault")


def read_audit(audit: pd.DataFrame) -> Markdown:
    """Whether the mechanism is acquitted and each fault is found, by the way in which it asks."""
    above = audit.assign(above=_above(audit))
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


def _above(audit: pd.DataFrame) -> pd.Series:
    """Whether ε or μ is found above the claim."""
    return (audit["found_epsilon"] > audit["exact_epsilon"]) | (audit["found_mu"] > audit["mu"])


def _pairs(table: pd.DataFrame, column: str) -> list[str]:
    return [measured(v, e) for v, e in zip(table[column], table["standard_error"], strict=True)]
