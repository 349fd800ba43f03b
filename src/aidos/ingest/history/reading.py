"""Any source of documents: what it is is found out from its content, and then it is read as a stream.

A source is a browser's database or exported bookmarks, the directory of a browser's profile, a search log or a table of
posts, a text, or a folder of texts. Sources are read and never written to. An error may come after many good documents:
whatever is made of them should be kept only when the stream has ended well.

In a folder of texts the .txt, .md and .html files in it and below are a document each. Only their beginning is read: it
says what they are about. Hidden files and links are passed over, and so is what is no text. The title is that of the
page, or else the words of the file's name.

Search logs and posts go through the reading that every command has, and are documents of one person. A query is a
document however often it was asked, with the words of the addresses that were clicked for it; a post is a document with
its title and its tags. Where a table is of several people, the person must be chosen.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from aidos.core.profile import Kind
from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.errors import InputError
from aidos.ingest.formats import DELIMITED_FORMATS, LINE_FORMATS
from aidos.ingest.formats.markup import plain_text
from aidos.ingest.formats.qlogs import PREFIX
from aidos.ingest.history.bookmarks import MAGIC_OF_PACKED, is_netscape, load_bookmarks, read_bookmarks, read_netscape
from aidos.ingest.history.browsers import MAGIC, is_chrome, is_firefox, open_copy, read_chrome, read_firefox
from aidos.ingest.history.document import Document, address_words, make_document, unreadable
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe, refuse
from aidos.ingest.reading import read_files
from aidos.ingest.recognise import take_sample
from aidos.ingest.sources import BROKEN_STREAM, Source, find_sources

__all__ = ["PAGES", "TEXTS", "read_folder", "read_history", "read_tables", "read_text"]

HEAD = 1 << 12
SURE = 0.6
"""Formats of tables that are less sure than that do not make a table of a .txt file."""
OF_PROFILES = ("places.sqlite", "History", "Bookmarks")
"""What browsers call their files: a directory with one of them is a browser's profile, not a folder of texts."""
MARKS_OF_BOOKMARKS = ('"roots":', '"text/x-moz-place-container"')
"""Where one stands at the beginning of what is no whole JSON, it once was a file of bookmarks."""
DEFAULT = ReadOptions()


def read_history(
    engine: EmbeddedEngine, name: str, *, person: str = "", options: ReadOptions = DEFAULT
) -> Iterator[Document]:
    """The documents of a source; InputError where it cannot be read, is of no known kind, or holds no document.

    ``person`` chooses whose rows of a log or of posts are taken, ``options`` how such tables are read.
    """
    documents = 0
    for document in _documents(engine, name, person, options):
        documents += 1
        yield document
    if not documents:
        raise InputError(
            f"{name} holds no page, query or text with words in it",
            hint="browsers forget: name another profile, or bookmarks, which stay",
        )


def _documents(engine: EmbeddedEngine, name: str, person: str, options: ReadOptions) -> Iterator[Document]:
    if name.startswith(PREFIX):
        return read_tables(engine, name, options, person=person)
    if Path(name).is_dir():
        return _of_directory(Path(name))
    sources, problems = find_sources([name])
    problems += [describe("empty-file", source.name) for source in sources if not source.size]
    if problems:
        raise refuse(*problems)
    return chain.from_iterable(_of_file(engine, source, person, options) for source in sources)


def _of_file(engine: EmbeddedEngine, source: Source, person: str, options: ReadOptions) -> Iterator[Document]:
    kept = _of_browser(source.path)
    if kept is not None:
        return kept
    if options == DEFAULT and _is_text(source):
        found = read_text(source.path)
        return iter(() if found is None else (found,))
    return read_tables(engine, source.name, options, person=person)


def _of_directory(path: Path) -> Iterator[Document]:
    files = [path / name for name in OF_PROFILES if (path / name).is_file()]
    found = [kept for kept in map(_of_browser, files) if kept is not None]
    return chain.from_iterable(found) if found else read_folder(path)


def _of_browser(path: Path) -> Iterator[Document] | None:
    """The documents of a browser's file; None where it is none."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from error
    if head.startswith(MAGIC):
        return _of_database(path)
    text = head.decode("utf-8-sig", errors="replace")
    if is_netscape(text):
        return read_netscape(path)
    if head.startswith(MAGIC_OF_PACKED) or text.lstrip().startswith("{"):
        tree = load_bookmarks(path)
        if tree is not None:
            return read_bookmarks(tree)
        if head.startswith(MAGIC_OF_PACKED) or any(mark in text for mark in MARKS_OF_BOOKMARKS):
            raise InputError(f"{path} is damaged: it is not whole", hint="export the bookmarks again")
    return None


def _of_database(path: Path) -> Iterator[Document]:
    with open_copy(path) as connection:
        yield from _reader(path, connection)


def _reader(path: Path, connection: sqlite3.Connection) -> Iterator[Document]:
    if is_firefox(connection):
        return read_firefox(connection)
    if is_chrome(connection):
        return read_chrome(connection)
    raise InputError(
        f"{path} is a database, but none that Firefox or Chrome keeps its history in",
        hint="Firefox calls it places.sqlite, Chrome and Chromium call it History",
    )


def _is_text(source: Source) -> bool:
    """Whether the file is prose: logs may end in .txt too, and are recognised by their columns."""
    if source.path.suffix.lower() not in TEXTS or source.path.suffix.lower() in PAGES:
        return source.path.suffix.lower() in PAGES
    try:
        sample = take_sample(source)
    except BROKEN_STREAM:
        return False
    if any(known.by_header(sample.first, {}) for known in DELIMITED_FORMATS):
        return False
    verdicts = [known.recognise(sample) for known in DELIMITED_FORMATS]
    verdicts += [known.recognise(sample) for known in LINE_FORMATS]
    return all(verdict is None or verdict.confidence < SURE for verdict in verdicts)


PAGES = frozenset({".html", ".htm"})
TEXTS = frozenset({".txt", ".md"}) | PAGES
LONGEST = 1 << 16
"""Bytes of a file that are read."""
TITLE = re.compile(r"(?is)<title[^>]*>(.{0,500}?)</title>")
NO_LETTERS = re.compile(r"[\W\d_]+")


def read_folder(path: Path) -> Iterator[Document]:
    """The texts in a folder and below it, in the order of their names."""
    for directory, folders, files in os.walk(path, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(directory) / name
            if file.suffix.lower() in TEXTS and not name.startswith(".") and not file.is_symlink() and file.is_file():
                found = read_text(file)
                if found is not None:
                    yield found


def read_text(path: Path) -> Document | None:
    """The text of one file; None where it holds no words."""
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST)
            written = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, tz=UTC)
    except OSError as error:
        raise unreadable(path, error) from error
    if b"\x00" in content:
        return None
    text = content.decode("utf-8-sig", errors="ignore")
    title = NO_LETTERS.sub(" ", path.stem)
    if path.suffix.lower() in PAGES:
        found = TITLE.search(text)
        title = plain_text(found[1]) if found else title
        text = plain_text(TITLE.sub(" ", text))
    # A name alone is no text.
    return make_document(Kind.TEXTS, title=title, body=text, time=written) if text.strip() else None


def _refuse(error: OSError) -> None:
    raise unreadable(error.filename, error) from error


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
    read = read_files(engine, [name], replace(options, any_posts=True))
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
