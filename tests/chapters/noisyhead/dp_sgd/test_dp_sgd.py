"""The chapter on DP-SGD: what is measured, Opacus's runs, what is refused, and what is tried on its judges."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from chapters.noisyhead.dp_sgd import measure, worker
from chapters.noisyhead.dp_sgd.measure import (
    ADD,
    ALGORITHM,
    CLIPS,
    DP_SGD,
    LOSS,
    NOISYHEAD,
    PAIR,
    PROMPT,
    REPLACE,
    UPDATE,
    Experiment,
    Method,
    trial,
)
from companion.judging.findings import Verdict
from companion.judging.tables import pick, select
from companion.running.extras import Extra, ExtraMissing
from companion.running.montecarlo import Runner, generator
from costofprivacy.privacy.subsampled import Neighbours
from costofprivacy.settings import Setting
from tests.chapters.machinery import Case, Tables, both, change, committed, put, trials

SMALL = Experiment(N=(1000,), epsilon=(1.0,), lengths=(10, 100), trials=20)
COMMITTED = committed("noisyhead/dp-sgd")
PUBLISHED = Setting.PUBLISHED


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return SMALL.run(Runner(workers=1))


def risk(figure: pd.DataFrame, way: Method) -> pd.Series:
    rows = select(figure, setting="published", method=way.method, account=way.account)
    return pick(rows[rows["gradients"] == way.gradients] if way.gradients else rows)


def test_the_committed_runs_are_of_this_code_and_lock() -> None:
    full = Experiment()
    assert all(measure.RECORD.committed(run, full.opacus_trials) is not None for run in full._opacus_cells())


def test_runs_that_are_not_committed_ask_for_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extra, "present", False)
    with pytest.raises(ExtraMissing, match=r"2 of 4 settings at 20 trials .* extra NAME=opacus$"):
        replace(SMALL, epsilon=(0.37,), trials=2).run(Runner(workers=1))


@pytest.mark.parametrize(
    "way", [Method(NOISYHEAD, "", REPLACE, 1.0), *(Method(DP_SGD, g, REPLACE, 1.0) for g in CLIPS)]
)
def test_the_noise_explains_the_risk(tables: dict[str, pd.DataFrame], way: Method) -> None:
    row = risk(tables["figure-5"], way)
    assert row["closed_form"] == pytest.approx(row["excess_risk"], abs=5 * row["standard_error"])
    assert row["closed_form"] != pytest.approx(2 * row["excess_risk"], abs=5 * row["standard_error"])


def test_each_side_spends_what_it_was_given_in_its_own_relation(tables: dict[str, pd.DataFrame]) -> None:
    accounts = select(tables["accounts"], setting="published")
    for account in (ADD, REPLACE):
        spent = accounts.loc[accounts["account"] == account, f"spent, {account}"]
        np.testing.assert_allclose(spent, 1.0, rtol=2e-3)
    printed = pick(accounts, account=ALGORITHM)
    assert printed[f"spent, {REPLACE}"] < 0.1
    assert printed[f"spent, {ADD}"] < printed[f"spent, {REPLACE}"]


def test_dp_sgd_on_all_prompts_has_noisyheads_noise() -> None:
    cell = replace(SMALL.cells[0], batch=1000)
    for account in (ADD, REPLACE):
        head, sgd = (Method(m, g, account, 1.0) for m, g in ((NOISYHEAD, ""), (DP_SGD, UPDATE)))
        assert cell.noise_in_weights(PUBLISHED, sgd) == pytest.approx(cell.noise_in_weights(PUBLISHED, head))
        assert cell.spent(PUBLISHED, sgd, Neighbours(account)) == pytest.approx(1.0, rel=1e-6)


def test_opacus_has_the_law_of_our_dp_sgd_and_not_that_of_more_noise(tables: dict[str, pd.DataFrame]) -> None:
    runs = select(COMMITTED["opacus-runs"], N=1000, epsilon=1.0, gradients=LOSS)["excess_risk"].to_numpy()
    cell = SMALL.cells[0]
    place = cell.columns.index((PUBLISHED, Method(DP_SGD, LOSS, ADD, 1.0)))
    ours = np.array([trial(cell, rng=generator(7, cell.key, t))[0, place] for t in range(60)])
    assert len(runs) == 20
    assert ks_2samp(runs, ours).pvalue > 0.01
    assert ks_2samp(runs, 2 * ours).pvalue < 1e-3
    assert ks_2samp(runs, ours / 2).pvalue < 1e-3


def test_the_worker_imports_nothing_of_the_package() -> None:
    with open(worker.__file__) as source:
        assert "costofprivacy" not in "\n".join(line for line in source if line.lstrip().startswith(("import", "from")))


HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/dp-sgd"
FIGURE, PARITY, FAIR, NAIVE = (
    f"noisyhead/{name}" for name in ("figure-5", "section-6.4-parity", "section-6.4-fair", "section-1.1-dp-sgd")
)
ANALOGOUS = "noisyhead/section-1.2-dp-sgd"


def like_dp_sgd(t: Tables, head: str, sgd: str, gradients: str, factor: float) -> Tables:
    """NoisyHead's risk by an accounting set to a multiple of DP-SGD's, at every size and setting."""
    figure = t["figure-5"]
    place = ["setting", "N", "epsilon"]
    theirs = figure[(figure["method"] == DP_SGD) & (figure["account"] == sgd) & (figure["gradients"] == gradients)]
    known = theirs.set_index(place)["excess_risk"]
    where = (figure["method"] == NOISYHEAD) & (figure["account"] == head)

    def scaled(rows: Any) -> Any:
        return factor * known.loc[[tuple(row) for row in rows[place].to_numpy()]].to_numpy()

    return {"figure-5": change(figure, "excess_risk", scaled, where)}


def stated(t: Tables, factor: float) -> Tables:
    return like_dp_sgd(t, ALGORITHM, ADD, LOSS, factor)


def same(t: Tables, factor: float) -> Tables:
    return like_dp_sgd(t, REPLACE, REPLACE, UPDATE, factor)


def unlike_closed_form(t: Tables, method: str) -> Tables:
    return put("figure-5", "closed_form", lambda r: 2 * r["closed_form"], method=method)(t)


def spent(t: Tables, method: str, account: str, share: float) -> Tables:
    return put("accounts", f"spent, {REPLACE}", lambda r: share * r["epsilon"], method=method, account=account)(t)


def grown(t: Tables, record: str, power: float) -> Tables:
    return put("records", "ratio", lambda r: r["L"].astype(float) ** power, record=record)(t)


CASES = [
    Case(FIGURE, "NoisyHead is better as printed", lambda t: stated(t, 0.9), HOLDS),
    Case(FIGURE, "NoisyHead is worse as printed", lambda t: stated(t, 1.5), NARROWER, says="up to 1.5 times"),
    Case(FIGURE, "NoisyHead is worse in both", lambda t: same(t, 1.6), FAILS),
    Case(PARITY, "a par as printed, NoisyHead alone in closed form",
         both(lambda u: stated(u, 1.0), lambda u: unlike_closed_form(u, DP_SGD)), HOLDS),
    Case(PARITY, "NoisyHead alone in closed form", lambda t: unlike_closed_form(t, DP_SGD), NARROWER, silent="follows"),
    Case(PARITY, "neither in closed form",
         both(lambda u: unlike_closed_form(u, DP_SGD), lambda u: unlike_closed_form(u, NOISYHEAD)),
         NARROWER, says="neither"),
    Case(PARITY, "far apart at the same accounting", lambda t: same(t, 5.0), FAILS),
    Case(FAIR, "both spend the budget",
         both(lambda u: spent(u, NOISYHEAD, ALGORITHM, 1.0), lambda u: spent(u, DP_SGD, ADD, 1.0)), HOLDS),
    Case(FAIR, "NoisyHead spends half", lambda t: spent(t, NOISYHEAD, ALGORITHM, 0.5), NARROWER, says="50 % of"),
    Case(ANALOGOUS, "no closed form", lambda t: unlike_closed_form(t, DP_SGD), FAILS),
    Case(FAIR, "the exact accountings differ, too", lambda t: spent(t, DP_SGD, REPLACE, 1.5), FAILS),
    Case(NAIVE, "a prompt costs its length", lambda t: grown(t, PROMPT, 0.5), HOLDS),
    Case(NAIVE, "a prompt gets cheaper", lambda t: grown(t, PROMPT, -0.5), NARROWER),
    Case(NAIVE, "a pair costs nothing either", lambda t: grown(t, PAIR, 0.0), FAILS),
    Case(NAIVE, "one length", lambda t: {"records": t["records"][t["records"]["L"] == 31]}, UNTESTABLE),
]  # fmt: skip

test_what_the_book_found, test_a_judge_follows_its_tables, test_every_judge_acquits_and_convicts = trials(
    CHAPTER, CASES
)
