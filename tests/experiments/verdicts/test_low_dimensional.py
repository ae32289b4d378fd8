"""Every verdict on low dimensional depends on its tables."""

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import low_dimensional as lo
from tests.experiments.verdicts.machinery import Case, Tables, change, contradicted, turns

HOLDS, AMENDED, FAILS, UNTESTABLE = Verdict
EXPERIMENT = lo.Experiment(N=(1000, 1500, 4000), epsilon=(0.2, 1.0), trials=30)


CASES: list[Case] = [
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {
            "comparison": change(t["comparison"], "deviation", lambda r: 9.0, t["comparison"]["setting"] == "published")
        },
        {FAILS},
    ),
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {"figure-1": change(t["figure-1"], "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 4)},
        {FAILS},
    ),
    (
        lo.judge_figure_1,
        ("figure-1", "comparison", "conditions"),
        AMENDED,
        lambda t: {
            "figure-1": change(t["figure-1"], "excess_risk", lambda r: 1e3 / (r["N"] * r["epsilon"].fillna(1))),
            "comparison": change(t["comparison"], "deviation", lambda r: 0.5),
        },
        {HOLDS},
    ),
    (
        lo.judge_theorem_11_low,
        ("noise-part", "floors", "exponents"),
        FAILS,
        lambda t: {"floors": change(t["floors"], "floor", lambda r: 0.0)},
        {HOLDS},
    ),
    (
        lo.judge_theorem_42i,
        ("figure-1", "floors"),
        FAILS,
        lambda t: {"floors": change(t["floors"], "floor", lambda r: 0.0, t["floors"]["part"] == "projection")},
        {AMENDED},
    ),
    (
        lo.judge_theorem_42i,
        ("figure-1", "floors"),
        FAILS,
        lambda t: {
            "floors": change(t["floors"], "floor", lambda r: 0.0, t["floors"]["part"] == "projection"),
            "figure-1": change(
                t["figure-1"], "excess_risk", lambda r: 1e-20, t["figure-1"]["method"] == "gradient-descent"
            ),
        },
        {HOLDS},
    ),
]


@contradicted(CASES)
def test_a_verdict_turns_when_its_table_is_contradicted(case: Case, tables: Tables) -> None:
    turns(case, tables)


def test_a_noise_part_of_another_power_refutes_theorem_11(tables: Tables) -> None:
    slow = change(tables["exponents"], "exponent", lambda r: -2.0, tables["exponents"]["algorithm"] != "Theorem 1.1")
    found = lo.judge_theorem_11_low(tables["noise-part"], tables["floors"], slow)
    assert found.verdict == Verdict.FAILS
    assert "even the noise part" in found.evidence


def test_a_single_point_shows_no_trend(tables: Tables) -> None:
    one = tables["figure-1"].query("N == 1000 and (epsilon == 1 or epsilon != epsilon)")
    found = lo.judge_figure_1(one, tables["comparison"].head(0), tables["conditions"])
    assert found.verdict == Verdict.UNTESTABLE


def test_too_few_trials_decide_nothing(tables: Tables) -> None:
    noisy = change(tables["figure-1"], "standard_error", lambda r: 10 * r["excess_risk"])
    found = lo.judge_figure_1(noisy, tables["comparison"], tables["conditions"])
    assert found.verdict == Verdict.UNTESTABLE
