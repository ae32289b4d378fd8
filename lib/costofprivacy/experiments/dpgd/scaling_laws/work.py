"""How much work this chapter's numbers need: for `make bench`."""

from __future__ import annotations

from costofprivacy.dpgd import tuning
from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.dpgd.scaling_laws import curves, orders
from costofprivacy.experiments.dpgd.scaling_laws.curves import Law
from costofprivacy.experiments.dpgd.scaling_laws.experiment import Experiment
from costofprivacy.running.work import Work

CLOSED = 12_000  # operations of the closed form at its best rate: a hundred places, four incomplete gammas each
LSODA = 400  # right sides that LSODA asks for, its differences for the Jacobian apart
PATHS = 40  # solutions of the tables ``paths`` and ``parts``, to 1e-7 and at many times: as many plain ones


def scheme(experiment: Experiment) -> Work:
    """What the chapter does: nothing is drawn; the equations of a quadrature rule, solved for every learning rate."""
    gammas = [10.0**-decade for decade in experiment.decades]
    own = [*experiment.flat, *experiment.steep]
    starts = len(experiment.starts) / len(experiment.flat_alpha)
    shares = [(own, 1.0), (curves.without_privacy(experiment.flat), 1.0), (experiment.flat, starts)]
    parts = [share * _tuned(law, gamma) for laws, share in shares for law in laws for gamma in gammas]
    parts += [_checked(law, 10.0**-decade) for law in own for decade in experiment.checked]
    closed = len(own) * (len(gammas) + experiment.far - experiment.decades[-1])
    return solving.total([*parts, _orders(experiment), Work(loops=closed * CLOSED)])


def cheapest(experiment: Experiment) -> Work:
    """The same: no scheme is known that finds these risks to the same tolerance with fewer operations."""
    return scheme(experiment)


def _size(law: Law, gamma: float) -> int:
    return len(law.equations(gamma).initial)


def _tuned(law: Law, gamma: float) -> Work:
    return solving.best_rate(gamma, _size(law, gamma))


def _checked(law: Law, gamma: float) -> Work:
    """LSODA at five learning rates, with a Jacobian by differences a few times on the way."""
    sides = LSODA + 5 * _size(law, gamma)
    return Work(loops=len(curves.AROUND) * sides * (8 * _size(law, gamma) + solving.REDUCTION))


def _orders(experiment: Experiment) -> Work:
    """Given learning rates along γ, and clipping constants each at its best."""
    law, number = experiment.flat[0], len(orders.CASES) * (1 + len(orders.EXPONENTS))
    given = [solving.solutions(number, _size(law, 10.0**-k), tuning.TOLERANCE) for k in experiment.order_decades]
    clips = 4 * (len(orders.CLIPS) + 1)
    tuned = [clips * _tuned(law, 10.0**-k) for k in experiment.clip_decades]
    return solving.total([*given, *tuned, solving.solutions(PATHS, _size(law, 1e-6), 1e-7)])
