"""Questions by the dozen: one test that asks them all, where a test for each would cost more than its answer."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(names: str | Iterable[str], cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """As ``pytest.mark.parametrize``, within one test: every case is tried, and all that fail are reported.

    It is for fast cases that share no state: none that patches, writes files or skips.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = list(cases)

    def over_all(test: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(test)
        def asked(**others: Any) -> None:
            failures = []
            for case in listed:
                values = dict(zip(wanted, [case] if len(wanted) == 1 else case, strict=True))
                try:
                    test(**values, **others)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the case {values!r:.1000}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(listed)} cases of {test.__name__} failed", failures)
            assert listed, f"{test.__name__} has no cases"

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        asked.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return asked

    return over_all


def refused(message: str, call: Callable[..., object], /, *given: Any, **named: Any) -> None:
    """Assert that a call with these arguments is a ``ValueError`` with such a message."""
    __tracebackhide__ = True
    with pytest.raises(ValueError, match=message):
        call(*given, **named)
