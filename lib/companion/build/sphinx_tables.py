"""What the book adds to Sphinx: links to the source of judges, and tables that can be searched.

``{judge}`module:function``` names a function that judges and links to its file in the repository; where the book has no
repository, it names the file. A page with a table of the class ``searchable`` gets the script that searches and sorts
it.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from companion.build import repository

SEARCHABLE = re.compile(r'<table[^>]*class="[^"]*\bsearchable\b')
LEDGER = "ledger.js"


class JudgeRole(SphinxRole):
    """The role ``judge``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The judge's name, linked to its file or followed by the file's path."""
        module, _, function = self.text.partition(":")
        path, options = f"lib/{module.replace('.', '/')}.py", self.config.html_theme_options
        name = nodes.literal("", function)
        if address := options.get("repository_url"):
            link = repository.source(address, options.get("repository_branch", repository.BRANCH), path)
            return [nodes.Text("Judged by "), nodes.reference("", "", name, refuri=link), nodes.Text(".")], []
        return [nodes.Text("Judged by "), name, nodes.Text(" in "), nodes.literal("", path), nodes.Text(".")], []


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Let a page with a searchable table load what makes it one."""
    if SEARCHABLE.search(context.get("body", "")):
        app.add_js_file(LEDGER, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of all this."""
    app.add_role("judge", JudgeRole())
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
