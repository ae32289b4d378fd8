"""What is called in the extra environment `opacus`: Opacus and torch are imported inside functions, the package never.

See `companion.running.extras`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def train(
    query: np.ndarray,
    context: np.ndarray,
    response: np.ndarray,
    seeds: np.ndarray,
    *,
    epsilon: float,
    delta: float,
    batch: float,
    steps: int,
    clip_norm: float,
    learning_rate: float,
    penalty: float,
    in_loss: bool,
) -> dict[str, Any]:
    """DP-SGD by Opacus on the loss (2.6) of arXiv:2504.16000v2, once for each data set.

    Args:
        query: of R data sets of N prompts, shape (R, N, D). context: likewise. response: shape (R, N).
        seeds: of samples and noise, shape (R,).
        epsilon: by Opacus's own accountant (PRV; neighbours add or remove a record); infinite for no noise.
        delta: δ. batch: prompts in a step on average. steps: T. clip_norm: Opacus's ``max_grad_norm``.
        learning_rate: η₀. penalty: λ.
        in_loss: whether λ‖Γ‖² is added to the loss, instead of 2λ as the optimiser's weight decay.

    Returns:
        ``weights`` of shape (R, D²), ``noise_multiplier`` and ``drawn`` (prompts in a step, their mean), shape (R,),
        ``rows`` (gradients clipped for each drawn prompt).
    """
    import torch
    from opacus.accountants.utils import get_noise_multiplier

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    rate = batch / query.shape[1]
    multiplier = 0.0
    if np.isfinite(epsilon):
        multiplier = get_noise_multiplier(
            target_epsilon=epsilon,
            target_delta=delta,
            sample_rate=rate,
            steps=steps,
            accountant="prv",
            epsilon_tolerance=epsilon / 1000,
        )
    told = {"multiplier": multiplier, "clip_norm": clip_norm, "rate": rate, "steps": steps}
    told |= {"learning_rate": learning_rate, "penalty": penalty, "in_loss": in_loss}
    runs = [_run(x, m, y, int(seed), **told) for x, m, y, seed in zip(query, context, response, seeds)]
    weights, drawn, rows = map(np.array, zip(*runs))
    return {"weights": weights, "drawn": drawn, "rows": rows, "noise_multiplier": np.full(len(runs), multiplier)}


def _run(
    query: np.ndarray,
    context: np.ndarray,
    response: np.ndarray,
    seed: int,
    *,
    multiplier: float,
    clip_norm: float,
    rate: float,
    steps: int,
    learning_rate: float,
    penalty: float,
    in_loss: bool,
) -> tuple[np.ndarray, float, float]:
    """Γ^T as a vector, the mean number of prompts in a step, and of gradients for each of them."""
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    features, size = (query[:, :, None] * context[:, None, :]).reshape(len(response), -1), rate * len(response)
    inputs, targets = torch.tensor(features), torch.tensor(response)
    random = torch.Generator().manual_seed(seed)
    # The rate is said: make_private would take 1/len(loader), which makes the expected batch 250.
    sampler = UniformWithReplacementSampler(num_samples=len(targets), sample_rate=rate, generator=random, steps=steps)
    model = torch.nn.Linear(features.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    head = GradSampleModule(model, loss_reduction="mean")
    decay = 0.0 if in_loss else 2 * penalty
    sgd = torch.optim.SGD(head.parameters(), lr=learning_rate, weight_decay=decay)
    settings = {"noise_multiplier": multiplier, "max_grad_norm": clip_norm, "generator": random}
    optimiser = DPOptimizer(sgd, expected_batch_size=size, loss_reduction="mean", **settings)
    drawn = rows = 0
    for indices in sampler:
        optimiser.zero_grad()
        loss = ((head(inputs[indices])[:, 0] - targets[indices]) ** 2).mean()
        if in_loss:
            loss = loss + penalty * (model.weight**2).sum()
        loss.backward()
        drawn, rows = drawn + len(indices), rows + len(model.weight.grad_sample)
        optimiser.step()
    return model.weight.detach().numpy()[0].copy(), drawn / steps, rows / drawn
