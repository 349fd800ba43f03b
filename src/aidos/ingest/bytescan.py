"""One quick pass over the bytes of a text file, to see whether the engine can read it.

Found are byte order marks, NUL bytes, text that is not UTF-8, stray carriage returns, lines longer than 1 MB, and
streams that are cut off. A clean piece costs a few passes of C loops over it; only a piece in trouble is taken apart
line by line. Whether the lines make sense is for the formats to say.

A line ends with a line feed; one carriage return before it belongs to the end. That rule is the same for every file,
so nobody's cells can change where the lines of others end. Only the owner's word (``--accept mixed-line-ends``) makes
every carriage return a line end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import IO

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.engine.unpacking import TooDenseError
from aidos.errors import Problem
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["BOM", "LONGEST_LINE", "Piece", "Scan", "Tally", "blank_lines", "is_utf8", "line_troubles", "pieces", "scan"]

BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LONGEST_LINE = 1 << 20
READ_SIZE = 1 << 18
"""Small enough to stay in the processor's cache from one look to the next."""
SMALL_READ = 1 << 16
TAB, NEWLINE, BLANK = 9, 10, 32


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines, or one line that was too long to be kept."""

    data: bytes
    too_long: bool = False
    strays: int = 0
    """Carriage returns that were taken for line ends, or stood in what was not kept."""

    def lines(self) -> int:
        """How many lines it holds."""
        if self.too_long:
            return 1
        ends = int(np.count_nonzero(np.frombuffer(self.data, np.uint8) == NEWLINE))
        return ends + (not self.data.endswith(b"\n"))


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
    blank: int = 0
    """How many lines have nothing in them."""
    has_quotes: bool = False
    is_plain: bool = True
    """Whether all is visible ASCII, blanks, tabs and line ends."""
    ends: set[bytes] = field(default_factory=set)
    """How lines end."""
    problems: list[Problem] = field(default_factory=list)
    found: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    """Lines in trouble, by kind."""

    @property
    def is_clean(self) -> bool:
        """Whether the engine can read the file as it is: no trouble, and all lines end alike."""
        return not self.found and len(self.ends) < 2 and b"\r" not in self.ends


def scan(source: Source, progress: Progress = SILENT, *, any_end: bool = False, encoding: str = "UTF-8") -> Scan:
    """Look at every byte of the file; ``encoding`` is what it was in, for the messages."""
    result = Scan()
    total = source.size if source.compression == "none" else None
    with progress.task(f"looking at {source.name}", total=total, unit="B") as task:
        try:
            with open_bytes(source) as stream:
                for piece in pieces(stream, any_end=any_end):
                    if not result.lines and piece.data.startswith(UTF16_MARKS):
                        result.problems.append(_not_utf8(source, Tally(1, [1]), encoding, better="utf-16"))
                        return result
                    _inspect(piece, result)
                    task.advance(len(piece.data))
        except BROKEN_STREAM:
            result.problems.append(describe("cut-off", source.name, lines=(_broken_line(source),)))
            return result
        except TooDenseError as error:
            refused = describe("unreadable-file", source.name, reason=error.reason)
            result.problems.append(replace(refused, remedy=error.hint))
            return result
        except OSError as error:
            result.problems.append(describe("unreadable-file", source.name, reason=error.strerror or "input error"))
            return result
    if result.is_blank and not result.found:
        result.problems.append(describe("empty-file", source.name))
    result.problems += [
        _not_utf8(source, tally, encoding)
        if kind == "invalid-utf8"
        else describe(kind, source.name, lines=tally.lines, count=tally.count)
        for kind, tally in result.found.items()
    ]
    return result


def pieces(stream: IO[bytes], *, any_end: bool = False) -> Iterator[Piece]:
    """The stream in pieces of whole lines, in bounded memory whatever the lines' length.

    With ``any_end`` carriage returns are line ends too, and all line ends are given as line feeds.
    """
    rest, skipping, strays = b"", False, 0
    for read in _plain_ends(stream) if any_end else iter(lambda: stream.read(READ_SIZE), b""):
        data = rest + read
        if skipping:
            end = data.find(b"\n") + 1
            strays += data.count(b"\r", 0, end or len(data))
            if not end:
                rest = b""
                continue
            yield Piece(b"", too_long=True, strays=strays)
            data, skipping = data[end:], False
        end = data.rfind(b"\n") + 1
        if end:
            yield Piece(data[:end])
        rest = data[end:]
        if len(rest) > LONGEST_LINE:
            rest, skipping, strays = b"", True, rest.count(b"\r")
    if skipping:
        yield Piece(b"", too_long=True, strays=strays)
    elif rest:
        yield Piece(rest)


def _plain_ends(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream with a line feed for every kind of line end."""
    held = b""
    while data := stream.read(READ_SIZE):
        data, held = held + data, b""
        if data.endswith(b"\r"):  # its line feed may yet come
            data, held = data[:-1], b"\r"
        yield data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8: Arrow looks at them in place, where Python would decode them into a new text."""
    if data.isascii():
        return True
    ends = pa.py_buffer(np.array([0, len(data)], np.int64).tobytes())  # pa.array of a list would import pandas
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_plain(data: bytes) -> bool:
    """Whether nothing but visible ASCII, blanks, tabs and line ends is there."""
    if not data.isascii() or b"\x7f" in data:
        return False
    codes = np.frombuffer(data, np.uint8)
    ends = (
        np.count_nonzero(codes == NEWLINE)
        + np.count_nonzero(codes == TAB)
        + (data.count(b"\r") if b"\r" in data else 0)
    )
    return bool(np.count_nonzero(codes < BLANK) == ends)


def line_troubles(line: bytes) -> list[str]:
    """What is wrong with the bytes of one line, given without its line feed."""
    troubles = {
        "nul-bytes": b"\0" in line,
        "invalid-utf8": not is_utf8(line),
        "line-too-long": len(line) > LONGEST_LINE,
        "mixed-line-ends": b"\r" in line.removesuffix(b"\r"),
    }
    return [kind for kind, is_so in troubles.items() if is_so]


def _inspect(piece: Piece, result: Scan) -> None:
    data = piece.data
    if piece.too_long:
        result.found["line-too-long"].add(result.lines + 1)
        if piece.strays:
            result.found["mixed-line-ends"].add(result.lines + 1)
        result.is_blank = result.is_plain = False
        result.lines += 1
        return
    if result.is_blank:
        result.is_blank = not data.removeprefix(BOM).strip()
    if result.lines == 0 and data.startswith(BOM):
        result.found["byte-order-mark"].add(1)
    result.has_quotes = result.has_quotes or b'"' in data
    result.is_plain = result.is_plain and _is_plain(data)
    lines, feeds = piece.lines(), data.endswith(b"\n")
    returns = data.count(b"\r\n") if b"\r" in data else 0
    strays = data.count(b"\r") - returns if b"\r" in data else 0
    result.ends |= {
        end
        for end, is_there in (
            (b"\r\n", returns),
            (b"\n", lines - (not feeds) - returns),
            (b"\r", data.endswith(b"\r")),
        )
        if is_there
    }
    if b"\0" in data or strays or not is_utf8(data) or _has_long_line(data):
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=result.lines + 1):
            for kind in line_troubles(line):
                result.found[kind].add(number)
    result.blank += blank_lines(data)
    result.lines += lines


def blank_lines(data: bytes) -> int:
    """How many of the lines have nothing in them."""
    ends = np.frombuffer(data, np.uint8) == NEWLINE
    if not (
        (ends[1:] & ends[:-1]).any()
        or data.startswith((b"\n", b"\r\n"))
        or (b"\r" in data and (b"\n\r\n" in data or data.endswith(b"\r")))
    ):
        return 0
    return sum(line in {b"", b"\r"} for line in data.removesuffix(b"\n").split(b"\n"))


def _has_long_line(data: bytes) -> bool:
    """Whether some window without a line end hints at a long line (a line may then still be short enough)."""
    half = LONGEST_LINE // 2
    return any(data.find(b"\n", start, start + half) < 0 for start in range(0, len(data) - half, half))


def _broken_line(source: Source) -> int:
    """The line in which damaged data break off; a large read gives nothing of what came before the damage."""
    line = 1
    with suppress(*BROKEN_STREAM), open_bytes(source) as stream:
        while data := stream.read1(SMALL_READ):  # type: ignore[attr-defined]
            line += data.count(b"\n")
    return line


def _not_utf8(source: Source, tally: Tally, encoding: str, *, better: str = "latin-1") -> Problem:
    """UTF-16 announces itself; of the others nothing is known but that Latin-1 can read anything."""
    return describe("invalid-utf8", source.name, lines=tally.lines, count=tally.count, encoding=encoding, better=better)
