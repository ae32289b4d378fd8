r"""What Algorithm 1 releases after many steps, drawn at once instead of step by step.

Where :math:`\Pi_R` is idle the update is linear. In the eigenbasis of the Gram matrix H each coordinate is a chain

.. math:: g_{t+1} = (1 - \eta_0(2\lambda + h))\,g_t + \eta_0 b + s\,\xi_t,

so that, given the data, its last value is Gaussian. Its mean is that of descent without noise, and its variance is
:math:`s^2\sum_{t<T}(1 - \eta_0(2\lambda + h))^{2t}`. Millions of steps cost what one does.
"""

from __future__ import annotations

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import descent_path, refuse_unbounded


def draw(data: Moments, hyper: Hyperparameters, noise_std: float, *, rng: np.random.Generator) -> np.ndarray:
    """Γ^T of Algorithm 1 (arXiv:2504.16000v2) from Γ⁰ = 0, in law.

    Guarantee: that of `pretraining.pretrain`, with its conditions, where its projection is idle; as there, moments that
    prompts within C and G cannot have are refused where there is noise.

    Assumes: the projection onto the ball of radius R is idle. A released norm well below R says that it was.

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
