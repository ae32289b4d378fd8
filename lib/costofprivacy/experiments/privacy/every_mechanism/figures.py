"""The figure of the page on every mechanism."""

import numpy as np
import pandas as pd

from costofprivacy.judging.prose import compact, percent, plain
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate


def shares(releases: pd.DataFrame) -> pd.DataFrame:
    """Lower bounds over the claims: μ where the claim is Gaussian, else ε; on worst neighbours and hostile records."""
    gaussian = releases["gaussian"].astype(bool)
    claim = releases["claimed_mu"].where(gaussian, releases["audited_claim"])
    found = {"release": releases["release"]}
    for name, kind in (("worst", "{}_found"), ("hostile", "hostile_{}")):
        bound = releases[kind.format("mu")].where(gaussian, releases[kind.format("epsilon")])
        found[name] = bound / claim
    return pd.DataFrame(found).assign(deficit=releases["deficit"], attained=releases["attained"])


def draw_releases(releases: pd.DataFrame) -> Plate:
    """Left: what audits found over what is claimed. Right: the smallest deficit of the noise that they detect."""
    table = shares(releases)[::-1].reset_index(drop=True)
    places = np.arange(len(table))
    with figures.panels(2, ends=False, figsize=(9.4, 5.2), sharey=True) as (figure, (left, right)):
        for column, mark, colour, label in (
            ("worst", "o", figures.COLOURS[0], "worst neighbours"),
            ("hostile", "x", figures.COLOURS[3], "hostile records"),
        ):
            left.plot(table[column], places, mark, color=colour, label=label)
        left.axvline(1.0, color="k", ls="--", lw=1)
        left.set_yticks(places, table["release"])
        left.set(xlim=(-0.04, 1.12), xlabel="lower bound over what is claimed")
        left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        right.barh(places, table["deficit"].fillna(0.0), color=figures.COLOURS[0], height=0.55)
        for place in places[table["deficit"].isna()]:
            right.text(0.02, place, "none", va="center")
        right.axvline(0.1, color="k", ls="--", lw=1)
        right.set(xlim=(0, 1), xlabel="smallest deficit of the noise that is found")
    attained = table[table["attained"].astype(bool)]
    most, found = compact(float(table[["worst", "hostile"]].max(axis=None))), percent(float(attained["deficit"].max()))
    told = zip(table["release"], table["worst"], strict=True)
    return Plate(
        figure,
        caption=(
            f"**Audits of every release.** Left: the lower bound of the audit over what is claimed, at most {most}. "
            f"Beyond the dashed line a guarantee would be broken. Right: the smallest tried share by which noise that "
            f"is too small is detected. Where the sensitivity is attained, it is {found} or less; the dashed line is "
            f"at 10 %. All bounds on the left hold together with confidence {float(releases['confidence'].iloc[0]):g}."
        ),
        alt=f"Lower bound over claim: {', '.join(f'{name} {plain(value)}' for name, value in told)}.",
    )
