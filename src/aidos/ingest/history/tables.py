"""Search logs and posts of communities, through the reading that every command has, as documents of one person.

A query is a document however often it was asked, with the words of the addresses that were clicked for it; a post is a
document with its title and its tags. Where a table is of several people, the person must be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.errors import InputError
from aidos.ingest.history.document import Document, Kind, address_words, make_document
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files

__all__ = ["read_tables"]

CLICKS = 5
"""Clicked addresses of one query whose words are taken."""
QUERIES = """
    select user_query as title, max("timestamp") as written, count(distinct "timestamp") as visits,
        {clicks} as clicked
    from {{table}} where {whose} and user_query is not null group by user_query order by written, title
"""
CLICKED = f"list(distinct object_id order by object_id) filter (object_id like 'http%')[:{CLICKS}]"
WRITTEN = """
    select {title} as title, "timestamp" as written, text || ' ' || {tags} as body
    from {{table}} where {whose} and text is not null
"""


def read_tables(engine: EmbeddedEngine, name: str, options: ReadOptions, *, person: str = "") -> Iterator[Document]:
    """The documents of one person in a search log or a table of posts."""
    read = read_files(engine, [name], options)
    if read.schema not in (SEARCH_LOG, POSTS):
        raise InputError(
            f"{name} is a table of {read.schema.title}: nobody wrote or searched there",
            hint=f"name a {SEARCH_LOG.title}, or {POSTS.title}",
        )
    held = frozenset(read.table.columns)
    whose = f"{read.schema.person} = {quote_text(_chosen(read.table, read.schema.person, name, person))}"
    if read.schema is SEARCH_LOG:
        return _queries(read.table, held, whose)
    return _posts(read.table, held, whose)


def _queries(table: EmbeddedTable, held: frozenset[str], whose: str) -> Iterator[Document]:
    clicks = CLICKED if "object_id" in held else "null::varchar[]"
    for row in _rows(table.select(QUERIES.format(clicks=clicks, whose=whose))):
        clicked = row["clicked"] if isinstance(row["clicked"], list) else []
        words = " ".join(filter(None, (address_words(str(address)) for address in clicked)))
        found = make_document(
            Kind.SEARCH_LOG,
            title=_text(row["title"]),
            body=words,
            time=_time(row["written"]),
            visits=_whole(row["visits"]),
        )
        if found is not None:
            yield found


def _posts(table: EmbeddedTable, held: frozenset[str], whose: str) -> Iterator[Document]:
    title = "title" if "title" in held else "null::varchar"
    tags = "coalesce(tags, '')" if "tags" in held else "''"
    for row in _rows(table.select(WRITTEN.format(title=title, tags=tags, whose=whose))):
        found = make_document(
            Kind.POSTS, title=_text(row["title"]), body=_text(row["body"]), time=_time(row["written"])
        )
        if found is not None:
            yield found


def _chosen(table: EmbeddedTable, column: str, name: str, person: str) -> str:
    """The person, who must be there; the only one, where none was named. Nobody's id is told."""
    if person:
        if not table.rows(f"select 1 from {{table}} where {column} = ? limit 1", [person]):
            raise InputError(f"{name} has no row of the person that was named", hint=f"see its column {column}")
        return person
    found = table.rows(f"select min({column}), count(distinct {column}) from {{table}}")[0]
    if found[1] != 1:
        raise InputError(
            f"{name} is of {found[1]:,} people, and a profile is of one", hint=f"choose one: --person ID ({column})"
        )
    return str(found[0])


def _rows(table: EmbeddedTable) -> Iterator[dict[str, object]]:
    for batch in table.batches(10_000):
        yield from batch.to_pylist()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 1


def _time(value: object) -> datetime | None:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else None
