"""The page on 20 Newsgroups says what its tables hold."""

import re

from costofprivacy.experiments.noisyhead.newsgroups import figures, page
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/newsgroups")


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "No private head is significantly better than always predicting the mean length" in found
    assert "falls until $T = 100$" in found
    better = TABLES["test-error"].assign(gain=0.5, gain_error=0.01)
    assert re.search(
        r"In (\d+) of \1 settings a private head is significantly", opening_of(page)(TABLES | {"test-error": better})
    )
    rising = TABLES["shapes"].assign(last=9 * TABLES["shapes"]["least"], rise=9.0)
    assert "also rises in the end" in opening_of(page)(TABLES | {"shapes": rising})
    assert "On digits" in opening_of(page)(TABLES | {"data": TABLES["data"].assign(name="digits")})


def test_captions_follow_their_tables() -> None:
    falling = change(TABLES["figure-6"], "excess_risk", lambda r: 0.5 / r["T"], TABLES["figure-6"]["T"] > 0)
    assert "falls from 0.5 to 0.005" in figures.draw_figure_6(falling, TABLES["test-error"]).caption
    assert "falls from 0.5" not in figures.draw_figure_6(TABLES["figure-6"], TABLES["test-error"]).caption
    cheap = TABLES["guarantee"].assign(last_iterate=0.1)
    assert "never above the claim" in figures.draw_guarantee(cheap).caption
    assert "never above the claim" not in figures.draw_guarantee(TABLES["guarantee"]).caption
    flat = TABLES["noise-parts"].assign(step_variance=1.0)
    assert "1 (a step, Algorithm 1)" in figures.draw_noise(flat).caption
