"""One quick pass over the bytes of a text file, to see whether the engine can read it.

Found are byte order marks, NUL bytes, text that is not UTF-8, line ends of several kinds, lines longer than 1 MB, and
streams that are cut off. A clean piece costs a few passes of C loops over it; only a piece in trouble is taken apart
line by line. Whether the lines make sense is for the formats to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.errors import Problem
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["BOM", "LONGEST_LINE", "Piece", "Scan", "Tally", "is_utf8", "pieces", "scan"]

BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LONGEST_LINE = 1 << 20
READ_SIZE = 8 << 20
SMALL_READ = 1 << 16
NEWLINE = 10


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines, or one line that was too long to be kept."""

    data: bytes
    too_long: bool = False

    def lines(self) -> int:
        """How many lines it holds, by any kind of line end."""
        if self.too_long:
            return 1
        ends = int(np.count_nonzero(np.frombuffer(self.data, np.uint8) == NEWLINE))
        if b"\r" in self.data:
            ends += self.data.count(b"\r") - self.data.count(b"\r\n")
        return ends + (not self.data.endswith((b"\n", b"\r")))


@dataclass(slots=True)
class Tally:
    """How many lines have some trouble, and the first few of them."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """One more."""
        self.count += 1
        if len(self.lines) < LINES_SHOWN:
            self.lines.append(line)


@dataclass(slots=True)
class Scan:
    """What the pass found."""

    lines: int = 0
    is_blank: bool = True
    line_end: bytes = b""
    """How the first line ends."""
    problems: list[Problem] = field(default_factory=list)
    found: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    """Lines in trouble, by kind."""

    @property
    def is_clean(self) -> bool:
        """Whether the engine can read the file as it is."""
        return not self.found and self.line_end != b"\r"


def scan(source: Source, progress: Progress = SILENT) -> Scan:
    """Look at every byte of the file."""
    result = Scan()
    total = source.size if source.compression == "none" else None
    with progress.task(f"looking at {source.name}", total=total, unit="B") as task:
        try:
            with open_bytes(source) as stream:
                for piece in pieces(stream):
                    if not result.lines and piece.data.startswith(UTF16_MARKS):
                        result.problems.append(_not_utf8(source, Tally(1, [1]), better="utf-16"))
                        return result
                    _inspect(piece, result)
                    task.advance(len(piece.data))
        except BROKEN_STREAM:
            result.problems.append(describe("cut-off", source.name, lines=(_broken_line(source),)))
            return result
        except OSError as error:
            result.problems.append(describe("unreadable-file", source.name, reason=error.strerror or "input error"))
            return result
    if result.is_blank and not result.found:
        result.problems.append(describe("empty-file", source.name))
    result.problems += [
        _not_utf8(source, tally)
        if kind == "invalid-utf8"
        else describe(kind, source.name, lines=tally.lines, count=tally.count)
        for kind, tally in result.found.items()
    ]
    return result


def pieces(stream: IO[bytes]) -> Iterator[Piece]:
    """The stream in pieces of whole lines, in bounded memory whatever the lines' length."""
    rest, skipping = b"", False
    while data := stream.read(READ_SIZE):
        data = rest + data
        if skipping:
            end = _first_end(data)
            if not end:
                rest = data[-1:]
                continue
            yield Piece(b"", too_long=True)
            data, skipping = data[end:], False
        end = _last_end(data)
        if end:
            yield Piece(data[:end])
        rest = data[end:]
        if len(rest) > LONGEST_LINE:
            rest, skipping = rest[-1:], True
    if skipping:
        yield Piece(b"", too_long=True)
    elif rest:
        yield Piece(rest)


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8: Arrow looks at them in place, where Python would decode them into a new text."""
    if data.isascii():
        return True
    ends = pa.array([0, len(data)], pa.int64()).buffers()[1]
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _last_end(data: bytes) -> int:
    """Where the last whole line ends; a CR at the very end may yet be followed by its LF."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1


def _first_end(data: bytes) -> int:
    """Where the first line ends; 0 when it does not."""
    feed, back = data.find(b"\n"), data.find(b"\r", 0, -1)
    if back < 0 or 0 <= feed < back:
        return feed + 1
    return back + 1 + (data[back + 1 : back + 2] == b"\n")


def _inspect(piece: Piece, result: Scan) -> None:
    if piece.too_long:
        result.found["line-too-long"].add(result.lines + 1)
    else:
        if not result.line_end:
            result.line_end = _line_end(piece.data)
        if result.is_blank:
            result.is_blank = not piece.data.removeprefix(BOM).strip()
        if result.lines == 0 and piece.data.startswith(BOM):
            result.found["byte-order-mark"].add(1)
        if not _is_clean(piece.data, result.line_end):
            _inspect_lines(piece.data, result)
    result.lines += piece.lines()


def _is_clean(data: bytes, line_end: bytes) -> bool:
    return b"\0" not in data and is_utf8(data) and _ends_alike(data, line_end) and not _has_long_line(data)


def _ends_alike(data: bytes, line_end: bytes) -> bool:
    """Whether all lines end as the first one does; the last line of a file may have no end."""
    returns = data.count(b"\r") if b"\r" in data else 0
    if line_end == b"\r\n":
        return returns == data.count(b"\r\n") == data.count(b"\n")
    return returns == 0 if line_end != b"\r" else b"\n" not in data


def _has_long_line(data: bytes) -> bool:
    """Whether some window without a line end hints at a long line (a line may then still be short enough)."""
    half = LONGEST_LINE // 2
    return any(
        data.find(b"\n", start, start + half) < 0 and data.find(b"\r", start, start + half) < 0
        for start in range(0, len(data) - half, half)
    )


def _inspect_lines(data: bytes, result: Scan) -> None:
    """Name the lines in trouble."""
    for number, line in enumerate(data.splitlines(keepends=True), start=result.lines + 1):
        troubles = (
            ("nul-bytes", b"\0" in line),
            ("invalid-utf8", not is_utf8(line)),
            ("line-too-long", len(line) > LONGEST_LINE),
            ("mixed-line-ends", _line_end(line) not in {b"", result.line_end}),
        )
        for kind, is_so in troubles:
            if is_so:
                result.found[kind].add(number)


def _line_end(data: bytes) -> bytes:
    """How the first line of the data ends; empty when it does not."""
    line = data[: LONGEST_LINE * 2].splitlines(keepends=True)[:1]
    return next((end for end in (b"\r\n", b"\n", b"\r") if line and line[0].endswith(end)), b"")


def _broken_line(source: Source) -> int:
    """The line in which damaged data break off; a large read gives nothing of what came before the damage."""
    line = 1
    with suppress(*BROKEN_STREAM), open_bytes(source) as stream:
        while data := stream.read1(SMALL_READ):  # type: ignore[attr-defined]
            line += data.count(b"\n")
    return line


def _not_utf8(source: Source, tally: Tally, *, better: str = "latin-1") -> Problem:
    """UTF-16 announces itself; of the others nothing is known but that Latin-1 can read anything."""
    return describe("invalid-utf8", source.name, lines=tally.lines, count=tally.count, encoding="UTF-8", better=better)
