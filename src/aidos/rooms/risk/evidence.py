"""What has to be remembered of people's entries to know their risks: the best similarities, and the best buckets.

For every person and column the highest similarity of any entry (`Evidence.best`), and where time matters for every
topic that was asked for the highest similarities of time buckets, only as many as a measure looks at
(`Evidence.highest`). Both can be brought up to date one entry at a time and in any order (`Evidence.add`): that is all
that streaming needs, and a computation from the beginning does the same, in blocks and on all cores.

People are cut into blocks of whole persons, entries into blocks that fit into the processor's memory: the similarities
of all entries are never held at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.model.retrieval.threads import in_chunks
from aidos.rooms.risk.entries import bucket_numbers
from aidos.rooms.risk.kernels import keep_best, keep_top_buckets
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import Layout, Similarity, Space

__all__ = ["Evidence", "gather", "gather_redrawn", "refuse_without_times"]

Floats: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]

BLOCK = 2048
"""Entries whose similarities are held at once, by each thread."""
DRAWN = 1 << 16
"""Redrawn entries that are looked at in one go."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """A row for every person. The arrays are brought up to date in place."""

    best: Floats
    """Person and column: the highest similarity of an entry."""
    buckets: Mapping[int, Longs]
    """By days of a bucket: person, topic and place; which bucket the value in ``highest`` is of."""
    highest: Mapping[int, Floats]
    """The highest values of buckets, in no order; 0 where there are no more."""

    @classmethod
    def of_nothing(cls, people: int, layout: Layout, recurring: Mapping[int, int]) -> Self:
        """Before any entry. ``recurring`` says how many buckets are kept, by days of a bucket."""
        shape = (people, len(layout.asked))
        return cls(
            best=np.zeros((people, layout.columns), dtype=np.float32),
            buckets={days: np.zeros((*shape, number), dtype=np.int64) for days, number in recurring.items()},
            highest={days: np.zeros((*shape, number), dtype=np.float32) for days, number in recurring.items()},
        )

    def add(self, values: Floats, rows: Longs, times: Longs | None, layout: Layout) -> None:
        """Take in entries: their similarities, the row of the person of each, and their times."""
        keep_best(values, rows, self.best)
        for days, buckets in self.buckets.items():
            if times is None:
                raise ParameterError("buckets of time need times")
            keep_top_buckets(values, layout.asked, rows, bucket_numbers(times, days), buckets, self.highest[days])


def refuse_without_times(people: People, recurring: Mapping[int, int], asking: str) -> None:
    """Say why measures over time cannot be computed, where that is so."""
    if recurring and people.times is None:
        lacking, entries = people.facts.entries_without_time, people.entries
        have = "has" if lacking == 1 else "have"
        which = "no entry has a time" if lacking == entries else f"{lacking:,} of {entries:,} entries {have} no time"
        raise ParameterError(
            f"{asking} looks at what comes again over time, but {which}",
            hint="choose a measure without -t, or give every entry a timestamp",
        )


def gather(
    people: People,
    space: Space,
    recurring: Mapping[int, int],
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Evidence:
    """The evidence on everybody, from all entries."""
    evidence = Evidence.of_nothing(len(people), space.layout, recurring)
    compare = space.bind(people.vocabulary)
    cuts = _cuts(people.person_starts)
    with progress.task("comparing entries with topics", total=people.entries, unit="entries") as task:

        def block(first: int, last: int) -> None:
            for cut in range(first, last):
                begin, end = (int(people.person_starts[cuts[at]]) for at in (cut, cut + 1))
                for at in range(begin, end, BLOCK):
                    _take_in(people, compare, evidence, space.layout, (at, min(end, at + BLOCK)))
                task.advance(end - begin)

        work: Callable[[], Callable[[int, int], None]] = lambda: block  # noqa: E731
        in_chunks(work, len(cuts) - 1, 1, threads)
    return evidence


def gather_redrawn(person: People, space: Space, recurring: Mapping[int, int], draws: Longs) -> Evidence:
    """The evidence on one person had she other entries; each row of ``draws`` names entries of hers."""
    evidence = Evidence.of_nothing(len(draws), space.layout, recurring)
    values = space.bind(person.vocabulary)(person.bags)
    step = max(1, DRAWN // draws.shape[1])
    for first in range(0, len(draws), step):
        part = draws[first : first + step]
        rows = np.repeat(np.arange(first, first + len(part)), part.shape[1])
        drawn = part.ravel()
        evidence.add(values[drawn], rows, None if person.times is None else person.times[drawn], space.layout)
    return evidence


def _take_in(people: People, compare: Similarity, evidence: Evidence, layout: Layout, entries: tuple[int, int]) -> None:
    first, last = entries
    times = None if people.times is None else people.times[first:last]
    evidence.add(compare(people.bags.part(first, last)), people.owners(first, last), times, layout)


def _cuts(person_starts: Longs) -> Longs:
    """Where to cut people into blocks of about as many entries as fit; a person is never cut."""
    wanted = np.arange(0, int(person_starts[-1]), BLOCK)
    return np.unique(np.append(np.searchsorted(person_starts, wanted, side="right") - 1, len(person_starts) - 1))
