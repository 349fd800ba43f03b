"""Bookmarks: the files of Chrome and Firefox in JSON, and the HTML that every browser exports.

In JSON there are Chrome's ``Bookmarks`` file and Firefox's backups, packed (.jsonlz4) or not. Both are trees of
folders. The name of the folder that a bookmark stands in says what it is about, and goes with it, but for the folders
that every browser has.

HTML is the format that Netscape began. A bookmark is a link with the day when it was added and, in some dialects, tags;
a folder is a heading, and a description may follow a link. The file is read piece by piece, and pictures in it are
never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.core.profile import Kind
from aidos.engine.inputs import read_bytes
from aidos.errors import InputError
from aidos.ingest.history.browsers import ROOTS, TAGS
from aidos.ingest.history.document import EPOCH, EPOCH_OF_CHROME, Document, make_document, moment_after, unreadable

__all__ = ["MAGIC_OF_PACKED", "is_netscape", "load_bookmarks", "read_bookmarks", "read_netscape"]

MAGIC_OF_PACKED = b"mozLz40\x00"
LARGEST = 1 << 26
"""Bytes of a file of bookmarks, unpacked; beyond, it is none that a browser wrote."""
FOLDER_OF_FIREFOX = "text/x-moz-place-container"
PAGE_OF_FIREFOX = "text/x-moz-place"
Node = dict[str, Any]


def load_bookmarks(path: Path) -> Node | None:
    """The tree of bookmarks that the file holds; None where it is JSON of another kind, or no JSON."""
    try:
        content = read_bytes(path, most=LARGEST)
        if content.startswith(MAGIC_OF_PACKED):
            content = _unpacked(path, content)
        loaded = parse_json(content)
    except ValueError:
        return None
    if not isinstance(loaded, dict):
        return None
    of_chrome = isinstance(loaded.get("roots"), dict)
    return loaded if of_chrome or loaded.get("type") == FOLDER_OF_FIREFOX else None


def read_bookmarks(tree: Node) -> Iterator[Document]:
    """The bookmarks of a tree that `load_bookmarks` gave, in the order of their folders."""
    if tree.get("type") == FOLDER_OF_FIREFOX:
        for node, folder in _walk([tree], "guid"):
            if node.get("type") == PAGE_OF_FIREFOX:
                yield from _made(_of_firefox(node, folder))
    else:
        for node, folder in _walk([root for root in tree["roots"].values() if isinstance(root, dict)], ""):
            if node.get("type") == "url":
                yield from _made(_of_chrome(node, folder))


def _walk(roots: list[Node], guid: str) -> Iterator[tuple[Node, str]]:
    """Every node with the name of the folder that it stands in; without recursion, however deep folders are."""
    stack = [(root, "") for root in reversed(roots)]
    tops = set(map(id, roots))
    while stack:
        node, folder = stack.pop()
        yield node, folder
        if guid and node.get(guid) == TAGS:
            continue
        usual = id(node) in tops or (guid and node.get(guid) in ROOTS)
        name = "" if usual else _text(node, "title" if guid else "name")
        children = node.get("children")
        if isinstance(children, list):
            stack += [(child, name) for child in reversed(children) if isinstance(child, dict)]


def _of_firefox(node: Node, folder: str) -> Document | None:
    return make_document(
        Kind.FIREFOX_BOOKMARKS,
        title=_text(node, "title"),
        address=_text(node, "uri"),
        body=f"{folder} {_text(node, 'tags').replace(',', ' ')}",
        time=moment_after(EPOCH, node.get("dateAdded")),
    )


def _of_chrome(node: Node, folder: str) -> Document | None:
    return make_document(
        Kind.CHROME_BOOKMARKS,
        title=_text(node, "name"),
        address=_text(node, "url"),
        body=folder,
        time=moment_after(EPOCH_OF_CHROME, node.get("date_added")),
    )


def _made(page: Document | None) -> Iterator[Document]:
    if page is not None:
        yield page


def _text(node: Node, name: str) -> str:
    value = node.get(name)
    return value if isinstance(value, str) else ""


def _unpacked(path: Path, content: bytes) -> bytes:
    """Firefox packs with LZ4, behind a mark and the size of what is packed."""
    import pyarrow as pa

    start = len(MAGIC_OF_PACKED) + 4
    size = int.from_bytes(content[len(MAGIC_OF_PACKED) : start], "little")
    try:
        if size > LARGEST:
            raise ValueError
        return pa.Codec("lz4_raw").decompress(content[start:], decompressed_size=size, asbytes=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged: it cannot be unpacked", hint="export the bookmarks again") from error


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
