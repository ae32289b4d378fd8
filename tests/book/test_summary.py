from companion.build import search_index

PAGE = """<h1>Title</h1><div class="admonition note">
<p>A note that is long enough to be taken for the page's words.</p></div>
<p>Theorem 1 of a paper with a rather long title.</p><div><p><strong>Is it <em>so</em> at
<span class="math">\\(\\varepsilon = 1\\)</span>?</strong></p>
<p>It is, at &lt; 5&nbsp;% <a href="a.html">here</a>.</p></div>"""


def test_a_page_says_its_question_and_its_answer() -> None:
    assert search_index.summary(PAGE) == "Is it so at ε= 1? It is, at < 5 % here."


def test_a_page_without_a_question_says_its_first_words() -> None:
    assert (
        search_index.summary(PAGE.replace("?</strong>", "</strong>"))
        == "Theorem 1 of a paper with a rather long title."
    )
    assert search_index.summary("<h1>Title</h1><p>Short.</p>") == ""
