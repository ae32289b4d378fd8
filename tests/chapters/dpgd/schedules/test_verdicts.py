"""What is tried on the judges of the chapter on learning rate schedules."""

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from chapters.dpgd.schedules.judge import OUTRUN
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from tests.chapters.dpgd.precision_cases import PRECISION_CASES
from tests.chapters.machinery import Case, Tables, both, change, committed, only, package, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "dpgd/schedules"
FIGURE, OUTPUT = "dpgd/figure-7", "dpgd/section-7-output-perturbation"
MATCH, BEST = "dpgd/section-5.1-matching", "dpgd/section-8-optimal-schedule"
SPREAD, ISO, UNI = (f"dpgd/section-7-{name}" for name in ("non-isotropic", "harmonic-isotropic", "harmonic-uniform"))
ALPHA, POWER, GENERAL, LOGS = (
    f"dpgd/{name}"
    for name in ("section-5.1-larger-alpha", "proposition-5.2", "proposition-5.2-general", "equation-5.17")
)
RATE, OFFSET, CONSTANTS = "dpgd/theorem-2", "dpgd/theorem-2-offset", "dpgd/theorem-2-general"
CLIP = "dpgd/section-8-fixed-clip"
HEURISTIC, SOLUTION, LEMMA, INTEGRAL = "dpgd/equation-5.22", "dpgd/equation-5.24", "dpgd/lemma-d.5", "dpgd/lemma-d.2"


def risk(spectrum: str, schedule: str, to: Any, query: str = "") -> Any:
    """Risks of Figure 7 multiplied, for one schedule and spectrum."""
    return put("figure-7", "ode_risk", lambda r: to * r["ode_risk"], query, spectrum=spectrum, schedule=schedule)


def harmonic(t: Tables, share: float = 1.0, spectra: str = "isotropic|uniform") -> Tables:
    """The harmonic schedule at this share of the best polynomial risk, for all n."""
    table = t["figure-7"].copy()
    powers = table[table["schedule"] != "harmonic"].groupby(["spectrum", "n"])["ode_risk"].min()
    rows = (table["schedule"] == "harmonic") & table["spectrum"].str.fullmatch(spectra)
    table.loc[rows, "ode_risk"] = [share * powers[key] for key in zip(table["spectrum"][rows], table["n"][rows])]
    return {"figure-7": table}


def last(t: Tables) -> str:
    return f"n == {t['figure-7']['n'].max()}"


def near_output(share: float) -> Any:
    """The power 0.5 at this share of the risk of output perturbation, on the uniform spectrum at the smallest n."""

    def make(t: Tables) -> Tables:
        start = t["figure-7"].query("spectrum == 'uniform' and n == 1000").set_index("schedule")["ode_risk"]
        return risk("uniform", "0.5", share * start["0"] / start["0.5"], "n == 1000")(t)

    return make


def axis(table: str, where: str, column: str, to: Any) -> Any:
    """A column of the rows whose axis or path holds some words."""

    def make(t: Tables) -> Tables:
        name = "axis" if "axis" in t[table] else "path"
        rows = t[table][name].str.contains(where, regex=False)
        return {table: change(t[table], column, to, rows)}

    return make


def bounded(t: Tables, where: str = "") -> Tables:
    """Every risk at half its bound, along the axes that hold some words."""
    return axis("decay", where, "left", lambda r: 0.5 * r["right"])(t)


def offsets(rule: str, power: float) -> Any:
    return put("offsets", "risk", lambda r: r["order"] * r["inverse"] ** power, rule=rule)


def schedule(name: str, to: Any) -> Any:
    return put("rates", "risk", to, schedule=name)


def rated(where: str, column: str, to: Any) -> Any:
    """A column of some rows of the rates."""
    return put("rates", column, to, where)


