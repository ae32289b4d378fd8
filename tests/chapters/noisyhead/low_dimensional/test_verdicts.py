"""What is tried on the judges of the chapter on low dimension."""

from typing import Any

from chapters.noisyhead.low_dimensional.measure import CONSTANT, NONE, SMALL
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, Tables, both, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/low-dimensional"
FIGURE_1, THEOREM_11, THEOREM_42 = "noisyhead/figure-1", "noisyhead/theorem-1.1-low", "noisyhead/theorem-4.2i"
HYPER, COMMON = "noisyhead/section-6.1-hyperparameters", "noisyhead/section-1.1-common-weight"
A15, A16, A17 = (f"noisyhead/equation-a.{number}" for number in (15, 16, 17))
STEPS = {A15: "(A.15)", A16: "(A.16)", A17: "(A.17)"}


def falling(deviation: float = 0.5, **where: Any) -> Change:
    """An excess risk like 1/(Nε), and published numbers at this distance."""
    return both(
        put("figure-1", "excess_risk", lambda r: 1e3 / (r["N"] * r["epsilon"].fillna(1))),
        put("comparison", "deviation", 0.5),
        put("comparison", "deviation", deviation, **where),
    )


def risen(factor: float, capped_at: int) -> Change:
    """A falling risk that rises before one cell; the projection caps the noise at one N alone."""
    return both(
        falling(),
        put("figure-1", "excess_risk", lambda r: factor * r["excess_risk"], N=2000, epsilon=1.0),
        put("noise-part", "closed_form", 0.0),
        put("noise-part", "closed_form", lambda r: r["limit_of_R"], N=capped_at),
    )


def gap(to: Any) -> Change:
    return both(put("floors", "gap_error", 0.0), put("floors", "test_error_gap", to, part="projection"))


def exponents(to: float) -> Change:
    return put("exponents", "exponent", to, "algorithm != 'Theorem 1.1'")


def floors(floor: Any = None, minimiser: Any = None, **axis: str) -> Change:
    """Floors that follow the bound, but for those that are given, along one axis or both."""
    parts = {"floor": floor, "minimiser": minimiser}
    follow = [put("floor-axes", part, lambda r: r["bound"] / 9) for part in parts]
    given = [put("floor-axes", part, to, **axis) for part, to in parts.items() if to is not None]
    return both(*follow, put("floors", "floor", lambda r: r["bound"] / 9), *given)


def one_axis(axis: str, part: str, power: float) -> Change:
    """Floors that follow the bound, but for one of them along one axis, which lags by a power."""
    return floors(**{part: lambda r: r["bound"] * r[axis] ** power}, axis=axis)


def conditions(probability: float, rate: Any) -> Change:
    """Another promised probability, and another learning rate over the end of its interval."""
    promised = put("conditions", "probability", probability)
    return both(promised, put("conditions", "eta0_over_limit", rate, setting="printed"))


def step(claim: str, axis: str, power: float, least: float = 0.0) -> Change:
    """A proof step whose left side has this power of the size too much along one axis, from a size on."""
    size, name = ("L" if axis == "L" else "N"), STEPS[claim]
    level = put("proof-steps", "left", lambda r: 7 * r["right"], step=name)
    grown = lambda r: 7 * r["right"] * r[size] ** power  # noqa: E731
    return both(level, put("proof-steps", "left", grown, f"{size} >= {least}", step=name, axis=axis))


def common(lower: float, upper: float, small: float = 0.0, none: float = 0.0) -> Change:
    """The least cost and that of the mechanism follow the expected rate, but for a power of N each, by label noise."""
    powers = {CONSTANT: upper, SMALL: small, NONE: none}
    return both(
        put("common-weight", "lower", lambda r: r["expected"] / 9 * r["N"] ** lower),
        put("common-weight", "upper",
            lambda r: 9 * r["expected"] * r["N"] ** r["label_noise"].astype(str).map(powers)),
    )  # fmt: skip


def single_cell(t: Tables) -> Tables:
    rows = t["figure-1"].query("N == 4000 and epsilon != 0.2")
    return {"figure-1": rows.query("epsilon == 1 or epsilon != epsilon")}


