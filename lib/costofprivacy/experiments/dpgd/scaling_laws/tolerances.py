"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.tolerances import SEARCHED, Declared

TOLERANCES: Declared = dict.fromkeys(("clips", "figure-2", "figure-3", "starts"), {"eta0": SEARCHED})
