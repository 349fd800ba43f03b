"""Which format a file is in, and why.

Every format looks at the first lines and says how sure it is; the surest wins, and a close runner-up is named so that
the user can overrule the choice with ``--format``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aidos.errors import ParameterError, Problem
from aidos.ingest.bytescan import LONGEST_LINE
from aidos.ingest.formats import DELIMITED_FORMATS, LINE_FORMATS
from aidos.ingest.formats.base import LineFormat, Recognition, Sample
from aidos.ingest.formats.delimiters import describe_delimiter, suggest_delimiter
from aidos.ingest.formats.generic import Delimited
from aidos.ingest.formats.layout import DelimitedFormat
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.sources import Source, open_bytes

__all__ = ["PARQUET", "Choice", "FittedFormat", "format_names", "recognise", "take_sample"]

PARQUET = "parquet"
LINES_IN_SAMPLE = 200
CLOSE = 0.25
"""How near the runner-up must come to be named."""
TextFormat = LineFormat | DelimitedFormat


@runtime_checkable
class FittedFormat(Protocol):
    """A format that takes ``--column`` and adapts to the file."""

    def fitted(self, sample: Sample, columns: Mapping[str, str]) -> LineFormat:
        """The format for one file."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The format of a file, and the reason."""

    format: TextFormat
    why: str


def format_names() -> tuple[str, ...]:
    """What ``--format`` takes."""
    return (*(known.name for known in _all_formats()), PARQUET)


def take_sample(source: Source) -> Sample:
    """The first lines of a text file; at most the length of one allowed line is looked at."""
    with open_bytes(source) as stream:
        start = stream.read(LONGEST_LINE)
        whole = not stream.read(1)
    text = start.decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
    if not whole:
        lines = lines[:-1]
    return Sample(source.plain_name, tuple(lines[:LINES_IN_SAMPLE]))


def recognise(source: Source, sample: Sample, options: ReadOptions) -> Choice | Problem:
    """The format that was asked for, or else the one that fits best."""
    if options.format:
        return Choice(_by_name(options.format), "as asked with --format")
    if options.delimiter:
        return Choice(Delimited(), "as asked with --delimiter")
    verdicts = [(verdict, known) for known in _candidates(options) if (verdict := known.recognise(sample)) is not None]
    verdicts.sort(key=lambda pair: -pair[0].confidence)
    if not verdicts:
        return _unknown(source, sample)
    return Choice(verdicts[0][1], _reason(verdicts))


def _all_formats() -> list[TextFormat]:
    return [*DELIMITED_FORMATS, *LINE_FORMATS]


def _by_name(name: str) -> TextFormat:
    for known in _all_formats():
        if known.name == name:
            return known
    raise ParameterError(f"there is no format called {name}", hint=f"choose from {', '.join(format_names())}")


def _candidates(options: ReadOptions) -> list[TextFormat]:
    """All formats, or those that take ``--column`` when it was given."""
    if options.columns:
        return [known for known in _all_formats() if isinstance(known, Delimited | FittedFormat)]
    return _all_formats()


def _unknown(source: Source, sample: Sample) -> Problem:
    if better := suggest_delimiter(sample.lines, ""):
        return describe_delimiter(source.name, "tabs, commas, semicolons or vertical bars", better)
    return describe("unknown-format", source.name, formats=", ".join(format_names()))


def _reason(verdicts: list[tuple[Recognition, TextFormat]]) -> str:
    best = verdicts[0][0]
    if len(verdicts) > 1 and best.confidence - verdicts[1][0].confidence <= CLOSE:
        return f"{best.why}; it could also be {verdicts[1][1].title} (--format {verdicts[1][1].name})"
    return best.why
