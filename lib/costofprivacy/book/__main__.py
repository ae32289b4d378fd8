"""``python -m costofprivacy.book``."""

from costofprivacy.book.cli import main

raise SystemExit(main())
