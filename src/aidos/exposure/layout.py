"""The directory of one community's exposure: which file holds what.

    exposure.json           the settings, the state of the work, counts, and what the collection looked like
    posts.parquet           number, post_id, member, timestamp, text (with the title), by number; numbers go by author
    members.parquet         number, author_id, posts (how many), exposures (rows of theirs), partition, first_row
    words.parquet           number, word, documents, count, chunk, first_row, queries
    index/                  the retrieval index; its documents are named by the posts' numbers
    statistics/, singles/   arrays: the pinned statistics of the language, and the best posts of every single word
    queries/00000.parquet   one row a query: first, second, documents, evenness, certain, posts, whole
    exposures/00000.parquet one row a triple, by member, post, first, second: see `EXPOSURE_COLUMNS`
    changes/                what additions and deletions have altered since, by generation

Words are numbered by the number of posts that hold them, the rarest first, ties by their text; posts by author,
time and id; members by name. What is added later is numbered behind. The smaller number of a pair is its first word.
Only the owner may read it: it holds people's words.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = ["EXPOSURE_COLUMNS", "FORMAT", "KIND", "MANIFEST", "QUERY_COLUMNS"]

KIND = "aidos search exposure"
FORMAT = 1
"""Rises when a file of the directory changes its meaning."""
MANIFEST = "exposure.json"


def _needed(name: str, kind: pa.DataType) -> pa.Field[Any]:
    return pa.field(name, kind, nullable=False)


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
