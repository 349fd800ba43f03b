"""The compiler, or a clear word when it is not installed."""

from __future__ import annotations

from aidos.errors import MissingExtraError

try:
    from numba import njit, prange
except ImportError as error:
    raise MissingExtraError("the search engine inside", extra="search") from error

__all__ = ["njit", "prange"]
