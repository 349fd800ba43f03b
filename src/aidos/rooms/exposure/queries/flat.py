"""The collection as the sweep reads it: flat rows and postings in memory, and the best posts of every word.

About twenty-five bytes for every distinct word of every post, so some gigabyte for five million short posts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aidos.engine.sealed import damage
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import Collection, parse_scorer
from aidos.model.retrieval.threads import in_chunks
from aidos.rooms.exposure.queries.arrays import load_statistics, open_index, save_arrays
from aidos.rooms.exposure.queries.kernels.flat import fill_rows, invert_rows
from aidos.rooms.exposure.queries.kernels.scoring import UNLISTED, best_singles, length_norm
from aidos.rooms.exposure.queries.layout import AGAIN
from aidos.rooms.exposure.queries.manifest import Facts

__all__ = ["Flat", "flatten", "save_singles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
POSTS_AT_ONCE = 65_536
WORDS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flat:
    """Rows stand in the order of ties; words go by number."""

    form: int
    rows: tuple[Longs, Ints, Floats, Bytes, Ints]
    """Starts; of every entry the word, what it adds to a score, and the place in the word's list; lengths by row."""
    postings: tuple[Longs, Ints, Ints]
    """Starts by word; the rows that hold it, and where in the row."""
    work: Longs
    """Pairs of words that begin with the word, in all posts."""
    norms: tuple[Floats, Floats]
    """By length: what it adds for a query of one word, and of two."""
    one: tuple[Floats, Ints]
    """Scores and rows of the best posts for the word alone, [words, k + 1]."""
    two: tuple[Floats, Ints]
    """The same as what it brings to a query of two words."""
    numbers: Ints
    """The post of every row."""

    @property
    def words(self) -> int:
        return len(self.work)


def flatten(target: Path, facts: Facts, threads: int | None) -> Flat:
    """Read the index of a directory that is prepared."""
    arrays = load_statistics(target, facts)
    reference = Collection(
        documents=facts.documents,
        tokens=facts.tokens,
        term_counts=arrays["term_counts"],
        document_counts=arrays["document_counts"],
    )
    index, scorer = open_index(target, facts, facts.words), parse_scorer(facts.settings.scorer)
    longest = max((segment.longest for segment in index.segments), default=0)
    by_length = np.arange(longest + 1, dtype=np.int64)
    # Without a word there is no mean length to go by, and no score.
    parts = scorer.length_parts(reference.mean_length, by_length) if facts.tokens else np.zeros(longest + 1)
    norms = tuple(np.array([length_norm(scorer.form, words, part) for part in parts]) for words in (1.0, 2.0))
    numbers = np.argsort(arrays["precedence"]).astype(np.int32)
    rates = scorer.rates(reference, np.arange(facts.words))
    rows, lengths = _rows(index, numbers, arrays["word_numbers"], (scorer.form, rates, parts), threads)
    del index
    if not np.array_equal(np.bincount(rows[1], minlength=facts.words), arrays["document_counts"]):
        raise damage(target, "its index and its statistics do not belong together", AGAIN)
    postings, work = _postings(rows, arrays["document_counts"], threads)
    flat = Flat(
        form=scorer.form,
        rows=(*rows, np.full(len(rows[1]), UNLISTED, dtype=np.uint8), lengths),
        postings=postings,
        work=work,
        norms=(norms[0], norms[1]),
        one=_lists(facts),
        two=_lists(facts),
        numbers=numbers,
    )
    _fill_singles(flat, threads)
    return flat


def save_singles(flat: Flat, target: Path) -> None:
    """Keep the best posts of every word for those who look queries up later."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, (scores, rows) in {"one": flat.one, "two": flat.two}.items():
        posts = np.where(rows >= 0, flat.numbers[np.maximum(rows, 0)], np.int32(-1)) if rows.size else rows
        arrays |= {f"{name}_posts": posts, f"{name}_scores": scores}
    save_arrays(target / "singles", arrays)


def _rows(
    index: Index, numbers: Ints, word_numbers: Ints, scoring: tuple[int, Floats, Floats], threads: int | None
) -> tuple[tuple[Longs, Ints, Floats], Ints]:
    ranks = np.empty_like(numbers)
    ranks[numbers] = np.arange(len(numbers), dtype=np.int32)
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(forward.starts) for forward in index.forwards)])
    lengths = np.concatenate([np.zeros(0, np.int32), *(segment.lengths for segment in index.segments)])
    starts = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(sizes[numbers], out=starts[1:])
    words, parts = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
    first = 0
    for forward, segment in zip(index.forwards, index.segments, strict=True):
        read = (forward.starts, forward.terms, forward.frequencies, segment.lengths)

        def fill(begin: int, end: int, first: int = first, read: tuple[Longs, Ints, Ints, Ints] = read) -> None:
            fill_rows((begin, end, first), read, ranks, word_numbers, scoring, (starts, words, parts))

        in_chunks(lambda: fill, len(segment), POSTS_AT_ONCE, threads)
        first += len(segment)
    return (starts, words, parts), lengths[numbers]


def _postings(
    rows: tuple[Longs, Ints, Floats], document_counts: Longs, threads: int | None
) -> tuple[tuple[Longs, Ints, Ints], Longs]:
    starts = np.concatenate([[0], np.cumsum(document_counts)]).astype(np.int64)
    documents, places = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.int32)
    work, cursor = np.zeros(len(document_counts), dtype=np.int64), starts[:-1].copy()
    # Halves by postings, not by words: the frequent ones are few.
    middle = int(np.searchsorted(starts, starts[-1] // 2))
    bounds = [0, middle, len(document_counts)]

    def fill(begin: int, end: int) -> None:
        for half in range(begin, end):
            invert_rows(bounds[half], bounds[half + 1], rows[:2], cursor, documents, places, work)

    in_chunks(lambda: fill, 2, 1, threads)
    return (starts, documents, places), work


def _lists(facts: Facts) -> tuple[Floats, Ints]:
    shape = (facts.words, facts.settings.k + 1)
    return np.zeros(shape), np.full(shape, -1, dtype=np.int32)


def _fill_singles(flat: Flat, threads: int | None) -> None:
    row_starts, _, parts, listed, lengths = flat.rows

    def fill(begin: int, end: int) -> None:
        best_singles(
            begin, end, flat.form, (row_starts, parts, lengths), flat.postings, flat.norms, flat.one, flat.two, listed
        )

    # Neighbours weigh about the same, but the last words weigh most: small pieces keep all threads busy.
    in_chunks(lambda: fill, flat.words, min(WORDS_AT_ONCE, max(1, flat.words // 64)), threads)
