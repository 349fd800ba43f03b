"""What is kept of a person as bytes: numbers alone, compressed, with the checksum that zlib adds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.kept.register import Names
from aidos.rooms.risk.kept.traces import Traces

__all__ = ["check_names", "pack_names", "pack_traces", "unpack_names", "unpack_traces"]

MOST_OF_NAMES = 1 << 26
"""Bytes of the names of one person's entries."""
Bytes: TypeAlias = NDArray[np.uint8]
LARGEST = 1e6
"""Similarities are far below."""


def pack_traces(traces: Mapping[str, Traces], people: int) -> list[bytes]:
    """One text of bytes for every row; an empty one where no measure keeps anything."""
    if not traces:
        return [zlib.compress(b"")] * people
    rows = np.concatenate([_as_bytes(array) for own in traces.values() for array in own.arrays().values()], axis=1)
    return [zlib.compress(row.tobytes(), 1) for row in rows]


def unpack_traces(packed: Sequence[bytes], plan: RiskPlan) -> dict[str, Traces]:
    """The traces of people, a row each; ValueError where a text is not one of this plan."""
    traces = {name: kept.of_nothing(len(packed)) for name, kept in plan.kept.items()}
    if not packed:
        return traces
    arrays = [array for own in traces.values() for array in own.arrays().values()]
    size = sum(array[:1].nbytes for array in arrays)
    rows = np.empty((len(packed), size), dtype=np.uint8)
    for row, text in zip(rows, packed, strict=True):
        content = _unpacked(text, size)
        if len(content) != size:
            raise ValueError("of another length")
        row[:] = np.frombuffer(content, dtype=np.uint8)
    at = 0
    for array in arrays:
        width = array[:1].nbytes
        array.reshape(len(packed), -1).view(np.uint8)[:] = rows[:, at : at + width]
        at += width
        values: NDArray[Any] = array
        if array.dtype.kind == "f" and not ((values >= 0) & (values <= LARGEST)).all():
            raise ValueError("not a similarity")
    return traces


def check_names(traces: Mapping[str, Traces], names: Sequence[Names], entries: int) -> None:
    """ValueError where traces lead to an entry that has no name, or that was never counted."""
    for own in traces.values() if names else ():
        for array in (own.nearest, *own.bucketed.values()):
            for numbers, known in zip(array.reshape(len(names), -1).tolist(), names, strict=True):
                if any(number >= 0 and (number not in known or number >= entries) for number in numbers):
                    raise ValueError("an entry without a name")


def pack_names(names: Names) -> bytes:
    """The names of a person's telling entries."""
    return zlib.compress(json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpack_names(packed: bytes) -> Names:
    """The same back; ValueError where the text is damaged."""
    said = parse_json(_unpacked(packed, MOST_OF_NAMES).decode("utf-8", "surrogatepass"))
    return {int(number): str(name) for number, name in said.items()}


def _unpacked(packed: bytes, most: int) -> bytes:
    """What was packed, which has so many bytes at most; ValueError where it is damaged."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not stream.eof or stream.unused_data or len(data) > most:
        raise ValueError("it is cut off, or more than was expected")
    return data


def _as_bytes(array: NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
