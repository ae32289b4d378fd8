from chapters.symbols import SYMBOLS


def test_a_name_stands_once_and_no_symbol_means_two_things_in_one_paper() -> None:
    names = [symbol.name for symbol in SYMBOLS]
    assert len(set(names)) == len(names)
    for paper in ("noisyhead", "dpgd"):
        written = [getattr(symbol, paper) for symbol in SYMBOLS if getattr(symbol, paper)]
        assert sorted(written) == sorted(set(written))
