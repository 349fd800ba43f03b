"""The directory of one community's exposure: which file holds what.

    exposure.json           the settings, the state of the work, counts, and size and checksum of every file
    posts.parquet           number, post_id, member, timestamp, text (with the title), by number; numbers go by author
    members.parquet         number, author_id, posts (how many), exposures (rows of theirs), partition, first_row
    words.parquet           number, word, documents, count, chunk, first_row, queries
    index/                  the retrieval index; its documents are named by the posts' numbers
    statistics/             arrays: what the collection looked like when it was computed, see below
    singles/                arrays: the best posts of every single word, see below
    queries/00000.parquet   one row a query: first, second, documents, evenness, certain, posts, whole
    exposures/00000.parquet one row a triple, by member, post, first, second: see `EXPOSURE_COLUMNS`
    changes/                what additions and deletions have altered since, by generation

Words are numbered by the number of posts that hold them, the rarest first, ties by their text; posts by author,
time and id; members by name. What is added later is numbered behind. The smaller number of a pair is its first word.
Only the owner may read it: it holds people's words.

Arrays are files of NumPy, ``statistics/precedence.npy`` and so on, that can be mapped:

    statistics/precedence       int64 by post: of two posts with one score the smaller comes first; multiples of 2^24
    statistics/timestamps       int64 by post: microseconds since 1970
    statistics/members          int32 by post: who wrote it
    statistics/first_posts      int64 by member, and one more: the posts of member m are first_posts[m] to [m + 1]
    statistics/word_numbers     int32 by term of the index: the number of the word
    statistics/terms            int32 by word: the term of the index, the other way round
    statistics/term_counts      int64 by word: how often it stands in the collection
    statistics/document_counts  int64 by word: in how many posts it stands
    singles/one_posts           int32 [words, k + 1]: the best posts for the query of that one word, -1 where none
    singles/one_scores          float64 [words, k + 1]: their scores, without what all posts get
    singles/two_posts           int32 [words, k + 1]: the best posts for a query of two words, were this all they hold
    singles/two_scores          float64 [words, k + 1]: their scores so

Look-up by query: the queries that begin with a word stand in the file ``chunk`` of `words.parquet` from ``first_row``
on, ``queries`` of them, by second word; the one of that word alone comes first. Look-up by member: the rows stand in
the file ``partition`` of `members.parquet` from ``first_row`` on, ``exposures`` of them. A member with more rows than
a file should hold goes on in the next files, from their first row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.engine.sealed import Spec
from aidos.engine.store import Manifest

__all__ = [
    "ABOUT",
    "AGAIN",
    "ARRAYS",
    "BETWEEN",
    "EXPOSURE_COLUMNS",
    "MANIFEST",
    "MEMBER_COLUMNS",
    "POST_COLUMNS",
    "QUERY_COLUMNS",
    "WORD_COLUMNS",
    "arrow_of",
    "numbers_in",
]

MANIFEST = "exposure.json"
AGAIN = "compute it again from the posts"
ABOUT = Manifest(
    file=MANIFEST,
    kind="aidos search exposure",
    version=2,
    noun="an exposure directory",
    first="make one: aidos expose compute POSTS -o DIRECTORY",
    named="name one that aidos expose compute made",
    again=AGAIN,
)
BETWEEN = 24
"""Bits between the precedences of neighbours: room for posts that are added later."""
BEST = {
    "posts": Spec(kind=np.int32, shape=("words", "room"), least=-1, below="posts"),
    "scores": Spec(kind=np.float64, shape=("words", "room")),
}
ARRAYS = {
    "statistics": {
        "precedence": Spec(kind=np.int64, shape=("posts",), least=0),
        "timestamps": Spec(kind=np.int64, shape=("posts",)),
        "members": Spec(kind=np.int32, shape=("posts",), below="members"),
        "first_posts": Spec(kind=np.int64, shape=("members",), offsets="posts"),
        "word_numbers": Spec(kind=np.int32, shape=("words",), below="words", distinct=True),
        "terms": Spec(kind=np.int32, shape=("words",), below="words", distinct=True),
        "term_counts": Spec(kind=np.int64, shape=("words",), least=0),
        "document_counts": Spec(kind=np.int64, shape=("words",), least=0),
    },
    "singles": {f"{words}_{what}": spec for words in ("one", "two") for what, spec in BEST.items()},
    "spill": {
        "words": Spec(kind=np.int64, shape=("chunks",), offsets="words"),
        "room": Spec(kind=np.int64, shape=("chunks",), least=0),
        "posts": Spec(kind=np.int64, offsets="posts"),
    },
}
"""What arrays have to be, by directory; those of ``spill`` are the plan of a computation that goes on."""


def arrow_of(numbers: NDArray[Any]) -> pa.Array[Any]:
    """Numbers as Arrow has them, nothing copied. `pyarrow.array` imports pandas, which takes longer than a query."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers).data)])


