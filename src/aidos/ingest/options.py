"""How files are to be read: everything the user may say about them, in one value.

Every job that reads files takes one of the values below: `HowToRead` for tables (search logs, posts, runs, judgements),
`HowToReadRankings`, `HowToReadPairs`. All name columns in the same way: ``--column OURS=THEIRS``. `ReadOptions` is
`HowToRead` with what is not the user's to say: what a job reads the files for.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from annotated_types import Gt

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.ingest.normalise import AS_TYPED, QueryNormalisation

if TYPE_CHECKING:
    from aidos.errors import Problem
    from aidos.ingest.rankings.rows import RankingRows
    from aidos.ingest.results.reading import PairsRead

__all__ = [
    "ACCEPTABLE",
    "QUOTES",
    "HowToRead",
    "HowToReadPairs",
    "HowToReadRankings",
    "NamedColumns",
    "Quotes",
    "ReadOptions",
]

Quotes = Literal["", "line", "none", "rfc4180"]
QUOTES: tuple[Quotes, ...] = ("line", "none", "rfc4180")
"""What double quotes may be in delimited text: around cells within one line, plain text, or RFC 4180."""

ACCEPTABLE = frozenset(
    {
        "byte-order-mark",
        "duplicate-columns",
        "mixed-line-ends",
        "nested-types",
        "nul-bytes",
        "position-without-object",
        "unsorted-times",
    }
)
"""The problems that ``--accept`` takes: aidos knows how to mend them without losing rows."""
EARLIEST = "1990-01-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedColumns:
    """What the files call the columns of aidos: how every reader is told."""

    example: ClassVar[str]

    column: tuple[str, ...] = ()
    """What the file calls a column of aidos: OURS=THEIRS; may be repeated."""

    def columns(self) -> dict[str, str]:
        """Our columns and what the file calls them."""
        named: dict[str, str] = {}
        for text in self.column:
            ours, equals, theirs = text.partition("=")
            if not (ours and equals and theirs):
                raise ParameterError("--column takes OURS=THEIRS", hint=f"for example --column {self.example}")
            if named.setdefault(ours, theirs) != theirs:
                raise ParameterError(
                    "two columns of the file are to become the same column", hint="map one of them only"
                )
        return named


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToRead(NamedColumns):
    """How to read tables: search logs, posts, runs and judgements."""

    example: ClassVar[str] = "client_id=AnonID"

    format: str = ""
    """The format, if it should not be recognised: aol, excite, ubi, elastic, solr, csv, jsonl, parquet..."""

    column: tuple[str, ...] = ()
    """What the file calls a column of aidos, for example client_id=AnonID; may be repeated."""

    delimiter: str = ""
    r"""The character between columns, for example ';' or '\t'."""

    quotes: str = ""
    """Double quotes: line (around cells of one line), none (text), rfc4180 (cells may span lines); by the header."""

    header: bool | None = None
    """Whether the first line names the columns; recognised if unset."""

    encoding: str = "utf-8"
    """The encoding of text files, for example latin-1."""

    time_format: str = ""
    """How times are written: iso, epoch, or a pattern such as '%d/%m/%Y %H:%M'."""

    earliest: str = EARLIEST
    """Times before this day are taken for mistakes."""

    latest: str = ""
    """Times after this day are taken for mistakes; tomorrow if unset."""

    skip_bad_rows: bool = False
    """Leave out the rows that cannot be read, and say how many."""

    accept: tuple[str, ...] = ()
    """Mend a problem without asking, for example byte-order-mark; `aidos check` names them; may be repeated."""

    def __post_init__(self) -> None:
        check_parameters(self)
        self.columns()
        if strange := sorted(set(self.accept) - ACCEPTABLE):
            raise ParameterError(
                f"cannot accept {', '.join(strange)}", hint=f"what can be accepted: {', '.join(sorted(ACCEPTABLE))}"
            )
        if self.quotes and self.quotes not in QUOTES:
            raise ParameterError(f"quotes cannot be {self.quotes!r}", hint=f"choose from {', '.join(QUOTES)}")
        if self.separator and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise ParameterError("the delimiter must be one character", hint="a tab is written as '\\t'")
        try:
            codecs.lookup(self.encoding)
        except LookupError as error:
            raise ParameterError(
                f"there is no encoding called {self.encoding!r}", hint="for example utf-8, latin-1, utf-16"
            ) from error
        if self.last_day() < self.first_day() and self.latest:
            raise ParameterError(f"the latest day {self.latest} is before the earliest, {self.earliest}")

    @property
    def separator(self) -> str:
        """The character between columns itself: a tab can be written with a backslash."""
        return "\t" if self.delimiter == r"\t" else self.delimiter

    @property
    def quoting(self) -> Quotes:
        """What double quotes are."""
        return cast("Quotes", self.quotes)

    def first_day(self) -> date:
        """The first day that is not absurd."""
        return _day("--earliest", self.earliest or EARLIEST)

    def last_day(self) -> date:
        """The last day that is not absurd: tomorrow, because clocks differ, unless another was given."""
        return _day("--latest", self.latest) if self.latest else datetime.now(UTC).date() + timedelta(days=1)

    def vouched(self) -> str:
        """What the owner vouches for by these options, for whoever relies on a promise about the files."""
        from aidos.ingest.delimited import AS_RFC4180

        return f"The files were {AS_RFC4180}; their owner vouches for that." if self.quotes == "rfc4180" else ""

    def options(self, *, normalise: str = "", **decided: Any) -> ReadOptions:
        """The same, with what the job decides; ``normalise`` is what to do to queries, in words."""
        given = {each.name: getattr(self, each.name) for each in fields(HowToRead)}
        return ReadOptions(**given, normalise=QueryNormalisation.parse(normalise) if normalise else AS_TYPED, **decided)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions(HowToRead):
    """How to read tables, and what the job that reads them decides. By default nothing is changed or left out."""

    normalise: QueryNormalisation = AS_TYPED
    """What to do to the text of queries; nothing unless asked."""
    for_release: bool = False
    """Nothing may be decided by rows: the format is declared or named by the header line. The order of rows does not
    matter, and no number of bad rows refuses a file whose bad rows are left out."""
    wanted: frozenset[str] = frozenset()
    """Columns to read besides the required ones; all when empty."""
    needed: frozenset[str] = frozenset()
    """Columns that must be mapped besides the required ones: a release is made of them."""
    table: tuple[str, ...] = ()
    """Read these columns of any table with a header, as text, in place of one of the tables that aidos knows."""
    session_gap_minutes: Annotated[float | None, Gt(0)] = None
    """Start a new session after such a pause; sessions stay as the file has them when not given."""
    any_posts: bool = False
    """Posts may be blank, lack an id or repeat one: the job that reads them has a rule of its own."""

    @property
    def checks_posts(self) -> bool:
        """Whether every post must have words and an id of its own, as a search needs it."""
        return not (self.for_release or self.any_posts)


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadRankings(NamedColumns):
    """How to read rankings."""

    example: ClassVar[str] = "object_id=listing"

    format: str = ""
    """The format, if it should not be recognised: jsonl, trec, parquet, csv or tsv."""

    column: tuple[str, ...] = ()
    """What the file calls a column of aidos, for example object_id=listing; may be repeated."""

    system: str = ""
    """Only the rankings of this system, where a file holds several."""

    skip_bad_rankings: bool = False
    """Leave out rankings that cannot be read, and say how many."""

    def read(self, files: Sequence[str], problems: list[Problem]) -> Iterator[RankingRows]:
        """The rankings, one at a time; what was wrong with those left out is told in ``problems``."""
        from aidos.ingest.rankings.reading import read_rankings

        return read_rankings(
            files,
            format=self.format,
            columns=self.columns(),
            system=self.system,
            skip_bad=self.skip_bad_rankings,
            problems=problems,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadPairs(NamedColumns):
    """How to read pairs of result lists."""

    example: ClassVar[str] = "url=link"

    vanilla: tuple[str, ...] = ()
    """Files or directories of lists that were fetched without an account; may be repeated."""

    personalised: tuple[str, ...] = ()
    """Files or directories of lists that were fetched with the account; may be repeated."""

    again: tuple[str, ...] = ()
    """Files or directories of second lists without an account, which show the service's own noise; may be repeated."""

    documents: tuple[str, ...] = ()
    """Files with titles and texts of the documents that TREC runs name; may be repeated."""

    account: str = ""
    """Whose lists, where the files hold those of several accounts."""

    column: tuple[str, ...] = ()
    """What the files call a column of aidos, for example url=link or account=login; may be repeated."""

    results_at: str = ""
    """Where the list stands in JSON of another shape, for example data.items or searches.*.found."""

    query_at: str = ""
    """Where the words that were searched for stand there, for example data.query or searches.*.words."""

    skip_bad_pairs: bool = False
    """Leave out pairs that cannot be read, and say how many."""

    def read(self, names: Sequence[str]) -> PairsRead:
        """The pairs of these files and of those that options name."""
        from aidos.ingest.results.names import ListPaths
        from aidos.ingest.results.reading import read_pairs

        return read_pairs(
            names,
            vanilla=self.vanilla,
            personalised=self.personalised,
            again=self.again,
            documents=self.documents,
            account=self.account,
            columns=self.columns(),
            paths=ListPaths(results=self.results_at, query=self.query_at),
            skip_bad=self.skip_bad_pairs,
        )


def _day(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ParameterError(f"{option} takes a day such as 2006-03-01, got {text!r}") from error
