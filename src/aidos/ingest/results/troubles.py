"""What can be wrong with files of result lists, besides what can be wrong with any file.

A bad row or list spoils its pair, never a part of it: a list with a hole would look like one that was re-ordered.
Messages name files, lines and columns, never a cell: queries and titles tell much about a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aidos.errors import Problem
from aidos.ingest.problems import KINDS, Kind
from aidos.ingest.rankings.troubles import Complaints, refuse

__all__ = ["PAIR_KINDS", "SKIP_BAD_PAIRS", "Complaints", "Place", "refuse", "tell"]

SKIP_BAD_PAIRS = "--skip-bad-pairs"
"""The option that leaves out pairs with something wrong in them."""
LEAVE_OUT = "mend it, or leave such pairs out"
NAMING = (
    "call the file or its directory vanilla, personalised or again, name it with an option of that name, "
    "or add a column list that says it"
)

PAIR_KINDS = {
    **{
        slug: KINDS[slug]
        for slug in ("missing-file", "no-permission", "empty-file", "header-only", "cut-off", "unreadable-file")
    },
    **{
        kind.slug: kind
        for kind in (
            Kind("bad-row", "the row cannot be read: {reason}", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("bad-json", "{reason}", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("broken-json", "it is not valid JSON", "save it again: it may be cut off"),
            Kind("invalid-utf8", "the text is not valid UTF-8, or holds NUL bytes", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("bad-cell", "{reason}", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("no-address", "the result has neither an address nor a title", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("no-query", "nothing says what was searched for", "{remedy}", SKIP_BAD_PAIRS),
            Kind("unknown-side", "nothing says whether the list is vanilla or personalised", NAMING),
            Kind(
                "bad-side",
                "the column {column} holds something else than vanilla, personalised or again",
                LEAVE_OUT,
                SKIP_BAD_PAIRS,
            ),
            Kind("lone-list", "the query has no {missing} list", "fetch it, or leave it out", SKIP_BAD_PAIRS),
            Kind("empty-list", "the {side} list has no organic result", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("long-list", "the {side} list has more than {most:,} results", LEAVE_OUT, SKIP_BAD_PAIRS),
            Kind("not-results", "it is no result list and no pair of lists", "the forms are: {forms}"),
            Kind(
                "web-page",
                "it is a web page, and not one of SearXNG, whose structure is known",
                "parse it first: WebSearcher does, for pages that change their structure",
            ),
            Kind("no-answers", "none of its {count:,} responses holds results in JSON", "ask for JSON: format=json"),
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
                "the column {column} names {count:,} accounts, and an audit is of one",
                "say which one, as that column writes it",
                "--account NAME",
            ),
            Kind("absent-account", "no list is of the account that was asked for", "check the name", "--account NAME"),
            Kind(
                "no-account",
                "nothing says whose the personalised list is, though other lists name accounts",
                LEAVE_OUT,
                SKIP_BAD_PAIRS,
            ),
            Kind("no-header", "the first line does not name the columns", "add a line with the names: {columns}"),
            Kind("duplicate-columns", "more than one column is called {column}", "rename all but one, or drop them"),
            Kind("empty-directory", "the directory holds no file", "name the directory with the saved lists"),
            Kind("no-names", "no document has an id", "every document needs its id in a column docno, doc_id or id"),
        )
    },
}
"""Every kind of trouble in files of result lists, by its slug."""


def tell(
    slug: str, file: str, *, lines: Sequence[int] = (), column: str = "", place: str = "line", **words: object
) -> Problem:
    """The problem of a kind in a file; ``words`` fill the gaps in the catalogue's sentences."""
    kind = PAIR_KINDS[slug]
    told = kind.tell(file, column, words, lines=tuple(lines), place=place)
    return replace(told, rows_can_be_skipped=kind.option == SKIP_BAD_PAIRS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands: a file, and a line, a row or an entry in it."""

    file: str
    unit: str = "line"
    number: int = 0
    """Counted from 1; 0 stands for the whole file."""

    def at(self, number: int) -> Place:
        """The same file, another line."""
        return Place(file=self.file, unit=self.unit, number=number)

    def problem(self, slug: str, column: str = "", **words: object) -> Problem:
        """A problem there."""
        lines = (self.number,) if self.number else ()
        return tell(slug, self.file, lines=lines, column=column, place=self.unit, **words)
