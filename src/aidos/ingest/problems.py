"""Everything that can be wrong with a file: one catalogue, so that the same trouble reads the same in every format.

Every kind is an error until the user accepts it. A kind says what is wrong, what to do, and which option mends it;
``{...}`` in the words are filled by whoever found it, always with names and counts, never with a cell. Each schema has
what can be wrong with any file, its own kinds, and an option that leaves out what is bad: rows of a table, whole
rankings, whole pairs of lists. A bad row spoils its ranking or pair, never a part of it: a list with a hole would look
like one that was re-ordered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aidos.errors import InputError, Problem

__all__ = [
    "LINES_SHOWN",
    "PAIRS",
    "RANKINGS",
    "TABLE",
    "TABLES",
    "Catalogue",
    "Complaints",
    "Kind",
    "describe",
    "refuse",
]

LINES_SHOWN = 5
"""How many line numbers a problem names."""
TABLE = "the table"
"""What a table from Python is called, which is no file to its owner."""
SKIP = "{skip}"
"""Stands for the option of a schema that leaves out what is bad."""
LEAVE_OUT = "{leave_out}"
"""Stands for what that option does, in words."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of trouble, in words."""

    slug: str
    sentence: str
    remedy: str = LEAVE_OUT
    option: str = ""
    by_row: bool = False
    """Whether it is about single rows, though another option mends it better than leaving them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Every kind of trouble that a schema knows."""

    kinds: Mapping[str, Kind]
    skip: str
    """The option that leaves out what is bad."""
    leave_out: str
    """What that does, in words."""
    names_tell: bool = False
    """Whether a file's name tells that its rows are counted, and not its lines."""

    def tell(  # noqa: PLR0913 (what a problem consists of, each given by name)
        self,
        slug: str,
        file: str,
        *,
        lines: Sequence[int] = (),
        count: int = 1,
        column: str = "",
        place: str = "",
        **words: object,
    ) -> Problem:
        """The problem of a kind in a file; ``words`` fill the gaps in the catalogue's sentences."""
        kind = self.kinds[slug]
        known = {"skip": self.skip, "leave_out": self.leave_out, **words, "column": column}
        in_rows = self.names_tell and (file.lower().endswith(".parquet") or file == TABLE)
        return Problem(
            kind=slug,
            file=file,
            sentence=kind.sentence.format_map(known),
            remedy=kind.remedy.format_map(known),
            option=kind.option.format_map(known),
            column=column,
            count=count,
            lines=tuple(lines)[:LINES_SHOWN],
            place=place or ("row" if in_rows else "line"),
            rows_can_be_skipped=kind.by_row or kind.option == SKIP,
        )


def _by_slug(*kinds: Kind) -> dict[str, Kind]:
    return {kind.slug: kind for kind in kinds}


