"""The memory of a session: what was hidden once is not shown later, and all that was shown counts towards the limit.

One query and one profile are all that the paper covers. Somebody who watches many queries sees the union of what was
shown. A topic that had to be hidden for one query and fits the limit of another is known from the second on, and that
it came and went says that it was being hidden. And topics shown for different queries add up, each answer within the
limit and their union above it. The memory takes both away:

- topics of a seed that were left out of an answer stay hidden, with all below them;
- the limit holds for everything shown so far together (with the excess risk; the paper's looks at one query alone).

So an observer who knows the taxonomy alone, and sees all profiles of a session, is where the limit says. Less is shown
as a session goes on, until the limit is used up; forgetting the memory starts a new session, and whoever watched the
old one remembers it. The queries themselves stay unprotected, and they tell most: see
`aidos.shield.profile.adversary`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aidos.core.topictree import TopicTree

__all__ = ["SessionMemory"]


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """What was hidden and what was shown in a session, by id; a value: `adding` gives a new one."""

    hidden: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    def adding(self, hidden: Iterable[str], shown: Iterable[str] = ()) -> SessionMemory:
        """The memory after an answer that hid and showed these topics."""
        return SessionMemory(self.hidden.union(hidden), self.shown.union(shown))

    def hidden_places(self, tree: TopicTree) -> frozenset[int]:
        """Where hidden topics stand in a tree; topics that it does not have cannot be shown on it and are left out."""
        return _places(tree, self.hidden)

    def shown_places(self, tree: TopicTree) -> frozenset[int]:
        """Where shown topics stand in a tree; for those that it does not have nothing can be said."""
        return _places(tree, self.shown)


def _places(tree: TopicTree, topics: Iterable[str]) -> frozenset[int]:
    return frozenset(tree.places[topic] for topic in topics if topic in tree.places)
