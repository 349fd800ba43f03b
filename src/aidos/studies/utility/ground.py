"""What the jobs of an experiment share: the prepared log, and what is worked out from it once.

A ground is small and can be sent to another process: what is large lies in its directory, which is private and goes
away with the experiment.

A cache of posting lists that is filled by what a release says about keywords (Götz et al. 2012, figure 6). Keywords are
scored by how often they are asked, divided by the number of documents that have them: by
searches where the log itself fills the cache, by people or visits where a release does, since that is what it counts.
Hits are counted under the searchers' own workload. Keywords that no document has are part of it, and no cache can hold
them.

The paper's cache of 1 GB is smaller than its index. Where a collection's whole index fits into the memory, any cache
is as good as any other, so the memory is then a share of the index. Where a mechanism publishes no counts, every
keyword counts the same.

The shape of every result: one number a row, with the setting that it is about. Tidy, so that results of all experiments
go into one table and any of them can be drawn with any tool. A column that does not apply is null.

Which posting lists to keep in memory, and how often a searched keyword finds its list there. A search engine that holds
only some of its posting lists in memory wants those that are asked for often and are short. After Baeza-Yates (2004),
in the form of Götz et al. (2012): a keyword's score is how often it is asked, divided by the number of documents that
have it; lists are taken by falling score until the memory is full. Lists are cut at a length. Frequencies may come from
a log or from a release; the workload that is paid in hits is always the searchers' own.

Where this differs: the paper does not say what happens when the next list no longer fits; here it is passed over, and
shorter ones behind it still get in. A greedy choice is not the best there is, which would be a knapsack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError, ParameterError
from aidos.model.suggesting import SubstitutionModel
from aidos.studies.utility.originals import Originals
from aidos.studies.utility.plan import Job, PoolGrid, UtilityPlan
from aidos.studies.utility.releases import Published
from aidos.studies.utility.substitution import suggest_all

__all__ = [
    "SCHEMA",
    "WORD",
    "CacheLimits",
    "Cacheable",
    "Ground",
    "choose_lists",
    "document_counts",
    "hit_probability",
    "lay_documents",
    "lay_suggestions",
    "made_cacheable",
    "result_rows",
]

DOCUMENTS, TRUTH = "documents.npy", "suggestions.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The log that an experiment is about, and its plan."""

    originals: Originals
    plan: UtilityPlan
    pool: PoolGrid = field(default_factory=PoolGrid)
    """What is tried of the pool release."""
    memory: str = ""
    """Of the engine of one process."""
    caches: bool = False
    """Whether releases of keywords are tried as caches; the documents are counted then."""
    suggests: bool = False
    """Whether releases of pairs are tried by their suggestions; the log's own are known then."""

    def cacheable(self) -> Cacheable:
        """Keywords with their documents and their workload."""
        limits = CacheLimits(memory_bytes=self.plan.cache_bytes)
        return made_cacheable(np.load(self._path(DOCUMENTS)), self.originals.workload, limits)

    def suggestions(self) -> tuple[list[str], list[list[str]]]:
        """Queries that suggestions are made for, and the log's own suggestions for each."""
        held = pq.read_table(self._path(TRUTH)).to_pylist()
        return [row["user_query"] for row in held], [row["suggestions"] for row in held]

    def model(self, made: dict[str, Published]) -> SubstitutionModel:
        """Suggestions from published queries and pairs."""
        texts = self.originals.items("queries").column("user_query")
        queries, pairs = made["queries"], made["pairs"]
        known = self.originals.items("pairs").take(pairs.items)
        asked = pa.Table.from_arrays([texts.take(queries.items), _counts(queries)], ["user_query", "count"])
        both = [texts.take(known.column(name)) for name in ("user_query", "next_query")]
        followed = pa.Table.from_arrays([*both, _counts(pairs)], ["user_query", "next_query", "count"])
        return SubstitutionModel.of(asked, followed)

    def _path(self, name: str) -> Path:
        return self.originals.directory / name


def lay_documents(ground: Ground, texts: EmbeddedTable) -> None:
    """Count the documents of each keyword, for all jobs; InputError where the documents are about something else."""
    np.save(ground.originals.directory / DOCUMENTS, document_counts(texts, ground.originals.items("keywords")))
    ground.cacheable()


def lay_suggestions(ground: Ground) -> int:
    """Make the log's own suggestions, for all jobs; give for how many queries it has some."""
    path = ground.originals.directory / TRUTH
    if not path.exists():
        pq.write_table(_own_suggestions(ground), path)
    return sum(1 for each in ground.suggestions()[1] if each)


