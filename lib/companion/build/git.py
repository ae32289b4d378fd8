"""Git, asked about a folder's own repository."""

import os
import subprocess
from pathlib import Path


def git(root: Path, *words: str) -> bytes:
    """What git prints about the repository in a folder.

    Variables such as ``GIT_DIR``, by which hooks and scripts name a repository of their own, are left out.

    Raises:
        FileNotFoundError: if git is not installed.
        subprocess.CalledProcessError: if git fails.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(["git", "-C", str(root), *words], env=own, capture_output=True, check=True).stdout
