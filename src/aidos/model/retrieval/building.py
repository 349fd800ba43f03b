"""Building an index in bounded memory: documents are gathered, turned over into a part, and parts are merged.

When what is gathered would fill the memory allowed, it becomes a part; with a directory at hand the part is written
there and mapped. Parts at the end that have reached the next size together are merged (O'Neil et al. 1996), and sizes
rise by a factor of eight: there are at most a few of each size, and each posting is copied a logarithmic number of
times. Only neighbours are merged: documents keep their order.

Beside the memory allowed stand the vocabulary, which grows with the number of distinct words, and about fifty bytes for
every document.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.retrieval.documents import complain
from aidos.model.retrieval.kernels.postings import add_counts, count_terms
from aidos.model.retrieval.part import Forward, Part, assemble, in_memory, merge_parts
from aidos.model.retrieval.segment import Collection
from aidos.model.retrieval.storage import Shelf
from aidos.model.text.batch import BatchAnalysis
from aidos.model.text.strings import Strings
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["Builder", "grown", "merge_due", "read_size"]

Longs = NDArray[np.int64]

SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
POSTING_BYTES = 24
"""A term of a document, while a part is made: gathered, in a row and among the postings, eight bytes each."""
DOCUMENT_BYTES = 64
FAN = 8
SMALLEST = 4096
"""Documents and postings of the smallest size of parts that is told apart."""


class Builder:
    """Adds documents behind those of ``parts``; what it was given stays as it is."""

    def __init__(
        self,
        analysis: BatchAnalysis,
        *,
        parts: list[Part],
        collection: Collection,
        memory: int,
        shelf: Shelf | None = None,
    ) -> None:
        self.parts = list(parts)
        self.collection = collection
        self._analysis = analysis
        self._memory = memory
        self._shelf = shelf
        self._rows = 0
        self._forget()

    def add(self, names: Strings, texts: Strings) -> None:
        """Gather some documents."""
        self._refuse_bad_names(names)
        analysed = self._analysis.analyse(texts)
        terms, lengths = analysed.terms, np.diff(analysed.starts).astype(np.int32)
        row_starts, frequencies = np.zeros_like(analysed.starts), np.empty_like(terms)
        last = np.zeros(len(self._analysis.vocabulary), dtype=np.int64)
        count_terms(terms, analysed.starts, last, row_starts, frequencies)
        self._gathered.append(
            (row_starts, terms[: row_starts[-1]].copy(), frequencies[: row_starts[-1]].copy(), lengths)
        )
        self._rows += len(names)
        self._weight += POSTING_BYTES * int(row_starts[-1]) + DOCUMENT_BYTES * len(names)
        if self._weight >= self._memory:
            self.flush()

    def flush(self) -> None:
        """Make a part of what is gathered."""
        if not self._gathered:
            return
        rows, terms, frequencies, lengths = zip(*self._gathered, strict=True)
        ends = np.cumsum([0, *(row[-1] for row in rows)])
        starts = np.concatenate([row[:-1] + end for row, end in zip(rows, ends[:-1], strict=True)] + [ends[-1:]])
        forward = Forward(starts=starts, terms=np.concatenate(terms), frequencies=np.concatenate(frequencies))
        names, vocabulary = self._names, len(self._analysis.vocabulary)
        self._forget()
        part = assemble(forward, np.concatenate(lengths), names, vocabulary)
        self._count(part)
        self.parts.append(self._kept(part))
        while due := merge_due([part.weight for part in self.parts]):
            self._merge(due)

    def _forget(self) -> None:
        self._gathered: list[tuple[Longs, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]] = []
        self._names = Vocabulary()
        self._weight = 0

    def _count(self, part: Part) -> None:
        counted = grown(self.collection, len(self._analysis.vocabulary))
        add_counts(part.segment.starts, part.segment.frequencies, counted.term_counts, counted.document_counts)
        self.collection = replace(
            counted,
            documents=counted.documents + len(part.segment),
            tokens=counted.tokens + int(part.segment.lengths.sum(dtype=np.int64)),
        )

    def _merge(self, number: int) -> None:
        old = self.parts[-number:]
        allocate = self._shelf.allocate if self._shelf else in_memory
        self.parts[-number:] = [self._kept(merge_parts(old, len(self._analysis.vocabulary), allocate))]
        if self._shelf:
            for part in old:
                self._shelf.remove(part.files)

    def _kept(self, part: Part) -> Part:
        """On the shelf, if there is one."""
        if not self._shelf:
            return part
        files = self._shelf.put(part.arrays())
        return Part.from_arrays(self._shelf.load(files, verify=False), files)

    def _refuse_bad_names(self, names: Strings) -> None:
        rows = np.arange(self._rows, self._rows + len(names))
        if names.null_count:
            missing = rows[np.asarray(names.is_null())]
            raise complain("missing-name", "a document has no name", "give every document a name", missing)
        known = np.zeros(len(names), dtype=np.bool_)
        for part in self.parts:
            found = part.names.ids_of(names)
            known |= (found >= 0) & ~part.segment.deleted[np.maximum(found, 0)] if len(part.segment) else False
        before = len(self._names)
        numbers = self._names.intern(names)
        if len(self._names) < before + len(names):
            again = np.ones(len(names), dtype=np.bool_)
            again[np.unique(numbers, return_index=True)[1]] = False
            known |= again | (numbers < before)
        if known.any():
            raise complain(
                "duplicate-name",
                "a document has a name that is taken",
                "names must differ; to replace a document, delete it first",
                rows[known],
            )


def grown(collection: Collection, terms: int) -> Collection:
    """A copy of the collection with counts for so many terms."""
    more = terms - len(collection.term_counts)
    return replace(
        collection,
        term_counts=np.pad(collection.term_counts, (0, more)),
        document_counts=np.pad(collection.document_counts, (0, more)),
    )


def merge_due(weights: list[int]) -> int:
    """How many parts at the end should become one; 0 when none.

    Those at the end that are smaller than a size, as soon as they reach it together; sizes rise by a factor of eight.
    The smallest are merged when there are eight of them, whatever they weigh.
    """
    size, number, total = FAN * SMALLEST, 0, 0
    while number < len(weights):
        while number < len(weights) and weights[-1 - number] < size:
            total += weights[-1 - number]
            number += 1
        if number > 1 and (total >= size or (size == FAN * SMALLEST and number >= FAN)):
            return number
        size *= FAN
    return 0


def read_size(size: str | int) -> int:
    """Bytes from a size such as 512MB or 1GiB."""
    found = SIZE.fullmatch(size) if isinstance(size, str) else None
    if found:
        power = "kmgt".find(found[2].lower()) + 1 if found[2] else 0
        size = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    if isinstance(size, str) or size < 1:
        raise ParameterError(f"memory must be a size such as 1GB or 512MB, got {size!r}")
    return size
