"""TREC files: runs (``qid Q0 docno rank score tag``) and relevance judgements (``qid iter docno rel``).

Fields are separated by any white space. The second field is read past: it says nothing in either. Ranks are kept as
written, from 0 or from 1 and in any order; whether they agree with the scores is not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from aidos.core.records import JUDGEMENTS, RUN
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import UnreadableError, decimal, whole

__all__ = ["TrecQrels", "TrecRun"]

LARGEST_GRADE = 100
"""Numbers beyond are no grades: logs and tables of ratings end with a time."""
FIT = 0.95
"""How much of a sample must fit: a line of a query log may look like one by chance, nearly all of them never."""


class TrecRun:
    """Ranked results of one system."""

    name = "trec-run"
    title = "TREC run"
    schema = RUN

    def recognise(self, sample: Sample) -> Recognition | None:
        """By six fields with a rank and a score, Q0 as the second, or else one tag for all: the system's name."""
        rows = _fitting(sample, _run_row)
        if not rows:
            return None
        seconds, tags = ({fields[place].upper() for fields in rows} for place in (1, 5))
        if seconds == {"Q0"}:
            return Recognition(1.0, "six fields, the second Q0, then document, rank, score and tag")
        if len(tags) > 1:
            return None
        if len(seconds) == 1 and len(rows) > 1:
            return Recognition(0.7, "six fields, the second and the last always the same, a rank and a score between")
        return Recognition(0.4, "six fields, the fourth a rank and the fifth a score")

    def columns(self) -> Mapping[str, str]:
        return {"qid": "query_id", "docno": "object_id", "rank": "position", "score": "score", "tag": "system"}

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        return _parse(lines, _run_row)


class TrecQrels:
    """Relevance judgements."""

    name = "trec-qrels"
    title = "TREC relevance judgements (qrels)"
    schema = JUDGEMENTS

    def recognise(self, sample: Sample) -> Recognition | None:
        """By four fields that end with a grade and have the same iteration throughout."""
        rows = _fitting(sample, _qrels_row)
        if not rows or max(abs(int(fields[3])) for fields in rows) > LARGEST_GRADE:
            return None
        iterations = {fields[1].upper() for fields in rows}
        if len(iterations) == 1 and iterations <= {"0", "Q0", "1"}:
            return Recognition(0.9, "four fields, the second always the same iteration, the last a grade")
        if "qrel" in sample.name:
            return Recognition(0.8, "named qrels, with four fields, the last a grade")
        return Recognition(0.4, "four fields, the last a whole number")

    def columns(self) -> Mapping[str, str]:
        return {"qid": "query_id", "docno": "object_id", "rel": "relevance"}

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        return _parse(lines, _qrels_row)


RowReader = Callable[[list[str]], dict[str, object]]


def _parse(lines: Iterable[tuple[int, str]], read: RowReader) -> Iterator[Row | BadRow]:
    for number, line in lines:
        fields = line.split()
        if fields:
            try:
                yield Row(number, read(fields))
            except UnreadableError as bad:
                yield bad.at(number)


def _run_row(fields: list[str]) -> dict[str, object]:
    if len(fields) != 6:
        raise UnreadableError("ragged-rows", "a line of a run has six fields, and this has more or fewer")
    qid, _, docno, rank, score, tag = fields
    return {
        "query_id": qid,
        "object_id": docno,
        "position": whole(rank, "rank"),
        "score": decimal(score, "score"),
        "system": tag,
    }


def _qrels_row(fields: list[str]) -> dict[str, object]:
    if len(fields) != 4:
        raise UnreadableError("ragged-rows", "a line of qrels has four fields, and this has more or fewer")
    qid, _, docno, grade = fields
    return {"query_id": qid, "object_id": docno, "relevance": whole(grade, "rel")}


def _fitting(sample: Sample, read: RowReader) -> list[list[str]]:
    """The sample's lines as fields where they fit; none when too few do."""
    lines = [line for line in sample.lines if line.strip()]
    rows = [line.split() for line in lines if _fits(line, read)]
    return rows if rows and len(rows) >= FIT * len(lines) else []


def _fits(line: str, read: RowReader) -> bool:
    if "\t" in line and len(line.split("\t")) != len(line.split()):  # blanks inside of columns
        return False
    try:
        read(line.split())
    except UnreadableError:
        return False
    return True
