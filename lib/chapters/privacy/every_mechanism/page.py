"""The opening lines and the checked statements of the page on every mechanism."""

from collections.abc import Callable

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.every_mechanism import software
from chapters.privacy.every_mechanism import tables as shown
from chapters.privacy.every_mechanism.figures import ATTAINED, shares
from companion.judging.prose import listed, percent
from companion.judging.sentences import Check, Sentences, checked
from companion.judging.tables import Tables, pick, select

ALONE = "piloted objective perturbation"  # of `PrivateLinearRegression`, proved (ε, δ)-DP alone
FOUND = 0.1 + 1e-9  # a deficit that an audit has to find where the sensitivity is attained


def answer(tables: Tables) -> list[str]:
    """Whether a guarantee is broken, what the audits detect, and what a reader will see."""
    releases = tables["releases"]
    broken, attained = int(releases["refuted"].sum()), releases[_true(releases["attained"])]
    reached = shares(attained)["worst"]
    kept = "No audit refutes a guarantee of this book." if not broken else f"Audits refute {broken} guarantees."
    return [
        f"We audited {len(releases)} releases at one setting. {kept}",
        f"In the {len(attained)} releases that attain their sensitivity ({ATTAINED}), the bounds reach "
        f"{percent(float(reached.min()))} or more of the claim, and noise that is "
        f"{100 * float(attained['deficit'].max()):g} % too small would be found.",
        _alone(releases),
        "We derive what an audit can find.",
    ]


def _alone(releases: pd.DataFrame) -> str:
    """What the audit says of the method that it tests less sharply than the others that may be chosen."""
    row = pick(shares(releases), release=ALONE)
    least = row["deficit"]
    found = "no noise that is too small" if pd.isna(least) else f"only noise that is {100 * least:g} % too small"
    drawn = "" if select(releases, release=ALONE)["run"].item() in shown.RUNS else " of its transcription"
    return (
        f"{ALONE.capitalize()} is tested less sharply: the audit{drawn} proves {percent(row['worst'])} "
        f"of the claim, and {found} would be found."
    )


def statements(tables: Tables) -> Sentences:
    """What the audits find, in sentences that are the same at every number of releases."""
    checks: tuple[Check, ...] = (
        (_kept, "No audit refutes a guarantee of this book.", "An audit refutes a guarantee of this book."),
        (
            _found,
            "Where the sensitivity is attained, noise that is 10 % too small is detected.",
            "Somewhere noise that is 10 % too small is not detected though the sensitivity is attained.",
        ),
        (_gross("clip"), "Every forgotten clip is detected.", "A forgotten clip is not detected."),
        (_gross("scaling"), "Scaling by the data is always detected.", "Scaling by the data is not always detected."),
        (
            _broken("DPrivStats", "a record is replaced"),
            "DPrivStats does not protect a whole record at the stated budget.",
            "The audit does not refute DPrivStats for a whole record.",
        ),
        (
            _broken("DPrivStats", "a response is replaced"),
            "DPrivStats does not protect a response.",
            "The audit does not refute DPrivStats for a response, where the design is public.",
        ),
        (
            _broken("DPpack", "objective perturbation"),
            "An audit refutes DPpack.",
            "The audit does not refute DPpack.",
        ),
    )
    return checked(tables, checks)


def origin(tables: Tables) -> Markdown:
    """Where the runs of the extra environments come from."""
    told = [f"*{name}*: {software.record(name).origin(tables[f'{name}-runs'])}" for name in software.CASES]
    return Markdown("\n\n".join(told))


def read_software(tables: Tables) -> Markdown:
    """Which guarantees of other software the audits refute."""
    audits = shown.software(tables)
    broken = audits[shown.refuted(audits)]
    names = [f"{row['software']} ({row['case']})" for row in broken.to_dict("records")]
    return Markdown(f"The audits refute {len(broken)} of {len(audits)}: {listed(names)}.")


def _broken(package: str, case: str) -> Callable[[Tables], bool]:
    return lambda tables: bool(shown.refuted(select(tables["transcribed"], software=package, case=case)).any())


def _true(column: pd.Series) -> pd.Series:
    return column.astype(bool)


def _kept(tables: Tables) -> bool:
    return not _true(tables["releases"]["refuted"]).any()


def _found(tables: Tables) -> bool:
    releases = tables["releases"]
    return bool((releases.loc[_true(releases["attained"]), "deficit"] <= FOUND).all())


def _gross(column: str) -> Callable[[Tables], bool]:
    return lambda tables: not (tables["releases"][column] == "not detected").any()
