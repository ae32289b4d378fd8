"""What is tried on the judges of the chapter on low dimension."""

from chapters.noisyhead.low_dimensional import measure
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, change, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/low-dimensional"
FIGURE_1, THEOREM_11, THEOREM_42 = "noisyhead/figure-1", "noisyhead/theorem-1.1-low", "noisyhead/theorem-4.2i"
HYPER = "noisyhead/section-6.1-hyperparameters"
COMMON = "noisyhead/section-1.1-common-weight"
A15, A16, A17 = (f"noisyhead/equation-a.{number}" for number in (15, 16, 17))


def falling(t: Tables, deviation: float = 0.5, where: object = slice(None)) -> Tables:
    """An excess risk like 1/(Nε), and published numbers at this distance."""
    return {
        "figure-1": change(t["figure-1"], "excess_risk", lambda r: 1e3 / (r["N"] * r["epsilon"].fillna(1))),
        "comparison": change(
            change(t["comparison"], "deviation", lambda r: 0.5), "deviation", lambda r: deviation, where
        ),
    }


def printed(t: Tables) -> object:
    return t["comparison"]["setting"] == "printed"


def published(t: Tables) -> object:
    return t["comparison"]["setting"] == "published"


def risen(t: Tables, N: int, epsilon: float, factor: float = 1.5) -> Tables:
    """A falling risk that rises before one cell."""
    fallen = falling(t)
    rows = (t["figure-1"]["N"] == N) & (t["figure-1"]["epsilon"] == epsilon)
    return fallen | {"figure-1": change(fallen["figure-1"], "excess_risk", lambda r: factor * r["excess_risk"], rows)}


def capped(t: Tables, where: object) -> Tables:
    """The projection caps the noise in these rows alone."""
    free = change(t["noise-part"], "closed_form", lambda r: 0.0)
    return {"noise-part": change(free, "closed_form", lambda r: r["limit_of_R"], where)}


def gap(t: Tables, to: object) -> Tables:
    sure = change(t["floors"], "gap_error", lambda r: 0.0)
    return {"floors": change(sure, "test_error_gap", to, t["floors"]["part"] == "projection")}


def floors(t: Tables, floor: float | None = None, minimiser: float | None = None) -> Tables:
    """Floors that follow the bound, but for those that are given."""
    axes = t["floor-axes"]
    for column, value in (("floor", floor), ("minimiser", minimiser)):
        axes = change(axes, column, (lambda r: r["bound"] / 9) if value is None else (lambda r, v=value: v))
    return {"floor-axes": axes, "floors": change(t["floors"], "floor", lambda r: r["bound"] / 9)}


def one_axis(t: Tables, axis: str, column: str, power: float) -> Tables:
    """Floors that follow the bound, but for one of them along one axis, which lags by a power."""
    found = floors(t)["floor-axes"]
    rows = found["axis"] == axis
    return floors(t) | {"floor-axes": change(found, column, lambda r: r["bound"] * r[axis] ** power, rows)}


def conditions(t: Tables, probability: float, rate: object) -> Tables:
    """Another promised probability, and another learning rate over the end of its interval."""
    promised = change(t["conditions"], "probability", lambda r: probability)
    return {"conditions": change(promised, "eta0_over_limit", rate, promised["setting"] == "printed")}


def step(t: Tables, name: str, axis: str, power: float, least: float = 0.0) -> Tables:
    """A proof step whose left side has this power of the size too much along one axis, from a size on."""
    size, table = ("L" if axis == "L" else "N"), t["proof-steps"]
    level = change(table, "left", lambda r: 7 * r["right"], table["step"] == name)
    rows = (table["step"] == name) & (table["axis"] == axis) & (table[size] >= least)
    return {"proof-steps": change(level, "left", lambda r: 7 * r["right"] * r[size] ** power, rows)}


def common(t: Tables, lower: float, upper: float, small: float = 0.0, none: float = 0.0) -> Tables:
    """The least cost and that of the mechanism follow the expected rate, but for a power of N each, by label noise."""
    table = change(t["common-weight"], "lower", lambda r: r["expected"] / 9 * r["N"] ** lower)
    powers = {measure.CONSTANT: upper, measure.SMALL: small, measure.NONE: none}
    return {
        "common-weight": change(
            table, "upper", lambda r: 9 * r["expected"] * r["N"] ** r["label_noise"].astype(str).map(powers)
        )
    }


