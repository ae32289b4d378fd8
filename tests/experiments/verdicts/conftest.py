"""The tables that a chapter's verdicts are tried on."""

import pytest

from costofprivacy.montecarlo import Runner
from tests.experiments.verdicts.machinery import Tables


@pytest.fixture(scope="module")
def tables(request: pytest.FixtureRequest) -> Tables:
    """A small run of the chapter, by the module's ``EXPERIMENT``."""
    return request.module.EXPERIMENT.run(Runner(workers=2))
