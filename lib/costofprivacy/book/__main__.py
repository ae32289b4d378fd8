"""``python -m costofprivacy.book``."""

import os
import sys

from costofprivacy.book import inherited
from costofprivacy.book.errors import RequestError

try:
    inherited.check(os.environ)
except RequestError as error:
    print(f"error: {error}", file=sys.stderr)
    raise SystemExit(error.status) from None
inherited.settle(os.environ)
inherited.start_again_plainly(sys.argv[1:])

# jsonschema, which comes with notebooks, tries to import a grammar of addresses that takes a second to build; it does
# without where there is none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from costofprivacy.book.cli import main  # noqa: E402

raise SystemExit(main())
