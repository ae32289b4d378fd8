"""The answer of the page on rivals."""

from chapters.privacy.rivals import problems
from chapters.privacy.rivals.cells import mean_gain, short, winners
from chapters.privacy.rivals.joined import METHODS, joined
from companion.judging.prose import measured
from companion.judging.tables import Tables
from companion.judging.vocabulary import CONSISTENT


def answer(tables: Tables) -> list[str]:
    """Who has the least error how often, where DP-GD is not behind, and what the page does."""
    found, errors = winners(joined(tables)), tables["errors"]
    in_front = {name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in METHODS}
    first = max(in_front, key=lambda name: in_front[name])
    behind = found[found["beaten"] & (found["lost"] > CONSISTENT * found["lost_error"])]
    behind = behind if len(behind) else found
    worst = behind.loc[behind["over"].idxmax()]
    return [
        f"At equal privacy, data and knowledge, {first} is best or not distinguishable from it in "
        f"{in_front[first]} of {len(found)} cases.",
        f"DP-GD is worse in {int(found['beaten'].sum())} of them, with up to "
        f"{measured(worst['over'], worst['over_error'])} times the excess error ({short(worst['problem'])}, "
        f"$\\varepsilon = {worst['epsilon']:g}$).",
        f"If DP-GD knows the features' second moment, its excess error is {measured(*mean_gain(errors))} times smaller "
        f"({short(problems.UNEVEN)}, $\\varepsilon = {errors['epsilon'].min():g}$).",
        "You will see derived why objective perturbation needs so little noise, and run it by hand.",
    ]
