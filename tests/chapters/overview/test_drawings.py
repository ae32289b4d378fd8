"""The drawings of ideas show what they say: each number in their words is computed from what is drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.overview.drawings import clipping, head, schedule
from companion.judging.prose import compact
from costofprivacy.dpgd.schedule import privacy_parameter
from costofprivacy.noisyhead.head import LinearAttentionHead, predict_by_attention
from costofprivacy.noisyhead.prompts import embed


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


@pytest.mark.parametrize("clip", [0.3, 1.0, 3.0])
def test_clipping_shortens_what_is_outside_the_ball_and_leaves_the_rest(clip: float) -> None:
    raw, clipped, norm = clipping.gradients(clip=clip)
    before, after = (np.linalg.norm(vectors, axis=1) for vectors in (raw, clipped))
    np.testing.assert_allclose(after, np.minimum(before, norm), rtol=1e-12)
    np.testing.assert_allclose(raw * after[:, None], clipped * before[:, None], rtol=1e-12, atol=1e-12)


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
