"""Entries of people in one shape: posts of a community, queries of a log, or somebody's own texts.

Whatever the source, a table here has author_id, timestamp, post_id, title and text, and known_by: what an entry is told
from all others by, such as its post_id; null where it has no name. A query that was asked and clicked is one entry (see
`aidos.exposure.risk.searches`), named by its id or by its time. Where entries have no times, timestamps are null: then
measures over time refuse to work, all others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.json as pajson
import pyarrow.parquet as pq

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError, ParameterError
from aidos.exposure.risk.searches import searches
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources

__all__ = ["MYSELF", "read_entries", "read_own_texts"]

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


def read_entries(
    engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions, *, without_times: bool, first: int = 0
) -> EmbeddedTable:
    """The entries of files; those that have no name are numbered from ``first`` on."""
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
    texts = [part.strip() for name in plain for part in _text(Path(name)).split("\n\n") if part.strip()]
    if not texts:
        raise InputError("there are no texts in these files", hint="write something into them")
    numbers = [f"paragraph {number}" for number in range(1, len(texts) + 1)]
    return _of_posts(engine.table(pa.table({"author_id": [MYSELF] * len(texts), "post_id": numbers, "text": texts})), 0)


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
            comma = options.delimiter or ("\t" if path.suffix == ".tsv" else ",")
            parsing = pacsv.ParseOptions(delimiter=comma, newlines_in_values=True)
            return pacsv.read_csv(path, parse_options=parsing)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read", hint="see what is wrong with it: aidos check") from error
    raise InputError(f"{path} is of no kind that is read without times", hint="name .csv, .tsv, .jsonl or .parquet")


def _renamed(table: pa.Table, options: ReadOptions) -> pa.Table:
    ours = {theirs: name for name, theirs in options.columns.items()}
    return table.rename_columns([ours.get(name, name) for name in table.column_names])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}", hint="look at the name") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text", hint="name a file in utf-8") from error
