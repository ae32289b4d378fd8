"""Verdicts on what the abstract and section 1.1 of arXiv:2504.16000v2 say of attacked prompts."""

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness.corrupted import BOUNDED, NOISYHEAD, RIDGE
from chapters.noisyhead.robustness.theorem import RESPONSES
from companion.judging import growth, prose
from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ROUNDING, worse
from costofprivacy.settings import Setting

FEW = 0.1  # the fraction of the prompts up to which "a fraction" is few of them


@judges("noisyhead/abstract-robust")
def abstract_robust(tables: Tables) -> Ruling:
    """Does one prompt move NoisyHead by a bounded amount and ridge without bound, under (5.1) or another attack?"""
    own, alone = select(tables["growth"], response=RESPONSES[0]), tables["query-alone"]
    parts = select(tables["parts"], part="attack")
    over = (parts["displacement"] / parts["bound"]).max()
    attacked, other = growth.power(own, "alpha", "displacement", ""), growth.power(alone, "alpha", "ridge", "")
    clipped = growth.power(alone, "alpha", "bound", "")
    limit = own.sort_values("alpha")["displacement"].iloc[-1]
    claimed = tables["conditions"].sort_values("alpha")["claimed_for_ridge"].iloc[0]
    found = (
        *numbers("parts", {"displacement of NoisyHead by the attack over its bound": (over, 1.0)}, "part = attack"),
        *numbers(
            "growth", {"power of α in ridge's displacement under (5.1)": (attacked, growth.LOST_POWER)}, "largest α"
        ),
        *numbers("growth", {"ridge's displacement under (5.1), largest α": (limit, claimed)}, "largest α"),
        *numbers("query-alone", {"power of α if only the query's response is shifted": (other, growth.LOST_POWER)}),
        *numbers("query-alone", {"power of α in NoisyHead's bound": (clipped, growth.LOST_POWER)}),
    )
    resists = over <= 1 + ROUNDING and clipped <= growth.LOST_POWER
    verdict = reads(
        printed=bool(resists and attacked > growth.LOST_POWER),
        narrower=bool(resists and other > growth.LOST_POWER),
        decided=not np.isnan([attacked, other, clipped]).any(),
    )
    return Ruling(verdict, found, {"limit": limit})


@judges("noisyhead/section-1.1-fraction")
def fraction(tables: Tables) -> Ruling:
    """Does NoisyHead's test error rise by less than ridge's, whatever fraction of the prompts is attacked?"""
    every, attack = tables["fractions"], ["response", "alpha", "fraction"]
    ridge = select(every, method=RIDGE).set_index(attack)[["rise", "rise_error"]]
    rows = select(every, method=NOISYHEAD).join(ridge.add_suffix("_ridge"), on=attack)
    distance = rows["rise"] - rows["rise_ridge"]
    error = CONSISTENT * np.hypot(rows["rise_error"], rows["rise_error_ridge"])
    more, less, few = distance > error, distance < -error, rows["fraction"] <= FEW
    worst = rows.loc[distance.idxmax()]
    bounded = select(every, method=BOUNDED).query("fraction <= @FEW")["rise"].max()
    named = {
        "attacks under which NoisyHead rises more": (more.sum(), 0.0),
        f"the same, with at most {prose.percent(FEW)} of the prompts": ((more & few).sum(), 0.0),
        "attacks under which it rises less": (less.sum(), len(rows)),
        "largest rise of NoisyHead, few attacked, and of ridge": tuple(rows.loc[few, ["rise", "rise_ridge"]].max()),
        "rise of ridge on clipped and projected prompts, few attacked": bounded,
    }
    at = f"setting = {worst['setting']}, fraction = {worst['fraction']:g}, α = {worst['alpha']:g}"
    beyond = (worst["rise"], worst["rise_error"], worst["rise_ridge"], "fractions", at)
    found = (*numbers("fractions", named, ""), Number("rise of NoisyHead where it most exceeds ridge's", *beyond))
    narrower, decided = few.any() and not (more & few).any(), less.any() or more.any()
    verdict = reads(not more.any(), narrower=bool(narrower), decided=bool(decided))
    own = select(rows, setting=str(Setting.PUBLISHED))
    learnt = (own["before"] / own["response_variance"]).max()
    return Ruling(verdict, found, {"before": learnt})


@judges("noisyhead/section-1.1-degradation")
def degradation(tables: Tables) -> Ruling:
    """Does one attacked prompt raise NoisyHead's test error by less than ridge's, where NoisyHead predicts at all?

    Always predicting 0 never degrades: a setting counts only if the head's error before the attack is below Var(y) by
    more than a factor `WORSE`, beyond the errors.
    """
    risen = _risen(tables["test-error"])
    ridge = risen.xs("ridge", level="method")
    noisy = risen.xs("noisyhead", level="method")
    least = ridge.loc[ridge["rise"].idxmin()]
    distance, error = noisy["rise"] - least["rise"], CONSISTENT * np.hypot(noisy["error"], least["error"])
    learns = pd.Series([worse(1.0, row.before, row.before_error) for row in noisy.itertuples()], noisy.index)
    less, more = learns & (distance < -error), bool((distance > error).any())
    found = tuple(
        Number("rise of the test error under the attack", row.rise, row.error, None, "test-error",
               f"setting = {setting}, method = {method}")
        for (setting, method), row in zip(risen.index, risen.itertuples())
    )  # fmt: skip
    heads = {
        f"test error before the attack, setting = {setting}, over Var(y)": (row.before, 1.0, "method = noisyhead")
        for setting, row in noisy.iterrows()
    }
    verdict = reads(printed=bool(less.any()) and not more, decided=bool(less.any()) or more)
    return Ruling(verdict, (*found, *numbers("test-error", heads)), {"ridge": least["rise"]})


def _risen(errors: pd.DataFrame) -> pd.DataFrame:
    """Test error after the attack less that before it, by setting and method, and that before it over Var(y)."""
    rows = errors.set_index(["setting", "method", "prompts"])
    before, after = (rows.xs(prompts, level="prompts") for prompts in ("clean", "attacked"))
    after = after.loc[before.index]
    error = np.hypot(before["standard_error"], after["standard_error"])
    rise = pd.DataFrame({"rise": after["test_error"] - before["test_error"], "error": error})
    shares = before[["test_error", "standard_error"]].div(before["response_variance"], axis=0)
    return rise.join(shares.set_axis(["before", "before_error"], axis=1))


@judges("noisyhead/section-1.1-truncation")
def truncation(tables: Tables) -> Ruling:
    """Is what the attack itself moves below the bound that clipping and projection give, and far below ridge's?"""
    parts, table = select(tables["parts"], part="attack"), tables["figure-4"]
    over = (parts["displacement"] / parts["bound"]).max()
    beside = parts["displacement"].max() / select(table, method="ridge")["displacement"].min()
    named = {
        "displacement by the attack alone over its bound, at most": (over, 1.0),
        "the same over ridge's displacement, at most": (beside, MUCH_SMALLER),
    }
    verdict = reads(printed=over <= 1 + ROUNDING and beside <= MUCH_SMALLER)
    return Ruling(verdict, numbers("parts", named, "part = attack"), {"beside": beside})
