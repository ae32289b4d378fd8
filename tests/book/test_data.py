"""``make data``."""

import pytest

from chapters import data_sets
from companion.build import cli
from costofprivacy import datasets


def test_each_set_is_told_with_its_records(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(data_sets, "LOADERS", {datasets.HOUSING: lambda: 20640, datasets.MNIST: lambda: 15170})
    assert cli.main(["data"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " records" in line]
    assert [line.split(" records")[0] for line in lines] == ["California housing: 20640", "MNIST, 1 against 7: 15170"]


def test_what_cannot_be_had_is_one_line_after_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> int:
        raise datasets.DataMissing("California housing could not be fetched")

    monkeypatch.setattr(data_sets, "LOADERS", {datasets.HOUSING: missing, datasets.MNIST: lambda: 15170})
    assert cli.main(["data"]) == 1
    told = capsys.readouterr()
    assert "15170 records" in told.out
    assert [line for line in told.err.splitlines() if line.startswith("error: ")] == [
        "error: California housing could not be fetched"
    ]
