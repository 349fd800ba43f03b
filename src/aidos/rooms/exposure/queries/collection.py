"""From a table of posts to everything the computation reads: numbered posts, members, words, index, statistics.

Posts are sorted by author, time and id and numbered, so that all posts of a member stand together; the same posts give
the same numbers in whatever order they come. One pass writes the posts away and indexes them, in bounded memory. The
text of a post is its title and its text; beyond the longest post that is looked at, it is cut and counted.

The statistics are pinned: scores go by what the collection looked like when it was computed, also after changes, so
that a change touches the queries of its own words and no others. A new computation takes new statistics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.model.retrieval.building import read_size
from aidos.model.retrieval.index import Index
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Strings, Vocabulary
from aidos.rooms.exposure.queries.arrays import parquet_writer, save_arrays
from aidos.rooms.exposure.queries.examining import searched_text
from aidos.rooms.exposure.queries.layout import BETWEEN, POST_COLUMNS
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["Prepared", "cut_texts", "prepare"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

BATCH = 65_536
ROW_GROUP = 4096
"""Posts that are read at once: few, since a member's are looked up."""
ORDERS = {"newest": '"timestamp" desc, post_id', "oldest": '"timestamp", post_id', "id": "post_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """How much was written."""

    posts: int
    members: int
    words: int
    tokens: int
    cut_posts: int


def prepare(
    table: EmbeddedTable,
    settings: SearchExposure,
    target: Path,
    *,
    memory: str | int = "2GB",
    progress: Progress = SILENT,
) -> Prepared:
    """Write the posts, members and words, the index and the statistics of posts that were examined."""
    reading = _Reading(analyser=Analyser.parse(settings.analyser), longest=settings.longest_post)
    # The engine that sorts and the index that grows share the memory.
    share = read_size(memory) // 4
    text = searched_text(table.columns)
    rows = table.select(
        f'select author_id, cast("timestamp" as timestamp) as "timestamp", post_id, {text} as text '
        'from {table} order by author_id, cast("timestamp" as timestamp), post_id'
    )
    index = _write_posts(rows, reading, target, share, progress)
    statistics = _write_words(index, target)
    members = _write_members(reading, target)
    written = table.engine.parquet(target / "posts.parquet")
    order = written.fetch(f"select number from {{table}} order by {ORDERS[settings.ties]}", label="ordering ties")
    precedence = np.empty(reading.posts, dtype=np.int64)
    precedence[order.column(0).to_numpy()] = np.arange(reading.posts, dtype=np.int64) << BETWEEN
    save_arrays(
        target / "statistics",
        {
            "precedence": precedence,
            "timestamps": np.concatenate([np.zeros(0, dtype=np.int64), *reading.timestamps]),
            **members,
            **statistics,
        },
    )
    return Prepared(
        posts=reading.posts,
        members=len(reading.authors),
        words=len(index.vocabulary),
        tokens=index.collection.tokens,
        cut_posts=reading.cut,
    )


@dataclass(slots=True)
class _Reading:
    """Sorted rows on their way in, and what is remembered of those that have passed."""

    analyser: Analyser
    longest: int
    posts: int = 0
    cut: int = 0
    authors: list[str] = field(default_factory=list)
    firsts: list[Longs] = field(default_factory=list)
    timestamps: list[Longs] = field(default_factory=list)

    def read(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Strings]:
        """The rows as they are stored, and the names of their documents."""
        authors = batch.column("author_id").cast(pa.large_string())
        changed = np.ones(len(batch), dtype=np.bool_)
        changed[1:] = pc.not_equal(authors.slice(1), authors.slice(0, len(batch) - 1)).to_numpy(zero_copy_only=False)
        if self.authors and len(batch):
            changed[0] = authors[0].as_py() != self.authors[-1]
        members = np.cumsum(changed, dtype=np.int32) + np.int32(len(self.authors) - 1)
        self.authors += map(str, authors.filter(pa.array(changed)).to_pylist())
        numbers = np.arange(self.posts, self.posts + len(batch), dtype=np.int32)
        self.firsts.append(numbers[changed].astype(np.int64))
        self.posts += len(batch)
        times = batch.column("timestamp").cast(pa.timestamp("us"))
        self.timestamps.append(times.cast(pa.int64()).to_numpy())
        texts, cut = cut_texts(batch.column("text").cast(pa.large_string()), self.analyser, self.longest)
        self.cut += cut
        ids = batch.column("post_id").cast(pa.large_string())
        rows = pa.record_batch([pa.array(numbers), ids, pa.array(members), times, texts], schema=POST_COLUMNS)
        return rows, pa.array(numbers).cast(pa.large_string())


def _write_posts(rows: EmbeddedTable, reading: _Reading, target: Path, memory: int, progress: Progress) -> Index:
    """Write sorted posts away and index them in one pass."""
    with parquet_writer(target / "posts.parquet", POST_COLUMNS, compression="zstd", compression_level=1) as writer:

        def documents() -> Iterator[pa.RecordBatch]:
            for batch in rows.batches(BATCH):
                posts, names = reading.read(batch)
                writer.write_batch(posts, row_group_size=ROW_GROUP)
                yield pa.record_batch({"number": names, "text": posts.column("text")})

        return Index.build(
            documents(),
            analyser=reading.analyser,
            path=target / "index",
            columns=("number", "text"),
            memory=memory,
            progress=progress,
        )


def cut_texts(texts: Strings, analyser: Analyser, longest: int) -> tuple[Strings, int]:
    """Texts that end behind that many words, and how many were cut."""
    # So many words need a character each and one between them: most texts are shorter and need no counting.
    candidates = np.flatnonzero(pc.call_function("utf8_length", [texts]).to_numpy() > 2 * longest)
    if not len(candidates):
        return texts, 0
    found = analyse(texts.take(candidates), Vocabulary(), analyser=analyser)
    too_long = candidates[np.diff(found.starts) > longest]
    if not len(too_long):
        return texts, 0
    whole = texts.to_pylist()
    for at in too_long.tolist():
        whole[at] = _cut(str(whole[at]), analyser, longest)
    return pa.array(whole, type=pa.large_string()), len(too_long)


def _cut(text: str, analyser: Analyser, longest: int) -> str:
    size = 8 * longest
    while len(tokens := analyser.tokens(text[:size])) <= longest:
        size *= 2
    return text[: tokens[longest - 1].end]


def _write_members(reading: _Reading, target: Path) -> dict[str, NDArray[Any]]:
    firsts = np.concatenate([*reading.firsts, np.array([reading.posts])])
    table = pa.table(
        {
            "number": pa.array(np.arange(len(reading.authors), dtype=np.int32)),
            "author_id": pa.array(reading.authors, type=pa.large_string()),
            "posts": pa.array(np.diff(firsts).astype(np.int32)),
        }
    )
    with parquet_writer(target / "members.parquet", table.schema) as writer:
        writer.write_table(table)
    members = np.repeat(np.arange(len(reading.authors), dtype=np.int32), np.diff(firsts))
    return {"members": members, "first_posts": firsts}


def _write_words(index: Index, target: Path) -> dict[str, NDArray[Any]]:
    """Number the words: the rarest first, and by text."""
    stored, collection = index.vocabulary.arrays(), index.collection
    words = pa.LargeStringArray.from_buffers(
        len(index.vocabulary), pa.py_buffer(stored["offsets"].data), pa.py_buffer(stored["bytes"].data)
    )
    unsorted = pa.table({"word": words, "documents": collection.document_counts, "count": collection.term_counts})
    terms = pc.sort_indices(unsorted, [("documents", "ascending"), ("word", "ascending")]).to_numpy().astype(np.int32)
    word_numbers = np.empty_like(terms)
    word_numbers[terms] = np.arange(len(terms), dtype=np.int32)
    table = unsorted.take(terms).add_column(0, "number", pa.array(np.arange(len(terms), dtype=np.int32)))
    with parquet_writer(target / "words.parquet", table.schema) as writer:
        writer.write_table(table)
    return {
        "terms": terms,
        "word_numbers": word_numbers,
        "term_counts": table.column("count").to_numpy(),
        "document_counts": table.column("documents").to_numpy(),
    }
