"""The tab-separated file of aidos itself: id, parent, name, and what else is known, for people to read and to edit.

Columns are ``id``, ``parent`` (empty for the one root) and ``name``; ``sensitive`` (the category), ``description``,
``words`` (with blanks between, most typical first) and ``support`` (of topics without children) may be left out.
"""

from __future__ import annotations

import csv
import io
from math import isfinite
from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.engine.files import write_text
from aidos.model.rows import Troubles, read_rows
from aidos.model.taxonomies.records import Draft, ImportedTaxonomy

__all__ = ["COLUMNS", "is_native", "read_native", "write_native"]

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
