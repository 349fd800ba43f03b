"""Rankings as they are to be served, written as they come, whole or not at all.

The file gets its name when everything was written; an error or an interruption leaves the file that was there before.
Every format can be read again. JSON lines hold one ranking a line; CSV, TSV and Parquet one row for each object, with
the same columns whatever the rankings have. A TREC run keeps the order alone: evaluation programs order by score, so
the scores are the numbers of objects from there to the end (n, n - 1 ... 1), which fall strictly even in single
precision; its first field is the name of the ranking, because a query may be ranked for more than once.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial as bound
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError
from aidos.ingest.rankings.rows import Ints
from aidos.ingest.rows import Floats

__all__ = ["OUTPUT_SUFFIXES", "RankedRows", "RankingWriter", "rankings_table"]

TAG = "aidos"
ROWS_AT_ONCE = 1 << 17
FIELDS: list[tuple[str, pa.DataType]] = [
    ("ranking_id", pa.string()),
    ("query_id", pa.string()),
    ("searcher_id", pa.string()),
    ("system", pa.string()),
    ("object_id", pa.string()),
    ("position", pa.int64()),
    ("score", pa.float64()),
    ("original_position", pa.int64()),
    ("attention", pa.float64()),
    ("quality", pa.float64()),
    ("group", pa.string()),
    ("actor", pa.string()),
]
SCHEMA = pa.schema(FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRows:
    """One ranking as it is to be served, for a writer. Every sequence is in the order to be served."""

    ranking_id: str
    object_ids: Sequence[str]
    scores: Floats = field(repr=False)
    """The relevance of each object, as it was given."""
    original_positions: Ints = field(repr=False)
    """Where each object stood before, counted from 1."""
    attention: Floats = field(repr=False)
    """What the first positions receive; positions beyond receive 0."""
    quality: float = 1.0
    """How good the order is against the order by relevance."""
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""
    groups: Sequence[str] = ()
    """One per object, or none at all."""
    actors: Sequence[str] = ()
    """One per object, or none at all."""

    def __post_init__(self) -> None:
        number = len(self.object_ids)
        for name in ("scores", "original_positions"):
            if len(getattr(self, name)) != number:
                raise ParameterError(f"{number} objects but {len(getattr(self, name))} {name}")
        for name in ("groups", "actors"):
            if len(getattr(self, name)) not in {0, number}:
                raise ParameterError(f"{number} objects but {len(getattr(self, name))} {name}")
        if not number or len(self.attention) > number:
            raise ParameterError(f"attention for {len(self.attention)} positions but {number} objects")

    def __len__(self) -> int:
        return len(self.object_ids)

    def padded_attention(self) -> Floats:
        """What each object receives, those on the positions beyond included."""
        padded = np.zeros(len(self))
        padded[: len(self.attention)] = self.attention
        return padded


Sink = Callable[[RankedRows], None]


class RankingWriter:
    """Writes rankings to a file whose suffix says how. Use it in a ``with``."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._open = _opener(self.path)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            unfinished = stack.enter_context(replace_when_done(self.path))
            self._sink = stack.enter_context(self._open(unfinished))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, ranking: RankedRows) -> None:
        """Append a ranking."""
        self._sink(ranking)


@contextmanager
def _json_lines(unfinished: Path, packing: str) -> Iterator[Sink]:
    with _bytes(unfinished, packing) as stream:
        yield lambda ranking: _put(stream, _json_line(ranking))


@contextmanager
def _run(unfinished: Path, packing: str) -> Iterator[Sink]:
    with _bytes(unfinished, packing) as stream:
        yield lambda ranking: _put(stream, _run_lines(ranking))


@contextmanager
def _table(unfinished: Path, packing: str, *, delimiter: str) -> Iterator[Sink]:
    with _bytes(unfinished, packing) as stream:
        _put(stream, delimiter.join(SCHEMA.names) + "\n")
        yield lambda ranking: _put(stream, _table_lines(ranking, delimiter))


@contextmanager
def _parquet(unfinished: Path, packing: str) -> Iterator[Sink]:  # noqa: ARG001 (Parquet packs its own pages)
    held: list[RankedRows] = []
    rows = 0

    def flush() -> None:
        nonlocal rows
        if held:
            writer.write_batch(_batch(held))
        held.clear()
        rows = 0

    def sink(ranking: RankedRows) -> None:
        nonlocal rows
        held.append(ranking)
        rows += len(ranking)
        if rows >= ROWS_AT_ONCE:
            flush()

    with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer:
        yield sink
        flush()


def rankings_table(rankings: Sequence[RankedRows]) -> pa.Table:
    """Rankings as a table, as a Parquet file would hold them."""
    return pa.Table.from_batches([_batch(rankings)] if rankings else [], schema=SCHEMA)


