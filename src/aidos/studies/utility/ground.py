"""What the jobs of an experiment share: the prepared log, and what is worked out from it once.

A ground is small and can be sent to another process: what is large lies in its directory, which is private and goes
away with the experiment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.engine.embedded import EmbeddedTable
from aidos.model.postingcache import CacheLimits
from aidos.model.substitution.suggesting import SubstitutionModel
from aidos.studies.utility.caching import Cacheable, document_counts, made_cacheable
from aidos.studies.utility.originals import Originals
from aidos.studies.utility.plan import UtilityPlan
from aidos.studies.utility.poolgrid import PoolGrid
from aidos.studies.utility.releases import Published
from aidos.studies.utility.substitution import suggest_all

__all__ = ["Ground", "lay_documents", "lay_suggestions"]

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
