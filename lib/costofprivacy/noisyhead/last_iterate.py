r"""What Algorithm 1 releases after many steps, simulated at once instead of step by step. It is no release.

Where :math:`\Pi_R` is idle the update is linear. In the eigenbasis of the Gram matrix H each coordinate is a chain

.. math:: g_{t+1} = (1 - \eta_0(2\lambda + h))\,g_t + \eta_0 b + s\,\xi_t,

so that, given the data, its last value is Gaussian. Its mean is that of descent without noise, and its variance is
:math:`s^2\sum_{t<T}(1 - \eta_0(2\lambda + h))^{2t}`. Millions of steps cost what one does.

This is for experiments on data that need no protection. Whether :math:`\Pi_R` is idle depends on the data, and where it
is not, the law that is drawn from is another than that of Algorithm 1: nobody has bounded what it tells of a prompt.
What may be released is made by `pretraining.release`.
"""

from __future__ import annotations

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import descent_path, refuse_unbounded


def simulate(data: Moments, hyper: Hyperparameters, noise_std: float, *, rng: np.random.Generator) -> np.ndarray:
    """Simulate Γ^T of Algorithm 1 (arXiv:2504.16000v2) from Γ⁰ = 0: its law where the projection is idle.

    Not for release: whether the projection is idle depends on the data, so that nothing is promised to a prompt.

    Assumes: the projection onto the ball of radius R is idle. A norm well below R says that it was.

    Args:
        data: moments of the clipped and projected statistics. hyper: C, G, λ, η₀ and T; R is not used.
        noise_std: standard deviation of an entry of z_t, at least 0.
        rng: source of the noise; advanced by D² normals.

    Returns:
        shape (D, D).

    Raises:
        ValueError: if the standard deviation is negative, or moments that noise should protect cannot be those of
            prompts within C and G.
    """
    std = _validate.nonnegative("noise_std", noise_std)
    if std:
        refuse_unbounded(data, hyper.clip_norm, hyper.feature_bound)
    moments = in_eigenbasis(data)
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + moments.eigenvalues)) ** 2
    spread = std * np.sqrt((1 - square**hyper.steps) / (1 - square))
    noise = spread * rng.standard_normal(len(spread))
    return descent_path(moments, hyper, [hyper.steps])[0] + moments.matrices(noise)[0]
