"""Before it is posted: every query that would return a draft among its first k, and at which rank.

The answer is that of adding the post and looking it up. A draft has an author, perhaps, and a time, but no id yet:
among posts of the same score and time it comes last, and where posts go by id alone it comes behind all of its score.
There every rank that a tie decides is marked as not certain.

Words of the draft that no post ever held are numbered behind all words, in the order in which they come, as adding the
post would; `new_words` tells them. Longer drafts are cut like posts. Only queries that the draft can enter are looked
at: a word whose k best posts beat it brings no partial matches, and a pair that k posts win by one word alone is out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.exposure.queries.additions import refuse_without_language
from aidos.rooms.exposure.queries.answers import stored_lists
from aidos.rooms.exposure.queries.ground import unknown_rate
from aidos.rooms.exposure.queries.kernels.scoring import beaten_pairs, length_norm, match_part, place_draft
from aidos.rooms.exposure.queries.live import Wanted, apart_lists, pair_lists
from aidos.rooms.exposure.queries.overlay import query_keys
from aidos.rooms.exposure.queries.records import NO_TERM, NO_WORD, Exposures, Lists, Singles
from aidos.rooms.exposure.queries.state import State

__all__ = ["DRAFT", "draft", "new_words"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

DRAFT = -1
"""The number of a post that has none yet."""
QUICK = 10_000
"""Posts of a word that are sooner scanned than looked up by pairs."""
NO_MEMBER = -1
LAST = int(np.iinfo(np.int64).max)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (posts have no zone)
OUT = -np.inf
"""The score of a draft that is no result."""


def new_words(state: State, text: str) -> list[str]:
    """The words of a draft that no post ever held, as they are numbered from the number of words on."""
    words = list(dict.fromkeys(state.analyser.terms(text)[: state.settings.longest_post]))
    return [word for word, number in zip(words, state.find_words(words), strict=True) if number < 0]


def draft(state: State, text: str, *, member: int | None, when: datetime) -> Exposures:
    """All whole and partial matches of a draft, by first and second word."""
    own, order = _read(state, text), _order(state, when)
    lists = [_one_word(state, own), *_pairs(state, own, order), *_with_new_words(state, own)]
    found = _rows(state, own, Lists.concatenate(lists), order, member)
    _, places = np.unique(query_keys(found.first, found.second), return_index=True)
    return found.take(places)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Own:
    """The words of the draft and what each brings. Terms stand for words; a new word's term is its number."""

    old: Ints
    """Terms that the state knows."""
    new: Ints
    """Those it does not, behind all known."""
    parts: Floats
    """What each brings, the known ones first."""
    norms: tuple[float, float]
    """What the length adds for a query of one word, and of two."""

    def part(self, terms: Ints) -> Floats:
        """What terms bring; 0 for those that the draft does not hold, NO_TERM among them."""
        mine = np.concatenate([self.old, self.new])
        if not len(mine):
            return np.zeros(len(terms))
        order = np.argsort(mine)
        found = order[np.minimum(np.searchsorted(mine, terms, sorter=order), len(order) - 1)]
        return np.where(mine[found] == terms, self.parts[found], 0.0)

    def holds(self, terms: Ints) -> Marks:
        """Whether the draft holds terms."""
        return np.isin(terms, np.concatenate([self.old, self.new]))


def _read(state: State, text: str) -> _Own:
    ground = state.ground
    counts = Counter(state.analyser.terms(text)[: state.settings.longest_post])
    numbers, often = state.find_words(list(counts)), np.array(list(counts.values()), dtype=np.int64)
    known = numbers >= 0
    refuse_without_language(state, list(counts))
    old = state.terms(numbers[known])
    new = state.words + np.arange(np.count_nonzero(~known), dtype=np.int32)
    rates = np.concatenate([ground.rates[old], np.full(len(new), unknown_rate(state.base))]).tolist()
    length_part = float(ground.length_parts[counts.total()])
    many = np.concatenate([often[known], often[~known]]).tolist()
    return _Own(
        old=old,
        new=new,
        parts=np.array([match_part(ground.form, *each, length_part) for each in zip(many, rates, strict=True)]),
        norms=(length_norm(ground.form, 1.0, length_part), length_norm(ground.form, 2.0, length_part)),
    )


def _order(state: State, when: datetime) -> int:
    """The largest order of a post that comes before the draft among equals."""
    moment = when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    ties = state.settings.ties
    if ties == "id":
        return LAST
    if micros > state.latest:
        return -LAST if ties == "newest" else LAST - 1
    before = state.times >= micros if ties == "newest" else state.times <= micros
    return int(np.max(state.orders, where=before, initial=-LAST))


def _one_word(state: State, own: _Own) -> Lists:
    """The results of every word of the draft, without it."""
    words = state.word_numbers(own.old)
    documents = np.concatenate([state.word_documents(words), np.zeros(len(own.new), dtype=np.int32)])
    terms = np.concatenate([own.old, own.new])
    return _bare(terms, np.full(len(terms), NO_TERM, np.int32), documents, state.singles.ones(words))


