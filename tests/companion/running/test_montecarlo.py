import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from companion.running import montecarlo
from companion.running.montecarlo import BLOCK, Precision, Runner

SEED = 7
FAILS_NOW = "fails-now"


@dataclass(frozen=True)
class Cell:
    key: int
    folder: str = ""
    shape: tuple[int, ...] = (3,)


CELLS = [Cell(5), Cell(0), Cell(2**40, shape=(2, 2))]


def normals(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    return cell.key + rng.standard_normal(cell.shape)


def counted(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Leaves a file in the cell's folder at each call; fails at call BLOCK + 5 while there is a file that says so."""
    folder = Path(cell.folder)
    if calls(cell) == BLOCK + 4 and (folder / FAILS_NOW).exists():
        raise InterruptedError
    (folder / f"{uuid.uuid4()}.call").touch()
    return normals(cell, rng=rng)


def threads(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    from threadpoolctl import threadpool_info

    return np.array([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"])


def calls(cell: Cell) -> int:
    return len(list(Path(cell.folder).glob("*.call")))


def same(one: dict[Cell, np.ndarray], two: dict[Cell, np.ndarray]) -> None:
    assert set(one) == set(two)
    for cell in one:
        np.testing.assert_array_equal(one[cell], two[cell])


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    folder = tmp_path / "calls"
    folder.mkdir()
    return Cell(3, str(folder))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(workers=1, cache=tmp_path / "cache")


# the numbers


def test_a_table_is_its_trials_one_after_another() -> None:
    table = Runner(workers=1).run(normals, CELLS, trials=30, seed=SEED)
    assert list(table) == CELLS
    for cell in CELLS:
        expected = [
            cell.key
            + np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(cell.key, t))).normal(size=cell.shape)
            for t in range(30)
        ]
        np.testing.assert_array_equal(table[cell], expected)


def test_two_workers_and_any_order_of_cells_give_the_same_bits() -> None:
    one = Runner(workers=1).run(normals, CELLS, trials=60, seed=SEED)
    same(one, Runner(workers=2).run(normals, CELLS, trials=60, seed=SEED))
    same(one, Runner(workers=2).run(normals, CELLS[::-1], trials=60, seed=SEED))


@pytest.mark.parametrize("trials", [1, BLOCK - 1, BLOCK, BLOCK + 1, 30])
def test_fewer_trials_are_the_first_of_more(trials: int) -> None:
    more = Runner(workers=1).run(normals, CELLS[:1], trials=60, seed=SEED)[CELLS[0]]
    fewer = Runner(workers=1).run(normals, CELLS[:1], trials=trials, seed=SEED)[CELLS[0]]
    assert more.shape == (60, 3)
    np.testing.assert_array_equal(fewer, more[:trials])


def test_blas_has_one_thread_in_a_trial() -> None:
    found = Runner(workers=1).run(threads, CELLS[:1], trials=1, seed=SEED)[CELLS[0]]
    np.testing.assert_array_equal(found, np.ones_like(found))


@pytest.mark.parametrize("trials", [0, -5, 2.5])
def test_an_inadmissible_number_of_trials_is_refused(trials: object) -> None:
    with pytest.raises(ValueError, match=f"^trials must be a whole number of at least 1, got {trials!r}$"):
        Runner(workers=1).run(normals, CELLS, trials=trials, seed=SEED)


# finished blocks


def test_another_worker_finds_the_blocks(runner: Runner, cell: Cell) -> None:
    first = Runner(workers=2, cache=runner.cache).run(counted, [cell], trials=60, seed=SEED)
    same(first, runner.run(counted, [cell], trials=60, seed=SEED))
    assert calls(cell) == 60


def test_another_seed_cell_or_trial_is_measured_anew(runner: Runner, cell: Cell) -> None:
    other = Cell(4, cell.folder)
    tables = [
        runner.run(counted, [cell], trials=2, seed=SEED)[cell],
        runner.run(counted, [cell], trials=2, seed=SEED + 1)[cell],
        runner.run(counted, [other], trials=2, seed=SEED)[other],
        runner.run(normals, [cell], trials=2, seed=SEED)[cell],
    ]
    assert calls(cell) == 6
    assert len({table.tobytes() for table in tables}) == 3
    np.testing.assert_array_equal(tables[0], tables[3])


def test_blocks_of_other_code_are_not_used(runner: Runner, cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.run(counted, [cell], trials=2, seed=SEED)
    monkeypatch.setattr(montecarlo._source, "digest_of", lambda *objects: "0" * 64)
    runner.run(counted, [cell], trials=2, seed=SEED)
    assert calls(cell) == 4


def test_a_block_that_another_run_keeps_meanwhile_is_taken_and_not_shortened(
    runner: Runner, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = runner.run(counted, [cell], trials=BLOCK + 5, seed=SEED)
    before = {path: path.read_bytes() for path in runner.cache.rglob("*.npz")}
    looked: set[Path] = set()

    def late(path: Path) -> np.ndarray | None:
        """Nothing at the first look, what the other run kept at the second."""
        found = read(path) if path in looked else None
        looked.add(path)
        return found

    read = montecarlo.blocks.read
    monkeypatch.setattr(montecarlo.blocks, "read", late)
    found = runner.run(counted, [cell], trials=BLOCK + 2, seed=SEED)
    np.testing.assert_array_equal(found[cell], first[cell][: BLOCK + 2])
    assert calls(cell) == BLOCK + 5
    assert {path: path.read_bytes() for path in runner.cache.rglob("*.npz")} == before


def test_without_a_cache_nothing_is_kept(cell: Cell, tmp_path: Path) -> None:
    for _ in range(2):
        Runner(workers=1).run(counted, [cell], trials=2, seed=SEED)
    assert calls(cell) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["calls"]


@pytest.mark.parametrize("trials", [(3, 10), (BLOCK + 5, 2 * BLOCK + 7), (60, 60), (60, 7)])
def test_more_trials_cost_the_missing_ones(runner: Runner, cell: Cell, trials: tuple[int, int]) -> None:
    for number in trials:
        found = runner.run(counted, [cell], trials=number, seed=SEED)
        same(found, Runner(workers=1).run(normals, [cell], trials=number, seed=SEED))
    assert calls(cell) == max(trials)


def test_a_block_of_the_earlier_format_is_not_found(
    runner: Runner, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(montecarlo.blocks, "FORMAT", "earlier")
        runner.run(counted, [cell], trials=2, seed=SEED)
    (old,) = runner.cache.rglob("*.npz")
    old.write_bytes(b"of another format")
    runner.run(counted, [cell], trials=2, seed=SEED)
    assert calls(cell) == 4
    assert old.read_bytes() == b"of another format"


def test_an_interrupted_run_resumes_after_its_last_full_block(runner: Runner, cell: Cell) -> None:
    marker = Path(cell.folder) / FAILS_NOW
    marker.touch()
    with pytest.raises(InterruptedError):
        runner.run(counted, [cell], trials=60, seed=SEED)
    assert calls(cell) == BLOCK + 4
    marker.unlink()
    table = runner.run(counted, [cell], trials=60, seed=SEED)
    assert calls(cell) == BLOCK + 4 + 60 - BLOCK
    same(table, Runner(workers=1).run(normals, [cell], trials=60, seed=SEED))


# progress


# precision


def wide(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Mean 1 with standard deviation ``key``; beside it what has no spread, and what is not finite."""
    return np.array([1 + cell.key * rng.standard_normal(), 5.0, np.nan, 0.0])


def test_a_wider_spread_asks_for_more_trials() -> None:
    precision = Precision(0.1, most=10_000)
    found = Runner(workers=1).run(wide, [Cell(0), Cell(1), Cell(3)], precision, SEED)
    counts = [len(values) for values in found.values()]
    assert counts[0] == 25
    assert 50 < counts[1] < 300 < counts[2] < 3000
    for values in found.values():
        assert values[:, 0].std() / np.sqrt(len(values)) < 0.3  # the pilot knows the mean roughly


@pytest.mark.parametrize("workers", [1, 2])
def test_trials_to_a_precision_are_the_first_of_a_number(workers: int, tmp_path: Path) -> None:
    for cache in (None, tmp_path):
        found = Runner(workers, cache).run(wide, [Cell(2)], Precision(0.2, most=500), SEED)[Cell(2)]
        same({Cell(2): found}, Runner(1).run(wide, [Cell(2)], len(found), SEED))


def test_no_cell_has_more_trials_than_the_most() -> None:
    assert [Precision(0.01, most=most).trials(np.array([[1.0], [2.0]] * 50)) for most in (2, 30, 100)] == [2, 30, 100]


def test_what_counts_for_the_precision_can_be_named() -> None:
    pilot = np.stack([np.linspace(0, 2, 25), np.linspace(0.99, 1.01, 25)], axis=1)
    assert Precision(0.01, most=10**6).trials(pilot) > 1000
    assert Precision(0.01, most=10**6, of=lambda values: values[:, 1]).trials(pilot) == 25


@pytest.mark.parametrize("told", [{"relative": 0.0}, {"relative": 1.0}, {"most": 1}, {"pilot": 1}])
def test_an_inadmissible_precision_is_refused(told: dict[str, float]) -> None:
    (name,) = told
    with pytest.raises(ValueError, match=f"^{name} must be"):
        Precision(**({"relative": 0.1, "most": 100} | told))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_damaged_block_is_named_and_measured_anew(runner: Runner, cell: Cell, workers: int) -> None:
    first = runner.run(counted, [cell], trials=30, seed=SEED)
    one, two = sorted(runner.cache.rglob("*.npz"))
    one.write_bytes(one.read_bytes()[:-40])
    two.write_bytes(b"not a block")
    with pytest.warns(UserWarning, match=r"\.npz is damaged \(.*\); its trials are computed anew"):
        again = Runner(workers=workers, cache=runner.cache).run(counted, [cell], trials=30, seed=SEED)
    same(first, again)
    assert calls(cell) == 60
    same(first, runner.run(counted, [cell], trials=30, seed=SEED))
    assert calls(cell) == 60


def test_a_cell_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="cells must be distinct"):
        Runner(workers=1).run(normals, [CELLS[0], CELLS[0]], 3, 0)
