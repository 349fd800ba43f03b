"""The SQLite databases of browsers: the pages that Chrome and Firefox know of, read from a private copy.

Browsers hold their databases locked while they run. The files are copied byte by byte into a private directory that is
removed afterwards: the database, its write-ahead log (-wal), where the newest visits are, and its rollback journal.
The copy is taken again if a file changed meanwhile. The index of the log (-shm) is left behind: it is a cache that
SQLite makes anew from the log, and one copied at another moment than its log would point to what is not there.

Of Chrome, Chromium and their relatives the pages of a profile's ``History`` database are read. Searches are in it
twice, as pages of results and as a list of what was typed; the pages are enough, since their titles hold the words.

Of Firefox the pages of places.sqlite are read that were visited, and those that were bookmarked, with tags and folder.
Pages that Firefox itself hides (frames and redirects) are passed over. A bookmark is a document beside the visits to
the same page: who keeps a page is more interested than who passed by.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from aidos.core.profile import Kind
from aidos.engine.scratch import scratch_directory
from aidos.errors import EngineError, InputError
from aidos.ingest.history.document import EPOCH, EPOCH_OF_CHROME, Document, make_document, moment_after, unreadable

__all__ = [
    "MAGIC",
    "ROOTS",
    "TAGS",
    "fetch_rows",
    "is_chrome",
    "is_firefox",
    "open_copy",
    "read_chrome",
    "read_firefox",
    "table_columns",
    "text_in",
]

MAGIC = b"SQLite format 3\x00"
BESIDE = ("", "-wal", "-journal")
ATTEMPTS = 5
SECONDS_BETWEEN = 0.2
ROWS = 2_000
Stamp = tuple[tuple[int, int, int] | None, ...]


@contextmanager
def open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the database, for reading only; what goes wrong with it becomes InputError."""
    with scratch_directory() as directory:
        copied = directory / "copy.sqlite"
        _copy(path, copied)
        try:
            # Writable, so that SQLite can settle an unfinished change: of the copy, before anything is read.
            connection = sqlite3.connect(f"file:{copied}?mode=rw", uri=True, isolation_level=None)
            with closing(connection):
                connection.text_factory = _decode
                for setting in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
                    connection.execute(f"PRAGMA {setting}")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # The words of SQLite may quote what is in the file, and Python may fail to decode them.
            raise InputError(
                f"{path} is damaged, or is no whole database",
                hint="close the browser, copy the file, and name the copy",
            ) from error


