"""Files of rankings as a stream: which format each file is in, then one ranking after the other.

No more than one ranking (or one batch of a Parquet file) is in memory, however large the files are. An error may
therefore come after many good rankings: whatever is made of them should be kept only when the stream has ended well.

Parquet: one row for each ranked object, read a batch at a time and cut into rankings by whole columns. No more is held
than a batch and the ranking that is open at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.errors import ParameterError, Problem
from aidos.ingest.problems import RANKINGS, Complaints, refuse
from aidos.ingest.rankings.rows import (
    BODY,
    HEAD,
    Door,
    Ints,
    Origin,
    RankingRows,
    RawRanking,
    bad_positions,
    check_given,
    find_columns,
    missing_columns,
    naming_column,
)
from aidos.ingest.rankings.text import Heading, Row, group_rows, heading_of, read_delimited, read_json, read_run
from aidos.ingest.recognise import name_other_file
from aidos.ingest.rows import (
    DAMAGED,
    Floats,
    as_numbers,
    as_texts,
    duplicate_columns,
    is_number,
    is_text_like,
    looks_like_run,
    opened_parquet,
)
from aidos.ingest.sources import Source, find_sources, first_text

__all__ = ["FORMATS", "read_columnar", "read_rankings", "recognise_format"]

FORMATS = ("jsonl", "trec", "parquet", "csv", "tsv")
"""What ``--format`` takes."""
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".run": "trec",
    ".trec": "trec",
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
}
AS_NAMED: Mapping[str, str] = MappingProxyType({})


def read_rankings(  # noqa: PLR0913 (each is an option of the command line)
    paths: Sequence[str],
    *,
    format: str = "",  # noqa: A002 (what --format is called)
    columns: Mapping[str, str] = AS_NAMED,
    system: str = "",
    skip_bad: bool = False,
    problems: list[Problem] | None = None,
) -> Iterator[RankingRows]:
    """The rankings of files or patterns, in the order of the files, each checked; InputError at the first bad one.

    ``columns`` says what the files call our columns, where their names do not say it. ``system`` keeps the rows of one
    system. With ``skip_bad`` a ranking with something wrong in it is left out whole, and told in ``problems``.
    """
    if not paths:
        raise ParameterError("no file was named")
    if format and format not in FORMATS:
        raise ParameterError(f"rankings have no format called {format}", hint=f"choose from {', '.join(FORMATS)}")
    check_given(columns)
    sources, unreadable = find_sources(paths)
    unreadable += [RANKINGS.tell("empty-file", source.name) for source in sources if not source.size]
    unreadable += [other for source in sources if not source.is_parquet and (other := name_other_file(source))]
    if unreadable:
        raise refuse(*unreadable)
    complaints = Complaints(skip_bad, [] if problems is None else problems)
    return _stream(sources, format, columns, system, complaints)


def recognise_format(source: Source, given: Mapping[str, str] = AS_NAMED) -> str:
    """The format of a file: by its first bytes, by its name, or else by its first line; InputError when unknown."""
    if source.is_parquet:
        return "parquet"
    suffix = "." + source.plain_name.rpartition(".")[2]
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    start = first_text(source)
    line = next((line for line in start.splitlines() if line.strip()), "")
    if not line:
        raise refuse(RANKINGS.tell("empty-file", source.name))
    if line.lstrip().startswith("{"):
        return "jsonl"
    if looks_like_run(line):
        return "trec"
    if find_columns([cell.strip('" ') for cell in line.replace("\t", ",").split(",")], given):
        return "tsv" if "\t" in line else "csv"
    raise refuse(RANKINGS.tell("unknown-format", source.name, formats=", ".join(FORMATS)))


def _stream(
    sources: Sequence[Source], asked: str, columns: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[RankingRows]:
    door = Door(complaints)
    for source in sources:
        passed, told = door.passed, complaints.count
        for raw, origin in _raw_rankings(source, asked, columns, system, complaints):
            ranking = door.admit(raw, origin)
            if ranking is not None:
                yield ranking
        if not system and door.passed == passed and complaints.count == told:
            raise refuse(RANKINGS.tell("header-only", source.name))
    if not door.passed:
        raise refuse(*(complaints.problems or [RANKINGS.tell("absent-system", sources[0].name)]))


def _raw_rankings(
    source: Source, asked: str, columns: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    match asked or recognise_format(source, columns):
        case "jsonl":
            return read_json(source, columns, system, complaints)
        case "trec":
            return read_run(source, system, complaints)
        case "parquet":
            return read_columnar(source, columns, system, complaints)
        case chosen:
            return read_delimited(source, "\t" if chosen == "tsv" else "", columns, system, complaints)


ROWS_AT_ONCE = 1 << 16
LARGEST_SCORE = 1e280
"""However many scores up to here can be added."""
Piece = tuple[Sequence[str], Floats, Floats | Ints | None, Sequence[str], Sequence[str], Sequence[int], bool]
"""Consecutive rows of one ranking: ids, scores, positions, groups, actors, row numbers, whether numbers are sound."""


def read_columnar(
    source: Source, given: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a Parquet file, unchecked."""
    with opened_parquet(source) as file:
        schema = file.schema_arrow
        found = find_columns(schema.names, given)
        found.pop("subjects", None)
        required = ("object_id", "score", "system") if system else ("object_id", "score")
        problems = missing_columns(source.name, schema.names, found, required)
        problems = problems or _unfit(source, schema, found)
        if problems:
            raise refuse(*problems)
        origin = Origin(file=source.name, unit="row", names=found)
        unnamed = naming_column(found)
        heads = [column for column in HEAD if column in found]
        for raw in group_rows(
            _segments(file, source, found, heads, system),
            head=lambda key: heading_of(dict(zip(heads, key, strict=True))),
            build=_build,
            tell_unnamed=lambda row: complaints.add(origin.problem("empty-id", row, unnamed)),
        ):
            yield raw, origin


