"""Short tables for the page on the deterministic equivalent of arXiv:2505.16329v2."""

import pandas as pd

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.figures import bound_power, power
from chapters.dpgd.deterministic_equivalent.regime import SCHEDULES
from companion.judging.prose import measured, plain, with_errors
from companion.judging.tables import select

DEVIATIONS = {
    "path": "a run",
    "path, 99 %": "a run, 99 % quantile",
    "bias": "bias of the mean",
    "bias, cap smoothed": "bias, with the mean cap",
    "released": "the release",
}


def show_released(table: pd.DataFrame) -> pd.DataFrame:
    """The released iterate at the largest d, for the page."""
    rows = select(table, t=1, d=table["d"].max())
    columns = {
        "schedule": rows["alpha"].map(SCHEDULES),
        "spectrum": rows["spectrum"],
        "excess risk": with_errors(rows, "risk_mean"),
        "predicted, (4.23)": rows["ode_risk"].map("{:.3f}".format),
        "test error": rows["test_error"].map("{:.3f}".format),
        "test error of answering 0": rows["response_variance"].map("{:.2f}".format),
    }
    return pd.DataFrame(columns).set_index(["schedule", "spectrum"])


def show_exponents(rates: pd.DataFrame) -> pd.DataFrame:
    """Powers of n with their standard errors, fitted over all n and between the last two, for the page.

    The last line has those of log²n/√n. A dash stands where the last two n do not resolve a power; a released bias is
    too often noise.
    """
    keys = ["deviation", "schedule", "spectrum"]
    chosen = rates[rates["quantity"].isin(list(DEVIATIONS))]
    chosen = chosen.assign(deviation=chosen["quantity"].map(DEVIATIONS))
    lines = []
    for names, rows in chosen.groupby(keys, sort=False):
        last = trends.fall("", "rates", rows)
        resolved = measured(last.exponent, last.error) if last.resolved else "–"
        lines.append(dict(zip(keys, names)) | {"all n": measured(*power(rows)), "last two n": resolved})
    for spectrum, rows in chosen.groupby("spectrum", sort=False):
        ends = rows.drop_duplicates("n").sort_values("n")
        powers = {"all n": bound_power(ends), "last two n": bound_power(ends.tail(2))}
        shown = {name: f"{value:.3f}".replace("-", "−") for name, value in powers.items()}
        lines.append({"deviation": "log²n/√n", "schedule": "", "spectrum": spectrum} | shown)
    return pd.DataFrame(lines).set_index(keys).unstack("spectrum", sort=False)


def show_laws(laws: pd.DataFrame) -> pd.DataFrame:
    """The gap at the largest dimension, averaged over time and at the release, for the page."""
    rows = select(laws, d=laws["d"].max())
    shown = {
        "averaged over time": _percent(rows["relative_gap"], rows["standard_error"]),
        "at the release": _percent(rows["relative_gap_released"], rows["standard_error_released"]),
    }
    wide = rows.assign(**shown).pivot(index="law", columns="target", values=list(shown))
    return wide.reindex(rows["law"].unique())


def _percent(value: pd.Series, error: pd.Series) -> list[str]:
    return [f"{100 * v:+.1f} ± {100 * e:.1f} %".replace("-", "−") for v, e in zip(value, error)]


def show_one_step(one_step: pd.DataFrame) -> pd.DataFrame:
    """Each term of a step's mean over the derived and over the printed one, at the largest d, for the page."""
    rows = select(one_step, d=one_step["d"].max())
    ratios = {}
    for reading in ("derived", "printed"):
        terms = rows[reading]
        over = rows.assign(value=rows["value"] / terms, standard_error=rows["standard_error"] / terms.abs())
        ratios[f"over the {reading} term"] = with_errors(over, "value")
    return rows[["quadratic", "term"]].assign(**ratios).set_index(["quadratic", "term"])


def show_enclosure(enclosure: pd.DataFrame) -> pd.DataFrame:
    """R(1) between its two bounds, as printed and with η̄, for the page: the cases in which the two readings differ."""
    names = {"share_of_cap": "η̃(0)γ/2", "clip": "c"}
    index = ["spectrum", "schedule", *names.values()]
    wide = enclosure.rename(columns=names).pivot(index=index, columns="reading")
    differ = (wide["lower"]["printed"] - wide["lower"]["corrected"]).abs() > 1e-9
    chosen = wide[differ]
    table = pd.DataFrame({"R(1)": chosen["risk"]["corrected"].map(plain)})
    for reading in ("printed", "corrected"):
        bounds = zip(chosen["lower"][reading], chosen["upper"][reading])
        table[f"bounds, {reading}"] = [f"{plain(low)} to {plain(high)}" for low, high in bounds]
    return table.rename(index=lambda value: plain(value) if isinstance(value, float) else value)


def show_displays(displays: pd.DataFrame) -> pd.DataFrame:
    """Each display over what it should say, in both readings, for the page."""
    ratio = (displays["value"] / displays["derived"]).map("{:.3f}".format)
    wide = displays.assign(ratio=ratio).pivot(index=["display", "term"], columns="reading", values="ratio")
    order = displays.drop_duplicates(["display", "term"]).set_index(["display", "term"]).index
    return wide.reindex(order)[["printed", "corrected"]].fillna("–")


def show_last_step(last_step: pd.DataFrame) -> pd.DataFrame:
    """The remainder of the last step over (1 + √R)/√d, its upper percentile by dimension and risk, for the page."""
    scaled = last_step.assign(scaled=last_step["upper"] / last_step["scale"], risk=last_step["squared_norm"] / 2)
    wide = scaled.pivot(index="d", columns="risk", values="scaled").map("{:.2f}".format)
    return wide.rename(columns=lambda risk: f"risk {plain(risk)}").rename_axis(columns=None)


def show_caps(caps: pd.DataFrame) -> pd.DataFrame:
    """The largest stretch of a step under either cap, by dimension, for the page."""
    wide = caps.groupby(["d", "reading"])["stretch"].max().unstack("reading").map(plain)
    names = {"printed": "stretch under 2/‖x‖, printed", "corrected": "stretch under 2/‖x‖²"}
    return wide[list(names)].rename(columns=names).rename_axis(columns=None)


def show_integrals(diffusion: pd.DataFrame) -> pd.DataFrame:
    """The distance of the diffusion's risk from either integral, for both drifts, for the page."""
    text = with_errors(diffusion, "value")
    return diffusion.assign(text=text).pivot(index="n", columns=["drift", "integral"], values="text")


def show_sums(sums: pd.DataFrame) -> pd.DataFrame:
    """The sums at the smallest and the largest n, for the page."""
    ends = sums[sums["n"].isin([sums["n"].min(), sums["n"].max()])]
    wide = ends.pivot(index="quantity", columns="n", values="value").map(plain)
    return wide.rename(columns=lambda n: f"n = {n}").rename_axis(columns=None)
