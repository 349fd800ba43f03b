"""What is kept of a person as bytes, and back: numbers alone, compressed, with the check sum that zlib adds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.exposure.risk.kept.plan import RiskPlan
from aidos.exposure.risk.kept.register import Names
from aidos.exposure.risk.kept.traces import Traces

__all__ = ["pack_names", "pack_traces", "unpack_names", "unpack_traces"]

Bytes: TypeAlias = NDArray[np.uint8]


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
        try:
            row[:] = np.array(bytearray(zlib.decompress(text)), dtype=np.uint8)
        except zlib.error as error:
            raise ValueError(str(error)) from error
    at = 0
    for array in arrays:
        width = array[:1].nbytes
        array.reshape(len(packed), -1).view(np.uint8)[:] = rows[:, at : at + width]
        at += width
    return traces


def pack_names(names: Names) -> bytes:
    """The names of a person's telling entries."""
    return zlib.compress(json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpack_names(packed: bytes) -> Names:
    """The same back; ValueError where the text is damaged."""
    try:
        said = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return {int(number): str(name) for number, name in said.items()}


def _as_bytes(array: NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
