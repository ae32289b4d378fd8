"""The figure of the page on every mechanism."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.judging.prose import compact, percent, plain
from companion.showing import figures
from companion.showing.plates import NARROW_WIDTH, Plate

ATTAINED = "●"  # marks a release whose sensitivity the audit's neighbours attain
TALL = 9.4  # inches: two panels of all names, one below the other


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
    """First: what audits found over what is claimed. Second: the smallest deficit of the noise that they detect."""
    table = shares(releases)[::-1].reset_index(drop=True)
    figure, narrow = _drawn(table, (1, 2), (9.4, 5.2)), _drawn(table, (2, 1), (NARROW_WIDTH, TALL))
    attained = table[table["attained"].astype(bool)]
    most, found = compact(float(table[["worst", "hostile"]].max(axis=None))), percent(float(attained["deficit"].max()))
    told = zip(table["release"], table["worst"], strict=True)
    return Plate(
        figure,
        caption=(
            f"**Audits of every release.** First panel: the lower bound of the audit over what is claimed, at most "
            f"{most}. Beyond the dashed line a guarantee would be broken. Second panel: the smallest tried share by "
            f"which noise that is too small is detected; a shorter bar is a sharper audit. Where the sensitivity is "
            f"attained (●), it is {found} or less; the dashed line is at 10 %. All bounds in the first panel hold "
            f"together with confidence {float(releases['confidence'].iloc[0]):g}."
        ),
        alt=f"Lower bound over claim: {', '.join(f'{name} {plain(value)}' for name, value in told)}.",
        narrow=narrow,
    )


def _drawn(table: pd.DataFrame, grid: tuple[int, int], size: tuple[float, float]) -> Figure:
    """Both panels, beside each other or one below the other; each has all names where it stands alone."""
    places = np.arange(len(table))
    names = [f"{row.release} {ATTAINED}" if row.attained else row.release for row in table.itertuples()]
    with figures.style():
        figure, axes = plt.subplots(*grid, figsize=size, sharey=grid[0] == 1)
        left, right = axes
        for column, mark, colour, label in (
            ("worst", "o", figures.COLOURS[0], "worst neighbours"),
            ("hostile", "x", figures.COLOURS[3], "hostile records"),
        ):
            left.plot(table[column], places, mark, color=colour, label=label)
        left.axvline(1.0, color="k", ls="--", lw=1)
        left.set(xlim=(-0.04, 1.12), xlabel="audited bound over claim")
        left.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0, handletextpad=0.3)
        right.set_axisbelow(True)  # no line of the grid across a bar
        right.barh(places, table["deficit"].fillna(0.0), color=figures.COLOURS[0], height=0.55)
        for place in places[table["deficit"].isna()]:
            right.text(0.02, place, "none", va="center")
        right.axvline(0.1, color="k", ls="--", lw=1)
        right.set(xlim=(0, 1), xlabel="least deficit that is found")
        for panel in axes:
            panel.set_yticks(places, names)
            panel.set_ylim(-0.7, len(table) - 0.3)
            panel.tick_params(labelleft=grid[0] > 1 or panel is left)
    return figure
