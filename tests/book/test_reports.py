import json
from xml.etree import ElementTree

import pytest

from companion.build import validate
from companion.build.compare import Comparison, Difference
from companion.build.project import Project
from companion.build.validate import BROKEN, FINE, NUMBER, VERDICT, Entry

SAME = Comparison("figure-1.csv", True, "the same bit for bit")
OTHER_NUMBER = Comparison(
    "figure-1.csv", False, "differs: risk", (Difference("risk", 3, 1.0, float("nan"), "to 1e-06 of itself", 2),)
)
OTHER_VERDICT = Comparison(
    "verdicts.json", False, "a: 'fails' for 'holds'", (Difference("a", -1, "holds", "fails", "exactly", verdict=True),)
)
OTHER_SHAPE = Comparison("figure-2.csv", False, "differs: 1 rows instead of 2")
MISSING = Comparison("figure-2.csv", False, "was not written now")


@pytest.mark.parametrize(
    ("findings", "failure", "expected"),
    [
        ([SAME, SAME], "", FINE),
        ([SAME, OTHER_NUMBER], "cells fail", NUMBER),
        ([OTHER_SHAPE], "", NUMBER),
        ([OTHER_NUMBER, OTHER_VERDICT], "cells fail", VERDICT),
        ([OTHER_NUMBER, OTHER_VERDICT, MISSING], "cells fail", BROKEN),
        ([SAME], "cells fail", BROKEN),
    ],
)
def test_a_changed_verdict_is_told_from_a_changed_number_and_from_a_run_that_broke(
    findings: list[Comparison], failure: str, expected: str
) -> None:
    entries = [Entry("part/one", finding) for finding in findings]
    assert validate.outcome(entries, failure) == expected


def test_statuses_differ() -> None:
    assert len({validate.Changed("x", outcome).status for outcome in (VERDICT, NUMBER, BROKEN)}) == 3


def test_both_files_hold_every_comparison(project: Project) -> None:
    path = validate.write(project, "validate", [Entry("part/one", SAME), Entry("part/one", OTHER_NUMBER)], "cells fail")
    content = json.loads(path.read_text())
    assert (content["outcome"], content["failure"]) == (NUMBER, "cells fail")
    assert [row["agrees"] for row in content["compared"]] == [True, False]
    (difference,) = content["compared"][1]["differences"]
    expected = {"name": "risk", "row": 3, "expected": 1.0, "found": "nan", "cells": 2, "kind": NUMBER}
    assert difference == expected | {"tolerance": "to 1e-06 of itself"}
    suite = ElementTree.parse(path.with_suffix(".xml")).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [(case.get("classname"), case.get("name"), len(case)) for case in suite] == [
        ("part/one", "figure-1.csv", 0),
        ("part/one", "figure-1.csv", 1),
    ]
