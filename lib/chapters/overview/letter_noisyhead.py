"""What the letter to the authors of NoisyHead says."""

from chapters.noisyhead.a_head_that_works.measure import BEST, PENALTY, PRIVATE
from chapters.noisyhead.a_head_that_works.show import readings_where
from chapters.overview.saved import Saved
from companion.judging.prose import compact, listed


def values(saved: Saved) -> dict[str, str]:
    """The places of ``letter-noisyhead.md``."""
    penalty, upper = (compact(each.value) for each in saved.findings["noisyhead/section-6.3-validation"].numbers[:2])
    return saved.letter("noisyhead") | {"head": head(saved), "penalty": penalty, "upper": upper}


def head(saved: Saved) -> str:
    """How near to the best head exact accounting with the best penalty comes, and a head that is built for it."""
    steps = saved.table("noisyhead/a-head-that-works", "ladder")
    rows = steps[steps["epsilon"] == steps["epsilon"].max()]
    errors = rows.pivot(index="rung", columns="covariance", values="test_error")[list(rows["covariance"].unique())]
    told = {name: listed([compact(error) for error in errors.loc[name]]) for name in (PENALTY, PRIVATE, BEST)}
    return (
        f"At $N = {rows['N'].iloc[0]}$ and $\\varepsilon = {rows['epsilon'].iloc[0]:g}$ they leave test errors of "
        f"{told[PENALTY]} of Var(y) {listed([readings_where(name) for name in errors])}, where the best heads have "
        f"{told[BEST]}. A head that whitens the statistics and clips each prompt's gradient has {told[PRIVATE]}."
    )
