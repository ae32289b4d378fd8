"""How near this chapter's numbers come on another machine."""

from companion.judging.tolerances import SEARCHED, Declared, Relative, Rounding

FROM_SLOPE = {"distance": Relative(of="slope")}  # a slope less h, which it is near
OPTIMA = ("theorem-4i", "theorem-4ii", "theorem-4iii", "theorem-4iv", "section-6-optimal", "lemma-e.5")
ROUNDED = Relative(scale=1e-6)  # 0 but for rounding
SOLVED = Relative(scale=1e-3)  # between two solutions of the same equations

TOLERANCES: Declared = {
    **{name: {"eta0": SEARCHED} for name in ("clips", "figure-2", "figure-3", "starts")},
    **dict.fromkeys(("slopes", "fits"), FROM_SLOPE),
    "settled": {"distance": Relative(of="h")},
    "approach": {"distance": Relative(1e-8, of="slope")},  # in closed form, at a rate found to 1e-9
    "verdicts": {
        **{f"dpgd/{place}: largest distance of h from a numerical optimum": Rounding() for place in OPTIMA},
        "dpgd/theorem-4-lower: largest gain of another fixed a": Rounding(),
        "dpgd/corollary-6.1-steep: largest excess of h over the limit": ROUNDED,
        "dpgd/section-6-monotone: largest fall of h when α grows": ROUNDED,
        "dpgd/equation-6.2: largest relative difference, fine grid": SOLVED,
        "dpgd/equation-6.2: largest relative difference, coarse grid": SOLVED,
        "dpgd/equation-e.12: the same with the missing 2": Rounding(),
    },
}
