"""Files of state directories that compiled code reads: as they were written, and arrays that are what they must be.

Compiled code looks nothing up twice: an offset that points too far reads memory of somebody else, or ends the process.
So whatever it is given is checked when it is opened, in two ways. A manifest names size and CRC-32 of every file,
which recognises accidents: a flipped bit, a file that was cut or took the place of another. And arrays are held against
a `Spec` each: their type, how long they are, where values may lie, whether they are offsets that rise from 0 to the end
of another array. That holds as well for a directory that somebody made on purpose, with checksums that are right.

What is not promised: that the numbers are true. And a file must not be changed while it is mapped.
"""

from __future__ import annotations

import os
import tokenize
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from aidos.engine.inputs import open_input
from aidos.errors import InputError

__all__ = [
    "PIECE",
    "UNREADABLE",
    "Spec",
    "StoredFile",
    "check_arrays",
    "check_files",
    "damage",
    "map_array",
    "store_files",
    "stored_entries",
]

PIECE = 1 << 22
"""Bytes, or values, that are looked at at once."""
UNREADABLE = (
    *(OSError, ValueError, EOFError, SyntaxError, TypeError, OverflowError),
    *(RecursionError, MemoryError, tokenize.TokenError),
)
"""What NumPy raises where the head of an array is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of a directory, as the manifest knows it."""

    file: str
    bytes: int
    crc32: int
    footer: bool = False
    """Whether the checksum is that of a Parquet file's footer alone: its pages have checksums of their own."""

    @classmethod
    def of(cls, directory: Path, file: str, *, footer: bool = False) -> StoredFile:
        """As it is now."""
        with (directory / file).open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            return cls(file=file, bytes=size, crc32=_checksum(opened, size, footer=footer), footer=footer)

    def check(self, directory: Path, *, again: str) -> Path:
        """The path of the file, which is as it was written; InputError otherwise."""
        path = directory / self.file
        if Path(self.file).is_absolute() or ".." in Path(self.file).parts or not path.is_file():
            raise damage(directory, f"the file {Path(self.file).name} is missing", again)
        with open_input(path) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size != self.bytes:
                raise damage(path, f"it has {size} bytes, but {self.bytes} were written", again)
            if _checksum(opened, size, footer=self.footer) != self.crc32:
                raise damage(path, "its checksum is not the one that was written", again)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What an array has to be. Sizes are named; what the names stand for is said when it is checked."""

    kind: type[np.generic]
    """The type of its values, in the byte order of this machine."""
    shape: tuple[str, ...] = ("",)
    """A size for each dimension; an empty name is any size."""
    least: int | None = None
    """No value is smaller; 0 where ``below`` is given and this is not."""
    below: str = ""
    """Values are smaller than this size."""
    offsets: str = ""
    """Values rise from 0 to this size, and there is one more of them than the shape says."""
    distinct: bool = False
    """Every number below the size stands there once."""

    def problem(self, array: NDArray[Any], sizes: Mapping[str, int]) -> str:
        """What is wrong with it; empty where nothing is."""
        if array.dtype != np.dtype(self.kind) or not array.flags.c_contiguous or not array.flags.aligned:
            return f"is not made of {np.dtype(self.kind).name}"
        wanted = tuple(sizes[name] + bool(self.offsets) if name else None for name in self.shape)
        if array.ndim != len(wanted) or any(
            size is not None and size != found for size, found in zip(wanted, array.shape, strict=True)
        ):
            return "does not have the length that belongs to the others"
        flat = array.reshape(-1)
        if self.offsets:
            return "" if _rises(flat, sizes[self.offsets]) else "does not point into what it belongs to"
        if self.distinct and not _is_permutation(flat, sizes[self.below]):
            return "does not number all that there are"
        return "" if self._in_range(flat, sizes) else "holds values that cannot be"

    def _in_range(self, flat: NDArray[Any], sizes: Mapping[str, int]) -> bool:
        if flat.dtype.kind == "f":
            return not any(np.isnan(piece).any() for piece in _pieces(flat))
        if flat.dtype.kind == "b":
            return bool(flat.view(np.uint8).max(initial=0) <= 1)
        least = 0 if self.below and self.least is None else self.least
        low = least is None or not flat.size or int(flat.min()) >= least
        return low and (not self.below or not flat.size or int(flat.max()) < sizes[self.below])


def damage(path: Path, what: str, again: str) -> InputError:
    """The error for what is not as it was written."""
    return InputError(f"{path} is damaged: {what}", hint=again)


def store_files(directory: Path, files: Iterable[Path], *, footers: bool = False) -> dict[str, StoredFile]:
    """Files of a directory by their names in it, as they are now; of Parquet files perhaps the footers alone."""
    names = sorted(path.relative_to(directory).as_posix() for path in files)
    return {name: StoredFile.of(directory, name, footer=footers and name.endswith(".parquet")) for name in names}


def stored_entries(said: Any) -> dict[str, StoredFile]:
    """What a manifest says of files; TypeError or ValueError where it says something else."""
    entries = {str(name): StoredFile(**entry) for name, entry in said.items()}
    for entry in entries.values():
        kinds = (type(entry.file), type(entry.bytes), type(entry.crc32), type(entry.footer))
        if kinds != (str, int, int, bool) or "\0" in entry.file:
            raise ValueError("not a file")
    return entries


def check_files(directory: Path, entries: Iterable[StoredFile], *, again: str) -> None:
    """Refuse files that are not as they were written; several are read at once."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for _ in pool.map(partial(StoredFile.check, directory=directory, again=again), entries):
            pass


def map_array(path: Path, *, again: str) -> NDArray[Any]:
    """Map an array; writing to it changes memory only."""
    if not path.is_file():
        raise damage(path.parent, f"{path.name} is missing", again)
    try:
        # Copy on write: compiled code takes it for an ordinary array, and the file stays as it is.
        return np.asarray(open_memmap(path, mode="c"))
    except UNREADABLE as error:
        raise damage(path, "it is no array that can be mapped", again) from error


def check_arrays(
    place: Path, arrays: Mapping[str, NDArray[Any]], specs: Mapping[str, Spec], sizes: Mapping[str, int], *, again: str
) -> None:
    """Refuse arrays that are missing, or not as they are declared."""
    for name, spec in specs.items():
        wrong = spec.problem(arrays[name], sizes) if name in arrays else "is missing"
        if wrong:
            raise damage(place, f"the array {name} {wrong}", again)


def _rises(offsets: NDArray[Any], end: int) -> bool:
    if not len(offsets) or int(offsets[0]) != 0 or int(offsets[-1]) != end:
        return False
    pairs = zip(_pieces(offsets[:-1]), _pieces(offsets[1:]), strict=True)
    return all(bool((before <= behind).all()) for before, behind in pairs)


def _is_permutation(numbers: NDArray[Any], size: int) -> bool:
    if len(numbers) != size or (size and not (int(numbers.min()) >= 0 and int(numbers.max()) < size)):
        return False
    seen = np.zeros(size, dtype=np.bool_)
    seen[numbers] = True
    return bool(seen.all())


def _pieces(flat: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (flat[at : at + PIECE] for at in range(0, len(flat), PIECE))


def _checksum(file: BinaryIO, size: int, *, footer: bool) -> int:
    """Of the whole file or, for Parquet, of the footer."""
    if footer and size >= 8:
        file.seek(size - 8)
        file.seek(max(0, size - 8 - int.from_bytes(file.read(4), "little")))
    code = 0
    while piece := file.read(PIECE):
        code = zlib.crc32(piece, code)
    return code
