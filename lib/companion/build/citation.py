"""How the book is cited; ``CITATION.cff`` says the same to machines."""

TITLE = "The Cost of Privacy: an executable companion"
AUTHOR = "The Cost of Privacy contributors"
YEAR = 2026


def bibtex(version: str) -> str:
    """The entry for a bibliography.

    Args:
        version: the version of the book that is cited, such as ``0.3.0``.

    >>> print(bibtex("0.3.0"))
    @misc{costofprivacy,
      author = {{The Cost of Privacy contributors}},
      title = {{The Cost of Privacy: an executable companion}},
      year = {2026},
      note = {Version 0.3.0},
    }
    """
    fields = {"author": f"{{{AUTHOR}}}", "title": f"{{{TITLE}}}", "year": YEAR, "note": f"Version {version}"}
    lines = (f"  {name} = {{{value}}}," for name, value in fields.items())
    return "\n".join(["@misc{costofprivacy,", *lines, "}"])
