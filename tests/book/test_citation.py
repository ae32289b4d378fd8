import tomllib
from pathlib import Path

import yaml

from costofprivacy.book import citation

ROOT = Path(__file__).parents[2]


def test_the_citation_file_agrees_with_the_package_and_the_register() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    papers = yaml.safe_load((ROOT / "book" / "claims.yml").read_text("utf-8"))["papers"]
    assert cff["version"] == project["version"]
    assert (cff["title"], cff["authors"]) == (citation.TITLE, [{"name": citation.AUTHOR}])
    assert [each["title"] for each in cff["references"]] == [paper["title"] for paper in papers.values()]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(cff)
    cited = cff["preferred-citation"]
    assert (cited["title"], cited["authors"]) == (cff["title"], cff["authors"])
    assert (cited["year"], cited["version"]) == (citation.YEAR, cff["version"])


def test_the_licences_are_there_and_named_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project["license"] == f"{cff['license']} AND {cff['preferred-citation']['license']}" == "MIT AND CC-BY-4.0"
    texts = [(ROOT / name).read_text("utf-8") for name in project["license-files"]]
    ours = f"Copyright (c) {citation.YEAR} {citation.AUTHOR}"
    assert [ours in text for text in texts] == [True, True, False]
    assert "chebyshevtech" in texts[2]
    code = (ROOT / "LICENSE").read_text("utf-8")
    assert code.startswith("MIT License\n\nCopyright (c) 2026 The Cost of Privacy contributors\n")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(name in readme for name in ("[MIT](LICENSE)", "[CC BY 4.0](LICENSE-TEXT.md)", "chebyshevtech"))


def test_the_entry_names_the_version() -> None:
    assert "note = {Version 7.8.9}" in citation.bibtex("7.8.9")
