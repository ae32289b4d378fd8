from costofprivacy.experiments.noisyhead.dp_sgd import figures, page
from costofprivacy.experiments.noisyhead.dp_sgd.cell import ALGORITHM, NOISYHEAD, ZERO
from costofprivacy.judging.prose import compact
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/dp-sgd")
FIGURE = TABLES["figure-5"]


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "with the stated noise" in found
    dear = change(FIGURE, "excess_risk", lambda r: r["excess_risk"] / 1e3, FIGURE["method"] == ZERO)
    assert opening_of(page)(TABLES | {"figure-5": dear}) != found


def test_the_answer_has_both_settings() -> None:
    for setting in ("published", "corrected"):
        rows = FIGURE["setting"] == setting
        zero = FIGURE[rows & (FIGURE["method"] == ZERO)].set_index("N")["excess_risk"]
        own = FIGURE[rows & (FIGURE["method"] == NOISYHEAD)]
        least = (own["excess_risk"] / own["N"].map(zero)).min()
        assert compact(least) in opening_of(page)(TABLES)
        half = change(FIGURE, "excess_risk", lambda r: r["excess_risk"] / 2, rows & (FIGURE["method"] == NOISYHEAD))
        assert compact(least / 2) in opening_of(page)(TABLES | {"figure-5": half})


def test_captions_follow_their_tables() -> None:
    far = change(FIGURE, "excess_risk", lambda r: 1e6 * r["excess_risk"], FIGURE["account"] == ALGORITHM)
    before, after = (figures.draw_figure_5(figure, TABLES["opacus"]).caption for figure in (FIGURE, far))
    assert before != after
    opacus = change(TABLES["opacus"], "deviation", lambda r: 33.0)
    assert "within 33 standard errors" in figures.draw_figure_5(FIGURE, opacus).caption
    records = change(TABLES["records"], "ratio", lambda r: 7.0)
    assert "for each prompt it is 7;" in figures.draw_records(records).caption


def test_the_page_says_where_opacus_ran() -> None:
    found = page.origin(TABLES)
    count = len(TABLES["opacus-runs"])
    assert f"Of its {count} runs here, {count} are read from the committed run and 0 were measured" in found
    assert "opacus 1.6.0" in found


def test_without_published_numbers_the_page_says_so() -> None:
    assert "no published numbers" in page.published_gap(TABLES["comparison"].head(0))
    assert "% of the published" in page.published_gap(TABLES["comparison"])