def _own_suggestions(ground: Ground) -> pa.Table:
    originals = ground.originals
    made = {
        kind: Published(items=np.arange(len(originals.counts(kind))), counts=originals.counts(kind))
        for kind in ("queries", "pairs")
    }
    frequent = originals.items("queries").column("user_query").slice(0, ground.plan.suggested_queries).to_pylist()
    queries = [str(query) for query in frequent]
    found = suggest_all(ground.model(made), queries)
    return pa.table({"user_query": queries, "suggestions": pa.array(found, pa.list_(pa.string()))})


def _counts(published: Published) -> Any:
    ones = np.ones(len(published.items), np.int64)
    return pa.array(ones if published.counts is None else published.counts)


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


TEXTS = ("experiment", "kind", "mechanism", "method", "measure")
NUMBERS = ("epsilon", "delta", "noise_scale", "value")
COLUMNS = (
    *("experiment", "kind", "mechanism", "epsilon", "delta", "items_per_person", "k", "noise_scale", "threshold"),
    *("halved", "repeat", "method", "measure", "top", "value"),
)


def _type(name: str) -> pa.DataType:
    if name in TEXTS:
        return pa.string()
    if name == "halved":
        return pa.bool_()
    return pa.float64() if name in NUMBERS else pa.int64()


SCHEMA = pa.schema([(name, _type(name)) for name in COLUMNS])
"""Columns of results."""
OF_SETTING = ("mechanism", "epsilon", "delta", "items_per_person", "k", "noise_scale", "threshold", "halved", "repeat")


def result_rows(job: Job, found: Iterable[dict[str, Any]], *, kind: str = "") -> pa.Table:
    """Rows of a job; each needs ``measure`` and ``value``, and may have ``top`` and ``method``."""
    setting = {name: getattr(job.setting, name) for name in OF_SETTING}
    fixed = {"experiment": job.experiment, "kind": kind or job.kind or None, **setting}
    return pa.Table.from_pylist([fixed | row for row in found], schema=SCHEMA)


GIGABYTE = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """How much memory there is, and what a list takes of it."""

    memory_bytes: Annotated[int, Ge(1)] = GIGABYTE
    """Memory for posting lists."""
    posting_bytes: Annotated[int, Ge(1)] = 8
    """Of one document in a list."""
    longest_list: Annotated[int, Ge(1)] = 200_000
    """Documents of a list that are kept; what is longer is cut."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def sizes(self, documents: ArrayLike) -> NDArray[np.int64]:
        """Bytes of each list, by the number of documents that have the keyword."""
        lengths = np.minimum(np.asarray(documents, np.int64), self.longest_list)
        found: NDArray[np.int64] = lengths * self.posting_bytes
        return found


def choose_lists(frequencies: ArrayLike, documents: ArrayLike, limits: CacheLimits) -> NDArray[np.bool_]:
    """Which lists are kept: by falling frequency / documents, passing over those that no longer fit.

    Keywords that no document has, and those that are not asked for, have no list to keep. Equal scores are taken in the
    order in which the keywords are given.
    """
    asked, having = np.asarray(frequencies, np.float64), np.asarray(documents, np.int64)
    if asked.shape != having.shape or asked.ndim != 1:
        raise ParameterError("every keyword needs one frequency and one number of documents")
    if not np.isfinite(asked).all() or (having < 0).any():
        raise ParameterError("frequencies must be finite, and numbers of documents not negative")
    useful = np.flatnonzero((asked > 0) & (having > 0))
    left = useful[np.argsort(-asked[useful] / having[useful], kind="stable")]
    sizes, room = limits.sizes(having), limits.memory_bytes
    kept = np.zeros(len(asked), np.bool_)
    while len(left := left[sizes[left] <= room]):
        filled = np.cumsum(sizes[left])
        fitting = int(np.searchsorted(filled, room, side="right"))
        kept[left[:fitting]] = True
        room -= int(filled[fitting - 1])
        left = left[fitting:]
    return kept


def hit_probability(kept: NDArray[np.bool_], workload: ArrayLike) -> float:
    """The share of a workload, keywords with how often each is searched, whose lists are in memory."""
    searched: NDArray[Any] = np.asarray(workload, np.float64)
    if searched.shape != kept.shape or (searched < 0).any():
        raise ParameterError("a workload has a number, not negative, for each keyword")
    total = float(searched.sum())
    return float(searched[kept].sum()) / total if total > 0 else float("nan")
