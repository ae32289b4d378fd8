"""What the page on the hyper-parameters of arXiv:2505.16329v2 opens with."""

from chapters.dpgd.hyperparameters.tables import FEW, USUAL, advice
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import span, times
from companion.judging.tables import Tables


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    rows = advice(tables["valley"])
    small = rows[rows["gamma"] < FEW]
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    return [
        f"Clip at $c = {USUAL:g}$, below the label noise, and divide the learning rate by $c$. At small $\\gamma$ the "
        f"best one then has at most {times(small['usual'].max())} the least risk.",
        rf"The printed $c\tilde\eta(0) = \ln(1/\gamma)$ has {span(small['line'])} times the least risk.",
        f"Our rule, which adds the constant, has {span(small['rule'])} times the least.",
        r"We derive the best of both at given $\gamma$ and $\rho$, and try them by hand.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]
