r"""Two single equations that enclose the risk of the deterministic equivalent for every covariance.

With λ_i in [λ_min, λ_max], the descent of (4.7) lies between −2λ_max η̄ μ R and −2λ_min η̄ μ R, and its sampling term
between the ones with coefficients s² and s λ_max, s = tr Σ/d: by Cauchy and Schwarz

.. math:: s^2 = \Bigl(\frac{\mathrm{tr}\,\Sigma}{d}\Bigr)^2 \le \frac{\mathrm{tr}\,\Sigma^2}{d}
          \le \lambda_{\max}\frac{\mathrm{tr}\,\Sigma}{d} = s\lambda_{\max}.

In the paper s = 1; here the trace is free, and the single equations are those of R/s, read out with s. The paper
has tr Σ² ≥ λ_max tr Σ for the second, the wrong side. **Proof of the enclosure.** For R = Σ λ_i D_i/d,

.. math:: \dot R = -2\bar\eta\mu(R)\,\frac1d\sum_i\lambda_i^2 D_i
          + \frac{\mathrm{tr}\,\Sigma^2}{d}\,\bar\eta^2\gamma\,\nu\mathcal P + 2sc^2\tilde\sigma^2\gamma^2

and λ_min R ≤ Σ λ_i² D_i/d ≤ λ_max R, as all D_i ≥ 0. So Ṙ ≤ f̄(t, R) and Ṙ ≥ f̲(t, R), where f̄ and f̲ are the right
sides of (4.12) *with η̄ for η̃*, both Lipschitz in R; a function that starts with a solution of ẏ = f̄(t, y) and has
Ṙ ≤ f̄(t, R) never exceeds it. No monotonicity of μ or ν is used.

With η̃ as printed the equations agree with these where η̃ ≤ 2/γ. Beyond, they enclose nothing: going from η̄ to η̃ > η̄
adds (η̃ − η̄)(b(η̃ + η̄)γν𝒫 − 2aμR) to a right side. For large c that is positive, and the lower equation overtakes R;
for small c, where ν𝒫 ~ c²/2 is much less than μR ~ cR/√(π𝒫), it is negative, and the upper one falls below R.
"""

import dataclasses
import math

import numpy as np

from costofprivacy.dpgd.system import System


def upper(system: System) -> System:
    """The equation of R̄ in (4.12) of arXiv:2505.16329v2, with η̄: descent with λ_min, sampling with λ_max.

    Assumes: a system of Definition 4.2, of any positive trace.
    Guarantees: its risk is at least the system's at every t.

    Args:
        system: from `system.of_spectrum` or `system.of_model`.
    """
    return _single(system, float(system.relaxation.min()), float(system.sampling.max()))


def lower(system: System) -> System:
    """The equation of R̲ in (4.12) of arXiv:2505.16329v2, with η̄: descent with λ_max, sampling with tr Σ/d (1 there).

    Assumes: a system of Definition 4.2, of any positive trace.
    Guarantees: its risk is at most the system's at every t.

    Args:
        system: from `system.of_spectrum` or `system.of_model`.
    """
    return _single(system, float(system.relaxation.max()), float(system.readout.sum()))


def uncapped(system: System) -> System:
    """The same equations with η̃ in the place of η̄: (4.12) and (D.1) as printed, of arXiv:2505.16329v2.

    Args:
        system: any equations.

    Returns:
        The equations without a cap; beyond 2/γ the printed bounds enclose nothing, see the module.
    """
    return dataclasses.replace(system, cap=math.inf)


def _single(system: System, relaxation: float, sampling: float) -> System:
    trace = float(system.readout.sum())
    return dataclasses.replace(
        system,
        relaxation=np.array([relaxation]),
        sampling=np.array([sampling]),
        readout=np.array([trace]),
        initial=np.array([system.initial_risk / trace]),
    )
