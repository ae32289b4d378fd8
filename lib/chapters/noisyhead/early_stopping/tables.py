"""Short tables for the page on early stopping."""

import pandas as pd

from chapters.noisyhead import agreement
from companion.judging.prose import compact
from costofprivacy.settings import Setting

METHODS = {"noisyhead": "NoisyHead", "gradient-descent": "no noise", "ridge": r"reference $\Gamma^*$"}
STARTS = {"random": r"$\Gamma^0$ random", "zero": r"$\Gamma^0 = 0$"}


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers, in combined standard errors, by setting and method."""
    return agreement.deviations(comparison).rename(index=METHODS)


def show_best(best_steps: pd.DataFrame) -> pd.DataFrame:
    """The best T and its risk by source, start and account."""
    names = {"best_T": "best $T$", "least": "least risk", "last_T": "tried up to $T$"}
    source = best_steps["source"] + (", " + best_steps["start"].map(STARTS)).fillna("")
    shown = best_steps.assign(source=source, least=best_steps["least"].map(compact))
    return shown.set_index(["source", "account"])[list(names)].rename(columns=names)


def show_last_iterate(limits: pd.DataFrame) -> pd.DataFrame:
    """A, B and the best T of the last iterate's account by start."""
    names = {
        "A": "$A$",
        "B": "$B$",
        "best_T": "best $T$",
        "least": "least risk",
        "for_ever_over_least": "for ever, over the least",
    }
    return limits.set_index("start")[list(names)].rename(columns=names, index=STARTS).map(compact)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) predicted, in parts per million, at the first, the best published and the last T."""
    published = table[(table["setting"] == Setting.PUBLISHED) & (table["method"] == "noisyhead")]
    chosen = [table["T"].min(), published.loc[published["test_error"].idxmin(), "T"], table["T"].max()]
    rows = table[table["T"].isin(chosen) & (table["method"] != "zero")]
    rows = rows[(rows["method"] != "ridge") | (rows["setting"] == Setting.PRINTED)]
    ppm = 1e6 * (1 - rows["test_error"] / rows["response_variance"])
    names = rows["method"].map(METHODS)
    label = (names + ", " + rows["setting"]).where(rows["method"] != "ridge", names)
    shown = rows.assign(ppm=ppm, head=label).pivot_table(index="head", columns="T", values="ppm", sort=False)
    shown.loc["best linear head"] = 1e6 * (1 - rows["best_linear_head"].iloc[0] / rows["response_variance"].iloc[0])
    columns = {T: f"$T = {T}$" for T in shown.columns}
    return shown.map(compact).rename(columns=columns).rename_axis(index=None, columns="parts per million")


def show_stopped(stopped: pd.DataFrame) -> pd.DataFrame:
    """Risk over (4.6) at r = N by N and ε."""
    ratio = stopped.assign(ratio=stopped["excess_risk"] / stopped["bound_46"])
    shown = ratio.pivot_table(index="N", columns="epsilon", values="ratio").map(compact)
    columns = {epsilon: rf"$\varepsilon = {epsilon:g}$" for epsilon in shown.columns}
    return shown.rename(index=compact, columns=columns).rename_axis(index="$N$", columns=None)


def show_parts(parts: pd.DataFrame) -> pd.DataFrame:
    """Noise over descent by start and learning rate at the best of three T, for three N."""
    sizes = parts["N"].unique()
    rows = parts[parts["N"].isin(sizes[[1, len(sizes) // 2, -1]])]
    best = rows.loc[rows.groupby(["N", "start", "rate_share"], sort=False)["noise_over_descent"].idxmin()]
    best = best.sort_values(["start", "rate_share", "N"], ascending=[False, False, True])
    shown = pd.DataFrame(
        {
            "start": best["start"].map({"‖Γ⁰‖ = R": r"$\|\Gamma^0\|_F = R$", "Γ⁰ = 0": r"$\Gamma^0 = 0$"}),
            "share of the learning rate": best["rate_share"].map(compact),
            "$N$": best["N"].map(compact),
            "$T$": best["T"],
            "noise over descent": best["noise_over_descent"].map(compact),
            "descent over answering 0": best["descent_over_zero"].map("{:.5g}".format).map(_typeset),
        }
    )
    return shown.set_index(["start", "share of the learning rate"])


def _typeset(text: str) -> str:
    """A number of five digits, which keep it apart from one, or of three where it needs a power of ten."""
    return compact(float(text)) if "e" in text else text


def show_any_steps(any_steps: pd.DataFrame) -> pd.DataFrame:
    """Risk over (4.5) at the first, the worst and the last place of each axis."""
    table = any_steps.assign(ratio=any_steps["excess_risk"] / any_steps["bound_45"])
    along = {"T": "along $T$", "ε": r"to small $\varepsilon$", "T, ε = T": r"along $T = \varepsilon$"}
    rows = []
    for axis, own in table.groupby("axis", sort=False):
        for place, at in (("first", own.iloc[0]), ("worst", own.loc[own["ratio"].idxmax()]), ("last", own.iloc[-1])):
            numbers = {"risk over (4.5)": at["ratio"], r"$\varepsilon$": at["epsilon"], "$T$": at["T"]}
            rows.append({"axis": along[axis], "place": place} | {name: compact(v) for name, v in numbers.items()})
    return pd.DataFrame(rows).set_index(["axis", "place"])


def show_section_62(section: pd.DataFrame) -> pd.DataFrame:
    """The costs of section 6.2 beside (4.5) at r = N."""
    names = {
        "descent": r"$C_{\mathrm{Descent}}$",
        "noise_45": "second term of (4.5)",
        "noise_printed": r"$C_{\mathrm{Noise}}$ as printed",
        "exponent_noise_45": "power of $N$, (4.5)",
        "exponent_noise_printed": "power of $N$, printed",
    }
    shown = section.set_index("N")[list(names)].rename(columns=names).map(compact)
    return shown.rename(index=compact).rename_axis("$N$")
