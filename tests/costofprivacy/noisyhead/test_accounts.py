import math
from dataclasses import replace

import pytest

from costofprivacy.noisyhead import accounts, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting
from tests.each import each

HYPER = Hyperparameters(clip_norm=1.2, feature_bound=0.3, weight_bound=0.8, penalty=0.5, learning_rate=0.3, steps=7)
BUDGET, N, T = ApproximateDP(0.7, 1e-5), 100, 20


def test_the_noise_of_algorithm_1_by_hand() -> None:
    """η₀σ T√(2 log(1.25T/δ))/(Nε), σ = 2G(C + RG)."""
    sigma = 2 * 0.3 * (1.2 + 0.8 * 0.3)
    expected = 0.3 * sigma * T * math.sqrt(2 * math.log(1.25 * T / 1e-5)) / (N * 0.7)
    assert accounts.noise_std(accounts.ALGORITHM, HYPER, BUDGET, N, T) == pytest.approx(expected, rel=1e-12)


def test_the_exact_accounts_spend_the_budget_on_what_they_release() -> None:
    every, last = (
        pretraining.profile(replace(HYPER, steps=T), BUDGET, N, accounts.noise_std(name, HYPER, BUDGET, N, T))
        for name in (accounts.EVERY, accounts.LAST)
    )
    assert every.every_iterate.epsilon(BUDGET.delta) == pytest.approx(0.7, rel=1e-9)
    assert last.last_iterate.epsilon(BUDGET.delta) == pytest.approx(0.7, rel=1e-9)
    assert last.every_iterate.epsilon(BUDGET.delta) > 1.0


@each("account", accounts.ACCOUNTS)
def test_the_steps_are_those_asked_for(account: str) -> None:
    expected = accounts.noise_std(account, replace(HYPER, steps=T), BUDGET, N, T)
    assert accounts.noise_std(account, HYPER, BUDGET, N, T) == expected
    assert accounts.noise_std(account, HYPER, BUDGET, N, 2 * T) != expected


def test_an_update_that_expands_hides_nothing_in_its_last_iterate() -> None:
    wild = replace(HYPER, learning_rate=3.0)
    assert wild.contraction > 1
    every, last = (accounts.noise_std(name, wild, BUDGET, N, T) for name in (accounts.EVERY, accounts.LAST))
    assert last == pytest.approx(every, rel=1e-9)


def test_a_setting_has_its_account() -> None:
    corrected = accounts.noise_std(accounts.EVERY, HYPER, BUDGET, N, HYPER.steps)
    printed = accounts.noise_std(accounts.ALGORITHM, HYPER, BUDGET, N, HYPER.steps)
    assert accounts.setting_noise_std(Setting.CORRECTED, HYPER, BUDGET, N) == corrected
    for setting in (Setting.PRINTED, Setting.PUBLISHED):
        assert accounts.setting_noise_std(setting, HYPER, BUDGET, N) == printed
