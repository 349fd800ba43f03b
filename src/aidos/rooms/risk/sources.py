"""Entries of people in one shape: posts of a community, queries of a log, or somebody's own texts.

Whatever the source, a table here has author_id, timestamp, post_id, title and text, and known_by: what an entry is told
from all others by, such as its post_id; null where it has no name. A query that was asked and clicked is one entry (see
`aidos.rooms.risk.people`), named by its id or by its time. Where entries have no times, timestamps are null: then
measures over time refuse to work, all others do.

Entries that were counted before are left out when they come again, and refused when they come changed. An entry is
known by its name. One that comes with the same person, time and text is the same, however often it comes; with another
one of these, somebody changed it or gave its name away, and nobody here can tell which of the two is right. Entries
without a name are all different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.json as pajson
import pyarrow.parquet as pq

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources
from aidos.rooms.risk.people import searches

__all__ = ["MYSELF", "leave_out_repeats", "read_entries", "read_own_texts"]

MYSELF = "me"
PLAIN_TEXT = (".txt", ".md")
QUERIES = """
    select person as author_id, timestamp, text, null::varchar as title,
        name || if(count(*) over same > 1, ' #' || row_number() over (same order by text), '') as post_id,
        'query ' || person || chr(31) || name || chr(31) || text as known_by
    from (
        select person, text, make_timestamp(time) as timestamp,
            if(id = '', strftime(make_timestamp(time), '%Y-%m-%d %H:%M:%S'), id) as name
        from (SEARCHES)
    ) window same as (partition by person, name)
