"""How much work Figure 2, the two sides of (4.4) and the lemmas need; what else the chapter has is closed forms."""

from __future__ import annotations

from collections.abc import Callable

from costofprivacy.experiments.noisyhead.high_dimensional import lemmas, sides
from costofprivacy.experiments.noisyhead.high_dimensional.experiment import Experiment
from costofprivacy.experiments.noisyhead.high_dimensional.figure import RANDOM, VARIANTS, Cell
from costofprivacy.experiments.noisyhead.prompts_work import gram, prompts
from costofprivacy.running.work import Work

FACTORS = 20  # operations of an eigendecomposition over p³
SOLUTION = 4  # products with H by which conjugate gradients find Γ*


def scheme(experiment: Experiment) -> Work:
    """Prompts without features, products of iterates with H, answers to test prompts; the lemmas token by token."""
    return _common(experiment) + experiment.lemma_trials * _lemmas(lambda N, L, D: Work(normals=N * (L + 1) * D))


def cheapest(experiment: Experiment) -> Work:
    """The same with the lemmas' sums of tokens drawn by their lengths."""
    return _common(experiment) + experiment.lemma_trials * _lemmas(lambda N, L, D: prompts(N, L, D))


def _lemmas(drawn: Callable[[int, int, int], Work]) -> Work:
    return sum((drawn(*size) for size in lemmas.SIZES), Work())


def _common(experiment: Experiment) -> Work:
    figure = sum((_trial(cell) for cell in experiment.cells), Work())
    both = sum((_sides(cell) for cell in experiment.bound_cells), Work())
    return experiment.trials * figure + experiment.bound_trials * both


def _trial(cell: Cell) -> Work:
    """A step takes one product for A and one for B of a line of configurations; from Γ⁰ = 0 the first takes none."""
    N, D, T = cell.N, cell.model.D, cell.T
    private = sum(2 * (T - 1) + (start == RANDOM) for _, start in VARIANTS)
    plain = sum(T - 1 + (start == RANDOM) for _, start in VARIANTS)
    heads = len(VARIANTS) * (len(cell.epsilon) + 1) + 2
    products = Work(flops=(private + plain + SOLUTION) * 4 * N * D**2)
    answers = Work(flops=2 * heads * cell.test_prompts * D**2)
    noise = Work(normals=len(VARIANTS) * T * D**2, loops=len(VARIANTS) * T * 8 * D**2)
    return prompts(N + cell.test_prompts, cell.model.L, D) + products + answers + noise


def _sides(cell: sides.Cell) -> Work:
    """The raw and the shortened moments in their eigenbases."""
    model = cell.told[0].model
    return prompts(cell.N, model.L, model.D) + 2 * (gram(cell.N, model.D) + Work(flops=FACTORS * model.D**6))
