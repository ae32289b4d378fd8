"""How near this chapter's numbers come on another machine."""

from __future__ import annotations

from costofprivacy.judging.tolerances import SEARCHED, Declared, Relative

TOLERANCES: Declared = {
    "bounds": {"initial": SEARCHED, "offset": SEARCHED},
    "verdicts": {
        "dpgd/lemma-d.8: largest power of n by which d/n outgrows the bound": Relative(scale=1e-6)
    },  # 0 but for rounding
}
