"""A log becomes numbers, once for an experiment: what releases are compared with.

What an item is stays the business of `aidos.rooms.publish.items`: its contributions are taken, over a log whose people,
queries and results have become numbers, which is several times quicker than over their texts.

The log that releases are compared with, made ready once: numbers for people, queries, results and items. Every
simulated release reads the same contributions, so they are worked out once and kept as whole numbers in a private
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

from aidos.core.progress import SILENT, Progress
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.rooms.publish.items import KINDS, askings, contributions

__all__ = ["ASKED", "ASKINGS", "LOG", "WORDS", "Originals", "UnsuitedLogError", "gather_originals", "items_file"]

NEEDED = ("client_id", "user_query", "timestamp")
FEWEST_PEOPLE = 2
DIGITS = 12
"""Of a digest, in hexadecimal: enough to order the items of one person."""


def gather_originals(
    log: EmbeddedTable,
    directory: Path,
    kinds: Sequence[str] = tuple(KINDS),
    *,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Originals:
    """Number everything and write it to the directory, which should be private; the seed puts items in an order.

    InputError for a log without people, queries or times; kinds that it has no items of are left out.
    """
    known = log.columns
    if missing := [name for name in NEEDED if name not in known]:
        raise InputError(f"the log has no column {', '.join(missing)}", hint=f"it has {', '.join(known)}")
    steps = _Steps(log.engine, directory, seed)
    left_out: dict[str, str] = {}
    with progress.task("preparing the log", total=5, unit="steps") as task:
        people = steps.number_log(log)
        task.advance(1)
        if "keywords" in kinds:
            steps.keywords()
            task.advance(1)
        for kind in ("clicks", "pairs"):
            if kind in kinds and (reason := steps.linked(kind)):
                left_out[kind] = reason
            task.advance(1)
    found = tuple(kind for kind in KINDS if (kind in kinds or kind == "queries") and kind not in left_out)
    return Originals(
        directory=directory,
        people=people,
        kinds=found,
        left_out=left_out,
        has_positions="position" in known,
    )


class _Steps:
    """One log on its way into one directory."""

    def __init__(self, engine: EmbeddedEngine, directory: Path, seed: int) -> None:
        self.engine, self.directory, self.seed = engine, directory, seed

    def number_log(self, log: EmbeddedTable) -> int:
        """Queries by falling numbers of people, and the log with numbers in place of texts; give how many people."""
        with contributions(log, KINDS["queries"]).held(label="counting queries") as asked:
            self._write_items(
                "queries", asked.select("select user_query, count(*) as people from {table} group by user_query")
            )
            queries = self._read(items_file("queries"))
            numbered = "select person, row_number() over (order by person) - 1 as number from (select distinct person"
            with asked.select(f"{numbered} from {{table}})").held() as people:
                found = people.count()
                if found < FEWEST_PEOPLE:
                    raise InputError(
                        f"the log has queries of {found} people: there is nobody to hide among",
                        hint="name a log of more people",
                    )
                self._write_contributions(
                    "queries",
                    asked.select(
                        f"select {_whole('p.number')} as person, q.item from {{table}} t "
                        f"join {people.name} p using (person) join {queries.name} q using (user_query)"
                    ),
                )
                self._write_numbers(log, people, queries)
        return found

    def _write_numbers(self, log: EmbeddedTable, people: Table, queries: Table) -> None:
        known = log.columns
        columns = [f"{_whole('p.number')} as client_id", "q.item as user_query", 't."timestamp"']
        if "session_id" in known:
            # Sessions are told apart within one person only.
            columns.append("if(t.session_id is null, null, hash(t.session_id)) as session_id")
        columns += [f"t.{name}" for name in ("action", "position", "object_id") if name in known]
        self._write(
            LOG,
            log.select(
                f"select {', '.join(columns)} from {{table}} t join {people.name} p on p.person = t.client_id "
                f"join {queries.name} q on q.user_query = t.user_query"
            ),
        )
        numbered = self._read(LOG)
        # Askings are in order and parted into visits for good, so that later readers have less to do.
        visits = "select client_id, visit as session_id, user_query, make_timestamp(place) as timestamp"
        self._write(ASKINGS, numbered.select(f"{visits} from ({askings(numbered.columns)})"))

    def keywords(self) -> None:
        """The words of each query, the keywords of each person, and how often each keyword was asked."""
        queries = self._read(items_file("queries"))
        named = queries.select("select item as client_id, user_query from {table}")
        with contributions(named, KINDS["keywords"]).held() as words:
            by_query = words.select(f"select {_whole('person')} as item, keyword from {{table}}")
            asked = self._read("queries")
            each = f"select distinct t.person, w.keyword from {asked.name} t join {{table}} w using (item)"
            with by_query.select(each).held(label="counting keywords") as had:
                counted = "select keyword, count(*) as people from {table} group by keyword"
                self._write_items("keywords", had.select(counted))
                numbers = self._read(items_file("keywords")).name
                self._write_contributions(
                    "keywords", had.select(f"select t.person, k.item from {{table}} t join {numbers} k using (keyword)")
                )
            self._write(
                WORDS,
                by_query.select(
                    f"select t.item as user_query, k.item from {{table}} t join {numbers} k using (keyword)"
                ),
            )
        self._count_askings()

    def _count_askings(self) -> None:
        asked, words = self._read(ASKINGS), self._read(WORDS)
        items = self._read(items_file("keywords")).name
        times = f"select w.item, count(*) as times from {asked.name} join {words.name} w using (user_query) group by 1"
        self._write(
            ASKED,
            words.select(
                f"select {_whole('coalesce(t.times, 0)', 'bigint')} as times from {items} k "
                f"left join ({times}) t using (item) order by k.item"
            ),
        )

    def linked(self, kind: str) -> str:
        """Clicks or pairs, which hang on queries; the reason if there are none."""
        log = self._read(LOG)
        second = KINDS[kind].columns[1]
        if second == "object_id" and second not in log.columns:
            return "it does not say which results were clicked"
        text = second == "object_id"
        item = f"{_whole('user_query')} as user_query, {second if text else f'{_whole(second)} as {second}'}"
        with (
            contributions(log, KINDS[kind])
            .select(f"select {_whole('person')} as person, {item} from {{table}}")
            .held(label=f"counting {kind}") as had
        ):
            if not had.count():
                return EMPTY[kind]
            self._write_items(
                kind, had.select(f"select user_query, {second}, count(*) as people from {{table}} group by all")
            )
            numbers = self._read(items_file(kind)).name
            self._write_contributions(
                kind,
                had.select(f"select t.person, k.item from {{table}} t join {numbers} k using (user_query, {second})"),
            )
        return ""

    def _write_items(self, kind: str, counted: Table) -> None:
        """Items with their true counts, the most frequent first, numbered from 0."""
        columns = ", ".join(KINDS[kind].columns)
        order = f"people desc, {columns}"
        self._write(
            items_file(kind),
            counted.select(
                f"select {_whole(f'row_number() over (order by {order}) - 1')} as item, {columns}, people "
                f"from {{table}} order by {order}"
            ),
        )

    def _write_contributions(self, kind: str, had: Table) -> None:
        """Person and item, and the item's place among those of the person in a random order; low places first.

        Whoever wants few items of each person then reads the beginning of the file and no more.
        """
        drawn = f"left(md5('{self.seed}' || chr(31) || person || chr(31) || item), {DIGITS}), item"
        place = f"row_number() over (partition by person order by {drawn}) - 1"
        self._write(kind, had.select(f"select person, item, {_whole(place)} as place from {{table}} order by place"))

    def _read(self, name: str) -> EmbeddedTable:
        return self.engine.parquet(self.directory / f"{name}.parquet")

    def _write(self, name: str, table: Table) -> None:
        table.write_parquet(self.directory / f"{name}.parquet")


EMPTY = {
    "clicks": "nobody clicked on a result",
    "pairs": "nobody asked two different queries in one visit",
}
"""Why a log that could have them has none."""


def _whole(expression: str, kind: str = "integer") -> str:
    return f"cast({expression} as {kind})"


Ints: TypeAlias = NDArray[np.int64]


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
