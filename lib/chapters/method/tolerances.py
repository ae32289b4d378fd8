"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import SEARCHED, Declared

TOLERANCES: Declared = {"regression": {"rate": SEARCHED, "offset": SEARCHED}}
