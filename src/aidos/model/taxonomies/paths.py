"""Lists of paths, a line a topic: ``Arts > Music > Jazz``, or ``/Arts/Music/Jazz``.

A path says all that is above a topic, so that what no line names is added. Lines that begin with ``#`` are remarks. A
topic's id is its path, written with ``>`` in either case.
"""

from __future__ import annotations

from pathlib import Path

from aidos.core.taxonomy import Topic
from aidos.model.taxonomies.records import Draft
from aidos.model.taxonomies.text import numbered_lines

__all__ = ["STEP", "add_missing_ancestors", "is_path_list", "read_path_list", "split_path"]

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
