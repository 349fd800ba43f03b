"""The log that releases are compared with, made ready once: numbers for people, queries, results and items.

Every simulated release reads the same contributions, so they are worked out once and kept as whole numbers in a private
directory: a person and an item in each row. Items are numbered by how many people have them, the most frequent first.
The texts of items stay in a table of their own, for what needs words (documents, suggestions).

What it does not promise: the noise of these releases is that of the mechanisms, but which items of a person are kept is
drawn here by numbers and once for all settings, so that settings differ by their strength and not by that draw; in
`aidos publish` it is drawn by texts, for each release. Queries of the very same second are taken in the order of their
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.rooms.publish.items import KINDS

Ints: TypeAlias = NDArray[np.int64]

__all__ = ["ASKED", "ASKINGS", "LOG", "WORDS", "Originals", "UnsuitedLogError", "items_file"]

LOG, ASKINGS, WORDS, ASKED = "log", "askings", "words", "asked"
"""Files beside those of the kinds: the log in numbers, what was asked in it, keywords of queries and of askings."""


class UnsuitedLogError(InputError):
    """A log that an experiment cannot be run on, though others may be."""


@dataclass(frozen=True)
class Originals:
    """A prepared log: everything is read from the directory when it is first asked for."""

    directory: Path
    people: int
    kinds: tuple[str, ...]
    """Kinds that the log has any items of."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Kinds that it has none of, and why."""
    has_positions: bool = False
    """Whether clicks say where the result stood."""

    def of_kinds(self, kinds: Sequence[str]) -> Originals:
        """The same log for an experiment that is about fewer kinds; queries are always there."""
        return replace(
            self,
            kinds=tuple(kind for kind in self.kinds if kind in {*kinds, "queries"}),
            left_out={kind: why for kind, why in self.left_out.items() if kind in kinds},
        )

    def counts(self, kind: str) -> Ints:
        """The true number of people of each item, by its number."""
        found: Ints = pq.read_table(self._path(items_file(kind)), columns=["people"])["people"].to_numpy()
        return found

    def items(self, kind: str) -> pa.Table:
        """What items are, by number: texts, but numbers for the queries of clicks and pairs."""
        return pq.read_table(self._path(items_file(kind)), columns=list(KINDS[kind].columns))

    def contributions(self, engine: EmbeddedEngine, kind: str, limit: int | None = None) -> EmbeddedTable:
        """Person and item, as numbers; with a limit so many items of each person, drawn once for all settings."""
        few = f" where place < {limit}" if limit is not None else ""
        return engine.parquet(self._path(kind)).select(f"select person, item from {{table}}{few}")

    def askings(self, engine: EmbeddedEngine) -> EmbeddedTable:
        """What was asked, in numbers, as a log: client_id, timestamp (the order, no time), session_id, user_query."""
        return engine.parquet(self._path(ASKINGS))

    def count_askings(self) -> int:
        """How often anybody asked anything."""
        return pq.read_metadata(self._path(ASKINGS)).num_rows

    def texts(self, engine: EmbeddedEngine) -> EmbeddedTable:
        """The log with the texts of queries, and numbers for people: for what needs words."""
        log, queries = engine.parquet(self._path(LOG)), engine.parquet(self._path(items_file("queries")))
        others = ", ".join(f't."{name}"' for name in log.columns if name != "user_query")
        return log.select(
            f"select {others}, q.user_query from {{table}} t join {queries.name} q on q.item = t.user_query"
        )

    def query_words(self, engine: EmbeddedEngine) -> EmbeddedTable:
        """The keywords of each query: user_query and item, as numbers."""
        return engine.parquet(self._path(WORDS))

    @cached_property
    def workload(self) -> Ints:
        """How often each keyword was searched, by its number: occurrences, not people."""
        found: Ints = pq.read_table(self._path(ASKED))["times"].to_numpy()
        return found

    def mean_items(self, kind: str) -> float:
        """Items of a person on average, over all people of the log."""
        return float(self.counts(kind).sum()) / self.people

    def require(self, *kinds: str) -> None:
        """Refuse a log that has no items of a kind."""
        for kind in kinds:
            if kind not in self.kinds:
                reason = self.left_out.get(kind, "they were not asked for")
                raise UnsuitedLogError(f"the log has no {kind}: {reason}", hint=HINTS[kind])

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.parquet"


HINTS = {
    "keywords": "name a log with queries in it",
    "queries": "name a log with queries in it",
    "clicks": "name a log that says which results were clicked (object_id), or run another experiment",
    "pairs": "name a log in which people ask several queries in one visit, or run another experiment",
}
"""What to do about a kind that is not there."""


def items_file(kind: str) -> str:
    """The file that has the texts and true counts of a kind."""
    return f"{kind}-items"
