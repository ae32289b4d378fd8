"""How much noise does a privacy budget need, and what does it cost?"""

from typing import Any

import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from chapters.privacy.how_much_noise.measure import BEST, EXACT, PRINTED, PROPOSITION, RENYI, RULE, WAYS, ZERO_RISK
from companion.judging.prose import compact, percent, plain, span, times
from companion.judging.tables import Tables, nearest, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.privacy.groups import BLANK, REPLACE

# ---- What opens the page ----

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
        "We derive the exact noise from the trade-off of two Gaussians, and check it by an attack.",
        "Tables and code give the noise and its cost for other budgets.",
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


# ---- Figures ----

STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": figures.COLOURS[0], "marker": "o"},
    RENYI: {"color": figures.COLOURS[2], "marker": "D"},
    PROPOSITION: {"color": figures.COLOURS[3], "marker": "s"},
    RULE: {"color": figures.COLOURS[4], "marker": "^"},
}
LABELS = "printed", "every iterate,\nexactly", "last iterate", "… and exact\nsensitivity", "… and add or\nremove one"
VIEWS = dict(zip(LABELS, WAYS, strict=True))


def draw_noise(budgets: pd.DataFrame, regression: pd.DataFrame) -> Plate:
    """Left: noise over sensitivity against ε. Right: DP-GD's best excess risk against ε at one size."""
    delta, records = float(budgets["delta"].iloc[0]), nearest(regression["records"], EXAMPLE["records"])
    told, cost = select(budgets, delta=delta), select(regression, delta=delta, records=records)
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        for route in (RULE, PROPOSITION, EXACT):
            rows = select(told, route=route)
            figures.points(left, rows, "epsilon", "noise_multiplier", label=route, **STYLES[route])
        figures.log_axes(left, "$\\varepsilon$", "noise over sensitivity")
        left.set_title(f"noise, δ = {plain(delta)}")
        draw_cost(right, cost)
        right.set_title(f"DP-GD, n/d = {records:g}")
    risks = select(cost, relation=REPLACE).pivot(index="epsilon", columns="route", values="excess_risk")
    waste = select(told, route=RULE)["noise_over_exact"]
    return Plate(
        figure,
        f"**Noise and cost of a budget.** Left: standard deviation of a Gaussian over its sensitivity, by three "
        f"routes from $(\\varepsilon, \\delta)$. The rule (A.3) asks for {span(waste)} times the exact "
        f"noise. Right: the least excess risk of the deterministic equivalent over harmonic schedules, with the "
        f"noise of each route. (A.3) has {span(risks[RULE] / risks[EXACT])} times the exact calibration's risk. "
        f"Equations have no sampling error.",
    )


def draw_cost(axes: Axes, cost: pd.DataFrame) -> None:
    """DP-GD's excess risk against ε, by route, beside no privacy and answering 0."""
    replaced, blank = select(cost, relation=REPLACE), select(cost, route=EXACT, relation=BLANK)
    for route, label in {RULE: "(A.3)", PROPOSITION: PROPOSITION, EXACT: "exact"}.items():
        figures.points(axes, select(replaced, route=route), "epsilon", "excess_risk", label=label, **STYLES[route])
    lines: dict[str, tuple[str, dict[str, Any]]] = {
        "exact, add\nor remove": ("excess_risk", {"fmt": "--v", "color": figures.COLOURS[9]}),
        "no privacy": ("free_risk", {"fmt": "k:", "lw": 1.5}),
        "answering 0": ("zero", {"fmt": "k--", "lw": 1}),
    }
    for label, (column, look) in lines.items():
        figures.points(axes, blank.assign(zero=ZERO_RISK), "epsilon", column, label=label, **look)
    figures.log_axes(axes, "$\\varepsilon$", "excess risk")