def _unfit(source: Source, schema: pa.Schema, found: Mapping[str, str]) -> list[Problem]:
    """Needed columns that stand there twice, or hold what they cannot."""
    problems = duplicate_columns(source, RANKINGS, schema.names, list(found.values()))
    for column, name in found.items() if not problems else ():
        wants_number = column in {"score", "position"}
        fits = is_number if wants_number else is_text_like
        if not fits(schema.field(name).type):
            wanted = "numbers" if wants_number else "texts or whole numbers"
            problems.append(RANKINGS.tell("bad-column", source.name, column=name, wanted=wanted))
    return problems


def _segments(
    file: pq.ParquetFile, source: Source, found: Mapping[str, str], heads: Sequence[str], system: str
) -> Iterator[Row]:
    """Rows in a stretch that name the same ranking, a stretch ending with its batch at the latest."""
    row = 0
    try:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(dict.fromkeys(found.values()))):
            rows: Sequence[int] = range(row + 1, row + 1 + batch.num_rows)
            row += batch.num_rows
            kept = batch
            if system:
                mask = pc.equal(as_texts(batch.column(found["system"])), pa.scalar(system))
                kept = batch.filter(mask)
                rows = (np.flatnonzero(mask.to_numpy(zero_copy_only=False)) + rows[0]).tolist() if rows else rows
            if kept.num_rows:
                yield from _cut(kept, rows, found, heads)
    except DAMAGED as error:
        raise refuse(
            RANKINGS.tell("unreadable-file", source.name, lines=(row + 1,), place="row", reason="its data are damaged")
        ) from error


def _cut(batch: pa.RecordBatch, rows: Sequence[int], found: Mapping[str, str], heads: Sequence[str]) -> Iterator[Row]:
    number = batch.num_rows
    keys = [batch.column(found[column]) for column in heads]
    changes = np.zeros(number - 1, dtype=bool)
    for key in keys:
        marks = _marks(key)
        changes |= marks[1:] != marks[:-1]
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    named = zip(*(as_texts(key.take(starts)).to_pylist() for key in keys), strict=True)
    column = {name: batch.column(found[name]) for name in BODY if name in found}
    ids = _labels(column["object_id"])
    scores = as_numbers(column["score"])
    positions = _positions(column["position"]) if "position" in column else None
    groups = _labels(column["group"]) if "group" in column else []
    actors = _labels(column["actor"]) if "actor" in column else []
    sound = _sound(scores, positions, starts)
    for name, (start, end), in_order in zip(named, pairwise([*starts.tolist(), number]), sound, strict=True):
        ranks = positions[start:end] if positions is not None else None
        labels = groups[start:end], actors[start:end]
        piece = ids[start:end], scores[start:end], ranks, *labels, rows[start:end], in_order
        yield rows[start], name, piece


def _marks(key: pa.Array[Any]) -> NDArray[Any]:
    """Numbers that differ where the cells differ (equal cells may differ too: their stretches are joined later)."""
    if pa.types.is_integer(key.type) and not key.null_count:
        return key.to_numpy()
    return _encoded(key).indices.to_numpy()


def _labels(column: pa.Array[Any]) -> list[str]:
    """Texts, each of them made once however often it stands there."""
    encoded = _encoded(column)
    if len(encoded.dictionary) > len(column):  # the words of many other batches as well
        return cast("list[str]", encoded.dictionary_decode().to_pylist())
    labels: list[str] = np.array(encoded.dictionary.to_pylist(), dtype=object)[encoded.indices.to_numpy()].tolist()
    return labels


def _encoded(column: pa.Array[Any]) -> pa.DictionaryArray[Any, Any]:
    """The column as a dictionary of texts and the numbers of the words, without gaps."""
    if isinstance(column, pa.DictionaryArray) and pa.types.is_string(column.type.value_type) and not column.null_count:
        return column
    return as_texts(column).dictionary_encode()


def _positions(column: pa.Array[Any]) -> Floats | Ints:
    """Whole numbers where all are, which needs no closer look."""
    numbers = as_numbers(column)
    if np.isnan(numbers).any() or bad_positions(numbers).any():
        return numbers
    whole: Ints = numbers.astype(np.int64)
    return whole


def _sound(scores: Floats, positions: Floats | Ints | None, starts: Ints) -> list[bool]:
    """For each stretch, whether its numbers need no closer look."""
    least, most = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    sound: list[bool] = ((least >= 0) & (most > 0) & (most < LARGEST_SCORE)).tolist()
    if positions is None or positions.dtype == np.int64 or not bad_positions(positions).any():
        return sound
    return [False] * len(starts)


def _build(heading: Heading, held: list[Piece], _: list[int]) -> RawRanking:
    ids, scores, positions, groups, actors, rows, sound = held[0] if len(held) == 1 else _joined(held)
    return RawRanking(
        ranking_id=heading.ranking_id,
        query_id=heading.query_id,
        searcher_id=heading.searcher_id,
        system=heading.system,
        object_ids=ids,
        scores=scores,
        positions=positions,
        groups=groups,
        actors=actors,
        lines=rows,
        sound=sound,
    )


def _joined(held: list[Piece]) -> Piece:
    ids, scores, positions, groups, actors, rows, sound = zip(*held, strict=True)
    ranks: Any = None if positions[0] is None else np.concatenate(positions)
    flat = [list(chain.from_iterable(pieces)) for pieces in (ids, groups, actors)]
    return flat[0], np.concatenate(scores), ranks, flat[1], flat[2], list(chain.from_iterable(rows)), all(sound)
