"""Arrow columns from NumPy arrays: the few ways in which the world makes them.

All of it is thin; it stands here so that the rest of the world works on typed arrays and need not know Arrow's own
habits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.world.streams import Flags, Ints

__all__ = [
    "Column",
    "append",
    "choose",
    "coded",
    "column",
    "fixed_texts",
    "glue",
    "join_words",
    "json_values",
    "merged",
    "repeated",
    "take",
    "texts",
]

Column: TypeAlias = "pa.Array[Any]"

_arrow: Any = pc
"""Arrow's functions are made at run time, so their types are told here."""


def column(values: NDArray[Any], kind: pa.DataType | None = None, absent: Flags | None = None) -> Column:
    """A column of numbers or truth values; ``absent`` marks empty cells."""
    return cast("Column", pa.array(values, kind, mask=absent))


def texts(values: Sequence[str]) -> Column:
    """A column of texts."""
    return pa.array(values, pa.string())


def repeated(text: str, number: int) -> Column:
    """The same text in every row."""
    return texts([text] * number)


def take(source: Column, places: Ints, absent: Flags | None = None) -> Column:
    """Values of another column by place."""
    return source.take(cast("Any", pa.array(places, mask=absent)))


def coded(codes: Ints, source: Column, absent: Flags | None = None) -> Column:
    """Like ``take``, but the values, which must differ, are stored once and the rows refer to them."""
    numbers = pa.array(codes.astype(np.int32), mask=absent)
    return pa.DictionaryArray.from_arrays(cast("Any", numbers), source)


def merged(codes: Ints, source: Column) -> Column:
    """Like ``coded``, for values of which some may be equal."""
    unique: Any = source.dictionary_encode()
    return coded(unique.indices.to_numpy()[codes], unique.dictionary)


def append(*columns: Column) -> Column:
    """Columns one below the other."""
    return pa.concat_arrays(columns)


def choose(which: Ints, *columns: Column) -> Column:
    """For each row the value of one of several columns."""
    return cast("Column", _arrow.choose(pa.array(which), *columns))


def glue(*pieces: Column | str, between: str = "") -> Column:
    """Texts put together row by row; a plain text is the same in every row."""
    return cast("Column", _arrow.binary_join_element_wise(*pieces, between))


def join_words(words: Column, places: Ints, starts: Ints) -> Column:
    """Texts of words, given by place; a text's words begin at its start and end at the next one's."""
    lists: Any = pa.ListArray.from_arrays(cast("Any", pa.array(starts.astype(np.int32))), take(words, places))
    return cast("Column", _arrow.binary_join(lists, " "))


def json_values(values: pa.ChunkedArray[Any]) -> Column:
    """Cells as JSON: quoted where they are texts or times, ``null`` where they are empty."""
    whole = values.combine_chunks()
    written = _arrow.cast(whole, pa.string())
    if not (pa.types.is_integer(whole.type) or pa.types.is_floating(whole.type) or pa.types.is_boolean(whole.type)):
        for character in ("\\", '"'):
            written = _arrow.replace_substring(written, character, "\\" + character)
        written = glue('"', written, '"')
    return cast("Column", _arrow.fill_null(written, "null"))


def fixed_texts(characters: NDArray[np.uint8]) -> Column:
    """Texts of equal length from a matrix of ASCII codes."""
    rows, width = characters.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * width
    data: Any = np.ascontiguousarray(characters)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(cast("Any", offsets)), pa.py_buffer(data))
