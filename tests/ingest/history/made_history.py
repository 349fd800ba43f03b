"""Databases and files of bookmarks as browsers write them, with their own schemas."""

import json
import sqlite3
from contextlib import closing

MICRO = 1_000_000
A_DAY = 1_700_000_000
"""In November 2023, in seconds."""
FROM_1601 = 11_644_473_600
"""Seconds between the calendars of Chrome and of everybody else."""

FIREFOX = """
    CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, rev_host LONGVARCHAR,
        visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL,
        frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT,
        foreign_count INTEGER DEFAULT 0 NOT NULL, url_hash INTEGER DEFAULT 0 NOT NULL, description TEXT,
        preview_image_url TEXT, site_name TEXT,
        origin_id INTEGER, recalc_frecency INTEGER NOT NULL DEFAULT 0, alt_frecency INTEGER,
        recalc_alt_frecency INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER,
        visit_type INTEGER, session INTEGER, source INTEGER DEFAULT 0 NOT NULL, triggeringPlaceId INTEGER);
    CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL, parent INTEGER,
        position INTEGER, title LONGVARCHAR, keyword_id INTEGER, folder_type TEXT, dateAdded INTEGER,
        lastModified INTEGER, guid TEXT, syncStatus INTEGER NOT NULL DEFAULT 0,
        syncChangeCounter INTEGER NOT NULL DEFAULT 1);
    INSERT INTO moz_bookmarks (id, type, parent, title, guid) VALUES (1, 2, 0, '', 'root________'),
        (2, 2, 1, 'menu', 'menu________'), (3, 2, 1, 'toolbar', 'toolbar_____'), (4, 2, 1, 'tags', 'tags________'),
        (5, 2, 1, 'unfiled', 'unfiled_____'), (6, 2, 1, 'mobile', 'mobile______');
"""
CHROME = """
    CREATE TABLE meta (key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
    CREATE TABLE urls (id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
        visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL,
        last_visit_time INTEGER NOT NULL, hidden INTEGER DEFAULT 0 NOT NULL);
    CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL, visit_time INTEGER NOT NULL,
        from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER, visit_duration INTEGER);
    CREATE TABLE keyword_search_terms (keyword_id INTEGER NOT NULL, url_id INTEGER NOT NULL, term LONGVARCHAR NOT NULL,
        normalized_term LONGVARCHAR NOT NULL);
"""


def make_firefox(path, pages, *, wal=False):
    """places.sqlite with (address, title, visits) pages; write-ahead logging as Firefox has it, if asked."""
    with closing(sqlite3.connect(path)) as made:
        if wal:
            made.execute("PRAGMA journal_mode = wal")
        made.executescript(FIREFOX)
        add_firefox(made, pages)
    return path


def add_firefox(connection, pages):
    connection.executemany(
        "INSERT INTO moz_places (url, title, visit_count, last_visit_date) VALUES (?, ?, ?, ?)",
        ((url, title, visits, A_DAY * MICRO) for url, title, visits in pages),
    )
    connection.commit()


def make_chrome(path, pages):
    """The database History with (address, title, visits) pages."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(CHROME)
        made.executemany(
            "INSERT INTO urls (url, title, visit_count, last_visit_time) VALUES (?, ?, ?, ?)",
            ((url, title, visits, (A_DAY + FROM_1601) * MICRO) for url, title, visits in pages),
        )
        made.commit()
    return path


def make_chrome_bookmarks(path, pages, folder="Kitchen"):
    """The file Bookmarks with (address, title) pages in one folder of the bar."""
    added = str((A_DAY + FROM_1601) * MICRO)
    children = [
        {"date_added": added, "guid": str(at), "id": str(at), "name": title, "type": "url", "url": url}
        for at, (url, title) in enumerate(pages)
    ]
    within = {"children": children, "date_added": added, "name": folder, "type": "folder"}
    bar = {"children": [within], "name": "Bookmarks bar", "type": "folder"}
    empty = {"children": [], "name": "Other bookmarks", "type": "folder"}
    roots = {"bookmark_bar": bar, "other": empty, "synced": empty}
    path.write_text(json.dumps({"checksum": "0" * 32, "roots": roots, "version": 1}, indent=3))
    return path


def firefox_backup(pages, folder="Kitchen"):
    """The content of a backup of bookmarks with (address, title, tags) pages."""
    container = "text/x-moz-place-container"
    children = [
        {
            "guid": f"g{at}",
            "title": title,
            "dateAdded": A_DAY * MICRO,
            "type": "text/x-moz-place",
            "uri": url,
            "tags": tags,
        }
        for at, (url, title, tags) in enumerate(pages)
    ]
    within = {"guid": "folder000001", "title": folder, "type": container, "children": children}
    menu = {
        "guid": "menu________",
        "title": "menu",
        "type": container,
        "root": "bookmarksMenuFolder",
        "children": [within],
    }
    whole = {"guid": "root________", "title": "", "type": container, "root": "placesRoot", "children": [menu]}
    return json.dumps(whole)
