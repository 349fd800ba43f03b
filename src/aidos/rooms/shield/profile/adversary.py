"""The eavesdropper, measured: she knows the algorithm, sees the whole sequence, and works out what is likely held.

She knows the public taxonomy, how texts are mapped to topics, which topics count as sensitive for whoever holds them,
the rule by which profiles are decided with its settings, how common interests are, and how people ask:

    Pr(q|h) in proportion to  sum over T(q) of rel(q,t) w_h(t),    w_h = a / n  +  (1 - a) [held] / |h|

A share a of all queries is about anything, the others are about an interest. She sees every query with the profile sent
and believes by Bayes' rule: a set of interests h counts by how common it is, how likely it asks these queries, and
whether the rule would have sent just what was sent with each. Where she does not know the rule she has the queries and
what was plainly shown.

On small trees every set of interests is looked at (`Observer.exactly`): no observer with these assumptions can do
better. On larger ones sets are drawn by a Metropolis walk (`Observer.by_sampling`), which forgives a mismatch at a
price so that it can move; what that one fails at, others may not. She takes it that every topic held has one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import Requirement, SessionMemory
from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.decision import decide, settle
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.rooms.shield.profile.rerank import leaves_of
from aidos.rooms.shield.profile.seed import Hits

__all__ = ["MOST_EXACT", "DrawnQuery", "Observer", "Rule", "Sight", "play", "unasked"]

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.int32]
MOST_EXACT = 14
"""Topics of which all sets can be looked at."""
MISMATCH = 4.0
"""What the walk pays for a query with which the rule would have sent something else, in the logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight:
    """What is seen of one query."""

    hits: Hits
    """T(q) with relevances: whoever has the taxonomy can work it out."""
    shown: Places = field(default_factory=lambda: np.zeros(0, np.int32))
    """Topics of the profile sent; empty where none was sent."""


