"""Three accounts of one budget: what standard deviation the noise of a step of Algorithm 1 needs."""

from collections.abc import Callable

from costofprivacy.noisyhead import pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.privacy import (
    ApproximateDP,
    basic_noise_multiplier,
    exact_composed_noise_multiplier,
    last_iterate_noise_multiplier,
)
from costofprivacy.settings import Setting

ALGORITHM, EVERY, LAST = "Algorithm 1", "every iterate", "last iterate"
ACCOUNTS = (ALGORITHM, EVERY, LAST)


def noise_std(account: str, hyper: Hyperparameters, budget: ApproximateDP, N: int, T: int) -> float:
    """Standard deviation of an entry of z_t for T steps: as printed, composed exactly, or for the last iterate."""
    return pretraining.update_sensitivity(hyper, N) * _MULTIPLIER[account](hyper, budget, T)


def setting_noise_std(setting: Setting, hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Standard deviation of an entry of z_t: as Algorithm 1 has it, or exactly composed where corrected."""
    return noise_std(EVERY if setting == Setting.CORRECTED else ALGORITHM, hyper, budget, N, hyper.steps)


_MULTIPLIER: dict[str, Callable[[Hyperparameters, ApproximateDP, int], float]] = {
    ALGORITHM: lambda hyper, budget, T: basic_noise_multiplier(budget, T),
    EVERY: lambda hyper, budget, T: exact_composed_noise_multiplier(budget, T),
    LAST: lambda hyper, budget, T: last_iterate_noise_multiplier(budget, min(1.0, hyper.contraction), T),
}
