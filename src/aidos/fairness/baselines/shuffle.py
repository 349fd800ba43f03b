"""Chance among equals: subjects of exactly the same relevance in random order, everybody else by relevance.

The least that a search system can do, and it costs no quality. Where no two relevances are equal it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.fairness.rankings import Ints
from aidos.fairness.standing import Standing

__all__ = ["TieShuffle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TieShuffle:
    """A new order of equals for every ranking, the same when it is asked again."""

    seed: Annotated[int, Ge(0)] = 0
    """Start of the random numbers; with the number of the ranking it fixes the order."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """The most relevant, equals shuffled."""
        chance = np.random.default_rng([self.seed, standing.rankings]).random(len(standing.relevance))
        order: Ints = np.lexsort((chance, -standing.relevance))
        return order[: len(standing.attention)]
