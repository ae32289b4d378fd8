"""The drawings of ideas show what they say: each number in their words is computed from what is drawn."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costofprivacy.dpgd.schedule import privacy_parameter
from costofprivacy.judging.prose import compact
from costofprivacy.noisyhead.head import LinearAttentionHead, predict_by_attention
from costofprivacy.noisyhead.prompts import embed
from costofprivacy.overview.drawings import clipping, head, schedule
from costofprivacy.showing import plates

DRAWINGS = {"head": head, "clipping": clipping, "schedule": schedule}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_the_same_bits_each_time_in_both_forms_and_light(name: str, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        plates.save(DRAWINGS[name].plate(), tmp_path / folder, name)
    for form in (f"{name}.svg", f"{name}.narrow.svg"):
        first, second = ((tmp_path / folder / form).read_bytes() for folder in ("a", "b"))
        assert first == second
        assert len(first) < 150_000
    assert plt.get_fignums() == []


def test_the_head_that_is_drawn_predicts_what_attention_predicts() -> None:
    shown = head.passage()
    D = head.MODEL.D
    value, key = np.zeros((D + 1, D + 1)), np.zeros((D + 1, D + 1))
    value[-1, -1], key[:D, :D] = 1.0, shown.Gamma.T
    attended = predict_by_attention(embed(shown.prompt), LinearAttentionHead(value, key))
    assert shown.prediction == pytest.approx(float(attended[0]), rel=1e-12)
    assert shown.prediction == pytest.approx(float(shown.prompt.x[0, -1] @ shown.task), rel=1e-12)
    assert f"predicts {compact(shown.prediction)}" in head.plate().caption
    plt.close("all")


def test_the_narrow_drawing_of_the_head_is_as_wide_as_a_phone() -> None:
    drawn = head.plate()
    assert drawn.narrow is not None
    assert drawn.narrow.get_figwidth() == plates.NARROW_WIDTH
    plt.close("all")


@pytest.mark.parametrize("clip", [0.3, 1.0, 3.0])
def test_clipping_shortens_what_is_outside_the_ball_and_leaves_the_rest(clip: float) -> None:
    raw, clipped, norm = clipping.gradients(clip=clip)
    before, after = (np.linalg.norm(vectors, axis=1) for vectors in (raw, clipped))
    np.testing.assert_allclose(after, np.minimum(before, norm), rtol=1e-12)
    np.testing.assert_allclose(raw * after[:, None], clipped * before[:, None], rtol=1e-12, atol=1e-12)


def test_the_share_of_shortened_gradients_is_counted() -> None:
    raw, _, norm = clipping.gradients()
    cut = int((np.linalg.norm(raw, axis=1) > norm).sum())
    assert 0 < cut < clipping.RECORDS
    drawn = clipping.plate()
    assert drawn.figure.axes[0].get_title() == f"{cut} of {clipping.RECORDS} gradients are shortened"
    assert f"{cut} points lie outside" in drawn.alt
    plt.close("all")


def test_both_schedules_go_equally_far_and_their_noise_keeps_the_budget() -> None:
    courses = {name: schedule.course(of) for name, of in schedule.pair().items()}
    far = [one.rates.mean() for one in courses.values()]
    assert far[0] == pytest.approx(far[1], rel=0.01)
    scale = 2 * schedule.CLIP * np.sqrt(schedule.DIMENSION)
    for one in courses.values():
        spent = privacy_parameter(one.rates / schedule.RECORDS, one.noise / scale)
        assert spent == pytest.approx(schedule.RHO, rel=1e-9)
    assert not courses["constant"].noise[:-1].any()
    assert courses["harmonic"].noise.all()
    assert courses["harmonic"].noise[-1] < courses["constant"].noise[-1]
