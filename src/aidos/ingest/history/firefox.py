"""Firefox: the pages of places.sqlite that were visited, and those that were bookmarked, with tags and folder.

Pages that Firefox itself hides (frames and redirects) are passed over. A bookmark is a document beside the visits to
the same page: who keeps a page is more interested than who passed by.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from aidos.ingest.history.database import fetch_rows, table_columns, text_in
from aidos.ingest.history.document import EPOCH, Document, Kind, make_document, moment_after

__all__ = ["ROOTS", "TAGS", "is_firefox", "read_firefox"]

TAGS = "tags________"
"""The folder of tags: each is a folder below it, so that a tag on a page looks like another bookmark of the page."""
ROOTS = frozenset({"root________", "menu________", "toolbar_____", "unfiled_____", "mobile______", TAGS})
"""Folders that every browser has: their names say nothing."""
PLACES = frozenset({"id", "url", "title", "visit_count", "last_visit_date"})
BOOKMARKS = frozenset({"id", "type", "fk", "parent", "title", "dateAdded", "guid"})
VISITED = "SELECT url, title, {description}, visit_count, last_visit_date FROM moz_places WHERE visit_count > 0 {shown}"
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
    for url, title, body, visits, last in fetch_rows(connection, VISITED.format(description=description, shown=shown)):
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
