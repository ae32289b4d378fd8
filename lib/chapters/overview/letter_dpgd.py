"""What the letter to the authors of DP-GD says."""

from chapters.overview.saved import Saved


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-dpgd.md``."""
    return saved.letter("dpgd")
