"""Files of judgements: what several judges said about items, a row for each judge and item.

A file (CSV, TSV, JSON lines or Parquet, compressed or not) has the columns that name an item, and the columns judge and
relevance. Relevance is a number from 0 on; yes and no are 1 and 0. Rows that are wrong are told by file, line and
column, all at once, and never by what they hold. Agreement is Fleiss' kappa over the values that judges gave; a file of
one judge has none, and nothing here says whether judges are right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.errors import Problem
from aidos.ingest.formats.fields import UnreadableError, decimal, load_document, text
from aidos.ingest.problems import LINES_SHOWN, RANKINGS, refuse
from aidos.ingest.rows import DAMAGED, duplicate_columns, opened_parquet, table_rows
from aidos.ingest.sources import Source, find_sources, first_text, is_text, opened_lines
from aidos.model.annotations import fleiss_kappa

__all__ = ["JudgedItems", "read_judged"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Rows = Iterator[tuple[int, Mapping[str, object]]]
SAID = ("judge", "relevance")
MEND = "mend the line, or take it out"
LARGEST = 1000.0
"""Grades beyond are ids or times that stand in the wrong column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedItems:
    """Items in the order of the file, and what judges said about each."""

    items: tuple[tuple[str, ...], ...] = field(repr=False)
    """What names each item, in the order of the columns that were asked for."""
    means: Floats = field(repr=False)
    """Mean relevance over the judges of the item."""
    positive: Longs = field(repr=False)
    """How many of its judges gave more than 0."""
    judged: Longs = field(repr=False)
    """How many judges each item had."""
    kappa: float
    """Agreement of the judges (Fleiss); not a number where no item has two, or all always say the same."""
    judges: int
    """How many different judges there are."""

    def __len__(self) -> int:
        return len(self.items)


def read_judged(
    path: str,
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    folded: Sequence[str] = (),
    also: Mapping[str, str] | None = None,
) -> JudgedItems:
    """Read files of judgements (a name or a pattern) of items named by columns; InputError with all problems.

    ``optional`` columns name the item as well, and may be missing or blank; ``folded`` ones are taken in small letters
    and with single blanks. ``also`` gives other names under which a column may stand, each with the one that is meant.
    """
    sources, problems = find_sources([path])
    problems += [RANKINGS.tell("empty-file", source.name) for source in sources if not source.size]
    if problems:
        raise refuse(*problems)
    reading = _Reading(
        columns=tuple(columns), optional=tuple(optional), folded=frozenset(folded), also=dict(also or {})
    )
    for source in sources:
        rows, troubles = 0, len(reading.troubles)
        for line, cells in reading.rows(source):
            reading.take(source, line, cells)
            rows += 1
        if not rows and len(reading.troubles) == troubles:
            raise refuse(RANKINGS.tell("header-only", source.name))
    if reading.troubles:
        raise refuse(*reading.problems())
    return _gathered(reading.items)


