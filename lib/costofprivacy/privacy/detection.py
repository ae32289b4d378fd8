r"""What an audit can find: the smallest fault of a Gaussian mechanism that it convicts, from the binomial law.

The claim is μ-GDP, and the noise is too small by a share f (0.1: its standard deviation is 90 % of what it should be).
On neighbours that attain the sensitivity the mechanism then spends μ' = μ/(1 − f). The event half-way between the two
means has p = 1 − q = Φ(μ'/2), so the pooled count of an audit (`costofprivacy.privacy.evidence`) is binomial exactly,
and the audit convicts where that count is beyond a quantile of the binomial law of Φ(μ/2).

The smallest f found with probability 0.9 at confidence 0.99, by μ and by the number of releases on each input:

======  =======  =======  =======
μ       10⁴      10⁵      10⁶
======  =======  =======  =======
0.05    0.613    0.333    0.136
0.1     0.442    0.200    0.073
0.3     0.210    0.077    0.026
1       0.077    0.026    0.008
2       0.046    0.015    0.005
5       0.060    0.018    0.006
======  =======  =======  =======

So noise that is 10 % too small is found by 10⁶ releases for every claim from μ = 0.072 on, and for μ between 1 and 5 by
6000. Below, more releases are needed (`runs_needed`): 1.4 million for (0.2, 10⁻⁵)-DP, whose μ is 0.061.

The bound on ε at a small δ rests on events in the tail, which are rare, and finds far less. Who knows that the noise is
Gaussian should judge by μ, that of the claim being ``budget.to_gaussian().mu``.
"""

from scipy.special import betaincinv, ndtr, ndtri
from scipy.stats import binom

from costofprivacy import _validate
from costofprivacy.privacy.audit import QUANTITIES, counted, each_of
from costofprivacy.privacy.evidence import MOST_POOLED

POWER = 0.9


def detectable(mu: float, runs: int, confidence: float, power: float = POWER) -> float:
    """The smallest relative deficit of Gaussian noise that the bound on μ of an audit exceeds the claim for.

    Assumes: neighbours that attain the sensitivity, noise that is Gaussian, scores that increase with the likelihood
    ratio. The choice of the event is taken to be perfect.

    Args:
        mu: the claim in (0, ∞); that of an (ε, δ) claim is ``budget.to_gaussian().mu``.
        runs: releases on each input, at least 2.
        confidence: of the audit, in (0, 1). power: probability with which the deficit is found, in (0, 1).

    Returns:
        f in (0, 1]; 1 where not even a mechanism without noise is found.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(detectable(1.0, 10**5, 0.99), 3)
    0.026
    """
    mu = _validate.finite_positive("mu", mu)
    allowed, trials = float(ndtr(mu / 2)), 2 * counted(runs)
    failure = min(1 - each_of(QUANTITIES, confidence), MOST_POOLED)
    critical = binom.isf(failure, trials, allowed) + 1
    power = _validate.probability("power", power)
    if critical > trials:
        return 1.0
    mean = betaincinv(critical, trials - critical + 1, power)
    return max(0.0, 1 - mu / (2 * float(ndtri(mean)))) if mean < 1 else 1.0


def runs_needed(mu: float, deficit: float, confidence: float, power: float = POWER) -> int:
    """The number of releases on each input from which on a deficit of Gaussian noise is found, to three digits.

    Args:
        mu: the claim in (0, ∞). deficit: f in (0, 1).
        confidence: of the audit, in (0, 1). power: probability with which the deficit is found, in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> runs_needed(1.0, 0.1, 0.99)
    5628
    """
    deficit = _validate.probability("deficit", deficit)
    low, high = 2, 4
    while detectable(mu, high, confidence, power) > deficit:
        low, high = high, 2 * high
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if detectable(mu, middle, confidence, power) > deficit else (low, middle)
    return high
