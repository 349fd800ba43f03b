"""People's judgements of exposing queries: whether it would trouble a member to be found by one.

A file of judgements (CSV, TSV, JSON lines or Parquet, compressed or not) has a row for each judge and item, with the
columns author_id, query, judge and relevance, and post_id where a certain post was in view. Relevance is a number from
0 on; yes and no are 1 and 0. An item is what several judges were asked: member, query and, if given, post.

The grade of an item is the mean over its judges times the usual number of judges: where all items have as many, it is
the sum, as in the thesis (three judges, yes or no, grades 0 to 3). Agreement is Fleiss' kappa over the values that
judges gave. A file of one judge has no kappa; nothing here says whether judges are right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.errors import Problem
from aidos.ingest.formats.documents import load_document
from aidos.ingest.formats.fields import UnreadableError, decimal, text
from aidos.ingest.problems import LINES_SHOWN
from aidos.ingest.rankings.columnar import DAMAGED, opened_parquet
from aidos.ingest.rankings.lines import first_text, is_text, opened_lines
from aidos.ingest.rankings.tablerows import duplicate_columns, table_rows
from aidos.ingest.rankings.troubles import refuse, tell
from aidos.ingest.sources import Source, find_sources
from aidos.model.agreement import fleiss_kappa

__all__ = ["Judgements", "read_judgements"]

Floats = NDArray[np.float64]
REQUIRED = ("author_id", "query", "judge", "relevance")
COLUMNS = (*REQUIRED, "post_id")
MEND = "mend the line, or take it out"
LARGEST = 1000.0
"""Grades beyond are ids or times that stand in the wrong column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgements:
    """Items in the order of the file, and what judges said about each."""

    author_ids: tuple[str, ...]
    queries: tuple[str, ...]
    """As they are written, with single blanks and in small letters."""
    post_ids: tuple[str, ...]
    """The post in view; empty where none was."""
    means: Floats = field(repr=False)
    """Mean relevance over the judges of the item."""
    judged: NDArray[np.int64] = field(repr=False)
    """How many judges each item had."""
    kappa: float
    """Agreement of the judges (Fleiss); not a number where no item has two, or all always say the same."""
    judges: int
    """How many different judges there are."""

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def usual(self) -> int:
        """The number of judges that most items have; the larger one where two are equally usual."""
        times = np.bincount(self.judged)
        return int(len(times) - 1 - np.argmax(times[::-1]))

    @property
    def grades(self) -> Floats:
        """The grade of each item: its mean times the usual number of judges."""
        scaled: Floats = self.means * self.usual
        return scaled


def read_judgements(path: str) -> Judgements:
    """Read files of judgements (a name or a pattern); InputError with all problems that they have."""
    sources, problems = find_sources([path])
    problems += [tell("empty-file", source.name) for source in sources if not source.size]
    if problems:
        raise refuse(*problems)
    troubles = _Troubles()
    items: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for source in sources:
        before = len(items), len(troubles.found)
        for line, cells in _cells(source, troubles):
            row = _checked(source, line, cells, troubles)
            if row is None:
                continue
            given = items[row.author_id, row.query, row.post_id]
            if row.judge in given:
                troubles.add(source, line, "repeated-judgement", "judge", "the judge has a row for this item already")
            given[row.judge] = row.relevance
        if (len(items), len(troubles.found)) == before:
            raise refuse(tell("header-only", source.name))
    if troubles.found:
        raise refuse(*troubles.problems())
    return _gathered(items)


class _Row(NamedTuple):
    author_id: str
    query: str
    judge: str
    relevance: float
    post_id: str


@dataclass(slots=True)
class _Troubles:
    """What is wrong, one problem for all places of the same trouble."""

    found: dict[tuple[Source, str, str, str], list[int]] = field(default_factory=dict)

    def add(self, source: Source, line: int, kind: str, column: str, sentence: str) -> None:
        self.found.setdefault((source, kind, column, sentence), []).append(line)

    def problems(self) -> list[Problem]:
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
            for (source, kind, column, sentence), lines in self.found.items()
        ]


