"""What somebody expects of a service before any list is collected, and how many searches an audit of it needs.

Public numbers alone: no search, no account. A service that does not follow the model may need fewer or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters

__all__ = ["ExpectedService"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedService:
    """A service that lifts one topic in some of the searches."""

    weight: Annotated[float, Gt(0), Le(1000)] = 2.0
    """Weight of the topic that is to be found: 2 is weak, 6 is strong."""
    rate: Annotated[float, Gt(0), Le(1)] = 0.5
    """Share of the searches that are personalised."""
    topics: Annotated[int, Ge(2), Le(10_000)] = 50
    """Topics that results are about."""
    results: Annotated[int, Ge(2), Le(100)] = 10
    """Results of a list."""
    mix: Annotated[float, Ge(0), Le(1)] = 0.8
    """How much interests count against the order without an account."""
    concentration: Annotated[float, Gt(0), Le(100)] = 2.0
    """How steady lists are that are not personalised."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def queries(self, *, level: float = 0.05, power: float = 0.8) -> int | None:
        """How many searches lead to "personalised by topic" and name the topic with this power; None if none would."""
        from aidos.rooms.audit.power import searches_needed

        return searches_needed(self, (self.rate,), level=level, power=power)[0]
