"""The compiler, woken when compiled code is first called, or a clear word when it is not installed.

Waking it takes half a second of processor time and more. A question that needs little work may go without it: within
`plainly`, functions run as they are written as long as it sleeps, with the same results.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from aidos.errors import MissingExtraError


def _missing() -> MissingExtraError:
    return MissingExtraError("the search engine inside", extra="search")


if find_spec("numba") is None:
    raise _missing()

__all__ = ["Later", "njit", "plainly"]

WAKING = threading.RLock()
PLAIN = threading.local()


@contextmanager
def plainly() -> Iterator[None]:
    """Do without the compiler in this thread, unless somebody has woken it already: for very little work."""
    import numpy as np

    # Nobody wakes it meanwhile: what is half compiled and half not would mix two kinds of numbers.
    with WAKING:
        before = getattr(PLAIN, "on", False)
        PLAIN.on = before or "numba" not in sys.modules
        try:
            with np.errstate(over="ignore"):  # compiled code says nothing either when hashes run over
                yield
        finally:
            PLAIN.on = before


if TYPE_CHECKING:
    from numba import njit
else:

    def njit(**options: Any) -> Callable[[Callable[..., Any]], Later]:
        """What `numba.njit` does, when the function is first called."""
        return lambda function: Later(function, options)


class Later:
    """A function that will be compiled."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self.options = function, options  # the name that the compiler has for it
        self.compiled: Callable[..., Any] | None = None
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.__wrapped__ = function

    def __call__(self, *given: Any) -> Any:
        if self.compiled is None and getattr(PLAIN, "on", False):
            return self.py_func(*given)
        return self.woken()(*given)

    def woken(self) -> Callable[..., Any]:
        """The compiled function; those that it calls take the places of their own, where the compiler looks."""
        if self.compiled is None:
            try:
                from numba import njit as compiler
            except ImportError:  # it is there and does not load
                raise _missing() from None
            with WAKING:
                if self.compiled is None:
                    known = self.py_func.__globals__
                    for name in self.py_func.__code__.co_names:
                        if name != self.__name__ and isinstance(known.get(name), Later):
                            known[name] = known[name].woken()
                    self.compiled = compiler(**self.options)(self.py_func)
        return self.compiled
