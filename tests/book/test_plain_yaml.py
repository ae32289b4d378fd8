import json
import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.book.plain_yaml import load
from tests.each import each

TEXTS = st.text(st.characters(max_codepoint=126))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)


@each(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("TRUE", True),
        ("False", False),
        ("yes", "yes"),
        ("off", "off"),
        ("012", 12),
        ("0o17", 15),
        ("0xff", 255),
        ("-7", -7),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2020-13-01", "2020-13-01"),
        ("1e-5", 1e-5),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("-.INF", -math.inf),
        ("=", "="),
        ("'5'", "5"),
        ('"true"', "true"),
        ("{<<: {a: 1}}", {"<<": {"a": 1}}),
        ("{a: [1, x], b: {c: }}", {"a": [1, "x"], "b": {"c": None}}),
        ("&a [1]", [1]),
        ("\ufeff{a: 1}", {"a": 1}),
    ],
)
def test_what_a_text_holds(text: str, value: object) -> None:
    found = load(text)
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(load(".nan"))


@pytest.mark.slow
@given(JSON)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_json_is_yaml(value: Any) -> None:
    assert load(json.dumps(value)) == value


@each(
    ("text", "words"),
    [
        ('!!bool "x"', "tags are not supported, got !!bool"),
        ('{trials: !!int "x"}', "tags are not supported, got !!int"),
        ('!!timestamp "x"', "tags are not supported, got !!timestamp"),
        ("!!binary 5", "tags are not supported, got !!binary"),
        ("!!set {a, b}", "tags are not supported, got !!set"),
        ("!!python/object/apply:os.getcwd []", "tags are not supported, got !!python/object/apply:os.getcwd"),
        ("[! x]", "tags are not supported, got !"),
        ("!mine {a: 1}", "tags are not supported, got !mine"),
        ("{!!str a: 1}", "tags are not supported, got !!str"),
        ("[&a [1], *a]", r"aliases are not supported, got \*a"),
        ("{a: 1, a: 2}", "'a' occurs twice"),
        ("{[1]: 2}", "a name must be a plain word"),
        ("{a: 1", "expected ',' or '}', but got '<stream end>'"),
        ("--- 1\n--- 2", "but found another document"),
        ("a\0b", "special characters are not allowed"),
        ("\udcff", "special characters are not allowed"),
        ("[" * 5000, "it is nested too deeply"),
        ("9" * 5000, "integer string conversion"),
    ],
)
def test_what_is_not_plain_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load(text)


def test_a_small_text_makes_no_large_value() -> None:
    lines = ["a0: &a0 [1]", *(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12))]
    with pytest.raises(ValueError, match=re.escape("aliases are not supported, got *a0")):
        load("\n".join(lines))
