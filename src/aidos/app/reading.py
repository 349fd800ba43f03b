"""How a command is told to read its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.ingest.options import ReadOptions

__all__ = ["HowToRead"]


@Parameter(name="*", group="How to read the files")
@dataclass(frozen=True, slots=True, kw_only=True)
class HowToRead:
    """Options of every command that reads data files."""

    format: str = ""
    """The format, if it should not be recognised: aol, excite, ubi, elastic, solr, csv, jsonl, parquet..."""

    column: Sequence[str] = ()
    """What the file calls a column of aidos, for example client_id=AnonID; may be repeated."""

    delimiter: str = ""
    r"""The character between columns, for example ';' or '\t'."""

    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    """Whether the first line names the columns; recognised unless given."""

    encoding: str = "utf-8"
    """The encoding of text files, for example latin-1; utf-8 unless given."""

    time_format: str = ""
    """How times are written: iso, epoch, or a pattern such as '%d/%m/%Y %H:%M'."""

    earliest: str = "1990-01-01"
    """Times before this day are taken for mistakes; 1990-01-01 unless given."""

    latest: str = ""
    """Times after this day are taken for mistakes; tomorrow unless given."""

    skip_bad_rows: bool = False
    """Leave out the rows that cannot be read, and say how many."""

    accept: Sequence[str] = ()
    """Mend a problem without asking, for example byte-order-mark; `aidos check` names them; may be repeated."""

    def options(self, *, normalise: str = "", session_gap: float | None = None) -> ReadOptions:
        """As a value that the ingest floor takes."""
        from aidos.ingest.normalise import AS_TYPED, QueryNormalisation
        from aidos.ingest.options import EARLIEST, ReadOptions

        return ReadOptions(
            format=self.format,
            columns=dict(_pair(text) for text in self.column),
            delimiter="\t" if self.delimiter == r"\t" else self.delimiter,
            has_header=self.header,
            encoding=self.encoding,
            time_format=self.time_format,
            earliest=_day("--earliest", self.earliest) or EARLIEST,
            latest=_day("--latest", self.latest),
            skip_bad_rows=self.skip_bad_rows,
            accept=frozenset(self.accept),
            normalise=QueryNormalisation.parse(normalise) if normalise else AS_TYPED,
            session_gap_minutes=session_gap,
        )


def _pair(text: str) -> tuple[str, str]:
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ParameterError("--column takes OURS=THEIRS", hint="for example --column client_id=AnonID")
    return ours, theirs


def _day(option: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ParameterError(f"{option} takes a day such as 2006-03-01, got {text!r}") from error
