"""The compiler, or a clear word when it is not installed."""

from __future__ import annotations

from aidos.errors import MissingExtraError

try:
    from numba import njit
except ImportError as error:
    raise MissingExtraError("the fair re-ranker", extra="fairness") from error

__all__ = ["njit"]
