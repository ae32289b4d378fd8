import math
from functools import partial

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.optimize import brentq
from scipy.special import ndtr

from costofprivacy.privacy import ApproximateDP, GaussianDP, subsampled
from costofprivacy.privacy.subsampled import Neighbours, poisson_epsilon, poisson_noise_multiplier
from tests.each import each, refused

ADD, REPLACE = Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE


@pytest.mark.parametrize("neighbours", Neighbours)
def test_all_records_in_each_step_are_composed_gaussians(neighbours: Neighbours) -> None:
    budget = ApproximateDP(0.7, 1e-5)
    z = poisson_noise_multiplier(budget, 1.0, 44, neighbours)
    assert GaussianDP(neighbours.reach * math.sqrt(44) / z).epsilon(1e-5) == pytest.approx(0.7)
    assert poisson_epsilon(z, 1.0, 44, 1e-5, neighbours) == pytest.approx(0.7)


@each(
    ("change", "words"),
    [
        ({"noise_multiplier": 0.0}, "noise_multiplier must be"),
        ({"sampling_probability": 0.0}, r"sampling_probability must be in \(0, 1\], got 0.0"),
        ({"sampling_probability": 1.5}, r"sampling_probability must be in \(0, 1\], got 1.5"),
        ({"steps": 0}, "steps must be"),
        ({"delta": 0.0}, "delta must be"),
        ({"neighbours": "near"}, "near"),
    ],
)
def test_arguments_outside_their_ranges_are_refused(change: dict, words: str) -> None:
    given = {"noise_multiplier": 1.0, "sampling_probability": 0.5, "steps": 2, "delta": 1e-5, "neighbours": ADD}
    refused(words, poisson_epsilon, **given | change)


@each("value", [True, np.array(1.0), np.ones(2), [1.0], {}])
@pytest.mark.parametrize("name", ["noise_multiplier", "sampling_probability", "steps"])
def test_no_argument_is_answered_from_what_was_kept_for_another(name: str, value: object) -> None:
    """A cache asked first hashes an array, a ``TypeError``, and takes True for the 1.0 that it knows."""
    given = {"noise_multiplier": 1.0, "sampling_probability": 1.0, "steps": 1, "delta": 1e-5, "neighbours": ADD}
    poisson_epsilon(**given)
    refused(f"{name} must be", poisson_epsilon, **given | {name: value})
    if name != "noise_multiplier":
        poisson_noise_multiplier(ApproximateDP(1.0, 1e-5), 1.0, 1, ADD)
        with pytest.raises(ValueError, match=f"{name} must be"):
            poisson_noise_multiplier(
                ApproximateDP(1.0, 1e-5), **{"sampling_probability": 1.0, "steps": 1, "neighbours": ADD} | {name: value}
            )


def test_without_a_budget_there_is_no_multiplier() -> None:
    with pytest.raises(ValueError, match="epsilon must be positive and finite, got inf"):
        poisson_noise_multiplier(ApproximateDP(np.inf, 1e-5), 0.5, 2, ADD)


# one step: the hockey stick by distribution functions, at its own root


def component(neighbours: Neighbours, order: int, q: float) -> tuple[list, list]:
    """Weights and means of the two mixtures."""
    mixed = [(1 - q, 0.0), (q, 1.0)]
    if neighbours is REPLACE:
        return mixed, [(1 - q, 0.0), (q, -1.0)]
    return (mixed, [(1.0, 0.0)]) if order else ([(1.0, 0.0)], [(1 - q, 0.0), (q, -1.0)])


def exact_epsilon(z: float, q: float, delta: float, neighbours: Neighbours) -> float:
    """By bisection of δ(ε), whose events are half-lines that end where the loss is ε."""

    def spent(epsilon: float, order: int) -> float:
        upper, lower = component(neighbours, order, q)

        def loss(x: float) -> float:
            logs = [[math.log(w) - ((x - m) / z) ** 2 / 2 for w, m in part] for part in (upper, lower)]
            return float(np.subtract(*map(np.logaddexp.reduce, logs)) - epsilon)

        wide = 40 * z + 40
        if loss(wide) <= 0:
            return 0.0
        x = -math.inf if loss(-wide) >= 0 else brentq(loss, -wide, wide, xtol=1e-13)
        p, other = (sum(w * ndtr((m - x) / z) for w, m in part) for part in (upper, lower))
        return float(p - math.exp(epsilon) * other)

    found = []
    for order in (0, 1):
        if spent(0.0, order) <= delta:
            found.append(0.0)
            continue
        high = 1.0
        while spent(high, order) > delta:
            high *= 2
        found.append(brentq(lambda e, order=order: spent(e, order) - delta, 0, high, xtol=1e-13))
    return max(found)


