"""Faults on purpose: kills at random moments, damaged caches, full discs. `make faults` runs all, the tests a few."""
