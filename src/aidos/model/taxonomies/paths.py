"""Lists of paths, a line a topic: ``Arts > Music > Jazz``, or ``/Arts/Music/Jazz``.

A path says all that is above a topic, so that what no line names is added. Lines that begin with ``#`` are remarks. A
topic's id is its path, written with ``>`` in either case.

The topics of Chrome's Topics API are a table in Markdown, ``| ID | Topic |``, with paths such as ``/Games/Billiards``.
The first version was published without the column of numbers; its topics have their paths as ids. Every step of a path
has a line of its own.

Shopify's product taxonomy is ``categories.txt`` (``{id} : {path}``) or a JSON file with verticals and categories. The
id of a topic is the last part of the published one, such as ``ap-2-1``. Every step of a path has a line of its own.
Attributes of products are left out: they are no topics.

The structure file of the Open Directory, ``structure.rdf.u8``, is for people who own a dump, and read as a stream.
Topics have their paths as ids (``Top/Arts/Music``), so that the path is the tree; narrower topics, symbolic links and
aliases, which would make it a graph, are left out. What a dump of one branch leaves out above it is added. Control
characters, which old dumps have and XML does not allow, become blanks. The directory has been closed since 2017.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

from aidos.core.jsontext import parse_json
from aidos.core.taxonomy import DEEPEST, Topic
from aidos.errors import InputError
from aidos.model.taxonomies.records import LONGEST, Draft, numbered_lines, open_file, read_text

__all__ = [
    "STEP",
    "add_missing_ancestors",
    "is_chrome",
    "is_dmoz",
    "is_path_list",
    "is_shopify",
    "read_chrome",
    "read_dmoz",
    "read_path_list",
    "read_shopify",
    "split_path",
]

STEP = " > "


def is_path_list(head: str) -> bool:
    """Whether the first lines look like paths."""
    lines = [line.strip() for line in head.split("\n")[:-1] or [head]]
    kept = [line for line in lines if line and not line.startswith("#")]
    return any(STEP in line for line in kept) or (bool(kept) and all(line.startswith("/") for line in kept))


def read_path_list(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft."""
    lines = [(number, line.strip()) for number, line in numbered_lines(path) if not line.lstrip().startswith("#")]
    slashed = bool(lines) and all(line.startswith("/") for _, line in lines)
    for number, line in lines:
        steps = split_path(line, slashed=slashed)
        if not all(steps):
            draft.trouble("empty-step", "the path has a step without a name", [number])
            continue
        draft.add(number, Topic(STEP.join(steps), STEP.join(steps[:-1]), steps[-1]))
    add_missing_ancestors(draft, STEP)


def split_path(path: str, *, slashed: bool) -> list[str]:
    """The names on the way, from the top down."""
    steps = path.removeprefix("/").split("/") if slashed else path.split(STEP.strip())
    return [step.strip() for step in steps]


def add_missing_ancestors(draft: Draft, step: str) -> None:
    """Topics that ids, which are paths, tell of but no line has; each before what needs it."""
    known = {topic.id for topic in draft.topics}
    listed = list(zip(draft.lines, draft.topics, strict=True))
    draft.topics, draft.lines = [], []
    for line, topic in listed:
        if topic.parent.count(step) >= DEEPEST:
            draft.trouble("too-deep", f"the path has more than {DEEPEST} steps", [line])
            continue
        missing = []
        above = topic.parent
        while above and above not in known:
            known.add(above)
            missing.append(above)
            above = above.rpartition(step)[0]
        for one in reversed(missing):
            parent, _, name = one.rpartition(step)
            draft.add(line, Topic(one, parent, name.replace("_", " ") if step == "/" else name))
        draft.add(line, topic)


ROW = re.compile(r"\|\s*(?:(\d+)\s*\|\s*)?(/.*?)\s*\|\s*$")


def is_chrome(head: str) -> bool:
    """Whether there is a row of such a table."""
    return any(ROW.match(line.strip()) for line in head.split("\n"))


def read_chrome(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft."""
    rows: list[tuple[int, str, str]] = []
    below_header = False
    for number, line in numbered_lines(path):
        found = ROW.match(line.strip())
        if found:
            rows.append((number, found[1] or found[2], found[2]))
        elif below_header and line.lstrip().startswith("|"):
            draft.trouble("no-topic-row", "the row has no number and no path that begins with /", [number])
        below_header = below_header or "---" in line
    by_path = {place: topic_id for _, topic_id, place in rows}
    for number, topic_id, place in rows:
        steps = split_path(place, slashed=True)
        above = place.rpartition("/")[0]
        draft.add(number, Topic(topic_id, by_path.get(above, above), steps[-1]))


MARK = "/TaxonomyCategory/"
HINT = "take categories.txt or taxonomy.json as Shopify publishes them"


def is_shopify(head: str) -> bool:
    """Whether it begins as one of the two files."""
    return (head.lstrip().startswith("{") and '"verticals"' in head) or MARK in head


def read_shopify(path: Path, draft: Draft) -> None:
    """Put the topics of either file into the draft."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        _read_json(text, draft)
    else:
        _read_lines(path, draft)


def _read_lines(path: Path, draft: Draft) -> None:
    rows: list[tuple[int, str, list[str]]] = []
    for number, line in numbered_lines(path):
        if line.startswith("#"):
            continue
        published, parted, names = line.partition(" : ")
        if not parted or MARK not in published:
            draft.trouble("no-category", "the line is not of the form {id} : {path}", [number])
            continue
        rows.append((number, _short(published), split_path(names, slashed=False)))
    by_path = {STEP.join(steps): topic_id for _, topic_id, steps in rows}
    for number, topic_id, steps in rows:
        above = STEP.join(steps[:-1])
        draft.add(number, Topic(topic_id, by_path.get(above, above), steps[-1]))


def _read_json(text: str, draft: Draft) -> None:
    draft.place = "category"
    try:
        said = parse_json(text)
        categories = [category for vertical in said["verticals"] for category in vertical["categories"]]
    except json.JSONDecodeError as error:
        raise InputError(f"{draft.file}, line {error.lineno}: the file is no sound JSON", hint=HINT) from error
    except (KeyError, TypeError) as error:
        raise InputError(f"{draft.file} has no verticals with categories", hint=HINT) from error
    for number, category in enumerate(categories, start=1):
        if not _is_category(category):
            draft.trouble("no-category", "a category has no id or no name", [number])
            continue
        published, parent = category.get("id") or category["public_id"], category.get("parent_id") or ""
        draft.add(number, Topic(_short(published), _short(parent), category["name"].strip()))


def _is_category(category: Any) -> bool:
    """Whether it has the texts that are needed; files from before 2024 call the id otherwise."""
    if not isinstance(category, Mapping):
        return False
    needed = (category.get("id") or category.get("public_id"), category.get("name"), category.get("parent_id") or "")
    return all(isinstance(text, str) for text in needed)


def _short(published: str) -> str:
    return published.strip().rpartition("/")[2]


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
