"""Spectra lumped by Gauss's rule: its moments, and the risk against that of the whole spectrum."""

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, quadrature
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.system import System, of_spectrum

GAMMA = 0.1


def spectrum(d: int = 300) -> System:
    """Eigenvalues over eight decades, and a target that is rough in them."""
    values = np.append(np.geomspace(1e-6, 30.0, d - 1), 500.0)
    energies = np.random.default_rng(0).exponential(size=d) / (0.1 + values)
    return of_spectrum(values, energies, GAMMA, 0.4)


def test_gauss_has_the_first_moments() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.uniform(1, 3, 50), rng.exponential(size=50)
    nodes, shares = quadrature.gauss(values, weights)
    assert len(nodes) == 3
    assert (shares > 0).all()
    for power in range(6):
        assert shares @ nodes**power == pytest.approx(weights @ values**power, rel=1e-12)
    assert shares @ nodes**6 != pytest.approx(weights @ values**6, rel=1e-9)


@pytest.mark.parametrize("schedule", [Constant(3.0), Constant(60.0), Polynomial(20.0, 0.5), Harmonic(1.0, 0.01)])
@pytest.mark.parametrize("clip", [0.01, 0.3, 10.0])
def test_the_risk_is_that_of_the_whole_spectrum(schedule: Constant, clip: float) -> None:
    whole = spectrum()
    few = quadrature.lumped(whole, whole.cap)
    assert len(few.initial) < 100
    assert few.initial_risk == pytest.approx(whole.initial_risk, rel=1e-8)
    known, found = (equivalent.final_risk(each, schedule, clip, 0.5, 1e-7) for each in (whole, few))
    assert found == pytest.approx(known, rel=3e-4)


def test_fewer_nodes_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = spectrum()
    known = equivalent.final_risk(whole, Polynomial(20.0, 0.5), 10.0, 0.5, 1e-7)
    errors = []
    for nodes in (1, 2, 3):
        monkeypatch.setattr(quadrature, "_NODES", nodes)
        few = quadrature.lumped(whole, whole.cap)
        errors.append(abs(equivalent.final_risk(few, Polynomial(20.0, 0.5), 10.0, 0.5, 1e-7) / known - 1))
    assert errors[0] > 1e-3
    assert errors[2] < errors[0] / 10
