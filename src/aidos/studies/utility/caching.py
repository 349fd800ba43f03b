"""A cache of posting lists that is filled by what a release says about keywords (Götz et al. 2012, figure 6).

Keywords are scored by how often they are asked, divided by the number of documents that have them
(`aidos.model.postingcache`): by searches where the log itself fills the cache, by people or visits where a release
does, since that is what it counts. Hits are counted under the searchers' own workload. Keywords that no document has
are part of it, and no cache can hold them.

The paper's cache of 1 GB is smaller than its index. Where a collection's whole index fits into the memory, any cache
is as good as any other, so the memory is then a share of the index. Where a mechanism publishes no counts, every
keyword counts the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError
from aidos.model.postingcache import CacheLimits, choose_lists, hit_probability
from aidos.studies.utility.releases import Published

__all__ = ["WORD", "Cacheable", "document_counts", "made_cacheable"]

SHARE = 0.1
"""Of the index that the cache holds, where the index is smaller than the memory."""
FEWEST_KNOWN = 0.01
"""Share of the workload that documents must know, at least."""
WORD = r"[\p{L}\p{N}]+"
"""A word of a document, as a pattern of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cacheable:
    """Keywords of a log with the documents that have them, and how often they were searched; all by number."""

    documents: NDArray[np.int64]
    """Documents that have the keyword."""
    workload: NDArray[np.int64]
    limits: CacheLimits
    """As given, or with less memory where the whole index would fit."""
    index_bytes: int
    """Of all lists of the log's keywords."""

    def measured(self, published: Published) -> Iterator[dict[str, object]]:
        """The hit probability of the cache that a release fills, and how many lists are in it."""
        kept = choose_lists(published.dense(len(self.documents)), self.documents, self.limits)
        yield {"measure": "hit_probability", "value": hit_probability(kept, self.workload)}
        yield {"measure": "lists", "value": float(np.count_nonzero(kept))}


def made_cacheable(
    documents: NDArray[np.int64], workload: NDArray[np.int64], limits: CacheLimits | None = None
) -> Cacheable:
    """Keywords with their documents, under limits that leave something to choose."""
    known = float(workload[documents > 0].sum()) / max(float(workload.sum()), 1.0)
    if known < FEWEST_KNOWN:
        raise InputError(
            f"the documents have {known:.1%} of the words that were searched: they are not what was searched in",
            hint="name the searched collection with --documents",
        )
    asked = limits or CacheLimits()
    index = int(asked.sizes(documents).sum())
    if index <= asked.memory_bytes:
        asked = replace(asked, memory_bytes=max(1, int(index * SHARE)))
    return Cacheable(documents=documents, workload=workload, limits=asked, index_bytes=index)


def document_counts(texts: EmbeddedTable, keywords: pa.Table) -> NDArray[np.int64]:
    """How many of the documents (a column text) have each keyword, by number; letters and digits in small letters."""
    words = texts.select(
        f"select unnest(list_distinct(regexp_extract_all(lower(text), '{WORD}'))) as keyword from {{table}} "
        "where text is not null"
    )
    counted = words.fetch("select keyword, count(*) as documents from {table} group by keyword", label="counting words")
    places = pc.index_in(keywords.column("keyword"), value_set=counted.column("keyword").combine_chunks())
    known = np.append(counted.column("documents").to_numpy(), 0)
    found: NDArray[np.int64] = known[places.fill_null(-1).to_numpy()]
    return found
