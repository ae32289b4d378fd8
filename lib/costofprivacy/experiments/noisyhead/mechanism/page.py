"""The answer of the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

from costofprivacy.experiments.noisyhead.mechanism import verdicts
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.words import headline


def answer(tables: Tables) -> str:
    """The chapter's answer: privacy, what it could cost, and where descent leads."""
    judges = (verdicts.theorem_32, verdicts.section_12_accounting, verdicts.section_3_update)
    return " ".join(headline(judge, tables) for judge in judges)
