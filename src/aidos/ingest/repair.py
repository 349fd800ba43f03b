"""A copy of a text file that the engine can read, line for line: numbers of lines stay true.

Byte order marks are dropped, all line ends become LF, other encodings become UTF-8, and lines in trouble become blank
ones; NUL bytes are dropped where the owner accepts them. Whether any of that is allowed is decided elsewhere: a file
may also be repaired only to find out what else is wrong with it.

Every line is mended by itself, and other encodings are decoded line by line: what stands in one line never changes
another. An encoding that cannot be taken apart at line feeds (a stateful one, say) is refused.

In delimited text there is one record a line, whatever anybody typed. A cell may stand in double quotes, with quotes
inside doubled, and must end on its own line. A quote anywhere else, or one that is not closed, makes that line a bad
one and no other: it is blank before the engine's parser sees the file, so the parser never meets an open quote at the
end of a line. Lines without quotes are not looked at.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aidos.errors import ParameterError, Problem
from aidos.ingest.bytescan import (
    BOM,
    LONGEST_LINE,
    NEWLINE,
    READ_SIZE,
    Tally,
    blank_lines,
    is_utf8,
    line_troubles,
    pieces,
)
from aidos.ingest.formats.base import Sample
from aidos.ingest.problems import describe
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["CleanText", "Repaired", "heed_quotes", "repaired", "transcoded", "without_lines"]

OF_UNITS = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
"""Encodings of fixed units, which keep their place whatever stands in them."""
NO_CHARACTER, NO_TEXT = "\ufffd".encode(), b"\xff"
"""What decoders put where nothing can be read, and a byte that the scan takes for what it is."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A mended copy."""

    source: Source
    blank: int
    """How many of its lines have nothing in them."""


def repaired(source: Source, target: Path, *, any_end: bool = False, drop_nuls: bool = False) -> Repaired:
    """The file with every byte trouble mended, written to ``target``."""
    return _rewritten(source, target, lambda data: _mend(data, drop_nuls=drop_nuls), any_end=any_end)


def without_lines(source: Source, target: Path, is_good: Callable[[bytes], list[bool]]) -> Repaired:
    """A clean file with the lines that are not good left blank; ``is_good`` takes whole lines."""

    def blanked(data: bytes) -> bytes:
        ended = data.removesuffix(b"\n").split(b"\n")
        kept = b"\n".join(
            line.removesuffix(b"\r") if good else b"" for line, good in zip(ended, is_good(data), strict=True)
        )
        return kept + b"\n"  # also after the last line: what is left of it is a blank line, and counts as one

    return _rewritten(source, target, blanked)


def _rewritten(source: Source, target: Path, change: Callable[[bytes], bytes], *, any_end: bool = False) -> Repaired:
    blank, first = 0, True
    with open_bytes(source) as stream, target.open("wb") as out:
        for piece in pieces(stream, any_end=any_end):
            data = piece.data.removeprefix(BOM) if first else piece.data
            first = False
            data = b"\n" if piece.too_long else change(data)
            blank += blank_lines(data)
            out.write(data)
    return Repaired(replace(source, path=target, size=target.stat().st_size, compression="none"), blank)


def _mend(data: bytes, *, drop_nuls: bool) -> bytes:
    lines = data.removesuffix(b"\n").split(b"\n")
    if b"\0" in data or b"\r" in data or not is_utf8(data) or max(map(len, lines)) > LONGEST_LINE:
        allowed = {"nul-bytes"} if drop_nuls else set()
        lines = [b"" if set(line_troubles(line)) - allowed else line.removesuffix(b"\r") for line in lines]
        return b"\n".join(lines).replace(b"\0", b"") + b"\n"
    return data


