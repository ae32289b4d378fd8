"""The numbers behind the findings on the mechanism and the cost of privacy, in their order, by claim.

Each is (table, value, error, what it is held against), for the committed tables; 0 stands for what rounding leaves.
"""

import pytest

from tests.experiments.verdicts import test_cost_of_privacy, test_mechanism
from tests.experiments.verdicts.machinery import committed, judge

COST_OF_PRIVACY = {
    "theorem-4.1": [
        ("both-sides", -0.009879, 0.05711, 0.25), ("both-sides", -0.05951, 0.02803, 0.25),
        ("both-sides", 0.8949, 0.01976, 0.25), ("both-sides", -1.355, 0.1057, 0.25),
        ("both-sides", 14.98, 0.01829, 0.25), ("both-sides", 0.08186, None, 1), ("both-sides", 2.584, None, 4),
    ],
    "remark-4.1": [
        ("both-sides", 2.076, 0.02201, 2.062), ("both-sides", 14.98, 0.01829, 0.25),
        ("both-sides", -5.19, 0.0182, 0.25), ("both-sides", 1, None, 100),
        ("both-sides", 3.052e-05, 8.402e-07, 2.654e-06),
    ],
    "remark-4.2": [
        ("dominance", 7.846e+54, None, 0.1), ("dominance", 6.279e+54, None, 0.1), ("dominance", 0, None, 0.1),
        ("dominance", -5.014, 0, 0.1), ("both-sides", -3.609, 0.1058, 0.25),
    ],
    "section-4-split": [("split", 1, None, 1)],
    "section-4-extra-error": [
        ("split", 1.591, None, 4), ("split", 2365, None, 1), ("split", -0.02785, 0.01336, 0.25),
        ("split", 0.9779, 0.003642, 0.25),
    ],
    "equation-a.10": [("events", 0, None, 1.2), ("events", 0.001615, None, 0.01)],
    "equation-a.11": [
        ("constants", 0.3268, 0, 0.1), ("constants-by-dimension", -0.075, 0, 0.1), ("constants", 1.214, None, 1.414),
        ("events", 0, None, None),
    ],
    "equation-a.12": [
        ("norms", -0.5141, 0, 0.1), ("norms", 0.4771, 0, 0.1), ("norms", -0.3165, 0, 0.1), ("norms", 689.8, None, 1),
        ("norms", 0.004848, None, 1), ("radius", 0.001717, None, 1), ("radius", 93.61, None, 1),
    ],
    "equation-a.13": [
        ("events", 0.4714, 0.001425, 0.25), ("norms", -0.007027, 0, 0.1), ("norms", 0.4886, 0, 0.1),
        ("norms", -0.1841, 0, 0.1), ("events", 5e-05, None, 0.01), ("events", 0.9332, None, 0.01),
    ],
    "equation-a.14": [
        ("events", 0.0668, None, 0.96), ("events", 1, None, 0.96), ("events", 0, None, None),
        ("events", 0, None, None),
    ],
    "equation-a.2": [("projection-step", 1, None, 1), ("projection-step", 0.9988, None, 1)],
    "equation-a.4": [("signed-sums", 0.7918, None, 0), ("events", 79, None, 0), ("events", 4.781, None, 1)],
    "equation-a.5": [("recursion", -9998, None, 1), ("recursion", 1.001, None, 1)],
    "equation-a.6": [("recursion", 0.9178, None, 1)],
    "equation-a.7": [("recursion", 4517000.0, None, 1), ("recursion", 0.8297, None, 1)],
    "equation-a.8": [("recursion", 1.215e-07, None, 0), ("recursion", 0, None, 0)],
    "display-before-a.9": [("noise-response", 1.951, 0.01319, 1), ("noise-response", 1.941, None, 1)],
    "equation-a.9": [
        ("conditional", 0.001501, 0, 0.1), ("conditional", 0.02857, 0, 0.1), ("conditional", -4.741e-07, 0, 0.1),
        ("conditional", -1.456, 0, 0.1), ("conditional", -2.056, 0, 0.1), ("conditional", 0.8756, 0, 0.1),
        ("conditional", 0.9331, 0, 0.1), ("conditional", -3.99, 0, 0.1), ("conditional", 0.01024, None, 1),
    ],
}  # fmt: skip
MECHANISM = {
    "algorithm-1": [
        ("noise", 1, None, 1), ("noise", 1, None, 1), ("noise", 8.77, None, 1), ("noise", 9.906, None, 1),
    ],
    "equation-a.1": [("sensitivity", 0.8247, None, 1), ("sensitivity", 1, None, 1), ("sensitivity", 1.914, None, 1)],
    "theorem-3.2": [
        ("single-steps", 0.004114, None, 1), ("sensitivity", 0.8247, None, 1), ("composition", 0.01302, None, 1),
        ("single-steps", 1.359, None, 1),
    ],
    "equation-2.7": [("minimisers", 0, None, 0)],
    "section-3-update": [
        ("minimisers", 0.4996, None, 0), ("minimisers", 0, None, 0), ("minimisers", 0, None, 0),
        ("minimisers", 0.5004, None, 1),
    ],
    "section-3-noise-variance": [("noise-law", 170.9, None, 1), ("noise-law", 1, None, 1)],
    "section-1.2-accounting": [("noise", 8.77, None, 1), ("noise", 9.906, None, 1)],
    "section-2-any-noise": [("sensitivity", 0.8247, None, 1)],
}  # fmt: skip
CHAPTERS = {"noisyhead/cost-of-privacy": COST_OF_PRIVACY, "noisyhead/mechanism": MECHANISM}


@pytest.mark.parametrize(("chapter", "claim"), [(chapter, claim) for chapter, all in CHAPTERS.items() for claim in all])
def test_the_numbers_behind_a_finding(chapter: str, claim: str) -> None:
    finding = judge(chapter, f"noisyhead/{claim}", committed(chapter))
    assert len(finding.numbers) == len(CHAPTERS[chapter][claim])
    for number, (table, *expected) in zip(finding.numbers, CHAPTERS[chapter][claim], strict=True):
        assert number.table == table
        assert number.name
        for found, value in zip((number.value, number.error, number.against), expected, strict=True):
            assert (found is None) == (value is None), number
            assert value is None or found == pytest.approx(value, rel=1e-3, abs=1e-6), number


def test_every_finding_with_numbers_is_here() -> None:
    for module, numbers in ((test_cost_of_privacy, COST_OF_PRIVACY), (test_mechanism, MECHANISM)):
        silent = {claim for claim, verdict in module.FOUND.items() if verdict == "untestable"}
        assert {f"noisyhead/{claim}" for claim in numbers} == set(module.FOUND) - silent
