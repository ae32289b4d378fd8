import re

import numpy as np
import pytest
from scipy.stats import binom, norm

from costofprivacy.privacy import ApproximateDP, audit_mechanism, detectable, detectable_by_epsilon, detection
from costofprivacy.privacy.detection import runs_needed
from costofprivacy.privacy.evidence import pooled_mu_lower_bound


@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_a_deficit_is_where_the_counts_convict_with_the_power(mu: float) -> None:
    """Every count of the binomial law, each held against the bound itself."""
    runs, confidence = 4000, 0.98
    counts = np.arange(2 * 3000 + 1)
    convicts = [pooled_mu_lower_bound((min(c, 3000), 3000 - max(c - 3000, 0)), 3000, 0.99) > mu for c in counts]
    for power in (0.5, 0.9):
        deficit = detectable(mu, runs, confidence, power)
        law = binom.pmf(counts, 6000, norm.cdf(mu / (1 - deficit) / 2))
        assert law[convicts].sum() == pytest.approx(power, abs=1e-6)


def test_ten_percent_too_little_noise_is_found_by_a_million_runs() -> None:
    for mu in (0.072, 0.1, 0.3, 1.0, 2.0, 5.0):
        assert detectable(mu, 10**6, 0.99) < 0.1
    assert detectable(0.0613, 10**6, 0.95) < 0.1
    assert 1.3e6 < runs_needed(0.0613, 0.1, 0.99) < 1.4e6
    assert all(runs_needed(mu, 0.1, 0.99) < 6000 for mu in (1.0, 2.0, 5.0))
    assert detectable(1.0, 10**5, 0.99) < 0.03


@pytest.mark.parametrize(("mu", "runs"), [(0.5, 20_000), (3.0, 4_000)])
def test_audits_find_what_they_should_and_not_half_of_it(mu: float, runs: int) -> None:
    deficit = detectable(mu, runs, 0.99)
    found = []
    for share in (1.0, 0.25):
        spent = mu / (1 - share * deficit)
        accused = 0
        for seed in range(40):
            accused += (
                audit_mechanism(
                    lambda data, count, rng, spent=spent: spent * data + rng.standard_normal(count),
                    1.0,
                    0.0,
                    delta=1e-3,
                    releases=runs,
                    confidence=0.99,
                    rng=np.random.default_rng(seed),
                ).mu
                > mu
            )
        found.append(accused / 40)
    assert found[0] > 0.7
    assert found[1] < 0.3


def test_the_runs_needed_find_it_and_half_of_them_do_not() -> None:
    for mu, deficit in ((1.0, 0.1), (0.2, 0.3), (5.0, 0.05)):
        runs = runs_needed(mu, deficit, 0.99)
        assert detectable(mu, runs, 0.99) <= deficit < detectable(mu, runs // 2, 0.99)


def test_an_epsilon_at_a_small_delta_finds_less_than_mu_does() -> None:
    budget = ApproximateDP(1.0, 1e-3)
    by_epsilon = [detectable_by_epsilon(budget, runs, 0.99) for runs in (10**4, 10**6)]
    assert by_epsilon[1] < by_epsilon[0] < 1
    assert detectable(budget.to_gaussian().mu, 10**4, 0.99) < by_epsilon[0]


def test_the_power_by_epsilon_is_that_of_its_counts() -> None:
    """Against counts drawn at the best threshold."""
    budget, runs, confidence = ApproximateDP(1.0, 1e-2), 4000, 0.98
    deficit = detectable_by_epsilon(budget, runs, confidence)
    spent, rng = budget.to_gaussian().mu / (1 - deficit), np.random.default_rng(0)
    powers = []
    for p in np.geomspace(0.01, 0.5, 12):
        q = norm.cdf(norm.ppf(p) - spent)
        hits = rng.binomial(3000, [[p], [q]], (2, 2000))
        found = detection.evidence.bounds(*hits, 3000, budget.delta, 0.99)[0]
        powers.append((found[0] > budget.epsilon).mean())
    assert max(powers) == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: detectable(0.0, 100, 0.9), "mu must be positive and finite, got 0.0"),
        (lambda: detectable(1.0, 1, 0.9), "releases must be a whole number of at least 2, got 1"),
        (lambda: detectable(1.0, 100, 1.0), "confidence must be between 0 and 1"),
        (lambda: detectable(1.0, 100, 0.9, 0.0), "power must be between 0 and 1"),
        (lambda: runs_needed(1.0, 1.0, 0.9), "deficit must be between 0 and 1"),
        (lambda: detectable_by_epsilon(ApproximateDP(np.inf, 1e-5), 100, 0.9), "epsilon must be a finite number"),
    ],
)
def test_inadmissible_arguments_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_table_of_the_docstring_is_what_is_computed() -> None:
    rows = re.findall(r"^([\d.]+) +(0\.\d+) +(0\.\d+) +(0\.\d+)$", detection.__doc__, flags=re.MULTILINE)
    assert len(rows) == 6
    for mu, *found in rows:
        for runs, told in zip((10**4, 10**5, 10**6), found):
            assert f"{detectable(float(mu), runs, 0.99):.3f}" == told
    told = re.search(r"`detectable_by_epsilon` is ([\d.]+), ([\d.]+)\s+and ([\d.]+)\.", detection.__doc__)
    for runs, told_one in zip((10**4, 10**5, 10**6), told.groups()):
        assert f"{detectable_by_epsilon(ApproximateDP(1.0, 1e-5), runs, 0.99):.2f}" == told_one
