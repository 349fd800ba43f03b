"""The result lists of all queries that begin with some words: every pair of words in a post is touched once.

For a first word, its posts are scanned; the words behind it in each post are the second words, and each of these has a
buffer of its best posts with both. A result list of a pair is a merge of that buffer with the best posts of either word
alone, those that hold both left out. It is exact: where a post with one of the words is not in that word's list, k + 1
posts are, each of which scores at least as well for the pair and comes first if equal, since no match takes away.

One place more than k is kept everywhere: a post is certain to be returned when its score differs from that of place
k + 1, and otherwise it is a matter of how ties are broken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.exposure.queries.kernels.scoring import UNLISTED, evenness_of, insert

__all__ = ["sweep"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Masks = NDArray[np.uint64]
Flat = tuple[Longs, Ints, Floats, Bytes, Ints]
"""Of the rows: starts, words, parts, place in the word's list; and the length of every post."""
State = tuple[Ints, Ints, Ints, Masks, Floats, Ints, Longs, Floats, Ints, Bytes]
"""Slot of every second word (-1 for none); of the slots: word, posts, marks of the lists, scores, rows; sorted keys;
the result list: scores, rows, whether whole."""
Out = tuple[Ints, Ints, Ints, Bytes, Bytes, Longs, Ints, Bytes]
"""Queries: first, second, documents, evenness, certain, starts; results: post, whole."""
HALF = 32
LOW = 0xFFFFFFFF
BITS = 6
LAST = np.int32(2**31 - 1)
ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def next_alone(rows: Ints, masks: Masks, base: int, at: int) -> int:
    """The next place of a word's list whose post holds that word alone; the length of the list if there is none."""
    while at < len(rows) and rows[at] >= 0:
        if (masks[base + (at >> BITS)] >> np.uint64(at & 63)) & ONE == 0:
            return at
        at += 1
    return len(rows)


@njit(cache=True, nogil=True)
def head(scores: Floats, rows: Ints, at: int, end: int) -> tuple[float, np.int32]:
    """What a list offers next; at its end, what is never taken."""
    if at < end:
        return scores[at], rows[at]
    return -math.inf, LAST


@njit(cache=True, nogil=True)
def is_before(score: float, row: np.int32, other_score: float, other_row: np.int32) -> np.bool_:
    """Whether the first comes before the second."""
    return (score > other_score) | ((score == other_score) & (row < other_row))


@njit(cache=True, nogil=True)
def scan(word: int, flat: Flat, postings: tuple[Longs, Ints, Ints], norms: Floats, state: State) -> int:
    """Fill the buffers of all second words of a first one; how many there are."""
    row_starts, words, parts, listed, lengths = flat
    starts, documents, places = postings
    slots, seconds, counts, masks, scores, rows = state[:6]
    room, half = scores.shape[1], masks.shape[1] // 2
    used = 0
    for at in range(starts[word], starts[word + 1]):
        row = documents[at]
        entry, last = row_starts[row] + places[at], row_starts[row + 1]
        base, mine = parts[entry] + norms[lengths[row]], listed[entry]
        for other in range(entry + 1, last):
            second = words[other]
            slot = slots[second]
            if slot < 0:
                slot = used
                used += 1
                slots[second], seconds[slot], counts[slot] = slot, second, 0
                masks[slot] = 0
            if mine != UNLISTED:
                masks[slot, mine >> BITS] |= ONE << np.uint64(mine & 63)
            if listed[other] != UNLISTED:
                masks[slot, half + (listed[other] >> BITS)] |= ONE << np.uint64(listed[other] & 63)
            insert(scores[slot], rows[slot], min(counts[slot], room), base + parts[other], row)
            counts[slot] += 1
    return used


@njit(cache=True, nogil=True)
def in_order(word: int, used: int, state: State) -> None:
    """Sort the second words, and forget their slots."""
    slots, seconds, keys = state[0], state[1], state[6]
    behind = len(slots) - word - 1
    if 16 * used > behind:
        found = 0
        for second in range(word + 1, len(slots)):
            if slots[second] >= 0:
                keys[found] = (np.int64(second) << HALF) | np.int64(slots[second])
                slots[second] = -1
                found += 1
        return
    for slot in range(used):
        keys[slot] = (np.int64(seconds[slot]) << HALF) | np.int64(slot)
        slots[seconds[slot]] = -1
    keys[:used].sort()