CASES = [
    Case(COMMON, "a mechanism reaches the expected rate", lambda t: common(t, 0.0, 0.08), HOLDS),
    Case(
        COMMON,
        "no release reaches it, the mechanism has the rate of the theorem",
        lambda t: common(t, 0.5, 0.5),
        NARROWER,
        says="Without label noise",
    ),
    Case(COMMON, "nor with little label noise", lambda t: common(t, 0.5, 0.5, small=0.12), FAILS),
    Case(COMMON, "nor with none", lambda t: common(t, 0.5, 0.5, none=0.12), FAILS),
    Case(COMMON, "logarithms with little label noise", lambda t: common(t, 0.5, 0.5, small=0.08), NARROWER),
    Case(
        COMMON,
        "the mechanism is slower than the theorem",
        lambda t: common(t, 0.5, 0.7),
        NARROWER,
        says="other than in the",
    ),
    Case(COMMON, "the gap is open", lambda t: common(t, 0.0, 0.5), UNTESTABLE),
    Case(FIGURE_1, "it falls everywhere, all numbers match", falling, HOLDS),
    Case(FIGURE_1, "the printed settings miss", lambda t: falling(t, 4.1, printed(t)), CORRECTED),
    Case(FIGURE_1, "they hardly match", lambda t: falling(t, 3.9, printed(t)), HOLDS),
    Case(FIGURE_1, "the published settings miss", lambda t: falling(t, -4.1, published(t)), FAILS),
    Case(FIGURE_1, "no published numbers", lambda t: falling(t) | {"comparison": t["comparison"].head(0)}, HOLDS),
    Case(
        FIGURE_1,
        "it grows with N",
        put("figure-1", "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 4),
        FAILS,
    ),
    Case(
        FIGURE_1,
        "it rises where the projection is idle",
        lambda t: risen(t, 2000, 1.0) | capped(t, t["noise-part"]["N"] == 0),
        FAILS,
    ),
    Case(
        FIGURE_1,
        "it rises where the projection caps",
        lambda t: risen(t, 2000, 1.0, 2.0) | capped(t, t["noise-part"]["N"] == 1500),
        NARROWER,
        says="by a factor of 1.5",
    ),
    Case(
        FIGURE_1,
        "noise hides the trend",
        put("figure-1", "standard_error", lambda r: 10 * r["excess_risk"]),
        UNTESTABLE,
    ),
    Case(
        FIGURE_1,
        "a single cell",
        lambda t: {
            "figure-1": t["figure-1"].query("N == 4000 and epsilon != 0.2").query("epsilon == 1 or epsilon != epsilon")
        },
        UNTESTABLE,
    ),
    Case(THEOREM_11, "the projection leaves nothing", lambda t: gap(t, lambda r: 0.0), HOLDS),
    Case(THEOREM_11, "it falls with the bound", lambda t: gap(t, lambda r: r["bound"]), HOLDS),
    Case(THEOREM_11, "it lags by three logarithms", lambda t: gap(t, lambda r: r["bound"] * r["N"] ** 0.2), HOLDS),
    Case(
        THEOREM_11,
        "it lags by a power",
        lambda t: gap(t, lambda r: r["bound"] * r["N"] ** 0.4),
        FAILS,
        says="projection adds a lasting",
    ),
    Case(THEOREM_11, "doubt", put("floors", "gap_error", lambda r: r["floor"] * 1e6), HOLDS),
    Case(
        THEOREM_11,
        "the noise part has another power",
        lambda t: {
            "exponents": change(
                t["exponents"], "exponent", lambda r: -2.44, t["exponents"]["algorithm"] != "Theorem 1.1"
            )
        },
        FAILS,
        says="other than in the book",
    ),
    Case(
        THEOREM_11,
        "the noise part has nearly the power, and nothing stays",
        lambda t: (
            gap(t, lambda r: 0.0)
            | {
                "exponents": change(
                    t["exponents"], "exponent", lambda r: -2.46, t["exponents"]["algorithm"] != "Theorem 1.1"
                )
            }
        ),
        HOLDS,
    ),
    Case(THEOREM_42, "both floors follow the bound", floors, HOLDS),
    Case(THEOREM_42, "descent alone stays", lambda t: floors(t, minimiser=1e-3), CORRECTED),
    Case(THEOREM_42, "the projection alone stays", lambda t: floors(t, floor=1e-3), FAILS),
    *(
        Case(
            THEOREM_42,
            f"{column} lags by a power of {axis}",
            lambda t, a=axis, c=column: one_axis(t, a, c, 0.2),
            verdict,
        )
        for axis in ("N", "L")
        for column, verdict in (("floor", FAILS), ("minimiser", CORRECTED))
    ),
    *(
        Case(
            THEOREM_42,
            f"{column} lags by logarithms of {axis}",
            lambda t, a=axis, c=column: one_axis(t, a, c, 0.08),
            HOLDS,
        )
        for axis in ("N", "L")
        for column in ("floor", "minimiser")
    ),
    Case(THEOREM_42, "along N alone", lambda t: one_axis(t, "N", "floor", 0.2), FAILS, "with more prompts", "longer"),
    Case(THEOREM_42, "along L alone", lambda t: one_axis(t, "L", "floor", 0.2), FAILS, "with longer prompts", "more"),
    Case(
        THEOREM_11,
        "an idle projection has the power too",
        put("exponents", "exponent", -2.5),
        FAILS,
        "projection adds",
    ),
    Case(
        THEOREM_11,
        "the gap exceeds the bound from another size on",
        lambda t: gap(t, lambda r: r["bound"] * (0.1 + (r["N"] / 5e5) ** 0.4)),
        FAILS,
        says="above 99856:",
    ),
    Case(
        THEOREM_42,
        "the floor never exceeds the bound in the simulation",
        lambda t: one_axis(t, "N", "floor", 0.2),
        FAILS,
        says=r"above \$\\infty\$",
    ),
    Case(THEOREM_42, "the simulation lags", lambda t: floors(t) | {"floors": t["floors"]}, FAILS),
    Case(THEOREM_42, "one size", lambda t: {"floor-axes": t["floor-axes"].drop_duplicates("axis")}, UNTESTABLE),
    *(
        Case(claim, f"a power of {axis}", lambda t, n=name, a=axis: step(t, n, a, 0.12), FAILS)
        for claim, name in ((A15, "(A.15)"), (A16, "(A.16)"))
        for axis in ("N", "L", "D")
    ),
    *(
        Case(claim, f"logarithms of {axis}", lambda t, n=name, a=axis: step(t, n, a, 0.08), HOLDS)
        for claim, name in ((A15, "(A.15)"), (A16, "(A.16)"), (A17, "(A.17)"))
        for axis in ("N", "L", "D")
    ),
    Case(HYPER, "inside the theorem", lambda t: conditions(t, 0.2, lambda r: 0.99), HOLDS),
    Case(HYPER, "a probability of zero", lambda t: conditions(t, 0.0, lambda r: 0.99), CORRECTED),
    Case(
        HYPER,
        "the learning rate at the end",
        lambda t: conditions(t, 0.2, lambda r: 1.0),
        CORRECTED,
        mends=r"Should read: .*formulas \(4\.1\), with \$\\kappa = 1\$",
    ),
    Case(HYPER, "a factor that grows slowly", lambda t: conditions(t, -3.0, lambda r: r["N"] ** 0.24), CORRECTED),
    Case(HYPER, "a factor that grows", lambda t: conditions(t, -3.0, lambda r: r["N"] ** 0.26), FAILS),
    Case(HYPER, "one size", lambda t: {"conditions": t["conditions"].query("N == 1000")}, UNTESTABLE),
    Case(A15, "one size", lambda t: {"proof-steps": t["proof-steps"].query("N == 1000000")}, UNTESTABLE),
    Case(A17, "a power of L beyond N", lambda t: step(t, "(A.17)", "L", 0.5, 1e7), NARROWER),
    Case(A17, "a power of L throughout", lambda t: step(t, "(A.17)", "L", 0.5), FAILS),
    Case(A17, "a power of N", lambda t: step(t, "(A.17)", "N", 0.5), FAILS),
    Case(A17, "a power of D", lambda t: step(t, "(A.17)", "D", 0.5), FAILS),
]

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