"""
PARTS = {
    "the person": "author_id",
    "the time": "timestamp",
    "the text": "concat_ws(chr(31), coalesce(title, ''), text)",
}


def read_entries(
    engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions, *, without_times: bool, first: int = 0
) -> EmbeddedTable:
    """The entries of files; those that have no name are numbered from ``first`` on."""
    # A post that comes again counts once here, and a blank one says nothing (see `leave_out_repeats`).
    options = replace(options, any_posts=True)
    if without_times:
        return _of_posts(_timeless(engine, files, options), first)
    read = read_files(engine, files, options)
    if read.schema is SEARCH_LOG:
        return read.table.select(QUERIES.replace("SEARCHES", searches(read.table.columns)))
    if read.schema is not POSTS:
        raise InputError(
            f"this is a table of {read.schema.title}: nobody wrote or searched there",
            hint=f"name {POSTS.title}, or a {SEARCH_LOG.title}",
        )
    return _of_posts(read.table, first)


def read_own_texts(
    engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions, *, without_times: bool
) -> EmbeddedTable:
    """The entries of one person: as above, or texts (.txt, .md) in which each paragraph is an entry without time."""
    plain = [name for name in files if name.lower().endswith(PLAIN_TEXT)]
    if not plain:
        return read_entries(engine, files, options, without_times=without_times)
    if len(plain) < len(files):
        raise ParameterError("texts and tables cannot be read together", hint="name the one or the other")
    texts = [part.strip() for name in plain for part in read_text(Path(name)).split("\n\n") if part.strip()]
    if not texts:
        raise InputError("there are no texts in these files", hint="write something into them")
    numbers = [f"paragraph {number}" for number in range(1, len(texts) + 1)]
    return _of_posts(engine.table(pa.table({"author_id": [MYSELF] * len(texts), "post_id": numbers, "text": texts})), 0)


def leave_out_repeats(entries: EmbeddedTable, known: EmbeddedTable | None = None) -> EmbeddedTable:
    """The entries that are not among the known ones, each once."""
    _refuse_changed(entries, known)
    columns = ", ".join(entries.columns)
    old = f"select known_by from {known.name} where known_by is not null" if known else ""
    other = f"and known_by not in ({old})" if old else ""
    # Texts are large: only those that come twice are put side by side.
    twice = _twice(f"select known_by from {entries.name}")
    once = "row_number() over (partition by known_by)"
    return entries.select(
        f"select {columns} from {{table}} where known_by is null or (known_by not in ({twice}) {other}) union all "
        f"select {columns} from (select *, {once} as again from {{table}} where known_by in ({twice}) {other}) "
        "where again = 1"
    )


def _of_posts(posts: EmbeddedTable, first: int) -> EmbeddedTable:
    held = posts.columns
    if missing := [name for name in ("author_id", "text") if name not in held]:
        raise InputError(
            f"no column holds the {' and the '.join(missing)}",
            hint=f"say which one does, for example --column {missing[0]}=NAME; there are {', '.join(held)}",
        )
    time = "cast(timestamp as timestamp)" if "timestamp" in held else "null::timestamp"
    title = "cast(title as varchar)" if "title" in held else "null::varchar"
    number = f"'entry ' || ({first} + row_number() over ())"
    own = "nullif(cast(post_id as varchar), '')" if "post_id" in held else "null::varchar"
    chosen = f"{time} as timestamp, cast(text as varchar) as text, {title} as title"
    chosen += f", coalesce({own}, {number}) as post_id, {own} as known_by"
    return posts.select(f"select cast(author_id as varchar) as author_id, {chosen} from {{table}}")


def _timeless(engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions) -> EmbeddedTable:
    """Tables as they are, with no look at times."""
    sources, problems = find_sources(files)
    if problems or not sources:
        raise InputError("some files cannot be read", hint="look at their names", problems=problems)
    tables = [_renamed(_table(source.path, options), options) for source in sources]
    together = pa.concat_tables(tables, promote_options="default")
    kept = [name for name in ("author_id", "post_id", "title", "text") if name in together.column_names]
    return engine.table(together.select(kept)) if kept else engine.table(together)


def _table(path: Path, options: ReadOptions) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix in (".jsonl", ".ndjson"):
            return pajson.read_json(path)
        if path.suffix in (".csv", ".tsv"):
            comma = options.separator or ("\t" if path.suffix == ".tsv" else ",")
            parsing = pacsv.ParseOptions(delimiter=comma, newlines_in_values=True)
            return pacsv.read_csv(path, parse_options=parsing)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read", hint="see what is wrong with it: aidos check") from error
    raise InputError(f"{path} is of no kind that is read without times", hint="name .csv, .tsv, .jsonl or .parquet")


def _renamed(table: pa.Table, options: ReadOptions) -> pa.Table:
    ours = {theirs: name for name, theirs in options.columns().items()}
    return table.rename_columns([ours.get(name, name) for name in table.column_names])


def _twice(names: str) -> str:
    """SQL for the names that are more than once among these."""
    return f"select known_by from ({names}) where known_by is not null group by known_by having count(*) > 1"


def _refuse_changed(entries: EmbeddedTable, known: EmbeddedTable | None) -> None:
    columns = "known_by, author_id, timestamp, title, text"
    old = f" union all select {columns} from {known.name}" if known else ""
    both = f"select {columns} from {entries.name}{old}"
    own = f"select known_by from {entries.name} where known_by is not null"
    differ = ", ".join(
        f"sum((count(distinct {part}) + max(({part} is null)::int) > 1)::int) over ()" for part in PARTS.values()
    )
    found = entries.rows(
        f"select count(*) over (), {differ} from ({both}) where known_by in ({own}) "
        f"and known_by in ({_twice(f'select known_by from ({both})')}) "
        f"group by known_by having count(distinct (author_id, timestamp, {PARTS['the text']})) > 1 limit 1"
    )
    if found:
        changed, *counts = (int(str(value)) for value in found[0])
        what = " or ".join(name for name, count in zip(PARTS, counts, strict=True) if count)
        raise InputError(
            f"{changed:,} {'entry comes' if changed == 1 else 'entries come'} twice under the same name, "
            f"but {what} is not the same",
            hint="give every post a name (post_id) of its own; one that was changed must be forgotten first: "
            "aidos risk forget --post NAME --in DIR",
        )
