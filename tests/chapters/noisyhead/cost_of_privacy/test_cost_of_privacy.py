"""What the chapter on the cost of privacy measures: against the literal algorithm, closed forms and other sizes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.cost_of_privacy import judge, measure
from chapters.noisyhead.cost_of_privacy.measure import Cell, Experiment, Problem
from companion.judging.tables import select
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.prompts import PromptModel, sample
from tests import oracles
from tests.chapters.machinery import committed
from tests.chapters.reading import check_page
from tests.costofprivacy.noisyhead import draws

QUIET = Runner(workers=1)
SMALL = {"N": (30, 60), "L": (4, 9), "D": (2, 3), "T": (1, 4), "trials": 4, "event_trials": 3}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return Experiment(**SMALL).run(QUIET)


def test_a_trial_is_the_literal_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descent, noise and total of both settings on the same draws, prompt by prompt and step by step."""
    cell = Cell(N=20, L=6, D=2, failure=0.1, label_noise=0.3, penalty=0.7, T=(1, 3), epsilon=0.8, delta=1e-3)
    monkeypatch.setattr(head, "sample_statistics", draws.token_by_token)
    fast = measure.sides_trial(cell, rng=generator(5, cell.key, 0))
    rng = generator(5, cell.key, 0)
    drawn = sample(cell.model, 20, rng=rng)
    reference = oracles.ridge(drawn.x, drawn.y, 0.7)
    for s, (setting, hyper) in enumerate(cell.hyper.items()):
        clipped = head.statistics(drawn, hyper.clip_norm)
        data = in_eigenbasis(head.moments(head.project(clipped, hyper.feature_bound)))
        directions = data.matrices(rng.standard_normal((3, 4)))
        told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        for t, T in enumerate(cell.T):
            std = cell.noise_std(setting, T)
            private, twin = (
                oracles.noisyhead(drawn.x, drawn.y, *told, scale * directions[:T], np.zeros((2, 2)))
                for scale in (std, 0.0)
            )
            pairs = ((twin, reference), (private, twin), (private, reference))
            expected = [population.excess_risk(cell.model, a - b) for a, b in pairs]
            expected += [((private - twin) ** 2).sum(), np.linalg.norm(reference)]
            np.testing.assert_allclose(fast[s, t], expected, rtol=1e-8)


def test_closed_forms_meet_the_simulation() -> None:
    measured = committed("noisyhead/cost-of-privacy")
    response = measured["noise-response"]
    assert ((response["value"] - response["closed_form"]).abs() / response["standard_error"]).max() < 4.5
    for N, row in measured["radius"].set_index("N").iterrows():
        cell = replace(Experiment().axes["T"][0], N=int(N))
        assert measure.ridge_norm(cell) == pytest.approx(row["norm_mean"], abs=5 * row["standard_error"], rel=0.01)
    sides_table = judge.idle(measured["both-sides"])
    noise = select(sides_table, setting="printed", axis="T", quantity="noise", T=100).iloc[0]
    cell = replace(Experiment().axes["T"][0], T=(100,))
    assert measure.Point("T", cell).noise() == pytest.approx(noise["value"], abs=5 * noise["standard_error"])


def test_paired_features_cancel_and_their_statistic_is_that_of_the_tokens() -> None:
    table = measure.signed_sums(3, generator(1, 0, 0))
    assert (table["sum_norm"] == 0).all()
    assert (table["allowed"] == 0).all()
    assert (table["statistic_norm"] > 0.01).all()
    assert (table["statistic_norm"] <= table["largest_response"]).all()


def test_a_difference_of_predictions_adds_what_the_closed_form_says() -> None:
    model = PromptModel(3, 7, 0.5)
    table = measure.split(model, generator(3, 0, 0))
    assert 0.99 < table["split_worst"].max() <= 1 + 1e-12
    for _, row in table.iterrows():
        g, double = (population.ridge_scale(model, k * row["penalty"]) for k in (1, 2))
        if row["difference"] == measure.BIAS:
            errors = [population.prediction_error(model, scale * np.eye(3)) for scale in (double, g)]
            gap, risk = errors[0] - errors[1], population.excess_risk(model, (double - g) * np.eye(3))
        else:
            gap = risk = population.context_energy(model)
        assert row["error_gap"] == pytest.approx(gap, abs=5 * row["gap_error"])
        assert row["excess_risk"] == pytest.approx(risk)


def test_a_projected_step_is_tried_on_both_sides_of_the_ball() -> None:
    table = measure.projection_step(generator(6, 0, 0))
    assert table["outside"].between(0.2, 0.8).all()
    np.testing.assert_allclose(table["left_over_middle"], 1)  # attained by what the ball holds already
    assert (table["middle_over_right"] < 1).all()
    assert table["middle_over_right"].max() > 0.9


@pytest.mark.slow
def test_the_page_shows_other_parameters(tables: dict[str, pd.DataFrame]) -> None:
    check_page("noisyhead/cost-of-privacy", tables)


def test_two_prompts_answer_to_unit_noise_as_any_number_does() -> None:
    asked = Experiment()
    cell = asked.shared(Problem, **(asked.base | {"N": 2}))
    found = np.stack([measure.noise_response_trial(cell, rng=np.random.default_rng(k)) for k in range(20)])
    assert np.isfinite(found).all()


def test_long_prompts_break_the_steps_as_printed_and_none_after_projection() -> None:
    """At λ = 0.01 and L = 5000 G is below ‖Z‖: (A.5) to (A.7) hold of the statistics that the algorithm uses."""
    cell = Problem(N=50, L=5000, D=2, failure=0.01, label_noise=0.0, penalty=0.01)
    printed, corrected = measure.recursion_trial(cell, rng=np.random.default_rng(0))
    assert printed[1] > 2
    assert corrected[0] >= 1
    assert (corrected[1:3] <= 1).all()