CASES = [
    Case(COMMON, "a mechanism reaches the expected rate", common(0.0, 0.08), HOLDS),
    Case(COMMON, "no release reaches it, the mechanism has the rate of the theorem", common(0.5, 0.5), NARROWER,
         says="Without label noise"),
    Case(COMMON, "nor with little label noise", common(0.5, 0.5, small=0.12), FAILS),
    Case(COMMON, "nor with none", common(0.5, 0.5, none=0.12), FAILS),
    Case(COMMON, "the mechanism is slower than the theorem", common(0.5, 0.7), NARROWER, says="other than in the"),
    Case(COMMON, "the gap is open", common(0.0, 0.5), UNTESTABLE),
    Case(FIGURE_1, "it falls everywhere, all numbers match", falling(), HOLDS),
    Case(FIGURE_1, "the printed settings miss", falling(4.1, setting="printed"), CORRECTED),
    Case(FIGURE_1, "the published settings miss", falling(-4.1, setting="published"), FAILS),
    Case(FIGURE_1, "no published numbers", both(falling(), lambda t: {"comparison": t["comparison"].head(0)}), HOLDS),
    Case(FIGURE_1, "it grows with N",
         put("figure-1", "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 4), FAILS),
    Case(FIGURE_1, "it rises where the projection is idle", risen(1.5, capped_at=0), FAILS),
    Case(FIGURE_1, "it rises where the projection caps", risen(2.0, capped_at=1500), NARROWER,
         says="by a factor of 1.5"),
    Case(FIGURE_1, "noise hides the trend", put("figure-1", "standard_error", lambda r: 10 * r["excess_risk"]),
         UNTESTABLE),
    Case(FIGURE_1, "a single cell", single_cell, UNTESTABLE),
    Case(THEOREM_11, "the projection leaves nothing", gap(0.0), HOLDS),
    Case(THEOREM_11, "it falls with the bound", gap(lambda r: r["bound"]), HOLDS),
    Case(THEOREM_11, "it lags by three logarithms", gap(lambda r: r["bound"] * r["N"] ** 0.2), HOLDS),
    Case(THEOREM_11, "it lags by a power", gap(lambda r: r["bound"] * r["N"] ** 0.4), FAILS,
         says="projection adds a lasting"),
    Case(THEOREM_11, "the noise part has another power", exponents(-2.44), FAILS, says="other than in the book"),
    Case(THEOREM_11, "an idle projection has the power too", put("exponents", "exponent", -2.5), FAILS,
         says="projection adds"),
    Case(THEOREM_11, "the gap exceeds the bound from another size on",
         gap(lambda r: r["bound"] * (0.1 + (r["N"] / 5e5) ** 0.4)), FAILS, says="above 99856:"),
    Case(THEOREM_42, "both floors follow the bound", floors(), HOLDS),
    Case(THEOREM_42, "descent alone stays", floors(minimiser=1e-3), CORRECTED),
    Case(THEOREM_42, "the projection alone stays", floors(floor=1e-3), FAILS),
    *(Case(THEOREM_42, f"{part} lags by a power of {axis}", one_axis(axis, part, 0.2), verdict)
      for axis in ("N", "L") for part, verdict in (("floor", FAILS), ("minimiser", CORRECTED))),
    *(Case(THEOREM_42, f"{part} lags by logarithms of {axis}", one_axis(axis, part, 0.08), HOLDS)
      for axis in ("N", "L") for part in ("floor", "minimiser")),
    Case(THEOREM_42, "along L alone", one_axis("L", "floor", 0.2), FAILS, "with longer prompts", "more"),
    Case(THEOREM_42, "the floor never exceeds the bound in the simulation", one_axis("N", "floor", 0.2), FAILS,
         says=r"above \$\\infty\$"),
    Case(THEOREM_42, "the simulation lags", lambda t: floors()(t) | {"floors": t["floors"]}, FAILS),
    *(Case(claim, f"a power of {axis}", step(claim, axis, 0.12), FAILS) for claim in (A15, A16) for axis in "NLD"),
    *(Case(claim, f"logarithms of {axis}", step(claim, axis, 0.08), HOLDS) for claim in STEPS for axis in "NLD"),
    Case(A17, "a power of L beyond N", step(A17, "L", 0.5, 1e7), NARROWER),
    *(Case(A17, f"a power of {axis} throughout", step(A17, axis, 0.5), FAILS) for axis in "NLD"),
    Case(HYPER, "inside the theorem", conditions(0.2, 0.99), HOLDS),
    Case(HYPER, "a probability of zero", conditions(0.0, 0.99), CORRECTED),
    Case(HYPER, "the learning rate at the end", conditions(0.2, 1.0), CORRECTED,
         mends=r"Should read: .*formulas \(4\.1\), with \$\\kappa = 1\$"),
    Case(HYPER, "a factor that grows", conditions(-3.0, lambda r: r["N"] ** 0.26), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
