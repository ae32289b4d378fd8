"""The machinery that executes, checks and renders the book: ``python -m companion``.

It knows notebooks, parameters and files; it knows no mathematics. What it needs from an executed chapter it
reads from the tables and verdicts saved beside it.
"""

import sys

# nbformat brings jsonschema, which compiles a grammar of addresses for a second if it can; it does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
