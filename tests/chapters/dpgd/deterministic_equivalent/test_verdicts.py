"""What is tried on the judges of the chapter on the deterministic equivalent; the cases stand in ``equivalent_*``."""

from tests.chapters.dpgd.deterministic_equivalent import (
    equivalent_diffusion,
    equivalent_displays,
    equivalent_enclosure,
    equivalent_rates,
    equivalent_sums,
)
from tests.chapters.machinery import trials

PARTS = (equivalent_rates, equivalent_displays, equivalent_enclosure, equivalent_diffusion, equivalent_sums)
CHAPTER = "dpgd/deterministic-equivalent"
CASES = [case for part in PARTS for case in part.CASES]

test_found, test_cases, test_complete = trials(CHAPTER, CASES, equivalent_rates.UNDECIDABLE)
