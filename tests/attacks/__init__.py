"""Random attacks on every guarantee: `python -m tests.attacks` runs any number, `test_short` a few in the suite."""
