"""Names that have changed: the old one keeps working for one version, with a ``DeprecationWarning``.

Three kinds of names, and what stands in their place for that version:

======================  ============================================================================================
what was renamed        what keeps the old name working
======================  ============================================================================================
a name of a module      ``__getattr__ = deprecated.names(__name__, {"old": "package.module.new"}, since="0.13.0")``
a whole module          the same with ``{"*": "package.new_module"}``, alone in a file with the old name
a method                ``old = deprecated.method("old", new, since="0.13.0")`` in the class
an estimator's          the old parameter stays in ``__init__`` with the default `DEPRECATED`, `range_of` is its
parameter               range, and ``fit`` asks `stated` for what was given
======================  ============================================================================================

A parameter that is renamed stays a parameter, as in scikit-learn itself: ``get_params``, ``set_params``, ``clone`` and
a grid search treat it as any other, and ``__init__`` computes nothing. So `stated` finds what was given under the old
name, in whatever way it was given. For example, with ``speed`` in place of ``blades``::

    speed = 2.0 * known["blades"] if (known := stated(self, "blades", instead="speed", since="0.13.0")) else self.speed
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

from sklearn.utils._param_validation import Hidden, InvalidParameterError, StrOptions

DEPRECATED = "deprecated"  # the default of a parameter with an old name: it was not given
WHOLE = "*"
_TOLD = "use {new} instead of {old}, deprecated since version {since} and removed in the next one"


def names(module: str, moved: Mapping[str, str], *, since: str) -> Callable[[str], Any]:
    """``__getattr__`` of a module some of whose names are elsewhere now.

    Args:
        module: its ``__name__``.
        moved: where each old name is now, as a dotted name; ``{"*": "package.module"}`` if all of them are in another
            module, under the same names.
        since: the version that renamed them.

    Returns:
        A function of a name; it warns with ``DeprecationWarning`` and returns what the name stands for.

    >>> import warnings
    >>> find = names("geometry", {"size": "math.hypot"}, since="0.13.0")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     print(find("size")(3, 4), "|", caught[0].message)
    5.0 | use math.hypot instead of geometry.size, deprecated since version 0.13.0 and removed in the next one
    """

    def find(name: str) -> Any:
        new = moved.get(name, f"{moved[WHOLE]}.{name}" if WHOLE in moved and not name.startswith("__") else None)
        place, _, attribute = (new or "").rpartition(".")
        if not place or not hasattr(import_module(place), attribute):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", new, since, stacklevel=3)
        return getattr(import_module(place), attribute)

    return find


def method(old: str, new: Callable[..., Any], *, since: str) -> Callable[..., Any]:
    """A method or function under its old name, which warns and calls the new one.

    Args:
        old: its old name. new: what is called. since: the version that renamed it.
    """

    @wraps(new)
    def call(*arguments: Any, **named: Any) -> Any:
        _warn(f"{old}()", f"{new.__name__}()", since, stacklevel=3)
        return new(*arguments, **named)

    call.__name__ = old
    call.__qualname__ = f"{new.__qualname__.removesuffix(new.__name__)}{old}"
    call.__doc__ = f"Deprecated since version {since}: the same as `{new.__name__}`."
    return call


def range_of(constraints: list[Any]) -> list[Any]:
    """The range of a parameter with an old name, for ``_parameter_constraints``: what it was, or not given.

    Args:
        constraints: what the parameter could be before.
    """
    return [*constraints, Hidden(StrOptions({DEPRECATED}))]


def stated(estimator: Any, *old: str, instead: str, since: str, stacklevel: int = 3) -> dict[str, Any]:
    """What an estimator was given under old names; warns, in one sentence, if it was given anything.

    Guarantees that old and new are never mixed: who gives an old name and the new one is refused. The order does not
    matter, as nothing is kept but the parameters themselves.

    Args:
        estimator: with the parameters. old: the old names. instead: the parameter that takes their place.
        since: the version that renamed them. stacklevel: of the call of ``fit``, for the warning.

    Returns:
        The values by old name; those that were not given are left out, so that it is empty for whoever uses the new
        name alone.

    Raises:
        InvalidParameterError: an old name and the new one are given.

    Warns:
        DeprecationWarning: an old name is given.

    >>> from sklearn.base import BaseEstimator
    >>> class Fan(BaseEstimator):
    ...     def __init__(self, speed=1.0, blades=DEPRECATED):
    ...         self.speed, self.blades = speed, blades
    >>> stated(Fan(speed=2.0), "blades", instead="speed", since="0.13.0")
    {}
    """
    given = {name: value for name in old if not _is_default(value := getattr(estimator, name, DEPRECATED))}
    if not given:
        return {}
    new, usual = getattr(estimator, instead), inspect.signature(type(estimator)).parameters[instead].default
    if new is not usual and not (isinstance(new, type(usual)) and bool(new == usual)):
        named = " and ".join(given)
        raise InvalidParameterError(f"{named} cannot be given together with {instead}, which replaces it")
    _warn(" and ".join(given), instead, since, stacklevel=stacklevel + 1)
    return given


def _is_default(value: Any) -> bool:
    """Whether a parameter with an old name was not given; arrays are no text."""
    return isinstance(value, str) and value == DEPRECATED


def _warn(old: str, new: str | None, since: str, stacklevel: int) -> None:
    """Say what to write instead, at the place that says the old name."""
    warnings.warn(_TOLD.format(old=old, since=since, new=new), DeprecationWarning, stacklevel=stacklevel)
