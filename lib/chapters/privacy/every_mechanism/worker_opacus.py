"""What is called in the extra environment `opacus`: Opacus and torch are imported inside functions, the package never.

See `companion.running.extras`.
"""

from __future__ import annotations

import warnings

import numpy as np


def descend(
    x: np.ndarray, y: np.ndarray, *, epsilon: float, delta: float, rate: float, steps: int, releases: int, seed: int
) -> dict[str, np.ndarray]:
    """Weights of a linear model with one feature after DP-SGD by Opacus on Poisson samples, from 0.

    Args:
        x, y: data sets of n records, shape (R, n). epsilon, delta: by Opacus's own accountant; neighbours add or remove
            a record. rate: sampling probability. steps: T. releases: of each data set. seed: of samples and noise.

    Returns:
        ``scores`` of shape (R, releases); ``stated``, the noise multiplier, of shape (1,).
    """
    import torch
    from opacus import GradSampleModule
    from opacus.accountants.utils import get_noise_multiplier
    from opacus.optimizers import DPOptimizer

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    told = {"target_epsilon": epsilon, "target_delta": delta, "sample_rate": rate, "steps": steps}
    multiplier = get_noise_multiplier(**told, accountant="prv", epsilon_tolerance=epsilon / 1000)
    random = torch.Generator().manual_seed(seed)
    scores = np.zeros((len(x), releases))
    settings = {"noise_multiplier": multiplier, "max_grad_norm": 1.0, "generator": random, "loss_reduction": "sum"}
    layer = torch.nn.Linear(1, 1, bias=False)
    model = GradSampleModule(layer, loss_reduction="sum")
    for k in range(len(x)):
        inputs, targets = torch.tensor(x[k][:, None]), torch.tensor(y[k])
        optimiser = DPOptimizer(
            torch.optim.SGD(model.parameters(), lr=0.5), expected_batch_size=rate * len(targets), **settings
        )
        for r in range(releases):
            torch.nn.init.zeros_(layer.weight)
            for _ in range(steps):
                drawn = torch.rand(len(targets), generator=random) < rate
                optimiser.zero_grad()
                (0.5 * (model(inputs[drawn])[:, 0] - targets[drawn]) ** 2).sum().backward()
                optimiser.step()
            scores[k, r] = layer.weight.item()
    return {"scores": scores, "stated": np.array([multiplier])}
