"""The topics of an audit: what they are called, where they come from, and what each result is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from aidos.audit.arrays import TopicMaps
from aidos.core.resultpairs import Result

__all__ = ["AuditTopic", "DescribedItems", "TopicKind", "TopicSource", "TopicSpace"]

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
