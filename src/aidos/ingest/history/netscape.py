"""Bookmarks in HTML, as every browser exports them: the format that Netscape began.

A bookmark is a link with the day when it was added and, in some dialects, tags; a folder is a heading, and a
description may follow a link. The file is read piece by piece, and pictures in it are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from aidos.ingest.history.document import EPOCH, Document, Kind, make_document, moment_after
from aidos.ingest.history.refusal import unreadable

__all__ = ["is_netscape", "read_netscape"]

MARK = "netscape-bookmark-file"
PIECE = 1 << 16
SECOND = 1_000_000


def is_netscape(head: str) -> bool:
    """Whether a file begins as exported bookmarks do."""
    return MARK in head[:2_000].lower()


def read_netscape(path: Path) -> Iterator[Document]:
    """The bookmarks of the file, in order."""
    reader = _Reader()
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            while piece := file.read(PIECE):
                reader.feed(piece)
                yield from reader.take()
        reader.close()
        reader.finish()
        yield from reader.take()
    except OSError as error:
        raise unreadable(path, error) from error


class _Reader(HTMLParser):
    """Collects links with what belongs to them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Document] = []
        self.folders: list[str] = []
        self.heading = ""
        self.link: dict[str, str] | None = None
        self.inside = ""
        self.words: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"a", "h3", "dl", "dt", "h1"}:
            self.finish()
        if tag == "a":
            self.link = {name: value or "" for name, value in attrs if name in {"href", "add_date", "tags"}}
        if tag == "h3":
            self.heading = ""
        if tag == "dl":
            self.folders.append(" ".join(self.heading.split()))
            self.heading = ""
        self.inside = tag if tag in {"a", "h3", "dd"} else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "dl":
            self.finish()
            if self.folders:
                self.folders.pop()
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "h3":
            self.heading += data
        elif self.inside and self.link is not None:
            self.words[self.inside] = self.words.get(self.inside, "") + data

    def finish(self) -> None:
        """A link is complete when something else begins: its description follows it."""
        link, words, self.link, self.words = self.link, self.words, None, {}
        if link is None:
            return
        added = link.get("add_date", "")
        seconds = int(added) if added.isascii() and added.isdigit() and len(added) < 12 else 0
        tags = link.get("tags", "").replace(",", " ")
        page = make_document(
            Kind.HTML_BOOKMARKS,
            title=words.get("a"),
            address=link.get("href", ""),
            body=" ".join((self.folders[-1] if self.folders else "", tags, words.get("dd", ""))),
            time=moment_after(EPOCH, seconds * SECOND),
        )
        if page is not None:
            self.found.append(page)

    def take(self) -> list[Document]:
        """What was found since the last time."""
        found, self.found = self.found, []
        return found
