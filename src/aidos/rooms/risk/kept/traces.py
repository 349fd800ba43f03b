"""What has to be remembered of people so that new entries can be taken in, and which entry it comes from.

Evidence is that of `aidos.rooms.risk.evidence`: the best similarities, and the best time buckets. Beside every value
that a topic's risk goes by stands the number of the entry that gave it, so that a person can be told which entries put
her where she is; of equals it is the one that came first. No word of any entry is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.model.retrieval.threads import in_chunks
from aidos.rooms.risk.entries import bucket_numbers
from aidos.rooms.risk.evidence import Evidence
from aidos.rooms.risk.kernels import keep_bucketed, keep_nearest
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import Layout, Space

__all__ = ["NOBODY", "KeptSpace", "Traces"]

Floats: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]
Ints: TypeAlias = NDArray[np.int32]

NOBODY = -1
"""The entry of a number that no entry gave."""
BLOCK = 2048
"""Entries whose similarities are held at once, by each thread."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traces:
    """Evidence in one space with a row for every person, and the entries it comes from."""

    evidence: Evidence
    nearest: Ints
    """Person and topic: the entry with the highest similarity."""
    bucketed: Mapping[int, Ints]
    """By days of a bucket: person, topic and place; the nearest entry of each bucket that is kept."""

    @classmethod
    def of_nothing(cls, people: int, layout: Layout, recurring: Mapping[int, int]) -> Self:
        """Before any entry."""
        evidence = Evidence.of_nothing(people, layout, recurring)
        return cls(
            evidence=evidence,
            nearest=np.full((people, len(layout.asked)), NOBODY, dtype=np.int32),
            bucketed={days: np.full(kept.shape, NOBODY, dtype=np.int32) for days, kept in evidence.highest.items()},
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All arrays by name, not copied; each has a row for every person."""
        found: dict[str, NDArray[np.generic]] = {"best": self.evidence.best, "nearest": self.nearest}
        for days in self.bucketed:
            found[f"buckets-{days}"] = self.evidence.buckets[days]
            found[f"highest-{days}"] = self.evidence.highest[days]
            found[f"bucketed-{days}"] = self.bucketed[days]
        return found

    def take(self, rows: Longs) -> Traces:
        """A copy of some rows, in that order; NOBODY stands for a row of a person of whom nothing is known."""
        known = rows >= 0
        empty = Traces._like(self, len(rows))
        for mine, theirs in zip(empty.arrays().values(), self.arrays().values(), strict=True):
            mine[known] = theirs[rows[known]]
        return empty

    def put(self, rows: Longs, other: Traces) -> None:
        """Write the rows of another to these rows."""
        for mine, theirs in zip(self.arrays().values(), other.arrays().values(), strict=True):
            mine[rows] = theirs

    def _like(self, people: int) -> Traces:
        def blank(array: NDArray[np.generic], value: int) -> NDArray[np.generic]:
            return np.full((people, *array.shape[1:]), value, dtype=array.dtype)

        return Traces(
            evidence=Evidence(
                best=blank(self.evidence.best, 0).view(np.float32),
                buckets={days: blank(array, 0).view(np.int64) for days, array in self.evidence.buckets.items()},
                highest={days: blank(array, 0).view(np.float32) for days, array in self.evidence.highest.items()},
            ),
            nearest=blank(self.nearest, NOBODY).view(np.int32),
            bucketed={days: blank(array, NOBODY).view(np.int32) for days, array in self.bucketed.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptSpace:
    """What is kept of people in one space."""

    space: Space
    layout: Layout
    """That of the space, or one that asks for more of its columns."""
    recurring: Mapping[int, int]
    """How many time buckets, by their days."""

    def of_nothing(self, people: int) -> Traces:
        """Before any entry."""
        return Traces.of_nothing(people, self.layout, self.recurring)

    def take_in(
        self,
        traces: Traces,
        people: People,
        first_entry: int,
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> None:
        """Take in all entries of people, who have the rows of the traces in their order; entries are numbered on."""
        compare = self.space.bind(people.vocabulary)
        cuts = _cuts(people.person_starts)
        asked = self.layout.asked
        evidence = traces.evidence
        with progress.task("comparing entries with topics", total=people.entries, unit="entries") as task:

            def part(first: int, last: int) -> None:
                values, rows = compare(people.bags.part(first, last)), people.owners(first, last)
                keep_nearest(values, asked, rows, first_entry + first, evidence.best, traces.nearest)
                if people.times is None:
                    return
                for days, buckets in evidence.buckets.items():
                    numbers = bucket_numbers(people.times[first:last], days)
                    kept = (buckets, evidence.highest[days], traces.bucketed[days])
                    keep_bucketed(values, asked, rows, numbers, first_entry + first, *kept)

            def block(first: int, last: int) -> None:
                for cut in range(first, last):
                    begin, end = (int(people.person_starts[cuts[at]]) for at in (cut, cut + 1))
                    for at in range(begin, end, BLOCK):
                        part(at, min(end, at + BLOCK))
                    task.advance(end - begin)

            work: Callable[[], Callable[[int, int], None]] = lambda: block  # noqa: E731
            in_chunks(work, len(cuts) - 1, 1, threads)


def _cuts(person_starts: Longs) -> Longs:
    """Where to cut people into blocks of about as many entries as fit; a person is never cut."""
    wanted = np.arange(0, int(person_starts[-1]), BLOCK)
    return np.unique(np.append(np.searchsorted(person_starts, wanted, side="right") - 1, len(person_starts) - 1))
