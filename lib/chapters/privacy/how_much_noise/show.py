"""How much noise does a privacy budget need, and what does it cost?"""

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.how_much_noise.measure import BEST, EXACT, PRINTED, PROPOSITION, RULE, WAYS, ZERO_RISK
from companion.judging.prose import compact, percent, plain, span, times
from companion.judging.tables import Tables, nearest, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.privacy.groups import BLANK, REPLACE

EXAMPLE = {"epsilon": 1.0, "records": 1000}  # what the answer speaks of, or the nearest that was measured


def example(tables: Tables) -> dict[str, float]:
    """The budget and the size that the answer speaks of."""
    table = tables["regression"]
    delta = {"delta": float(tables["budgets"]["delta"].iloc[0])}
    return {name: nearest(table[name], value) for name, value in EXAMPLE.items()} | delta


def answer(tables: Tables) -> list[str]:
    """The noise and the cost at one budget, what the printed formulas waste there, and what the reader will see."""
    where = example(tables)
    budget = {name: where[name] for name in ("epsilon", "delta")}
    exact, rule = (pick(tables["budgets"], route=route, **budget) for route in (EXACT, RULE))
    risk, printed = (pick(tables["regression"], route=r, relation=REPLACE, **where) for r in (EXACT, RULE))
    steps = tables["composition"].query("epsilon == @budget['epsilon'] and T >= 10")
    return [
        f"A budget of $\\varepsilon = {budget['epsilon']:g}$ and $\\delta = $ {compact(budget['delta'])} needs "
        f"Gaussian noise of {compact(exact['noise_multiplier'])} times the sensitivity.",
        f"DP-GD's rule (A.3) takes {compact(rule['noise_over_exact'])} times that noise. At {risk['records']:.0f} "
        f"records a feature its excess risk is {compact(printed['excess_risk'] / risk['excess_risk'])} times as large.",
        f"NoisyHead's formula takes {span(steps['printed'] / steps['least'])} times the least noise from ten steps on.",
    ]


def read_waste(tables: Tables) -> Markdown:
    """What the printed formulas waste, in a sentence each."""
    where, prompts = example(tables), tables["prompts"]
    rows = select(tables["regression"], epsilon=where["epsilon"], delta=where["delta"], relation=REPLACE)
    risks = rows.pivot(index="records", columns="route", values="excess_risk")
    at = select(prompts, epsilon=nearest(prompts["epsilon"], where["epsilon"]), choice=BEST)
    explained = 1 - at["test_error"] / at["response_variance"]
    printed, tight = explained[at["account"] == PRINTED].max(), explained.max()
    return Markdown(
        f"At $\\varepsilon = {where['epsilon']:g}$ Proposition A.3 multiplies DP-GD's risk by "
        f"{span(risks[PROPOSITION] / risks[EXACT])}, and the rule (A.3) by {span(risks[RULE] / risks[EXACT])}, "
        f"depending on $n/d$. NoisyHead with its printed noise explains at most {percent(max(0.0, printed))} of the "
        f"responses' variance at any of these $N$; with the tightest account {percent(tight)}."
    )


def read_relations(inclusion: pd.DataFrame, regression: pd.DataFrame) -> Markdown:
    """What the neighbouring relation costs in each algorithm."""
    ratio = inclusion["replaced"] / inclusion["left_out"]
    exact = select(regression, route=EXACT)
    risks = exact.pivot(index=["records", "epsilon", "delta"], columns="relation", values="excess_risk")
    return Markdown(
        f"For DP-GD the factor in the noise is exactly 2, since clipped gradients fill a ball. It multiplies the "
        f"excess risk by {span(risks[REPLACE] / risks[BLANK])}. For NoisyHead a replaced prompt moves a step only "
        f"{span(ratio)} times as far as one that is left blank, so there the choice of relation costs at most "
        f"{times(ratio.max())} in noise."
    )


LABELS = "printed", "every iterate,\nexactly", "last iterate", "… and exact\nsensitivity", "… and add or\nremove one"
VIEWS = dict(zip(LABELS, WAYS, strict=True))


def caption_noise(tables: Tables) -> str:
    """The noise and the cost of a budget, by three routes."""
    where = example(tables)
    at = {name: where[name] for name in ("delta", "records")}
    risks = select(tables["regression"], relation=REPLACE, **at).pivot(
        index="epsilon", columns="route", values="excess_risk"
    )
    waste = select(tables["budgets"], delta=where["delta"], route=RULE)["noise_over_exact"]
    return (
        f"**DP-GD's rule (A.3) asks for {span(waste)} times the exact noise, and its excess risk is "
        f"{span(risks[RULE] / risks[EXACT])} times as large.** Left: standard deviation of a Gaussian over its "
        f"sensitivity, by three routes from $(\\varepsilon, \\delta)$ at $\\delta$ = {compact(where['delta'])}. Right: "
        "the least excess risk of the deterministic equivalent over harmonic schedules, with the noise of each route. "
        "Equations have no sampling error."
    )


