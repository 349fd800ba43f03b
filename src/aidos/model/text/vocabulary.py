"""Distinct strings and their numbers, in arrays that can be memory-mapped.

Numbers are given in the order of first appearance, so that the same texts give the same numbers, however they were cut
into batches. The same table numbers the terms of an index and the names of its documents. At most 2^31 of them.

It is not for several threads that add at once; any number may look up while nobody adds.

Compiled code takes strings as one array: the bytes of all, and where each begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.model.compiled import plainly
from aidos.model.text.kernels import find_all, fresh_table, intern_all, rehash

__all__ = ["Strings", "Texts", "Vocabulary", "arrow_chunks", "packed", "portions"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
FEW = 1000
"""Bytes of words that are looked up without waking the compiler."""
Kind = TypeVar("Kind", bound=np.generic)


class Vocabulary:
    """Strings by number and numbers by string; it only grows."""

    __slots__ = ("_count", "_offsets", "_store", "_table")

    def __init__(self, strings: Sequence[str] = ()) -> None:
        self._store: Bytes = np.zeros(0, dtype=np.uint8)
        self._offsets: Longs = np.zeros(1, dtype=np.int64)
        self._table = fresh_table(0)
        self._count = 0
        if strings:
            self.intern(pa.array(strings, type=pa.large_string()))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """A vocabulary over the arrays that `arrays` gave; the table is written in place when something is added."""
        made = cls()
        made._store, made._offsets = arrays["bytes"].view(np.uint8), arrays["offsets"].view(np.int64)
        made._table = arrays["table"].view(np.uint64)
        made._count = len(made._offsets) - 1
        return made

    @classmethod
    def from_distinct(cls, store: Bytes, offsets: Longs) -> Self:
        """A vocabulary of strings that are all different, string i from ``offsets[i]`` to ``offsets[i + 1]``."""
        count = len(offsets) - 1
        table = rehash(store, offsets, count, len(fresh_table(count)))
        return cls.from_arrays({"bytes": store, "offsets": offsets, "table": table})

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything it holds, to be saved; not copied."""
        used = self._offsets[: self._count + 1]
        return {"bytes": self._store[: used[-1]], "offsets": used, "table": self._table}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (self.term(number) for number in range(self._count))

    def term(self, number: int) -> str:
        """The string of a number."""
        if not 0 <= number < self._count:
            raise IndexError(number)
        return self._store[self._offsets[number] : self._offsets[number + 1]].tobytes().decode("utf-8")

    def terms(self, numbers: Longs) -> list[str]:
        """The strings of many numbers, several times faster than one by one."""
        offsets, store = self._offsets[: self._count + 1].data, self._store.data
        strings = pa.LargeStringArray.from_buffers(self._count, pa.py_buffer(offsets), pa.py_buffer(store))
        found: list[Any] = strings.take(numbers).to_pylist()
        return found

    def find(self, term: str) -> int | None:
        """The number of a string, if it has one."""
        number = int(self.ids([term])[0])
        return None if number < 0 else number

    def ids(self, terms: Sequence[str]) -> Ints:
        """The numbers of strings; -1 where there is none."""
        pieces = [term.encode("utf-8", "replace") for term in terms]
        bounds = np.zeros(len(pieces) + 1, dtype=np.int64)
        np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
        return self._found(np.frombuffer(bytearray(b"".join(pieces)), dtype=np.uint8), bounds)

    def ids_of(self, strings: Strings) -> Ints:
        """The same for Arrow strings."""
        return self._found(*_own(*packed(strings)))

    def intern(self, strings: Strings) -> Ints:
        """The numbers of strings; those not known yet get one."""
        return self.intern_packed(*_own(*packed(strings)))

    def intern_packed(self, data: Bytes, bounds: Longs) -> Ints:
        """The same for strings from ``bounds[i]`` to ``bounds[i + 1]`` of bytes in UTF-8."""
        number = len(bounds) - 1
        found = np.empty(number, dtype=np.int32)
        done = 0
        while done < number:
            self._reserve(int(bounds[-1] - bounds[done]), number - done)
            done, self._count = intern_all(
                data, bounds, self._store, self._offsets, self._table, found, done, self._count
            )
            if 2 * self._count > len(self._table):
                self._table = rehash(self._store, self._offsets, self._count, 2 * len(self._table))
        return found

    def _found(self, data: Bytes, bounds: Longs) -> Ints:
        found = np.empty(len(bounds) - 1, dtype=np.int32)
        with plainly() if len(data) <= FEW else nullcontext():
            find_all(data, bounds, self._store, self._offsets, self._table, found)
        return found

    def _reserve(self, size: int, entries: int) -> None:
        """Room for so many more bytes and strings, in arrays of its own."""
        used = int(self._offsets[self._count])
        if used + size > len(self._store):
            self._store = _enlarged(self._store[:used], used + size)
        if self._count + 1 + entries > len(self._offsets):
            self._offsets = _enlarged(self._offsets[: self._count + 1], self._count + 1 + entries)


