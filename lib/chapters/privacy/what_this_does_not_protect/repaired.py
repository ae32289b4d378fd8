"""Guarantees of this library that were false, each as an attack: what it gained in 0.7.0, and what it gains now.

A row compares what one replaced record can do with what the guarantee allows it to do. Most need no trials: the record
is fixed, and so is what it does.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array

from chapters.privacy.what_this_does_not_protect import version_0_7_0 as before
from chapters.privacy.what_this_does_not_protect.pair import Pair
from companion.streams import generator
from costofprivacy.dpgd.update import adapted_rates
from costofprivacy.estimators import DPGDRegressor
from costofprivacy.noisyhead import covariance_head, head, private_ridge
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.advantage import of_decisions
from costofprivacy.rivals import objective_perturbation

QUERY, RECORD = 16, 17  # their squares leave the whole numbers of 8 bits: 256, 289
G = 0.8
LARGE, SMALL = 2**17, 60_000  # prompts of a sum in single precision
EPSILON, SHARE, RESPONSE, RECORDS = 2.0, 0.9, 1.1, 450_000  # of objective perturbation, with B = C = 1
NEAR = 0.5  # of the minimum
SECRET = "secret"
STREAM = 5

INTEGERS, STEPS, SINGLE = "whole numbers of 8 bits: a query", "whole numbers of 8 bits: a step", "single precision"
RIDGE = "tokens longer than one"
SOLVER, GENERATOR, MESSAGE = "objective perturbation", "a generator as seed", "an error message"
GAINED = {
    INTEGERS: "length of a projected prompt",
    STEPS: "factor by which a step expands a distance",
    SINGLE: "how far a prompt moves a mean",
    RIDGE: "how far a prompt moves the ridge solution",
    SOLVER: "advantage of telling neighbours apart",
    GENERATOR: "share of the noise that can be subtracted",
    MESSAGE: "cells of the data that it quotes",
}


def table(pair: Pair, trials: int, seed: int) -> pd.DataFrame:
    """What each attack gained in 0.7.0 and gains now, beside what the guarantee allows.

    Columns: ``fault``, ``allowed`` (in the fault's own unit), ``before`` and ``now`` (the same unit), ``before_error``
    and ``now_error`` (standard errors; 0 where nothing is random).

    Args:
        pair: neighbours for attacks on a fit. trials: releases of each data set by the old solver, of which a tenth are
            made by the new one. seed: of all of it.
    """
    rows = [_integers(), _steps(), _single(), _ridge(), _solver(trials, seed), _generator(pair, seed), _message()]
    names = (INTEGERS, STEPS, SINGLE, RIDGE, SOLVER, GENERATOR, MESSAGE)
    return pd.DataFrame([{"fault": name} | row for name, row in zip(names, rows, strict=True)])


def _row(allowed: float, before: float, now: float, errors: tuple[float, float] = (0.0, 0.0)) -> dict[str, float]:
    return {"allowed": allowed, "before": before, "now": now, "before_error": errors[0], "now_error": errors[1]}


def _integers() -> dict[str, float]:
    """A query of 8 bits whose square is 0 in its own type."""
    x = np.array([[[1], [QUERY]]], dtype=np.uint8)
    prompts = Prompts(x, np.ones((1, 2)), np.zeros((1, 1)))
    now = head.project(head.statistics(prompts), G)
    return _row(G, before.projected_norm(x[0, -1], G), float(np.linalg.norm(now.Z)))


def _steps() -> dict[str, float]:
    """A record of 8 bits whose square overflows: the step is a reflection that expands, |1 − η̄‖x‖²| > 1."""
    x = np.array([RECORD], dtype=np.int8)
    now = abs(1 - float(adapted_rates(1.0, x)) * RECORD**2)
    return _row(1.0, before.step_slope(x, 1.0), now)


def _single() -> dict[str, float]:
    """One of 191,073 prompts replaced: its sign decides whether the sum is below a power of two, or beyond.

    Beyond it the sum loses the small terms that follow, one by one; below it keeps them all.
    """
    one, small = np.array([1.0, 1.0]), 2.0**-4 * np.array([1.0, -1.0])
    tokens = np.concatenate([np.tile(one, (LARGE + 1, 1)), np.tile(small, (SMALL, 1))])
    x = tokens[:, None].astype(np.float32)
    other = x.copy()
    other[0] = np.array([1.0, -1.0])
    allowed = math.sqrt(2) / len(x)
    then, now = (
        float(np.linalg.norm(moment(x).astype(float) - moment(other).astype(float)))
        for moment in (before.token_moment, covariance_head.token_moment)
    )
    return _row(allowed, then, now)


def _ridge() -> dict[str, float]:
    """A prompt whose tokens are longer than one, so that ‖Z‖ reaches G although its responses stay below C < G.

    The distance is the same then and now. What was claimed of it was wrong: ``before`` is in units in which today's
    claim is the allowed one.
    """
    told = private_ridge.PrivateRidge(clip_norm=0.5, feature_bound=5.0, penalty=1.0, N=20)
    one, two = (ridge(head.moments(data), told.penalty) for data in private_ridge.worst_neighbours(told, D=2))
    moved, allowed = float(np.linalg.norm(one - two)), private_ridge.sensitivity(told)
    return _row(allowed, moved / before.ridge_sensitivity(told) * allowed, moved)


def _solver(trials: int, seed: int) -> dict[str, float]:
    """Equal records, all beyond their clip at the start, and one replaced by a record that is inside.

    In 0.7.0 the descent found the minimum if there was such a record, and jumped over it for ever if there was none.
    """
    budget = ApproximateDP(EPSILON, 1e-6)
    added = objective_perturbation.calibrate(budget, SHARE, 1.0, 1.0)
    mu = ApproximateDP((1 - SHARE) * EPSILON, budget.delta / 2).to_gaussian().mu
    penalty, std = before.perturbation(EPSILON, mu, SHARE)
    responses, counts = np.array([RESPONSE, 0.0]), np.array([[RECORDS, 0.0], [RECORDS - 1, 1.0]])
    solved = [
        [
            before.minimiser(responses, count, 1.0, penalty, std * generator(seed, STREAM, k).standard_normal())
            for k in range(trials)
        ]
        for count in counts
    ]
    x, y = np.ones((RECORDS, 1)), np.full(RECORDS, RESPONSE)
    data = y, np.append(y[:-1], 0.0)
    now = [
        [
            float(objective_perturbation.release(x, response, 1.0, added, rng=generator(seed, STREAM, k))[0])
            for k in range(max(1, trials // 10))
        ]
        for response in data
    ]
    found = [of_decisions(*(np.abs(np.array(side) - RESPONSE) > NEAR for side in sides)) for sides in (solved, now)]
    allowed = (math.expm1(EPSILON) + 2 * budget.delta) / (math.exp(EPSILON) + 1)
    return _row(allowed, found[0].value, found[1].value, (found[0].standard_error, found[1].standard_error))


def _generator(pair: Pair, seed: int) -> dict[str, float]:
    """The share of a release's noise that is computed again from a generator that was handed over as a seed.

    In 0.7.0 the estimator, and so its pickle, kept the generator as the fit had left it. Rewound by as many draws as
    there are coefficients it gave the noise again. A generator is refused now.
    """
    for stream in range(100):  # a normal takes one draw with a probability of about 0.99; the first such run is taken
        source = np.random.PCG64([seed, stream])
        rng = np.random.Generator(source)
        released = pair.fit(0, rng)
        source.advance(-pair.d)
        noise = pair.noise_std * rng.standard_normal(pair.d)
        left = float(np.linalg.norm(released - noise - pair.clean[0]) / np.linalg.norm(noise))
        if left < 0.5:
            break
    handed_over: Any = rng
    try:
        DPGDRegressor(rho=pair.rho, random_state=handed_over).fit(*pair.data[:2])
        now = 1 - left
    except ValueError:
        now = 0.0
    return _row(0.0, 1 - left, now)


def _message() -> dict[str, float]:
    """A cell of text among numbers: 0.7.0 passed on what scikit-learn says of it."""
    X = np.array([[1.0], [SECRET]], dtype=object)
    quoted = []
    for fit in (lambda: check_array(X, dtype=np.float64), lambda: DPGDRegressor(rho=1.0).fit(X, np.ones(2))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fit()
                quoted.append(0.0)
            except ValueError as error:
                quoted.append(float(SECRET in str(error)))
    return _row(0.0, quoted[0], quoted[1])
