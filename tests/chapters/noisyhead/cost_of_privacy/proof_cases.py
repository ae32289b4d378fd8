"""What is tried on the judges of the proof of Theorem 4.1: its steps, and the events that they rest on."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, both, put

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
A2, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14 = (
    f"noisyhead/equation-a.{number}" for number in (2, *range(4, 15))
)
DISPLAY, SIGNED = (f"noisyhead/display-before-a.{number}" for number in (9, 12))
OTHERWISE = "other than in the book"  # the verdict of the book, on other grounds
To = Callable[[pd.DataFrame], Any]
SHORT = 31  # a length below D log(NL/κ)


def worst(check: str, printed: float, halved: float) -> Callable[[Tables], Tables]:
    return both(
        put("recursion", "worst", lambda r: printed, check=check, setting="printed"),
        put("recursion", "worst", lambda r: halved, check=check, setting="corrected"),
    )


def along(name: str, axis: str, top: str, under: str, power: float, scale: float = 1e-3) -> Callable[[Tables], Tables]:
    """Along an axis, a column over another like a power of the size, from ``scale`` on."""
    to = lambda r: scale * r[under] * (r[axis] / r[axis].min()) ** power  # noqa: E731
    return put(name, top, to, axis=axis)


def level(name: str, top: str, under: str, axes: str) -> Callable[[Tables], Tables]:
    return both(*(along(name, axis, top, under, 0.0) for axis in axes))


def response(power: float, error: float) -> Callable[[Tables], Tables]:
    return both(
        put("noise-response", "value", lambda r: 1.0 * r["D"] ** power, quantity="weights"),
        put("noise-response", "standard_error", lambda r: error * r["value"], quantity="weights"),
    )


def both_parts(r: pd.DataFrame) -> pd.Series:
    return r["bound_noise"] + r["bound_descent"]


DESCENT_FINE = put("conditional", "descent_printed", lambda r: both_parts(r) / 2)
NOISE_FINE = level("conditional", "noise", "bound_noise", "NLDT")
PAIRS_FINE = put("signed-sums", "statistic_norm", lambda r: r["allowed"])
STATISTIC_FINE = both(
    put("events", "mean_norm", lambda r: 3 * r["G0, proof"]), level("norms", "statistic_norm", "query_bound", "NLD")
)
STEPS = [
    Case(A2, "it moves away", put("projection-step", "left_over_middle", lambda r: 1.01, D=5), FAILS),
    Case(A2, "the split is lost", put("projection-step", "middle_over_right", lambda r: 1.01, C0=10.0), FAILS),
    Case(A2, "rounding alone", both(put("projection-step", "left_over_middle", lambda r: 1 + 1e-9),
         put("projection-step", "middle_over_right", lambda r: 1 + 1e-9)), HOLDS),
    Case(A4, "nothing is broken", both(PAIRS_FINE, put("events", "A4_violated", lambda r: 0)), HOLDS),
    Case(A4, "long prompts alone", both(PAIRS_FINE, put("events", "A4_violated", lambda r: 0, L=SHORT)), NARROWER),
    Case(A4, "a short prompt too", PAIRS_FINE, FAILS, says=OTHERWISE),
    Case(A4, "one built prompt", both(PAIRS_FINE, put("signed-sums", "statistic_norm", lambda r: 1.0, L=100)),
         FAILS),
    Case(A4, "one sum cancels", both(put("signed-sums", "sum_norm", lambda r: 1.0 - (r["L"] == 10)),
         put("signed-sums", "statistic_norm", lambda r: 1.0)), FAILS),
    Case(A4, "the sums do not cancel", both(put("signed-sums", "sum_norm", lambda r: 1.0),
         put("signed-sums", "allowed", lambda r: r["statistic_norm"] / 3)), FAILS, says=OTHERWISE),
    Case(A5, "as printed", worst("(A.5)", 1 - 1e-9, 0.9), HOLDS),
    Case(A5, "with half the penalty", worst("(A.5)", 0.99, 1 - 1e-9), CORRECTED),
    Case(A5, "not even then", worst("(A.5)", 0.99, 0.99), FAILS),
    Case(A6, "too steep", both(PAIRS_FINE, worst("(A.6)", 1.01, 0.5)), CORRECTED),
    Case(A6, "just as steep", both(worst("(A.6)", 1 + 1e-9, 2.0), PAIRS_FINE), HOLDS),
    Case(A6, "one built prompt is longer", both(PAIRS_FINE, put("signed-sums", "statistic_norm", lambda r: 1.0, L=100)),
         CORRECTED),
    Case(A7, "as printed", worst("(A.7)", 1 + 1e-9, 2.0), HOLDS),
    Case(A7, "with half the penalty", worst("(A.7)", 1.01, 1 + 1e-9), CORRECTED),
    Case(A7, "not even then", worst("(A.7)", 1.01, 1.01), FAILS),
    Case(A8, "as printed", worst("(A.8)", 1e-21, 1.0), HOLDS),
    Case(A8, "with half the penalty", worst("(A.8)", 1e-20, 1e-21), CORRECTED),
    Case(A8, "not even then", worst("(A.8)", 1e-19, 1e-20), FAILS),
    Case(DISPLAY, "linear in D", response(1.0, 1e-6), HOLDS),
    Case(DISPLAY, "nearly linear", response(1.09, 1e-6), HOLDS),
    Case(DISPLAY, "more than linear", response(1.11, 1e-6), FAILS, says=r"D\^\{1\.11\}"),
    Case(DISPLAY, "linear within the error", response(1.5, 0.35), HOLDS),
    Case(DISPLAY, "the prediction is not asked", put("noise-response", "closed_form", lambda r: 1.0 * r["D"]),
         FAILS),
    Case(DISPLAY, "two dimensions", lambda t: {"noise-response": t["noise-response"].query("D >= 10")}, FAILS),
    Case(DISPLAY, "one dimension", lambda t: {"noise-response": t["noise-response"].query("D == 5")}, UNTESTABLE),
    Case(A9, "both parts inside", both(NOISE_FINE, DESCENT_FINE), HOLDS),
    Case(A9, "descent outside, bounded", put("conditional", "descent_printed", lambda r: 9 * both_parts(r)), HOLDS),
    Case(A9, "descent grows to just outside", both(DESCENT_FINE, put("conditional", "descent_printed",
         lambda r: 1.5 * both_parts(r) * (r["L"] / r["L"].max()) ** 0.5, axis="L")), CORRECTED),
    Case(A9, "descent grows to just inside", both(DESCENT_FINE, put("conditional", "descent_printed",
         lambda r: 0.9 * both_parts(r) * (r["L"] / r["L"].max()) ** 0.5, axis="L")), HOLDS),
    Case(A9, "descent grows far inside", along("conditional", "L", "descent_printed", "bound_noise", 0.5, 1e-9),
         CORRECTED),
    *(
        Case(A9, f"noise grows along {axis}", along("conditional", axis, "noise", "bound_noise", 0.11), FAILS)
        for axis in "NLDT"
    ),
    *(
        Case(A9, f"noise is level along {axis}", along("conditional", axis, "noise", "bound_noise", 0.09), CORRECTED)
        for axis in "NLDT"
    ),
    Case(A9, "half the penalty is not enough", put("conditional", "descent_halved", lambda r: r["descent_printed"]),
         FAILS),
    Case(A9, "one N", lambda t: {"conditional": t["conditional"].query("axis != 'N'")}, UNTESTABLE),
]  # fmt: skip
EVENTS = [
    Case(A10, "often", put("events", "D3_fails", lambda r: 2), FAILS),
    Case(A10, "now and then", put("events", "D3_fails", lambda r: 1), HOLDS),
    Case(A10, "once too often", put("events", "D3_fails", lambda r: 1 + (r["L"] == 10)), FAILS),
    Case(A10, "the union bound is just κ", put("events", "D3_union_bound", lambda r: 0.01, L=31), HOLDS),
    Case(A10, "the union bound is too large", put("events", "D3_union_bound", lambda r: 0.0101, L=31), UNTESTABLE),
    Case(A11, "one constant for all", put("constants", "constant_proof", lambda r: 1.4), HOLDS),
    Case(A11, "nearly so", put("constants", "constant_proof", lambda r: r["log_odds"] ** 0.09), HOLDS),
    Case(A11, "a power of the logarithm", put("constants", "constant_proof", lambda r: r["log_odds"] ** 0.11),
         CORRECTED),
    Case(A11, "a power of D", put("constants-by-dimension", "constant_proof", lambda r: r["D"] ** 0.11), FAILS),
    Case(A11, "the logarithm of D", put("constants-by-dimension", "constant_proof", lambda r: r["D"] ** 0.09),
         CORRECTED),
    Case(A11, "the lemma's radius is left", put("events", "D2_lemma_fails", lambda r: 2), FAILS),
    Case(A11, "rarely left", put("events", "D2_lemma_fails", lambda r: 1, L=10), CORRECTED),
    Case(A11, "the lemma needs more", put("constants", "constant_lemma", lambda r: 1.43, N=1e6), FAILS),
    Case(A11, "at some D", put("constants-by-dimension", "constant_lemma", lambda r: 1.43), FAILS),
    Case(A11, "not quite", put("constants", "constant_lemma", lambda r: 1.41), CORRECTED),
    Case(A11, "one N", lambda t: {"constants": t["constants"].tail(1)}, UNTESTABLE),
    Case(A12, "level along L", along("norms", "L", "ridge_norm", "weight_bound", 0.0), HOLDS),
    Case(A12, "nearly level", along("norms", "L", "ridge_norm", "weight_bound", 0.09), HOLDS),
    Case(A12, "growing", along("norms", "L", "ridge_norm", "weight_bound", 0.11), NARROWER,
         says=r"L\^\{0\.11\}"),
    Case(A12, "outside already where it is sure", along("norms", "L", "ridge_norm", "weight_bound", 0.11, 2.0), FAILS),
    Case(A12, "half as much outside", along("norms", "L", "ridge_norm", "weight_bound", 0.3, 0.19), FAILS),
    Case(A12, "along N", along("norms", "N", "ridge_norm", "weight_bound", 0.6), FAILS),
    Case(A12, "along D", along("norms", "D", "ridge_norm", "weight_bound", 0.6), FAILS),
    Case(A12, "in data", put("radius", "norm_max", lambda r: 1.1 * r["R_printed"], N=500), FAILS),
    Case(A12, "just inside in data", put("radius", "norm_max", lambda r: r["R_printed"]), NARROWER),
    Case(A12, "one L", lambda t: {"norms": t["norms"].query("axis != 'L'")}, UNTESTABLE),
    Case(SIGNED, "no pair is beyond", PAIRS_FINE, HOLDS),
    Case(SIGNED, "rounding alone", put("signed-sums", "statistic_norm", lambda r: r["allowed"] + 5e-10), HOLDS),
    Case(SIGNED, "one prompt is beyond", both(PAIRS_FINE, put("signed-sums", "statistic_norm", lambda r: 1.0, L=100)),
         FAILS),
    Case(A13, "a constant factor", STATISTIC_FINE, HOLDS),
    Case(A13, "in data alone", level("norms", "statistic_norm", "query_bound", "NLD"), NARROWER, says=r"L\^\{0\.47\}"),
    Case(A13, "in closed form alone", put("events", "mean_norm", lambda r: r["G0, proof"]), NARROWER,
         says=r"L\^\{0\.49\}"),
    Case(A13, "a little, in data", both(STATISTIC_FINE,
         put("events", "mean_norm", lambda r: r["G0, proof"] * r["L"] ** 0.24)), HOLDS),
    Case(A13, "short prompts too", put("events", "share above G0, proof", lambda r: 0.011, L=SHORT), FAILS),
    Case(A13, "short prompts nearly", put("events", "share above G0, proof", lambda r: 0.01, L=SHORT), NARROWER),
    Case(A13, "along N", along("norms", "N", "statistic_norm", "query_bound", 0.6), FAILS),
    Case(A13, "along D", along("norms", "D", "statistic_norm", "query_bound", 0.6), FAILS),
    Case(A13, "one L", lambda t: both(STATISTIC_FINE)(t) | {"events": t["events"].head(1)}, UNTESTABLE),
    Case(A14, "a constant factor", STATISTIC_FINE, HOLDS),
    Case(A14, "no prompt is beyond", put("events", "share above G0, proof", lambda r: 0.04), HOLDS),
    Case(A14, "the longest prompts are", both(put("events", "share above G0, proof", lambda r: 0.0),
         put("events", "share above G0, proof", lambda r: 0.041, L=2000)), NARROWER,
         says="length 2000, .* at most 0.959"),
    Case(A14, "short prompts are just not", put("events", "share above G0, proof", lambda r: 0.04, L=SHORT),
         NARROWER),
    Case(A14, "short prompts are", put("events", "share above G0, proof", lambda r: 0.041, L=SHORT), FAILS),
    Case(A14, "sums fail", put("events", "D2_lemma_fails", lambda r: 2), FAILS),
    Case(A14, "responses fail", put("events", "D3_fails", lambda r: 2), FAILS),
]  # fmt: skip
CASES = [*STEPS, *EVENTS]
