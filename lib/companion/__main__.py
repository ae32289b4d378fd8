"""``python -m companion``."""

import os
import sys

# A person's settings of matplotlib, and of Python those under which a page lacks its words or a command does not end.
OTHERS = (
    "MPLBACKEND",
    "MATPLOTLIBRC",
    "PYTHONOPTIMIZE",
    "PYTHONINSPECT",
    "PYTHONSTARTUP",
    "PYTHONSAFEPATH",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
)
for name in OTHERS:
    os.environ.pop(name, None)
if sys.flags.optimize or sys.flags.inspect:
    os.execv(sys.executable, [sys.executable, "-m", "companion", *sys.argv[1:]])

from companion.build.cli import main  # noqa: E402

raise SystemExit(main())
