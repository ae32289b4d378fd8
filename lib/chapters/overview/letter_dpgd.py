"""What the letter to the authors of DP-GD says."""

from chapters.overview.saved import Saved
from companion.judging.prose import compact, listed


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-dpgd.md``."""
    over = [each for each in saved.findings["dpgd/section-7-harmonic-uniform"].numbers if "alpha" in each.name]
    return saved.letter("dpgd") | {"ratios": listed([compact(each.value) for each in over])}
