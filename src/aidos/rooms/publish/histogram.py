"""What a release of items is: the items that passed, with noisy numbers of people where the mechanism has any.

`ItemParameters` are the three numbers that nearly every mechanism of this room takes, declared and checked once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import ITEMS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PEOPLE", "Approximate", "Histogram", "ItemParameters", "Swaying"]

PEOPLE = "people"
"""The column of noisy counts."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Published items. It holds no true count, and its order tells nothing that its columns do not."""

    columns: tuple[str, ...]
    """The columns that make one item."""
    table: pa.Table
    """Those columns and, with counts, ``people``; most people first, then in the order of the items."""
    has_counts: bool
    """Whether ``people`` is there. It is noisy: it may be off, and where there is no threshold even negative."""

    def __len__(self) -> int:
        return len(self.table)

    def items(self) -> list[tuple[str, ...]]:
        """The items, in order."""
        return list(zip(*(self.table.column(name).to_pylist() for name in self.columns), strict=True))

    def people(self) -> dict[tuple[str, ...], int]:
        """Items and their noisy counts."""
        counts: list[int] = self.table.column(PEOPLE).to_numpy().tolist()
        return dict(zip(self.items(), counts, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Swaying:
    """What a mechanism promises that publishes items of one kind."""

    epsilon: Annotated[float, Gt(0)] = 1.0
    """How much one person may sway the output; smaller is more private."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate(Swaying):
    """The same, but for a small chance."""

    delta: Annotated[float, Gt(0), Lt(1)] = 1e-6
    """Chance that the promise fails, for example that an item only one person has gets out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemParameters(Approximate):
    """A budget for all kinds of items together, and how many items of each person count."""

    epsilon: Annotated[float, Gt(0)] = 1.0
    """How much one person may sway the output, all kinds of items together; smaller is more private."""
    items_per_person: Annotated[int, Ge(1), ITEMS] = 10
    """Items kept of each person before counting (m in the papers)."""
