"""What the letter to the authors of DP-GD says."""

from chapters.overview.saved import Saved
from companion.judging.prose import compact, listed


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-dpgd.md``."""
    numbers = saved.findings["dpgd/section-7-harmonic-uniform"].numbers
    over = [(found.name.split()[4].strip(","), found.value) for found in numbers if "alpha" in found.name]
    ratios = listed([f"{compact(value)} times that of $\\alpha={alpha}$" for alpha, value in over])
    return saved.letter("dpgd") | {"ratios": ratios}
