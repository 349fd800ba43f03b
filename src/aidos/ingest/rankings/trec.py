"""TREC runs: query, Q0, document, rank, score and tag, with white space between; the tag is the system.

A run names no rankings, so each query is one. Ids with white space in them cannot be written in this format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from aidos.ingest.rankings.cells import numbers_of_texts
from aidos.ingest.rankings.checks import Origin
from aidos.ingest.rankings.flat import Heading, Row, group_rows
from aidos.ingest.rankings.lines import is_text, opened_lines
from aidos.ingest.rankings.rows import RawRanking
from aidos.ingest.rankings.troubles import Complaints
from aidos.ingest.sources import Source

__all__ = ["looks_like_run", "read_run"]

FIELDS = 6
NAMES = {"query_id": "qid", "object_id": "docno", "position": "rank", "system": "tag"}


def read_run(source: Source, system: str, complaints: Complaints) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a run, unchecked."""
    origin = Origin(file=source.name, names=NAMES)
    rows = _rows(source, origin, system, complaints)
    for raw in group_rows(rows, head=_head, build=_build, tell_unnamed=lambda _: None):
        yield raw, origin


def looks_like_run(line: str) -> bool:
    """Whether a line has the six fields of a run, numbers where they belong."""
    fields = line.split()
    return len(fields) == FIELDS and bool(numbers_of_texts(fields[3:5]).sum() < math.inf)


def _rows(source: Source, origin: Origin, system: str, complaints: Complaints) -> Iterator[Row]:
    with opened_lines(source) as lines:
        for number, line in lines:
            fields = line.split()
            if len(fields) != FIELDS or not is_text(line):
                if fields:
                    kind = "ragged-rows" if is_text(line) else "invalid-utf8"
                    complaints.add(origin.problem(kind, number, expected=FIELDS))
                    yield number, None, None
            elif not system or fields[5] == system:
                yield number, (fields[0], fields[5]), fields


def _head(key: tuple[str, str]) -> Heading:
    return Heading(key[0], key[0], "", key[1])


def _build(heading: Heading, held: list[list[str]], lines: list[int]) -> RawRanking:
    _, _, ids, ranks, scores, _ = zip(*held, strict=True)
    return RawRanking(
        ranking_id=heading.ranking_id,
        query_id=heading.query_id,
        system=heading.system,
        object_ids=ids,
        scores=numbers_of_texts(scores),
        positions=numbers_of_texts(ranks, otherwise=math.inf),
        lines=lines,
    )