Sights: TypeAlias = Sequence[Sight]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnQuery:
    """Topics of a query that was drawn, with relevances."""

    places: Places
    scores: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How profiles are decided."""

    mechanism: ProfileGeneralisation = field(default_factory=ProfileGeneralisation)
    remembers: bool = False
    """With the memory of a session, which was empty in the beginning."""


def play(rule: Rule, tree: TopicTree, held: HeldProfile, layer: CostLayer, queries: Iterable[Hits]) -> Iterator[Places]:
    """What is sent with each query, in order."""
    memory = SessionMemory()
    for hits in queries:
        data = QueryAndProfile(tree=tree, held=held, layer=layer, hits=hits)
        if not rule.remembers:
            yield settle(rule.mechanism, data).sent
            continue
        decision = decide(rule.mechanism, replace(data, memory=memory))
        memory = decision.remembered(memory)
        yield decision.sent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observer:
    """Somebody who knows all that is public, and sees queries and profiles."""

    tree: TopicTree
    topics: Places
    """Topics that documents may be at."""
    sensitive: Places
    """Topics that are marked by whoever holds them, or something below them."""
    common: Floats
    """How likely each of the topics is held, before anything is seen."""
    about_anything: float = 0.3
    """The share of queries that are about no interest."""

    def exactly(self, sights: Sights, rule: Rule | None, candidates: Places, *, told: Flags | None = None) -> Floats:
        """How likely each candidate, or something below it, is held: by all sets of interests that there are.

        With ``told`` she knows besides which of these interests are held that are not marked.
        """
        size = len(self.topics)
        if size > MOST_EXACT:
            raise ParameterError(f"all sets of at most {MOST_EXACT} topics can be looked at, these are {size}")
        sets = (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(np.bool_)
        weights = self._prior(sets) + self._likely(sets, sights)
        possible = self._shows(sets, sights)
        if told is not None:
            unmarked = ~self._below(self.sensitive).any(axis=0)
            possible &= np.all(sets[:, unmarked] == told[unmarked], axis=1)
        if rule is not None:
            for number in np.flatnonzero(possible).tolist():
                possible[number] = self._mismatches(sets[number], sights, rule, most=1) == 0
        if not possible.any():
            raise InputError("nobody whom the observer can think of would have sent this")
        weights = np.where(possible, weights, -np.inf)
        chances = np.exp(weights - weights.max())
        beliefs: Floats = (chances / chances.sum()) @ self._holds(sets, candidates)
        return beliefs

    def by_sampling(
        self, sights: Sights, rule: Rule | None, candidates: Places, stream: np.random.Generator, *, steps: int = 1_500
    ) -> Floats:
        """The same by a walk over sets of interests; topics that no query is about are as common as ever."""
        now = self._start(sights)
        likely = float(self._prior(now[None])[0] + self._likely(now[None], sights)[0])
        # A walk comes back to the same few sets again and again, and to play a rule is what takes long.
        played: dict[bytes, tuple[int, int]] = {}
        wrong = self._remembered(played, now, sights, rule, most=len(sights) + 1)
        movable = np.flatnonzero(self._asked(sights).any(axis=0))
        seen = np.zeros(len(candidates))
        rest = np.setdiff1d(np.arange(len(self.topics)), movable)
        for step in range(steps if len(movable) else 0):
            new = now.copy()
            new[stream.choice(movable)] ^= True
            new_likely = float(self._prior(new[None])[0] + self._likely(new[None], sights)[0])
            # How much worse it may be is drawn first, so that playing can stop where it is too bad.
            room = (new_likely - likely + stream.exponential()) / MISMATCH + wrong
            if room >= 0 and self._shows(new[None], sights)[0]:
                worse = self._remembered(played, new, sights, rule, most=int(room) + 1)
                if worse <= room:
                    now, likely, wrong = new, new_likely, worse
            if step >= steps // 4:
                seen += self._holds(now[None], candidates)[0]
        beliefs = seen / max(steps - steps // 4, 1)
        # What no query touched is not walked over: it stays as common as it was.
        below = self._below(candidates)[:, rest]
        untouched = 1.0 - np.prod(np.where(below, 1.0 - self.common[rest], 1.0), axis=1)
        found: Floats = 1.0 - (1.0 - beliefs) * (1.0 - untouched)
        return found

    def drawn(self, stream: np.random.Generator) -> Flags:
        """Somebody's interests, as they are common."""
        drawn: Flags = stream.random(len(self.topics)) < self.common
        return drawn

    def holding(self, held: Flags) -> tuple[HeldProfile, CostLayer]:
        """The profile of somebody with these interests, and what it costs."""
        mine = self.topics[held]
        profile = HeldProfile.of(self.tree, Profile({self.tree.ids[place]: 1.0 for place in mine.tolist()}))
        marked = self.sensitive[profile.supports[self.sensitive] > 0]
        requirement = Requirement({self.tree.ids[place]: 1.0 for place in marked.tolist()})
        return profile, CostLayer.of(self.tree, profile, requirement)

    def asking(self, held: Flags, number: int, stream: np.random.Generator, *, words: int = 4) -> list[DrawnQuery]:
        """Queries as she thinks that they come about: of an interest or of anything, and as likely of other topics."""
        wants, size, found = self._wants(held[None])[0], len(self.topics), []
        for _ in range(number):
            meant = stream.choice(size, p=wants)
            others = stream.choice(np.setdiff1d(np.arange(size), [meant]), min(words, size) - 1, replace=False)
            places = np.sort(self.topics[[meant, *others]]).astype(np.int32)
            found.append(DrawnQuery(places=places, scores=np.ones(len(places))))
        return found

    def _wants(self, sets: Flags) -> Floats:
        numbers = sets.sum(axis=1, keepdims=True)
        about = np.where(numbers > 0, self.about_anything, 1.0)
        wants: Floats = about / len(self.topics) + (1.0 - about) * sets / np.maximum(numbers, 1)
        return wants

    def _prior(self, sets: Flags) -> Floats:
        chances: Floats = np.where(sets, np.log(self.common), np.log1p(-self.common)).sum(axis=1)
        return chances

    def _asked(self, sights: Sights) -> Floats:
        """How relevant each query is to each of the topics, as they lie at or below those of the query."""
        found = np.zeros((len(sights), len(self.topics)))
        for row, sight in enumerate(sights):
            for place, score in zip(sight.hits.places.tolist(), sight.hits.scores.tolist(), strict=True):
                end = place + int(self.tree.sizes[place])
                found[row, (self.topics >= place) & (self.topics < end)] += score
        return found

    def _likely(self, sets: Flags, sights: Sights) -> Floats:
        """How likely these queries are asked by each set of interests, in the logarithm."""
        asked = self._asked(sights)
        asked = asked[asked.any(axis=1)]
        likely: Floats = np.log(self._wants(sets) @ asked.T).sum(axis=1)
        return likely

    def _below(self, places: Places) -> Flags:
        ends = places + self.tree.sizes[places]
        below: Flags = (self.topics >= places[:, None]) & (self.topics < ends[:, None])
        return below

    def _holds(self, sets: Flags, places: Places) -> Flags:
        """Whether each set has something at or below each place."""
        holds: Flags = (sets.astype(np.int64) @ self._below(places).T.astype(np.int64)) > 0
        return holds

    def _shows(self, sets: Flags, sights: Sights) -> Flags:
        """Whether each set has all that was plainly shown."""
        shown = np.unique(np.concatenate([np.zeros(0, np.int32), *(sight.shown for sight in sights)]))
        holds: Flags = np.logical_and.reduce(self._holds(sets, shown[shown > 0].astype(np.int32)), axis=1)
        return holds

    def _mismatches(self, held: Flags, sights: Sights, rule: Rule, *, most: int) -> int:
        """With how many queries the rule would have sent something else; counted up to ``most``."""
        profile, layer = self.holding(held)
        played = play(rule, self.tree, profile, layer, (sight.hits for sight in sights))
        wrong = 0
        for sent, sight in zip(played, sights, strict=False):
            wrong += not np.array_equal(sent, sight.shown)
            if wrong >= most:
                break
        return wrong

    def _remembered(
        self, played: dict[bytes, tuple[int, int]], held: Flags, sights: Sights, rule: Rule | None, *, most: int
    ) -> int:
        """The same, looked up where it was counted as far before."""
        if rule is None:
            return 0
        key = held.tobytes()
        wrong, counted = played.get(key, (0, 0))
        if counted <= wrong and counted < most:
            wrong, _ = played[key] = self._mismatches(held, sights, rule, most=most), most
        return wrong

    def _start(self, sights: Sights) -> Flags:
        """Everything that was shown at the end of a profile is held, and of topics below it the first."""
        held = np.zeros(len(self.topics), np.bool_)
        for sight in sights:
            for place in leaves_of(self.tree, sight.shown).tolist():
                below = np.flatnonzero(self._below(np.array([place], np.int32))[0])
                if len(below) and not held[below].any():
                    held[below[0]] = True
        return held


def unasked(tree: TopicTree, sight: Sight) -> Places:
    """Topics at the end of a shown profile that the query did not ask for: something below them was left out."""
    leaves = leaves_of(tree, sight.shown)
    return leaves[~np.isin(leaves, sight.hits.places)]
