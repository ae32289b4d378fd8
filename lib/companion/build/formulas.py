"""The parts of MathJax that typeset the book's formulas, and no others: pages need no network for them.

The input is TeX, the output HTML with fonts, and for those who hear the page MathML. A further part of TeX, or a font
for letters of another kind, comes along where a formula of the book asks for it.
"""

import re
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "sphinx-mathjax-offline"  # brings MathJax
PATH = "mathjax/startup.js"  # below the static files
LOADED = ["input/tex", "output/chtml", "a11y/assistive-mml"]
FONTS = "output/chtml/fonts/woff-v2"
FACES = (
    "AMS-Regular", "Main-Bold", "Main-Italic", "Main-Regular", "Math-BoldItalic", "Math-Italic", "Math-Regular",
    "Size1-Regular", "Size2-Regular", "Size3-Regular", "Size4-Regular", "Vector-Bold", "Vector-Regular", "Zero",
)  # fmt: skip
ALWAYS = ("startup.js", "core.js", *(f"{name}.js" for name in LOADED), "output/chtml/fonts/tex.js")
LETTERS = {
    "mathcal cal": ("Calligraphic-Regular", "Calligraphic-Bold"),
    "mathfrak frak textfrak": ("Fraktur-Regular", "Fraktur-Bold"),
    "mathscr scr": ("Script-Regular",),
    "mathsf textsf sf": ("SansSerif-Regular", "SansSerif-Bold", "SansSerif-Italic"),
    "mathtt texttt tt": ("Typewriter-Regular",),
}
# What MathJax loads by itself when it meets one of these names.
EXTENSIONS = {
    "action": "toggle mathtip texttip",
    "amscd": "CD",
    "bbox": "bbox",
    "boldsymbol": "boldsymbol",
    "braket": "bra ket braket set Bra Ket Braket Set ketbra Ketbra",
    "bussproofs": "prooftree",
    "cancel": "cancel bcancel xcancel cancelto",
    "color": "color definecolor textcolor colorbox fcolorbox",
    "enclose": "enclose",
    "extpfeil": "xtwoheadrightarrow xtwoheadleftarrow xmapsto xlongequal xtofrom Newextarrow",
    "html": "href class style cssId",
    "mhchem": "ce pu",
    "unicode": "unicode",
    "verb": "verb",
}
USED = re.compile(r"\\(?:begin\{)?([A-Za-z]+)")


def config() -> dict[str, Any]:
    """What MathJax is told to load."""
    return {"loader": {"load": LOADED}}


def needed(pages: Iterable[str]) -> list[str]:
    """The files of MathJax that pages need.

    Args:
        pages: their texts, with TeX in them.
    """
    used = {name for page in pages for name in USED.findall(page)}
    faces = [*FACES, *(face for names, some in LETTERS.items() if used & set(names.split()) for face in some)]
    extensions = [name for name, names in EXTENSIONS.items() if used & set(names.split())]
    return [
        *ALWAYS,
        *(f"input/tex/extensions/{name}.js" for name in extensions),
        *(f"{FONTS}/MathJax_{face}.woff" for face in faces),
    ]


def copy(html: Path) -> None:
    """Put those files among the static files of a rendering.

    Args:
        html: the folder of the pages.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return
    source, target = Path(spec.origin).parent / "static" / "mathjax", html / "_static" / "mathjax"
    for name in needed(path.read_text("utf-8") for path in html.rglob("*.html")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
