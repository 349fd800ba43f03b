"""Read a taxonomy from any of the formats that are known, which is found out from the content unless it is named.

Sources are files (packed with gzip or not), the directory of WordNet's database, a file that `aidos taxonomy import`
wrote, or ``icd-10-cm`` for the diagnoses that come with a package. No source is fetched: aidos opens no connection.

Diagnoses, ICD-10-CM, are those of the package ``simple-icd-10-cm``, which carries the public files of one year.
Chapters, blocks, categories and codes are the topics, terms that a code includes are its words. A block of one category
has the same code and is one topic with it. Every topic is about health, so that all chapters are sensitive.

The nouns of WordNet 3 as a tree: ``data.noun`` of its database files, as Debian's package ``wordnet-base`` has it. A
set of synonyms is a topic, its hypernyms (also those of instances) are its parents. More than two thousand of them have
several, so the tree is a choice: *unrolled*, where a topic stands once below each parent with all that is below it
(82,115 become 111,557 topics in WordNet 3.0), or with the *first parent* alone. The id is the first synonym and the
number of the set, ``dog.02084071``; further copies of an unrolled topic end in ``.2``, ``.3`` ... The copy that first
parents alone lead to has the plain id, so that both trees know it under the same name.

Tab-separated taxonomies, a line a topic with its parent: the file of aidos itself, and that of the IAB Tech Lab. The
file of aidos is for people to read and to edit. Its columns are ``id``, ``parent`` (empty for the one root) and
``name``; ``sensitive`` (the category), ``description``, ``words`` (with blanks between, most typical first) and
``support`` (of topics without children) may be left out.

The content taxonomy of the IAB Tech Lab is read in versions 2 and 3. Above the header stands a line of groups. Columns
are ``Unique ID``, ``Parent``, ``Name``, the tiers and, in the last column, an extension that is ``SCD`` where the
publisher sees data that can be sensitive. The tree is that of ids and parents: tiers repeat it in words, and where they
disagree (two lines of version 3.1 do) ids are what other systems exchange. Marks of sensitivity are the publisher's,
line by line, and say nothing about what lies below.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.engine.files import write_text
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.model.rows import Troubles, read_rows
from aidos.model.taxonomies.cache import is_kept_file, load_taxonomy
from aidos.model.taxonomies.paths import (
    is_chrome,
    is_dmoz,
    is_path_list,
    is_shopify,
    read_chrome,
    read_dmoz,
    read_path_list,
    read_shopify,
)
from aidos.model.taxonomies.records import Draft, ImportedTaxonomy, TaxonomyFormat, numbered_lines, read_head

__all__ = [
    "COLUMNS",
    "FORMATS",
    "ICD",
    "MARKED",
    "is_iab",
    "is_native",
    "is_wordnet",
    "open_taxonomy",
    "read_iab",
    "read_icd",
    "read_native",
    "read_taxonomy",
    "read_wordnet",
    "write_native",
]

COLUMNS = ("id", "parent", "name")
MORE = ("sensitive", "description", "words", "support")


def is_native(head: str) -> bool:
    """Whether the first line names the columns."""
    names = [cell.strip().lower() for cell in head.split("\n", 1)[0].split("\t")]
    return set(COLUMNS) <= set(names)


def read_native(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft."""
    troubles = Troubles(draft.file)
    for line, cells in read_rows(path, COLUMNS, troubles, delimiter="\t"):
        topic = Topic(
            cells["id"],
            cells["parent"],
            cells["name"],
            cells.get("sensitive", ""),
            cells.get("description", ""),
            tuple(cells.get("words", "").split()),
        )
        draft.add(line, topic)
        if said := cells.get("support", ""):
            _add_support(draft, topic.id, said, line)
    troubles.refuse()


