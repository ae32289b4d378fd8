"""``python -m costofprivacy.book``."""

import sys

# jsonschema, which comes with notebooks, tries to import a grammar of addresses that takes a second to build; it does
# without where there is none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from costofprivacy.book.cli import main  # noqa: E402

raise SystemExit(main())
