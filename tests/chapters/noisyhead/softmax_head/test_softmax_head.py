from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.softmax_head import measure
from chapters.noisyhead.softmax_head.judge import BEST_ROUTE, LITERAL, ROUTES
from chapters.noisyhead.softmax_head.measure import (
    EXACT,
    HEADS,
    LESS_NOISE,
    LINEAR,
    SOFTMAX,
    SOUND,
    Experiment,
    Law,
    Way,
)
from companion.judging.findings import Verdict
from companion.running.montecarlo import Runner
from costofprivacy.noisyhead import elliptical, per_prompt, softmax
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, GaussianDP, every_iterate
from tests.chapters.machinery import Case, Change, both, committed, judge, put, trials

SMALL = Experiment(
    N=(150,), D=4, epsilon=(1.0,), steps=(4, 8), clips=(0.1, 0.2), reaches=(20.0, 80.0), bounded_times=(6.0,),
    trials=2, public_trials=2, public_prompts=200, test_prompts=100, lengths=(10, 100), kappas=(2.0, 5.0),
    tokens=10_000, poisoned=(1, 20), releases=1000,
)  # fmt: skip
BUDGET = ApproximateDP(1.0, 1e-5)


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return SMALL.run(Runner(workers=1))


def test_plans_know_no_private_prompt() -> None:
    """Other private prompts, by another number of trials and another covariance, leave every choice as it is."""
    other, ends = replace(SMALL, condition=(1.0, 50.0), trials=5), measure.Ends(5.0, 1.4, (5.0,) * 4, 1.4)
    grid, same = (asked.grid(dict.fromkeys(asked.laws, ends)) for asked in (SMALL, other))
    assert grid == same
    assert all(cell.law.condition == 1 for cell in grid)


def test_a_choice_is_the_best_of_its_way(tables: dict[str, pd.DataFrame]) -> None:
    choices = tables["choices"]
    for output in measure.OUTPUTS:
        for way, rows in choices.groupby(["N", "epsilon", "head", "bound", "account"]):
            chosen = rows[rows[f"chosen, {output}"]]
            assert len(chosen) == 1, way
            assert chosen[f"test_error, {output}"].iloc[0] == rows[f"test_error, {output}"].min()
    found = measure.chosen(choices, "average")[150, 1.0]
    assert [(way.head, way.bound, way.account) for way in found] == list(measure.WAYS)


@pytest.mark.parametrize("way", measure.WAYS)
def test_every_plan_keeps_its_budget(way: tuple[str, str, str]) -> None:
    plan = Way(*way, 20, 0.3, 100.0).plan(500, BUDGET)
    spent = every_iterate(GaussianDP(per_prompt.sensitivity(0.3, 500) / plan.noise_std), 20).epsilon(1e-5)
    assert spent == pytest.approx(1.0, rel=1e-6) if way[2] == EXACT else spent < 0.2
    assert plan.learning_rate == 5.0


def test_where_responses_are_clipped_no_honest_gradient_is_cut() -> None:
    law, scale = Law(150, 4, 1.0), 1.4
    prompts = law.draw(np.eye(4), 150, rng=np.random.default_rng(0))
    bound, data = softmax.gradient_bound(scale, law.clip_norm()), softmax.contexts(prompts)
    free, cut = (
        per_prompt.softmax_gradient_of(data, scale, [per_prompt.Plan(1, c, 1.0, 0.0)])(3 * np.eye(4)[None])
        for c in (np.inf, bound)
    )
    np.testing.assert_array_equal(free, cut)
    assert np.abs(prompts.y).max() < law.clip_norm()


def test_a_trial_turns_with_its_axes() -> None:
    """What a head errs does not depend on the axes: fit and best head turn with the prompts."""
    law = Law(150, 4, 10.0)
    found = measure.find_ends([measure.EndCell(law, 200)], Runner(workers=1), 0)[law]
    axes = elliptical.axes(4, rng=np.random.default_rng(1))
    errors = []
    for Q in (np.eye(4), axes):
        test = law.draw(Q, 20_000, rng=np.random.default_rng(2))
        A = elliptical.matrix(Q, np.array(found.best))[None]
        errors.append(measure.errors(law, Q, SOFTMAX, A, np.array([found.best_scale]), test)[0])
    assert errors[0] == pytest.approx(errors[1], rel=0.03)


def test_least_squares_is_the_best_linear_head_on_its_prompts() -> None:
    law = Law(150, 4, 1.0)
    prompts = law.draw(np.eye(4), 150, rng=np.random.default_rng(0))
    Gamma = measure.least_squares(prompts)
    free = per_prompt.linear_gradient(prompts, [per_prompt.Plan(1, np.inf, 1.0, 0.0)])
    np.testing.assert_allclose(free(Gamma[None]), 0, atol=1e-12)