def write_native(imported: ImportedTaxonomy, path: Path) -> None:
    """Write a taxonomy so that `read_native` gives the same one, whole or not at all."""
    supports = imported.leaf_supports
    made = io.StringIO()
    writer = csv.writer(made, delimiter="\t", lineterminator="\n")
    writer.writerow((*COLUMNS, *(MORE if supports else MORE[:-1])))
    for topic in imported.taxonomy.walk():
        row = (topic.id, topic.parent, topic.name, topic.sensitive, topic.description, " ".join(topic.words))
        writer.writerow((*row, repr(supports[topic.id]) if topic.id in supports else "") if supports else row)
    write_text(path, made.getvalue())


def _add_support(draft: Draft, topic_id: str, said: str, line: int) -> None:
    try:
        support = float(said)
    except ValueError:
        support = 0.0
    if not (isfinite(support) and support > 0):
        draft.trouble("bad-support", "a support must be a number above 0", [line])
    draft.supports[topic_id] = support


MARKED = "marked-by-iab"
"""The sensitive category of topics with the publisher's mark."""
IAB_COLUMNS = ("unique id", "parent", "name")


def is_iab(head: str) -> bool:
    """Whether one of the first lines is the header."""
    return any(_is_header(line.rstrip("\r")) for line in head.split("\n")[:3])


