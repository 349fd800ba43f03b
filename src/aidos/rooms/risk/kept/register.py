"""Whose row is which: what is kept of every person, in arrays that grow, and the names of her telling entries.

A person who is removed leaves no number behind: the last row takes her place, and the row behind it is wiped.

On the disk this is bytes for each person: numbers alone, compressed, with the checksum that zlib adds.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.errors import ParameterError
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.kept.traces import NOBODY, Traces
from aidos.rooms.risk.people import People

__all__ = [
    "Names",
    "Register",
    "check_names",
    "entry_name",
    "name_entries",
    "pack_names",
    "pack_traces",
    "unpack_names",
    "unpack_traces",
]

Longs: TypeAlias = NDArray[np.int64]
Names: TypeAlias = dict[int, str]
"""Names of entries by their numbers."""
ROOM = 1.5
"""How much more room is made when there is too little."""


class Register:
    """People by name, and their rows."""

    def __init__(self, plan: RiskPlan) -> None:
        self._plan = plan
        self.ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._names: list[Names] = []
        self._traces = {name: kept.of_nothing(0) for name, kept in plan.kept.items()}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, person_id: str) -> bool:
        return person_id in self._rows

    def find(self, person_id: str) -> int:
        """The row of a person."""
        if person_id not in self._rows:
            raise ParameterError(
                f"nobody has that name among {len(self):,} people", hint="names are compared letter by letter"
            )
        return self._rows[person_id]

    def rows(self, ids: Sequence[str]) -> Longs:
        """The rows of people; NOBODY for those who are not there."""
        return np.array([self._rows.get(person_id, NOBODY) for person_id in ids], dtype=np.int64)

    def names(self, person_id: str) -> Names:
        """The names of the entries that put somebody where she is, by number."""
        return dict(self._names[self.find(person_id)])

    def traces(self, rows: Longs, *, space: str = "") -> dict[str, Traces]:
        """A copy of what is kept of people, in one space or in all; nothing for NOBODY."""
        return {name: traces.take(rows) for name, traces in self._traces.items() if space in ("", name)}

    def put(self, ids: Sequence[str], traces: Mapping[str, Traces], names: Sequence[Names]) -> None:
        """Keep this of these people, who are new or known, and nothing that was kept before."""
        new = [person_id for person_id in ids if person_id not in self._rows]
        first = not self.ids
        self._rows |= {person_id: len(self.ids) + place for place, person_id in enumerate(new)}
        self.ids += new
        self._names += [{} for _ in new]
        rows = self.rows(ids)
        for row, own in zip(rows.tolist(), names, strict=True):
            self._names[row] = own
        if first:
            self._traces = dict(traces)
            return
        self._make_room(len(self.ids))
        for name, come in traces.items():
            self._traces[name].put(rows, come)

    def remove(self, ids: Sequence[str]) -> None:
        """Forget people."""
        for person_id in ids:
            row, last = self._rows.pop(self.ids[self.find(person_id)]), len(self.ids) - 1
            moved, names = self.ids.pop(), self._names.pop()
            places = np.array([last, NOBODY])
            for traces in self._traces.values():
                traces.put(np.array([row, last]), traces.take(places))
            if row != last:
                self.ids[row], self._names[row], self._rows[moved] = moved, names, row

    def _make_room(self, people: int) -> None:
        for name, traces in self._traces.items():
            if people > len(traces.nearest):
                rows = np.full(int(people * ROOM), NOBODY, dtype=np.int64)
                rows[: len(traces.nearest)] = np.arange(len(traces.nearest))
                self._traces[name] = traces.take(rows)


def name_entries(
    people: People, traces: Mapping[str, Traces], first_entry: int, before: Sequence[Names]
) -> list[Names]:
    """For each person the names of the entries that are still referred to; new ones have numbers from the first on."""
    kept = [
        array.reshape(len(people), -1) for own in traces.values() for array in (own.nearest, *own.bucketed.values())
    ]
    if not kept:
        return [{} for _ in before]
    numbers = np.concatenate(kept, axis=1)
    found: list[Names] = []
    for own, old in zip(numbers, before, strict=True):
        referred = np.unique(own[own >= 0]).tolist()
        found.append(
            {
                number: old[number] if number < first_entry else entry_name(people, number - first_entry, number)
                for number in referred
            }
        )
    return found


def entry_name(people: People, place: int, number: int) -> str:
    """The id of an entry, its time where it has no id, or its number, counted from 1."""
    if people.entry_ids is not None and (name := people.entry_ids[place].as_py()):
        return str(name)
    if people.times is None:
        return f"entry {number + 1}"
    return datetime.fromtimestamp(int(people.times[place]), tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


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
