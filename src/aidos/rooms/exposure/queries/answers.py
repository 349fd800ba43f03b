"""What a community's search answers to a query of one or two words.

The query is read as posts are: by the store's analyser. A word that is repeated counts once, so that "a a" is the
query of one word. Words that no post ever held find nothing by themselves; beside a known word they still make it a
query of two words, which ranks by other scores than the known word alone. Pairs that no post holds together are no
queries of anybody's exposure, but are answered all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.rooms.exposure.queries.live import apart_lists, scores_of
from aidos.rooms.exposure.queries.records import NO_WORD, Lists
from aidos.rooms.exposure.queries.state import State
from aidos.rooms.exposure.queries.ties import count_tied

__all__ = ["Answer", "answer", "stored_lists"]

Ints = NDArray[np.int32]
MOST = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The first k results of a query, best first."""

    first: int
    """Its word, or that of two with the smaller number; NO_WORD where no word is known."""
    second: int
    """The other, NO_WORD for none."""
    unknown: tuple[str, ...]
    """Words of the query that no post ever held."""
    documents: int
    """How many posts hold all words."""
    evenness: int
    """Entropy of the softmax of the scores, in per cent of its largest value."""
    posts: Ints
    ranks: NDArray[np.int16]
    scores: NDArray[np.float64]
    """Without what all posts get: they compare the posts of one query."""
    whole: NDArray[np.bool_]
    """Whether the post holds all words."""
    certain: NDArray[np.bool_]
    """Whether it is among the first k however ties fall."""
    tied_out: int
    """Posts that have the score of the last one and are not among the first k, but would be if ties fell otherwise."""


def answer(state: State, query: str) -> Answer:
    """The results of one query; a query without a word, or with three different ones, is refused."""
    words = list(dict.fromkeys(state.analyser.terms(query)))
    if not 1 <= len(words) <= MOST:
        raise ParameterError(
            f"a query has one word or two, this one has {len(words)}",
            hint="words that the search leaves out do not count",
        )
    numbers = state.find_words(words)
    unknown = tuple(word for word, number in zip(words, numbers, strict=True) if number < 0)
    known = np.sort(numbers[numbers >= 0])
    if len(words) == 1 and len(known):
        return _shown(state, stored_lists(state, known, np.array([NO_WORD])), known, unknown)
    if len(words) == MOST and len(known) == MOST:
        row = stored_lists(state, known[:1], known[1:])
        if not row.documents[0]:
            terms = state.terms(known)
            row = apart_lists(state.ground, int(terms[0]), terms[1:], state.singles.twos)
        return _shown(state, row, known, unknown)
    if len(known) and not state.ground.both_only:
        row = apart_lists(state.ground, int(state.terms(known)[0]), None, state.singles.twos)
        return _shown(state, row, known, unknown)
    return _shown(state, Lists.empty(), known, unknown)


def stored_lists(state: State, first: NDArray[Any], second: NDArray[Any]) -> Lists:
    """The first k results of queries as they were computed, with their scores; no documents where there is none."""
    rows = state.stored(first, second)
    sizes = [len(row["posts"]) if row else 0 for row in rows]
    posts = np.array([post for row in rows if row for post in row["posts"]], dtype=np.int32)
    ones, others = state.terms(first), state.terms(second)
    scores, orders, held = np.zeros(len(posts)), np.zeros(len(posts), np.int64), np.zeros(len(posts), np.int32)
    # A query has one word or two, which decides what the length of a post takes away.
    for words in (1, MOST):
        asked = np.repeat((second >= 0) + 1 == words, sizes)
        given = (posts[asked], np.repeat(ones, sizes)[asked], np.repeat(others, sizes)[asked])
        scores[asked], orders[asked], held[asked] = scores_of(state.ground, *given, words=words)

    def told(name: str, kind: type) -> NDArray[Any]:
        return np.array([row[name] if row else 0 for row in rows], dtype=kind)

    return Lists(
        ones=ones,
        others=others,
        documents=told("documents", np.int32),
        certain=told("certain", np.uint8),
        evenness=told("evenness", np.uint8),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        scores=scores,
        orders=orders,
        posts=posts,
        whole=held == np.repeat((second >= 0) + 1, sizes),
    )


def _shown(state: State, lists: Lists, known: Ints, unknown: tuple[str, ...]) -> Answer:
    """The first k of a single list, and how many tie with the last of them."""
    size = min(int(lists.starts[-1]), state.settings.k)
    ranks = np.arange(1, size + 1, dtype=np.int16)
    found, words = len(lists) > 0, len(known) + len(unknown)
    return Answer(
        first=int(known[0]) if len(known) else NO_WORD,
        second=int(known[1]) if len(known) == MOST else NO_WORD,
        unknown=unknown,
        documents=int(lists.documents[0]) if found else 0,
        evenness=int(lists.evenness[0]) if found else 0,
        posts=lists.posts[:size],
        ranks=ranks,
        scores=lists.scores[:size],
        whole=lists.whole[:size],
        certain=ranks <= (certain := int(lists.certain[0]) if found else 0),
        tied_out=count_tied(state, state.terms(known), words, (lists.posts[:size], lists.scores[:size]))
        if certain < size
        else 0,
    )
