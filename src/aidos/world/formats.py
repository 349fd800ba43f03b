"""The file formats of samples: how tables are put into each, a block at a time.

Reading is not done here: ``ingest`` reads these files like any others.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import zstandard

from aidos.errors import ParameterError
from aidos.world.columns import Column, glue, json_values

__all__ = ["SUFFIXES", "Format", "aol_columns", "choose_format"]

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
