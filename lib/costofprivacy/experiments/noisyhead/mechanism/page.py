"""The answer of the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

from costofprivacy.experiments.noisyhead.mechanism import verdicts
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.words import headline


def answer(tables: Tables) -> str:
    """The chapter's answer: privacy, and what it could cost."""
    judges = (verdicts.theorem_32, verdicts.section_12_accounting)
    return " ".join(headline(judge, tables) for judge in judges)
