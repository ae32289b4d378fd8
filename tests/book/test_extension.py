import re
from types import SimpleNamespace

import pandas as pd
import pytest

from costofprivacy.book import extension

ADDRESS = "https://example.org/book"
TABLE = "<table><thead><tr><th></th><th>a</th></tr></thead><tbody><tr><th>b</th><td>1</td></tr></tbody></table>"


def test_without_a_repository_there_are_no_buttons() -> None:
    options = {"repository_url": "", "launch_buttons": {"thebe": False}, "use_issues_button": False}
    assert extension.buttons(options) == options


def test_the_repository_s_address_brings_every_button() -> None:
    found = extension.buttons({"repository_url": ADDRESS, "launch_buttons": {"thebe": False}})
    assert all(found[name] for name in extension.BUTTONS)
    assert found["repository_provider"] == "github"
    assert set(found["launch_buttons"]) == {"thebe"}


def test_only_what_is_at_github_is_launched_elsewhere() -> None:
    found = extension.buttons({"repository_url": "https://github.com/a/b", "launch_buttons": {"thebe": False}})
    assert set(found["launch_buttons"]) == {"thebe", "binderhub_url", "colab_url"}


def test_the_theme_gets_no_button_that_it_does_not_know() -> None:
    found = extension.buttons({"repository_url": "https://bitbucket.org/a/b"})
    assert (found["repository_provider"], found["use_issues_button"]) == ("bitbucket", False)


def test_headers_say_what_they_head() -> None:
    assert extension.audible(TABLE) == (
        '<table><thead><tr><td></td><th scope="col">a</th></tr></thead>'
        '<tbody><tr><th scope="row">b</th><td>1</td></tr></tbody></table>'
    )


def test_a_fold_of_the_contents_has_a_name() -> None:
    html = '<summary><span class="toctree-toggle"></span></summary><summary>Proof</summary>'
    assert extension.audible(html).startswith('<summary aria-label="the pages below"><span')
    assert extension.audible(html).endswith("<summary>Proof</summary>")


def test_a_list_without_items_is_not_called_one() -> None:
    assert extension.audible('<div role="list" class="citation-list">') == '<div class="citation-list">'


def test_the_names_of_an_index_stand_in_the_row_of_the_columns() -> None:
    told = pd.DataFrame({"use": ["x"], "lost": ["1"]}, index=pd.MultiIndex.from_tuples([("a", 1)], names=["data", "n"]))
    head = extension.HEAD.search(told.to_html())
    assert head is not None
    found = extension.one_row(head.group())
    assert re.findall(r"<th>(.*?)</th>", found) == ["data", "n", "use", "lost"]
    assert (found.count("<tr"), found[-8:]) == (1, "</thead>")
    assert extension.audible(told.to_html()).count('<th scope="col">') == 4
    grouped = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_product([["a"], ["b", "c"]])).to_html()
    for kept in (grouped, told.reset_index().to_html(), told.rename_axis(columns="kind").to_html()):
        head = extension.HEAD.search(kept)
        assert head is not None
        assert extension.one_row(head.group()) == head.group()


@pytest.mark.parametrize("html", ['<table><tr><th scope="colgroup">a</th></tr></table>', "<th>outside</th>"])
def test_what_is_said_already_or_no_table_stays(html: str) -> None:
    assert extension.audible(html) == html


@pytest.mark.parametrize(("body", "typeset"), [('<summary><span class="math x">', True), ("<p>x</p>", False)])
def test_a_page_whose_formulas_stand_in_html_alone_has_them_typeset(body: str, typeset: bool) -> None:
    data: dict[str, dict[str, bool]] = {"has_equations": {}}
    app = SimpleNamespace(env=SimpleNamespace(get_domain=lambda _: SimpleNamespace(data=data)))
    extension._typeset(app, "page", "", {"body": body}, None)
    assert data["has_equations"] == ({"page": True} if typeset else {})


def test_every_page_is_written_again_where_a_title_or_a_label_is_another() -> None:
    title = SimpleNamespace(astext=lambda: "Risk")
    domains = {"std": {"labels": {}, "anonlabels": {}}, "math": {"objects": {}}}
    env = SimpleNamespace(titles={"a": title}, domaindata=domains, toctree_includes={}, all_docs=["a", "b"])

    def written() -> list[str]:
        return list(extension._write_all_where_names_changed(None, env))  # type: ignore[arg-type]

    assert written() == written() == []
    env.titles["a"] = SimpleNamespace(astext=lambda: "Its risk")
    assert written() == ["a", "b"]
    assert written() == []
    domains["std"]["labels"]["bound"] = ("b", "bound", "The bound")
    assert written() == ["a", "b"]