def numbers_in(column: pa.ChunkedArray[Any]) -> NDArray[Any]:
    """The other way round, for the same reason; not copied where there is one chunk."""
    kind: Any = column.type
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        found: NDArray[Any] = column.combine_chunks().to_numpy(zero_copy_only=False)
        return found
    parts = [_values(chunk) for chunk in column.chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind.to_pandas_dtype()), *parts])


def _values(chunk: pa.Array[Any]) -> NDArray[Any]:
    kind: Any = chunk.type
    held: Any = chunk.buffers()[1]
    if not len(chunk):
        return np.zeros(0, dtype=kind.to_pandas_dtype())
    return np.frombuffer(held, dtype=kind.to_pandas_dtype())[chunk.offset : chunk.offset + len(chunk)]


def _field(name: str, kind: pa.DataType) -> pa.Field[Any]:
    return pa.field(name, kind)


def _needed(name: str, kind: pa.DataType) -> pa.Field[Any]:
    return pa.field(name, kind, nullable=False)


POST_COLUMNS = pa.schema(
    [
        _needed("number", pa.int32()),
        _needed("post_id", pa.large_string()),
        _needed("member", pa.int32()),
        _needed("timestamp", pa.timestamp("us")),
        _needed("text", pa.large_string()),
    ]
)
"""One row a post, by number."""

MEMBER_COLUMNS = pa.schema(
    [
        _field("number", pa.int32()),
        _field("author_id", pa.large_string()),
        _field("posts", pa.int32()),
        _field("exposures", pa.int64()),
        _field("partition", pa.int32()),
        _field("first_row", pa.int64()),
    ]
)
"""One row a member, by number."""

WORD_COLUMNS = pa.schema(
    [
        _field("number", pa.int32()),
        _field("word", pa.large_string()),
        _field("documents", pa.int64()),
        _field("count", pa.int64()),
        _field("chunk", pa.int32()),
        _field("first_row", pa.int64()),
        _field("queries", pa.int64()),
    ]
)
"""One row a word, by number."""

QUERY_COLUMNS = pa.schema(
    [
        _needed("first", pa.int32()),
        _needed("second", pa.int32()),
        _needed("documents", pa.int32()),
        _needed("evenness", pa.uint8()),
        _needed("certain", pa.uint8()),
        _needed("posts", pa.list_(_needed("item", pa.int32()))),
        _needed("whole", pa.list_(_needed("item", pa.bool_()))),
    ]
)
"""One row a query. ``certain``: so many of the posts, from the first, are there however ties fall."""

EXPOSURE_COLUMNS = pa.schema(
    [
        _needed("member", pa.int32()),
        _needed("post", pa.int32()),
        _needed("first", pa.int32()),
        _needed("second", pa.int32()),
        _needed("rank", pa.uint8()),
        _needed("whole", pa.bool_()),
        _needed("certain", pa.bool_()),
        _needed("documents", pa.int32()),
        _needed("evenness", pa.uint8()),
    ]
)
"""One row a triple of member, post and query."""
