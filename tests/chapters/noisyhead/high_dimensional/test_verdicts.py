"""What is tried on the judges of the chapter on high dimension."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from chapters.noisyhead.high_dimensional import measure
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, Tables, both, change, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
A1, A2, A3, TAIL = (f"noisyhead/{name}" for name in ("lemma-a.1", "lemma-a.2", "lemma-a.3", "tail-before-lemma-a.2"))


def broken(name: str, failures: float, grows: str = "N", by: float = 0.0, where: str = "N > 0") -> Change:
    """Data sets that break a lemma with √2, and constants needed that grow with a size."""

    rows = f"lemma == '{name}' and {where}"
    counted = put("lemmas", "fails_at_root_2", lambda r: (failures * r["data_sets"]).round(), rows)
    return both(counted, put("lemmas", "constant", lambda r: 2.0 * r[grows] ** by, rows))


def single(by: float) -> Change:
    return lambda t: {"lemma-a3-tail": t["lemma-a3-tail"].assign(constant_A3=lambda r: 2.0 * r["D"] ** by)}


OTHERWISE = "other than in the book"  # the verdict of the book, on other grounds
LEMMA_CASES = [
    *(
        Case(claim, f"no constant, along {size}", broken(name, 1.0, size, 0.11), FAILS)
        for claim, name in ((A1, "A.1"), (A2, "A.2"))
        for size in "NLD"
    ),
    # where Lemma A.3 is judged L = √N: one cannot be told from the other
    *(
        Case(A3, f"no constant, along {size}", broken("A.3", 1.0, size, by), FAILS)
        for size, by in (("N", 0.15), ("L", 0.3), ("D", 0.11))
    ),
    *(
        Case(claim, f"another constant, {size}", broken(name, 1.0, size, 0.01), HOLDS, says=OTHERWISE)
        for claim, name in ((A1, "A.1"), (A2, "A.2"))
        for size in "NLD"
    ),
    Case(A1, "as often as may be", broken("A.1", 0.0325, "N", 1.0), HOLDS, says="91 of 2800"),
    Case(A1, "more often than may be", broken("A.1", 0.035, "N", 1.0), FAILS),
    Case(A3, "one constant for all", single(0.09), HOLDS),
    Case(A3, "one that grows", single(0.11), NARROWER, says=r"many prompts.*to 3\.32 at"),
    Case(A3, "broken at many prompts, bounded at one", both(broken("A.3", 1.0, "D", 0.2), single(0.0)), FAILS),
]


def tails(to: Callable[[pd.DataFrame], object], column: str = "over_printed", where: str = "t > 0") -> Change:
    return put("sum-tail", column, to, where)


BOUNDED = tails(lambda r: 5.0 * r["t"] ** 0.09)
LEMMA_CASES += [
    Case(TAIL, "as printed, up to a constant", BOUNDED, HOLDS),
    *(
        Case(TAIL, f"beyond at {where}", both(BOUNDED, tails(lambda r: r["t"] ** 0.11, where=where)), CORRECTED)
        for where in ("D == 2 and L > 1e9", "D == 100 and L == 1")
    ),
    Case(TAIL, "beyond half the exponent", tails(lambda r: 1.1, "over_halved", "D == 5 and t == 2"), FAILS),
    Case(TAIL, "just half the exponent", tails(lambda r: 1.0, "over_halved", "D == 5 and t == 2"), CORRECTED),
]

CHAPTER = "noisyhead/high-dimensional"
FIGURE_2, THEOREM_11, SECTION_11 = "noisyhead/figure-2", "noisyhead/theorem-1.1-high", "noisyhead/section-1.1-regimes"
FORMAL = "noisyhead/section-1.1-formal"
THEOREM_42, A18, A19 = "noisyhead/theorem-4.2ii", "noisyhead/equation-a.18", "noisyhead/equation-a.19"


# Figure 2


def figure(
    to: Callable[[pd.DataFrame], object], column: str = "excess_risk", where: str = "method == 'noisyhead'"
) -> Change:
    return put("figure-2", column, to, where)


def starts(zero: float, random: float = -0.99, share: float = 0.9) -> Change:
    """Excess risks from both starts that fall like these powers, sharply known, with this share gone at the end."""

    def to(rows: pd.DataFrame) -> pd.Series:
        scaled = rows["N"] / rows["N"].max()
        return np.where(rows["start"] == "random", scaled**random, (1 - share) * scaled**zero)

    return lambda t: {"starts": t["starts"].assign(excess_risk=to, standard_error=lambda r: 1e-3 * r["excess_risk"])}


def steep_at_the_smallest_budget(t: Tables) -> Tables:
    """As `starts(-1.0)`, but with noise that falls fast and matters at the smallest ε alone."""
    changed = starts(-1.0)(t)["starts"]
    noisy = changed["epsilon"] == changed["epsilon"].min()
    steep = changed["excess_risk"].where(~noisy, (changed["N"] / changed["N"].max()) ** -2.4)
    return {"starts": changed.assign(excess_risk=steep, standard_error=1e-3 * steep)}


def deviating(setting: str, by: float, rows: int | None = None) -> Change:
    def changed(t: Tables) -> Tables:
        own = t["comparison"].index[t["comparison"]["setting"] == setting][:rows]
        return {"comparison": change(t["comparison"], "deviation", lambda r: by, own)}

    return changed


PRINTED_MATCH, PUBLISHED_MISS = deviating("printed", -3.9), deviating("published", 4.1, 1)


def one_step_up(N: int, factor: float) -> Change:
    return figure(lambda r: factor * r["excess_risk"], where=f"method == 'noisyhead' and N == {N} and epsilon == 0.5")


FIGURE_CASES = [
    Case(FIGURE_2, "any start, printed settings", both(starts(-1.0), PRINTED_MATCH), HOLDS),
    Case(FIGURE_2, "a start of no weight", both(starts(-4, share=0.49), PRINTED_MATCH), HOLDS),
    Case(FIGURE_2, "a start of weight", both(starts(-4, share=0.51), PRINTED_MATCH), NARROWER, says="51.00 %"),
    Case(FIGURE_2, "slow, but not at the smallest budget", both(steep_at_the_smallest_budget, PRINTED_MATCH), NARROWER),
    Case(FIGURE_2, "any start, other settings", starts(-1.8), CORRECTED),
    Case(FIGURE_2, "from zero just as fast as in low dimension", starts(-1.9), NARROWER, says="90.00 %"),
    Case(FIGURE_2, "no published number belongs to it", lambda t: {"comparison": t["comparison"].head(0)}, NARROWER),
    Case(FIGURE_2, "a fast random start", starts(-4, random=-1.9), FAILS),
    Case(FIGURE_2, "another fall in low dimension", put("powers", "exponent", -0.9, regime="low"), FAILS),
    Case(FIGURE_2, "a published number misses", PUBLISHED_MISS, FAILS),
    Case(FIGURE_2, "it rises with N", figure(lambda r: r["excess_risk"] * (r["N"] / 1000) ** 6), FAILS),
    Case(FIGURE_2, "it rises in between", one_step_up(1500, 3.0), FAILS),
    Case(FIGURE_2, "it rises with the budget", figure(lambda r: r["excess_risk"] * (100 * r["epsilon"]) ** 2), FAILS),
    Case(FIGURE_2, "noise hides all", figure(lambda r: 10 * r["excess_risk"], "standard_error"), UNTESTABLE),
    Case(FIGURE_2, "a single N", lambda t: only((2100,))(t), UNTESTABLE),
    Case(FIGURE_2, "a slope in doubt", lambda t: unsure(t), FAILS),
]


def only(sizes: tuple[int, ...]) -> Change:
    return lambda t: {name: t[name][t[name]["N"].isin(sizes)] for name in ("figure-2", "starts", "comparison")}


def unsure(t: Tables) -> Tables:
    return {"starts": t["starts"].assign(standard_error=lambda r: 0.5 * r["excess_risk"])}


# the rates


def power(regime: str, quantity: str, value: float, last: bool = True) -> Change:
    """Another exponent at the largest N, or everywhere else."""
    where = "N == N.max()" if last else "N < N.max()"
    return put("powers", "exponent", value, where, regime=regime, quantity=quantity)


def cost(axis: str, by: float, budget: str, column: str = "error_gap") -> Change:
    """A cost that outgrows its rate by a power along one axis, and is tiny."""
    bound = "rate_11" if column == "error_gap" else "bound_44"
    return put("regime-axes", column, lambda r: 1e-9 * r[bound] * r["size"] ** by, axis=axis, budget=budget)


LAST = list(measure.PATHS)[-1]


def formal(by: float, budget: str, axis: str = LAST) -> Change:
    """(4.4) outgrows the rate of Theorem 1.1 by this power along one path, and matches it on the others."""

    grown = lambda r: r["rate_11"] * r["size"] ** by  # noqa: E731
    matched = put("regime-axes", "bound_44", lambda r: r["rate_11"])
    return both(matched, put("regime-axes", "bound_44", grown, axis=axis, budget=budget))


def fixed_penalty(t: Tables) -> Tables:
    """A path on which always predicting 0 has a difference of errors and a squared difference that fall alike."""
    regimes = formal(0.0, measure.FIXED)(t)["regime-axes"]
    return {"regime-axes": regimes[regimes["axis"] == LAST].assign(D=6.0, L=30.0, penalty=1.0)}


def exponents(low: float, high: float) -> Change:
    return both(power(measure.LOW, measure.RATE_11, low), power(measure.HIGH, measure.RATE_11, high))


RATE_CASES = [
    *(
        Case(THEOREM_11, f"a cost beyond the rate, {axis}", cost(axis, 0.11, measure.FIXED), FAILS)
        for axis in measure.PATHS
    ),
    Case(THEOREM_11, "logarithms beyond it", cost(LAST, 0.09, measure.FIXED), HOLDS),
    Case(THEOREM_11, "beyond it at ε = T", cost(LAST, 0.11, measure.LARGEST), NARROWER),
    Case(THEOREM_11, "beyond it on the way to T", power(measure.HIGH, measure.AT_T, 0.06), NARROWER),
    Case(THEOREM_11, "a logarithm on the way to T", power(measure.HIGH, measure.AT_T, 0.04), HOLDS),
    Case(THEOREM_11, "slow noise", power(measure.HIGH, measure.BARE, -1.94), FAILS),
    Case(THEOREM_11, "noise just as fast", power(measure.HIGH, measure.BARE, -1.96), HOLDS),
    *(
        Case(SECTION_11, f"the bounds differ by the power {high - low:.2f}", exponents(low, high), verdict)
        for low, high, verdict in (
            (-2.5, -3.0, HOLDS),
            (-2.5, -3.06, FAILS),
            (-2.0, -1.54, CORRECTED),
            (-2.5, -1.94, FAILS),
        )
    ),
    Case(FORMAL, "the two costs fall alike", fixed_penalty, HOLDS),
    *(
        Case(FORMAL, f"(4.4) outgrows the rate at {budget}", formal(0.11, budget), FAILS)
        for budget in (measure.FIXED, measure.LARGEST)
    ),
    Case(FORMAL, "logarithms", formal(0.09, measure.FIXED), NARROWER),
]

# Theorem 4.2(ii) and its proof


def kept(part: str, by: float, error: float = 0.0) -> Change:
    """A floor that outgrows (4.4) by this power of N."""

    grown = put("narrow", "floor", lambda r: 1e-9 * r["bound_44"] * r["N"] ** by, part=part)
    return both(grown, put("narrow", "standard_error", lambda r: error * r["floor"], part=part))


def at_rest(update: str, ratio: float) -> Change:
    """Descent without noise over its bound at the largest r, and above it before."""

    def to(rows: pd.DataFrame) -> pd.Series:
        return rows["bound"] * np.where(rows["r"] == rows["r"].max(), ratio, 1e9)

    return put("progress", "excess_risk", to, update=f"penalty {update}")


def simulated(by: float, method: str = "noisyhead") -> Change:
    """One of the methods that outgrows (4.4) by this power of N, the other far below."""

    def to(rows: pd.DataFrame) -> pd.Series:
        return rows["bound"] * np.where(rows["method"] == method, rows["N"] ** by, 1e-9)

    return lambda t: {"both-sides": t["both-sides"].assign(excess_risk=to)}


def small_penalty(by: float) -> Change:
    grown = lambda r: r["bound_44"] * r["size"] ** by  # noqa: E731
    return put("regime-axes", "risk_halved", grown, axis=measure.SMALL_PENALTY)


def halves(t: Tables) -> Tables:
    return {"regime-axes": t["regime-axes"].assign(risk_printed=t["regime-axes"]["risk_halved"])}


NO_SLIP = (kept("minimiser", 0.0), at_rest("λ", 0.9), halves)
INSIDE = (kept("projection", 0.0), small_penalty(0.0))
TRUE = both(*NO_SLIP, *INSIDE)
MOVED = ("L", "r", "N", measure.PENALTY)
BOUND_CASES = [
    Case(THEOREM_42, "nothing is lost", TRUE, HOLDS),
    Case(THEOREM_42, "logarithms are", both(TRUE, small_penalty(0.09), kept("projection", 0.24)), HOLDS),
    Case(THEOREM_42, "the printed update rests above", both(*INSIDE, halves, kept("minimiser", 0.0)), CORRECTED),
    Case(THEOREM_42, "only its limit shows it", both(TRUE, kept("minimiser", 0.26)), CORRECTED),
    Case(THEOREM_42, "only its rest shows it", both(TRUE, at_rest("λ", 1.1)), CORRECTED),
    Case(THEOREM_42, "long prompts", both(TRUE, kept("projection", 0.26)), NARROWER, says=OTHERWISE),
    Case(THEOREM_42, "in doubt", both(TRUE, kept("projection", 0.26, 0.25)), HOLDS),
    Case(THEOREM_42, "beyond doubt", both(TRUE, kept("projection", 0.26, 0.24)), NARROWER, says=OTHERWISE),
    Case(THEOREM_42, "penalties that tend to 0, which Algorithm 1 excludes", both(TRUE, small_penalty(0.11)), HOLDS),
    Case(THEOREM_42, "simulated, along N", both(TRUE, simulated(0.26)), FAILS),
    Case(THEOREM_42, "simulated logarithms", both(TRUE, simulated(0.24)), HOLDS),
    Case(THEOREM_42, "half the penalty rests above", both(TRUE, at_rest("λ/2", 1.1)), FAILS),
    *(
        Case(THEOREM_42, f"lost along {axis} at {budget}", both(TRUE, cost(axis, 0.11, budget, "risk_halved")), FAILS)
        for axis, budget in ((*((axis, measure.FIXED) for axis in MOVED), (LAST, measure.LARGEST)))
    ),
    Case(THEOREM_42, "one N", lambda t: {"both-sides": t["both-sides"].query("N == 100")}, UNTESTABLE),
]


def step(name: str, axis: str, by: float) -> Change:
    return put("proof-steps", "left", lambda r: 1e3 * r["right"] * r["size"] ** by, step=name, axis=axis)


def one_size(t: Tables) -> Tables:
    return {"proof-steps": t["proof-steps"].drop_duplicates(["step", "axis"])}


PROOF = {A18: "(A.18)", A19: "(A.19)"}
STEP_CASES = [
    *(
        Case(claim, f"lost along {axis}", step(name, axis, 0.11), FAILS)
        for claim, name in PROOF.items()
        for axis in (*MOVED, "D")
    ),
    *(
        Case(claim, f"a logarithm along {axis}", step(name, axis, 0.09), found)
        for (claim, name), found, axis in (
            ((A18, "(A.18)"), HOLDS, "N"),
            ((A18, "(A.18)"), HOLDS, measure.SMALL_PENALTY),
            ((A19, "(A.19)"), CORRECTED, "N"),
        )
    ),
    Case(A18, "lost as penalties tend to 0", step("(A.18)", measure.SMALL_PENALTY, 0.11), HOLDS),
    Case(A18, "lost along the variance", step("(A.18)", measure.VARIANCE, 0.11), FAILS),
    Case(A18, "a single size", one_size, UNTESTABLE),
    Case(A19, "a single size", one_size, UNTESTABLE),
    Case(A19, "all penalties", step("(A.19)", measure.SMALL_PENALTY, 0.09), CORRECTED),
    Case(A19, "more than the theorem's variance", step("(A.19)", measure.VARIANCE, 2.11), FAILS),
    Case(
        A19,
        "all penalties, all variances",
        both(step("(A.19)", measure.SMALL_PENALTY, 0.09), step("(A.19)", measure.VARIANCE, 0.09)),
        HOLDS,
    ),
]

CASES = [*FIGURE_CASES, *RATE_CASES, *BOUND_CASES, *STEP_CASES, *LEMMA_CASES]

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
