"""Building an index in bounded memory: documents are gathered, turned over into a part, and parts are merged.

When what is gathered would fill the memory allowed, it becomes a part; with a directory at hand the part is written
there and mapped. Parts at the end that have reached the next size together are merged (O'Neil et al. 1996), and sizes
rise by a factor of eight: there are at most a few of each size, and each posting is copied a logarithmic number of
times. Only neighbours are merged: documents keep their order.

Beside the memory allowed stand the vocabulary, which grows with the number of distinct words, and about fifty bytes for
every document.

Documents come as pairs of a name and a text, or as tables of Arrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError, Problem
from aidos.model.retrieval.kernels.postings import add_counts, count_terms
from aidos.model.retrieval.part import Forward, Part, assemble, in_memory, merge_parts
from aidos.model.retrieval.scorers import Collection
from aidos.model.retrieval.storage import LONGEST, Shelf
from aidos.model.text.batch import BatchAnalysis
from aidos.model.text.vocabulary import Strings, Vocabulary, arrow_chunks, packed, portions

__all__ = ["Builder", "Documents", "complain", "grown", "merge_due", "read_documents", "read_size"]

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
        if (lengths >= LONGEST).any():
            rows = self._rows + np.flatnonzero(lengths >= LONGEST)
            raise complain("too-long", f"a document has {LONGEST:,} words or more", "cut it into several", rows)
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


Documents: TypeAlias = (
    "pa.Table | pa.RecordBatch | pa.RecordBatchReader | Iterable[tuple[str, str | None]] | Iterable[pa.RecordBatch]"
)
"""Pairs of a name and a text (None is an empty text), or Arrow tables with a column of each."""

ROWS = 1 << 14
"""Pairs that are taken at once."""
BYTES = 1 << 22
"""Bytes of text that are taken at once from a table."""
NAMED = 5
"""Rows that an error names."""


def read_documents(documents: Documents, columns: tuple[str, str]) -> Iterator[tuple[Strings, Strings]]:
    """Names and texts, some thousand at a time; ``columns`` are those of a table."""
    for batch in _batches(documents):
        names, texts = _columns(batch, columns)
        _, bounds = packed(texts)
        begin = 0
        for portion in portions(bounds, BYTES):
            yield names.slice(begin, len(portion) - 1), texts.slice(begin, len(portion) - 1)
            begin += len(portion) - 1


def complain(kind: str, sentence: str, remedy: str, rows: NDArray[np.int64]) -> InputError:
    """The error for rows (counted from 0 here, from 1 by people); it never quotes them."""
    lines = tuple(int(row) + 1 for row in rows[:NAMED])
    where = f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, lines))}{', ...' if len(rows) > NAMED else ''}"
    problem = Problem(
        kind=kind, file="documents", sentence=sentence, remedy=remedy, count=len(rows), lines=lines, place="row"
    )
    return InputError(f"{sentence}: {where}", hint=remedy, problems=[problem])


def _batches(documents: Documents) -> Iterator[pa.RecordBatch | tuple[Strings, Strings]]:
    if isinstance(documents, pa.RecordBatch):
        yield documents
        return
    if isinstance(documents, pa.Table):
        yield from documents.to_batches()
        return
    rest: Iterator[Any] = iter(documents)
    for first in rest:
        if isinstance(first, pa.RecordBatch):
            yield first
        else:
            yield _from_pairs([first, *islice(rest, ROWS - 1)])


def _from_pairs(pairs: list[tuple[str, str | None]]) -> tuple[Strings, Strings]:
    try:
        names, texts = zip(*pairs, strict=True)
        return pa.array(names, type=pa.large_string()), arrow_chunks(texts)[0]
    except UnicodeEncodeError as error:
        raise InputError("a document's name holds half of a character", hint="mend the names") from error
    except (TypeError, ValueError) as error:
        raise InputError(
            "documents must be pairs of a name and a text", hint="names and texts are strings; a text may be None"
        ) from error


def _columns(batch: pa.RecordBatch | tuple[Strings, Strings], columns: tuple[str, str]) -> tuple[Strings, Strings]:
    if isinstance(batch, tuple):
        return batch
    if missing := [name for name in columns if name not in batch.schema.names]:
        raise InputError(
            f"the documents have no column {' and no column '.join(missing)}",
            hint=f"say which columns hold names and texts; there are {', '.join(batch.schema.names)}",
        )
    names, texts = (arrow_chunks(batch.column(name))[0] for name in columns)
    return names, texts
