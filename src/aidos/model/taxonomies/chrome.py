"""The topics of Chrome's Topics API: a table in Markdown, ``| ID | Topic |``, with paths such as ``/Games/Billiards``.

The first version was published without the column of numbers; its topics have their paths as ids. Every step of a path
has a line of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.model.taxonomies.paths import split_path
from aidos.model.taxonomies.records import Draft
from aidos.model.taxonomies.text import numbered_lines

__all__ = ["is_chrome", "read_chrome"]

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