def draw_prompts(prompts: pd.DataFrame, composition: pd.DataFrame) -> Plate:
    """Left: NoisyHead's noise over the least against T. Right: its test error against N at one ε, by account."""
    epsilon = nearest(prompts["epsilon"], EXAMPLE["epsilon"])
    told, best = select(composition, epsilon=epsilon), select(prompts, epsilon=epsilon, choice=BEST)
    zero = float(best["response_variance"].max())
    lines = {
        "printed": "printed",
        "every iterate,\nexactly": "least",
        "last iterate,\nsteps shrink by 0.9": "least_last",
    }
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        for (label, column), marker in zip(lines.items(), "soD", strict=True):
            figures.points(left, told, "T", column, label=label, marker=marker)
        figures.log_axes(left, "$T$ (steps)", "noise of a step over its sensitivity")
        left.set_title(f"ε = {epsilon:g}")
        for (label, view), look in zip(VIEWS.items(), figures.looks(VIEWS).values(), strict=True):
            rows = of_view(best, view).sort_values("N")
            right.plot(rows["N"], rows["test_error"], label=label, **look)
        right.axhline(zero, color="k", ls="--", lw=1)
        right.set(xscale="log", xlabel="$N$ (training prompts)", ylabel="test error")
        right.set_title("each at its best public penalty")
    errors = [of_view(best[best["N"] == best["N"].max()], view)["test_error"].iloc[0] for view in VIEWS.values()]
    return Plate(
        figure,
        f"**NoisyHead's printed noise of a step is {span(told['printed'] / told['least'])} times what releasing all "
        f"iterates needs.** Right: test error in closed form, where answering 0 has {compact(zero)} (dashed). At the "
        f"largest $N$ the printed noise leaves {compact(errors[0])}, the tightest account {compact(min(errors))}. "
        "Closed forms have no sampling error.",
    )


def of_view(rows: pd.DataFrame, view: tuple[str, str, str]) -> pd.DataFrame:
    """The rows of one account, sensitivity and relation."""
    account, sensitivity, relation = view
    return select(rows, account=account, sensitivity=sensitivity, relation=relation)


def show_lookup(regression: pd.DataFrame) -> pd.DataFrame:
    """DP-GD by budget, calibrated exactly: ρ, noise over a step, and the excess risk at each n/d, in both relations."""
    rows = []
    exact = select(regression, route=EXACT)
    for (epsilon, delta, relation), group in exact.groupby(["epsilon", "delta", "relation"], sort=False):
        risks = group.sort_values("records").set_index("records")
        noise = risks.iloc[0][["rho", "noise_over_step"]].map(plain)
        told = (plain(epsilon), plain(delta), relation.removesuffix(" one record"), *noise)
        rows.append((told, risks["excess_risk"]))
    free = regression.groupby("records")["free_risk"].first()
    rows += [(("∞", "–", "–", "∞", "0"), free), (("–", "–", "–", "answering 0", "–"), pd.Series(ZERO_RISK, free.index))]
    budget = ["$\\varepsilon$", "$\\delta$", "neighbours"]
    names = (*budget, "$\\rho$", "noise over step")
    cells = [dict(zip(names, told)) | {f"$n/d={n}$": plain(v) for n, v in risks.items()} for told, risks in rows]
    return pd.DataFrame(cells).set_index(budget)


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """DP-GD at ρ = 1: what the last iterate spends, and what all of them would."""
    spent = {
        f"{name}, {which}": outputs[f"{which}_{column}"].map(plain)
        for name, column in (("$\\rho$", "mu"), ("$\\varepsilon$", "epsilon"))
        for which in ("last", "every")
    }
    return pd.DataFrame({"schedule": outputs["schedule"], "$n$": outputs["n"]} | spent).set_index(["schedule", "$n$"])


def show_steps(limits: pd.DataFrame) -> pd.DataFrame:
    """Up to which ε one classical step is private."""
    until = limits["epsilon_limit"].map(plain)
    shown = pd.DataFrame({"$\\delta/T$": limits["delta"].map(plain), "private up to $\\varepsilon/T$": until})
    return shown.set_index("$\\delta/T$")
