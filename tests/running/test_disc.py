import shutil
from pathlib import Path

import numpy as np
import pytest

from costofprivacy.book.errors import told
from costofprivacy.running import blocks
from costofprivacy.running.disc import naming

FULL = "No space left on device"


def test_an_error_without_a_file_names_what_is_written_and_another_keeps_its_own() -> None:
    with pytest.raises(OSError, match=r"x\.csv") as caught, naming(Path("outer")), naming(Path("x.csv")):
        raise OSError(28, FULL)
    assert told(caught.value) == f"x.csv: {FULL}"
    with pytest.raises(OSError, match="own") as caught, naming(Path("x.csv")):
        raise OSError(28, FULL, "own")
    assert told(caught.value) == f"own: {FULL}"


def test_of_a_folder_that_cannot_be_copied_the_first_file_is_named(tmp_path: Path) -> None:
    def full(source: str, target: str, **_: object) -> None:
        raise OSError(28, FULL, source, None, target)

    for name in ("a", "b"):
        (tmp_path / name).touch()
    with pytest.raises(shutil.Error) as caught:
        shutil.copytree(tmp_path, tmp_path / "copy", copy_function=full)
    words = told(caught.value)
    assert words in {f"{tmp_path / 'copy' / name}: {FULL}" for name in ("a", "b")}
    assert told(OSError("odd")) == "odd"


def test_a_block_that_cannot_be_kept_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, FULL)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match=r"block\.npz"):
        blocks.write(tmp_path / "block.npz", np.ones(2))
    assert list(tmp_path.iterdir()) == []
