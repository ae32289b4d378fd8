"""Where a run's time goes."""

import pstats
from pathlib import Path

import pytest

from costofprivacy.noisyhead import head
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.running import profiling


def test_a_profile_says_which_of_our_functions_took_the_time(tmp_path: Path) -> None:
    import numpy as np

    def call() -> int:
        for seed in range(50):
            head.moments(head.statistics(sample(PromptModel(4, 20), 200, rng=np.random.default_rng(seed))))
        return 7

    assert profiling.profiled(call, tmp_path / "there") == 7
    text = (tmp_path / "there" / profiling.TEXT).read_text()
    assert "noisyhead.head.moments" in text
    assert "noisyhead.prompts.sample" in text
    assert "costofprivacy\n" in text.split("our functions")[0]
    assert pstats.Stats(str(tmp_path / "there" / profiling.DATA)).total_calls > 150


def test_a_failing_run_leaves_no_profile(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        profiling.profiled(lambda: 1 / 0, tmp_path)
    assert not list(tmp_path.iterdir())
