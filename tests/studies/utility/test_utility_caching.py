"""Document frequencies of keywords, and a cache that leaves something to choose."""

import numpy as np
import pyarrow as pa
import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.studies.utility.ground import CacheLimits, document_counts, made_cacheable
from aidos.studies.utility.releases import Published

TEXTS = ["Jazz, jazz and PIANO.", "piano-jazz", None, "Änderung jazz", "nothing here"]


def test_documents_are_counted_once_by_words_in_small_letters():
    with EmbeddedEngine(threads=1) as engine:
        found = document_counts(
            engine.table(pa.table({"text": TEXTS})), pa.table({"keyword": ["jazz", "piano", "änderung", "cake"]})
        )
    assert found.tolist() == [3, 2, 1, 0]


def test_a_memory_that_holds_the_index_becomes_a_tenth_of_it():
    documents, workload = np.full(100, 10), np.arange(100, 0, -1)
    small = made_cacheable(documents, workload)
    assert small.index_bytes == 8_000
    assert small.limits.memory_bytes == 800
    counts = {row["measure"]: row["value"] for row in small.measured(Published(items=np.arange(100), counts=workload))}
    assert counts == {"hit_probability": pytest.approx(sum(range(91, 101)) / 5050), "lists": 10}
    tight = made_cacheable(documents, workload, CacheLimits(memory_bytes=80))
    assert tight.limits.memory_bytes == 80


def test_a_release_without_counts_scores_every_keyword_alike():
    cacheable = made_cacheable(np.array([10, 1, 1]), np.array([8, 1, 1]), CacheLimits(memory_bytes=16))
    release = Published(items=np.array([0, 2]), counts=None)
    found = {row["measure"]: row["value"] for row in cacheable.measured(release)}
    assert found == {"hit_probability": pytest.approx(0.1), "lists": 1}


def test_documents_about_something_else_are_refused():
    with pytest.raises(InputError, match="not what was searched in") as caught:
        made_cacheable(np.zeros(5, np.int64), np.ones(5, np.int64))
    assert "--documents" in caught.value.hint
