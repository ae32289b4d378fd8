"""Short tables for the page on low dimension."""

import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.low_dimensional import common_weight
from chapters.noisyhead.low_dimensional.verdicts import slopes
from companion.judging import growth
from companion.judging.prose import compact
from companion.judging.tables import select
from costofprivacy.settings import Setting

METHODS = {"noisyhead": "NoisyHead", "gradient-descent": "no noise"}


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers, in combined standard errors, by setting and method."""
    return agreement.deviations(comparison).rename(index=METHODS)


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """The conditions of the theorems at the first and the last N."""
    ends = conditions[conditions["N"].isin([conditions["N"].min(), conditions["N"].max()])]
    names = {
        "probability": r"$1 - 4\kappa$",
        "eta0_over_limit": r"$\eta_0$ over its limit",
        "D_squared": "$D^2$",
        "log_N": r"$\log N$",
        "log_NL": r"$\log NL$",
    }
    shown = ends.set_index(["N", "setting"]).rename_axis(index=["$N$", "setting"])
    return shown[list(names)].rename(columns=names).map(compact)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε: NoisyHead by setting, its reference, answering 0, the best linear head."""
    rows = table[table["N"] == table["N"].max()]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows[rows["method"] == "noisyhead"]
    shown = dict(zip("NoisyHead, " + private["setting"], private["test_error"], strict=True))
    others = {"gradient-descent": "descent without noise", "ridge": r"reference $\Gamma^*$", "zero": "answering 0"}
    for method, name in others.items():
        shown[name] = select(rows, method=method, setting=Setting.PUBLISHED)["test_error"].iloc[0]
    shown["best linear head"] = rows["best_linear_head"].iloc[0]
    errors = pd.Series(shown)
    predicted = 100 * (1 - errors / rows["response_variance"].iloc[0])
    told = {"test error": errors.map("{:.4f}".format), "share of the variance predicted, %": predicted.map(compact)}
    return pd.DataFrame(told)


def show_slopes(noise: pd.DataFrame) -> pd.DataFrame:
    """Fitted power of N in the noise part by setting and ε, at the ε with the most sizes first."""
    shown = slopes(noise).sort_values(["setting", "epsilon"])
    names = {
        "exponent": "power of $N$",
        "standard_error": "standard error",
        "without_logs": r"power without $\log^{10}(NL)$",
        "sizes": "sizes",
    }
    rows = shown.set_index(["setting", "epsilon"]).rename_axis(index=["setting", r"$\varepsilon$"])
    return rows[list(names)].rename(columns=names).map(compact)


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size in left over right of the proof's steps."""
    names = {"N": "along $N$", "L": "along $L$", "D": r"along $N$, $D^2 = \log NL$"}
    rows = {step: growth.powers(g, {"N": "N", "L": "L", "D": "N"}) for step, g in steps.groupby("step", sort=False)}
    shown = pd.DataFrame(rows).T.rename(columns=names, index={"CG + RG²": r"$\mathcal{C}G + RG^2$"})
    return shown.map("{:.2f}".format).rename_axis(columns="power of left over right")


def show_floor_axes(axes: pd.DataFrame) -> pd.DataFrame:
    """The first and the last size of each axis of the floors."""
    ends = axes.groupby("axis", sort=False).nth([0, -1])
    names = {
        "feature_bound": "$G$",
        "floor": "left by the projection",
        "minimiser": "left by the resting point",
        "bound": r"(4.3) at $\varepsilon = \infty$",
        "zero_risk": "answering 0",
    }
    shown = ends[list(names)].rename(columns=names).map(compact)
    shown.index = pd.Index([f"$N$ = {compact(row['N'])}, $L$ = {compact(row['L'])}" for _, row in ends.iterrows()])
    return shown


def show_common_weight(table: pd.DataFrame) -> pd.DataFrame:
    """What privacy of a prompt costs where all prompts share w, beside both rates of Section 1.1."""
    names = {
        "label_noise": r"label noise $\tau$",
        "cost": "cost, measured",
        "standard_error": "standard error",
        "upper": "closed form",
        "lower": "no private release below",
        "claimed": "rate of Theorem 1.1",
        "expected": "rate that is expected",
    }
    sizes, noise = table["N"].map(compact), table["label_noise"].replace(common_weight.SMALL, "$L^{-1/2}$")
    rows = table.assign(N=sizes).set_index("N").rename_axis("$N$")
    shown = rows[list(names)[1:]].map(lambda value: "" if pd.isna(value) else compact(value))
    return shown.assign(label_noise=noise.to_numpy())[list(names)].rename(columns=names)
