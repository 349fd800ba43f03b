"""The compiler and the special functions of the audit, or a clear word when they are not installed."""

from __future__ import annotations

from aidos.errors import MissingExtraError

try:
    from numba import njit
    from scipy.optimize import brentq, linprog, minimize
    from scipy.special import betaln, digamma, expit, logit, ndtr, ndtri, xlogy
except ImportError as error:
    raise MissingExtraError("the audit of profiles", extra="audit") from error

__all__ = ["betaln", "brentq", "digamma", "expit", "linprog", "logit", "minimize", "ndtr", "ndtri", "njit", "xlogy"]
