"""What the chapter on early stopping may be asked for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.experiments.noisyhead.early_stopping import experiment
from costofprivacy.noisyhead.accounts import ACCOUNTS


@given(
    st.integers(16, 2500),
    st.lists(st.integers(1, 3000), min_size=2, max_size=4, unique=True),
    st.floats(1e-3, 1.0),
    st.floats(1e-12, 0.5),
    st.floats(1e-50, 1.0),
    st.floats(0, 5),
)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_admissible_parameters_give_admissible_algorithms(
    N: int, T: list[int], epsilon: float, delta: float, failure: float, label_noise: float
) -> None:
    cell = experiment.Experiment(N=N, T=T, epsilon=epsilon, delta=delta, failure=failure, label_noise=label_noise).cell
    for setting, hyper in cell.hyper.items():
        assert 0 < hyper.learning_rate * hyper.penalty < 1
        assert hyper.contraction < 1
        assert all(0 < std < np.inf for std in cell.noise(setting, ACCOUNTS))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"N": 15}, "N must be between 16 and 2500, got 15"),
        ({"N": 2501}, "N must be between 16 and 2500, got 2501"),
        ({"N": 99.5}, "N must be a whole number of at least 1, got 99.5"),
        ({"T": [5]}, r"T must hold at least two numbers of steps, got \[5\]"),
        ({"T": 5}, "T must be a non-empty list, got 5"),
        ({"T": [0, 5]}, "each of T must be a whole number of at least 1, got 0"),
        ({"T": [5, 5]}, r"T must be a list of distinct values, got \[5, 5\]"),
        ({"T": [1, 100_001]}, "each of T must be at most 100000, got 100001"),
        ({"epsilon": 1.5}, "epsilon must be between 0 and 1, got 1.5"),
        ({"epsilon": 0}, "epsilon must be positive and finite, got 0"),
        ({"delta": 1.0}, "delta must be between 0 and 1, both excluded, got 1.0"),
        ({"failure": 1.5}, "failure must be between 1e-50 and 1, got 1.5"),
        ({"failure": 1e-300}, "failure must be between 1e-50 and 1, got 1e-300"),
        ({"failure": 0}, "failure must be positive, got 0"),
        ({"label_noise": -0.1}, "label_noise must be non-negative and finite, got -0.1"),
        ({"trials": 1}, "trials must be a whole number of at least 2, got 1"),
        ({"test_prompts": 0}, "test_prompts must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_inadmissible_parameters_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}") as refusal:
        experiment.Experiment(**arguments)
    assert "\n" not in str(refusal.value)


def test_the_edges_of_what_is_admissible() -> None:
    edge = experiment.Experiment(N=16, T=[100_000, 7], epsilon=7.0, failure=1e-50, trials=2, test_prompts=1, seed=0)
    assert edge.T == (7, 100_000)
    assert not edge.is_published
    whole = experiment.Experiment()
    assert whole.is_published
    assert replace(whole, T=(1, 7), trials=2, seed=9).is_published
    others = (
        {"N": 999},
        {"epsilon": 0.7},
        {"delta": 1e-4},
        {"failure": 0.5},
        {"label_noise": 0.1},
        {"test_prompts": 9},
    )
    assert not any(replace(whole, **other).is_published for other in (*others, {"test_prompts": 9}))
