"""What the chapter on early stopping may be asked for."""

from dataclasses import replace

from costofprivacy.experiments.noisyhead.early_stopping import experiment


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