def _own(data: Bytes, bounds: Longs) -> tuple[Bytes, Longs]:
    """A copy that may be written, as the bytes of words are: one kind of array is compiled once."""
    return data[bounds[0] : bounds[-1]].copy(), bounds - bounds[0]


def _enlarged(array: NDArray[Kind], least: int) -> NDArray[Kind]:
    """The same with room behind: half as much again, so that growing costs little in all."""
    enlarged = np.empty(max(least, len(array) * 3 // 2), dtype=array.dtype)
    enlarged[: len(array)] = array
    return enlarged


Texts: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any] | Sequence[str | None]"
"""What can be analysed: Arrow strings, or a sequence of Python's; None is an empty text."""
Strings: TypeAlias = "pa.Array[Any]"
"""Strings of Arrow, as an array without chunks."""

PLAIN = (pa.string(), pa.large_string())


def arrow_chunks(texts: Texts) -> list[Strings]:
    """Arrow strings, nothing copied where they are such already."""
    if isinstance(texts, pa.ChunkedArray):
        return [chunk for piece in texts.chunks for chunk in arrow_chunks(piece)]
    if isinstance(texts, pa.Array):
        return [texts if texts.type in PLAIN else _cast(texts)]
    try:
        return [pa.array(texts, type=pa.large_string())]
    except UnicodeEncodeError:
        # Halves of characters part words, and so does a question mark.
        whole = [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
        return [pa.array(whole, type=pa.large_string())]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError("only strings can be analysed", hint="turn other values into strings first") from error


def packed(strings: Strings) -> tuple[Bytes, Longs]:
    """Bytes of Arrow strings, and the bounds of each; null is empty."""
    if strings.null_count:
        strings = pc.fill_null(strings, pa.scalar("", strings.type))
    _, bounds, data = strings.buffers()
    content = np.frombuffer(memoryview(data or b""), dtype=np.uint8)
    content.flags.writeable = False  # compiled code is compiled once more for arrays that may be written
    if bounds is None or not len(strings):
        return content, np.zeros(1, dtype=np.int64)
    width = "int64" if strings.type == pa.large_string() else "int32"
    offsets = np.frombuffer(memoryview(bounds), dtype=width)[strings.offset : strings.offset + len(strings) + 1]
    return content, offsets.astype(np.int64)


def portions(bounds: Longs, size: int) -> Iterator[Longs]:
    """The bounds of as many strings as have about ``size`` bytes together, one portion after the other."""
    begin = 0
    while begin < len(bounds) - 1:
        end = int(np.searchsorted(bounds, bounds[begin] + size, side="right")) - 1
        end = min(max(end, begin + 1), begin + size, len(bounds) - 1)
        yield bounds[begin : end + 1]
        begin = end


def _cast(texts: Strings) -> Strings:
    try:
        if pa.types.is_null(texts.type) or pa.types.is_dictionary(texts.type) or pa.types.is_string_view(texts.type):
            return texts.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise InputError(f"a column of strings is needed, not of {texts.type}", hint="cast it to strings first")
