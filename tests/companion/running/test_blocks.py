import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from companion.running import blocks
from companion.running.blocks import Store


@dataclass(frozen=True)
class Cell:
    N: int
    epsilon: tuple[float, ...] = (0.5,)
    function: Callable[[], None] | None = None


def trial() -> None:
    """A trial."""


def other_trial() -> None:
    """Another."""


VALUES = np.arange(12, dtype=float).reshape(4, 3) / 7


def test_a_block_comes_back_bit_for_bit(tmp_path: Path) -> None:
    blocks.write(tmp_path / "a" / "block.npz", VALUES)
    np.testing.assert_array_equal(blocks.read(tmp_path / "a" / "block.npz"), VALUES)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["block.npz"]
    assert blocks.read(tmp_path / "nothing.npz") is None


@pytest.mark.slow
def test_every_flipped_bit_is_noticed_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    blocks.write(path, VALUES)
    whole, noticed = path.read_bytes(), 0
    content, end = whole.index(b"\x93NUMPY"), whole.index(VALUES.tobytes()) + VALUES.nbytes
    for place in (*range(8 * content), *range(8 * content, 8 * end, 5), *range(8 * end, 8 * len(whole))):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            found = blocks.read(path)
        except UserWarning:  # the tests' warnings are errors
            noticed += 1
        else:
            assert found is not None
            assert (found.shape, found.tobytes()) == (VALUES.shape, VALUES.tobytes())
    assert noticed > len(whole)


@pytest.mark.parametrize("length", [0, 1, 40, -1, -30])
def test_a_truncated_block_is_named_and_removed(tmp_path: Path, length: int) -> None:
    path = tmp_path / "block.npz"
    blocks.write(path, VALUES)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.warns(UserWarning, match=r"block\.npz is damaged"):
        assert blocks.read(path) is None
    assert not path.exists()


def test_a_block_with_code_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    np.savez(path, trials=np.array([{"a": 1}], dtype=object))
    with pytest.warns(UserWarning, match="is damaged"):
        assert blocks.read(path) is None


def test_each_thing_that_numbers_depend_on_has_a_place_of_its_own(tmp_path: Path) -> None:
    places = [
        Store(tmp_path, "a").path(trial, Cell(1), 0, 0),
        Store(tmp_path, "b").path(trial, Cell(1), 0, 0),
        Store(tmp_path, "a").path(other_trial, Cell(1), 0, 0),
        Store(tmp_path, "a").path(trial, Cell(2), 0, 0),
        Store(tmp_path, "a").path(trial, Cell(1, (0.5, 1.0)), 0, 0),
        Store(tmp_path, "a").path(trial, Cell(1), 1, 0),
        Store(tmp_path, "a").path(trial, Cell(1), 0, 25),
    ]
    assert len(set(places)) == len(places)
    assert Store(tmp_path, "a").path(trial, Cell(1), 0, 0) == places[0]


def swapped(path: Path, **parts: np.ndarray) -> None:
    """A whole file with some of its parts replaced, as `numpy.savez` would write it."""
    with np.load(path) as content:
        kept = {name: content[name] for name in content.files}
    np.savez(path, **{name: part for name, part in (kept | parts).items() if part.size})  # type: ignore[arg-type]


def test_a_block_of_another_key_is_named_and_removed(tmp_path: Path) -> None:
    mine, other = Store(tmp_path, "a").path(trial, Cell(1), 0, 0), Store(tmp_path, "a").path(trial, Cell(2), 0, 0)
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
        ({"trials": VALUES[:2]}, r"its numbers have the shape \(2, 3\) instead of \(4, 3\)"),
        ({"trials": VALUES[0, 0]}, "it holds something else"),
        ({"trials": VALUES.astype(np.float32)}, "its numbers have the type <f4 instead of <f8"),
        ({"trials": VALUES.view(np.int64)}, "its numbers have the type <i8 instead of <f8"),
        ({"trials": VALUES.astype(">f8")}, "its numbers have the type >f8 instead of <f8"),
        ({"trials": np.full_like(VALUES, np.nan)}, "its numbers do not have its checksum"),
        ({"trials": np.nextafter(VALUES, 1)}, "its numbers do not have its checksum"),
        ({"trials": -0.0 * VALUES}, "its numbers do not have its checksum"),
        ({"label": np.array([])}, "it holds something else"),
        ({"label": np.array("[]")}, "it holds something else"),
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
        np.full((2, 3), np.nan),
        np.array([[np.inf, -0.0]]),
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.asfortranarray(VALUES),
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


def test_a_cell_that_does_not_print_as_it_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^cell must be made of plain values, got Cell\(N=1"):
        Store(tmp_path, "a").path(trial, Cell(1, function=trial), 0, 0)
