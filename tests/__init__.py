"""The tests; no folder below is a package, but `attacks`, which can be run.

This one is, since some installed package might bring a `tests` of its own.
"""

import pytest

pytest.register_assert_rewrite("tests.chapters.reading")
