"""What the letter to the authors of NoisyHead says."""

from chapters.noisyhead import agreement
from chapters.noisyhead.a_head_that_works.measure import BEST, PENALTY, PRIVATE
from chapters.noisyhead.a_head_that_works.show import readings_where
from chapters.overview.saved import Saved
from companion.judging.prose import compact, listed
from costofprivacy.settings import Setting

OF_FIGURES = "low-dimensional", "high-dimensional", "early-stopping", "robustness"  # chapters, from Figure 1 on


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-noisyhead.md``."""
    penalty, upper = (compact(each.value) for each in saved.findings["noisyhead/section-6.3-validation"].numbers[:2])
    tables = [saved.table(f"noisyhead/{chapter}", "comparison") for chapter in OF_FIGURES]
    met = [agreement.agreements(table)[Setting.PUBLISHED] for table in tables]
    told = listed(f"{one.near} of {one.numbers} in Figure {k}" for k, one in enumerate(met, 1))
    return saved.letter("noisyhead") | {"head": head(saved), "penalty": penalty, "upper": upper, "reproduced": told}


def head(saved: Saved) -> str:
    """How near to the best head exact accounting with the best penalty comes, and a head that is built for it."""
    rows = saved.table("noisyhead/a-head-that-works", "ladder").query("epsilon == epsilon.max()")
    covariance = rows["covariance"].iloc[-1]
    error = rows[rows["covariance"] == covariance].set_index("rung")["test_error"].map(compact)
    return (
        f"Together they leave an error of {error[PENALTY]} of Var(y) {readings_where(covariance)}, at $\\varepsilon = "
        f"{rows['epsilon'].iloc[0]:g}$ and $N = {rows['N'].iloc[0]}$. The best head leaves {error[BEST]}, one that "
        f"whitens the statistics and clips each prompt's gradient {error[PRIVATE]}."
    )
