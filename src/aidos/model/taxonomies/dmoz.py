"""The structure file of the Open Directory, ``structure.rdf.u8``, for people who own a dump: read as a stream.

Topics have their paths as ids (``Top/Arts/Music``), so that the path is the tree; narrower topics, symbolic links and
aliases, which would make it a graph, are left out. What a dump of one branch leaves out above it is added. Control
characters, which old dumps have and XML does not allow, become blanks. The directory has been closed since 2017.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat

from aidos.core.taxonomy import Topic
from aidos.errors import InputError
from aidos.model.taxonomies.paths import add_missing_ancestors
from aidos.model.taxonomies.records import LONGEST, Draft, open_file

__all__ = ["is_dmoz", "read_dmoz"]

PIECE = 1 << 20
DAMAGED = "get or unpack the dump again"
TAG = re.compile(r"<[^>]*>")
BLANKS = bytes(32 if code < 32 and code not in (9, 10, 13) else code for code in range(256))
"""Every byte as it is, but for control characters."""


def is_dmoz(head: str) -> bool:
    """Whether it begins with the element of the directory, or with one of its topics."""
    return re.search(r"<RDF[\s>]|<Topic\s+r:id=", head) is not None


def read_dmoz(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft."""
    parser = expat.ParserCreate()
    reader = _Reader(draft, parser)
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        with open_file(path) as file:
            fed = 0
            while piece := file.read(PIECE):
                parser.Parse(piece.translate(BLANKS))
                fed += len(piece)
                # What is not read yet is held: a tag, or the pieces of a description.
                if fed - parser.CurrentByteIndex > LONGEST or sum(map(len, reader.words)) > LONGEST:
                    raise InputError(f"{path} holds a tag or a text of more than {LONGEST >> 20} MB", hint=DAMAGED)
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(
            f"{path}, line {error.lineno}: the file is no sound XML in UTF-8, or ends too early",
            hint=DAMAGED,
        ) from error
    add_missing_ancestors(draft, "/")


class _Reader:
    """Takes what the parser meets, topic by topic."""

    def __init__(self, draft: Draft, parser: expat.XMLParserType) -> None:
        self.draft = draft
        self.parser = parser
        self.topic = ""
        self.line = 0
        self.words: list[str] = []

    def start(self, tag: str, said: dict[str, str]) -> None:
        if tag == "Topic":
            self.topic, self.line, self.words = said.get("r:id", ""), self.parser.CurrentLineNumber, []
        # Texts are asked for only where they are wanted: most of the file lies between other elements.
        self.parser.CharacterDataHandler = self.words.append if tag == "d:Description" else None

    def end(self, tag: str) -> None:
        self.parser.CharacterDataHandler = None
        # The topic without a path, above Top, is an artefact of the dump.
        if tag == "Topic" and self.topic:
            parent, _, name = self.topic.rpartition("/")
            description = " ".join(TAG.sub(" ", "".join(self.words)).split())
            self.draft.add(self.line, Topic(self.topic, parent, name.replace("_", " "), description=description))
            self.topic = ""
