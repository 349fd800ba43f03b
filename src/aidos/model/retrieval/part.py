"""One batch of documents in full: its postings, the terms of every document, and the documents' names.

Parts are values: deleting makes a part with other marks over the same arrays, merging makes one of several. Merging
leaves deleted documents out and keeps the order of the others, so that no ranking depends on how an index is cut.

A segment is the postings of one batch: who contains which term how often, as plain arrays. An index is a list of them.
Arrays may be memory-mapped; nobody writes to them except for the marks of deletion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.engine.sealed import StoredFile
from aidos.errors import InputError
from aidos.model.retrieval.kernels.postings import append_names, append_postings, append_rows, invert, tally
from aidos.model.retrieval.storage import DAMAGED
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["Allocate", "Forward", "Part", "Segment", "assemble", "in_memory", "merge_parts"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Array = NDArray[Any]
Allocate = Callable[[str, Any, int], Array]
"""Makes the array of that name, type and length: in memory, or as a file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forward:
    """Terms by document: those of document d stand from ``starts[d]`` to ``starts[d + 1]``, in order of appearance."""

    starts: Longs
    """One more than there are documents."""
    terms: Ints
    """Numbers in the vocabulary, each once a document."""
    frequencies: Ints
    """How often the term stands in the document."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A segment with what only the index itself needs."""

    segment: Segment
    """What scorers read."""
    forward: Forward
    """The way from documents to terms."""
    names: Vocabulary
    """The documents' names; a document's number is its name's."""
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    """Arrays that are on disk already, by name."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], files: Mapping[str, StoredFile]) -> Part:
        """A part over the arrays that `arrays` gave."""
        segment = {name: arrays[name] for name in ("starts", "documents", "frequencies", "lengths", "deleted")}
        forward = {name: arrays[f"forward_{name}"] for name in ("starts", "terms", "frequencies")}
        names = {name: arrays[f"names_{name}"] for name in ("bytes", "offsets", "table")}
        return cls(
            segment=Segment(**segment), forward=Forward(**forward), names=Vocabulary.from_arrays(names), files=files
        )

    def arrays(self) -> dict[str, Array]:
        """Everything it holds, by name."""
        segment, forward = self.segment, self.forward
        return {
            "starts": segment.starts,
            "documents": segment.documents,
            "frequencies": segment.frequencies,
            "lengths": segment.lengths,
            "deleted": segment.deleted,
            "forward_starts": forward.starts,
            "forward_terms": forward.terms,
            "forward_frequencies": forward.frequencies,
            **{f"names_{name}": array for name, array in self.names.arrays().items()},
        }

    @property
    def weight(self) -> int:
        """How much work it is to merge: documents and postings."""
        return len(self.segment) + len(self.segment.documents)

    def without(self, numbers: Longs) -> Part:
        """The same with more documents marked as deleted."""
        deleted = np.array(self.segment.deleted)
        deleted[numbers] = True
        files = {name: file for name, file in self.files.items() if name != "deleted"}
        return replace(self, segment=replace(self.segment, deleted=deleted), files=files)


def in_memory(name: str, kind: Any, length: int) -> Array:  # noqa: ARG001
    """An array of zeros that is no file."""
    return np.zeros(length, dtype=kind)


def assemble(forward: Forward, lengths: Ints, names: Vocabulary, terms: int) -> Part:
    """The part of documents whose terms are counted; ``terms`` is the size of the vocabulary."""
    starts = np.zeros(terms + 1, dtype=np.int64)
    documents, frequencies = np.empty_like(forward.terms), np.empty_like(forward.terms)
    invert(forward.starts, forward.terms, forward.frequencies, starts, documents, frequencies)
    segment = Segment(
        starts=starts,
        documents=documents,
        frequencies=frequencies,
        lengths=lengths,
        deleted=np.zeros(len(lengths), dtype=np.bool_),
    )
    return Part(segment=segment, forward=forward, names=names)


def merge_parts(parts: Sequence[Part], terms: int, allocate: Allocate = in_memory) -> Part:
    """One part of several, in their order, without deleted documents."""
    alive = [~part.segment.deleted for part in parts]
    firsts = np.cumsum([0, *(np.count_nonzero(marks) for marks in alive)])
    numbers = [_renumbered(marks, int(first)) for marks, first in zip(alive, firsts[:-1], strict=True)]
    lengths = allocate("lengths", np.int32, int(firsts[-1]))
    np.concatenate([part.segment.lengths[marks] for part, marks in zip(parts, alive, strict=True)], out=lengths)
    forward = _merged_rows(parts, numbers, len(lengths), allocate)
    starts = allocate("starts", np.int64, terms + 1)
    tally(forward.terms, starts)
    documents = allocate("documents", np.int32, len(forward.terms))
    frequencies = allocate("frequencies", np.int32, len(forward.terms))
    cursor = np.array(starts)
    for part, new in zip(parts, numbers, strict=True):
        old = part.segment
        if not append_postings(old.starts, old.documents, old.frequencies, new, cursor, starts, documents, frequencies):
            raise InputError("the index is damaged: its postings and its documents differ", hint=DAMAGED)
    segment = Segment(
        starts=starts,
        documents=documents,
        frequencies=frequencies,
        lengths=lengths,
        deleted=allocate("deleted", np.bool_, len(lengths)),
    )
    return Part(segment=segment, forward=forward, names=_merged_names(parts, numbers, len(lengths)))


def _renumbered(alive: NDArray[np.bool_], first: int) -> Ints:
    numbers = np.full(len(alive), -1, dtype=np.int32)
    numbers[alive] = np.arange(first, first + np.count_nonzero(alive), dtype=np.int32)
    return numbers


def _merged_rows(parts: Sequence[Part], numbers: Sequence[Ints], documents: int, allocate: Allocate) -> Forward:
    sizes = [np.diff(part.forward.starts)[new >= 0].sum() for part, new in zip(parts, numbers, strict=True)]
    starts = allocate("forward_starts", np.int64, documents + 1)
    terms = allocate("forward_terms", np.int32, int(sum(sizes)))
    frequencies = allocate("forward_frequencies", np.int32, int(sum(sizes)))
    for part, new in zip(parts, numbers, strict=True):
        old = part.forward
        append_rows(old.starts, old.terms, old.frequencies, new, starts, terms, frequencies)
    return Forward(starts=starts, terms=terms, frequencies=frequencies)


def _merged_names(parts: Sequence[Part], numbers: Sequence[Ints], documents: int) -> Vocabulary:
    stored = [part.names.arrays() for part in parts]
    offsets = np.zeros(documents + 1, dtype=np.int64)
    store = np.empty(sum(len(old["bytes"]) for old in stored), dtype=np.uint8)
    for old, new in zip(stored, numbers, strict=True):
        append_names(old["offsets"].view(np.int64), old["bytes"].view(np.uint8), new, offsets, store)
    return Vocabulary.from_distinct(store[: offsets[-1]], offsets)


Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """Postings by term: those of term t stand from starts[t] to starts[t + 1], by document."""

    starts: Longs
    """One more than there are terms in the segment; terms beyond are not in it."""
    documents: Ints
    """Number of the document within the segment, rising within a term."""
    frequencies: Ints
    """How often the term stands in it, at least 1."""
    lengths: Ints
    """Terms of each document, deleted ones included."""
    deleted: Marks
    """Documents that are gone."""
    longest: int = field(init=False)
    """Terms of the longest document."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", int(self.lengths.max(initial=0)))

    def __len__(self) -> int:
        return len(self.lengths)
