"""Jupyter Book's command line, with a process of Sphinx for each core: it has no option for that.

    python -m companion.rendering build ...

One of its extensions does not say whether it bears that. It numbers sections once all pages are read, so it does.
"""

from functools import partial
from typing import Any

import sphinx_multitoc_numbering  # type: ignore[import-untyped]
from joblib import cpu_count
from jupyter_book import sphinx  # type: ignore[import-untyped]


def setup(app: Any, own: Any = sphinx_multitoc_numbering.setup) -> dict[str, bool]:
    """The setup of that extension, with what it leaves unsaid."""
    own(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    from jupyter_book.cli.main import main  # type: ignore[import-untyped]  # here, as it warns of its own use of click

    sphinx_multitoc_numbering.setup = setup
    sphinx.build_sphinx = partial(sphinx.build_sphinx, jobs=cpu_count())
    main()
