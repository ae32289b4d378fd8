import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from companion.running import blocks, montecarlo
from companion.running.blocks import Store
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


@pytest.mark.parametrize("trials", [1, BLOCK, BLOCK + 1])
def test_fewer_trials_are_the_first_of_more(trials: int) -> None:
    more = Runner(workers=1).run(normals, CELLS[:1], trials=60, seed=SEED)[CELLS[0]]
    fewer = Runner(workers=1).run(normals, CELLS[:1], trials=trials, seed=SEED)[CELLS[0]]
    assert more.shape == (60, 3)
    np.testing.assert_array_equal(fewer, more[:trials])


def test_blas_has_one_thread_in_a_trial() -> None:
    found = Runner(workers=1).run(threads, CELLS[:1], trials=1, seed=SEED)[CELLS[0]]
    np.testing.assert_array_equal(found, np.ones_like(found))


@pytest.mark.parametrize("trials", [0, 2.5])
def test_an_inadmissible_number_of_trials_is_refused(trials: object) -> None:
    with pytest.raises(ValueError, match=f"^trials must be a whole number of at least 1, got {trials!r}$"):
        Runner(workers=1).run(normals, CELLS, trials=trials, seed=SEED)


def test_another_worker_finds_the_blocks(runner: Runner, cell: Cell) -> None:
    first = Runner(workers=2, cache=runner.cache).run(counted, [cell], trials=60, seed=SEED)
    same(first, runner.run(counted, [cell], trials=60, seed=SEED))
    assert calls(cell) == 60


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


@pytest.mark.parametrize("trials", [(3, 10), (BLOCK + 5, 2 * BLOCK + 7), (60, 7)])
def test_more_trials_cost_the_missing_ones(runner: Runner, cell: Cell, trials: tuple[int, int]) -> None:
    for number in trials:
        found = runner.run(counted, [cell], trials=number, seed=SEED)
        same(found, Runner(workers=1).run(normals, [cell], trials=number, seed=SEED))
    assert calls(cell) == max(trials)


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


def test_trials_to_a_precision_are_the_first_of_a_number(tmp_path: Path) -> None:
    for cache in (None, tmp_path):
        found = Runner(1, cache).run(wide, [Cell(2)], Precision(0.2, most=500), SEED)[Cell(2)]
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


def test_a_damaged_block_is_named_and_measured_anew(runner: Runner, cell: Cell) -> None:
    first = runner.run(counted, [cell], trials=30, seed=SEED)
    one, two = sorted(runner.cache.rglob("*.npz"))
    one.write_bytes(one.read_bytes()[:-40])
    two.write_bytes(b"not a block")
    with pytest.warns(UserWarning, match=r"\.npz is damaged \(.*\); its trials are computed anew"):
        again = runner.run(counted, [cell], trials=30, seed=SEED)
    same(first, again)
    assert calls(cell) == 60


def test_a_cell_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="cells must be distinct"):
        Runner(workers=1).run(normals, [CELLS[0], CELLS[0]], 3, 0)


# ----------------------------------------------------------------------------------------------------- blocks in files


@dataclass(frozen=True)
class Setting:
    N: int
    epsilon: tuple[float, ...] = (0.5,)
    function: Callable[[], None] | None = None


def trial() -> None:
    """A trial."""


def other_trial() -> None:
    """Another."""


VALUES = np.arange(12, dtype=float).reshape(4, 3) / 7


def test_a_block_with_code_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    np.savez(path, trials=np.array([{"a": 1}], dtype=object))
    with pytest.warns(UserWarning, match="is damaged"):
        assert blocks.read(path) is None


def test_each_thing_that_numbers_depend_on_has_a_place_of_its_own(tmp_path: Path) -> None:
    places = [
        Store(tmp_path, "a").path(trial, Setting(1), 0, 0),
        Store(tmp_path, "b").path(trial, Setting(1), 0, 0),
        Store(tmp_path, "a").path(other_trial, Setting(1), 0, 0),
        Store(tmp_path, "a").path(trial, Setting(2), 0, 0),
        Store(tmp_path, "a").path(trial, Setting(1, (0.5, 1.0)), 0, 0),
        Store(tmp_path, "a").path(trial, Setting(1), 1, 0),
        Store(tmp_path, "a").path(trial, Setting(1), 0, 25),
    ]
    assert len(set(places)) == len(places)
    assert Store(tmp_path, "a").path(trial, Setting(1), 0, 0) == places[0]


def swapped(path: Path, **parts: np.ndarray) -> None:
    """A whole file with some of its parts replaced, as `numpy.savez` would write it."""
    with np.load(path) as content:
        kept = {name: content[name] for name in content.files}
    np.savez(path, **{name: part for name, part in (kept | parts).items() if part.size})  # type: ignore[arg-type]


def test_a_block_of_another_key_is_named_and_removed(tmp_path: Path) -> None:
    mine, other = Store(tmp_path, "a").path(trial, Setting(1), 0, 0), Store(tmp_path, "a").path(trial, Setting(2), 0, 0)
    blocks.write(mine, VALUES)
    blocks.write(other, VALUES + 1)
    mine.write_bytes(other.read_bytes())
    told = re.escape(f"{mine} is another block (it was kept as {other.parent.name}{other.stem}); its trials are comp")
    with pytest.warns(UserWarning, match=told) as warned:
        assert blocks.read(mine) is None
    assert "\n" not in str(warned[0].message)
    assert not mine.exists()
    np.testing.assert_array_equal(blocks.read(other), VALUES + 1)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"trials": VALUES.reshape(3, 4)}, r"its numbers have the shape \(3, 4\) instead of \(4, 3\)"),
        ({"trials": VALUES[0, 0]}, "it holds something else"),
        ({"trials": VALUES.astype(np.float32)}, "its numbers have the type <f4 instead of <f8"),
        ({"trials": np.nextafter(VALUES, 1)}, "its numbers do not have its checksum"),
        ({"trials": -0.0 * VALUES}, "its numbers do not have its checksum"),
        ({"label": np.array([])}, "it holds something else"),
        ({"label": np.array("{}")}, "it was kept as None"),
        ({"label": np.array("not a label\n")}, "Expecting value"),
        ({"more": VALUES}, "it holds something else"),
    ],
)
def test_a_whole_file_with_other_numbers_is_named_and_removed(
    tmp_path: Path, parts: dict[str, np.ndarray], words: str
) -> None:
    path = tmp_path / "a" / "block.npz"
    blocks.write(path, VALUES)
    swapped(path, **parts)
    with pytest.warns(UserWarning, match=rf"is (damaged|another block) \({words}.*\); its trials are computed anew$"):
        assert blocks.read(path) is None
    assert not path.exists()


@pytest.mark.parametrize(
    "values",
    [
        np.array([[np.inf, -0.0, np.nan]]),
        np.arange(6, dtype=np.int8).reshape(2, 3),
        VALUES[::-1, ::2],
        np.ones((3, 0)),
        np.array([True, False]),
    ],
)
def test_whatever_a_trial_returned_comes_back(tmp_path: Path, values: np.ndarray) -> None:
    blocks.write(tmp_path / "a" / "block.npz", values)
    found = blocks.read(tmp_path / "a" / "block.npz")
    assert found is not None
    assert (found.dtype, found.shape, found.tobytes()) == (values.dtype, values.shape, values.tobytes())
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["block.npz"]
    assert blocks.read(tmp_path / "nothing.npz") is None


def test_a_cell_that_does_not_print_as_it_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^cell must be made of plain values, got Setting\(N=1"):
        Store(tmp_path, "a").path(trial, Setting(1, function=trial), 0, 0)
