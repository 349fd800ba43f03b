"""Write a part of the world to a file: Parquet, CSV, TSV or JSON lines, whole or not at all.

Every sample says that it is synthetic and how to make it again. A Parquet file carries the note in its metadata (key
``aidos.note``); text formats have no place for it that all readers skip, so it stands beside them in
``FILE.note.txt``. The log as ``.tsv`` has the columns of the AOL log, where every click and every query without a click
is one row; every other file has the columns of its part. Work goes block by block: memory does not grow with the log.

Reading is not done here: ``ingest`` reads these files like any others.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import zstandard

from aidos.core.progress import SILENT, Progress
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import DISTRIBUTION, ParameterError
from aidos.world.columns import Column, glue, json_values
from aidos.world.documents import document_blocks
from aidos.world.log import log_blocks
from aidos.world.posts import post_blocks
from aidos.world.rankings import ranking_blocks
from aidos.world.results import result_blocks
from aidos.world.size import World
from aidos.world.streams import BLOCK
from aidos.world.truth import truth_blocks

__all__ = [
    "PARTS",
    "SUFFIXES",
    "Format",
    "aol_columns",
    "choose_format",
    "describe_sample",
    "make_sample",
    "write_sample",
]

_MAKERS: dict[str, Callable[[World], Iterator[pa.Table]]] = {
    "log": log_blocks,
    "posts": post_blocks,
    "documents": document_blocks,
    "results": result_blocks,
    "rankings": ranking_blocks,
    "truth": truth_blocks,
}

PARTS: tuple[str, ...] = tuple(_MAKERS)
"""The parts of a world that can be written."""

BY_PEOPLE = ("log", "posts")
"""Parts that are made a block of people at a time, so that it can be told how much is left."""


def make_sample(part: str, world: World, progress: Progress = SILENT) -> pa.Table:
    """One part of the world as a table."""
    return pa.concat_tables(list(map(_plain, _blocks(part, world, progress))))


def write_sample(part: str, world: World, path: Path, progress: Progress = SILENT) -> int:
    """Write one part of the world to a file, in the format that its name asks for; give the number of rows."""
    tables = _blocks(part, world, progress)
    form = choose_format(path)
    note = describe_sample(part, world, path)
    if part == "log" and form.name == "tsv":
        tables = map(aol_columns, tables)
    rows = 0
    with replace_when_done(path) as partial, form.open(partial, note) as write:
        for table in tables:
            write(table)
            rows += len(table)
    if not form.carries_note:
        write_text(path.with_name(f"{path.name}.note.txt"), note)
    return rows


def _blocks(part: str, world: World, progress: Progress) -> Iterator[pa.Table]:
    """A part of the world, a block at a time."""
    if part not in _MAKERS:
        raise ParameterError(f"there is no part {part!r} of the world; its parts are {', '.join(PARTS)}")
    return _told(part, world, progress)


def _told(part: str, world: World, progress: Progress) -> Iterator[pa.Table]:
    """The blocks, with how far it is after each."""
    by_people = part in BY_PEOPLE
    total, unit = (world.people, "people") if by_people else (None, "rows")
    with progress.task(f"making {part}", total=total, unit=unit) as task:
        for table in _MAKERS[part](world):
            yield table
            task.advance(BLOCK if by_people else len(table))


def describe_sample(part: str, world: World, path: Path) -> str:
    """That the file is synthetic, and the command that makes it again."""
    topics = f" --topics {world.topics}" if world.topics != World().topics else ""
    return (
        f"Synthetic data: the {part} of a made-up world. No person, site or message in it is real.\n"
        f"Made by aidos {version(DISTRIBUTION)} with NumPy {version('numpy')}. Make it again with:\n"
        f"aidos sample {part} --size {world.size} --seed {world.seed}{topics} -o {path.name}\n"
    )


TEXT_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
PACKED = ("", ".gz", ".zst")
SUFFIXES: tuple[str, ...] = (".parquet", *(suffix + packed for suffix in TEXT_SUFFIXES for packed in PACKED))
"""How the name of a sample may end."""

FAST = 1
"""The level of compression: samples are made often and read a few times."""
UNIQUE_COLUMNS = {"query_id", "post_id", "text", "title", "snippet", "timestamp", "value", "score"}
SEARCHED_COLUMNS = ("client_id", "timestamp", "position")
AOL_NAMES = {
    "client_id": "AnonID",
    "user_query": "Query",
    "timestamp": "QueryTime",
    "position": "ItemRank",
    "object_id": "ClickURL",
}

Write = Callable[[pa.Table], None]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, how to write it, and whether a note fits into the file."""

    name: str
    opener: Callable[[Path, str], AbstractContextManager[Write]]
    carries_note: bool

    def open(self, path: Path, note: str) -> AbstractContextManager[Write]:
        """A function that writes one table after the other."""
        return self.opener(path, note)


