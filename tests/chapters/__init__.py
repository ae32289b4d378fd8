"""Experiments, their judges and their pages."""

import pytest

pytest.register_assert_rewrite("tests.chapters.reading")
