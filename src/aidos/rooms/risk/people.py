"""People and what they wrote or searched for, as plain arrays that all risk measures read.

A person is a member of a community (her posts, each with its title) or a searcher of a log (her queries). Her entries
stand together, ordered by time, and each is a bag of words in the sense of an `Analyser`. Names of people and of
entries are kept beside the numbers and take no part in the computation.

Rows come from the engine in batches, so that texts are never all in memory; what stays is eight bytes for each distinct
word of an entry. Nothing is promised to anybody here: this is the truth about people, and never leaves as it is.

One query of a search log is the query with the clicks that came of it. Where a log names its queries (``query_id``),
rows of one name are one entry. Where it does not, as in the layout of the AOL log, a row for every click repeats the
query: rows of one person and one text at the same time are one entry, and a click belongs to the entry before it if
that is not older than half an hour, the usual end of a session. The same query asked again at another time, without a
click, is an entry of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError, ParameterError, Problem
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import BatchAnalysis
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.risk.entries import Bags, count_bags, join_bags

__all__ = ["Names", "People", "PeopleFacts", "read_people", "searches"]

SESSION = 30 * 60
"""Seconds after which a click is no longer of the query before it."""


def searches(columns: Collection[str]) -> str:
    """SQL over ``{table}``, a log with these columns: person, text, time in microseconds, and id (empty without)."""
    own = "coalesce(cast(query_id as varchar), '')" if "query_id" in columns else "''"
    time = 'epoch_us("timestamp")' if "timestamp" in columns else "cast(null as bigint)"
    clicked = "coalesce(cast(object_id as varchar), '') <> ''" if "object_id" in columns else "false"
    rows = f"select cast(client_id as varchar) as person, user_query as text, {own} as id, {time} as time, "
    gap = "time - lag(time) over same"
    begins = (
        f"case when id <> '' or time is null or {gap} = 0 or (clicked and {gap} <= {SESSION} * 1000000) "
        "then 0 else 1 end"
    )
    return (
        "select person, text, min(time) as time, id from (select *, sum(begins) over same as turn from ("
        f"select *, {begins} as begins from ({rows}{clicked} as clicked from {{table}}) "
        "window same as (partition by person, text, id order by time, clicked)) "
        "window same as (partition by person, text, id order by time, clicked rows unbounded preceding)) "
        "group by person, text, id, turn"
    )


Longs: TypeAlias = NDArray[np.int64]
Names: TypeAlias = "pa.Array[Any]"

BATCH = 65_536
PLAIN = Analyser()


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFacts:
    """Counts that a reader should know before she believes a rank."""

    people: int
    entries: int
    words: int
    """Distinct words."""
    people_with_one_entry: int
    people_without_words: int
    """Nothing they wrote has a word that counts; all similarities are 0 for them."""
    entries_without_words: int
    entries_without_time: int
    """Where this is not 0, measures over time cannot be computed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Entries by person and time; made by `read_people`, and never changed."""

    ids: Names
    """The name of every person, rising."""
    entry_ids: Names | None
    """The name of every entry, where the table has such a column."""
    person_starts: Longs
    """The entries of person i are those from ``person_starts[i]`` to ``person_starts[i + 1]``."""
    times: Longs | None
    """Seconds of Unix time, rising within a person; None where an entry has none."""
    bags: Bags
    vocabulary: Vocabulary
    analyser: Analyser
    facts: PeopleFacts

    def __len__(self) -> int:
        return len(self.person_starts) - 1

    @property
    def entries(self) -> int:
        """How many entries all people have together."""
        return int(self.person_starts[-1])

    def find(self, person_id: str) -> int:
        """The number of a person."""
        place = int(pc.index(self.ids, pa.scalar(person_id, pa.large_string())).as_py())
        if place < 0:
            raise ParameterError(
                f"nobody has that name among {len(self):,} people", hint="names are compared letter by letter"
            )
        return place

    def owners(self, first: int, last: int) -> Longs:
        """The person of every entry from one number up to another."""
        return np.searchsorted(self.person_starts, np.arange(first, last), side="right").astype(np.int64) - 1

    def alone(self, person: int) -> People:
        """One person with the words that she uses and no others: cheap to look at again and again."""
        if not 0 <= person < len(self):
            raise ParameterError(f"people are numbered from 0 to {len(self) - 1}, got {person}")
        first, last = int(self.person_starts[person]), int(self.person_starts[person + 1])
        own = self.bags.part(first, last)
        used, places = np.unique(own.words, return_inverse=True)
        bags = own._replace(words=places.astype(np.int32))
        starts = np.array([0, last - first], dtype=np.int64)
        times = None if self.times is None else self.times[first:last]
        without_time = self.facts.entries_without_time and last - first
        return People(
            ids=self.ids.slice(person, 1),
            entry_ids=None if self.entry_ids is None else self.entry_ids.slice(first, last - first),
            person_starts=starts,
            times=times,
            bags=bags,
            vocabulary=Vocabulary(self.vocabulary.terms(used.astype(np.int64))),
            analyser=self.analyser,
            facts=_facts(starts, bags, len(used), without_time),
        )


def read_people(data: EmbeddedTable | pa.Table, *, analyser: Analyser = PLAIN) -> People:
    """People from a table of community posts or from a search log, of the engine or in memory.

    The words of a post are those of its title and its text. A query that was asked and clicked is one entry, see
    `aidos.rooms.risk.people`. Entries without a word are kept and counted. Times
    may be missing: then measures over time refuse to work, all others do.
    """
    if isinstance(data, pa.Table):
        with EmbeddedEngine() as engine:
            return read_people(engine.table(data), analyser=analyser)
    columns = data.columns
    sql, has_ids = _query(data, columns)
    reading = _Reading(analysis=BatchAnalysis(analyser, Vocabulary()), has_ids=has_ids)
    for batch in data.select(sql).batches(BATCH):
        reading.add(batch)
    return reading.finish()


def _query(data: EmbeddedTable, columns: Any) -> tuple[str, bool]:
    """The SQL that gives person, time, text (and name) of all entries in order, after a look at what is missing."""
    if "user_query" in columns and SEARCH_LOG.person in columns:
        person, needed = SEARCH_LOG.person, "user_query"
    elif POSTS.person in columns and "text" in columns:
        person, needed = POSTS.person, "text"
    else:
        raise InputError(
            f"this is neither a table of {POSTS.title} nor a {SEARCH_LOG.title}",
            hint=f"needed are author_id and text, or client_id and user_query; there are {', '.join(columns)}",
        )
    kind = columns.get("timestamp", "")
    if kind and not kind.startswith(("TIMESTAMP", "DATE")) and _some_value(data, "timestamp"):
        raise InputError(
            f"the column timestamp holds {kind.lower()}, not times", hint="turn it into timestamps, or leave it out"
        )
    _complain(data, person)
    timed = kind.startswith(("TIMESTAMP", "DATE"))
    time = 'epoch_us("timestamp")' if timed else "cast(null as bigint)"
    if needed == "user_query":
        held = [name for name in columns if timed or name != "timestamp"]
        return f"select person, time, text from ({searches(held)}) order by all", False
    title = "if(coalesce(title, '') in ('', text), coalesce(text, ''), title || ' ' || coalesce(text, ''))"
    text = title if "title" in columns else "text"
    has_ids = "post_id" in columns
    name = "cast(post_id as varchar) as name, " if has_ids else ""
    order = "person, time, name, text" if has_ids else "person, time, text"
    chosen = f"cast({person} as varchar) as person, {time} as time, {name}{text} as text"
    return f"select {chosen} from {{table}} order by {order}", has_ids


def _some_value(data: EmbeddedTable, column: str) -> bool:
    return bool(data.rows(f'select count("{column}") from {{table}}')[0][0])


def _complain(data: EmbeddedTable, person: str) -> None:
    found = data.rows(
        f"select count(*), count(*) filter (where coalesce(cast({person} as varchar), '') = '') from {{table}}"
    )
    rows, bad = (int(str(value)) for value in found[0])
    if not rows:
        raise InputError("there are no entries", hint="name a file with posts or queries in it")
    if bad:
        problem = Problem(
            kind=f"missing-{person}",
            file="entries",
            sentence=f"{bad:,} of {rows:,} entries {'has' if bad == 1 else 'have'} no {person}",
            remedy=f"leave them out, or say which column holds {person}",
            column=person,
            count=bad,
        )
        raise InputError(problem.sentence, hint=problem.remedy, problems=[problem])


@dataclass(slots=True)
class _Reading:
    """Batches of entries on their way into arrays."""

    analysis: BatchAnalysis
    has_ids: bool
    people: list[str] = field(default_factory=list)
    firsts: list[Longs] = field(default_factory=list)
    names: list[Names] = field(default_factory=list)
    times: list[Longs] = field(default_factory=list)
    bags: list[Bags] = field(default_factory=list)
    entries: int = 0
    without_time: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows, ordered by person."""
        if not len(batch):
            return
        person = batch.column("person").cast(pa.large_string())
        changed = np.ones(len(batch), dtype=np.bool_)
        changed[1:] = pc.not_equal(person.slice(1), person.slice(0, len(batch) - 1)).to_numpy(zero_copy_only=False)
        if self.people:
            changed[0] = person[0].as_py() != self.people[-1]
        self.people += [str(name) for name in person.filter(pa.array(changed)).to_pylist()]
        self.firsts.append(self.entries + np.flatnonzero(changed))
        self.entries += len(batch)
        times = batch.column("time")
        self.without_time += times.null_count
        self.times.append(times.fill_null(0).to_numpy().astype(np.int64) // 1_000_000)
        if self.has_ids:
            self.names.append(batch.column("name").cast(pa.large_string()))
        self.bags.append(count_bags(self.analysis, batch.column("text").cast(pa.large_string())))

    def finish(self) -> People:
        """All of them together."""
        starts = np.concatenate([*self.firsts, np.array([self.entries])]).astype(np.int64)
        bags = join_bags(self.bags)
        vocabulary = self.analysis.vocabulary
        return People(
            ids=pa.array(self.people, type=pa.large_string()),
            entry_ids=pa.concat_arrays(self.names) if self.has_ids else None,
            person_starts=starts,
            times=None if self.without_time else np.concatenate(self.times),
            bags=bags,
            vocabulary=vocabulary,
            analyser=self.analysis.analyser,
            facts=_facts(starts, bags, len(vocabulary), self.without_time),
        )


def _facts(person_starts: Longs, bags: Bags, words: int, without_time: int) -> PeopleFacts:
    word_starts = bags.starts[person_starts]
    return PeopleFacts(
        people=len(person_starts) - 1,
        entries=int(person_starts[-1]),
        words=words,
        people_with_one_entry=int((np.diff(person_starts) == 1).sum()),
        people_without_words=int((np.diff(word_starts) == 0).sum()),
        entries_without_words=int((np.diff(bags.starts) == 0).sum()),
        entries_without_time=without_time,
    )