@njit(cache=True, nogil=True)
def merge(pair: tuple[int, int, int], either: int, floor: float, singles: tuple[Floats, Ints], state: State) -> int:
    """The result list of a pair (first word, second word, slot), one place more than needed; its size."""
    first, second, slot = pair
    counts, masks, scores, rows = state[2], state[3], state[4], state[5]
    list_scores, list_rows, list_whole = state[7], state[8], state[9]
    room, half = scores.shape[1], masks.shape[1] // 2
    first_scores, first_rows = singles[0][first], singles[1][first]
    second_scores, second_rows = singles[0][second], singles[1][second]
    both, of_both, size = min(counts[slot], room), 0, 0
    of_first = next_alone(first_rows, masks[slot], 0, 0) if either else room
    of_second = next_alone(second_rows, masks[slot], half, 0) if either else room
    score, row = head(scores[slot], rows[slot], 0, both)
    first_score, first_row = head(first_scores, first_rows, of_first, room)
    second_score, second_row = head(second_scores, second_rows, of_second, room)
    while size < room:
        if is_before(first_score, first_row, second_score, second_row):
            if is_before(first_score, first_row, score, row):
                list_scores[size], list_rows[size], list_whole[size] = first_score, first_row, 0
                of_first = next_alone(first_rows, masks[slot], 0, of_first + 1)
                first_score, first_row = head(first_scores, first_rows, of_first, room)
                size += 1
                continue
        elif is_before(second_score, second_row, score, row):
            list_scores[size], list_rows[size], list_whole[size] = second_score, second_row, 0
            of_second = next_alone(second_rows, masks[slot], half, of_second + 1)
            second_score, second_row = head(second_scores, second_rows, of_second, room)
            size += 1
            continue
        if score <= floor:
            break
        list_scores[size], list_rows[size], list_whole[size] = score, row, 1
        of_both += 1
        score, row = head(scores[slot], rows[slot], of_both, both)
        size += 1
    return size


@njit(cache=True, nogil=True)
def write(query: tuple[int, int, int, int], size: int, depth: int, state: State, numbers: Ints, out: Out) -> None:
    """Write down one query and its results: post numbers, and how many of them are certain."""
    at, first, second, documents = query
    list_scores, list_rows, list_whole = state[7], state[8], state[9]
    firsts, seconds, selectivity, evenness, certain, starts, posts, whole = out
    kept = min(size, depth)
    sure = kept
    if size > depth:
        while sure > 0 and list_scores[sure - 1] == list_scores[depth]:
            sure -= 1
    firsts[at], seconds[at], selectivity[at] = first, second, documents
    evenness[at], certain[at] = evenness_of(list_scores, kept), sure
    into = starts[at]
    for place in range(kept):
        posts[into + place] = numbers[list_rows[place]]
        whole[into + place] = list_whole[place]
    starts[at + 1] = into + kept


@njit(cache=True, nogil=True)
def sweep(
    chunk: tuple[int, int, int],
    asked: tuple[int, int, float],
    flat: Flat,
    postings: tuple[Longs, Ints, Ints],
    norms: Floats,
    one: tuple[Floats, Ints],
    two: tuple[Floats, Ints],
    numbers: Ints,
    state: State,
    out: Out,
) -> int:
    """All queries whose first word is one of some, by first and second word; how many.

    ``chunk`` gives the first word, the end, and what stands for no second word; ``asked`` how many results are kept,
    whether one of two words is enough, and the score that all results must exceed.
    """
    begin, end, no_word = chunk
    depth, either, floor = asked
    starts = postings[0]
    one_scores, one_rows = one
    list_scores, list_rows, list_whole = state[7], state[8], state[9]
    at = 0
    for word in range(begin, end):
        size = 0
        while size < len(list_rows) and one_rows[word, size] >= 0:
            list_scores[size], list_rows[size], list_whole[size] = one_scores[word, size], one_rows[word, size], 1
            size += 1
        write((at, word, no_word, starts[word + 1] - starts[word]), size, depth, state, numbers, out)
        at += 1
        used = scan(word, flat, postings, norms, state)
        in_order(word, used, state)
        for place in range(used):
            second, slot = state[6][place] >> HALF, state[6][place] & LOW
            size = merge((word, second, slot), either, floor, two, state)
            write((at, word, second, state[2][slot]), size, depth, state, numbers, out)
            at += 1
    return at
