"""Work models of four chapters of NoisyHead: they follow the sizes; the cheapest is no dearer than the scheme."""

from importlib import import_module

import pytest

from costofprivacy.declaration import Parameters
from costofprivacy.running.work import Work

CHAPTERS = ("early_stopping", "rivals", "cost_of_privacy", "mechanism")


def counted(chapter: str, **parameters: object) -> tuple[Work, Work]:
    work = import_module(f"costofprivacy.experiments.noisyhead.{chapter}.work")
    experiment: Parameters = work.Experiment(**parameters)
    return work.scheme(experiment), work.cheapest(experiment)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_cheapest_scheme_needs_no_more(chapter: str) -> None:
    scheme, cheapest = counted(chapter)
    assert 0 < cheapest.normals <= scheme.normals
    assert 0 < cheapest.flops <= scheme.flops
    assert 0 < cheapest.loops <= scheme.loops


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_work_grows_with_the_trials(chapter: str) -> None:
    """In proportion, but for what no trial needs."""
    few, more, most = (counted(chapter, trials=trials)[0] for trials in (10, 20, 30))
    assert more.normals > few.normals
    assert most.normals - more.normals == pytest.approx(more.normals - few.normals)
    assert most.flops - more.flops == pytest.approx(more.flops - few.flops)


def test_figure_3_draws_the_prompts_the_start_and_each_steps_noise() -> None:
    """By hand: N = 36, D = L = 6, T = 5, 10 test prompts, 3 trials."""
    scheme, _ = counted("early_stopping", N=36, T=(2, 5), test_prompts=10, trials=3)
    assert scheme.normals == 3 * (46 * (2 * 6 + 6) + 6 * 36)


def test_each_audited_release_is_one_number() -> None:
    few, more = (counted("rivals", releases=releases)[0] for releases in (1000, 2000))
    assert more.normals - few.normals == 2 * 2 * 2 * 1000
