"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import SEARCHED, Declared

TOLERANCES: Declared = {"bounds": {"initial": SEARCHED, "offset": SEARCHED}}
