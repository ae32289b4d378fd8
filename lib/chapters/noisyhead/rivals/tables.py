"""Short tables for the page on NoisyHead's rivals."""

import pandas as pd

from chapters.noisyhead.rivals.experiment import DESCENT, DP_RIDGE, LAST, NOISYHEAD, SOLUTION, ZERO
from chapters.noisyhead.rivals.guarantees import PRINTED
from chapters.noisyhead.rivals.readings import OPTIONS, PAPERS
from chapters.noisyhead.rivals.verdicts import asymptotic_exponents
from companion.judging.prose import percent, plain
from companion.judging.tables import select
from costofprivacy.settings import Setting

NEAREST = 6  # readings shown
WAYS = {NOISYHEAD: "NoisyHead", LAST: "NoisyHead, last iterate", DP_RIDGE: "DP-ridge"}
ALONE = {SOLUTION: "ridge without noise", DESCENT: "descent without noise", ZERO: "answer 0", "ridge": "reference Γ*"}
MOVES = {
    "bound": "bound derived below",
    "coarse": "its simpler form",
    "constructed": "worst neighbours, constructed",
    "largest_found": "worst of a random search",
    "flipped": "one response flipped, other prompts 0",
    "typical": "one response flipped, drawn prompts",
    "drawn": "drawn prompts replaced by drawn ones",
    "removed": "one prompt left out",
    "unclipped": "one response flipped, without clipping",
}
PATHS = {
    "N, with L = N^(1/2)": "N grows, L = √N",
    "N, with L = N^(1/4)": "N grows, L = ∜N",
    "N, with L = N^(1/4), λ ∝ √N/L": "N grows, L = ∜N, λ ∝ √N/L",
    "N, with L = N": "N grows, L = N",
    "D, with L² = N = 10⁶": "D grows, L² = N = 10⁶",
}


def show_table_1(comparison: pd.DataFrame) -> pd.DataFrame:
    """Table 1 as printed, the numbers behind Figure 1, ours, and the deviations from Table 1 in standard errors."""
    cell = comparison["N"].astype(str) + ", " + comparison["epsilon"].map("{:g}".format)
    rows = comparison.assign(method=comparison["method"].map(WAYS), **{"N, ε": cell}).set_index(["method", "N, ε"])
    published, printed = (select(rows, setting=setting) for setting in (Setting.PUBLISHED, Setting.PRINTED))
    numbers = {
        "Table 1": published["excess_risk_theirs"],
        "Figure 1": published["excess_risk_figure_1"],
        "ours, as published": published["excess_risk"],
        "Table 1 is off by (standard errors)": published["deviation"],
        "off by, ours as printed": printed["deviation"],
    }
    return pd.DataFrame(numbers).map(_number).sort_index()


