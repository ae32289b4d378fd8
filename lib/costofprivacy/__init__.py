"""Private linear regression, judged: the library behind *The Cost of Privacy*."""
