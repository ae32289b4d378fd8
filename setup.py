"""Builds the package together with what the book has published: tables, their columns, verdicts, the papers' claims."""

from pathlib import Path
from shutil import copyfile, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py

BOOK = Path(__file__).parent / "book"
SHIPPED = ("**/*.csv", "**/verdicts.json", "claims.yml", "columns.yml")


class WithResults(build_py):
    """Copies the book's results to ``costofprivacy/_book``, from where `costofprivacy.results` reads them.

    An editable installation needs no copy: there they are read from ``book/``.
    """

    def run(self) -> None:
        """Build the package, then copy."""
        super().run()
        if self.editable_mode:
            return
        shipped = Path(self.build_lib) / "costofprivacy" / "_book"
        rmtree(shipped, ignore_errors=True)  # an earlier build may have left what the book no longer has
        for path in sorted(path for pattern in SHIPPED for path in BOOK.glob(pattern)):
            target = shipped / path.relative_to(BOOK)
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(path, target)


setup(cmdclass={"build_py": WithResults})
