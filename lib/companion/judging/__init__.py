"""Judging a claim: findings, claims and their words, cards, errata, tolerances."""
