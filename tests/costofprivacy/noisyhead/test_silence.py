"""What NumPy has to say of private numbers is not heard, whatever its error state is."""

import numpy as np

from costofprivacy.noisyhead import head, per_prompt
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import sums


def test_tiny_numbers_of_a_prompt_end_nothing() -> None:
    """As it was found: under ``np.seterr(all="raise")`` a prompt of tiny numbers ended a run, where others did not."""
    size = np.full((3, 4, 2), 1e-100)
    prompts, weights = Prompts(size, size[..., 0], np.zeros((3, 2))), np.full((1, 2, 2), 1e-100)
    tiny = np.full((3, 2), 1e-200)
    with np.errstate(all="raise"):
        assert not per_prompt.linear_gradient(prompts, [per_prompt.Plan(1, 1.0, 0.1, 1.0)])(weights).any()
        assert not head.Statistics(tiny, tiny, tiny[:, 0]).Z.any()
        assert not head.Statistics(tiny, tiny, tiny[:, 0]).norm.all()
        assert not sums.product(tiny, tiny).any()
