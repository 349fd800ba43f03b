"""Counted queries and pairs of queries as numbers, so that ten million pairs are counted by arrays and not by strings.

A query is the sequence of its words, as white space divides it: queries that differ in white space only are one query.
Words and queries get numbers in no particular order; nothing that is told to anybody may depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError

__all__ = ["CodedLog", "Longs", "Strings", "code_log", "spell"]

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
