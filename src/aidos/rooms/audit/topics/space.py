"""The topics of an audit: what they are called, where they come from, and what each result is about.

`GivenTopics` are topics that somebody gives: for each address or id, topics and how much the result is about each.
Results that are not in the table, and those with nothing above 0, have no topic. Shares are taken as they are given.
The table may be a file: CSV or TSV with a header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from aidos.core.resultpairs import Result, same_address
from aidos.errors import InputError
from aidos.model.rows import Troubles, read_rows
from aidos.rooms.audit.arrays import TopicMaps

__all__ = ["AuditTopic", "DescribedItems", "GivenTopics", "TopicKind", "TopicSource", "TopicSpace", "read_topic_maps"]

COLUMNS = ("address", "topic", "share")
LARGEST = 1 << 30
"""Bytes of a table of topics."""
TopicKind = Literal["taxonomy", "latent", "given"]
"""Topics of a taxonomy (as the shield has them), learned from texts, or given with the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTopic:
    """One topic of an audit."""

    id: str
    """Of the taxonomy, or unique among the topics of the audit."""
    name: str
    """For people to read."""
    words: tuple[str, ...] = ()
    """What is typical of it, the most typical first; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpace:
    """All topics of an audit, in a fixed order."""

    kind: TopicKind
    topics: tuple[AuditTopic, ...]
    source: str
    """Where they come from, in a few words: "the default taxonomy", "learned from 3,120 results"."""

    def __len__(self) -> int:
        return len(self.topics)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(topic.id for topic in self.topics)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DescribedItems:
    """Items with their topic maps."""

    space: TopicSpace
    maps: TopicMaps
    """A row for each item, in the order in which the items were given."""
    notes: tuple[str, ...] = ()
    """What should be known of the maps, in sentences: items of no known topic, topics rolled up."""


class TopicSource(Protocol):
    """Something that says what results are about."""

    def describe(self, items: Sequence[Result], lists: Sequence[Sequence[int]]) -> DescribedItems:
        """The topics of the items; ``lists`` has the items of each query by number, to see how rare a topic is."""
        ...


class GivenTopics:
    """A table of address or id, topic and share."""

    def __init__(self, shares: Mapping[str, Mapping[str, float]]) -> None:
        """Address or id -> topic -> share, each share finite and not below 0."""
        wrong = sum(not (isfinite(share) and share >= 0) for topics in shares.values() for share in topics.values())
        if wrong:
            raise InputError(f"{wrong} shares of topics are below 0 or no numbers", hint="give shares from 0 to 1")
        self.shares = {same_address(address): dict(topics) for address, topics in shares.items()}
        self.names = sorted({name for topics in self.shares.values() for name, share in topics.items() if share > 0})
        if not self.names:
            raise InputError("the table of topics names no topic", hint="it needs an address, a topic and a share")

    def describe(self, items: Sequence[Result], lists: Sequence[Sequence[int]]) -> DescribedItems:  # noqa: ARG002
        """The topics of the items; every topic of the table is one of the audit, so that audits can be compared."""
        numbers = {name: number for number, name in enumerate(self.names)}
        starts, unknown = [0], 0
        topics: list[int] = []
        values: list[float] = []
        for item in items:
            known = {name: share for name, share in self._of(item).items() if share > 0}
            topics.extend(numbers[name] for name in known)
            values.extend(known.values())
            starts.append(len(topics))
            unknown += not known
        if unknown == len(items):
            raise InputError(
                "none of the results is in the table of topics", hint="give addresses or ids as the results have them"
            )
        return DescribedItems(
            space=TopicSpace(
                kind="given",
                topics=tuple(AuditTopic(id=name, name=name) for name in self.names),
                source=f"a table of {len(self.shares):,} results",
            ),
            maps=TopicMaps(
                starts=np.array(starts, dtype=np.int64),
                topics=np.array(topics, dtype=np.int32),
                shares=np.array(values, dtype=np.float32),
                topic_count=len(self.names),
            ),
            notes=(f"{unknown:,} of {len(items):,} results are not in the table of topics",) if unknown else (),
        )

    def _of(self, item: Result) -> Mapping[str, float]:
        return self.shares.get(same_address(item.url) if item.url else item.title) or {}


def read_topic_maps(path: Path) -> dict[str, dict[str, float]]:
    """Address or id -> topic -> share, from a table with a header; InputError names the lines that are wrong."""
    shares: dict[str, dict[str, float]] = {}
    troubles = Troubles(str(path))
    delimiter = "\t" if path.suffix == ".tsv" else ","
    for line, cells in read_rows(path, COLUMNS, troubles, delimiter=delimiter, most=LARGEST):
        address, topic, share = (cells[name] for name in COLUMNS)
        try:
            number = float(share)
        except ValueError:
            troubles.add(line, "no-number", "the share is no number from 0 to 1", "share")
            continue
        if not 0 <= number <= 1:
            troubles.add(line, "out-of-range", "the share is not from 0 to 1", "share")
        elif not address or not topic:
            troubles.add(line, "empty-cell", "the address or the topic is missing")
        else:
            shares.setdefault(address, {})[topic] = number
    troubles.refuse()
    if not shares:
        raise InputError(f"{path} holds no topics", hint=f"a table needs the columns {', '.join(COLUMNS)}")
    return shares
