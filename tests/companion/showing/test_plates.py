from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from companion.showing import figures, plates
from companion.showing.plates import Plate


def two_panels() -> Plate:
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        left.plot([1, 2], [3, 4], label="risk")
        right.plot([1, 2], [5, 6])
        left.set(xlabel="$N$", ylabel="risk")
        left.plot([1, 2], [4, 3], label="bound")
        figure.legend(*left.get_legend_handles_labels(), ncols=6)
        return Plate(figure, "Risk falls to 3.", "Risk 4 at N = 2.")


@pytest.mark.parametrize("words", [{"caption": " "}, {"alt": ""}])
def test_a_plate_must_have_its_words(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must say something"):
        Plate(plt.figure(), **{"caption": "a", "alt": "b"} | words)


@pytest.mark.slow
def test_a_plate_is_saved_in_two_forms_the_same_bits_each_time(tmp_path: Path) -> None:
    first, second = (plates.save(two_panels(), tmp_path / name, "rates") for name in ("a", "b"))
    assert first == second == (tmp_path / "a" / "rates.svg").read_text("utf-8")
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"rates.svg", "rates.narrow.svg"}
    assert (tmp_path / "a" / "rates.narrow.svg").read_bytes() == (tmp_path / "b" / "rates.narrow.svg").read_bytes()
    assert plt.get_fignums() == []
    assert not any(word in first for word in ("<dc:date>", "Matplotlib v", "#ffffff", "#FFFFFF"))


def test_a_plate_for_a_first_look_has_the_wide_form_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plates.WIDE_ONLY, "1")
    plates.save(two_panels(), tmp_path, "rates")
    assert [path.name for path in tmp_path.iterdir()] == ["rates.svg"]
    assert plt.get_fignums() == []


def test_a_narrow_form_stacks_its_panels_and_labels_each() -> None:
    figure = two_panels().figure
    plates.stack(figure)
    figure.canvas.draw()
    assert [legend._ncols for legend in figure.legends] == [plates.NARROW_COLUMNS]
    upper, lower = (axes.get_position() for axes in figure.axes)
    assert lower.y1 < upper.y0
    assert figure.get_size_inches().tolist() == [plates.NARROW_WIDTH, 2 * plates.NARROW_HEIGHT]
    assert [axes.get_ylabel() for axes in figure.axes] == ["risk", "risk"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["$N$", "$N$"]
    assert all(axes.yaxis.get_tick_params()["labelleft"] for axes in figure.axes)
    plt.close(figure)


def test_a_drawing_brings_its_own_narrow_form(tmp_path: Path) -> None:
    wide, narrow = plt.figure(figsize=(9, 3)), plt.figure(figsize=(4, 6))
    plates.save(Plate(wide, "caption", "alt", narrow), tmp_path, "idea")
    assert 'width="288pt"' in (tmp_path / "idea.narrow.svg").read_text("utf-8")
    assert 'width="648pt"' in (tmp_path / "idea.svg").read_text("utf-8")
    assert plt.get_fignums() == []


def test_a_picture_carries_its_words_beside_the_graphics() -> None:
    words = {"name": "a-rates", "caption": "c", "alt": "d"}
    data, metadata = plates.Picture("<svg/>", words)._repr_mimebundle_()
    assert data == {"image/svg+xml": "<svg/>", "text/plain": "<Picture a-rates>"}
    assert metadata == {"plate": words}
