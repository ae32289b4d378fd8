from companion.build import extension

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


def test_headers_say_what_they_head() -> None:
    assert extension.audible(TABLE) == (
        '<table><thead><tr><td></td><th scope="col">a</th></tr></thead>'
        '<tbody><tr><th scope="row">b</th><td>1</td></tr></tbody></table>'
    )
