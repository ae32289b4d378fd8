import math

import numpy as np
import pytest

from chapters.noisyhead.a_head_that_works import audit
from costofprivacy.noisyhead import whitened_descent
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import GaussianDP

PLANS = {every: plan(audit.D, audit.L, audit.N, GaussianDP(1.5), every_token=every) for every in (False, True)}
TOLD = PLANS[False]
KINDS = [(every, name) for every in PLANS for name in audit.pairs(every_token=every)]
RELEASES = 6_000


@pytest.mark.slow
def test_the_table_acquits_the_head_and_finds_each_fault() -> None:
    table = audit.table(1.5, 0.2, RELEASES, rng=np.random.default_rng(1)).set_index(["fault", "every_token", "pair"])
    exact = GaussianDP(1.5).epsilon(0.2)
    assert (table["exact_epsilon"] == exact).all()
    assert (table["releases"] == RELEASES).all()
    assert list(table.index.unique("fault")) == list(audit.FAULTS)
    assert set(table.index.unique("every_token")) == {True, False}
    found = table["found_epsilon"].unstack([1, 2])
    assert ((found.loc[audit.NONE] > 0.3 * exact) & (found.loc[audit.NONE] < exact)).all()
    by_mu = table["found_mu"].unstack([1, 2])
    assert ((by_mu.loc[audit.NONE] > 0.5 * 1.5) & (by_mu.loc[audit.NONE] < 1.5)).all()
    assert (by_mu[False].loc[list(audit.FAULTS)[1:]].max(axis=1) > 1.5).all()
    assert (table["least_deficit"] < 0.15).all()
    for every in (True, False):
        assert (found[every].loc[list(audit.FAULTS)[1:]].max(axis=1) > exact).all()


@pytest.mark.parametrize("fault", audit.FAULTS)
def test_a_faulty_plan_is_the_right_one_but_for_its_fault(fault: str) -> None:
    noise, slack = audit.FAULTS[fault]
    wrong = audit.faulty(TOLD, fault)
    assert (wrong.gains, wrong.N, wrong.budget) == (TOLD.gains, TOLD.N, TOLD.budget)
    for ours, right in zip((*wrong.clip_norms, wrong.context_norm), (*TOLD.clip_norms, TOLD.context_norm)):
        assert ours == slack * right
        assert wrong.step_std(ours) == pytest.approx(noise * TOLD.step_std(right), rel=1e-12)
        assert wrong.moment_std(ours) == pytest.approx(noise * TOLD.moment_std(right), rel=1e-12)


def test_the_score_is_the_log_likelihood_ratio() -> None:
    """Its law where the means are constants apart: normal with mean ±s/2 and variance s, s the sum that is spent."""
    first, second = audit.pairs(every_token=False)["response"]
    ratios = []
    for data, sign in ((first, 1), (second, -1)):
        seen = whitened_descent.releases(data, TOLD, 4000, rng=np.random.default_rng(0))
        spent = audit.spent(TOLD, (first, second), seen)
        assert spent.std() < 1e-6
        ratio = audit.log_ratio(TOLD, (first, second), seen)
        assert ratio.mean() == pytest.approx(sign * spent.mean() / 2, abs=5 * math.sqrt(spent.mean() / 4000))
        assert ratio.var() == pytest.approx(spent.mean(), rel=0.1)
        ratios.append(ratio)
    assert np.exp(-ratios[0]).mean() == pytest.approx(1.0, abs=0.1)  # of a likelihood ratio, and of no other score


@pytest.mark.parametrize(("every", "name"), KINDS)
def test_a_pair_comes_near_to_the_sensitivity_and_never_beyond(every: bool, name: str) -> None:
    """It is worth auditing on, and the proof's sum over the releases is a bound."""
    pair = audit.pairs(every_token=every)[name]
    seen = whitened_descent.releases(pair[0], PLANS[every], 500, rng=np.random.default_rng(0))
    spent = audit.spent(PLANS[every], pair, seen) / 1.5**2
    assert spent.max() <= 1 + 1e-9
    assert spent.mean() > 0.5
