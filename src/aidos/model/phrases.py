"""Phrases: neighbouring words that belong together, by their mutual information.

The words a and b, in this order, are one phrase when

    log2( P(ab) / (P(a) P(b)) )

reaches a number of bits: P(a) is the share of a among all words that were asked, P(ab) that of the two among all
neighbouring words (Jones et al. 2006 segment queries so; Götz et al. 2012 follow them). A phrase goes on as long as
each word joins the one before it. Mutual information is largest for words that nearly nobody used, so neighbours that
were asked too rarely stay apart.

Where this differs: Götz et al. give neither the number of bits nor the least count; 8 bits and 5 are chosen on the
sample log, where they join about one in ten of the frequent neighbours. Götz et al. speak of sets of words; here the
order of words counts, as it does in what people type.

Queries and pairs of queries are coded as numbers, so that ten million pairs are counted by arrays and not by strings. A
query is the sequence of its words, as white space divides it: queries that differ in white space only are one query.
Words and queries get numbers in no particular order; nothing that is told to anybody may depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError

__all__ = [
    "CodedLog",
    "CodedPhrases",
    "Joining",
    "Longs",
    "Phrases",
    "Strings",
    "code_log",
    "mutual_information",
    "spell",
]

Longs: TypeAlias = NDArray[np.int64]
Strings: TypeAlias = "pa.Array[Any]"

QUERY, NEXT, COUNT = "user_query", "next_query", "count"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedLog:
    """A counted log in numbers."""

    texts: Strings
    """The distinct queries, words parted by one blank."""
    starts: Longs
    """Where the words of each query begin in ``words``; one more entry says where the last end."""
    words: Longs
    """Numbers of the words of all queries, one query after the other."""
    vocabulary: Strings
    """The words."""
    counts: Longs
    """How often each query was asked; 0 where only the pairs know it."""
    left: Longs
    """First queries of the pairs."""
    right: Longs
    """Next queries of the pairs: never the first one again."""
    times: Longs
    """How often each pair was seen; a pair may be in several rows."""


def code_log(queries: pa.Table | None, pairs: pa.Table) -> CodedLog:
    """Number queries and words of ``user_query, count`` and ``user_query, next_query, count``.

    Rows with a count below 1 (noise makes such) or without a text are left out, as are pairs of a query with itself.
    Without counted queries, a query counts as often as the pairs have it, on either side.
    """
    pairs = _usable(pairs, (QUERY, NEXT))
    asked = pairs.slice(0, 0) if queries is None else _usable(queries, (QUERY,))
    parts = [asked.column(QUERY), pairs.column(QUERY), pairs.column(NEXT)]
    texts, lists, numbers = _distinct([chunk for part in parts for chunk in part.chunks])
    ends = np.cumsum([len(part) for part in parts])
    asked_numbers, left, right = np.split(numbers, ends[:-1])
    times = _numbers(pairs.column(COUNT))
    counts = _sums(asked_numbers, _numbers(asked.column(COUNT)), len(texts))
    if queries is None:
        counts = _sums(left, times, len(texts)) + _sums(right, times, len(texts))
    # A text of white space alone stays as a query of one empty word that nobody asked and no pair has.
    empty = texts.index("").as_py()
    counts[np.arange(len(texts)) == empty] = 0
    kept = (left != right) & (left != empty) & (right != empty)
    words: Any = lists.values.dictionary_encode()
    return CodedLog(
        texts=texts,
        starts=_numbers(lists.offsets),
        words=_numbers(words.indices),
        vocabulary=words.dictionary,
        counts=counts,
        left=left[kept],
        right=right[kept],
        times=times[kept],
    )


def spell(log: CodedLog, firsts: Longs, lengths: Longs) -> list[str]:
    """The texts of stretches of ``log.words``, parted by blanks."""
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(firsts - bounds[:-1], lengths) + np.arange(bounds[-1])
    words = log.vocabulary.take(pa.array(log.words[places]))
    spelled: list[str] = _joined(pa.LargeListArray.from_arrays(pa.array(bounds), words)).to_pylist()
    return spelled


def _usable(table: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    if missing := [name for name in (*columns, COUNT) if name not in table.column_names]:
        raise InputError(
            f"the counted table has no column {', '.join(missing)}", hint=f"it has {', '.join(table.column_names)}"
        )
    if not pa.types.is_integer(table.schema.field(COUNT).type):
        raise InputError("counts must be whole numbers", hint=f"cast the column {COUNT} to integers")
    chosen = table.select([*columns, COUNT]).drop_null()
    chosen = chosen.filter(pc.greater(chosen.column(COUNT), pa.scalar(0)))
    texts = {name: chosen.column(name).cast(pa.large_string()) for name in columns}
    return pa.table({**texts, COUNT: chosen.column(COUNT).cast(pa.int64())})


def _distinct(chunks: list[Strings]) -> tuple[Any, Any, Longs]:
    """The distinct queries, their words, and for each given text the number of its query."""
    coded: Any = pa.chunked_array(chunks, type=pa.large_string()).dictionary_encode()
    numbers = np.concatenate([np.zeros(0, np.int64), *(_numbers(chunk.indices) for chunk in coded.chunks)])
    given: Any = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.large_string())
    lists = _words(given)
    neat = _joined(lists)
    if neat.equals(given):
        return given, lists, numbers
    again = neat.dictionary_encode()
    return again.dictionary, _words(again.dictionary), _numbers(again.indices)[numbers]


def _words(texts: Any) -> Any:
    """Lists of words; that of an empty text has one empty word."""
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def _joined(lists: Any) -> Any:
    """The words of each list with a blank between."""
    return pc.binary_join(lists, pa.scalar(" ", pa.large_string()))


def _numbers(values: Any) -> Longs:
    found: Longs = np.asarray(values.to_numpy(), dtype=np.int64)
    return found


def _sums(places: Longs, amounts: Longs, size: int) -> Longs:
    """Whole numbers added up by place; exact up to 2^53."""
    return np.bincount(places, weights=amounts, minlength=size).astype(np.int64)


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """When neighbouring words are one phrase."""

    least_information: float = 8.0
    """Bits of mutual information that neighbouring words need, at least."""
    least_count: Annotated[int, Ge(1)] = 5
    """How often they must have been asked together, at least."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True)
