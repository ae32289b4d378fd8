"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.tolerances import Cases, Declared, Rounding

UNDONE = Cases("what", {"less the noise of its seed": Rounding()})  # the noise is taken away again to the last bits

TOLERANCES: Declared = {"undone": {"distance": UNDONE}}
