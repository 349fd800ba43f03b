"""Sparse matrices, or a clear word when they are not installed."""

from __future__ import annotations

from aidos.errors import MissingExtraError

try:
    from scipy.sparse import csr_array, vstack
except ImportError as error:
    raise MissingExtraError("ranking addresses by clicks", extra="fairness") from error

__all__ = ["csr_array", "vstack"]
