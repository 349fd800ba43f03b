"""Topics of a taxonomy: what a title and a snippet are about, by the search that the shield uses, too.

Each item has the best few topics of its text, with shares in proportion to their scores. Each topic of the audit is a
topic of the taxonomy, so that what is found can be marked sensitive in a profile of the shield. Words that the taxonomy
does not know, and texts in another language than its own, say nothing here: latent topics
(`aidos.rooms.audit.topics.latent`) read any language.

Rare topics become part of the topic above them, so that topics are as fine as the data allow.

A weight can be learned only for a topic that sets results of one list apart. Topics that do so in too few lists are
rolled up: what is about them counts for their parent, from the lowest topics upwards. Too few are fewer than 5, or than
the root of the number of lists: the more topics, the larger a weight must be to stand out among them. Right below the
root of the tree there is nowhere to go, for to be about everything says nothing: a topic there stays, however rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import Result
from aidos.core.topictree import TopicTree
from aidos.errors import InputError
from aidos.model.topicsearch import NO_PLACE, TopicSearch, TopicShares
from aidos.rooms.audit.arrays import TopicMaps
from aidos.rooms.audit.kernels import count_apart
from aidos.rooms.audit.topics.space import AuditTopic, DescribedItems, TopicSpace

__all__ = ["LEAST_LISTS", "TaxonomyTopics", "merge_rows", "roll_up"]

Places = NDArray[np.int32]

MOST_TOPICS = 3
"""Topics of one item: more are mostly words in common, and make the topics of a profile harder to tell apart."""
LEAST_SCORE = 0.5
"""Of the score of the best topic, what another of the same text needs."""
WORDS = 10
"""Typical words that are shown of a topic."""


class TaxonomyTopics:
    """Topics of results by the words of a taxonomy."""

    def __init__(self, search: TopicSearch, only: Sequence[str] | None = None) -> None:
        """With ``only``, such as the topics of an earlier audit, what lies below one of them counts for it."""
        self.search = search
        self.only = None if only is None else tuple(dict.fromkeys(only))
        if self.only is not None:
            unknown = sum(topic not in search.tree.places for topic in self.only)
            if unknown or not self.only:
                raise InputError(
                    f"{unknown} of {len(self.only)} topics are not in the taxonomy",
                    hint="use the taxonomy of the earlier audit",
                )

    def describe(self, items: Sequence[Result], lists: Sequence[Sequence[int]]) -> DescribedItems:
        """The topics of the items; InputError where no text has a word that the taxonomy knows."""
        found = self.search.share_texts([item.text for item in items], most=MOST_TOPICS, least=LEAST_SCORE)
        tree = self.search.tree
        if self.only is None:
            stands = roll_up(tree, (found.starts, found.places, found.shares), lists)
            chosen = np.unique(stands[found.places])
        else:
            chosen = np.array([tree.places[topic] for topic in self.only], dtype=np.int32)
            stands = _nearest(tree, chosen)
        if not len(chosen):
            raise InputError(
                "no result has a word that the taxonomy knows",
                hint="use latent topics, which are learned from the results and read any language",
            )
        maps = _maps(found, stands, chosen, len(tree))
        return DescribedItems(space=self._space(chosen), maps=maps, notes=self._notes(found, stands, maps))

    def _space(self, chosen: Places) -> TopicSpace:
        taxonomy, ids = self.search.taxonomy, self.search.tree.ids
        topics = [taxonomy[ids[place]] for place in chosen.tolist()]
        return TopicSpace(
            kind="taxonomy",
            topics=tuple(AuditTopic(id=topic.id, name=topic.name, words=topic.words[:WORDS]) for topic in topics),
            source=f"from a taxonomy of {len(taxonomy):,} topics",
        )

    def _notes(self, found: TopicShares, stands: Places, maps: TopicMaps) -> tuple[str, ...]:
        notes = []
        without = int((np.diff(maps.starts) == 0).sum())
        if without:
            notes.append(f"{without:,} of {len(maps):,} results are about no topic that is known")
        seen = np.unique(found.places)
        rolled = int(((stands[seen] != seen) & (stands[seen] != NO_PLACE)).sum())
        if rolled and self.only is None:
            notes.append(f"{rolled:,} topics stand in too few lists, and count for the topics above them")
        return tuple(notes)


def _nearest(tree: TopicTree, chosen: Places) -> Places:
    """For every topic the nearest chosen one at or above it, NO_PLACE where there is none."""
    stands = np.full(len(tree), NO_PLACE, dtype=np.int32)
    stands[chosen] = chosen
    for place in range(1, len(tree)):
        if stands[place] == NO_PLACE:
            stands[place] = stands[tree.parents[place]]
    return stands


def _maps(found: TopicShares, stands: Places, chosen: Places, width: int) -> TopicMaps:
    numbers = np.full(width, NO_PLACE, dtype=np.int32)
    numbers[chosen] = np.arange(len(chosen), dtype=np.int32)
    places = stands[found.places]
    topics = np.where(places == NO_PLACE, np.int32(NO_PLACE), numbers[places])
    starts, merged, shares = merge_rows(found.starts, topics, found.shares, len(chosen))
    return TopicMaps(starts=starts, topics=merged, shares=shares.astype(np.float32), topic_count=len(chosen))


Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

LEAST_LISTS = 5
"""Lists in which a topic must set results apart, however few there are."""


def roll_up(tree: TopicTree, rows: tuple[Longs, Places, Floats], lists: Sequence[Sequence[int]]) -> Places:
    """For every topic of the tree, the topic that stands for it: itself or the nearest above that is not too rare.

    ``rows`` has the topics of each item: starts, places and shares.
    """
    least = max(LEAST_LISTS, sqrt(len(lists)))
    stands = np.arange(len(tree), dtype=np.int32)
    depths = _depths(tree)
    list_starts = np.concatenate([[0], np.cumsum([len(items) for items in lists])]).astype(np.int64)
    members = np.array([item for items in lists for item in items], dtype=np.int64)
    starts, places, shares = rows
    for depth in range(int(depths.max(initial=0)), 1, -1):
        merged = merge_rows(starts, stands[places], shares, len(tree))
        apart = np.zeros(len(tree), dtype=np.int64)
        count_apart(list_starts, members, *merged, apart)
        rare = (depths == depth) & (apart < least)
        stands = np.where(rare[stands], tree.parents[stands], stands)
    return stands


def merge_rows(starts: Longs, places: Places, shares: Floats, width: int) -> tuple[Longs, Places, Floats]:
    """The same rows where each place stands once, with the sum of its shares; places below 0 are left out."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    known = places >= 0
    keys, where = np.unique(rows[known] * width + places[known], return_inverse=True)
    sums = np.bincount(where, weights=shares[known], minlength=len(keys)).astype(np.float64)
    counts = np.bincount(keys // width, minlength=len(starts) - 1)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), (keys % width).astype(np.int32), sums


def _depths(tree: TopicTree) -> Longs:
    found = np.zeros(len(tree), dtype=np.int64)
    for place in range(1, len(tree)):
        found[place] = found[tree.parents[place]] + 1
    return found
