"""Private linear regression, judged: the library behind *The Cost of Privacy*."""

from importlib.metadata import version

__version__ = version(__name__)  # it stands in pyproject.toml: a new version is no new measurement
