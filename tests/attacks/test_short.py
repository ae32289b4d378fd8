"""A few attacks on every claim, one of which comes so near to its bound that a smaller one would be broken."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costofprivacy.dpgd import update
from costofprivacy.privacy import records
from tests.attacks import CLAIMS, Outcome, attacked, neighbours
from tests.attacks import __main__ as campaign
from tests.attacks.claims import READINGS
from tests.costofprivacy.privacy.test_guarantees import RELEASING
from tests.each import each

SEEDS, CELLS = 4, 20  # of records, and of cells that are only read
SHARP = {  # seeds whose data sets come near to what is allowed, where none of the first few does
    "rivals.huber.gradient": 1689,
    "rivals.huber.minimiser": 1542,
    "rivals.output_perturbation.release": 908,
    "rivals.piloted_perturbation.release": 1131,
    "rivals.streams.descend": 1257,
    "rivals.shrinking_clip.release": 1360,
    "rivals.batch_descent.releases": 7,
    "rivals.batch_descent.release, sampled": 1379,
    "rivals.adaptive_clipping.release": 719,
    "rivals.tukey.models": 1607,
    "dpgd.onepass.release": 461,
    "dpgd.descent.descend_records": 1095,
    "dpgd.families.descend_grid": 1167,
    "noisyhead.pretraining.pretrain": 1084,
    "noisyhead.pretraining.pretrain, products": 341,
    "noisyhead.per_prompt.linear_gradient": 1206,
    "rivals.guarded_descent.release, cells": 789,
}
FINITE = {  # claims without a distance: finite, refused for neither, read as a record alone is
    "estimators.gate.table, refused",
    "noisyhead.covariance_head.release",
    "privacy.records.numbers, alone",
    "rivals.boosting.release",
    "rivals.gaussian_mixing.release",
    "rivals.hessian_mixing.release",
    "rivals.streams.boost",
    "rivals.sufficient_statistics.release",
    "rivals.tukey.fit",
}
LEAST = {
    "noisyhead.head.moments, gram": 0.67
}  # 1/√2: two squares of norm G² are √2 G² apart at most, and 2G² is claimed
ELSEWHERE = {  # what no pair of data sets can attack, or what a claim under another name goes through
    "dpgd.update.advance",  # checks nothing; `onepass` and `descend_records` go through it
    "dpgd.update.step_sensitivities",
    "noisyhead.covariance_head.noise_std",
    "noisyhead.examples.examples",  # within `whitened_descent.releases`
    "noisyhead.head.moments",
    "noisyhead.head.statistics",
    "noisyhead.per_prompt.bounded",
    "noisyhead.per_prompt.descend",
    "noisyhead.per_prompt.descend_apart",
    "noisyhead.per_prompt.noise_std",
    "noisyhead.per_prompt.sensitivity",
    "noisyhead.pretraining.project_ball",
    "noisyhead.pretraining.release",
    "noisyhead.private_ridge.release",  # the solution that it releases is attacked as `ridge`
    "noisyhead.private_ridge.releases",
    "noisyhead.softmax.mean_gradient",
    "noisyhead.whitened_descent.common",
    "noisyhead.whitened_descent.release",
    "rivals.adaptive_clipping.iterates",  # attacked as `release`, with one step; so are those of robust_clipping
    "rivals.boosting.releases",  # attacked as `release`, its first plan
    "rivals.bounds.given",
    "rivals.bounds.shortened",
    "rivals.correlated_noise.release",  # within `iterates`, as `stream` is
    "rivals.correlated_noise.stream",
    "rivals.huber.limits",
    "rivals.huber.minimum",  # attacked as `minimiser`, its first part
    "rivals.bounds.prepare",
    "rivals.robust_clipping.iterates",
    "rivals.sufficient_statistics.noisy_matrix",
    "rivals.tukey.fits",  # attacked as `fit`
    "rivals.tukey.release",
}


@each("name", CLAIMS)
def test_no_attack_breaks_a_claim(name: str) -> None:
    """And one comes so near to what is allowed that a bound which were a tenth too small would be found."""
    found = [attacked(name, CELLS if name in READINGS else SEEDS), attacked(name, 1, SHARP.get(name, 0))]
    for outcome in found:
        assert not outcome.error, f"seed {outcome.seed}:\n{outcome.error}"
        assert outcome.kept, f"seed {outcome.seed}: {outcome.share} of what is allowed"
    assert name in FINITE or max(outcome.share for outcome in found) > LEAST.get(name, 0.9)


def test_every_function_on_the_way_to_a_release_is_attacked() -> None:
    attackable = {name.partition(",")[0] for name in CLAIMS}
    assert [name for name in RELEASING if name not in attackable | ELSEWHERE] == []


def test_without_the_gate_the_attacks_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was in 0.7.0: arrays stayed of the type that they came in."""
    monkeypatch.setattr(update, "doubles", lambda name, values: np.asarray(values))
    names = ("dpgd.update.adapted_rates", "dpgd.update.noiseless_step, expansion")
    assert [name for name in names if not attacked(name, 20).kept] == list(names)


