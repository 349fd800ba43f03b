"""Strings as compiled code wants them: the bytes of all, and where each begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError

__all__ = ["Strings", "Texts", "arrow_chunks", "packed", "portions"]

Texts: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any] | Sequence[str | None]"
"""What can be analysed: Arrow strings, or a sequence of Python's; None is an empty text."""
Strings: TypeAlias = "pa.Array[Any]"
"""Strings of Arrow, as an array without chunks."""
Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

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
