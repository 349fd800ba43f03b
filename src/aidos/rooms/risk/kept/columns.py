"""The risks of everybody in order, for every topical measure and topic: ranks by halving, changes by one merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.risk.kept.kernels import merge

__all__ = ["Standing", "standing_among", "with_changes"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where somebody stands by one measure for one topic; rank 1 is the most exposed."""

    risk: float
    above: int
    """People who are more exposed."""
    equal: int
    """Others with the same risk."""
    people: int
    nearness: float | None = None
    """How near her nearest entry comes to the topic; None where the measure does not tell."""
    least_nearness: float = 0.0
    """What nearness must exceed to be evidence, see `aidos.rooms.risk.topical`."""

    @property
    def has_evidence(self) -> bool:
        """Whether anything of hers is near the topic; without it the rank is a number of the formula, and no more."""
        return self.nearness is None or self.nearness > self.least_nearness

    @property
    def best(self) -> int:
        """The best of the places that people of her risk share: the one that sounds most exposed."""
        return self.above + 1

    @property
    def worst(self) -> int:
        """The last of these places."""
        return self.above + self.equal + 1

    @property
    def mean(self) -> float:
        """Their mean."""
        return self.above + 1 + self.equal / 2

    @property
    def percentile(self) -> float:
        """The share of the others who are less exposed, half of her equals among them; 0.5 for one who is alone."""
        return (self.people - self.mean) / (self.people - 1) if self.people > 1 else 0.5


def standing_among(risk: float, ordered: Floats, own: float | None) -> Standing:
    """The standing of a risk among sorted ones, of which ``own`` is not another's and is left out."""
    left, right = (int(np.searchsorted(ordered, risk, side=side)) for side in ("left", "right"))
    above, equal = len(ordered) - right, right - left
    if own is not None:
        above, equal = above - (own > risk), equal - (own == risk)
    others = len(ordered) - (own is not None)
    return Standing(risk=risk, above=above, equal=equal, people=others + 1)


def with_changes(ordered: Floats, gone: Floats, come: Floats) -> Floats:
    """Sorted risks without some that are there, and with others."""
    if len(gone) == len(come) and (gone == come).all():
        return ordered
    found = np.empty(len(ordered) + len(come))
    written = merge(ordered, np.sort(gone), np.sort(come), found)
    if written < 0:
        raise RuntimeError("a risk that should go is not there")
    return found[:written]
