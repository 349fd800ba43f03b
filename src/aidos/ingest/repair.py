"""A copy of a text file that the engine can read, line for line: numbers of lines stay true.

Byte order marks and NUL bytes are dropped, all line ends become LF, other encodings become UTF-8, and lines that are
too long or not UTF-8 become blank ones. Whether any of that is allowed is decided elsewhere: a file may also be
repaired only to find out what else is wrong with it.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from aidos.errors import Problem
from aidos.ingest.bytescan import BOM, LONGEST_LINE, READ_SIZE, is_utf8, pieces
from aidos.ingest.problems import describe
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["repaired", "transcoded"]


def repaired(source: Source, target: Path) -> Source:
    """The file with every byte trouble mended, written to ``target``."""
    first = True
    with open_bytes(source) as stream, target.open("wb") as out:
        for piece in pieces(stream):
            data = piece.data.removeprefix(BOM) if first else piece.data
            first = False
            out.write(b"\n" if piece.too_long else _mend(data))
    return Source(source.name, target, target.stat().st_size)


def transcoded(source: Source, encoding: str, target: Path) -> tuple[Source, list[Problem]]:
    """The file in UTF-8; a problem instead when it is not in the encoding it is said to be in."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    try:
        with open_bytes(source) as stream, target.open("wb") as out:
            while data := stream.read(READ_SIZE):
                text = decoder.decode(data)
                lines += text.count("\n")
                out.write(text.encode("utf-8", errors="surrogatepass"))
            out.write(decoder.decode(b"", final=True).encode())
    except BROKEN_STREAM:
        return source, [describe("cut-off", source.name, lines=(lines,))]
    except UnicodeError as error:
        lines += _lines_before(error)
        found = describe("invalid-utf8", source.name, lines=(lines,), encoding=encoding, better="latin-1")
        return source, [found]
    return Source(source.name, target, target.stat().st_size), []


def _lines_before(error: UnicodeError) -> int:
    """How many lines of the piece that could not be decoded come before the bytes at fault."""
    return error.object[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0


def _mend(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\0", b"")  # after the line ends: a NUL may stand between a CR and an LF
    lines = data.split(b"\n")
    if is_utf8(data) and max(map(len, lines)) <= LONGEST_LINE:
        return data
    return b"\n".join(line if is_utf8(line) and len(line) <= LONGEST_LINE else b"" for line in lines)