def draw_curves(curves: pd.DataFrame) -> Plate:
    """ε against ρ: exact, by Rényi divergences, by Proposition A.3 and by (A.3), over the exact one below."""
    delta = float(curves["delta"].iloc[0])
    rows = select(curves, delta=delta)
    exact = select(rows, route=EXACT).set_index("rho")["epsilon"]
    rows = rows.assign(over=rows["epsilon"] / rows["rho"].map(exact))
    with figures.panels(2, figsize=(9.2, 4.0)) as (figure, (left, right)):
        for route in (RULE, PROPOSITION, RENYI, EXACT):
            for axes, column in ((left, "epsilon"), (right, "over")):
                look = STYLES[route] | {"marker": "", "label": route}
                figures.points(axes, select(rows, route=route), "rho", column, **look)
        figures.log_axes(left, "$\\rho$", "$\\varepsilon$")
        figures.log_axes(right, "$\\rho$", "$\\varepsilon$ over the exact one")
        figures.few_decades(right)
        left.set_title(f"δ = {plain(delta)}")
    over = {route: span(select(rows, route=route)["over"]) for route in (RENYI, PROPOSITION, RULE)}
    return Plate(
        figure,
        f"**From $\\rho$ to $\\varepsilon$.** The same noise by four accounts. $\\rho^2/2$-zCDP by way of Rényi "
        f"divergences gives {over[RENYI]} times the $\\varepsilon$ of $\\rho$-Gaussian privacy, which is exact. "
        f"Proposition A.3 gives {over[PROPOSITION]} times, and (A.3) {over[RULE]} times. Closed forms have no "
        f"error.",
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
        f"**NoisyHead's noise.** Left: the printed noise of a step is {span(told['printed'] / told['least'])} "
        f"times what releasing all iterates needs. Right: test error in closed form, where answering 0 has "
        f"{compact(zero)} (dashed). At the largest $N$ the printed noise leaves {compact(errors[0])}, the tightest "
        f"account {compact(min(errors))}. Closed forms have no sampling error.",
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
    return pd.DataFrame([dict(zip(names, told)) | by_records(risks) for told, risks in rows]).set_index(budget)


def by_records(values: pd.Series) -> dict[str, str]:
    """A series over n/d as the cells of a row."""
    return {f"$n/d={records}$": plain(value) for records, value in values.items()}


def show_waste(budgets: pd.DataFrame, regression: pd.DataFrame) -> pd.DataFrame:
    """Each route over the exact one: its noise and DP-GD's excess risk, and the ε that it really spends."""
    rows = []
    delta = budgets["delta"].iloc[0]
    risks = select(regression, relation=REPLACE, delta=delta)
    risks = risks.pivot(index="records", columns=["epsilon", "route"], values="excess_risk")
    for row in select(budgets[budgets["route"] != EXACT], delta=delta).itertuples():
        at = row.epsilon, row.route
        over = by_records(risks[at] / risks[row.epsilon, EXACT]) if at in risks else {}
        told = {"$\\varepsilon$ asked": plain(row.epsilon), "route": row.route, "noise": plain(row.noise_over_exact)}
        rows.append(told | {"$\\varepsilon$ spent": plain(row.epsilon_spent)} | over)
    return pd.DataFrame(rows).fillna("–").set_index(["$\\varepsilon$ asked", "route"])


def show_prompts(prompts: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead by size and account at one ε, each at its best public penalty."""
    best = select(prompts, choice=BEST, epsilon=nearest(prompts["epsilon"], EXAMPLE["epsilon"]))
    views = [of_view(best, view).assign(account=label.replace("\n", " ")) for label, view in VIEWS.items()]
    rows = pd.concat(views).sort_values("N", kind="stable")
    told = {
        "$N$": rows["N"],
        "$\\varepsilon$": rows["epsilon"].map(plain),
        "account": rows["account"],
        "penalty $\\lambda$": rows["penalty"].map(plain),
        "steps $T$": rows["steps"].astype(int),
        "noise of an entry": rows["noise_std"].map(plain),
        "noise over (A.1)": rows["noise_multiplier"].map(plain),
        "test error": rows["test_error"].map(plain),
        "answering 0": rows["response_variance"].map(plain),
    }
    return pd.DataFrame(told).set_index(["$N$", "$\\varepsilon$", "account"])


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