def poison(prompts: Prompts, count: int) -> Prompts:
    """The first ``count`` prompts replaced by contradicting ones."""
    x, y = prompts.x.copy(), prompts.y.copy()
    x[:count], y[:count] = measure.contradicting(x.shape[2], x.shape[1] - 1)
    return Prompts(x, y, prompts.w)


def test_a_poisoned_prompt_points_down() -> None:
    x, y = measure.contradicting(4, 12)
    one = Prompts(x[None], y[None], np.zeros((1, 4)))
    plans = [per_prompt.Plan(1, 0.1, 1.0, 0.0)]
    for head in HEADS:
        gradient = measure.gradient_of(head, one, 1.4, plans)(np.eye(4)[None])[0]
        assert gradient[0, 0] == pytest.approx(0.1)
        assert np.abs(gradient).sum() == pytest.approx(0.1)


def test_poisoned_heads_side_by_side_have_the_gradients_of_poisoned_prompts() -> None:
    rng = np.random.default_rng(0)
    prompts, counts = Law(150, 4, 1.0).draw(np.eye(4), 30, rng=rng), (0, 1, 5)
    plans, A = [per_prompt.Plan(1, 0.1, 1.0, 0.0)] * 3, rng.standard_normal((3, 4, 4))
    for head in HEADS:
        found = measure.poisoned_gradient(head, prompts, 1.4, plans, counts)(A)
        for k, count in enumerate(counts):
            literal = measure.gradient_of(head, poison(prompts, count), 1.4, plans[:1])(A[k : k + 1])[0]
            np.testing.assert_allclose(found[k], literal, rtol=1e-12, atol=1e-15)


def test_poison_moves_within_its_bounds(tables: dict[str, pd.DataFrame]) -> None:
    rows = tables["poison"]
    assert (rows["moved"] > 0).all()
    assert (rows["rise"] - 4 * rows["standard_error"] <= rows["bound"]).all()
    assert rows.loc[rows["poisoned"] == 1, "bound"].iloc[0] == pytest.approx(0.1066, abs=1e-4)


def test_the_neighbours_are_worst() -> None:
    """One step's releases differ by the whole sensitivity."""
    for head in HEADS:
        cell = measure.AuditCell(head, measure.SOUND, 1, 1.5, 0.01, 100, 0.9)
        quiet = [per_prompt.Plan(1, measure.CLIP, 1.0, 0.0)]
        first, second = (
            measure.gradient_of(head, data, measure.SCALE, quiet)(np.zeros((1, measure.D, measure.D)))
            for data in measure.neighbours()
        )
        assert np.linalg.norm(first - second) == pytest.approx(per_prompt.sensitivity(measure.CLIP, measure.N))
        assert cell.plan.noise_std == pytest.approx(per_prompt.sensitivity(measure.CLIP, measure.N) / 1.5)


def test_an_audit_finds_twelve_percent_too_little_noise_by_mu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says from which deficit on; the bound on ε at this δ misses it."""
    monkeypatch.setitem(measure.FAULTS, measure.LESS_NOISE, 0.88)
    cell = measure.AuditCell(HEADS[0], measure.LESS_NOISE, 1, 1.5, 0.01, 20_000, 0.99)
    row = measure.audit_table([cell], Runner(workers=1), 1).iloc[0]
    assert row["least_deficit"] < 0.1
    assert row["mu_found"] > row["mu"]
    assert row["epsilon_found"] < row["epsilon"]
    sound = measure.AuditCell(HEADS[0], measure.SOUND, 1, 1.5, 0.01, 20_000, 0.99)
    assert measure.audit_table([sound], Runner(workers=1), 1).iloc[0]["mu_found"] <= 1.5


HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/softmax-head"
CLAIM = "noisyhead/section-1.1-transformers"


def errs(route: tuple[str, str], value: float, head: str = SOFTMAX) -> Change:
    return put("test-error", "test_error", value, head=head, bound=route[0], account=route[1])


def finds(fault: str, head: str = SOFTMAX, claim: str = "epsilon") -> Change:
    return put("audit", f"{claim}_found", lambda r: 1.01 * r[claim], fault=fault, head=head)


NOTHING_LEARNS = both(*(errs(route, 1.2) for route in ROUTES))
CASES = [
    Case(CLAIM, "the literal design alone learns", both(NOTHING_LEARNS, errs(LITERAL, 0.5)), HOLDS),
    Case(CLAIM, "no route learns", NOTHING_LEARNS, FAILS),
    Case(CLAIM, "an audit finds more than the claim", finds(SOUND), FAILS),
    Case(CLAIM, "an audit finds more than the claimed μ alone", finds(SOUND, claim="mu"), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)


def test_what_is_broken_on_purpose_or_linear_convicts_no_softmax_head() -> None:
    tables = committed(CHAPTER)
    before = judge(CHAPTER, CLAIM, tables)
    for changed in (finds(LESS_NOISE), finds(SOUND, LINEAR), errs(BEST_ROUTE, 2.0, LINEAR)):
        assert judge(CHAPTER, CLAIM, tables | dict(changed(tables))) == before
