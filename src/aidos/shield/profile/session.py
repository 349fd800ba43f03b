"""Session-consistent generalisation: what was hidden once is not shown later.

One query and one profile are all that generalisation covers. Somebody who watches many queries sees the union of what
was shown: a topic that had to be hidden for one query and fits the limit of another is known from the second on, and
that it came and went says that it was being hidden. This memory takes that away. Topics of a seed that were left out of
an answer stay hidden, with all below them, for as long as the memory is kept.

That is all it does. It does not bound what all answers give away together: topics shown for different queries add up,
each within the limit and their union above it, and the queries themselves tell most. For made-up searchers on the
default taxonomy, with a limit of 0.05, the first guess of `aidos.shield.profile.adversary` at a sensitive topic was
right in 29 % of cases after one query and in 90 % after ten, with this memory as without it (13 % for a blind guess, 54
% for one who saw the ten queries and no profile); what the memory took away were the topics that came back. Who fears a
patient observer needs fewer queries or a limit of 0, not this memory. Less is shown as a session goes on; forgetting
the memory starts a new session.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aidos.core.topictree import TopicTree

__all__ = ["HiddenTopics"]


@dataclass(frozen=True, slots=True)
class HiddenTopics:
    """Topics that were hidden in a session, by id; a value: `adding` gives a new one."""

    topics: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.topics)

    def adding(self, topics: Iterable[str]) -> HiddenTopics:
        """The memory after an answer that hid these topics."""
        return HiddenTopics(self.topics.union(topics))

    def places(self, tree: TopicTree) -> frozenset[int]:
        """Where they stand in a tree; topics that it does not have cannot be shown on it and are left out."""
        return frozenset(tree.places[topic] for topic in self.topics if topic in tree.places)
