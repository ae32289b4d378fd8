from companion.build import listing
from companion.build.project import Project


def test_the_chapters_are_listed_with_question_claims_and_time(project: Project) -> None:
    (project.book / "budgets.yml").write_text("part/first-one: 12\n")
    assert list(listing.chapter_lines(project)) == [
        "part/first-one     1 claims   12 s  What is it?",
        "ledger          every claim    0 s  ",
    ]
