"""The answer of the page on the hyper-parameters of arXiv:2505.16329v2."""

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
        f"Clip at $c = {USUAL:g}$ and divide the learning rate by it. For $\\gamma < {FEW:g}$, the printed "
        rf"$c\tilde\eta(0) = \ln(1/\gamma)$ has {span(small['line'])} times the least risk; our rule, which adds the "
        f"constant, has {span(small['rule'])} times. Of {len(verdicts)} claims, {tally(verdicts)}."
    )
