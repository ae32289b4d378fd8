import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from companion.build import pictures


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A figure with lines, markers, formulas, a clipped image and a legend."""
    figure, (left, right) = plt.subplots(1, 2)
    x = np.linspace(0, 3, 40)
    left.plot(x, np.sin(x), marker="o", label=r"$\varepsilon^{-2}$")
    left.errorbar(x, np.cos(x), yerr=0.1, label="cos")
    left.legend()
    right.imshow(np.arange(12.0).reshape(3, 4))
    right.set_title("Words & signs <")
    path = tmp_path_factory.mktemp("drawn") / "figure.svg"
    figure.savefig(path)
    plt.close(figure)
    return path.read_text("utf-8")


def references(svg: str) -> set[str]:
    return set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))


def address(use: ElementTree.Element) -> str:
    """The name of what is shown."""
    return next(use.attrib[key] for key in pictures.LINKS if key in use.attrib).removeprefix("#")


def test_each_reference_leads_to_one_name(drawn: str) -> None:
    lighter = pictures.lighter(drawn)
    names = re.findall(r'\bid="([^"]+)"', lighter)
    assert references(lighter) == set(names)
    assert len(names) == len(set(names)) >= len(references(drawn))


def test_nothing_that_is_drawn_is_lost(drawn: str) -> None:
    def counted(svg: str) -> dict[str, int]:
        root = ElementTree.fromstring(svg)
        named = {node.get("id"): node for node in root.iter() if node.get("id")}
        shown = [node for node in root.iter() if node.tag == pictures.USE]
        words = [named[address(node)] for node in shown if named[address(node)].tag == pictures.GROUP]
        tags = [node.tag.partition("}")[2] for node in root.iter()]
        tags += ["use"] * sum(len(word.findall(pictures.USE)) - 1 for word in words)  # a word for its letters
        return {name: tags.count(name) for name in ("path", "use", "image", "rect", "clipPath")}

    assert counted(pictures.lighter(drawn)) == counted(drawn)


def points(path: str) -> list[tuple[float, float]]:
    """The points of a path in either spelling, where they are on the picture."""
    found: list[tuple[float, float]] = []
    here = start = (0.0, 0.0)
    for command, text in re.findall(r"([MLQCzmlqc])([^MLQCzmlqc]*)", path):
        if command == "z":
            here = start
            continue
        numbers = [float(number) for number in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", text)]
        pairs, size = list(zip(numbers[::2], numbers[1::2])), {"q": 2, "c": 3}.get(command.lower(), 1)
        for k in range(0, len(pairs), size):
            step = [(x + here[0], y + here[1]) if command.islower() else (x, y) for x, y in pairs[k : k + size]]
            found += step
            here = step[-1]
            start = here if command in "Mm" and not k else start
    return found


def all_points(svg: str, letters: bool) -> np.ndarray:
    """The points of all paths that are letters, or of all that are none."""
    shapes = (pictures.SHAPE, pictures.LARGER)
    paths = ElementTree.fromstring(svg).iter(f"{{{pictures.SVG}}}path")
    chosen = (path for path in paths if (path.get("transform") in shapes) == letters)
    return np.array([point for path in chosen for point in points(path.get("d", ""))])


def test_no_point_moves_by_more_than_a_hundredth(drawn: str) -> None:
    before, after = (all_points(svg, letters=False) for svg in (drawn, pictures.lighter(drawn)))
    assert before.shape == after.shape
    assert np.abs(before - after).max() <= 0.005 + 1e-9


def test_lighter_twice_is_lighter_once(drawn: str) -> None:
    once = pictures.lighter(drawn)
    assert pictures.lighter(once) == once


@pytest.mark.parametrize("svg", ["<svg/>", "<svg><!-- matplotlib </svg>", "<svg><script/>matplotlib</svg>"])
def test_what_others_draw_or_what_is_broken_stays(svg: str) -> None:
    assert pictures.lighter(svg) == svg


def test_a_group_says_what_all_in_it_say_alike_but_never_its_opacity() -> None:
    def group(style: str) -> str:
        marks = "".join(f'<path d="M {x} 0" style="{style}"/>' for x in (1, 2))
        return f'<svg xmlns="{pictures.SVG}"><!-- matplotlib --><g clip-path="none">{marks}</g></svg>'

    assert pictures.lighter(group("fill: red; stroke: none")).count("fill:red") == 1
    assert pictures.lighter(group("fill: red; opacity: 0.5")).count("opacity:0.5") == 2


def test_what_is_shown_says_its_look_itself() -> None:
    def use(style: str) -> str | None:
        tick = '<path id="tick" d="M 0 0" style="stroke: #000; opacity: 0.5"/>'
        shown = f'<use href="#tick" style="{style}"/>'
        lighter = pictures.lighter(f'<svg xmlns="{pictures.SVG}"><!-- matplotlib -->{tick}{shown}</svg>')
        return next(ElementTree.fromstring(lighter).iter(pictures.USE)).get("style")

    assert use("stroke: #000") is None
    assert use("stroke: #fff; fill: red") == "fill:red"  # what the path says wins
    assert use("opacity: 0.5") == "opacity:0.5"  # these multiply


def test_files_and_notebooks_get_the_same_picture(drawn: str, tmp_path: Path) -> None:
    output = new_output("display_data", {pictures.MIME: drawn, "text/plain": "a figure"})
    nbformat.write(new_notebook(cells=[new_code_cell("1", outputs=[output])]), tmp_path / "page.ipynb")
    (tmp_path / "figure.svg").write_text(drawn, "utf-8")
    pictures.lighten(tmp_path)
    written = nbformat.read(tmp_path / "page.ipynb", as_version=4).cells[0].outputs[0].data
    assert written[pictures.MIME] == (tmp_path / "figure.svg").read_text("utf-8") == pictures.lighter(drawn)
    assert written["text/plain"] == "a figure"
