"""The compiled loops of text analysis: over the bytes of UTF-8, into a table of distinct words.

Distinct words lie one after the other in ``store``, word i from ``offsets[i]`` to ``offsets[i + 1]``. The table is open
addressing: a slot holds the upper half of a word's hash and its number + 1, or zero. Bytes are compared as well, so
that words with one hash stay two words. Whoever calls has reserved room: `scan` needs two bytes for every byte of text,
since a small letter may take more bytes than a capital, and a bound for every second byte.

Broken UTF-8 does no harm: a byte that begins no character parts words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.model.text.analyser import APOSTROPHE, LETTER, MARK, NUMBER, OTHER

__all__ = ["find_all", "fresh_table", "intern_all", "rehash", "scan", "translate"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Slots = NDArray[np.uint64]
Whole = int | np.int64

LARGEST = 0x10FFFF
SEED = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
MIX = np.uint64(0xFF51AFD7ED558CCD)
HALF = np.uint64(32)
THIRD = np.uint64(29)
LOW = np.uint64(0xFFFFFFFF)
ZERO = np.uint64(0)
SMALLEST_TABLE = 64


def fresh_table(entries: int) -> Slots:
    """An empty table with room for so many words."""
    return np.zeros(max(SMALLEST_TABLE, 1 << (2 * entries).bit_length()), dtype=np.uint64)


@njit(cache=True)
def _settled(running: np.uint64) -> np.uint64:
    """Spread what the bytes left into all bits."""
    mixed = (running ^ (running >> HALF)) * MIX
    return mixed ^ (mixed >> THIRD)


@njit(cache=True)
def _hashed(data: Bytes, begin: int, end: int) -> np.uint64:
    running = SEED
    for place in range(begin, end):
        running = (running ^ np.uint64(data[place])) * PRIME
    return _settled(running)


@njit(cache=True)
def _slot(data: Bytes, begin: int, end: int, code: np.uint64, store: Bytes, offsets: Longs, table: Slots) -> Whole:
    """Where the word is in the table, or the empty slot where it would be."""
    mask = np.uint64(table.size - 1)
    slot = np.int64(code & mask)
    while table[slot] != ZERO:
        if table[slot] >> HALF == code >> HALF:
            word = np.int64(table[slot] & LOW) - 1
            there = offsets[word]
            if offsets[word + 1] - there == end - begin:
                same = 0
                while same < end - begin and store[there + same] == data[begin + same]:
                    same += 1
                if same == end - begin:
                    return slot
        slot = (slot + 1) & (table.size - 1)
    return slot


@njit(cache=True)
def rehash(store: Bytes, offsets: Longs, count: int, slots: int) -> Slots:
    """A table of that many slots for the words of a store, which are all different."""
    table = np.zeros(slots, dtype=np.uint64)
    for word in range(count):
        code = _hashed(store, offsets[word], offsets[word + 1])
        slot = np.int64(code & np.uint64(slots - 1))
        while table[slot] != ZERO:
            slot = (slot + 1) & (slots - 1)
        table[slot] = (code >> HALF << HALF) | np.uint64(word + 1)
    return table


@njit(cache=True)
def scan(
    data: Bytes, bounds: Longs, kinds: Bytes, small: Ints, words: Bytes, ends: Longs, starts: Longs
) -> tuple[int, int]:
    """Write the words of texts ``bounds[i]`` to ``bounds[i + 1]`` one behind the other, in small letters.

    Word i goes from ``ends[i]`` to ``ends[i + 1]`` of ``words``; text i begins with word ``starts[i]``. Gives how many
    words and how many bytes of them there are.
    """
    number, end = 0, 0
    ends[0] = 0
    for text in range(bounds.size - 1):
        starts[text] = number
        place, stop = bounds[text], bounds[text + 1]
        before: Whole = np.int64(OTHER)
        while place < stop or before != OTHER:
            while place < stop and data[place] < 0x80 and _in_word(kinds[data[place]]):
                # Nearly all characters of most texts go this way.
                before = np.int64(kinds[data[place]])
                words[end] = small[data[place]]
                end, place = end + 1, place + 1
            point, width, kind = _read(data, place, stop, kinds, before)
            place += width
            if kind != OTHER:
                end = _encode(small[point], words, end)
            elif before != OTHER:
                number += 1
                ends[number] = end
            before = kind
    starts[bounds.size - 1] = number
    return number, end


@njit(cache=True)
def _in_word(kind: int) -> bool:
    return kind in (LETTER, NUMBER)


@njit(cache=True)
def _read(data: Bytes, place: int, stop: int, kinds: Bytes, before: Whole) -> tuple[Whole, int, Whole]:
    """The next code point, its bytes, and what it is to the word so far; behind the text stands a blank."""
    if place == stop:
        return 32, 0, OTHER
    point, width = _decoded(data, place, stop)
    kind = np.int64(kinds[point])
    if kind == MARK and before == OTHER:
        return point, width, OTHER
    if kind == APOSTROPHE:
        between = before in (LETTER, MARK) and place + width < stop
        if not between or kinds[_decoded(data, place + width, stop)[0]] != LETTER:
            return point, width, OTHER
    return point, width, kind


@njit(cache=True)
def intern_all(
    data: Bytes, bounds: Longs, store: Bytes, offsets: Longs, table: Slots, found: Ints, done: int, count: int
) -> tuple[int, int]:
    """Number whole strings from ``done`` on, new ones after the ``count`` that are there.

    Gives how many strings are done and how many different ones there are now: less than all are done when the table is
    half full and has to grow first.
    """
    for text in range(done, bounds.size - 1):
        begin, end = bounds[text], bounds[text + 1]
        code = _hashed(data, begin, end)
        slot = _slot(data, begin, end, code, store, offsets, table)
        if table[slot] == ZERO:
            there = offsets[count]
            count += 1
            table[slot] = (code >> HALF << HALF) | np.uint64(count)
            for further in range(end - begin):
                store[there + further] = data[begin + further]
            offsets[count] = there + end - begin
        found[text] = np.int64(table[slot] & LOW) - 1
        if 2 * count > table.size:
            return text + 1, count
    return bounds.size - 1, count


@njit(cache=True)
def find_all(data: Bytes, bounds: Longs, store: Bytes, offsets: Longs, table: Slots, found: Ints) -> None:
    """The numbers of whole strings; -1 for those that are not there."""
    for text in range(bounds.size - 1):
        begin, end = bounds[text], bounds[text + 1]
        slot = _slot(data, begin, end, _hashed(data, begin, end), store, offsets, table)
        found[text] = np.int64(table[slot] & LOW) - 1


@njit(cache=True)
def translate(found: Ints, starts: Longs, meanings: Ints) -> int:
    """Put terms in place of words, in place, without those that mean nothing (-1); gives how many are left."""
    left = 0
    place = 0
    for text in range(starts.size - 1):
        end = starts[text + 1]
        starts[text] = left
        while place < end:
            meaning = meanings[found[place]]
            if meaning >= 0:
                found[left] = meaning
                left += 1
            place += 1
    starts[starts.size - 1] = left
    return left


@njit(cache=True)
def _decoded(data: Bytes, place: int, stop: int) -> tuple[Whole, int]:
    """The code point at a place and how many bytes it takes; a blank for a byte that begins none."""
    first = np.int64(data[place])
    if first < 0x80:
        return first, 1
    width = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    if first < 0xC0 or first > 0xF7 or place + width > stop:
        return 32, 1
    point = first & (0xFF >> (width + 1))
    for further in range(1, width):
        byte = np.int64(data[place + further])
        if byte & 0xC0 != 0x80:
            return 32, 1
        point = (point << 6) | (byte & 0x3F)
    return (point, width) if point <= LARGEST else (32, 1)


@njit(cache=True)
def _encode(point: int, store: Bytes, place: int) -> int:
    """Write a code point; gives the place behind it."""
    if point < 0x80:
        store[place] = point
        return place + 1
    if point < 0x800:
        store[place] = 0xC0 | (point >> 6)
        store[place + 1] = 0x80 | (point & 0x3F)
        return place + 2
    if point < 0x10000:
        store[place] = 0xE0 | (point >> 12)
        store[place + 1] = 0x80 | ((point >> 6) & 0x3F)
        store[place + 2] = 0x80 | (point & 0x3F)
        return place + 3
    store[place] = 0xF0 | (point >> 18)
    store[place + 1] = 0x80 | ((point >> 12) & 0x3F)
    store[place + 2] = 0x80 | ((point >> 6) & 0x3F)
    store[place + 3] = 0x80 | (point & 0x3F)
    return place + 4