def _batch(rankings: Sequence[RankedRows]) -> pa.RecordBatch:
    columns = zip(*map(_columns, rankings), strict=True)
    arrays = [_column(parts, kind) for parts, kind in zip(columns, SCHEMA.types, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


OPENERS: dict[str, Callable[[Path, str], AbstractContextManager[Sink]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".run": _run,
    ".trec": _run,
    ".csv": bound(_table, delimiter=","),
    ".tsv": bound(_table, delimiter="\t"),
    ".parquet": _parquet,
}
PACKINGS = (".gz", ".zst")
OUTPUT_SUFFIXES = tuple(OPENERS)
"""How the names of output files may end; ``.gz`` or ``.zst`` may follow, but for Parquet."""


def _opener(path: Path) -> Callable[[Path], AbstractContextManager[Sink]]:
    name = path.name.lower()
    packing = next((suffix for suffix in PACKINGS if name.endswith(suffix)), "")
    suffix = Path(name.removesuffix(packing)).suffix
    if suffix not in OPENERS or (packing and suffix == ".parquet"):
        raise ParameterError(
            f"the name {path.name} does not say in which format rankings are to be written",
            hint=f"end it with {', '.join(OUTPUT_SUFFIXES)}; .gz or .zst may follow, but not on .parquet",
        )
    return lambda unfinished: OPENERS[suffix](unfinished, packing)


@contextmanager
def _bytes(unfinished: Path, packing: str) -> Iterator[IO[bytes]]:
    with unfinished.open("wb") as raw:
        if packing == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        elif packing == ".zst":
            with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield raw


def _put(stream: IO[bytes], text: str) -> None:
    try:
        stream.write(text.encode())
    except UnicodeEncodeError as error:
        raise InputError("an id holds half of a character pair, which is not text", hint="mend the ids") from error


def _json_line(ranking: RankedRows) -> str:
    named = ("ranking_id", "query_id", "searcher_id", "system")
    head = {name: value for name in named if (value := getattr(ranking, name))}
    lists: dict[str, Sequence[object]] = {
        "subject_id": ranking.object_ids,
        "relevance": ranking.scores.tolist(),
        "position": range(1, len(ranking) + 1),
        "original_position": ranking.original_positions.tolist(),
        "attention": ranking.padded_attention().tolist(),
    }
    lists |= {name: labels for name, labels in (("group", ranking.groups), ("actor", ranking.actors)) if labels}
    subjects = [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
    return json.dumps({**head, "quality": ranking.quality, "subjects": subjects}, ensure_ascii=False) + "\n"


def _run_lines(ranking: RankedRows) -> str:
    number = len(ranking)
    ids = [ranking.ranking_id, *ranking.object_ids]
    written = " ".join(ids)
    if written.split() != ids or "\0" in written:
        raise InputError(
            "a ranking has ids that are blank or hold white space, which a TREC run cannot hold",
            hint="write another format: .jsonl, .parquet, .csv or .tsv",
        )
    return "".join(
        f"{ranking.ranking_id} Q0 {name} {rank} {number - rank + 1} {TAG}\n"
        for rank, name in enumerate(ranking.object_ids, start=1)
    )


def _table_lines(ranking: RankedRows, delimiter: str) -> str:
    text = io.StringIO()
    columns = [column if isinstance(column, list) else column.tolist() for column in _columns(ranking)]
    written = "".join([*ranking.object_ids, *ranking.groups, *ranking.actors, *(columns[at][0] for at in range(4))])
    if "\0" in written:
        raise InputError("an id holds a NUL character, which tables cannot hold", hint="write .jsonl or .parquet")
    # Of the characters that end a line, the standard library quotes only those that it ends lines with itself.
    quote: Literal[0, 1] = csv.QUOTE_ALL if "\r" in written else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quote)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _columns(ranking: RankedRows) -> list[Any]:
    """The columns of the schema for one ranking: lists of texts, arrays of numbers."""
    number = len(ranking)
    heads = (ranking.ranking_id, ranking.query_id, ranking.searcher_id, ranking.system)
    blank = [""] * number
    return [
        *([head] * number for head in heads),
        list(ranking.object_ids),
        np.arange(1, number + 1),
        ranking.scores,
        ranking.original_positions,
        ranking.padded_attention(),
        np.full(number, ranking.quality),
        list(ranking.groups) or blank,
        list(ranking.actors) or blank,
    ]


def _column(parts: Sequence[Any], kind: pa.DataType) -> pa.Array[Any]:
    values = np.concatenate(parts) if isinstance(parts[0], np.ndarray) else list(chain.from_iterable(parts))
    return pa.array(values, kind)