OF_ANY_FILE = _by_slug(
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
)
OF_TABLES = _by_slug(
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
    Kind("ragged-rows", "{expected} columns were expected, the line has more or fewer", "leave such lines out", SKIP),
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
    Kind("nested-types", "the column {column} holds nested values", "leave such columns out", "--accept nested-types"),
    Kind(
        "missing-column",
        "no column holds the {meaning}",
        "say which one does; the file has {columns}",
        "--column {assignment}",
    ),
    Kind("unnamed-column", "the first line names no column {column}", "{known}"),
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
    Kind("missing-id", "the column {column} does not say which post it is", "leave such rows out", SKIP),
    Kind("missing-text", "the post is blank: it has no text in the column {column}, and no title", LEAVE_OUT, SKIP),
    Kind("duplicate-id", "a post before it has the same {column}", "leave the later ones out", SKIP),
)
OF_ROWS = _by_slug(
    Kind("ragged-rows", "{expected} columns were expected, the line has more or fewer", LEAVE_OUT, SKIP),
    Kind("bad-line", "the line cannot be read: {reason}", LEAVE_OUT, SKIP),
    Kind("bad-json", "{reason}", LEAVE_OUT, SKIP),
    Kind("invalid-utf8", "the line is not valid UTF-8, or holds NUL bytes", LEAVE_OUT, SKIP),
    Kind("no-header", "the first line does not name the columns", "add a line with the names: {columns}"),
    Kind("duplicate-columns", "more than one column is called {column}", "rename all but one, or drop them"),
)
"""Of the schemas whose rows Python reads one by one."""
SORT = "sort the file by ranking, so that the rows of each stand together"
OF_RANKINGS = _by_slug(
    Kind("empty-id", "{column} is missing or blank", LEAVE_OUT, SKIP),
    Kind("empty-ranking", "the ranking has no subjects", LEAVE_OUT, SKIP),
    Kind("duplicate-object", "an object stands in its ranking twice", "keep the best of them", SKIP),
    Kind("bad-score", "{column} is {reason}", "relevance is a finite number, not negative", SKIP),
    Kind("bad-position", "{column} is not a whole number", LEAVE_OUT, SKIP),
    Kind("no-relevance", "no score of the ranking is above 0", LEAVE_OUT, SKIP),
    Kind("repeated-ranking", "the ranking was there before", "leave the later ones out", SKIP),
    Kind("out-of-order", "rankings out of order: rows of one that ended before", SORT),
    Kind("mixed-ranking", "the rows of one ranking differ in query, searcher or system", SORT),
    Kind("several-systems", "several systems ranked for the same query", "choose one", "--system NAME"),
    Kind("absent-system", "no row is of the system that was asked for", "check the name", "--system NAME"),
    Kind(
        "missing-column",
        "no column holds the {meaning}",
        "say which one does; the file has {columns}",
        "--column {column}={candidate}",
    ),
    Kind("absent-column", "there is no column called {column}", "the file has {columns}"),
    Kind("unnamed-subject", "{column} is missing or blank", "every subject needs a name"),
    Kind("repeated-subject", "{column} names a subject that has a row already", "keep one row for each"),
    Kind("bad-rating", "{column} is {reason}", "mend the cell, or leave it blank when nobody rated"),
    Kind("no-rating-above-zero", "no rating in the column {column} is above 0", "name other rating columns"),
    Kind("no-ratings", "no column holds ratings", "add a column of numbers, or name the ones to read"),
    Kind("bad-column", "the column {column} does not hold {wanted}", "convert it, or map another one"),
)
NAMING = (
    "call the file or its directory vanilla, personalised or again, name it with an option of that name, "
    "or add a column list that says it"
)
OF_PAIRS = _by_slug(
    Kind("bad-row", "the row cannot be read: {reason}", LEAVE_OUT, SKIP),
    Kind("broken-json", "it is not valid JSON", "save it again: it may be cut off"),
    Kind("invalid-utf8", "the text is not valid UTF-8, or holds NUL bytes", LEAVE_OUT, SKIP),
    Kind("bad-cell", "{reason}", LEAVE_OUT, SKIP),
    Kind("no-address", "the result has neither an address nor a title", LEAVE_OUT, SKIP),
    Kind("no-query", "nothing says what was searched for", "{remedy}", SKIP),
    Kind("unknown-side", "nothing says whether the list is vanilla or personalised", NAMING),
    Kind(
        "bad-side",
        "the column {column} holds something else than vanilla, personalised or again",
        LEAVE_OUT,
        SKIP,
    ),
    Kind("lone-list", "the query has no {missing} list", "fetch it, or leave it out", SKIP),
    Kind("empty-list", "the {side} list has no organic result", LEAVE_OUT, SKIP),
    Kind("long-list", "the {side} list has more than {most:,} results", LEAVE_OUT, SKIP),
    Kind("not-results", "it is no result list and no pair of lists", "the forms are: {forms}"),
    Kind(
        "web-page",
        "it is a web page, and not one of SearXNG, whose structure is known",
        "parse it first: WebSearcher does, for pages that change their structure",
    ),
    Kind("no-answers", "none of its {number:,} responses holds results in JSON", "ask for JSON: format=json"),
    Kind(
        "no-list-there",
        "no list stands where --results-at says",
        "look at the file: names with dots between, a number for one entry, * for each",
    ),
    Kind("no-har", "the archive holds no HAR file", "unpack it, and name the files in it"),
    Kind("no-pairs", "no query has both a vanilla and a personalised list", NAMING),
    Kind("too-large", "it is larger than {most:,} MB", "split it, or save one list a line (JSON lines)"),
    Kind(
        "missing-column",
        "no column holds the {meaning}",
        "say which one does; the file has {columns}",
        "--column {column}=NAME",
    ),
    Kind("absent-column", "no file has a column called {column}", "check the name", "--column OURS=THEIRS"),
    Kind(
        "several-accounts",
        "the column {column} names {number:,} accounts, and an audit is of one",
        "say which one, as that column writes it",
        "--account NAME",
    ),
    Kind("absent-account", "no list is of the account that was asked for", "check the name", "--account NAME"),
    Kind(
        "no-account",
        "nothing says whose the personalised list is, though other lists name accounts",
        LEAVE_OUT,
        SKIP,
    ),
    Kind("empty-directory", "the directory holds no file", "name the directory with the saved lists"),
    Kind("no-names", "no document has an id", "every document needs its id in a column docno, doc_id or id"),
)
TABLES = Catalogue(
    kinds=OF_ANY_FILE | OF_TABLES, skip="--skip-bad-rows", leave_out="leave such rows out", names_tell=True
)
"""Search logs, posts, runs, judgements."""
RANKINGS = Catalogue(
    kinds=OF_ANY_FILE | OF_ROWS | OF_RANKINGS, skip="--skip-bad-rankings", leave_out="leave such rankings out"
)
PAIRS = Catalogue(
    kinds=OF_ANY_FILE | OF_ROWS | OF_PAIRS, skip="--skip-bad-pairs", leave_out="mend it, or leave such pairs out"
)
describe = TABLES.tell


def refuse(*problems: Problem) -> InputError:
    """The error that carries them: the first in full, how many more there are, and what to do."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    hint = f"{first.remedy}: {first.option}" if first.option else first.remedy
    return InputError(f"{first}{more}", hint=hint, problems=problems)


@dataclass(slots=True)
class Complaints:
    """Where readers tell what is wrong with single rankings or pairs."""

    skip_bad: bool
    """Whether these are left out, and the trouble counted."""
    problems: list[Problem]
    """What was counted, one entry for each kind, file and column."""
    count: int = 0
    places: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, problem: Problem, detail: str = "") -> None:
        """Stop with an error, or count the trouble; ``detail`` holds for this place alone."""
        if not (self.skip_bad and problem.rows_can_be_skipped):
            raise refuse(replace(problem, sentence=f"{problem.sentence}{detail}"))
        self.count += 1
        key = problem.file, problem.kind, problem.sentence
        known = self.places.get(key)
        if known is None:
            self.places[key] = len(self.problems)
            self.problems.append(problem)
            return
        before = self.problems[known]
        lines = (*before.lines, *problem.lines)[:LINES_SHOWN]
        self.problems[known] = replace(before, count=before.count + 1, lines=lines)