def transcoded(source: Source, encoding: str, target: Path) -> tuple[Source, list[Problem]]:
    """The file in UTF-8; what is not in the encoding it is said to be in stays unreadable, and the scan finds it."""
    known = codecs.lookup(encoding).name
    if known in {"idna", "punycode"} or (known not in OF_UNITS and not _keeps_lines(encoding)):
        raise ParameterError(
            f"the encoding {encoding} cannot be read line by line: one line could change how the next is read",
            hint="convert the file to UTF-8 first, for example with iconv",
        )
    lines = 1
    try:
        with open_bytes(source) as stream, target.open("wb") as out:
            for data in _decoded_units(stream, known) if known in OF_UNITS else _decoded_lines(stream, encoding):
                lines += data.count(b"\n")
                out.write(data)
    except BROKEN_STREAM:
        return source, [describe("cut-off", source.name, lines=(lines,))]
    return Source(source.name, target, target.stat().st_size), []


def _keeps_lines(encoding: str) -> bool:
    """Whether ASCII characters stand for themselves whatever stands before them: no state, no escapes."""
    try:
        return all(
            bytes((first, second)).decode(encoding) == chr(first) + chr(second)
            for first in range(128)
            for second in range(128)
        )
    except (UnicodeError, LookupError):
        return False


def _decoded_units(stream: IO[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while data := stream.read(READ_SIZE):
        yield decoder.decode(data).encode().replace(NO_CHARACTER, NO_TEXT)
    yield decoder.decode(b"", final=True).encode().replace(NO_CHARACTER, NO_TEXT)


def _decoded_lines(stream: IO[bytes], encoding: str) -> Iterator[bytes]:
    for piece in pieces(stream):
        data = piece.data or b"?" * (LONGEST_LINE + 1) + b"\n"  # a line that was too long stays one
        decoded = _decoded(data, encoding)
        if decoded.count(b"\n") != data.count(b"\n") or NO_TEXT in decoded:
            decoded = b"\n".join(_decoded(line, encoding) for line in data.split(b"\n"))
        yield decoded


def _decoded(data: bytes, encoding: str) -> bytes:
    """The bytes in UTF-8; `NO_TEXT` when they are not in the encoding."""
    try:
        return data.decode(encoding).encode()
    except UnicodeError:
        return NO_TEXT


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text file of whole lines that the engine can read as they are."""

    source: Source
    sample: Sample
    lines: int
    blank: int
    """How many of the lines have nothing in them."""
    has_quotes: bool
    is_plain: bool = False
    """Whether all is visible ASCII, blanks, tabs and line ends."""

    @property
    def first_line(self) -> int:
        """The number of the first line that is not blank: the header, where there is one."""
        return next((number for number, line in enumerate(self.sample.lines, start=1) if line), 1)


def heed_quotes(text: CleanText, delimiter: str, target: Path) -> tuple[CleanText, Tally]:
    """The text with the lines blank whose quotes are wrong, and which those are."""
    pattern, bad, lines = _line_pattern(delimiter), Tally(), 0
    with open_bytes(text.source) as stream:
        for piece in pieces(stream):
            if b'"' in piece.data:
                for place in np.flatnonzero(~_well_quoted(piece.data, pattern)):
                    bad.add(lines + int(place) + 1)
            lines += piece.lines()
    if not bad.count:
        return text, bad
    mended = without_lines(text.source, target, lambda data: _well_quoted(data, pattern).tolist())
    return replace(text, source=mended.source, blank=mended.blank), bad


def _line_pattern(delimiter: str) -> str:
    """A line of cells: each in quotes as a whole, or without any."""
    apart = re.escape(delimiter)
    cell = f'(?:[^"{apart}]*|"(?:[^"]|"")*")'
    return f"^{cell}(?:{apart}{cell})*\\r?$"


def _well_quoted(data: bytes, pattern: str) -> npt.NDArray[np.bool_]:
    """For each line whether its quotes are in order. One regular expression for all lines at once, in linear time."""
    starts = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE) + 1
    offsets = np.concatenate(([0], starts, [] if data.endswith(b"\n") else [len(data)])).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    lines = pc.ascii_trim(texts, characters="\n")
    return np.asarray(pc.match_substring_regex(lines, pattern))
