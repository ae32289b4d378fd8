"""A few attacks on every claim, one of which comes so near to its bound that a smaller one would be broken."""

from typing import Any

import numpy as np
import pytest

from costofprivacy.dpgd import update
from costofprivacy.privacy import records
from tests.attacks import CLAIMS, attacked, neighbours
from tests.attacks.claims import READINGS
from tests.costofprivacy.privacy.test_guarantees import RELEASING
from tests.each import each

PAIRS, CELLS = 12, 60  # of records, and of cells that are only read
SHARP = {  # seeds of pairs that come near to what is allowed, where none of the first few does
    "rivals.huber.gradient": 103,
    "rivals.piloted_perturbation.release": 16,
    "rivals.streams.descend": 27,
    "rivals.batch_descent.release": 35,
    "rivals.batch_descent.release, sampled": 26,
    "rivals.adaptive_clipping.release": 45,
    "rivals.robust_clipping.release": 36,
    "rivals.tukey.models": 13,
    "dpgd.update.averaged_step": 33,
    "dpgd.onepass.release": 593,
    "dpgd.descent.descend_records": 18,
    "dpgd.families.descend_grid": 1225,
    "noisyhead.head.moments, cross": 222,
    "noisyhead.pretraining.pretrain": 479,
    "noisyhead.pretraining.pretrain, products": 1230,
    "noisyhead.ridge.ridge": 15,
    "noisyhead.per_prompt.softmax_gradient": 632,
    "noisyhead.per_prompt.softmax_gradient_of": 605,
    "noisyhead.whitened_descent.releases": 37,
    "rivals.guarded_descent.release, cells": 160,
    "rivals.streams.descend, cells": 129,
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
    "rivals.batch_descent.releases",  # attacked as `release`, its first plan; so is that of boosting
    "rivals.boosting.releases",
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
    found = [attacked(name, CELLS if name in READINGS else PAIRS), attacked(name, 1, SHARP.get(name, 0))]
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
    assert [name for name in names if not attacked(name, 60).kept] == list(names)


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
        assert not attacked(f"privacy.records.numbers, {kind}", 100).kept
    assert not attacked("privacy.records.numbers, alone", 100).kept


def test_neighbouring_cells_are_of_every_type_and_differ_in_one_record() -> None:
    seen: set[int] = set()
    for seed in range(400):
        (X, y), (other, response) = neighbours.of_cells(rng=np.random.default_rng(seed))
        apart = [k for k in range(len(y)) if not all(a is b for a, b in zip([*X[k], y[k]], [*other[k], response[k]]))]
        assert len(apart) <= 1
        seen |= {id(cell) for row in X for cell in row}
    assert len({id(cell) for cell in neighbours.ALL} - seen) == 0


def test_neighbours_differ_in_one_record_at_most_and_share_a_type() -> None:
    types = set()
    for seed in range(150):
        (x, y), (other, response) = neighbours.regression(rng=np.random.default_rng(seed))
        assert (x.dtype, x.shape, x.strides) == (other.dtype, other.shape, other.strides)
        assert y.dtype == response.dtype
        assert sum(map(_differ, np.column_stack([x, y]), np.column_stack([other, response]))) <= 1
        types.add(x.dtype)
    assert len(types) > 10


def _differ(a: np.ndarray, b: np.ndarray) -> bool:
    return any(not (u is v or u == v or (u != u and v != v)) for u, v in zip(a.tolist(), b.tolist()))


def test_a_failing_function_is_a_broken_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLAIMS, "rivals.huber.gradient", lambda one, two, rng: 1 / 0)
    found = attacked("rivals.huber.gradient", 2)
    assert not found.kept
    assert "ZeroDivisionError" in found.error
