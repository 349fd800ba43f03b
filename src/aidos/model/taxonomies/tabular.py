"""Tab-separated taxonomies, a line a topic with its parent: the file of aidos itself, and that of the IAB Tech Lab.

The file of aidos is for people to read and to edit. Its columns are ``id``, ``parent`` (empty for the one root) and
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
from math import isfinite
from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.engine.files import write_text
from aidos.errors import InputError
from aidos.model.rows import Troubles, read_rows
from aidos.model.taxonomies.records import Draft, ImportedTaxonomy, numbered_lines

__all__ = ["COLUMNS", "MARKED", "is_iab", "is_native", "read_iab", "read_native", "write_native"]

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
