"""By relevance, always: what a search system does that does not care. Unfairness grows with every ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.fairness.rankings import Ints
from aidos.fairness.standing import Standing

__all__ = ["ByRelevance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRelevance:
    """Never reorders."""

    def place(self, standing: Standing) -> Ints:
        """The most relevant, in their order."""
        return np.arange(len(standing.attention), dtype=np.int64)
