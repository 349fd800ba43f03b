"""How large a world is, and what makes two worlds the same.

A world is a value: the same size, seed and number of topics give the same people, searches, posts, documents and
rankings, on any machine with the same NumPy, in any order of work. Nothing in it is about anybody real.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from annotated_types import Ge

from aidos.core.checks import shown
from aidos.core.limits import LONG_SEED
from aidos.errors import ParameterError
from aidos.model.topics import default_taxonomy

__all__ = ["DAYS_PER_MONTH", "MAX_PEOPLE", "MONTHS", "NAMED_SIZES", "START", "OnSample", "Seeded", "World"]

NAMED_SIZES = {"tiny": 300, "small": 5_000, "medium": 100_000, "aol": 650_000}
"""People in the worlds that have a name."""

MONTHS = 3
"""Every world lasts three months, so that what recurs can be told from what happened once."""

DAYS_PER_MONTH = 30
START = datetime(2024, 3, 1, tzinfo=UTC)
"""The first moment of every world; its calendar is invented."""

MAX_PEOPLE = 50_000_000
MIN_TOPICS = 8
MAX_SEED = 2**63 - 1

# Real logs of the aol size hold 36 million rows, fewer a person than the default rates give.
AOL_ACTIVITY = 36_000_000 / (650_000 * MONTHS * 34)


@dataclass(frozen=True)
class Seeded:
    """What two worlds that are the same have in common."""

    size: str | int = "small"
    seed: Annotated[int, Ge(0), LONG_SEED] = 7
    """Another seed is another world."""


@dataclass(frozen=True, kw_only=True)
class OnSample(Seeded):
    """A job that makes a sample world to work on."""

    size: str = "small"
    """The size of the sample world: tiny, small, medium, or a number of people."""
    seed: Annotated[int, Ge(0), LONG_SEED] = 7


@dataclass(frozen=True, slots=True)
class World(Seeded):
    """A made-up society: ask the modules of this package for its parts."""

    size: str | int = "small"
    """tiny, small, medium (100,000 people), aol (650,000 people, 36 million log rows), or a number of people."""
    topics: int = 52
    """How many topics of the default taxonomy are in use, a good fifth of them sensitive."""

    def __post_init__(self) -> None:
        problems = []
        if self.size not in NAMED_SIZES and not 1 <= _number(self.size) <= MAX_PEOPLE:
            problems.append(
                f"size must be one of {', '.join(NAMED_SIZES)} or a number of people from 1 to {MAX_PEOPLE}, "
                f"got {shown(self.size)}"
            )
        if not 0 <= self.seed <= MAX_SEED:
            problems.append(f"seed must be from 0 to {MAX_SEED}, got {shown(self.seed)}")
        most = len(default_taxonomy().leaves())
        if not MIN_TOPICS <= self.topics <= most:
            problems.append(f"topics must be from {MIN_TOPICS} to {most}, got {shown(self.topics)}")
        if problems:
            raise ParameterError("; ".join(problems))

    @property
    def people(self) -> int:
        """How many people live in it."""
        return NAMED_SIZES.get(str(self.size)) or _number(self.size)

    @property
    def activity(self) -> float:
        """Searches a person, against the default rates."""
        return AOL_ACTIVITY if self.size == "aol" else 1.0

    @property
    def days(self) -> int:
        """How long it lasts."""
        return MONTHS * DAYS_PER_MONTH

    @property
    def documents_per_topic(self) -> int:
        """How many documents each topic has: more in larger worlds, by a power of the people."""
        return max(12, round(math.pow(self.people, 0.75) / 15))


def _number(size: str | int) -> int:
    """The number that was meant; 0 when none was."""
    if isinstance(size, bool):
        return 0
    if isinstance(size, int):
        return size
    return int(size) if size.isascii() and size.isdigit() else 0
