"""The results of chosen queries, straight from postings and rows: one scan of a word's posts finds all its pairs.

Terms are numbered as in the index. A post's score is that of `aidos.model.retrieval.kernels.matching`, from parts that
are multiples of 2^-40, so that equal scores are equal bit for bit. A smaller order wins among equals.

A list keeps a little more than is shown (the k best and the one behind), best first. The lists of many pairs lie one
behind the other; list i stands from ``starts[i]`` to ``starts[i + 1]``, its first ``sizes[i]`` places are taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.exposure.queries.kernels.scoring import evenness_of, length_norm, match_part

__all__ = [
    "best_of_term",
    "count_partners",
    "count_term",
    "describe_lists",
    "fill_partners",
    "forget_slots",
    "list_pairs",
    "merge_singles",
    "score_posts",
]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Postings = tuple[Longs, Ints, Ints]
"""Starts, documents and frequencies of a segment; or starts, terms and frequencies of its rows."""


@njit(cache=True, nogil=True)
def insert(
    scores: Floats, orders: Longs, posts: Ints, begin: int, size: int, room: int, score: float, order: int, post: int
) -> int:
    """Put a post where it belongs in a list of at most ``room``, best first; the new size."""
    if size == room:
        last = begin + size - 1
        if score < scores[last] or (score == scores[last] and order > orders[last]):
            return size
        size -= 1
    here = begin + size
    while here > begin and (score > scores[here - 1] or (score == scores[here - 1] and order < orders[here - 1])):
        scores[here], orders[here], posts[here] = scores[here - 1], orders[here - 1], posts[here - 1]
        here -= 1
    scores[here], orders[here], posts[here] = score, order, post
    return size + 1


@njit(cache=True, nogil=True)
def best_of_term(
    postings: Postings,
    about: tuple[Ints, Marks, Longs],
    first: int,
    term: int,
    form: int,
    words: int,
    rate: float,
    length_parts: Floats,
    scores: Floats,
    orders: Longs,
    posts: Ints,
    size: int,
) -> int:
    """The best posts of one segment for a word, as if the query had so many ``words``; the new size of the list."""
    starts, documents, frequencies = postings
    lengths, deleted, precedence = about
    if term + 1 >= starts.size:
        return size
    for place in range(starts[term], starts[term + 1]):
        document = documents[place]
        if not deleted[document]:
            part = length_parts[lengths[document]]
            score = match_part(form, frequencies[place], rate, part)
            if score > 0.0:
                score += length_norm(form, words, part)
                order = precedence[document]
                size = insert(scores, orders, posts, 0, size, scores.size, score, order, first + document)
    return size


@njit(cache=True, nogil=True)
def count_partners(
    postings: Postings,
    rows: Postings,
    deleted: Marks,
    term: int,
    every: bool,  # noqa: FBT001 (compiled code takes no keywords)
    slots: Ints,
    partners: Ints,
    counts: Ints,
    number: int,
) -> int:
    """Count the posts of one segment that hold a word together with each of its partners.

    Partners that are asked for have a slot already, counted from 1, all others 0; with ``every`` these get the next
    slots. Gives the number of partners; the word itself must have none.
    """
    starts, documents, _ = postings
    row_starts, row_terms, _ = rows
    if term + 1 >= starts.size:
        return number
    for place in range(starts[term], starts[term + 1]):
        document = documents[place]
        if deleted[document]:
            continue
        for there in range(row_starts[document], row_starts[document + 1]):
            other = row_terms[there]
            slot = slots[other]
            if slot == 0:
                if not every or other == term:
                    continue
                partners[number] = other
                counts[number] = 0
                number += 1
                slot = number
                slots[other] = slot
            counts[slot - 1] += 1
    return number


@njit(cache=True, nogil=True)
def fill_partners(
    postings: Postings,
    rows: Postings,
    about: tuple[Ints, Marks, Longs],
    first: int,
    term: int,
    form: int,
    rates: Floats,
    length_parts: Floats,
    slots: Ints,
    starts: Longs,
    sizes: Ints,
    scores: Floats,
    orders: Longs,
    posts: Ints,
) -> None:
    """Let the posts of one segment that hold a word join the lists of it and each of its partners."""
    term_starts, documents, frequencies = postings
    row_starts, row_terms, row_frequencies = rows
    lengths, deleted, precedence = about
    if term + 1 >= term_starts.size:
        return
    for place in range(term_starts[term], term_starts[term + 1]):
        document = documents[place]
        if deleted[document]:
            continue
        part = length_parts[lengths[document]]
        mine = match_part(form, frequencies[place], rates[term], part)
        share, order, post = length_norm(form, 2, part), precedence[document], first + document
        for there in range(row_starts[document], row_starts[document + 1]):
            slot = slots[row_terms[there]] - 1
            if slot >= 0:
                score = mine + match_part(form, row_frequencies[there], rates[row_terms[there]], part)
                if score > 0.0:
                    begin, room = starts[slot], starts[slot + 1] - starts[slot]
                    sizes[slot] = insert(scores, orders, posts, begin, sizes[slot], room, score + share, order, post)


@njit(cache=True, nogil=True)
def forget_slots(slots: Ints, partners: Ints, number: int) -> None:
    """Leave the slots as they were before."""
    for slot in range(number):
        slots[partners[slot]] = 0


@njit(cache=True, nogil=True)
def join_single(
    single: tuple[Floats, Longs, Ints],
    both: Ints,
    scores: Floats,
    orders: Longs,
    posts: Ints,
    size: int,
    room: int,
) -> int:
    """Let the posts of one word join a list, save those that are in it with both words."""
    for at in range(single[2].size):
        post = single[2][at]
        known = False
        for there in range(both.size):
            known |= both[there] == post
        if not known:
            size = insert(scores, orders, posts, 0, size, room, single[0][at], single[1][at], post)
    return size


@njit(cache=True, nogil=True)
def merge_singles(
    both: tuple[Longs, Ints, Floats, Longs, Ints],
    mine: tuple[Floats, Longs, Ints],
    others: tuple[Longs, Floats, Longs, Ints],
    out: tuple[Longs, Floats, Longs, Ints, Marks],
    room: int,
) -> None:
    """The lists of a word with each of its partners: posts with both, with the one word, and with the other.

    ``others`` are the single lists of the partners, one behind the other. ``out`` has room for a full list a pair;
    what is written lies one list behind the other, as the first array says.
    """
    both_starts, both_sizes, both_scores, both_orders, both_posts = both
    other_starts, other_scores, other_orders, other_posts = others
    out_starts, out_scores, out_orders, out_posts, out_whole = out
    for pair in range(both_sizes.size):
        at, size = out_starts[pair], both_sizes[pair]
        scores, orders, posts = out_scores[at : at + room], out_orders[at : at + room], out_posts[at : at + room]
        begin = both_starts[pair]
        scores[:size] = both_scores[begin : begin + size]
        orders[:size] = both_orders[begin : begin + size]
        posts[:size] = both_posts[begin : begin + size]
        held = both_posts[begin : begin + size]
        size = join_single(mine, held, scores, orders, posts, size, room)
        low, high = other_starts[pair], other_starts[pair + 1]
        theirs = (other_scores[low:high], other_orders[low:high], other_posts[low:high])
        size = join_single(theirs, held, scores, orders, posts, size, room)
        for place in range(size):
            whole = False
            for there in range(held.size):
                whole |= held[there] == posts[place]
            out_whole[at + place] = whole
        out_starts[pair + 1] = at + size


@njit(cache=True, nogil=True)
def score_posts(
    rows: Postings,
    about: tuple[Ints, Marks, Longs],
    first: int,
    asked: tuple[Ints, Ints, Ints],
    form: int,
    words: int,
    rates: Floats,
    length_parts: Floats,
    out: tuple[Floats, Longs, Ints],
) -> None:
    """The scores, orders and number of words held, for those of many posts that lie in one segment.

    ``asked`` are posts, the one word each is scored for, and the other (-1 for none).
    """
    starts, terms, frequencies = rows
    lengths, _, precedence = about
    posts, ones, others = asked
    scores, orders, held = out
    for at in range(posts.size):
        document = posts[at] - first
        if not 0 <= document < lengths.size:
            continue
        part, score, number = length_parts[lengths[document]], 0.0, 0
        for there in range(starts[document], starts[document + 1]):
            if terms[there] == ones[at] or terms[there] == others[at]:
                score += match_part(form, frequencies[there], rates[terms[there]], part)
                number += 1
        scores[at] = score + length_norm(form, words, part)
        orders[at] = precedence[document]
        held[at] = number


@njit(cache=True, nogil=True)
def count_term(postings: Postings, deleted: Marks, term: int) -> int:
    """How many posts of one segment hold a word."""
    starts, documents, _ = postings
    number = 0
    if term + 1 < starts.size:
        for place in range(starts[term], starts[term + 1]):
            number += not deleted[documents[place]]
    return number


@njit(cache=True, nogil=True)
def describe_lists(
    starts: Longs, scores: Floats, k: int, certain: NDArray[np.uint8], evenness: NDArray[np.uint8]
) -> None:
    """How many of the first k of every list are there however ties fall, and how even their scores are."""
    for number in range(starts.size - 1):
        begin = starts[number]
        size = starts[number + 1] - begin
        shown = min(size, k)
        sure = shown
        while size > k and sure > 0 and scores[begin + sure - 1] == scores[begin + k]:
            sure -= 1
        certain[number] = sure
        evenness[number] = evenness_of(scores[begin : begin + shown], shown)


@njit(cache=True, nogil=True)
def list_pairs(starts: Longs, terms: Ints, spread: Longs, keys: Longs) -> None:
    """All pairs of words that rows hold, the rarer word in the upper half of a key; ``spread`` is by place in a row."""
    put = 0
    for row in range(starts.size - 1):
        for one in range(starts[row], starts[row + 1]):
            for other in range(one + 1, starts[row + 1]):
                upper, lower = terms[one], terms[other]
                if (spread[one], upper) > (spread[other], lower):
                    upper, lower = lower, upper
                keys[put] = (np.int64(upper) << 32) + lower
                put += 1
