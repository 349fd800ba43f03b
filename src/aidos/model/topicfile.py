"""Sensitive topics in a file that people read and write: tab-separated, a line a topic.

Columns are topic, title, category, domain, sensitive (from 0 to 1) and words. Words stand in one cell with blanks
between them, the most telling first. A weight may stand behind each word (``debt:0.4 owe:0.2``); where a topic has
none, weights fall with the place. Tabs, since words and titles may have commas, and since every spreadsheet opens them.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from aidos.engine.files import write_text
from aidos.errors import InputError, ParameterError
from aidos.model.rows import Troubles, read_rows
from aidos.model.sensitive import PART, SensitiveTopic, TopicSet, falling_weights

__all__ = ["COLUMNS", "read_topics", "write_topics"]

COLUMNS = ("topic", "title", "category", "domain", "sensitive", "words")


def read_topics(path: str | Path) -> TopicSet:
    """The topics of a file; InputError with all problems that it has."""
    troubles = Troubles(str(path))
    found: dict[str, SensitiveTopic] = {}
    for line, cells in read_rows(Path(path), COLUMNS, troubles, delimiter="\t"):
        topic = _topic(cells, line, troubles)
        if topic is None:
            continue
        if topic.name in found:
            troubles.add(line, "repeated-topic", "the topic has a line already", "topic")
        found[topic.name] = topic
    troubles.refuse()
    if not found:
        raise InputError(f"{path} has no topic", hint="write a line for each topic below the header")
    return TopicSet(topics=tuple(found.values()))


def write_topics(topics: TopicSet, path: str | Path) -> None:
    """Write topics so that `read_topics` gives the same ones, whole or not at all."""
    made = io.StringIO()
    csv.writer(made, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *map(_cells, topics)])
    write_text(Path(path), made.getvalue())


def _cells(topic: SensitiveTopic) -> tuple[str, ...]:
    falling = topic.weights == falling_weights(len(topic.words))
    weighed = (f"{word}{PART}{weight!r}" for word, weight in zip(topic.words, topic.weights, strict=True))
    words = " ".join(topic.words if falling else weighed)
    return (topic.name, topic.title, topic.category, topic.domain, repr(topic.sensitive), words)


def _topic(cells: dict[str, str], line: int, troubles: Troubles) -> SensitiveTopic | None:
    """The topic of a line; None where something is wrong with it, which is told."""
    before = len(troubles.found)
    pairs = [part.partition(PART) for part in cells["words"].split()]
    weighed = [bool(separator) for _, separator, _ in pairs]
    if any(weighed) and not all(weighed):
        troubles.add(line, "missing-weight", "some words have a weight and some have none", "words")
        return None
    sensitive = _number(cells["sensitive"], line, "sensitive", troubles)
    weights = [_number(weight, line, "words", troubles) for _, _, weight in pairs] if any(weighed) else []
    if len(troubles.found) > before or sensitive is None:
        return None
    try:
        return SensitiveTopic(
            name=cells["topic"],
            title=cells["title"],
            category=cells["category"],
            domain=cells["domain"],
            words=tuple(word for word, _, _ in pairs),
            weights=tuple(weight for weight in weights if weight is not None),
            sensitive=sensitive,
        )
    except ParameterError as error:
        # Its words speak of the fields' limits and never of the content of a cell, but for a number.
        troubles.add(line, "bad-topic", error.message.removeprefix("SensitiveTopic: "))
        return None


def _number(text: str, line: int, column: str, troubles: Troubles) -> float | None:
    try:
        return float(text)
    except ValueError:
        troubles.add(line, "bad-number", "a number is expected", column)
        return None
