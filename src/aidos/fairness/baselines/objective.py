"""By what is owed, whatever the quality: the "objective" heuristic of the thesis.

Who has received least, measured against what she has earned, comes first. No quality floor is kept. It is fair over
time in most settings and shows what a floor costs; it is not the fairest sequence either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.fairness.rankings import Ints
from aidos.fairness.standing import Standing

__all__ = ["ByDeficit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDeficit:
    """Smallest balance A - (R + r) first, equals by relevance."""

    def place(self, standing: Standing) -> Ints:
        """Those who are owed most."""
        order: Ints = np.argsort(standing.balance, kind="stable")
        return order[: len(standing.attention)]
