from importlib.util import find_spec
from pathlib import Path

import pytest

from companion.build import extension


def brought() -> Path:
    spec = find_spec(extension.PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "static" / "mathjax"


def test_each_file_that_can_be_needed_is_there() -> None:
    macros = " ".join([*extension.LETTERS, *extension.EXTENSIONS.values()]).split()
    for name in extension.needed([" ".join(f"\\{macro}" for macro in macros)]):
        assert (brought() / name).is_file(), name


@pytest.mark.parametrize(
    ("tex", "name"),
    [
        ("\\mathfrak{a}", f"{extension.FONTS}/MathJax_Fraktur-Regular.woff"),
        ("\\cancel{a}", "input/tex/extensions/cancel.js"),
        ("\\begin{CD}", "input/tex/extensions/amscd.js"),
    ],
)
def test_what_a_formula_asks_for_comes_along(tex: str, name: str) -> None:
    assert name in extension.needed(["a", tex])
    assert name not in extension.needed(["\\mathbb{R}", "mathfrak cancel CD"])


def test_only_that_is_copied(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("\\(\\mathcal{L}\\)")
    extension.copy_formulas(tmp_path)
    files = [path for path in (tmp_path / "_static").rglob("*") if path.is_file()]
    named = {path.relative_to(tmp_path / "_static/mathjax").as_posix() for path in files}
    assert named == set(extension.needed(["\\mathcal"]))
    assert sum(path.stat().st_size for path in files) < 1_200_000