def test_one_step_is_its_hockey_stick_and_a_hundredth_more_at_most() -> None:
    """Steps whose losses are far below a grid of 1e-3 too, where ε was 16 times too large."""
    rng, tried = np.random.default_rng(0), 0
    for _ in range(10):
        z, delta = 10 ** rng.uniform(-0.6, 2), 10 ** rng.uniform(-9, -1)
        q = 10 ** rng.uniform(-4, 0) if rng.random() < 0.7 else 1 - 10 ** rng.uniform(-6, -1)
        for neighbours in Neighbours:
            exact = exact_epsilon(z, q, delta, neighbours)
            found = poisson_epsilon(z, q, 1, delta, neighbours)
            assert exact * (1 - 1e-9) <= found <= 1.01 * exact + 1e-12
            tried += exact > 0
    assert tried > 8


# many steps: dp-accounting from both sides, and the closed form


@pytest.mark.parametrize(
    ("z", "q", "steps", "delta", "neighbours"),
    [(1.0, 0.01, 100, 1e-6, ADD), (0.6, 0.05, 5, 1e-4, REPLACE), (20.0, 0.002, 900, 1e-7, ADD)],
)
def test_it_is_between_the_bounds_of_dp_accounting(
    z: float, q: float, steps: int, delta: float, neighbours: Neighbours
) -> None:
    found = poisson_epsilon(z, q, steps, delta, neighbours)
    relation = dp_accounting.NeighboringRelation
    make = partial(
        privacy_loss_distribution.from_gaussian_mechanism,
        z,
        sampling_prob=q,
        value_discretization_interval=found / 1000 / math.sqrt(steps),
        neighboring_relation=relation.REPLACE_ONE if neighbours is REPLACE else relation.ADD_OR_REMOVE_ONE,
    )
    below = make(pessimistic_estimate=False, use_connect_dots=False).self_compose(steps).get_epsilon_for_delta(delta)
    above = make(pessimistic_estimate=True).self_compose(steps).get_epsilon_for_delta(delta)
    assert below <= found <= 1.003 * above


@pytest.mark.parametrize(
    ("mu", "steps", "delta", "neighbours"), [(1.0, 3, 1e-5, REPLACE), (0.02, 2000, 1e-9, ADD), (1e-4, 5, 1e-7, REPLACE)]
)
def test_nearly_all_records_are_nearly_gaussians(mu: float, steps: int, delta: float, neighbours: Neighbours) -> None:
    """By the grid alone: `poisson_epsilon` takes the closed form where it is smaller."""
    found = subsampled._composed(neighbours.reach / mu, 1 - 1e-13, steps, delta, neighbours, mu / 30)
    exact = GaussianDP(math.sqrt(steps) * mu).epsilon(delta)
    assert exact * (1 - 1e-6) <= found <= 1.002 * exact


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "delta"), [(3000, 1e-12), (300_000, 1e-9), (1_000_000, 1e-9), (1_000_000, 1e-12)])
def test_the_rounding_of_transforms_is_paid_for(steps: int, delta: float) -> None:
    """With all of δ asked of the library, ε was up to 7 % below the truth at a million steps."""
    z = math.sqrt(steps)
    found = poisson_epsilon(z, 1 - 1e-13, steps, delta, ADD)
    assert found >= GaussianDP(1.0).epsilon(delta) * (1 - 1e-9)


@each("delta", [1e-15, 1e-300])
def test_no_delta_is_too_small(delta: float) -> None:
    """It was infinite from 1e-15 on; the bound is the closed form for q = 1 there."""
    found = poisson_epsilon(60.0, 0.5, 400, delta, REPLACE)
    assert found == GaussianDP(2 / 3).epsilon(delta) < math.inf


# calibration


def test_what_is_calibrated_never_overspends_and_wastes_little() -> None:
    """In 44 % of 111 settings it spent more than the budget; the least multiplier is exempt from spending enough."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        budget = ApproximateDP(10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-12, -1.5))
        q, steps = 10 ** rng.uniform(-3, -1e-3), int(10 ** rng.uniform(0, 2.5))
        neighbours = list(Neighbours)[rng.integers(2)]
        z = poisson_noise_multiplier(budget, q, steps, neighbours)
        spent = poisson_epsilon(z, q, steps, budget.delta, neighbours)
        assert spent <= budget.epsilon
        assert spent >= 0.98 * budget.epsilon or z == subsampled.LEAST


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "steps"),
    [
        (0.224, 3.75e-4, 0.0049, 1),
        (0.15, 1.7e-3, 0.99999, 74),
        (100.0, 1e-5, 0.5, 1),
        (1e-6, 1e-12, 0.1, 10),
        (1.0, 1e-15, 0.01, 100),
        (0.01, 0.5, 0.3, 3),
        (3.0, 1e-20, 0.05, 100_000),
    ],
)
def test_every_lawful_setting_has_a_multiplier(epsilon: float, delta: float, q: float, steps: int) -> None:
    """The first two raised an error, or did not return."""
    z = poisson_noise_multiplier(ApproximateDP(epsilon, delta), q, steps, REPLACE)
    assert 0.98 * epsilon <= poisson_epsilon(z, q, steps, delta, REPLACE) <= epsilon
