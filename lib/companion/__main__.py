"""``python -m companion``."""

from companion.build.cli import main

raise SystemExit(main())
