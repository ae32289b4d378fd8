"""The answer of the page on the hyper-parameters of arXiv:2505.16329v2."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.hyperparameters.tables import FEW, USUAL, advice
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import span
from costofprivacy.judging.tables import Tables


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    rows = advice(tables["valley"])
    small = rows[rows["gamma"] < FEW]
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    return (
        f"Clip at $c = {USUAL:g}$, the learning rate divided by it. The printed "
        r"$c\tilde\eta(0) = \ln(1/\gamma)$ has the right order, but with constant 1 costs "
        f"{span(small['line'])} times the least risk where $\\gamma < {FEW:g}$; a rule with the right factor "
        f"{span(small['rule'])}. Of {len(verdicts)} claims, {tally(verdicts)}."
    )