class Phrases:
    """What was learned: which words go with which."""

    joined: frozenset[tuple[str, str]]
    """Neighbouring words that are in one phrase."""

    def split(self, query: str) -> tuple[str, ...]:
        """The phrases of a query, known or not, in order; words are parted by one blank."""
        words = query.split()
        if not words:
            return ()
        found = [words[0]]
        for before, word in pairwise(words):
            if (before, word) in self.joined:
                found[-1] += f" {word}"
            else:
                found.append(word)
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedPhrases:
    """The phrases of all queries of a log, in numbers."""

    phrases: Phrases
    """The same in words, for queries that the log does not have."""
    starts: Longs
    """Where the phrases of each query begin in ``numbers``; one more entry says where the last end."""
    numbers: Longs
    """The phrases of all queries, one query after the other; the same words have the same number."""
    firsts: Longs
    """For each number, where its words begin somewhere in the log's ``words``."""
    lengths: Longs
    """For each number, how many words it has."""

    @classmethod
    def of(cls, log: CodedLog, joining: Joining) -> CodedPhrases:
        """Learn the phrases from the counted queries and divide every query, also those that only pairs have."""
        words = log.words
        opens = np.zeros(len(words) + 1, dtype=bool)
        opens[log.starts] = True
        keys, place = np.unique(_neighbours(log, opens), return_inverse=True)
        together = keys[_joins(log, opens, keys, place, joining)]
        inner = np.flatnonzero(~opens[1:-1]) + 1
        opens[inner] = ~np.isin(keys, together, assume_unique=True)[place]
        firsts = np.flatnonzero(opens[:-1])
        lengths = np.diff(np.append(firsts, len(words)))
        numbers, where = _numbered(words, firsts, lengths, len(log.vocabulary))
        return cls(
            phrases=Phrases(_pairs_of_words(log, together)),
            starts=np.searchsorted(firsts, log.starts),
            numbers=numbers,
            firsts=firsts[where],
            lengths=lengths[where],
        )


def mutual_information(
    together: ArrayLike, first: ArrayLike, second: ArrayLike, *, all_words: float, all_neighbours: float
) -> Floats:
    """Bits of pointwise mutual information from counts: of neighbours, of either word, and of all."""
    pair, one, other = (np.asarray(each, dtype=np.float64) for each in (together, first, second))
    found: Floats = np.log2(pair / all_neighbours) - np.log2(one / all_words) - np.log2(other / all_words)
    return found


def _neighbours(log: CodedLog, opens: NDArray[np.bool_]) -> Longs:
    """One number for each two neighbouring words of a query, in order."""
    inner = np.flatnonzero(~opens[1:-1])
    found: Longs = log.words[inner] * len(log.vocabulary) + log.words[inner + 1]
    return found


def _joins(log: CodedLog, opens: NDArray[np.bool_], keys: Longs, place: Longs, joining: Joining) -> NDArray[np.bool_]:
    """For each kind of neighbours, whether they are one phrase."""
    weights = np.repeat(log.counts, np.diff(log.starts)).astype(np.float64)
    words = np.bincount(log.words, weights=weights, minlength=len(log.vocabulary))
    together = np.bincount(place, weights=weights[np.flatnonzero(~opens[1:-1])], minlength=len(keys))
    enough = together >= joining.least_count
    first, second = np.divmod(keys[enough], max(len(log.vocabulary), 1))
    bits = mutual_information(
        together[enough], words[first], words[second], all_words=words.sum(), all_neighbours=together.sum()
    )
    found = np.zeros(len(keys), dtype=bool)
    found[np.flatnonzero(enough)[bits >= joining.least_information]] = True
    return found


def _numbered(words: Longs, firsts: Longs, lengths: Longs, vocabulary: int) -> tuple[Longs, Longs]:
    """Numbers of stretches of words, and for each number one stretch that has it.

    Word by word: what was read so far has a number, and it and the next word give the next one.
    """
    numbers = words[firsts]
    used, longest = vocabulary, int(lengths.max(initial=0))
    still = np.arange(len(firsts))
    for read in range(1, longest):
        still = still[lengths[still] > read]
        keys = numbers[still] * vocabulary + words[firsts[still] + read]
        kinds, place = np.unique(keys, return_inverse=True)
        numbers[still] = used + place
        used += len(kinds)
    _, where, dense = np.unique(numbers, return_index=True, return_inverse=True)
    return dense.astype(np.int64), where.astype(np.int64)


def _pairs_of_words(log: CodedLog, keys: Longs) -> frozenset[tuple[str, str]]:
    first, second = np.divmod(keys, max(len(log.vocabulary), 1))
    words = [log.vocabulary.take(part).to_pylist() for part in (first, second)]
    return frozenset(zip(*words, strict=True))
