"""Everything that can be wrong with a file: one catalogue, so that the same trouble reads the same in every format.

Every kind is an error until the user accepts it. A kind says what is wrong, what to do, and which option mends it;
``{...}`` in the words are filled by whoever found it, always with names and counts, never with a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aidos.errors import Problem

__all__ = ["KINDS", "LINES_SHOWN", "SKIP", "TABLE", "Kind", "describe"]

LINES_SHOWN = 5
"""How many line numbers a problem names."""
TABLE = "the table"
"""What a table from Python is called, which is no file to its owner."""
SKIP = "--skip-bad-rows"
"""The option that leaves bad rows out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of trouble, in words."""

    slug: str
    sentence: str
    remedy: str
    option: str = ""
    by_row: bool = False
    """Whether it is about single rows, though another option mends it better than leaving them out."""

    def tell(
        self, file: str, column: str, words: Mapping[str, object], *, lines: tuple[int, ...], place: str
    ) -> Problem:
        """The problem in a file; ``words`` fill the gaps in the sentences."""
        known = {**words, "column": column}
        return Problem(
            kind=self.slug,
            file=file,
            sentence=self.sentence.format_map(known),
            remedy=self.remedy.format_map(known),
            option=self.option.format_map(known),
            column=column,
            lines=lines,
            place=place,
        )

    @property
    def rows_can_be_skipped(self) -> bool:
        """Whether ``--skip-bad-rows`` mends it."""
        return self.by_row or self.option == SKIP


KINDS = {
    kind.slug: kind
    for kind in (
        Kind("missing-file", "there is no such file", "check the name; quote a pattern such as 'logs/*.tsv'"),
        Kind("directory", "is a directory, not a file", "name the files in it", "{pattern}"),
        Kind("no-permission", "may not be read by this user", "ask its owner, or change it: chmod u+r FILE"),
        Kind("unreadable-file", "cannot be read: {reason}", "check the disk, or copy the file again"),
        Kind("other-file", "is {what}, which aidos does not read", "{remedy}"),
        Kind("empty-file", "is empty", "export it again; nothing can be read from it"),
        Kind("header-only", "has no rows, at most a header", "export it again; nothing can be read from it"),
        Kind("cut-off", "the compressed data are broken or end too early", "fetch or compress the file again"),
        Kind(
            "unknown-format",
            "the format was not recognised",
            "name it; the formats are {formats}",
            "--format FORMAT",
        ),
        Kind(
            "unsure-format",
            "its rows fit more than one format: {formats}",
            "say which it is (or {others})",
            "{option}",
        ),
        Kind("different-tables", "holds {title}, the files before it another kind of table", "read them one by one"),
        Kind(
            "wrong-delimiter",
            "the columns are not separated by {found}",
            "the lines look separated by {better}",
            "{option}",
        ),
        Kind(
            "ragged-rows", "{expected} columns were expected, the line has more or fewer", "leave such lines out", SKIP
        ),
        Kind("bad-line", "the line cannot be read", "leave such lines out", SKIP),
        Kind("bad-json", "the line is not valid JSON", "leave such lines out", SKIP),
        Kind("bad-number", "the column {column} does not hold a number that fits", "leave such lines out", SKIP),
        Kind("line-too-long", "the line is longer than 1 MB", "leave such lines out", SKIP),
        Kind("nul-bytes", "the line holds NUL bytes", "drop those bytes", "--accept nul-bytes", by_row=True),
        Kind(
            "unbalanced-quote",
            "a double quote is not closed on its line, or does not stand around a whole cell",
            "say that quotes are text here; if cells may hold line ends and the writer doubled every quote inside,"
            " say --quotes rfc4180",
            "--quotes none",
            by_row=True,
        ),
        Kind(
            "bad-header",
            "the line that names the columns cannot be read",
            "mend that line; without it no column has a name",
        ),
        Kind(
            "guessed-format",
            "only its rows say which format it is, and a release must not depend on that",
            "say that it is {title}",
            "{option}",
        ),
        Kind(
            "guessed-width",
            "no header line says how many columns a row has, so bad rows cannot be told from good ones",
            "put a line with names before the rows, or do not leave bad rows out",
        ),
        Kind(
            "invalid-utf8",
            "the text is not valid {encoding}",
            "say which encoding it is",
            "--encoding {better}",
            by_row=True,
        ),
        Kind(
            "mixed-line-ends",
            "a carriage return stands inside the line, or is the only kind of line end",
            "take carriage returns as line ends too",
            "--accept mixed-line-ends",
            by_row=True,
        ),
        Kind("byte-order-mark", "begins with a byte order mark", "drop the mark", "--accept byte-order-mark"),
        Kind(
            "duplicate-columns",
            "more than one column is called {column}",
            "take the first of them and leave the others out",
            "--accept duplicate-columns",
        ),
        Kind(
            "nested-types", "the column {column} holds nested values", "leave such columns out", "--accept nested-types"
        ),
        Kind(
            "missing-column",
            "no column holds the {meaning}",
            "say which one does; the file has {columns}",
            "--column {assignment}",
        ),
        Kind(
            "undeclared-field",
            "only rows say which field holds the {meaning}, and a release must not depend on that",
            "say which one does; it may be called {column}",
            "--column {column}={column}",
        ),
        Kind(
            "not-in-format",
            "{title} does not hold the {meaning}",
            "ask for items that are made of something else, or name another format",
        ),
        Kind(
            "position-without-object",
            "the column {column} says where a result stood, and no result is named",
            "{advice}",
            "{option}",
        ),
        Kind("unreadable-time", "the column {column} does not hold a time", "leave such rows out", SKIP),
        Kind(
            "absurd-time",
            "the time is {bound}",
            "allow such times, or leave the rows out with --skip-bad-rows",
            "{allow}",
            by_row=True,
        ),
        Kind(
            "unsorted-times",
            "the times run backwards, and not from one person to the next",
            "let aidos sort the rows by person and time",
            "--accept unsorted-times",
        ),
        Kind("missing-person", "the column {column} does not say whose row it is", "leave such rows out", SKIP),
    )
}
"""Every kind, by its slug."""


def describe(
    slug: str,
    file: str,
    *,
    lines: Sequence[int] = (),
    count: int = 1,
    column: str = "",
    **words: object,
) -> Problem:
    """The problem of a kind in a file; ``words`` fill the gaps in the catalogue's sentences."""
    place = "row" if file.lower().endswith(".parquet") or file == TABLE else "line"
    told = KINDS[slug].tell(file, column, words, lines=tuple(lines)[:LINES_SHOWN], place=place)
    return replace(told, count=count, rows_can_be_skipped=KINDS[slug].rows_can_be_skipped)
