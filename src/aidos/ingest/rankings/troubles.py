"""What can be wrong with a file of rankings, besides what can be wrong with any file.

A trouble is told as soon as it is met: the reading stops there, unless whole rankings may be left out. Then it is
counted, one problem for all places of the same trouble. Messages name files, lines and columns, never a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aidos.errors import InputError, Problem
from aidos.ingest.problems import KINDS, LINES_SHOWN, Kind

__all__ = ["RANKING_KINDS", "SKIP_BAD", "Complaints", "refuse", "tell"]

SKIP_BAD = "--skip-bad-rankings"
"""The option that leaves out rankings with something wrong in them."""
LEAVE_OUT = "leave such rankings out"
SORT = "sort the file by ranking, so that the rows of each stand together"

RANKING_KINDS = {
    **{
        slug: KINDS[slug]
        for slug in ("missing-file", "empty-file", "header-only", "cut-off", "unreadable-file", "unknown-format")
    },
    **{
        kind.slug: kind
        for kind in (
            Kind("ragged-rows", "{expected} columns were expected, the line has more or fewer", LEAVE_OUT, SKIP_BAD),
            Kind("bad-line", "the line cannot be read: {reason}", LEAVE_OUT, SKIP_BAD),
            Kind("bad-json", "{reason}", LEAVE_OUT, SKIP_BAD),
            Kind("invalid-utf8", "the line is not valid UTF-8, or holds NUL bytes", LEAVE_OUT, SKIP_BAD),
            Kind("empty-id", "{column} is missing or blank", LEAVE_OUT, SKIP_BAD),
            Kind("empty-ranking", "the ranking has no subjects", LEAVE_OUT, SKIP_BAD),
            Kind("duplicate-object", "an object stands in its ranking twice", "keep the best of them", SKIP_BAD),
            Kind("bad-score", "{column} is {reason}", "relevance is a finite number, not negative", SKIP_BAD),
            Kind("bad-position", "{column} is not a whole number", LEAVE_OUT, SKIP_BAD),
            Kind("no-relevance", "no score of the ranking is above 0", LEAVE_OUT, SKIP_BAD),
            Kind("repeated-ranking", "the ranking was there before", "leave the later ones out", SKIP_BAD),
            Kind("out-of-order", "rankings out of order: rows of one that ended before", SORT),
            Kind("mixed-ranking", "the rows of one ranking differ in query, searcher or system", SORT),
            Kind("several-systems", "several systems ranked for the same query", "choose one", "--system NAME"),
            Kind("absent-system", "no row is of the system that was asked for", "check the name", "--system NAME"),
            Kind("no-header", "the first line does not name the columns", "add a line with the names: {columns}"),
            Kind(
                "missing-column",
                "no column holds the {meaning}",
                "say which one does; the file has {columns}",
                "--column {column}={candidate}",
            ),
            Kind("duplicate-columns", "more than one column is called {column}", "rename all but one, or drop them"),
            Kind("absent-column", "there is no column called {column}", "the file has {columns}"),
            Kind("unnamed-subject", "{column} is missing or blank", "every subject needs a name"),
            Kind("repeated-subject", "{column} names a subject that has a row already", "keep one row for each"),
            Kind("bad-rating", "{column} is {reason}", "mend the cell, or leave it blank when nobody rated"),
            Kind("no-rating-above-zero", "no rating in the column {column} is above 0", "name other rating columns"),
            Kind("no-ratings", "no column holds ratings", "add a column of numbers, or name the ones to read"),
            Kind("bad-column", "the column {column} does not hold {wanted}", "convert it, or map another one"),
        )
    },
}
"""Every kind of trouble in rankings, by its slug."""


def tell(
    slug: str,
    file: str,
    *,
    lines: Sequence[int] = (),
    column: str = "",
    place: str = "line",
    **words: object,
) -> Problem:
    """The problem of a kind in a file; ``words`` fill the gaps in the catalogue's sentences."""
    kind = RANKING_KINDS[slug]
    told = kind.tell(file, column, words, lines=tuple(lines), place=place)
    return replace(told, rows_can_be_skipped=kind.option == SKIP_BAD)


def refuse(*problems: Problem) -> InputError:
    """The error that carries them: the first in full, how many more there are, and what to do."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    hint = f"{first.remedy}: {first.option}" if first.option else first.remedy
    return InputError(f"{first}{more}", hint=hint, problems=problems)


@dataclass(slots=True)
class Complaints:
    """Where readers tell what is wrong with single rankings."""

    skip_bad: bool
    """Whether such rankings are left out, and the trouble counted."""
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
