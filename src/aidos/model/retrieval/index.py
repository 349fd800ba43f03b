"""An index of documents or posts: their terms, counted, with the statistics that scorers and personalisation need.

It is built in bounded memory, saved, memory-mapped, and changed: documents are added and deleted. Statistics are those
of the documents that are left, exactly, and no ranking depends on the order of such changes or on how the index is cut
into segments. Documents have names; a name that is taken is refused, and to replace a document one deletes it first.
Empty documents are kept, with length 0. Changes stay in memory until `Index.save`.

What deleting does not promise: a deleted document is found no more, but its terms lie in the files until its segment is
merged, and the vocabulary keeps its words for good. Where they must be gone, build the index again without it.
An index holds people's words: it is no release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.engine.files import directory_when_done, spoken_errors
from aidos.engine.sealed import damage, stored_entries
from aidos.errors import EngineError, InputError, ParameterError
from aidos.model.retrieval.building import Builder, Documents, complain, grown, read_documents, read_size
from aidos.model.retrieval.kernels.postings import subtract
from aidos.model.retrieval.part import Forward, Part, Segment, merge_parts
from aidos.model.retrieval.scorers import Collection
from aidos.model.retrieval.storage import (
    ABOUT,
    DAMAGED,
    Shelf,
    check_collection,
    check_part,
    check_strings,
    write_manifest,
)
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import BatchAnalysis
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["Index"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
COLUMNS = ("post_id", "text")
MEMORY = "512MB"


class Index:
    """Documents by term and terms by document. Make one with `build` or `open`; one thread may change it at a time."""

    def __init__(self, analyser: Analyser) -> None:
        """An index without documents."""
        nothing = np.zeros(0, dtype=np.int64)
        self.analyser = analyser
        self._analysis = BatchAnalysis(analyser, Vocabulary())
        self._parts: list[Part] = []
        self._collection = Collection(documents=0, tokens=0, term_counts=nothing, document_counts=nothing)
        self._home: Path | None = None
        self._generation = 0

    @classmethod
    def build(  # noqa: PLR0913 (what to index, how, where to, and how much memory)
        cls,
        documents: Documents,
        *,
        analyser: Analyser,
        path: Path | None = None,
        columns: tuple[str, str] = COLUMNS,
        memory: str | int = MEMORY,
        progress: Progress = SILENT,
    ) -> Self:
        """Index documents: pairs of a name and a text, or Arrow tables with these ``columns``.

        With a ``path`` the index is written there as it grows, within ``memory``; without, all of it stays in memory.
        """
        index = cls(analyser)
        if path is None:
            index.add(documents, columns=columns, memory=memory, progress=progress)
            return index
        with directory_when_done(path, private=True) as partial:
            shelf = Shelf(partial, 1)
            index._add(documents, columns, read_size(memory), progress, shelf)
            index._write(shelf)
        return cls.open(path, verify=False)

    @classmethod
    def open(cls, path: Path, *, verify: bool = True) -> Self:
        """Map an index that was saved, if it is one that can be searched.

        With ``verify`` all files are compared with their checksums; whoever has just written them knows that already.
        """
        with ABOUT.held(path, alone=False, wait=None):
            facts = ABOUT.read(path)
            with ABOUT.understood(path):
                shelf = Shelf(path, int(facts["generation"]))
                index = cls(_analyser(facts["analyser"]))
                said = [stored_entries(facts[name]) for name in ("vocabulary", "collection")]
                parts = [stored_entries(entries) for entries in facts["segments"]]
            vocabulary, counts = (shelf.load(entries, verify=verify) for entries in said)
            check_strings(path, vocabulary, again=DAMAGED)
            terms = len(vocabulary["offsets"]) - 1
            check_collection(path, counts, terms, again=DAMAGED)
            index._analysis = BatchAnalysis(index.analyser, Vocabulary.from_arrays(vocabulary))
            for entries in parts:
                arrays = shelf.load(entries, verify=verify)
                check_part(path, arrays, terms, again=DAMAGED)
                index._parts.append(Part.from_arrays(arrays, entries))
        documents, tokens = _totals(index.segments)
        index._collection = Collection(documents=documents, tokens=tokens, **counts)
        if (facts.get("documents"), facts.get("tokens")) != (documents, tokens):
            raise damage(path, "it has other documents than its manifest says", DAMAGED)
        index._home, index._generation = path.resolve(), shelf.generation
        return index

    def save(self, path: Path) -> None:
        """Write the index to a new directory, or what changed to the one it came from; whole or not at all."""
        if self._home is None or path.resolve() != self._home:
            with directory_when_done(path, private=True) as partial:
                self._parts = [replace(part, files={}) for part in self._parts]
                self._write(Shelf(partial, 1))
        else:
            with spoken_errors(path), ABOUT.held(path, wait=None):
                if ABOUT.read(path).get("generation") != self._generation:
                    raise EngineError(
                        f"{path} was changed by somebody else since it was opened",
                        hint="open it again, or save to another place; nothing was written",
                    )
                self._write(Shelf(path, self._generation + 1))
        vars(self).update(vars(type(self).open(path, verify=False)))

    def __len__(self) -> int:
        return self._collection.documents

    @property
    def segments(self) -> Sequence[Segment]:
        """The postings, in the order of the documents."""
        return tuple(part.segment for part in self._parts)

    @property
    def forwards(self) -> Sequence[Forward]:
        """The terms of every document, one for each of the segments."""
        return tuple(part.forward for part in self._parts)

    @property
    def collection(self) -> Collection:
        """Statistics of all documents that are not deleted; one count for every term of the vocabulary."""
        return self._collection

    @property
    def vocabulary(self) -> Vocabulary:
        """The terms and their numbers."""
        return self._analysis.vocabulary

    def names(self, segment: int, numbers: Iterable[int]) -> list[str]:
        """The names of documents of one segment."""
        return self._parts[segment].names.terms(np.fromiter(numbers, dtype=np.int64))

    def find(self, name: str) -> tuple[int, int] | None:
        """The segment of a document and its number there."""
        for segment, part in enumerate(self._parts):
            number = part.names.find(name)
            if number is not None and not part.segment.deleted[number]:
                return segment, number
        return None

    def document(self, name: str) -> tuple[Ints, Ints]:
        """The terms of a document, rising, and how often each stands in it."""
        place = self.find(name)
        if place is None:
            raise InputError("there is no document of that name in the index", hint="look at the names of documents")
        forward = self._parts[place[0]].forward
        row = slice(forward.starts[place[1]], forward.starts[place[1] + 1])
        order = np.argsort(forward.terms[row])
        return forward.terms[row][order], forward.frequencies[row][order]

    def add(
        self,
        documents: Documents,
        *,
        columns: tuple[str, str] = COLUMNS,
        memory: str | int = MEMORY,
        progress: Progress = SILENT,
    ) -> None:
        """Add documents whose names are not taken; all of them or, when one is refused, none."""
        self._add(documents, columns, read_size(memory), progress, None)

    def delete(self, names: Sequence[str]) -> None:
        """Delete documents; all of them or, when one is not there, none."""
        places = [self.find(name) for name in names]
        if missing := [row for row, place in enumerate(places) if place is None]:
            remedy = "delete only documents that are in the index; nothing was deleted"
            raise complain("unknown-name", "there is no document of that name", remedy, np.array(missing))
        by_segment: dict[int, set[int]] = {}
        for segment, number in filter(None, places):
            by_segment.setdefault(segment, set()).add(number)
        for segment, numbers in by_segment.items():
            self._delete(segment, np.array(sorted(numbers), dtype=np.int64))
        self._parts = [part for part in self._parts if len(part.segment)]

    def _add(
        self, documents: Documents, columns: tuple[str, str], memory: int, progress: Progress, shelf: Shelf | None
    ) -> None:
        builder = Builder(self._analysis, parts=self._parts, collection=self._collection, memory=memory, shelf=shelf)
        try:
            with progress.task("indexing", total=None, unit="documents") as task:
                for names, texts in read_documents(documents, columns):
                    builder.add(names, texts)
                    task.advance(len(names))
            builder.flush()
            self._parts, self._collection = builder.parts, builder.collection
        finally:
            # Words of documents that were refused may have joined the vocabulary.
            self._collection = grown(self._collection, len(self.vocabulary))

    def _delete(self, segment: int, numbers: Longs) -> None:
        part, counted = self._parts[segment], grown(self._collection, len(self.vocabulary))
        forward = part.forward
        subtract(
            forward.starts, forward.terms, forward.frequencies, numbers, counted.term_counts, counted.document_counts
        )
        self._collection = replace(
            counted,
            documents=counted.documents - len(numbers),
            tokens=counted.tokens - int(part.segment.lengths[numbers].sum(dtype=np.int64)),
        )
        part = part.without(numbers)
        mostly_gone = 2 * np.count_nonzero(part.segment.deleted) > len(part.segment)
        self._parts[segment] = merge_parts([part], len(self.vocabulary)) if mostly_gone else part

    def _write(self, shelf: Shelf) -> None:
        """Write what is not on the shelf yet, then the manifest."""
        segments = []
        for part in self._parts:
            new = {name: array for name, array in part.arrays().items() if name not in part.files}
            segments.append({**part.files, **shelf.put(new)})
        counts = {
            "term_counts": self._collection.term_counts,
            "document_counts": self._collection.document_counts,
        }
        facts = {
            "generation": shelf.generation,
            "analyser": str(self.analyser),
            "documents": self._collection.documents,
            "tokens": self._collection.tokens,
            "vocabulary": shelf.put(self.vocabulary.arrays()),
            "collection": shelf.put(counts),
            "segments": segments,
        }
        write_manifest(shelf.directory, facts)


def _totals(segments: Sequence[Segment]) -> tuple[int, int]:
    """Documents that are not deleted, and their terms."""
    alive = [segment.lengths[~segment.deleted] for segment in segments]
    return sum(map(len, alive)), sum(int(each.sum(dtype=np.int64)) for each in alive)


def _analyser(text: str) -> Analyser:
    try:
        return Analyser.parse(text)
    except ParameterError as error:
        raise ValueError(text) from error
