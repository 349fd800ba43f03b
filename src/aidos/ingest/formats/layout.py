"""How a delimited file is laid out, and the contract of the formats that the engine reads by such a layout."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from aidos.core.records import Schema
from aidos.errors import Problem
from aidos.ingest.formats.base import Recognition, Sample
from aidos.ingest.options import ReadOptions

__all__ = ["EPOCH", "ISO", "DelimitedFormat", "Layout", "Plan", "split_lines"]

ISO = "iso"
"""Times as ISO 8601 has them, with or without a zone."""
EPOCH = "epoch"
"""Times as seconds, milliseconds or microseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Everything the engine must know to read a delimited file."""

    schema: Schema
    names: tuple[str, ...]
    """The file's columns in order, c1 to cn where the file does not name them."""
    mapping: Mapping[str, str]
    """Column of the schema to column of the file."""
    delimiter: str
    quoted: bool
    """Whether values may stand between double quotes, and then hold delimiters and line ends."""
    has_header: bool
    time_format: str = ISO
    """`ISO`, `EPOCH`, or a pattern of strptime."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout with what is wrong with it; no layout when the file cannot be read at all."""

    layout: Layout | None
    problems: tuple[Problem, ...] = ()


class DelimitedFormat(Protocol):
    """A format that the engine reads: columns with a delimiter between."""

    name: str
    """What ``--format`` takes."""
    title: str
    """What people call it."""

    def recognise(self, sample: Sample) -> Recognition | None:
        """Whether the file is of this format."""
        ...

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:
        """How to read it."""
        ...


def split_lines(lines: Sequence[str], delimiter: str, *, quoted: bool) -> list[list[str]]:
    """The cells of the rows that some lines hold, as the engine will see them; blank lines hold none."""
    if quoted:
        try:
            return [row for row in csv.reader([f"{line}\n" for line in lines], delimiter=delimiter) if row]
        except csv.Error:  # a cell that never ends, or is larger than the standard library likes
            pass
    return [line.split(delimiter) for line in lines if line]
