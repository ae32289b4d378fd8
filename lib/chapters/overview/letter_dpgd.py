"""What the letter to the authors of DP-GD says."""

from chapters.overview.saved import Saved

CLAIMS = {
    "boundary": "dpgd/theorem-4iii",
    "drift": "dpgd/equation-4.14",
    "resolvents": "dpgd/equation-4.17",
    "enclosure": "dpgd/equation-4.12",
    "offset": "dpgd/theorem-2-offset",
    "optimal": "dpgd/section-8-optimal-schedule",
    "uniform": "dpgd/section-7-harmonic-uniform",
    "placement": "dpgd/section-4-performance",
    "threshold": "dpgd/equation-6.9",
    "matching": "dpgd/section-5.1-matching",
    "seeds": "dpgd/section-7-seeds",
    "small_noise": "dpgd/section-8-small-noise",
    "path": "dpgd/theorem-1-path",
    "rate": "dpgd/equation-1.4",
    "lower": "dpgd/theorem-3",
}
CORRECTED = ["boundary", "drift", "resolvents", "enclosure", "offset", "uniform", "placement", "threshold", "seeds"]


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-dpgd.md``."""
    return saved.letter("dpgd", CLAIMS, CORRECTED)
