import tomllib
from pathlib import Path

import yaml

from chapters.overview import index

ROOT = Path(__file__).parents[2]


def test_the_citation_file_agrees_with_the_package_and_the_register() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    papers = yaml.safe_load((ROOT / "book" / "claims.yml").read_text("utf-8"))["papers"]
    assert cff["version"] == project["version"]
    assert (cff["title"], cff["authors"]) == (index.TITLE, [{"name": index.AUTHOR}])
    assert [each["title"] for each in cff["references"]] == [paper["title"] for paper in papers.values()]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(cff)
    cited = cff["preferred-citation"]
    assert (cited["title"], cited["authors"]) == (cff["title"], cff["authors"])
    assert (cited["year"], cited["version"]) == (index.YEAR, cff["version"])