def table_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns; none where there is no such table."""
    asked = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(str(row[0]) for row in asked)


def fetch_rows(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[object, ...]]:
    """The rows of a query, some at a time."""
    asked = connection.execute(sql)
    while rows := asked.fetchmany(ROWS):
        yield from rows


def text_in(cell: object) -> str:
    """The text of a cell, empty where it holds none: SQLite takes values of any type in any column."""
    return cell if isinstance(cell, str) else ""


def _copy(path: Path, copied: Path) -> None:
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(SECONDS_BETWEEN)
        try:
            before = _stamp(path)
            for ending in BESIDE:
                target = Path(f"{copied}{ending}")
                target.unlink(missing_ok=True)
                source = Path(f"{path}{ending}")
                if not ending or source.is_file():
                    shutil.copyfile(source, target)
            if _stamp(path) == before:
                return
        except FileNotFoundError:
            continue  # a journal that was there a moment ago, or the database itself: told below
        except OSError as error:
            raise _refusal(path, error) from error
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint="look at the name")
    raise InputError(f"{path} is being written to all the time", hint="close the browser and try again")


def _stamp(path: Path) -> Stamp:
    """What changes when a file is written to."""
    found: list[tuple[int, int, int] | None] = []
    for ending in BESIDE:
        try:
            known = Path(f"{path}{ending}").stat()
            found.append((known.st_ino, known.st_size, known.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def _refusal(path: Path, error: OSError) -> InputError | EngineError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return EngineError(
            f"there is no room for a copy of {path}", hint="name a place with room for it, for example TMPDIR=/var/tmp"
        )
    return unreadable(path, error)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")


URLS = frozenset({"id", "url", "title", "visit_count", "last_visit_time"})
CHROME_VISITED = "SELECT url, title, visit_count, last_visit_time FROM urls WHERE visit_count > 0 {shown}"


def is_chrome(connection: sqlite3.Connection) -> bool:
    """Whether it has the tables that Chrome keeps pages and visits in."""
    return table_columns(connection, "urls") >= URLS and bool(table_columns(connection, "visits"))


def read_chrome(connection: sqlite3.Connection) -> Iterator[Document]:
    """The visited pages."""
    shown = "AND hidden = 0" if "hidden" in table_columns(connection, "urls") else ""
    for url, title, visits, last in fetch_rows(connection, CHROME_VISITED.format(shown=shown)):
        page = make_document(
            Kind.CHROME_HISTORY,
            title=text_in(title),
            address=text_in(url),
            time=moment_after(EPOCH_OF_CHROME, last),
            visits=visits if isinstance(visits, int) else 1,
        )
        if page is not None:
            yield page


TAGS = "tags________"
"""The folder of tags: each is a folder below it, so that a tag on a page looks like another bookmark of the page."""
ROOTS = frozenset({"root________", "menu________", "toolbar_____", "unfiled_____", "mobile______", TAGS})
"""Folders that every browser has: their names say nothing."""
PLACES = frozenset({"id", "url", "title", "visit_count", "last_visit_date"})
BOOKMARKS = frozenset({"id", "type", "fk", "parent", "title", "dateAdded", "guid"})
FIREFOX_VISITED = (
    "SELECT url, title, {description}, visit_count, last_visit_date FROM moz_places WHERE visit_count > 0 {shown}"
)
KEPT = f"""
    SELECT page.url, coalesce(kept.title, page.title), folder.title, folder.guid, tagged.names, kept.dateAdded
    FROM moz_bookmarks kept JOIN moz_places page ON page.id = kept.fk
    JOIN moz_bookmarks folder ON folder.id = kept.parent
    LEFT JOIN moz_bookmarks above ON above.id = folder.parent
    LEFT JOIN (
        SELECT entry.fk AS page, group_concat(tag.title, ' ') AS names
        FROM moz_bookmarks entry JOIN moz_bookmarks tag ON tag.id = entry.parent
        JOIN moz_bookmarks top ON top.id = tag.parent AND top.guid = '{TAGS}'
        GROUP BY entry.fk
    ) tagged ON tagged.page = kept.fk
    WHERE kept.type = 1 AND above.guid IS NOT '{TAGS}'
"""


def is_firefox(connection: sqlite3.Connection) -> bool:
    """Whether it has the table that Firefox keeps pages in."""
    return table_columns(connection, "moz_places") >= PLACES


def read_firefox(connection: sqlite3.Connection) -> Iterator[Document]:
    """The visited pages, then the bookmarks."""
    columns = table_columns(connection, "moz_places")
    description = "description" if "description" in columns else "NULL"
    shown = "AND hidden = 0" if "hidden" in columns else ""
    for url, title, body, visits, last in fetch_rows(
        connection, FIREFOX_VISITED.format(description=description, shown=shown)
    ):
        page = make_document(
            Kind.FIREFOX_HISTORY,
            title=text_in(title),
            address=text_in(url),
            body=text_in(body),
            time=moment_after(EPOCH, last),
            visits=visits if isinstance(visits, int) else 1,
        )
        if page is not None:
            yield page
    if table_columns(connection, "moz_bookmarks") >= BOOKMARKS:
        yield from _bookmarks(connection)


def _bookmarks(connection: sqlite3.Connection) -> Iterator[Document]:
    for url, title, folder, guid, tags, added in fetch_rows(connection, KEPT):
        page = make_document(
            Kind.FIREFOX_BOOKMARKS,
            title=text_in(title),
            address=text_in(url),
            body=f"{'' if guid in ROOTS else text_in(folder)} {text_in(tags)}",
            time=moment_after(EPOCH, added),
        )
        if page is not None:
            yield page
