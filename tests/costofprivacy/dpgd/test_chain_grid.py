"""The risk chain on a grid of clips and learning rates against the chain itself, step for step on the same draws."""

import numpy as np
import pytest

from costofprivacy.dpgd import chain, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from tests.each import each

CLIPS, RATES = np.array([1e-3, 0.1, 10.0, 0.1]), np.array([300.0, 5.0, 0.3, 60.0])
SHAPES = {"constant": Constant, "half": lambda r: Polynomial(r, 0.5), "harmonic": lambda r: Harmonic(0.3 * r, 0.3)}


def spaces(d: int, value: float = 1.0) -> chain.Eigenspaces:
    model = spectrum.RegressionModel(spectrum.Spectrum([value] * d), np.full(d, 0.3), 0.3)
    return chain.eigenspaces(model)


def literal(family, rho: float, n: int, d: int) -> np.ndarray:
    runs = [Configuration(float(c), family(float(rate)), rho) for c, rate in zip(CLIPS, RATES)]
    return chain.risk_at(spaces(d), runs, n, [1.0], 1, rng=np.random.default_rng(4))[:, 0, 0]


@each("rho", [0.1, np.inf])
@each("name", SHAPES)
@each(("n", "d"), [(1, 3), (300, 20), (50, 1)])
def test_a_place_of_the_grid_is_the_chain(name, rho, n, d):
    found = chain.released_risks(spaces(d), SHAPES[name](1.0), CLIPS, RATES, rho, n, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found, literal(SHAPES[name], rho, n, d), rtol=1e-10)


def test_chunks_do_not_matter(monkeypatch):
    def run() -> np.ndarray:
        return chain.released_risks(
            spaces(20), SHAPES["half"](1.0), CLIPS, RATES, 0.1, 100, rng=np.random.default_rng(4)
        )

    whole = run()
    monkeypatch.setattr(chain, "CHUNK_STEPS", 7)
    np.testing.assert_array_equal(run(), whole)


def test_other_noise_is_told_apart():
    """With ρ larger by one part in a hundred the risks differ."""
    found = chain.released_risks(
        spaces(20), SHAPES["half"](1.0), CLIPS, RATES, 0.101, 300, rng=np.random.default_rng(4)
    )
    assert not np.allclose(found, literal(SHAPES["half"], 0.1, 300, 20), rtol=1e-4)


def test_several_eigenspaces_are_refused():
    two = chain.eigenspaces(spectrum.RegressionModel(spectrum.Spectrum([0.5, 1.5]), np.ones(2), 0.3))
    with pytest.raises(ValueError, match="spaces must be a single eigenspace, got 2"):
        chain.released_risks(two, Constant(1.0), CLIPS, RATES, 1.0, 10, rng=np.random.default_rng(4))