def _pairs(state: State, own: _Own, order: int) -> list[Lists]:
    """The results of pairs of known words that the draft may enter: both in it, or one and a partner of that word."""
    ground, singles = state.ground, state.singles.twos(own.old)
    spread = np.array([ground.spread(term) for term in own.old.tolist()], dtype=np.int64)
    enters = np.zeros(len(spread), dtype=np.bool_)
    if not ground.both_only:
        alone = own.part(own.old)
        ranks, _, _ = _placed(ground.k, singles, np.where(alone > 0, alone + own.norms[1], OUT), order)
        enters = ranks > 0
    turn = np.argsort(spread, kind="stable")
    one, other = (turn[side] for side in np.triu_indices(len(turn), 1))
    beaten = np.zeros(len(one), dtype=np.bool_)
    if not ground.both_only:
        scores = own.part(own.old[one]) + own.part(own.old[other]) + own.norms[1]
        beaten_pairs(singles.starts, singles.scores, singles.posts, (one, other), scores, ground.k, beaten)
    left = ~(enters[one] | enters[other] | beaten)
    scanned = [(at, other[left & (one == at)]) for at in np.unique(one[left]).tolist() if spread[at] <= QUICK]
    wanted: list[Wanted] = [(int(own.old[at]), None) for at in np.flatnonzero(enters)]
    wanted += [(int(own.old[at]), own.old[partners]) for at, partners in scanned]
    found = pair_lists(ground, wanted, state.singles.twos)
    # A word that the draft enters also meets words of the draft that no post holds beside it.
    strangers = [
        apart_lists(ground, term, np.setdiff1d(own.old, np.append(lists.others, np.int32(term))), state.singles.twos)
        for (term, partners), lists in zip(wanted, found, strict=True)
        if partners is None
    ]
    looked = left & (spread[one] > QUICK)
    return [*found, *strangers, *_looked_up(state, own.old[one[looked]], own.old[other[looked]])]


def _looked_up(state: State, ones: Ints, others: Ints) -> list[Lists]:
    """The results of pairs as they were computed; those that no post holds together are put together here."""
    first, second = np.sort([state.word_numbers(ones), state.word_numbers(others)], axis=0)
    stored = stored_lists(state, first, second)
    apart = np.flatnonzero(stored.documents == 0).tolist()
    return [
        stored.take(np.flatnonzero(stored.documents)),
        *(apart_lists(state.ground, int(ones[at]), others[at : at + 1], state.singles.twos) for at in apart),
    ]


def _with_new_words(state: State, own: _Own) -> list[Lists]:
    """The results of pairs with a word that no post ever held."""
    made = []
    for term in own.old.tolist() if len(own.new) else []:
        strange = apart_lists(state.ground, term, None, state.singles.twos).take(np.zeros(len(own.new), dtype=np.int64))
        made.append(replace(strange, others=own.new))
    one, other = np.triu_indices(len(own.new), 1)
    nothing = Singles(starts=np.zeros(1, np.int64), scores=np.zeros(0), orders=np.zeros(0, np.int64), posts=own.new[:0])
    return [*made, _bare(own.new[one], own.new[other], np.zeros(len(one), dtype=np.int32), nothing)]


def _rows(state: State, own: _Own, lists: Lists, order: int, member: int | None) -> Exposures:
    """The rows of the lists that the draft enters."""
    held = own.part(lists.ones) + own.part(lists.others)
    norm = np.where(lists.others == NO_TERM, own.norms[0], own.norms[1])
    whole = own.holds(lists.ones) & (own.holds(lists.others) | (lists.others == NO_TERM))
    returned = (held > 0) & (whole | (not state.ground.both_only))
    ranks, certain, evenness = _placed(state.ground.k, lists, np.where(returned, held + norm, OUT), order)
    if order == LAST:
        certain &= ~_tied(lists, held + norm)
    there = np.flatnonzero(ranks)
    words = np.array([state.word_numbers(lists.ones[there]), state.word_numbers(lists.others[there])])
    single = lists.others[there] == NO_TERM
    words[1][single] = NO_WORD
    return Exposures(
        members=np.full(len(there), NO_MEMBER if member is None else member, dtype=np.int32),
        posts=np.full(len(there), DRAFT, dtype=np.int32),
        first=np.where(single, words[0], words.min(axis=0)),
        second=np.where(single, words[1], words.max(axis=0)),
        ranks=ranks[there].astype(np.int16),
        whole=whole[there],
        certain=certain[there],
        documents=(lists.documents + whole)[there].astype(np.int32),
        evenness=evenness[there],
    )


def _placed(k: int, lists: Lists | Singles, scores: Floats, order: int) -> tuple[Ints, Marks, Bytes]:
    number = len(scores)
    ranks, certain = np.zeros(number, dtype=np.int32), np.zeros(number, dtype=np.bool_)
    evenness = np.zeros(number, dtype=np.uint8)
    place_draft(lists.starts, lists.scores, lists.orders, scores, order, k, ranks, certain, evenness)
    return ranks, certain, evenness


def _tied(lists: Lists, scores: Floats) -> Marks:
    """Whether a post of the list has the same score."""
    same = lists.scores == np.repeat(scores, np.diff(lists.starts))
    return np.add.reduceat(np.append(same, False).astype(np.int64), lists.starts[:-1]) * np.diff(lists.starts) > 0


def _bare(ones: Ints, others: Ints, documents: Ints, posts: Singles) -> Lists:
    """Lists of which nothing is known but their posts; those that have none may be left out at the end."""
    unknown = np.zeros(len(ones), dtype=np.uint8)
    starts = np.append(posts.starts, np.full(len(ones) + 1 - len(posts.starts), posts.starts[-1]))
    return Lists(
        ones=ones,
        others=others,
        documents=documents,
        certain=unknown,
        evenness=unknown,
        starts=starts,
        scores=posts.scores,
        orders=posts.orders,
        posts=posts.posts,
        whole=np.ones(len(posts.posts), dtype=np.bool_),
    )
