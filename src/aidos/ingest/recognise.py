"""Which format a file is in, and why.

What the user says comes first, then the line of names. Where neither tells, every format looks at the first rows and
says how sure it is; the surest wins, and a close runner-up is named so that the user can overrule the choice with
``--format``. That is a guess from people's rows, which a release does not take: see docs/theory/reader.md.

Files that are no logs are named for what they are. Somebody who hands over a spreadsheet or a database should read one
line that says so and what to do, not a list of troubles with its bytes. The first bytes tell, after decompression;
where text might begin with the same letters, bytes that text never has must follow. What is not known here goes on to
be read as text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aidos.errors import ParameterError, Problem
from aidos.ingest.advice import ROWS_LOOKED_AT
from aidos.ingest.bytescan import LONGEST_LINE
from aidos.ingest.formats import DELIMITED_FORMATS, LINE_FORMATS
from aidos.ingest.formats.base import (
    DelimitedFormat,
    LineFormat,
    Recognition,
    Sample,
    describe_delimiter,
    suggest_delimiter,
)
from aidos.ingest.formats.generic import AnyTable, Delimited
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = [
    "PARQUET",
    "Choice",
    "FittedFormat",
    "declaration",
    "format_names",
    "name_other_file",
    "recognise",
    "take_sample",
]

PARQUET = "parquet"
LINES_IN_SAMPLE = 200
SURE = 0.6
"""Below this a format that rows tell is one of several guesses."""
CLOSE = 0.25
"""How near the runner-up must come to be named."""
TextFormat = LineFormat | DelimitedFormat


@runtime_checkable
class FittedFormat(Protocol):
    """A format that takes ``--column`` and adapts to the file."""

    def fitted(self, sample: Sample, columns: Mapping[str, str], *, declared: bool = False) -> LineFormat:
        """The format for one file; with ``declared`` its rows decide nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The format of a file, and the reason."""

    format: TextFormat
    why: str
    guessed: bool = False
    """Whether rows decided."""


def format_names() -> tuple[str, ...]:
    """What ``--format`` takes."""
    return (*(known.name for known in _all_formats()), PARQUET)


def take_sample(source: Source) -> Sample:
    """The first lines of a text file; at most the length of one allowed line is looked at."""
    with open_bytes(source) as stream:
        start = stream.read(LONGEST_LINE)
        whole = not stream.read(1)
    text = start.decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if not whole:
        lines = lines[:-1]
    return Sample(source.plain_name, tuple(lines[:LINES_IN_SAMPLE]), tuple(lines[LINES_IN_SAMPLE:ROWS_LOOKED_AT]))


def recognise(source: Source, sample: Sample, options: ReadOptions) -> Choice | Problem:
    """The format that was asked for, or else the one that fits best."""
    if options.table:
        return Choice(AnyTable(), "a table with a header")
    if options.format:
        return Choice(_by_name(options.format), "as asked with --format")
    if options.separator:
        return Choice(Delimited(), "as asked with --delimiter")
    for named in DELIMITED_FORMATS:
        if why := named.by_header(sample.first, options.columns()):
            return Choice(named, why)
    verdicts = [(verdict, known) for known in _candidates(options) if (verdict := known.recognise(sample)) is not None]
    verdicts.sort(key=lambda pair: -pair[0].confidence)
    if not verdicts:
        return _unknown(source, sample)
    known = verdicts[0][1]
    if isinstance(known, Delimited) and known.has_names(sample.first):
        return Choice(known, _reason(verdicts))
    if verdicts[0][0].confidence < SURE and len(verdicts) > 1:
        return _unsure(source, verdicts)
    if options.for_release:
        option = declaration(known, sample, options.columns())
        return describe("guessed-format", source.name, title=known.title, option=option)
    return Choice(known, _reason(verdicts), guessed=True)


def declaration(known: TextFormat, sample: Sample, columns: Mapping[str, str]) -> str:
    """The options that say what was guessed from rows."""
    named: Mapping[str, str] = {}
    if isinstance(known, JsonLines):
        guessed = known.fitted(sample, columns).mapping
        named = {ours: theirs for ours, theirs in guessed.items() if ours != theirs and ours not in columns}
    given = (f"--column {shlex.quote(f'{ours}={theirs}')}" for ours, theirs in named.items())
    return " ".join([f"--format {known.name}", *given])


def _all_formats() -> list[TextFormat]:
    return [*DELIMITED_FORMATS, *LINE_FORMATS]


def _by_name(name: str) -> TextFormat:
    for known in _all_formats():
        if known.name == name:
            return known
    raise ParameterError(f"there is no format called {name}", hint=f"choose from {', '.join(format_names())}")


def _candidates(options: ReadOptions) -> list[TextFormat]:
    """All formats, or those that take ``--column`` when it was given."""
    if options.columns():
        return [known for known in _all_formats() if isinstance(known, Delimited | FittedFormat)]
    return _all_formats()


def _unknown(source: Source, sample: Sample) -> Problem:
    if better := suggest_delimiter(sample.lines, ""):
        return describe_delimiter(source.name, "tabs, commas, semicolons or vertical bars", better)
    return describe("unknown-format", source.name, formats=", ".join(format_names()))


def _unsure(source: Source, verdicts: list[tuple[Recognition, TextFormat]]) -> Problem:
    titles = " and ".join(known.title for _, known in verdicts)
    first, *others = (f"--format {known.name}" for _, known in verdicts)
    return describe("unsure-format", source.name, formats=titles, others=", ".join(others), option=first)


def _reason(verdicts: list[tuple[Recognition, TextFormat]]) -> str:
    best = verdicts[0][0]
    if len(verdicts) > 1 and best.confidence - verdicts[1][0].confidence <= CLOSE:
        return f"{best.why}; it could also be {verdicts[1][1].title} (--format {verdicts[1][1].name})"
    return best.why


LOOKED_AT = 1 << 16
CONTROL = re.compile(rb".{,64}[\x00-\x08\x0e-\x1f]", re.DOTALL)
"""Bytes that no text has, near the beginning."""
EXPORT = "export its table as CSV"
UNPACK = "unpack it, and name the files inside"
RECOMPRESS = "unpack it; gzip and zstandard are read as they are"
HTML = rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype\s+html|html[\s>])"
AS_TEXT = "export the log itself as CSV or JSON lines"
CONVERT = "convert it to Parquet or CSV"


@dataclass(frozen=True, slots=True)
class _Sign:
    """How a kind of file begins."""

    pattern: re.Pattern[bytes]
    what: str
    remedy: str
    binary: bool = False
    """Whether bytes that no text has must be there too."""


def _sign(pattern: bytes, what: str, remedy: str, *, binary: bool = False) -> _Sign:
    return _Sign(re.compile(pattern, re.DOTALL), what, remedy, binary)


SIGNS = (
    _sign(rb"SQLite format 3\0", "an SQLite database", "export it: sqlite3 -csv -header FILE 'select * from TABLE'"),
    _sign(rb".{8}DUCK", "a DuckDB database", EXPORT, binary=True),
    _sign(rb"PK\x03\x04.*xl/[A-Za-z_]{4}", "an Excel workbook", "save the sheet as CSV"),
    _sign(rb"PK\x03\x04.*opendocument\.spreadsheet", "a spreadsheet (ODS)", "save the sheet as CSV"),
    _sign(rb"PK\x03\x04.*word/[A-Za-z_]{4}", "a Word document", AS_TEXT),
    _sign(rb"PK(\x03\x04|\x05\x06)", "a zip archive", UNPACK),
    _sign(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "save the sheet as CSV"),
    _sign(rb"%PDF-", "a PDF document", AS_TEXT),
    _sign(rb"\{\\rtf", "an RTF document", AS_TEXT),
    _sign(HTML, "a web page (HTML)", "fetch the file itself: this may be a login page"),
    _sign(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|II\*\0|MM\0\*", "an image", AS_TEXT),
    _sign(rb"\x80[\x02-\x05][\x00-\xff]", "a Python pickle", CONVERT),
    _sign(rb"ORC", "an ORC file", CONVERT, binary=True),
    _sign(rb"Obj\x01", "an Avro file", CONVERT),
    _sign(rb"ARROW1\0|FEA1", "a Feather (Arrow) file", CONVERT, binary=True),
    _sign(rb"\x89HDF\r\n", "an HDF5 file", CONVERT),
    _sign(rb"\x93NUMPY", "a NumPy array", CONVERT),
    _sign(rb"RD[AX][23]\n", "an R data file", CONVERT, binary=True),
    _sign(rb"<stata_dta>|\$FL[23]@\(#\)", "a data file of Stata or SPSS", CONVERT),
    _sign(rb"BZh[1-9]1AY&SY", "compressed with bzip2", RECOMPRESS),
    _sign(rb"\xfd7zXZ\0", "compressed with xz", RECOMPRESS),
    _sign(rb"\x04\x22\x4d\x18", "compressed with LZ4", RECOMPRESS),
    _sign(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd", "compressed twice", "unpack it once"),
    _sign(rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07", "an archive", UNPACK),
    _sign(rb".{257}ustar[\0 ]", "a tar archive", UNPACK),
    _sign(rb"version http\S+\noid sha256:", "a Git LFS pointer", "fetch the file it stands for: git lfs pull"),
    _sign(rb"(\xef\xbb\xbf)?\s*\[\s*\{", "one JSON array", "put one object on each line: jq -c '.[]' FILE"),
)  # fmt: skip
"""From the narrower to the wider sign."""


def name_other_file(source: Source) -> Problem | None:
    """The problem that a file is of a kind that is not read; None when it may be a log."""
    try:
        with open_bytes(source) as stream:
            head = stream.read(LOOKED_AT)
    except (*BROKEN_STREAM, OSError):  # the scan says what is wrong with it
        return None
    for sign in SIGNS:
        if sign.pattern.match(head) and (not sign.binary or CONTROL.match(head)):
            return describe("other-file", source.name, what=sign.what, remedy=sign.remedy)
    return None
