from costofprivacy.chapters import LONGEST_ANSWER
from costofprivacy.experiments.dpgd.lower_bound import figures, page
from costofprivacy.judging.headlines import words
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/lower-bound")


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "stays bounded on every path" in found
    bounds = TABLES["bounds"]
    grown = change(bounds, "harmonic", lambda r: r["lower"] * r["gamma"] ** -0.3)
    grown = change(grown, "two_stage", lambda r: 2 * r["harmonic"])
    other = opening_of(page)(TABLES | {"bounds": change(grown, "factor", lambda r: r["harmonic"] / r["lower"])})
    assert "keeps growing on some path" in other
    assert "has no less risk" in other
    assert words(other) <= LONGEST_ANSWER


def test_captions_follow_their_tables() -> None:
    bounds = TABLES["bounds"]
    assert (
        "at most 1000,"
        in figures.draw_bounds(change(bounds, "factor", lambda r: 1000.0, bounds["path"] == "along rho")).caption
    )
    attack = change(TABLES["attack"], "certified", lambda r: 2.5)
    assert "shows 2.5" in figures.draw_attack(attack).caption
    records = change(TABLES["records"], "value", lambda r: r["most"] / 4)
    assert "stays near 25 %" in figures.draw_records(records).caption
