"""The book's repository: where it is, what links there, and which edition of it a rendered page is.

The address comes from the workflow that runs (``GITHUB_SERVER_URL``, ``GITHUB_REPOSITORY``), or else from the clone's
remote. A folder, this machine or a name that only one machine knows is no address. Without one, pages link nowhere.
"""

import html
import ipaddress
import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from companion.build.project import rewrite

SITE = "COSTOFPRIVACY_SITE"  # in the environment: where the pages will stand, if that is known
BRANCH = "main"
FORM = re.compile(  # https://host:port/owner/name.git or git@host:owner/name.git
    r"(?:(?P<scheme>https?|ssh|git|git\+ssh)://(?:[^@/\s]*@)?(?P<host>[^:/@\s]+)(?P<port>:\d+)?/|"
    r"(?:[^@/:\s]+@)?(?P<short>[^:/@\s]+):)(?P<path>[\w.~-]+(?:/[\w.~-]+)+)/?"
)
FOOT = re.compile(
    r'(<p class="claim-foot">(?:(?!</p>).)*?<a href="#(?P<anchor>[^"]+)">this card</a>(?:(?!</p>).)*)(</p>)'
)
EDITION = re.compile(r'(<p class="edition">)[^<]*(</p>)')  # an empty place in the footer of each page


def git(root: Path, *words: str) -> str:
    """What git says of the repository in a folder, whatever ``GIT_DIR`` names; empty where there is none."""
    if not (root / ".git").exists():
        return ""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(["git", "-C", str(root), *words], env=own, capture_output=True, check=True)
        return done.stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
        return ""


def address(root: Path, environment: Mapping[str, str] | None = None) -> str:
    """The repository's address, such as ``https://github.com/owner/name``; empty where there is none."""
    given = os.environ if environment is None else environment
    server, name = given.get("GITHUB_SERVER_URL", ""), given.get("GITHUB_REPOSITORY", "")
    if server and name and (found := public(f"{server.rstrip('/')}/{name}")):
        return found
    return public(git(root, "remote", "get-url", "origin"))


def public(remote: str) -> str:
    """A remote's address for a browser, without user and password; empty for one that others cannot reach."""
    found = FORM.fullmatch(remote.strip())
    if found is None or ".." in found["path"].split("/"):
        return ""
    host = (found["host"] or found["short"]).lower()
    try:
        known = ipaddress.ip_address(host).is_global
    except ValueError:
        known = "." in host.strip(".") and not host.endswith((".local", ".localhost", ".internal", ".test"))
    web = found["scheme"] in ("http", "https")
    scheme, port = (found["scheme"], found["port"] or "") if web else ("https", "")
    return f"{scheme}://{host}{port}/{found['path'].removesuffix('.git')}" if known else ""


def disputable(page: str, address: str, claims: Mapping[str, str]) -> str:
    """A page each of whose cards, named by their anchors, has a link to dispute it, if there is an address."""

    def linked(foot: re.Match[str]) -> str:
        claim = claims.get(foot["anchor"])
        if claim is None:
            return foot.group()
        title = quote(f"Verdict on {claim}", safe="")
        body = quote(f"Claim: {claim}\n\nWhat I think is wrong:\n\nWhy:\n", safe="")
        link = f"{address}/issues/new?title={title}&body={body}"
        return f'{foot[1]} · <a href="{html.escape(link)}">dispute this</a>{foot[3]}'

    return FOOT.sub(linked, page) if address else page


def write_addresses(root: Path, config: Path) -> None:
    """Write the known addresses of repository and site into a staged ``_config.yml``, where it names none."""
    found, site = address(root), os.environ.get(SITE, "")
    if not config.is_file() or not (found or site):
        return
    settings: dict[str, Any] = yaml.safe_load(config.read_text("utf-8"))
    named, pages = settings.get("repository") or {}, settings.get("html") or {}
    if (not found or named.get("url")) and (not site or pages.get("baseurl")):
        return
    if found and not named.get("url"):
        settings["repository"] = {"branch": BRANCH} | named | {"url": found}
    if site and not pages.get("baseurl"):
        settings["html"] = pages | {"baseurl": site}
    config.write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), "utf-8")


def edition(root: Path) -> str:
    """The version in ``pyproject.toml`` and the commit, if there is one; empty for a project without a version."""
    try:
        version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    except (OSError, KeyError):
        return ""
    commit = git(root, "describe", "--always", "--exclude=*", "--dirty= and changes since")
    return f"Version {version}, commit {commit}" if commit else f"Version {version}"


def write_edition(html: Path, edition: str) -> None:
    """Say in the footer of each rendered page which edition it is: a commit that changes no page renders none."""
    rewrite(html.rglob("*.html"), lambda text: EDITION.sub(rf"\g<1>{edition}\g<2>", text))