def _everything_at_once(name: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """As it was in 0.15.0: what NumPy makes of all cells together, or else of each cell."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return records.doubles(name, np.asarray(values, dtype=object))


def test_two_maps_for_a_cell_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them for data that NumPy converts as a whole: a word in one record decides about all others."""
    monkeypatch.setattr(records, "numbers", _everything_at_once)
    for kind in ("lists", "objects", "a frame"):
        assert not attacked(f"privacy.records.numbers, {kind}", 20).kept
    assert not attacked("privacy.records.numbers, alone", 20).kept


def test_neighbouring_cells_are_of_every_type_and_differ_in_one_record() -> None:
    seen: set[int] = set()
    for seed in range(150):
        sets = neighbours.of_cells(rng=np.random.default_rng(seed))
        rows = [[[*row, cell] for row, cell in zip(X, y)] for X, y in sets]
        assert len({k for k, each in enumerate(zip(*rows)) for row in each if not _same(row, each[0])}) <= 1
        seen |= {id(cell) for each in rows for row in each for cell in row}
    assert len({id(cell) for cell in neighbours.ALL} - seen) == 0


def _same(one: list[Any], two: list[Any]) -> bool:
    return all(a is b for a, b in zip(one, two))


def test_neighbours_differ_in_one_record_at_most_and_share_a_type() -> None:
    types = set()
    for seed in range(150):
        sets = neighbours.regression(rng=np.random.default_rng(seed))
        x, y = sets[0]
        assert len(sets) == neighbours.SETS
        assert {(a.dtype, a.shape, a.strides, b.dtype) for a, b in sets} == {(x.dtype, x.shape, x.strides, y.dtype)}
        rows = [np.column_stack(each) for each in sets]
        assert len({k for k, each in enumerate(zip(*rows)) for row in each if _differ(row, each[0])}) <= 1
        types.add(x.dtype)
    assert len(types) > 10


def _differ(a: np.ndarray, b: np.ndarray) -> bool:
    return any(not (u is v or u == v or (u != u and v != v)) for u, v in zip(a.tolist(), b.tolist()))


def test_a_failing_function_is_a_broken_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLAIMS, "rivals.huber.gradient", lambda sets, rng: 1 / 0)
    found = attacked("rivals.huber.gradient", 2)
    assert not found.kept
    assert "ZeroDivisionError" in found.error


def test_nan_breaks_a_claim_whatever_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([float("nan"), 0.5])
    monkeypatch.setitem(CLAIMS, "rivals.huber.gradient", lambda sets, rng: next(found))
    assert not attacked("rivals.huber.gradient", 2).kept


def test_a_campaign_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In blocks of seeds; and adds up what was found before."""
    tried: list[int] = []

    def few(name: str, seeds: int, first: int) -> Outcome:
        tried.append(first)
        return Outcome(0.9 if first else 1.0, first)

    monkeypatch.setattr(campaign, "KEPT", tmp_path)
    monkeypatch.setattr(campaign, "attacked", few)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    for pairs in ("1000", "3000"):
        monkeypatch.setattr("sys.argv", ["attacks", "--pairs", pairs, "--only", "huber.gradient"])
        assert campaign.main() == 0
    assert tried == [0, 100, 200]
    assert "kept   1  rivals.huber.gradient  (3000 pairs, seed 0)" in capsys.readouterr().out
