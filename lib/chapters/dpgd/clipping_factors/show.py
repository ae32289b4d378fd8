"""How much of its mean and of its square does clipping leave a gradient, and does that depend on the risk alone?"""

import pandas as pd

from companion import _fits
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, listed, percent, plain, with_errors
from companion.judging.tables import Tables, nearest, pick, select


def answer(tables: Tables) -> list[str]:
    """How large the factors are, whether they depend on the risk alone, and for which features."""
    factors, row = tables["factors"], furthest(tables["definition"])
    one = pick(factors, ratio=nearest(factors["ratio"], 1.0))
    return [
        f"With Gaussian features, clipping at $c' = {one['ratio']:g}$ (in standard deviations of the residual) leaves "
        f"{compact(one['mu'])} of a gradient's mean and {compact(one['nu'])} of its square. Five steps derive both.",
        words.headline(judges_of(__package__)["dpgd/equation-4.6"], tables),
        f"Other features break this: with {row['law']} features and the error in {row['direction']}, clipping "
        f"leaves {compact(row['value'])} of the descent, where the formula predicts {compact(row['closed_form'])}.",
    ]


def furthest(definition: pd.DataFrame) -> pd.Series:
    """The row whose μ is furthest from the closed form: what other laws of the features may cost."""
    rows = select(definition, quantity="mu")
    return rows.loc[(rows["value"] - rows["closed_form"]).abs().idxmax()]


SHIFTS = {"distance": "squared distance", "mu shift": r"change of $\mu$", "nu shift": r"change of $\nu$"}


def caption_figure_9(tables: Tables) -> str:
    """What the curves of Figure 9 show, and which features they hold for."""
    row, judges = furthest(tables["definition"]), judges_of(__package__)
    return (
        f"**{words.headline(judges['dpgd/figure-9'], tables).rstrip('.')}.** Left: Figure 9 of the paper, with one "
        f"curve more, $\\nu_c/c'^2$. {words.headline(judges['dpgd/lemma-b.2-monotone'], tables)} Right: factors of "
        "simulated gradients at one risk, two spectra, bars of two standard errors. The furthest from the formula "
        f"(dashed) is $\\mu_c$ for {row['law']} features and the error in {row['direction']}."
    )


def caption_dimension(tables: Tables) -> str:
    """Clipping whole gradients against clipping residuals, against the dimension."""
    dimension = tables["dimension"]
    fits = {
        name: _fits.power_law(rows["d"], rows["value"], rows["standard_error"])
        for name, rows in select(dimension, quantity="distance").groupby("spectrum", sort=False)
    }
    powers = listed(f"$d^{{{power:.2f}}}$ ({name})" for name, (power, _) in fits.items())
    largest = select(dimension, d=dimension["d"].max())
    shift = largest.loc[largest["quantity"] != "distance", "value"].abs().max()
    return (
        f"**The distance between clipping gradients and clipping residuals goes like {powers}.** Gradients are clipped "
        "at $c\\sqrt d$ and residuals at $c$, on the same records. Drawn is the mean squared distance relative to the "
        f"gradient's square. At $d = {dimension['d'].max()}$ the factors move by at most {percent(shift)}. Absolute "
        "values; bars of two standard errors."
    )


def show_definition(definition: pd.DataFrame) -> pd.DataFrame:
    """Simulated factors with their standard errors, and the closed form, for the page."""
    shown = definition.assign(simulated=with_errors(definition, "value")).rename(columns={"direction": "error in"})
    index = ["law", "spectrum", "error in"]
    table = shown.pivot(index=index, columns="quantity", values="simulated")
    table = table.loc[list(map(tuple, shown[index].drop_duplicates().to_numpy()))]
    closed = definition.drop_duplicates("quantity").set_index("quantity")["closed_form"]
    table.loc[("closed form", "", "")] = closed.map(plain)
    names = {"mu": "μ", "nu": "ν", "share whole": "share left whole"}
    return table.rename(columns=names).rename_axis(columns=None)
