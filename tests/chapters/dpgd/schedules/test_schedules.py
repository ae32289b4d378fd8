"""The machinery behind the chapter on learning rate schedules."""

import math

import numpy as np
import pytest

from chapters.dpgd.schedules import measure
from chapters.dpgd.schedules.judge import OUTRUN
from companion.running.montecarlo import generator
from costofprivacy.dpgd import equivalent
from costofprivacy.dpgd.schedule import Constant, Polynomial


def setting(spectrum: str, n: int = 400, d: int = 10) -> measure.Setting:
    return measure.Setting(spectrum, n, d, 0.3, 0.5, 1.0, (0.0, 1.0))


def test_tuned_risks_are_those_of_the_equations_and_least_nearby() -> None:
    here = setting("uniform")
    found = measure.tune(here, rng=generator(0, 0, 0))
    equations = here.equations
    for (rate, _, risk), family in zip(found, (Constant, lambda r: Polynomial(r, 1.0))):
        near = [equivalent.final_risk(equations, family(f * rate), 0.5, 1.0) for f in (0.7, 1.0, 1.4)]
        assert risk == pytest.approx(near[1], rel=1e-4)
        assert near[1] <= min(near)
    assert here.names == ["0", "1", "harmonic"]


def test_simulated_risks_are_near_the_equations() -> None:
    for spectrum in measure.SPECTRA:
        here = setting(spectrum, n=2000, d=50)
        found = measure.tune(here, rng=generator(0, 0, 0))
        run = measure.Run(here, tuple((r, t) for r, t, _ in found[:-1]), 20 if spectrum == "isotropic" else 1)
        risks = np.concatenate([measure.simulate(run, rng=generator(1, run.key, k)) for k in range(2)])
        count = 4 if spectrum == "isotropic" else 3
        assert risks.shape[1] == count
        np.testing.assert_allclose(risks.mean(axis=0), found[:count, 2], rtol=0.6)


def test_paths_and_orders() -> None:
    table = measure.own_choice((1e-4, 1e-2), 0.3, 0.1)
    both = table[table["axis"] == measure.DEGREE]
    assert (both["condition"].diff().dropna() < 0).all()
    assert (both["privacy"].diff().dropna() > 0).all()
    log = np.log(1 / both["gamma"])
    np.testing.assert_allclose(both["alpha"], log**2)
    first = table.iloc[0]
    known = equivalent.final_risk(
        measure.Point("rho = 1", first["gamma"], 0.3, 0.1).equation,
        Polynomial(measure.FACTOR * first["alpha"] * math.log(1 / first["gamma"]) / 0.1, first["alpha"]),
        0.1,
        first["rho"],
    )
    assert first["left"] == pytest.approx(known, rel=1e-4)


def test_theorem_2s_bound_bounds_the_risk() -> None:
    table = measure.theorem_rows(0.3)
    assert (table["risk"] <= table["bound"]).all()
    assert (table["highest"] <= table["ceiling"]).all()


def test_no_family_beats_the_best() -> None:
    place = measure.Place(100.0, 0.3, 0.3, 0.1)
    rows = measure.gain_rows(place, measure.gains(place, rng=generator(0, 0, 0)))
    excess = {str(row["family"]): float(str(row["excess"])) for row in rows}
    assert min(excess.values()) > -1e-3
    assert excess[measure.FLAT_FREE] <= excess[measure.FLAT] + 1e-3 < excess[measure.HARMONIC]


def test_identities_stand() -> None:
    assert measure.solutions()["difference"].max() < 1e-6
    assert measure.lemma_d2()["quadrature"].max() < 1e-9
    table = measure.constants(0.3, 0.5).set_index("constant")
    assert table.loc["margin beside A", "needed"] < 90
    assert 0 <= measure.least_margin(0.6) < 1


@pytest.mark.parametrize(("share", "bounded"), [(0.15, True), (0.3, False)])
def test_proposition_52_breaks_where_private_noise_outruns_clipped_descent(share: float, bounded: bool) -> None:
    """αγ/ρ at a constant below or above `OUTRUN`, inside (5.14): risk over bound falls, or grows like ln²(1/γ)."""
    over = []
    for power in (16, 64):
        log = power * math.log(10)
        gamma, rho = 10.0**-power, 10.0**-power * log**1.5
        row = measure._own("", 1.0, share * rho / gamma, gamma, rho, 0.3, 0.1)
        over.append(float(row["left"]) / float(row["right"]))  # type: ignore[arg-type]
    assert (share < OUTRUN) == bounded
    assert over[1] < over[0] if bounded else over[1] > 8 * over[0]
