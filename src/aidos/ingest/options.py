"""How files are to be read: everything the user may say about them, in one value."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from annotated_types import Gt

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.ingest.normalise import AS_TYPED, QueryNormalisation

__all__ = ["ACCEPTABLE", "ReadOptions"]

ACCEPTABLE = frozenset(
    {"byte-order-mark", "duplicate-columns", "mixed-line-ends", "nested-types", "nul-bytes", "unsorted-times"}
)
"""The problems that ``--accept`` takes: aidos knows how to mend them without losing rows."""
EARLIEST = date(1990, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How files are to be read. The defaults are strict: nothing is mended, skipped or changed unasked."""

    format: str = ""
    """The name of the format; recognised when empty."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of aidos and what the file calls them: client_id=AnonID."""
    delimiter: str = ""
    """The character between columns; recognised when empty."""
    has_header: bool | None = None
    """Whether the first line names the columns; recognised when not given."""
    encoding: str = "utf-8"
    """The encoding of text files."""
    time_format: str = ""
    """How times are written: iso, epoch, or a pattern such as %d/%m/%Y %H:%M; recognised when empty."""
    earliest: date = EARLIEST
    """Times before this day are absurd."""
    latest: date | None = None
    """Times after this day are absurd; tomorrow when not given."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be read, and count them."""
    accept: frozenset[str] = frozenset()
    """Problems to mend without asking: mixed-line-ends, byte-order-mark..."""
    normalise: QueryNormalisation = AS_TYPED
    """What to do to the text of queries; nothing unless asked."""
    session_gap_minutes: Annotated[float | None, Gt(0)] = None
    """Start a new session after such a pause; sessions stay as the file has them when not given."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if strange := sorted(self.accept - ACCEPTABLE):
            raise ParameterError(
                f"cannot accept {', '.join(strange)}", hint=f"what can be accepted: {', '.join(sorted(ACCEPTABLE))}"
            )
        if self.delimiter and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError("the delimiter must be one character", hint="a tab is written as '\\t'")
        try:
            codecs.lookup(self.encoding)
        except LookupError as error:
            raise ParameterError(
                f"there is no encoding called {self.encoding!r}", hint="for example utf-8, latin-1, utf-16"
            ) from error
        if self.latest is not None and self.latest < self.earliest:
            raise ParameterError(f"the latest day {self.latest} is before the earliest, {self.earliest}")

    def last_day(self) -> date:
        """The last day that is not absurd: tomorrow, because clocks differ, unless another was given."""
        return self.latest or datetime.now(UTC).date() + timedelta(days=1)