def little_harm(t: Tables) -> Tables:
    """The largest exponent at 1.05 times the best risk."""
    best = t["rates"].query("schedule not in ('harmonic', 'optimum')").groupby(["path", "gamma"])["risk"].min()
    return schedule("16", lambda r: [1.05 * best[key] for key in zip(r["path"], r["gamma"])])(t)


def privacy(*values: float) -> Any:
    """αγ/ρ along the axis that loses a power, and the risk twice as large there."""
    along = "both at once"
    return both(
        axis("decay", along, "privacy", lambda r: (r["size"].rank() - 1).astype(int).map(dict(enumerate(values)))),
        axis("decay", along, "left", lambda r: 2 * r["left"]),
    )


def cell(table: str, column: str, value: float, row: int = 0) -> Any:
    return lambda t: {table: change(t[table], column, lambda r: value, [row])}


def display(name: str) -> Any:
    return put("solutions", "difference", 1e-3, display=name)


def least_harmonic(over: float) -> Any:
    """The harmonic risk at this multiple of the least one, wherever both are known."""
    return both(
        put("gains", "risk", lambda r: over * r["least"], family="harmonic"),
        put("search", "harmonic", lambda r: over * r["searched"]),
    )


CASES = [
    Case(FIGURE, "a risk rises", lambda t: risk("uniform", "1", 1e5, last(t))(t), FAILS),
    Case(FIGURE, "output perturbation loses early", risk("isotropic", "0", 1.2, "n == 1000"), FAILS),
    Case(FIGURE, "output perturbation wins late", risk("isotropic", "0", 1e-1, "n > 500000"), FAILS),
    Case(FIGURE, "the power 1 is best late", lambda t: risk("uniform", "1", 0.7, last(t))(t), HOLDS, says="= 1 and 2"),
    Case(FIGURE, "one size alone", only("figure-7", "n == 1000"), UNTESTABLE),
    Case(OUTPUT, "another is better at the smallest n", risk("uniform", "0.5", 0.8, "n == 1000"), FAILS),
    Case(OUTPUT, "a decaying power is a little better there", near_output(0.995), FAILS),
    Case(OUTPUT, "the harmonic one is far better there", risk("uniform", "harmonic", 0.9, "n == 1000"), FAILS),
    Case(OUTPUT, "decaying powers are worse still", risk("isotropic", "0.5", 1.02, "n == 1000"), HOLDS, says="1.09"),
    Case(OUTPUT, "the harmonic one is better by little", risk("uniform", "harmonic", 0.99, "n == 1000"), HOLDS),
    Case(SPREAD, "less on the uniform spectrum", lambda t: risk("uniform", "0", 0.2, last(t))(t), FAILS),
    Case(SPREAD, "as much, within a factor of 1.02", lambda t: risk("uniform", "0", 0.44, last(t))(t), FAILS),
    Case(SPREAD, "more still", lambda t: risk("uniform", "0", 2.0, last(t))(t), HOLDS, says="12.1 times"),
    Case(ISO, "behind at the smallest n", risk("isotropic", "harmonic", 1.1, "n == 1000"), FAILS),
    Case(ISO, "no better at the largest", lambda t: risk("isotropic", "harmonic", 1.8, last(t))(t), FAILS),
    Case(ISO, "on a par at the largest", lambda t: harmonic(t, 0.92, "isotropic"), FAILS),
    Case(ISO, "never above", lambda t: harmonic(t, 0.8, "isotropic"), HOLDS, says=" 20 % below"),
    Case(ISO, "no better than anything at the smallest",
         put("figure-7", "ode_risk", lambda r: 0.4, lambda r: r["n"] == 1000), FAILS),
    Case(ISO, "one size alone", only("figure-7", "n == 1000"), UNTESTABLE),
    Case(UNI, "above the best from the start", lambda t: harmonic(t, 1.05, "uniform"), FAILS),
    Case(UNI, "above the best at the smallest n alone", risk("uniform", "harmonic", 1.05, "n == 1000"), FAILS),
    Case(UNI, "on a par at the end", lambda t: risk("uniform", "harmonic", 0.5, last(t))(t), HOLDS),
    Case(UNI, "one size alone", only("figure-7", "n == 1000"), UNTESTABLE),
    Case(UNI, "on a par with none", lambda t: risk("uniform", "harmonic", 1.2, last(t))(t), FAILS),
    Case(ALPHA, "the largest exponent does no harm", lambda t: schedule("16", lambda r: 0.1 * r["risk"])(t), FAILS),
    Case(ALPHA, "the least is best", lambda t: schedule("0", lambda r: 0.01 * r["risk"])(t), FAILS),
    Case(ALPHA, "the best falls once", rated("path == 'rho = 1' and gamma == 1e-6 and schedule == '0.5'", "risk",
         lambda r: 0.1 * r["risk"]), FAILS),
    Case(ALPHA, "the best rises to 0.22 of ln ln", rated("path == 'rho = gamma^(3/4)' and schedule == '1'", "schedule",
         lambda r: "0.69"), FAILS),
    Case(ALPHA, "the largest exponent does little harm", little_harm, FAILS),
    Case(POWER, "no power is lost", bounded, HOLDS),
    Case(POWER, "a fixed exponent loses", axis("decay", "rho = 1, alpha = 2", "left", lambda r: r["size"]), FAILS),
    Case(POWER, "below the constant", privacy(*[0.19] * 6), FAILS),
    Case(POWER, "below the constant at one of the last sizes", privacy(0.3, 0.3, 0.3, 0.3, 0.19, 0.3), FAILS),
    Case(POWER, "just above the constant", privacy(0.1, 0.1, 0.1, 0.21, 0.21, 0.21), NARROWER),
    Case(POWER, "more on another axis", both(axis("decay", "gamma^(3/4), alpha = 8", "left", lambda r: r["size"] ** 2),
         axis("decay", "gamma^(3/4), alpha = 8", "privacy", lambda r: 1.0)), NARROWER),
    Case(POWER, "one size on an axis", only("decay", "axis != 'alpha' or size == 1"), UNTESTABLE),
    Case(MATCH, "output perturbation has no risk", schedule("0", lambda r: 0.0), HOLDS),
    Case(MATCH, "more risk than the corrected bound", schedule("0", lambda r: r["gamma"] ** 0.5), FAILS),
    Case(MATCH, "more risk at one half", schedule("0.5", lambda r: r["gamma"] ** 0.5), FAILS),
    Case(GENERAL, "no power is lost", bounded, HOLDS),
    Case(GENERAL, "a small eigenvalue loses", axis("decay", "smallest", "left", lambda r: r["size"]), FAILS),
    Case(LOGS, "a power is lost", axis("decay", "rho = 1, log-log", "left", lambda r: r["right"] * r["size"]), FAILS),
    Case(LOGS, "one size", only("decay", "gamma == 1e-6"), UNTESTABLE),
    Case(BEST, "it has the least risk", least_harmonic(1.0), HOLDS),
    Case(BEST, "on a par", least_harmonic(1.09), HOLDS),
    Case(BEST, "beaten where the best one starts at the cap", both(least_harmonic(1.0), put(
        "gains", "risk", lambda r: 2 * r["least"], "rho == 10", family="harmonic")), NARROWER, says="up to 2 times"),
    Case(BEST, "beaten on uniform spectra alone", both(least_harmonic(1.0), put(
        "search", "harmonic", lambda r: 2 * r["searched"], spectrum="uniform")), HOLDS),
    Case(BEST, "beaten elsewhere", both(least_harmonic(1.0), put(
        "gains", "risk", lambda r: 2 * r["least"], "rho == 0.03", family="harmonic")), NARROWER, says="up to 2 times"),
    Case(BEST, "not even the order", axis("rates", "rho = 1", "risk", lambda r: r["gamma"] ** 0.5), FAILS),
    Case(BEST, "one size", only("rates", "gamma == 1e-6"), UNTESTABLE),
    Case(RATE, "one size", only("rates", "gamma == 1e-6"), UNTESTABLE),
    Case(RATE, "a power is lost", axis("rates", "rho = 1", "risk", lambda r: r["gamma"] ** 0.5), FAILS),
    Case(RATE, "by another constant", lambda t: schedule("harmonic", lambda r: 3 * r["risk"])(t), HOLDS,
         silent="least constant"),
    Case(OFFSET, "the text's offset does", offsets("text", 0.0), HOLDS),
    Case(OFFSET, "it never does", offsets("text", 1.0), FAILS),
    Case(OFFSET, "neither does", both(offsets("text", 1.0), offsets("proof", 1.0)), FAILS),
    Case(CONSTANTS, "a bound that outgrows the order", axis("theorem-2", "rho = 1", "bound", lambda r: r["size"]),
         FAILS),
    Case(CONSTANTS, "a risk above its bound", cell("theorem-2", "bound", 1e-9), FAILS),
    Case(CONSTANTS, "one size", only("theorem-2", "gamma == 1e-8 or gamma == 0.0001"), UNTESTABLE),
    Case(OFFSET, "one size", only("offsets", "gamma == 1e-6"), UNTESTABLE),
    Case(CLIP, "one size", only("small-noise", "axis != 'zeta = gamma^2' or gamma == 1e-4"), UNTESTABLE),
    Case(ALPHA, "one size", only("rates", "gamma == 1e-6"), UNTESTABLE),
    Case(CONSTANTS, "a path above its ceiling", cell("theorem-2", "ceiling", 0.1), FAILS),
    Case(CLIP, "a constant does", axis("small-noise", "gamma^2", "proportional", lambda r: r["order"]), FAILS),
    Case(CLIP, "a larger constant does", axis("small-noise", "gamma^2", "fixed", lambda r: r["order"]), HOLDS,
         silent="no constant"),
    Case(HEURISTIC, "another solution", cell("heuristic", "solved", 0.5), FAILS),
    Case(HEURISTIC, "a better one nearby", cell("heuristic", "nearby", 1e-3), FAILS),
    Case(HEURISTIC, "one as good nearby", put("heuristic", "nearby", lambda r: r["printed"]), HOLDS),
    Case(SOLUTION, "it is off", display("(5.24)"), FAILS),
    Case(LEMMA, "it is off", display("(D.101)"), FAILS),
    Case(INTEGRAL, "beyond its ceiling", cell("exponential-integrals", "ceiling", 1.1), FAILS),
    Case(INTEGRAL, "beyond its tail", cell("exponential-integrals", "tail", 1.1), FAILS),
    Case(INTEGRAL, "another limit", cell("exponential-integrals", "limit", 0.9), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, [*CASES, *PRECISION_CASES])


def test_a_bound_above_the_risk_of_answering_zero_is_vacuous() -> None:
    """Theorem 2 is, along λ_min alone; were it so along every axis, the verdict would say so."""
    judge, tables = judges_of(package(CHAPTER))[CONSTANTS], committed(CHAPTER)
    assert not judge(tables).vacuous
    assert judge(dict(tables) | dict(put("theorem-2", "order", 0.6)(tables))).vacuous


def test_private_noise_outruns_clipped_descent_from_the_constant_on() -> None:
    """The equation of the page in s = −ln(1 − y): k stays bounded below the constant and grows like e^{2s} above."""

    def end(share: float) -> float:
        slope = lambda s, k: 2 * k - 2 * np.sqrt(np.maximum(k, 0) / math.pi) + 4 * share**2  # noqa: E731
        return float(solve_ivp(slope, (0, 60), [0.0], method="LSODA", rtol=1e-8).y[0, -1])

    assert end(0.98 * OUTRUN) < 1 / math.pi
    assert end(1.02 * OUTRUN) > math.exp(20)
