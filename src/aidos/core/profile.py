"""A profile as it is kept from one day to the next: numbers by topic, and nothing of what they were counted from.

It holds how many documents there are at each topic, which topics are sensitive, and which were hidden from an observer
once (they are not shown later). Texts, titles, addresses and times of visits are not in it. What it says about a
person is told by the topics alone, and that is enough to keep it private.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from math import inf
from types import MappingProxyType
from typing import Annotated, Self

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError

__all__ = ["BuiltProfile", "KeptProfile", "Kind", "Requirement", "SessionMemory", "named", "tree_digest"]

NAMED = 5
LONGEST_NAME = 60


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Kind(StrEnum):
    """Where a document comes from."""

    FIREFOX_HISTORY = "firefox-history"
    FIREFOX_BOOKMARKS = "firefox-bookmarks"
    CHROME_HISTORY = "chrome-history"
    CHROME_BOOKMARKS = "chrome-bookmarks"
    HTML_BOOKMARKS = "html-bookmarks"
    SEARCH_LOG = "search-log"
    POSTS = "posts"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltProfile:
    """A profile, and how it came about."""

    profile: Profile
    sources: Mapping[str, int]
    """Documents by kind."""
    mapped: Annotated[int, Ge(0)]
    """Documents that are at a topic."""
    unmapped: Annotated[int, Ge(0)] = 0
    """Documents without a word that a topic knows."""
    rare: Annotated[int, Ge(0)] = 0
    """Documents whose topics, up to the main branch, are too rare to be kept."""

    def __post_init__(self) -> None:
        check_parameters(self)
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    @property
    def documents(self) -> int:
        """All documents that were read."""
        return self.mapped + self.unmapped + self.rare


@dataclass(frozen=True, slots=True)
class Requirement:
    """Sensitive topics by id, with how sensitive each is (sen); only ratios count."""

    sensitivities: Mapping[str, float]

    def __post_init__(self) -> None:
        wrong = [topic for topic, weight in self.sensitivities.items() if not 0 < weight < inf]
        if wrong:
            raise ParameterError(
                f"sensitivities must be above 0 and finite; topics concerned: {', '.join(wrong[:5])}",
                hint="leave a topic out if it is not sensitive",
            )
        object.__setattr__(self, "sensitivities", MappingProxyType(dict(self.sensitivities)))

    def overlaps(self, tree: TopicTree) -> tuple[tuple[str, str], ...]:
        """Pairs of sensitive topics of which the first is above the second."""
        places = sorted(tree.place(topic) for topic in self.sensitivities)
        found, upper = [], -1
        for place in places:
            if upper >= 0 and place in tree.below(upper):
                found.append((tree.ids[upper], tree.ids[place]))
            else:
                upper = place
        return tuple(found)

    def merged(self, tree: TopicTree) -> Requirement:
        """The same without overlaps: the upper topic stands for those below it, with the largest weight among them."""
        weights = dict(self.sensitivities)
        for upper, lower in self.overlaps(tree):
            weights[upper] = max(weights[upper], weights.pop(lower))
        return Requirement(weights)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProfile:
    """A person's interests and what she wants to hide of them, on the topics of one taxonomy."""

    taxonomy: str
    """What the taxonomy is called: the file it was read from, or the default one."""
    digest: str
    """Of the taxonomy's topics and their parents; see `tree_digest`."""
    supports: Mapping[str, float] = field(repr=False)
    """Documents at each topic, above 0."""
    sensitivities: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Sensitive topics with their weights."""
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Topics that were hidden once, in the order of the taxonomy."""
    shown: tuple[str, ...] = field(default=(), repr=False)
    """Topics that an observer has seen, in the order of the taxonomy."""
    asked: Mapping[str, float] = field(default_factory=dict, repr=False)
    """What remembered queries add to the log-odds of each topic that they are about."""
    queries: int = 0
    """How many of them there were."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """Kinds of documents, and how many were read of each."""
    created: str = field(default_factory=_now)
    """When it was made, in UTC."""
    updated: str = field(default_factory=_now)
    """When it was last changed, in UTC."""

    def __post_init__(self) -> None:
        for name in ("supports", "sensitivities", "asked", "sources"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @classmethod
    def of(cls, built: BuiltProfile, tree: TopicTree, requirement: Requirement, *, taxonomy: str) -> Self:
        """A new one, from a profile that was built."""
        return cls(
            taxonomy=taxonomy,
            digest=tree_digest(tree),
            supports=built.profile.supports,
            sensitivities=requirement.sensitivities,
            sources=built.sources,
        )

    @property
    def profile(self) -> Profile:
        """The interests, as a value of the core."""
        return Profile(self.supports)

    @property
    def requirement(self) -> Requirement:
        """What is to be hidden."""
        return Requirement(self.sensitivities)

    @property
    def memory(self) -> SessionMemory:
        """What was hidden and shown so far, for a generalisation that takes it into account."""
        return SessionMemory(frozenset(self.hidden), frozenset(self.shown))

    def rebuilt(self, built: BuiltProfile, fresh: Requirement, tree: TopicTree) -> Self:
        """New supports for the old: what she marked, unmarked and hid stays.

        A topic of ``fresh``, the usual requirement, is marked only where the profile did not touch it before: one that
        she held and is not marked was unmarked by her. Topics that overlap with a mark of hers are left to it.
        """
        held = set(tree.with_paths([tree.place(topic) for topic in self.supports]).tolist())
        own = {tree.place(topic) for topic in self.sensitivities}
        weights = dict(self.sensitivities)
        for topic, weight in fresh.sensitivities.items():
            place = tree.place(topic)
            apart = not any(place in tree.below(other) or other in tree.below(place) for other in own)
            if apart and place not in held:
                weights[topic] = weight
        return self._changed(supports=built.profile.supports, sensitivities=weights, sources=built.sources)

    def with_support(self, tree: TopicTree, topic: str, documents: float) -> Self:
        """With so many documents at a topic."""
        tree.place(topic)
        if not 0 < documents < inf:
            raise ParameterError(
                f"the support of {named([topic])} must be above 0 and finite", hint="take the topic out instead"
            )
        return self._changed(supports={**self.supports, topic: float(documents)})

    def without_support(self, tree: TopicTree, topic: str) -> Self:
        """Without the documents at and below a topic; marks stay."""
        branch = self._held_branch(tree, topic, self.supports)
        return self._changed(supports={name: count for name, count in self.supports.items() if name not in branch})

    def with_sensitivity(self, tree: TopicTree, topic: str, weight: float, *, merge: bool = False) -> Self:
        """With a topic marked as sensitive; sensitive topics above or below it are refused, or merged with it."""
        tree.place(topic)
        marked = Requirement({**self.sensitivities, topic: float(weight)})
        overlaps = marked.overlaps(tree)
        if overlaps and not merge:
            upper, lower = overlaps[0]
            raise InputError(
                f"sensitive topics overlap: {named([lower])} is below {named([upper])}",
                hint="take one of the two, or merge them (--merge): the upper one with the larger weight covers both",
            )
        return self._changed(sensitivities=marked.merged(tree).sensitivities if overlaps else marked.sensitivities)

    def without_sensitivity(self, tree: TopicTree, topic: str) -> Self:
        """With a topic no longer marked; ParameterError where it is not."""
        tree.place(topic)
        if topic not in self.sensitivities:
            raise ParameterError(f"{named([topic])} is not marked as sensitive", hint="see: aidos shield profile show")
        return self._changed(sensitivities={name: sen for name, sen in self.sensitivities.items() if name != topic})

    def remembering(self, tree: TopicTree, memory: SessionMemory) -> Self:
        """With what else was hidden from an observer and shown to it."""
        all_of_it = self.memory.adding(memory.hidden, memory.shown)
        return self._changed(hidden=_in_order(tree, all_of_it.hidden), shown=_in_order(tree, all_of_it.shown))

    def having_asked(self, told: Mapping[str, float]) -> Self:
        """With a query that adds so much to the log-odds of topics."""
        weights = {**self.asked, **{topic: self.asked.get(topic, 0.0) + more for topic, more in told.items()}}
        return self._changed(asked=weights, queries=self.queries + 1)

    def without_session(self) -> Self:
        """Without what was asked of anybody, hidden and shown: a new session begins."""
        return self._changed(hidden=(), shown=(), asked={}, queries=0)

    def forgetting(self, tree: TopicTree, topic: str) -> Self:
        """Without anything about a topic and what is below it: documents, marks, and that it was hidden or shown."""
        kept = (*self.supports, *self.sensitivities, *self.hidden, *self.shown, *self.asked)
        branch = self._held_branch(tree, topic, kept)
        return self._changed(
            supports={name: count for name, count in self.supports.items() if name not in branch},
            sensitivities={name: weight for name, weight in self.sensitivities.items() if name not in branch},
            asked={name: weight for name, weight in self.asked.items() if name not in branch},
            hidden=tuple(name for name in self.hidden if name not in branch),
            shown=tuple(name for name in self.shown if name not in branch),
        )

    def _held_branch(self, tree: TopicTree, topic: str, kept: Mapping[str, float] | tuple[str, ...]) -> frozenset[str]:
        branch = frozenset(tree.ids[place] for place in tree.below(tree.place(topic)))
        if branch.isdisjoint(kept):
            raise ParameterError(f"the profile holds nothing at or below {named([topic])}")
        return branch

    def _changed(self, **fields: object) -> Self:
        return replace(self, updated=_now(), **fields)  # type: ignore[arg-type]


def tree_digest(tree: TopicTree) -> str:
    """Names a taxonomy by its topics and their parents: better words for a topic do not make old profiles useless."""
    parents = ("" if above < 0 else tree.ids[above] for above in tree.parents.tolist())
    pairs = sorted(f"{topic}\x1f{parent}" for topic, parent in zip(tree.ids, parents, strict=True))
    return hashlib.sha256("\x1e".join(pairs).encode("utf-8", errors="surrogatepass")).hexdigest()


def named(topics: list[str] | tuple[str, ...]) -> str:
    """The first few topics, fit for a message: a file that somebody else wrote may hold anything."""
    first = ", ".join(ascii(topic[:LONGEST_NAME]).strip("'\"") for topic in topics[:NAMED])
    return first + (", ..." if len(topics) > NAMED else "")


def _in_order(tree: TopicTree, topics: Iterable[str]) -> tuple[str, ...]:
    return tuple(tree.ids[place] for place in sorted(map(tree.place, topics)))