def read_iab(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft."""
    lines = numbered_lines(path)
    width = next((line.count("\t") for _, line in lines if _is_header(line)), 0)
    if not width:
        raise InputError(
            f"{path} has no line with the columns Unique ID, Parent and Name",
            hint="take the tab-separated file as the IAB Tech Lab publishes it",
        )
    for number, line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != width + 1:
            draft.trouble("cell-count", f"the header has {width + 1} columns, the line has another number", [number])
            continue
        topic_id, parent, name = cells[:3]
        draft.add(number, Topic(topic_id, parent, name, MARKED if "SCD" in cells[-1].split() else ""))


def _is_header(line: str) -> bool:
    return tuple(cell.strip().lower() for cell in line.split("\t")[:3]) == IAB_COLUMNS


MOST = 5_000_000
"""Topics beyond which a graph is not unrolled."""
PARENTS = {"@", "@i"}


@dataclass(frozen=True, slots=True)
class _Synset:
    line: int
    name: str
    words: tuple[str, ...]
    gloss: str
    parents: tuple[str, ...]


def is_wordnet(head: str) -> bool:
    """Whether the first line that is no remark is a set of nouns."""
    lines = (line.split() for line in head.split("\n") if line and not line.startswith(" "))
    return any(len(cells) > 5 and cells[2] == "n" and len(cells[0]) == 8 and cells[0].isdigit() for cells in lines)


def read_wordnet(path: Path, draft: Draft) -> None:
    """Put the topics of the file into the draft, unrolled unless the draft asks for first parents."""
    synsets: dict[str, _Synset] = {}
    for number, line in numbered_lines(path):
        if line.startswith(" "):
            continue  # The licence stands in the file, every line of it after a blank.
        try:
            offset, synset = _synset(number, line)
        except (ValueError, IndexError):
            draft.trouble("no-synset", "the line is no set of synonyms in the form of WordNet", [number])
            continue
        if offset in synsets:
            draft.trouble("repeated-topic", f"sets stand there more than once: {synset.name}.{offset}", [number])
        synsets[offset] = synset
    _check_parents(synsets, draft)
    draft.refuse()
    if draft.first_parent:
        for offset, synset in synsets.items():
            above = synset.parents[0] if synset.parents else ""
            draft.add(synset.line, _topic(synset, _id(offset, synset), _id(above, synsets[above]) if above else ""))
    elif synsets:
        _unroll(synsets, draft)


def _synset(number: int, line: str) -> tuple[str, _Synset]:
    head, parted, gloss = line.partition(" | ")
    cells = head.split()
    words_end = 4 + 2 * int(cells[3], 16)
    words = cells[4:words_end:2]
    pointers = cells[words_end + 1 : words_end + 1 + 4 * int(cells[words_end])]
    if not parted or not words or len(pointers) != 4 * int(cells[words_end]) or not cells[0].isdigit():
        raise ValueError("not a set of synonyms")
    found = [target for kind, target in zip(pointers[::4], pointers[1::4], strict=True) if kind in PARENTS]
    return cells[0], _Synset(number, words[0], tuple(words[1:]), gloss.strip(), tuple(dict.fromkeys(found)))


def _check_parents(synsets: dict[str, _Synset], draft: Draft) -> None:
    dangling = [(offset, synset) for offset, synset in synsets.items() if any(p not in synsets for p in synset.parents)]
    if dangling:
        names = ", ".join(_id(offset, synset) for offset, synset in dangling[:5])
        sentence = f"sets have a parent that the file does not have: {names}"
        draft.trouble("unknown-parent", sentence, [synset.line for _, synset in dangling])


def _unroll(synsets: dict[str, _Synset], draft: Draft) -> None:
    children: dict[str, list[str]] = {}
    for offset, synset in synsets.items():
        for parent in synset.parents:
            children.setdefault(parent, []).append(offset)
    _check_size(synsets, children, draft)
    copies: dict[str, int] = {}
    roots = [offset for offset, synset in synsets.items() if not synset.parents]
    stack = [(offset, "", "", True) for offset in reversed(roots)]
    while stack:
        offset, above, parent, is_main = stack.pop()
        synset = synsets[offset]
        is_main = is_main and (not above or synset.parents[0] == above)
        topic_id = _id(offset, synset)
        if not is_main:
            copies[offset] = copies.get(offset, 1) + 1
            topic_id += f".{copies[offset]}"
        draft.add(synset.line, _topic(synset, topic_id, parent))
        stack.extend((child, offset, topic_id, is_main) for child in reversed(children.get(offset, ())))


def _check_size(synsets: dict[str, _Synset], children: dict[str, list[str]], draft: Draft) -> None:
    """Count the topics before they are made: a cycle would never end, and a graph can unroll to anything."""
    waiting = {offset: len(synset.parents) for offset, synset in synsets.items()}
    ways = dict.fromkeys(synsets, 0)
    ready = [offset for offset, left in waiting.items() if not left]
    ways.update(dict.fromkeys(ready, 1))
    done = 0
    while ready:
        offset = ready.pop()
        done += 1
        for child in children.get(offset, ()):
            ways[child] += ways[offset]
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    if done < len(synsets):
        stuck = [(offset, synsets[offset]) for offset, left in waiting.items() if left]
        names = ", ".join(_id(offset, synset) for offset, synset in stuck[:5])
        sentence = f"sets are above and below one another, or below such sets: {names}"
        draft.trouble("cycle", sentence, [synset.line for _, synset in stuck])
        draft.refuse()
    if sum(ways.values()) > MOST:
        raise InputError(
            f"{draft.file} unrolls to more than {MOST:,} topics",
            hint="import it with --first-parent",
        )


def _topic(synset: _Synset, topic_id: str, parent: str) -> Topic:
    return Topic(topic_id, parent, synset.name.replace("_", " "), "", synset.gloss, synset.words)


def _id(offset: str, synset: _Synset) -> str:
    return f"{synset.name}.{offset}"


ICD = "icd-10-cm"
"""What the source is called in place of a file."""


def read_icd(path: Path, draft: Draft) -> None:  # noqa: ARG001 (the source is a package, not a file)
    """Put the topics of the package into the draft."""
    codes = _package()
    draft.place = "code"
    chapters = [code for code in codes.get_all_codes() if codes.is_chapter(code)]
    stack = [(code, "") for code in reversed(chapters)]
    while stack:
        code, parent = stack.pop()
        words = tuple(" ".join(term.split()).replace(" ", "_") for term in codes.get_inclusion_term(code))
        name = " ".join(codes.get_description(code).split())
        draft.add(len(draft.topics) + 1, Topic(code, parent, name, "" if parent else "health", "", words))
        stack.extend((child, code) for child in reversed(codes.get_children(code)))


def _package() -> Any:
    try:
        with warnings.catch_warnings():
            # It reads its files when it is imported, in a way that Python 3.11 and 3.12 call outdated.
            warnings.simplefilter("ignore")
            return import_module("simple_icd_10_cm")
    except ImportError as error:
        raise MissingExtraError("the taxonomy of diagnoses", extra="taxonomies") from error


WORDNET = "wordnet"
NOUNS = "data.noun"


def _never(head: str) -> bool:  # noqa: ARG001 (of the one source that is no file)
    return False


_LISTED = (
    ("aidos", "the tab-separated file of aidos", False, is_native, read_native),
    ("iab", "IAB Content Taxonomy, tab-separated", True, is_iab, read_iab),
    ("shopify", "Shopify product taxonomy, text or JSON", True, is_shopify, read_shopify),
    ("chrome", "Chrome Topics, table in Markdown", True, is_chrome, read_chrome),
    ("dmoz", "Open Directory, structure.rdf.u8", False, is_dmoz, read_dmoz),
    (WORDNET, "WordNet nouns, data.noun", False, is_wordnet, read_wordnet),
    ("paths", "paths such as A > B > C or /A/B/C, a line a topic", True, is_path_list, read_path_list),
    (ICD, "diagnoses of the package simple-icd-10-cm", True, _never, read_icd),
)
FORMATS: Mapping[str, TaxonomyFormat] = {
    name: TaxonomyFormat(name=name, title=title, is_forest=is_forest, recognises=recognises, read=read)
    for name, title, is_forest, recognises, read in _LISTED
}
"""Every format by its name, in the order in which they are tried."""


def read_taxonomy(source: str | Path, *, format_name: str = "", first_parent: bool = False) -> Taxonomy:
    """The taxonomy of a source, without what `open_taxonomy` tells besides."""
    return open_taxonomy(source, format_name=format_name, first_parent=first_parent).taxonomy


def open_taxonomy(source: str | Path, *, format_name: str = "", first_parent: bool = False) -> ImportedTaxonomy:
    """The taxonomy of a source, with supports and remarks.

    ``first_parent`` is for WordNet, whose topics have several parents: they keep the first alone. Otherwise a topic
    stands below each of its parents. Raises InputError for files that hold no tree, with lines and topics.
    """
    path = Path(source)
    if format_name:
        _check_name(format_name)
    elif str(source) == ICD and not path.exists():
        format_name = ICD
    if path.is_dir():
        path = _nouns(path)
    if not format_name and is_kept_file(path):
        _check_way(first_parent=first_parent, format_name="a kept taxonomy")
        return load_taxonomy(path)
    chosen = FORMATS[format_name] if format_name else _recognise(path)
    _check_way(first_parent=first_parent, format_name=chosen.name)
    draft = Draft(file=str(source), first_parent=first_parent)
    chosen.read(path, draft)
    return draft.finish(is_forest=chosen.is_forest, name=chosen.name)


def _recognise(path: Path) -> TaxonomyFormat:
    head = read_head(path)
    if not head.strip():
        raise InputError(f"{path} is empty", hint="check the name")
    for known in FORMATS.values():
        if known.recognises(head):
            return known
    raise InputError(
        f"{path} is no taxonomy in a format that is known",
        hint=f"name the format with --format, if it is one of {', '.join(FORMATS)}",
    )


def _nouns(directory: Path) -> Path:
    for path in (directory / NOUNS, directory / "dict" / NOUNS):
        if path.is_file():
            return path
    raise InputError(f"{directory} is a directory without {NOUNS}", hint="name a file, or the directory of WordNet")


def _check_name(name: str) -> None:
    if name not in FORMATS:
        close = get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(FORMATS)}"
        raise ParameterError(f"there is no format {name!r}", hint=hint)


def _check_way(*, first_parent: bool, format_name: str) -> None:
    if first_parent and format_name != WORDNET:
        raise ParameterError(
            f"first parents are for {WORDNET}, this is {format_name}", hint="leave it out: topics have one parent here"
        )