def show_calibrated(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 again, both methods rightly calibrated, beside the published NoisyHead: mean ± standard error."""
    columns = {
        "DP-ridge": (DP_RIDGE, Setting.CORRECTED),
        "NoisyHead, last iterate": (LAST, Setting.CORRECTED),
        "NoisyHead, every iterate": (NOISYHEAD, Setting.CORRECTED),
        "NoisyHead, as published": (NOISYHEAD, Setting.PUBLISHED),
    }
    rows = table.set_index(["method", "setting"])
    by = {name: rows.loc[[key]].set_index(["N", "epsilon"]) for name, key in columns.items()}
    risk = {n: t["excess_risk"].map(plain) + " ± " + t["standard_error"].map(plain) for n, t in by.items()}
    over = by["NoisyHead, as published"]["excess_risk"] / by["DP-ridge"]["excess_risk"]
    shown = pd.DataFrame(risk).assign(**{"NoisyHead as published over DP-ridge": over.map(plain)})
    return shown.rename_axis(["N", "ε"])


def show_options() -> pd.DataFrame:
    """What each symbol of Appendix B is taken for; readings are all combinations."""
    names = {"factor": "factor on the variance", "measure": "what is measured"}
    rows = {names.get(name, name): (_typeset(", ".join(o)), len(o)) for name, o in OPTIONS.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["taken for", "choices"]).rename_axis("symbol")


def show_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """The text's own readings of Appendix B, then the nearest to Table 1's column of DP-ridge."""
    rows = pd.concat([select(readings, departures=0), readings.head(NEAREST)])
    shown = {
        "reading": [_typeset(_in_words(reading)) for _, reading in rows.iterrows()],
        "power of N": rows["power"].map("{:.2f}".format).to_numpy(),
        "predicted over printed, least": rows["least"].map(plain).to_numpy(),
        "largest": rows["largest"].map(plain).to_numpy(),
        "off by, at most (standard errors)": rows["deviation"].map(plain).to_numpy(),
    }
    return pd.DataFrame(shown).set_index("reading")


def _in_words(reading: pd.Series) -> str:
    """Which G, and every choice that is not the text's."""
    chosen = {name: _option(name, reading[name]) for name in OPTIONS}
    others = [f"{name}: {taken}" for name, taken in chosen.items() if name != "G" and taken not in PAPERS[name]]
    text = "" if others else "the text, "
    return text + ", ".join([f"G: {reading['G']}", *others])


def _option(name: str, saved: object) -> str:
    """The name of the option that a table keeps: a name, or the number that it stands for."""
    return next((option for option in OPTIONS[name] if option == str(saved) or _value(option) == saved), str(saved))


def _value(option: str) -> float | None:
    try:
        return float(option)
    except ValueError:
        return None


def _typeset(text: str) -> str:
    """The options' names with their powers of ten as a reader knows them."""
    return text.replace("1e-5", plain(1e-5)).replace("1e-2", plain(1e-2))


def show_other_column(table: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's column of Table 1 beside what two readings give NoisyHead."""
    given = table[["noise_risk", "limit_of_R"]].min(axis=1)
    rows = table.assign(given=given).rename(columns={"excess_risk_theirs": "Table 1"})
    wide = rows.pivot_table(index=["N", "epsilon", "Table 1"], columns="reading", values="given", sort=False)
    return wide.reset_index("Table 1").map(plain).rename_axis(index=["N", "ε"], columns=None)


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """CG/(λN), and all else as multiples of it, at the first and the last N."""
    ends = sensitivity[sensitivity["N"].isin([sensitivity["N"].min(), sensitivity["N"].max()])]
    ends = ends.set_index(["N", "setting"])
    multiples = ends[list(MOVES)].div(ends["printed"], axis=0).rename(columns=MOVES)
    shown = ends[["printed"]].rename(columns={"printed": "claimed, 𝒞G/(λN)"}).join(multiples)
    return shown.map(plain).T.rename_axis("largest move, as a multiple of the claimed")


def show_privacy(privacy: pd.DataFrame) -> pd.DataFrame:
    """What each calibration spends at the first N."""
    rows = select(privacy, N=privacy["N"].min()).set_index(["epsilon", "calibration"])
    printed = rows["noise_std"].xs(PRINTED, level="calibration").reindex(rows.index, level="epsilon")
    shown = {
        "noise over the printed noise": rows["noise_std"] / printed,
        "ε spent at the claimed δ": rows["epsilon_spent"],
        "δ spent over δ claimed": rows["delta_spent"] / rows["delta"],
    }
    return pd.DataFrame(shown).map(plain).rename_axis(["ε claimed", "noise"])


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What releases alone show."""
    names = {
        "epsilon_spent": "ε spent, exact",
        "epsilon_found": "ε found, at least",
        "mu": "μ claimed",
        "mu_spent": "μ spent, exact",
        "mu_found": "μ found, at least",
        "hits_first": "in the event",
        "hits_second": "the same, neighbour",
        "releases": "releases",
    }
    shown = audit.set_index(["epsilon", "calibration"])[list(names)]
    exact = {name: shown[name].map(plain) for name in list(names)[:5]}
    return shown.assign(**exact).rename(columns=names).rename_axis(["ε claimed", "noise"])


def show_ladder(ladder: pd.DataFrame) -> pd.DataFrame:
    """From DP-ridge to NoisyHead, one change a row."""
    names = {
        "noise_std": "noise of an entry",
        "noise_risk": "excess risk",
        "factor": "times the row above",
        "limit_of_R": "most that the projection lets pass",
    }
    return ladder.set_index("stage")[list(names)].rename(columns=names).map(_number).rename_axis("what is run")


def show_exponents(powers: pd.DataFrame) -> pd.DataFrame:
    """The power of the growing size in NoisyHead's noise over DP-ridge's, by path and algorithm."""
    shown = asymptotic_exponents(powers).unstack("algorithm").rename(index=PATHS)
    shown = shown.map(lambda power: f"{round(power, 2) + 0.0:.2f}".replace("-", "−"))
    return shown.rename_axis(index="path", columns=None)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε, and the share of Var(y) that is predicted."""
    rows = select(table, N=table["N"].max())
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows["method"].map(WAYS) + ", " + rows["setting"].astype(str)
    label = private.where(rows["epsilon"].notna(), rows["method"].map(ALONE))
    shown = rows.assign(label=label).drop_duplicates("label", keep="last").set_index("label")
    variance, best = rows["response_variance"].iloc[0], rows["best_linear_head"].iloc[0]
    errors = shown["test_error"].map("{:.5f}".format) + " ± " + shown["standard_error"].map(plain)
    predicted = (1 - shown["test_error"] / variance).map(percent)
    told = pd.DataFrame({"test error": errors, "share of the variance predicted": predicted})
    told.loc["best linear head"] = [f"{best:.5f}", percent(1 - best / variance)]
    return told.rename_axis(f"N = {rows['N'].iloc[0]}, ε = {rows['epsilon'].max():g}")


def _number(value: float) -> str:
    """A number for a cell; nothing where there is none."""
    return "" if pd.isna(value) or abs(value) == float("inf") else plain(value)
