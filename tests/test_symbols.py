import importlib
import re

from costofprivacy import symbols
from costofprivacy.declaration import declarations
from costofprivacy.symbols import SYMBOLS
from tests.each import each

CHAPTERS = [
    "foundations.in_context_regression",
    *(
        f"noisyhead.{name}"
        for name in (
            "mechanism",
            "cost_of_privacy",
            "low_dimensional",
            "high_dimensional",
            "early_stopping",
            "robustness",
            "rivals",
        )
    ),
    *(f"dpgd.{name}" for name in ("algorithm", "clipping_factors", "deterministic_equivalent")),
]
OTHER_NAMES = {"tau": "label_noise", "zeta": "label_noise", "kappa": "failure", "initial_rate": "learning_rate"}


def test_a_name_stands_once_and_no_symbol_means_two_things_in_one_paper() -> None:
    names = [symbol.name for symbol in SYMBOLS]
    assert len(set(names)) == len(names)
    for paper in ("noisyhead", "dpgd"):
        written = [getattr(symbol, paper) for symbol in SYMBOLS if getattr(symbol, paper)]
        assert sorted(written) == sorted(set(written))


@each("symbol", SYMBOLS)
def test_a_symbol_has_a_meaning_in_a_sentence(symbol: symbols.Symbol) -> None:
    assert re.fullmatch(r"[A-Z].*\.", symbol.meaning)
    assert symbol.name.isidentifier()


def test_the_table_holds_every_symbol() -> None:
    table = symbols.table()
    assert list(table["name"]) == [f"`{symbol.name}`" for symbol in SYMBOLS]
    assert table.notna().all(axis=None)


@each("chapter", CHAPTERS)
def test_a_chapter_s_parameters_have_one_name_for_one_thing(chapter: str) -> None:
    experiment = importlib.import_module(f"costofprivacy.experiments.{chapter}.experiment").Experiment
    names = {declared.name for declared in declarations(experiment)}
    assert not names & set(OTHER_NAMES)
    assert not [name for name in names if name.removeprefix("bound_") in OTHER_NAMES]
    assert len(symbols.rows(experiment)) == len(names)
