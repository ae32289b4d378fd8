"""What is known of the two heads before any prompt is seen: long prompts, prompts of a length, curvature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chapters.noisyhead.softmax_head.names import covariance
from companion import _fits
from companion.streams import generator
from costofprivacy.noisyhead import elliptical, per_prompt, softmax
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.prompts import Prompts

LENGTHS, TEMPERATURES, CURVATURE = 0, 1, 2  # streams
DIFFERENCE = 1e-3  # of A, for a second derivative
PARTS = 10  # of a sample, for its standard error
PATH = (0.0, 0.5, 1.0, 2.0, 4.0)  # A in multiples of the best A


def dimensions(D: Sequence[int]) -> pd.DataFrame:
    """Table ``dimensions``: L times the test error of long prompts, for either head, by dimension.

    Where the softmax head's falls with κ without end, κ is at the end of its search.
    """
    rows = []
    for d in D:
        kappa = softmax.best_kappa(d)
        ours, linear = float(softmax.long_prompt_error(d, kappa)), d - 1.0
        rows.append({"D": d, "kappa": kappa, "softmax": ours, "linear": linear, "ratio": ours / linear})
    return pd.DataFrame(rows)


def _mean(A: np.ndarray, scale: np.ndarray, prompts: Prompts) -> tuple[np.ndarray, np.ndarray]:
    parts = np.array_split(np.arange(len(prompts.y)), PARTS)
    errors = [softmax.prediction_error(A, scale, Prompts(prompts.x[p], prompts.y[p], prompts.w[p])) for p in parts]
    return _fits.mean_and_error(np.array(errors))


def lengths(D: int, L: Sequence[int], conditions: Sequence[float], tokens: int, seed: int) -> pd.DataFrame:
    """Table ``lengths``: test error of the head with A = (κ/D)Σ⁻¹ and v = 1/ρ(κ), simulated and to first order.

    Args:
        D: dimension. L: labelled tokens. conditions: of Σ. tokens: drawn for each length. seed: of the random streams.
    """
    kappa, rows = min(softmax.best_kappa(D), 50.0), []
    scale = np.array([1 / softmax.share(D, kappa)])
    for condition in conditions:
        values = elliptical.spectrum(D, condition)
        A = np.diag(kappa / D / values)[None]
        for length in L:
            prompts = elliptical.sample(
                np.diag(np.sqrt(values)), length, max(PARTS, tokens // length), rng=generator(seed, LENGTHS, length)
            )
            error, spread = _mean(A, scale, prompts)
            first = float(softmax.long_prompt_error(D, kappa)) / length
            linear = elliptical.best_linear(values, length)[1]
            row = {"covariance": covariance(condition), "L": length, "kappa": kappa, "test_error": error[0]}
            rows.append(row | {"standard_error": spread[0], "closed_form": first, "best_linear": linear})
    return pd.DataFrame(rows)


def temperatures(D: int, length: int, kappas: Sequence[float], tokens: int, seed: int) -> pd.DataFrame:
    """Table ``temperatures``: L times the test error against κ, simulated at one length with v = 1/ρ(κ), isotropic."""
    values = elliptical.spectrum(D, 1.0)
    prompts = elliptical.sample(
        np.diag(np.sqrt(values)), length, tokens // length, rng=generator(seed, TEMPERATURES, 0)
    )
    A = np.array(kappas)[:, None, None] * np.eye(D)
    error, spread = _mean(A, 1 / softmax.share(D, np.array(kappas)), prompts)
    closed = softmax.long_prompt_error(D, np.array(kappas))
    told = {"D": D, "L": length, "kappa": kappas, "scaled": length * error, "standard_error": length * spread}
    return pd.DataFrame(told | {"closed_form": closed})


def curvature(D: int, length: int, width: float, scale: float, tokens: int, seed: int) -> pd.DataFrame:
    """Table ``curvature``: least and largest second derivative of ½E(ŷ − y)² in A, along A = s·aI, isotropic.

    The Hessian is that of synthetic prompts with their tasks averaged out, by central differences of the gradient.
    """
    root = np.eye(D) / np.sqrt(D)
    prompts = elliptical.sample(root, length, tokens // length, rng=generator(seed, CURVATURE, 0))
    data, basis, rows = softmax.every_task(prompts), np.eye(D * D).reshape(-1, D, D), []
    free = [Plan(1, np.inf, 1.0, 0.0)] * (2 * D * D)
    gradient = per_prompt.softmax_gradient_of(data, scale, free)
    for share in PATH:
        A = share * width * np.eye(D)
        slopes = gradient(np.concatenate([A + DIFFERENCE * basis, A - DIFFERENCE * basis])).reshape(2, D * D, D * D)
        hessian = D * (slopes[0] - slopes[1]) / (2 * DIFFERENCE)
        eigenvalues = np.linalg.eigvalsh((hessian + hessian.T) / 2)
        rows.append({"multiple": share, "least": eigenvalues[0], "largest": eigenvalues[-1]})
    return pd.DataFrame(rows)