def _cells(source: Source, troubles: _Troubles) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The rows of a file by column; those that cannot be read are told."""
    if source.is_parquet:
        return _parquet(source)
    start = "" if source.plain_name.endswith((".csv", ".tsv")) else first_text(source).lstrip()
    return _json(source, troubles) if start.startswith("{") else _delimited(source, troubles)


def _delimited(source: Source, troubles: _Troubles) -> Iterator[tuple[int, Mapping[str, object]]]:
    names, rows = table_rows(source, "\t" if source.plain_name.endswith(".tsv") else "")
    names = [name.strip() for name in names]
    _check_names(source, names)
    for line, row in rows:
        if isinstance(row, Problem):
            troubles.add(source, line, row.kind, row.column, row.sentence)
        else:
            yield line, dict(zip(names, row, strict=True))


def _json(source: Source, troubles: _Troubles) -> Iterator[tuple[int, Mapping[str, object]]]:
    looked_at = False
    with opened_lines(source) as lines:
        for number, line in lines:
            try:
                document = load_document(line) if is_text(line) else None
                if document is None and not is_text(line):
                    raise UnreadableError("invalid-utf8", "the line is not valid UTF-8, or holds NUL bytes")
            except UnreadableError as bad:
                troubles.add(source, number, bad.kind, "", bad.sentence)
                continue
            if document is None:
                continue
            if not looked_at:
                _check_names(source, list(document))
                looked_at = True
            yield number, document


def _parquet(source: Source) -> Iterator[tuple[int, Mapping[str, object]]]:
    with opened_parquet(source) as file:
        names = list(file.schema_arrow.names)
        _check_names(source, names)
        try:
            held: list[dict[str, Any]] = file.read(columns=[name for name in COLUMNS if name in names]).to_pylist()
        except DAMAGED as error:
            raise refuse(tell("unreadable-file", source.name, reason="its data are damaged")) from error
    yield from enumerate(held, start=1)


def _check_names(source: Source, names: Sequence[str]) -> None:
    missing = [name for name in REQUIRED if name not in names]
    problems = [
        tell("absent-column", source.name, lines=(1,), column=name, columns=", ".join(names)) for name in missing
    ]
    if problems := problems or duplicate_columns(source, names, COLUMNS):
        raise refuse(*problems)


def _checked(source: Source, line: int, cells: Mapping[str, object], troubles: _Troubles) -> _Row | None:
    """The row, or None where something is wrong with it, which is told."""
    texts = {name: (text(cells.get(name)) or "").strip() for name in COLUMNS}
    blank = [name for name in REQUIRED if not texts[name]]
    for name in blank:
        troubles.add(source, line, "empty-cell", name, f"{name} is missing or blank")
    if blank:
        return None
    try:
        relevance = decimal(texts["relevance"], "relevance")
    except UnreadableError:
        relevance = -1.0
    if not 0 <= relevance <= LARGEST:
        sentence = f"relevance is not a number from 0 to {LARGEST:.0f}"
        troubles.add(source, line, "bad-number", "relevance", sentence)
        return None
    query = " ".join(texts["query"].lower().split())
    return _Row(texts["author_id"], query, texts["judge"], relevance, texts["post_id"])


def _gathered(items: Mapping[tuple[str, str, str], Mapping[str, float]]) -> Judgements:
    values = sorted({value for given in items.values() for value in given.values()})
    counts = np.zeros((len(items), len(values)), dtype=np.int64)
    for row, given in enumerate(items.values()):
        for value, number in Counter(given.values()).items():
            counts[row, values.index(value)] = number
    judged = counts.sum(axis=1)
    authors, queries, posts = zip(*items, strict=True)
    return Judgements(
        author_ids=authors,
        queries=queries,
        post_ids=posts,
        means=(counts @ np.array(values)) / judged,
        judged=judged,
        kappa=fleiss_kappa(counts) if (judged > 1).any() else float("nan"),
        judges=len({judge for given in items.values() for judge in given}),
    )
