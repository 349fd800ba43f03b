"""Chrome, Chromium and their relatives: the pages of a profile's ``History`` database.

Searches are in it twice, as pages of results and as a list of what was typed; the pages are enough, since their titles
hold the words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from aidos.ingest.history.database import fetch_rows, table_columns, text_in
from aidos.ingest.history.document import EPOCH_OF_CHROME, Document, Kind, make_document, moment_after

__all__ = ["is_chrome", "read_chrome"]

URLS = frozenset({"id", "url", "title", "visit_count", "last_visit_time"})
VISITED = "SELECT url, title, visit_count, last_visit_time FROM urls WHERE visit_count > 0 {shown}"


def is_chrome(connection: sqlite3.Connection) -> bool:
    """Whether it has the tables that Chrome keeps pages and visits in."""
    return table_columns(connection, "urls") >= URLS and bool(table_columns(connection, "visits"))


def read_chrome(connection: sqlite3.Connection) -> Iterator[Document]:
    """The visited pages."""
    shown = "AND hidden = 0" if "hidden" in table_columns(connection, "urls") else ""
    for url, title, visits, last in fetch_rows(connection, VISITED.format(shown=shown)):
        page = make_document(
            Kind.CHROME_HISTORY,
            title=text_in(title),
            address=text_in(url),
            time=moment_after(EPOCH_OF_CHROME, last),
            visits=visits if isinstance(visits, int) else 1,
        )
        if page is not None:
            yield page
