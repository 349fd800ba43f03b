"""An index on disk: a directory of NumPy arrays and a manifest that says which of them belong to it.

A new directory is written beside its place and gets its name when it is whole. An index that is saved where it came
from writes what is new under new names, then replaces the manifest in one step, then removes what no manifest names: a
crash leaves the old index or the new one, never half of both. Readers and writers lock the directory for a moment, so
that nobody opens what is being removed, and a writer that was overtaken by another one is refused. Only the owner may
read it, since it holds people's words.

Arrays are memory-mapped. Opening compares every file with the manifest and every array with what it has to be (see
`aidos.engine.sealed`): a damaged index is refused, whoever damaged it. Whether its numbers are true nobody can tell.

Postings and rows say the same twice. That they agree is not looked at here, since only merging depends on it, which
stops where they do not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from aidos.engine.files import sync
from aidos.engine.sealed import PIECE, Spec, StoredFile, check_arrays, check_files, damage, map_array
from aidos.engine.store import Manifest

__all__ = [
    "ABOUT",
    "DAMAGED",
    "LONGEST",
    "MANIFEST",
    "Shelf",
    "check_collection",
    "check_part",
    "check_strings",
    "write_manifest",
]

MANIFEST = "index.json"
DAMAGED = "build it again from the documents"
ABOUT = Manifest(
    file=MANIFEST,
    kind="aidos retrieval index",
    version=1,
    noun="an index",
    first="check the name: an index is a directory",
    named="name the directory of an index",
    again=DAMAGED,
)


class Shelf:
    """Writes and maps the arrays of one directory; ``generation`` tells the files of one saving from the others'."""

    def __init__(self, directory: Path, generation: int) -> None:
        self.directory = directory
        self.generation = generation
        self._written = 0

    def allocate(self, name: str, kind: Any, length: int) -> NDArray[Any]:
        """An array of zeros that is a file from the beginning."""
        made: NDArray[Any] = open_memmap(self._new(name), mode="w+", dtype=kind, shape=(length,))
        return made

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, StoredFile]:
        """Write arrays; those that `allocate` made are where they belong already."""
        return {name: self._stored(name, array) for name, array in arrays.items()}

    def load(self, entries: Mapping[str, StoredFile], *, verify: bool = True) -> dict[str, NDArray[Any]]:
        """Map arrays; writing to them changes memory only."""
        if verify:
            check_files(self.directory, entries.values(), again=DAMAGED)
        return {name: map_array(self.directory / entry.file, again=DAMAGED) for name, entry in entries.items()}

    def remove(self, entries: Mapping[str, StoredFile]) -> None:
        """Remove the files of arrays that are needed no longer; who has mapped them keeps them."""
        for entry in entries.values():
            (self.directory / entry.file).unlink(missing_ok=True)

    def _new(self, name: str) -> Path:
        self._written += 1
        path = self.directory / f"{self.generation:06d}-{self._written:04d}-{name}.npy"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        return path

    def _stored(self, name: str, array: NDArray[Any]) -> StoredFile:
        if isinstance(array, np.memmap) and array.filename and Path(array.filename).parent == self.directory:
            array.flush()
            path = Path(array.filename)
        else:
            path = self._new(name)
            with path.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        sync(path)
        return StoredFile.of(self.directory, path.name)


def write_manifest(directory: Path, facts: Mapping[str, object]) -> None:
    """Make ``facts`` what the directory holds, in one step, and remove the files that they do not name."""
    sync(directory)  # files before the manifest that names them
    ABOUT.write(directory, facts)
    text = (directory / MANIFEST).read_text(encoding="utf-8")
    for path in directory.glob("*.npy"):
        if f'"{path.name}"' not in text:
            path.unlink(missing_ok=True)


Arrays = Mapping[str, NDArray[Any]]

LONGEST = 1 << 24
"""Terms of a document are fewer: scorers keep a number for every length."""
LOW = np.uint64(0xFFFFFFFF)
STRINGS = {
    "bytes": Spec(kind=np.uint8),
    "offsets": Spec(kind=np.int64, offsets="bytes"),
    "table": Spec(kind=np.uint64),
}
PART = {
    "starts": Spec(kind=np.int64, offsets="postings"),
    "documents": Spec(kind=np.int32, shape=("postings",), below="documents"),
    "frequencies": Spec(kind=np.int32, shape=("postings",), least=1),
    "lengths": Spec(kind=np.int32, shape=("documents",), below="longest"),
    "deleted": Spec(kind=np.bool_, shape=("documents",)),
    "forward_starts": Spec(kind=np.int64, shape=("documents",), offsets="postings"),
    "forward_terms": Spec(kind=np.int32, shape=("postings",), below="terms"),
    "forward_frequencies": Spec(kind=np.int32, shape=("postings",), least=1),
}
COLLECTION = {
    "term_counts": Spec(kind=np.int64, shape=("terms",), least=0),
    "document_counts": Spec(kind=np.int64, shape=("terms",), least=0),
}


def check_strings(place: Path, arrays: Arrays, *, again: str) -> None:
    """Refuse a vocabulary whose strings are none, or whose table cannot be searched."""
    sizes = {"bytes": arrays["bytes"].size} if "bytes" in arrays else {"bytes": 0}
    check_arrays(place, arrays, STRINGS, sizes, again=again)
    offsets, table, count = arrays["offsets"], arrays["table"], len(arrays["offsets"]) - 1
    strings = pa.LargeStringArray.from_buffers(count, pa.py_buffer(offsets.data), pa.py_buffer(arrays["bytes"].data))
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid as error:
        raise damage(place, "it holds words that are no text", again) from error
    # A search ends at an empty slot, so there must be some; and every other slot leads to a string.
    taken, last = 0, 0
    for at in range(0, len(table), PIECE):
        numbers = table[at : at + PIECE] & LOW
        taken, last = taken + int(np.count_nonzero(table[at : at + PIECE])), max(last, int(numbers.max()))
        if np.count_nonzero(numbers) != np.count_nonzero(table[at : at + PIECE]):
            raise damage(place, "the table of its words has slots that lead nowhere", again)
    if len(table).bit_count() != 1 or taken != count or count >= len(table) or last > count:
        raise damage(place, "the table of its words does not fit them", again)


def check_part(place: Path, arrays: Arrays, terms: int, *, again: str) -> None:
    """Refuse a part of an index of so many terms."""
    sizes = {"terms": terms, "longest": LONGEST}
    for size, name in (("documents", "lengths"), ("postings", "documents")):
        sizes[size] = arrays[name].size if name in arrays else 0
    check_arrays(place, arrays, PART, sizes, again=again)
    names = {name: arrays[f"names_{name}"] for name in STRINGS if f"names_{name}" in arrays}
    check_strings(place, names, again=again)
    if len(arrays["starts"]) - 1 > terms or len(names["offsets"]) - 1 != sizes["documents"]:
        raise damage(place, "its parts do not belong together", again)


def check_collection(place: Path, arrays: Arrays, terms: int, *, again: str) -> None:
    """Refuse the counts of an index of so many terms."""
    check_arrays(place, arrays, COLLECTION, {"terms": terms}, again=again)
