"""Private linear regression, judged: the library behind *The Cost of Privacy*."""

__version__ = "0.2.0"
