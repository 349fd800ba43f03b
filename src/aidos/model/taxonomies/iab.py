"""The content taxonomy of the IAB Tech Lab, versions 2 and 3: tab-separated, a line a topic.

Above the header stands a line of groups. Columns are ``Unique ID``, ``Parent``, ``Name``, the tiers and, in the last
column, an extension that is ``SCD`` where the publisher sees data that can be sensitive. The tree is that of ids and
parents: tiers repeat it in words, and where they disagree (two lines of version 3.1 do) ids are what other systems
exchange. Marks of sensitivity are the publisher's, line by line, and say nothing about what lies below.
"""

from __future__ import annotations

from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.errors import InputError
from aidos.model.taxonomies.records import Draft
from aidos.model.taxonomies.text import numbered_lines

__all__ = ["MARKED", "is_iab", "read_iab"]

MARKED = "marked-by-iab"
"""The sensitive category of topics with the publisher's mark."""
COLUMNS = ("unique id", "parent", "name")


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
    return tuple(cell.strip().lower() for cell in line.split("\t")[:3]) == COLUMNS