def choose_format(path: Path) -> Format:
    """The format that the name of a file asks for."""
    name = path.name.lower()
    suffix = next((suffix for suffix in sorted(SUFFIXES, key=len, reverse=True) if name.endswith(suffix)), "")
    if not suffix:
        raise ParameterError(
            f"no sample format is known for {path.name}", hint=f"let the name end in one of {', '.join(SUFFIXES)}"
        )
    if suffix == ".parquet":
        return Format("parquet", _parquet, carries_note=True)
    plain, packed = next((plain, suffix.removeprefix(plain)) for plain in TEXT_SUFFIXES if suffix.startswith(plain))
    kind = TEXT_SUFFIXES[plain]
    opener = _json_lines if kind == "jsonl" else partial(_separated, "," if kind == "csv" else "\t")
    return Format(kind, partial(_packed, opener, packed), carries_note=False)


def aol_columns(log: pa.Table) -> pa.Table:
    """Rows as in the AOL log: every click, and every query that none followed."""
    clicked = log["position"].is_valid().to_numpy()
    followed = np.append(clicked[1:], False)
    kept = log.filter(pa.array(clicked | ~followed))
    return kept.select(list(AOL_NAMES)).rename_columns(list(AOL_NAMES.values()))


@contextmanager
def _parquet(path: Path, note: str) -> Iterator[Write]:
    """A row group a table. The writer waits for the first table, which brings the schema."""
    writers: list[pq.ParquetWriter] = []

    def write(table: pa.Table) -> None:
        if not writers:
            writers.append(
                pq.ParquetWriter(
                    path,
                    table.schema,
                    compression="zstd",
                    compression_level=FAST,
                    use_dictionary=cast("Any", [n for n in table.column_names if n not in UNIQUE_COLUMNS]),
                    write_statistics=[name for name in SEARCHED_COLUMNS if name in table.column_names],
                    # Coded columns are an inner matter: readers shall see plain texts.
                    store_schema=False,
                )
            )
            writers[0].add_key_value_metadata({"aidos.note": note})
        writers[0].write_table(table, row_group_size=max(1, len(table)))

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


@contextmanager
def _packed(opener: Callable[[IO[bytes]], Write], packed: str, path: Path, _note: str) -> Iterator[Write]:
    """Text, compressed if asked for. No time stamp goes into the file: equal worlds are equal bytes."""
    with path.open("wb") as raw:
        if packed == ".gz":
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=FAST, mtime=0) as stream:
                yield opener(cast("IO[bytes]", stream))
        elif packed == ".zst":
            with zstandard.ZstdCompressor(level=FAST).stream_writer(raw, closefd=False) as stream:
                yield opener(stream)
        else:
            yield opener(raw)


def _separated(delimiter: str, stream: IO[bytes]) -> Write:
    # Nothing in the world holds a delimiter, a quote or a line end; Arrow would refuse it.
    options = pa_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    started: list[bool] = []

    def write(table: pa.Table) -> None:
        if not started:
            stream.write((delimiter.join(table.column_names) + "\n").encode())
            started.append(True)
        pa_csv.write_csv(_plain(table), stream, options)

    return write


def _json_lines(stream: IO[bytes]) -> Write:
    def write(table: pa.Table) -> None:
        pieces: list[Column | str] = ["{"]
        for place, name in enumerate(table.column_names):
            pieces += [f'{", " if place else ""}"{name}": ', json_values(table[name])]
        lines = glue(*pieces, "}\n")
        stream.write("".join(map(str, lines)).encode())

    return write


def _plain(table: pa.Table) -> pa.Table:
    """The table with coded columns written out."""
    kinds = [pa.string() if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))