@dataclass(slots=True)
class _Reading:
    """Rows on their way to items, and what is wrong with some of them."""

    columns: tuple[str, ...]
    optional: tuple[str, ...]
    folded: frozenset[str]
    also: dict[str, str]
    items: dict[tuple[str, ...], dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    troubles: dict[tuple[Source, str, str, str], list[int]] = field(default_factory=dict)

    def complain(self, source: Source, line: int, kind: str, column: str, sentence: str) -> None:
        """One more line with that trouble."""
        self.troubles.setdefault((source, kind, column, sentence), []).append(line)

    def problems(self) -> list[Problem]:
        """One problem for all lines with the same trouble."""
        return [
            Problem(
                kind=kind,
                file=source.name,
                sentence=sentence,
                remedy=MEND,
                column=column,
                count=len(lines),
                lines=tuple(lines[:LINES_SHOWN]),
                place="row" if source.is_parquet else "line",
            )
            for (source, kind, column, sentence), lines in self.troubles.items()
        ]

    def take(self, source: Source, line: int, cells: Mapping[str, object]) -> None:
        """Check one row and keep it."""
        texts = {name: (text(cells.get(name)) or "").strip() for name in (*self.columns, *self.optional, *SAID)}
        blank = [name for name in texts if not texts[name] and name not in self.optional]
        for name in blank:
            self.complain(source, line, "empty-cell", name, f"{name} is missing or blank")
        if blank:
            return
        try:
            relevance = decimal(texts["relevance"], "relevance")
        except UnreadableError:
            relevance = -1.0
        if not 0 <= relevance <= LARGEST:
            sentence = f"relevance is not a number from 0 to {LARGEST:.0f}"
            self.complain(source, line, "bad-number", "relevance", sentence)
            return
        texts |= {name: " ".join(texts[name].lower().split()) for name in self.folded}
        given = self.items[tuple(texts[name] for name in (*self.columns, *self.optional))]
        if texts["judge"] in given:
            sentence = "the judge has a row for this item already"
            self.complain(source, line, "repeated-judgement", "judge", sentence)
        given[texts["judge"]] = relevance

    def rows(self, source: Source) -> Rows:
        """The rows of a file by column; those that cannot be read are told."""
        if source.is_parquet:
            return self._parquet(source)
        start = "" if source.plain_name.endswith((".csv", ".tsv")) else first_text(source).lstrip()
        return self._json(source) if start.startswith("{") else self._delimited(source)

    def _delimited(self, source: Source) -> Rows:
        found, rows = table_rows(source, RANKINGS, "\t" if source.plain_name.endswith(".tsv") else "")
        names = self._named(source, [name.strip() for name in found])
        for line, row in rows:
            if isinstance(row, Problem):
                self.complain(source, line, row.kind, row.column, row.sentence)
            else:
                yield line, dict(zip(names, row, strict=True))

    def _json(self, source: Source) -> Rows:
        names: list[str] = []
        with opened_lines(source) as lines:
            for number, line in lines:
                try:
                    if not is_text(line):
                        raise UnreadableError("invalid-utf8", "the line is not valid UTF-8, or holds NUL bytes")
                    document = load_document(line)
                except UnreadableError as bad:
                    self.complain(source, number, bad.kind, "", bad.sentence)
                    continue
                if document is None:
                    continue
                names = names or self._named(source, list(document))
                yield number, {self.also.get(name, name): value for name, value in document.items()}

    def _parquet(self, source: Source) -> Rows:
        with opened_parquet(source) as file:
            held = list(file.schema_arrow.names)
            meant = dict(zip(self._named(source, held), held, strict=True))
            wanted = [name for name in (*self.columns, *self.optional, *SAID) if name in meant]
            try:
                rows: list[dict[str, Any]] = file.read(columns=[meant[name] for name in wanted]).to_pylist()
            except DAMAGED as error:
                raise refuse(RANKINGS.tell("unreadable-file", source.name, reason="its data are damaged")) from error
        for number, row in enumerate(rows, start=1):
            yield number, {name: row[meant[name]] for name in wanted}

    def _named(self, source: Source, found: list[str]) -> list[str]:
        """The columns by the names that are meant; all that are needed are there, once."""
        names = [self.also.get(name, name) for name in found]
        needed = (*self.columns, *SAID)
        problems = [
            RANKINGS.tell("absent-column", source.name, lines=(1,), column=name, columns=", ".join(found))
            for name in needed
            if name not in names
        ]
        if problems := problems or duplicate_columns(source, RANKINGS, names, (*needed, *self.optional)):
            raise refuse(*problems)
        return names


def _gathered(items: Mapping[tuple[str, ...], Mapping[str, float]]) -> JudgedItems:
    values = sorted({value for given in items.values() for value in given.values()})
    places = {value: place for place, value in enumerate(values)}
    counts = np.zeros((len(items), len(values)), dtype=np.int64)
    for row, given in enumerate(items.values()):
        for value, number in Counter(given.values()).items():
            counts[row, places[value]] = number
    judged = counts.sum(axis=1)
    return JudgedItems(
        items=tuple(items),
        means=(counts @ np.array(values)) / judged,
        positive=counts[:, np.array(values) > 0].sum(axis=1),
        judged=judged,
        kappa=fleiss_kappa(counts) if (judged > 1).any() else float("nan"),
        judges=len({judge for given in items.values() for judge in given}),
    )
