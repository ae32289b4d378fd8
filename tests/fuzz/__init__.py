"""Hostile parameters through the command line's own code: the campaign of `make fuzz`, and its short version."""

SETS, RUNS = "COSTOFPRIVACY_FUZZ_SETS", "COSTOFPRIVACY_FUZZ_RUNS"  # how many, for a campaign
