import pytest

from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile, every_iterate, last_iterate

CLAIMED = ApproximateDP(1.0, 1e-5)
SPENDS_ALL = CLAIMED.to_gaussian()


def profile(every: GaussianDP, last: GaussianDP = GaussianDP(0.01)) -> PrivacyProfile:  # noqa: B008
    return PrivacyProfile(claimed=CLAIMED, every_iterate=every, last_iterate=last)


def test_the_three_epsilons_stand_at_the_claimed_delta() -> None:
    step = GaussianDP(0.1)
    table = profile(every_iterate(step, 44), last_iterate(step, 0.5, 44)).epsilons()
    assert table.name == "epsilon"
    assert list(table.index) == ["claimed", "every iterate", "last iterate"]
    assert table["claimed"] == 1.0
    assert table["every iterate"] == every_iterate(step, 44).epsilon(1e-5)
    assert table["last iterate"] == last_iterate(step, 0.5, 44).epsilon(1e-5)
    assert table["last iterate"] < table["every iterate"]


@pytest.mark.parametrize(("factor", "honoured"), [(0.01, True), (0.999, True), (1.001, False), (10.0, False)])
def test_a_claim_is_honoured_up_to_what_it_allows(factor: float, honoured: bool) -> None:
    assert profile(GaussianDP(factor * SPENDS_ALL.mu)).honours_claim() is honoured


def test_the_last_iterate_honours_no_claim_about_all() -> None:
    assert not profile(GaussianDP(10.0), GaussianDP(1e-3)).honours_claim()
    assert profile(GaussianDP(1e-3), GaussianDP(10.0)).honours_claim()
