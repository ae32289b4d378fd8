from html.parser import HTMLParser

import pytest

from costofprivacy.book import summary

PAGE = """<h1>Title</h1><div class="admonition note">
<p>A note that is long enough to be taken for the page's words.</p></div>
<p>Theorem 1 of a paper with a rather long title.</p><div><p><strong>Is it <em>so</em> at
<span class="math">\\(\\varepsilon = 1\\)</span>?</strong></p>
<p>It is, at &lt; 5&nbsp;% <a href="a.html">here</a>.</p></div>"""


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str | None, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.found[given.get("name") or given.get("property")] = given["content"]


def test_a_page_says_its_question_and_its_answer() -> None:
    assert summary.of(PAGE) == "Is it so at ε= 1? It is, at < 5 % here."


def test_a_page_without_a_question_says_its_first_words() -> None:
    assert summary.of(PAGE.replace("?</strong>", "</strong>")) == "Theorem 1 of a paper with a rather long title."
    assert summary.of("<h1>Title</h1><p>Short.</p>") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 300, "a" * 300),
        (("a" * 99 + ". ") * 4, ("a" * 99 + ". " + "a" * 99 + ".")),
        ("word " * 100, "word " * 58 + "word…"),
    ],
)
def test_what_is_too_long_ends_with_a_sentence_or_a_word(text: str, expected: str) -> None:
    assert summary.shortened(text) == expected
    assert len(expected) <= summary.LONGEST


def test_the_tags_say_so_whatever_letters_it_has() -> None:
    told = 'a "quoted" <word> & more'
    found = Tags(summary.tags("A <em>title</em>", told, "The book", "", "book/page")).found
    assert found == {
        "description": told,
        "og:title": "A title",
        "og:type": "website",
        "og:site_name": "The book",
        "og:description": told,
    }


def test_picture_and_address_are_named_where_the_site_s_address_is_known() -> None:
    found = Tags(summary.tags("A", "b", "c", "https://example.org/book/", "book/page")).found
    assert found["og:url"] == "https://example.org/book/book/page.html"
    assert found["og:image"] == f"https://example.org/book/{summary.IMAGE}"
