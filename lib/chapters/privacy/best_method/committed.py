"""The campaign's results, committed beside this module under a digest of the code that measured them.

The campaign takes an hour and more on two cores, so no page waits for it: pages read what is committed here. ``python
-m chapters.privacy.best_method`` measures it anew and writes it; finished blocks of trials are kept,
so that an interrupted run goes on where it stopped. ``rivals`` is paired with the campaign's
four methods, whose blocks it takes from there; its column ``against`` is the digest of the code that these are from.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from chapters.privacy.best_method import campaign, coverage, others
from companion.running import _source
from companion.running.stamps import json_digest, read_table
from companion.streams import Runner

SMALL, LARGE, COVERED = 100, 20, 1000  # seeds up to 10⁴ records, seeds above, data sets for intervals
SEED = 41
CASES, INTERVALS, RIVALS = NAMES = ("cases", "intervals", "rivals")
FOLDER = Path(__file__).parent


def code(name: str = CASES) -> str:
    """The digest of the code behind a table of `NAMES`.

    That of ``cases`` and of ``intervals`` is the module's that measures them and all that it imports. That of
    ``rivals`` is the other methods' own, definition by definition, so that a change of the four methods leaves it.
    """
    if name == RIVALS:
        return json_digest(_source.digest_of(others.trial, others.cells))[:16]
    return json_digest(_source.digest([(coverage if name == INTERVALS else campaign).__name__]))[:16]


def path(name: str) -> Path:
    """The file of a table."""
    return FOLDER / f"{name}.csv"


def read(name: str) -> pd.DataFrame:
    """A committed table, with the digest of the code that measured it in its last column.

    Raises:
        FileNotFoundError: if the campaign was never run.
    """
    return read_table(path(name))


def measure(runner: Runner, names: tuple[str, ...] = NAMES) -> None:
    """Measure the campaign and write its tables."""
    if CASES in names:
        _write(CASES, campaign.measure(campaign.cells(), SMALL, LARGE, SEED, runner))
    if INTERVALS in names:
        _write(INTERVALS, coverage.measure(coverage.cells(), COVERED, SEED, runner))
    if RIVALS in names:
        table = others.measure(others.cells(), others.SEEDS, others.FEW, SEED, runner)
        _write(RIVALS, table.assign(against=code()))


def _write(name: str, table: pd.DataFrame) -> None:
    table.assign(digest=code(name)).to_csv(path(name), index=False, float_format="%.7g")
