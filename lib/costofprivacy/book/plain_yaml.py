"""YAML as parameters need it: the core schema of YAML 1.2 and nothing else.

A plain scalar is null, a boolean, an integer, a number or a text, by the patterns of the schema (section 10.3.2 of
YAML 1.2.2). There are no dates, no numbers to base 60 and no ``yes`` for true. Tags and aliases are refused: a tag asks
for a conversion that may fail in ways of its own, and an alias makes a small text a large value. A name that stands
twice in one mapping is refused, too, as YAML demands.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

CORE = "tag:yaml.org,2002:"
PATTERNS = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}
SCALARS: dict[str, Callable[[str], Any]] = {
    "null": lambda text: None,
    "bool": lambda text: text.lower() == "true",
    "int": lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text),
    "float": lambda text: float(text.replace(".inf", "inf").replace(".nan", "nan")),
    "str": str,
}


def load(text: str) -> Any:
    """What a piece of YAML holds.

    Raises:
        ValueError: it is none, has a tag, an alias or a name twice, or holds what Python has no value for: a whole
            number of thousands of digits, lists in lists in lists without an end.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError(str(getattr(error, "problem", None) or error)) from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


class _Loader(yaml.SafeLoader):
    """PyYAML's loader, with the core schema alone."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012
    yaml_constructors: ClassVar[dict[Any, Any]] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A node, where neither a tag nor an alias stands."""
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, f"aliases are not supported, got *{event.anchor}")
        if event.tag is not None:
            raise yaml.composer.ComposerError(
                None, None, f"tags are not supported, got {event.tag.replace(CORE, '!!')}"
            )
        return super().compose_node(parent, index)

    def scalar(self, node: yaml.ScalarNode) -> Any:
        """The value of a scalar, in the type that its pattern says."""
        return SCALARS[node.tag.removeprefix(CORE)](node.value.lower() if "float" in node.tag else node.value)

    def sequence(self, node: yaml.SequenceNode) -> list[Any]:
        """A list."""
        return [self.construct_object(item, deep=True) for item in node.value]

    def mapping(self, node: yaml.MappingNode) -> dict[Any, Any]:
        """A mapping with each name once."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if not all(isinstance(key, (str, int, float, type(None))) for key in keys):
            raise yaml.constructor.ConstructorError(None, None, "a name must be a plain word")
        twice = [key for key in keys if keys.count(key) > 1][:1] if len(set(keys)) < len(keys) else []
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"{twice[0]!r} occurs twice")
        return dict(zip(keys, (self.construct_object(value, deep=True) for _, value in node.value), strict=True))


for _name, _pattern in PATTERNS.items():
    _Loader.add_implicit_resolver(CORE + _name, re.compile(rf"^(?:{_pattern})\Z"), None)
for _name in SCALARS:
    _Loader.add_constructor(CORE + _name, _Loader.scalar)
_Loader.add_constructor(CORE + "seq", _Loader.sequence)
_Loader.add_constructor(CORE + "map", _Loader.mapping)
