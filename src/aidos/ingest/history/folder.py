"""A folder of texts: .txt, .md and .html files in it and below, each a document.

Only their beginning is read: it says what they are about. Hidden files and links are passed over, and so is what is no
text. The title is that of the page, or else the words of the file's name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from aidos.ingest.formats.markup import plain_text
from aidos.ingest.history.document import Document, Kind, make_document
from aidos.ingest.history.refusal import unreadable

__all__ = ["PAGES", "TEXTS", "read_folder", "read_text"]

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
