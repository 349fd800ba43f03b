"""What a release of items is: the items that passed, with noisy numbers of people where the mechanism has any."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["PEOPLE", "Histogram"]

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
