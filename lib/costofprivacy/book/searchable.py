"""What the book adds to Sphinx: links to the source of judges, and tables that can be searched.

``{judge}`module:function``` becomes a link to that function's source where `sphinx.ext.viewcode` shows it, and nothing
where it does not. A page with a table of the class ``searchable`` gets the script that searches and sorts it.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from costofprivacy.judging.evidence import judge_link

SEARCHABLE = re.compile(r'<table[^>]*class="[^"]*\bsearchable\b')
LEDGER = "ledger.js"


class JudgeNode(nodes.Inline, nodes.TextElement):
    """The place of a link to a judge's source."""


class JudgeRole(SphinxRole):
    """The role ``judge``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The place of the link: whether there is a source to link to is known when all pages are read."""
        return [JudgeNode(judge=self.text)], []


def resolve_judges(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Make links of the judges whose source is shown, and nothing of the others."""
    for node in list(document.findall(JudgeNode)):
        name = node["judge"]
        if not has_source(getattr(app.env, "_viewcode_modules", {}), name):
            node.parent.remove(node)
            continue
        up = "../" * docname.count("/")
        text = nodes.literal("", name.partition(":")[2])
        link = nodes.reference("", "", text, refuri=up + judge_link(name))
        node.replace_self([nodes.Text("Judged by "), link, nodes.Text(".")])


def has_source(modules: dict[str, Any], name: str) -> bool:
    """Whether ``viewcode`` shows the source of a judge.

    Args:
        modules: what it collected: for each module its code, the places of its names, and what uses them.
        name: module and function, with a colon between.
    """
    module, _, function = name.partition(":")
    return bool(modules.get(module)) and function in modules[module][1]


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Let a page with a searchable table load what makes it one."""
    if SEARCHABLE.search(context.get("body", "")):
        app.add_js_file(LEDGER, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of all this."""
    app.add_node(JudgeNode)
    app.add_role("judge", JudgeRole())
    app.connect("doctree-resolved", resolve_judges)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
