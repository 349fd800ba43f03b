"""Topics in a tree, and a person's interests on it.

The tree is public; a profile is private. Supports count how much lies below a topic: 1 per leaf unless given.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from aidos.errors import InputError, ParameterError

__all__ = ["DEEPEST", "Profile", "Taxonomy", "Topic"]

DEEPEST = 100
"""Levels below the root. Public taxonomies have up to twenty; what walks up from every topic pays for each level."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One node of a taxonomy."""

    id: str
    parent: str
    """The parent's id; empty for the root."""
    name: str
    sensitive: str = ""
    """The category that makes it sensitive (``health``, ``money``...); empty for ordinary topics."""
    description: str = ""
    words: tuple[str, ...] = ()
    """Typical words, most typical first."""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A rooted tree of topics."""

    topics: Mapping[str, Topic]
    root: str
    children: Mapping[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def of(cls, topics: Iterable[Topic]) -> Taxonomy:
        """Build the tree; refuse duplicates, unknown parents, several roots and cycles, naming the topics."""
        listed = list(topics)
        found = {topic.id: topic for topic in listed}
        _refuse("appear twice", _repeated(topic.id for topic in listed))
        _refuse("have a parent that does not exist", [t.id for t in listed if t.parent and t.parent not in found])
        roots = [topic.id for topic in listed if not topic.parent]
        if len(roots) != 1:
            raise InputError(f"a taxonomy has one root, this one has {len(roots)}: {_some(roots)}")
        children: dict[str, list[str]] = defaultdict(list)
        for topic in listed:
            if topic.parent:
                children[topic.parent].append(topic.id)
        tree = cls(MappingProxyType(found), roots[0], MappingProxyType({k: tuple(v) for k, v in children.items()}))
        levels = {roots[0]: 0}
        for topic in tree.walk():
            levels.setdefault(topic.id, levels.get(topic.parent, 0) + 1)
        _refuse("are on a cycle, not below the root", [t for t in found if t not in levels])
        _refuse(f"are more than {DEEPEST} levels below the root", [t for t, level in levels.items() if level > DEEPEST])
        return tree

    def __len__(self) -> int:
        return len(self.topics)

    def __getitem__(self, topic_id: str) -> Topic:
        return self.topics[topic_id]

    def walk(self, start: str = "") -> Iterator[Topic]:
        """Topics depth first, parents before children, siblings in the order given."""
        stack = [start or self.root]
        while stack:
            topic_id = stack.pop()
            yield self.topics[topic_id]
            stack.extend(reversed(self.children.get(topic_id, ())))

    def leaves(self, start: str = "") -> tuple[Topic, ...]:
        """Topics without children below (or at) ``start``."""
        return tuple(topic for topic in self.walk(start) if topic.id not in self.children)

    def path(self, topic_id: str) -> tuple[Topic, ...]:
        """From the root down to the topic."""
        steps = [self.topics[topic_id]]
        while steps[-1].parent:
            steps.append(self.topics[steps[-1].parent])
        return tuple(reversed(steps))

    def depth(self, topic_id: str) -> int:
        """Steps below the root, which has depth 0."""
        return len(self.path(topic_id)) - 1

    def sensitive_category(self, topic_id: str) -> str:
        """The category of the topic or of its nearest sensitive ancestor; empty when there is none."""
        return next((step.sensitive for step in reversed(self.path(topic_id)) if step.sensitive), "")

    def supports(self, leaf_supports: Mapping[str, float] | None = None) -> dict[str, float]:
        """Support of every topic: a leaf's own (1 unless given), an inner topic's sum over its children."""
        given = leaf_supports or {}
        total: dict[str, float] = {}
        for topic in reversed(list(self.walk())):
            below = self.children.get(topic.id)
            total[topic.id] = sum(total[child] for child in below) if below else float(given.get(topic.id, 1.0))
        return total


@dataclass(frozen=True, slots=True)
class Profile:
    """How much of a person's activity falls on each topic. Private: it never leaves the machine as it is."""

    supports: Mapping[str, float]

    def __post_init__(self) -> None:
        bad = [topic for topic, support in self.supports.items() if not 0 <= support < float("inf")]
        if bad:
            raise ParameterError(f"supports must be finite and not negative; topics concerned: {_some(bad)}")
        object.__setattr__(self, "supports", MappingProxyType(dict(self.supports)))


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _refuse(what: str, culprits: list[str]) -> None:
    if culprits:
        raise InputError(f"{len(culprits)} topics {what}: {_some(culprits)}")


def _some(names: list[str]) -> str:
    return ", ".join(name[:80] for name in names[:5]) + (", ..." if len(names) > 5 else "")
