"""What the letter to the authors of NoisyHead says."""

from costofprivacy.overview import letters
from costofprivacy.overview.saved import Saved

CLAIMS = {
    "rate": "noisyhead/theorem-4.2i",
    "radius": "noisyhead/equation-a.4",
    "long_prompts": "noisyhead/theorem-4.1",
    "penalty": "noisyhead/section-3-update",
    "quantity": "noisyhead/section-4-extra-error",
    "ridge": "noisyhead/theorem-5.1-ridge",
    "validation": "noisyhead/section-6.3-validation",
    "caption": "noisyhead/figure-4-caption",
    "utility": "noisyhead/section-1.1-utility",
    "stopping": "noisyhead/section-7-early-stopping",
    "appendix_b": "noisyhead/appendix-b-privacy",
    "fraction": "noisyhead/section-1.1-fraction",
    "truncation": "noisyhead/section-1.1-truncation",
    "softmax": "noisyhead/section-1.1-transformers",
    "order": "noisyhead/table-1-order",
}
CORRECTED = ("penalty", "stopping", "appendix_b")


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-noisyhead.md``."""
    return letters.quoted(saved, "noisyhead", CLAIMS, CORRECTED)
