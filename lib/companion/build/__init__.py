"""What executes, checks and renders the book, ``python -m companion``; it reads what chapters saved beside them."""

import sys

# nbformat brings jsonschema, which compiles a grammar of addresses for a second if it can; it does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
