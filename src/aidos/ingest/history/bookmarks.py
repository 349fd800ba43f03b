"""Bookmarks in JSON: Chrome's ``Bookmarks`` file, and Firefox's backups, packed (.jsonlz4) or not.

Both are trees of folders. The name of the folder that a bookmark stands in says what it is about, and goes with it,
but for the folders that every browser has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aidos.errors import InputError
from aidos.ingest.history.document import EPOCH, EPOCH_OF_CHROME, Document, Kind, make_document, moment_after
from aidos.ingest.history.firefox import ROOTS, TAGS
from aidos.ingest.history.refusal import unreadable

__all__ = ["MAGIC_OF_PACKED", "load_bookmarks", "read_bookmarks"]

MAGIC_OF_PACKED = b"mozLz40\x00"
LARGEST = 1 << 28
"""Bytes of a file of bookmarks, unpacked; beyond, it is none that a browser wrote."""
FOLDER_OF_FIREFOX = "text/x-moz-place-container"
PAGE_OF_FIREFOX = "text/x-moz-place"
Node = dict[str, Any]


def load_bookmarks(path: Path) -> Node | None:
    """The tree of bookmarks that the file holds; None where it is JSON of another kind, or no JSON."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        content = path.read_bytes()
        if content.startswith(MAGIC_OF_PACKED):
            content = _unpacked(path, content)
        loaded = json.loads(content)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError):
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
