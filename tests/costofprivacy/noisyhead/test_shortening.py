"""Against quadrature, against simulated prompts, and at both ends of G."""

import numpy as np
import pytest
from scipy import integrate, stats

from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.prompts import PromptModel
from tests.each import each


@each("D", [1, 5, 30])
@each("bound", [0.01, 0.2, 0.5, 1.5])
@each("penalty", [0.1, 5.0])
def test_it_is_the_integral_over_the_norm_of_w(D: int, bound: float, penalty: float) -> None:
    density = stats.chi(D).pdf

    def mean(of):
        return sum(
            integrate.quad(lambda r: of(r, min(r / D, bound)) * density(r), *ends, epsabs=1e-14)[0]
            for ends in ((0, bound * D), (bound * D, bound * D + 60))
        )

    short = mean(lambda r, m: r * m) / (mean(lambda r, m: m * m) + penalty * D**2)
    whole = 1 / (1 / D + penalty * D**2)
    assert shortening_risk(D, bound, penalty) == pytest.approx(((short - whole) / D) ** 2, rel=1e-6, abs=1e-20)


def test_it_is_the_mean_over_drawn_vectors() -> None:
    w = np.random.default_rng(3).standard_normal((400_000, 4))
    m = w / 4
    short = m * np.minimum(1, 0.3 / np.linalg.norm(m, axis=1))[:, None]
    g, shortened = ((w * v).sum(1).mean() / ((v**2).sum(1).mean() + 2.0 * 16) for v in (m, short))
    assert shortening_risk(4, 0.3, 2.0) == pytest.approx((g - shortened) ** 2 / 16, rel=0.02)


def test_it_runs_from_nothing_to_answering_0() -> None:
    risks = [shortening_risk(5, bound, 5.0) for bound in (1e3, 3.0, 0.5, 0.1, 1e-9)]
    assert risks[0] == 0
    assert risks == sorted(risks)
    assert risks[-1] == pytest.approx(population.zero_excess_risk(PromptModel(5, 10**9), 5.0), rel=1e-6)
