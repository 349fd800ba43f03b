"""An index on disk: a directory of NumPy arrays and a manifest that says which of them belong to it.

A new directory is written beside its place and gets its name when it is whole. An index that is saved where it came
from writes what is new under new names, then replaces the manifest in one step, then removes what no manifest names: a
crash leaves the old index or the new one, never half of both. Readers and writers lock the directory for a moment, so
that nobody opens what is being removed, and a writer that was overtaken by another one is refused. Only the owner may
read it, since it holds people's words.

Arrays are memory-mapped. Opening compares the size and the CRC-32 of every file with the manifest. That recognises
accidents, not attacks: do not open an index from people you do not trust.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from aidos.errors import EngineError, InputError, ParameterError

__all__ = [
    "FORMAT",
    "MANIFEST",
    "Shelf",
    "StoredArray",
    "locked",
    "new_directory",
    "read_manifest",
    "spoken_errors",
    "write_manifest",
]

MANIFEST = "index.json"
KIND = "aidos retrieval index"
FORMAT = 1
"""Rises when the arrays or the manifest change."""
PIECE = 1 << 22
"""Bytes read at once for a checksum."""
DAMAGED = "build it again from the documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArray:
    """A file of an index, as the manifest knows it."""

    file: str
    bytes: int
    crc32: int


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

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, StoredArray]:
        """Write arrays; those that `allocate` made are where they belong already."""
        return {name: self._stored(name, array) for name, array in arrays.items()}

    def load(self, entries: Mapping[str, StoredArray], *, verify: bool = True) -> dict[str, NDArray[Any]]:
        """Map arrays; writing to them changes memory only."""
        if verify:
            for entry in entries.values():
                self._check(entry)
        return {name: self._mapped(entry) for name, entry in entries.items()}

    def remove(self, entries: Mapping[str, StoredArray]) -> None:
        """Remove the files of arrays that are needed no longer; who has mapped them keeps them."""
        for entry in entries.values():
            (self.directory / entry.file).unlink(missing_ok=True)

    def _new(self, name: str) -> Path:
        self._written += 1
        path = self.directory / f"{self.generation:06d}-{self._written:04d}-{name}.npy"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        return path

    def _stored(self, name: str, array: NDArray[Any]) -> StoredArray:
        if isinstance(array, np.memmap) and array.filename and Path(array.filename).parent == self.directory:
            array.flush()
            path = Path(array.filename)
        else:
            path = self._new(name)
            with path.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        _sync(path)
        return StoredArray(file=path.name, bytes=path.stat().st_size, crc32=_checksum(path))

    def _check(self, entry: StoredArray) -> None:
        path = self.directory / entry.file
        if Path(entry.file).name != entry.file or not path.is_file():
            raise InputError(f"{self.directory}: the file {Path(entry.file).name} is missing", hint=DAMAGED)
        if path.stat().st_size != entry.bytes:
            raise InputError(f"{path} has {path.stat().st_size} bytes, but {entry.bytes} were written", hint=DAMAGED)
        if _checksum(path) != entry.crc32:
            raise InputError(f"{path} is damaged: its checksum is not the one that was written", hint=DAMAGED)

    def _mapped(self, entry: StoredArray) -> NDArray[Any]:
        path = self.directory / entry.file
        try:
            # Copy on write: compiled code takes it for an ordinary array, and the file stays as it is.
            return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{path} is no array that can be mapped", hint=DAMAGED) from error


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A private directory beside ``target`` that takes its name when all went well, and is removed otherwise."""
    if target.exists():
        raise ParameterError(f"{target} exists already", hint="choose another name, or remove it first")
    if not target.absolute().parent.is_dir():
        raise ParameterError(f"the directory of {target} does not exist", hint=f"make it: mkdir -p {target.parent}")
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with spoken_errors(target):
            partial.mkdir(mode=0o700)
            yield partial
            _sync(partial)
            partial.rename(target)
            _sync(target.absolute().parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def spoken_errors(path: Path) -> Iterator[None]:
    """Say in words that an index cannot be written."""
    try:
        yield
    except OSError as error:
        # NumPy says how much it wrote of what it should, without a number, when there is no more room.
        full = error.errno in {None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        reason = "the disk is full" if full else error.strerror
        raise EngineError(
            f"{path} cannot be written: {reason}", hint="free some space or choose another place"
        ) from error


@contextmanager
def locked(directory: Path, *, alone: bool) -> Iterator[None]:
    """Hold the directory, alone to write or with others to read."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"there is no index {directory}", hint="check the name: an index is a directory") from error
    except OSError as error:
        raise EngineError(
            f"{directory} cannot be opened: {error.strerror}", hint="only its owner may read it"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def write_manifest(directory: Path, facts: Mapping[str, object]) -> None:
    """Make ``facts`` what the directory holds, in one step, and remove the files that they do not name."""
    said = {"kind": KIND, "format": FORMAT, **facts}
    partial = directory / f".{MANIFEST}.partial"
    with os.fdopen(os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({**said, "checksum": _seal(said)}, file, indent=1, default=asdict)
        file.flush()
        os.fsync(file.fileno())
    _sync(directory)
    partial.replace(directory / MANIFEST)
    _sync(directory)
    text = (directory / MANIFEST).read_text(encoding="utf-8")
    for path in directory.glob("*.npy"):
        if f'"{path.name}"' not in text:
            path.unlink(missing_ok=True)


def read_manifest(directory: Path) -> dict[str, Any]:
    """What the directory holds, or why it is no index."""
    path = directory / MANIFEST
    if not path.is_file():
        raise InputError(f"{directory} is no index: it has no {MANIFEST}", hint="name the directory of an index")
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}", hint="only its owner may read it") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged: it is no JSON", hint=DAMAGED) from error
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise InputError(f"{path} is not the manifest of an index", hint="name the directory of an index")
    if said.get("format") != FORMAT:
        raise InputError(
            f"{directory} has format {said.get('format')}, this aidos reads {FORMAT}",
            hint="update aidos, or " + DAMAGED,
        )
    if said.pop("checksum", None) != _seal(said):
        raise InputError(f"{path} is damaged: its checksum is not the one that was written", hint=DAMAGED)
    return said


def _seal(said: Mapping[str, object]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True, default=asdict).encode("utf-8"))


def _checksum(path: Path) -> int:
    code = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            code = zlib.crc32(piece, code)
    return code


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
