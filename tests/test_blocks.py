from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from costofprivacy import blocks
from costofprivacy.blocks import Store


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


def test_a_cell_that_does_not_print_as_it_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^cell must be made of plain values, got Cell\(N=1"):
        Store(tmp_path, "a").path(trial, Cell(1, function=trial), 0, 0)
