"""The three numbers that nearly every mechanism of this room takes, declared and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters

__all__ = ["ItemParameters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemParameters:
    """A budget, and how many items of each person count."""

    epsilon: Annotated[float, Gt(0)] = 1.0
    """How much one person may sway the output; smaller is more private."""
    delta: Annotated[float, Gt(0), Lt(1)] = 1e-6
    """Chance that the promise fails, for example that an item only one person has gets out."""
    items_per_person: Annotated[int, Ge(1)] = 10
    """Items kept of each person before counting (m in the papers)."""

    def __post_init__(self) -> None:
        check_parameters(self)
