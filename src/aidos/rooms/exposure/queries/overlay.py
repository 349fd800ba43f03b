"""What additions and deletions have altered since the last full computation, as one generation of files.

A generation holds everything that differs from the base, not what differs from the generation before: the posts that
were added, the numbers of those deleted, new members and words, the best posts of single words that changed, and all
queries that were computed again with their rows. Such queries replace those of the base; one without posts is gone.
A generation is written beside the others and takes its place when the manifest names it; who has opened an older one
keeps it, since its files are mapped.

The text of a post that was added and deleted is not kept. That of a deleted post of the base stays in `posts.parquet`
and in the index until the next full computation: it is hidden, not gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.engine.files import directory_when_done, spoken_errors
from aidos.engine.sealed import StoredFile, damage, store_files
from aidos.errors import InputError
from aidos.rooms.exposure.queries.layout import AGAIN, EXPOSURE_COLUMNS, QUERY_COLUMNS, arrow_of

__all__ = [
    "ADDED",
    "CHANGES",
    "SCHEMAS",
    "SINGLES",
    "Overlay",
    "lists_of",
    "query_keys",
    "read_overlay",
    "remove_other_generations",
    "write_overlay",
]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

CHANGES = "changes"


def _schema(columns: dict[str, Any]) -> pa.Schema:
    return pa.schema(columns)


ADDED = _schema(
    {
        "post_id": pa.large_string(),
        "member": pa.int32(),
        "timestamp": pa.int64(),
        "text": pa.large_string(),
        "gone": pa.bool_(),
        "gap": pa.int64(),
        "length": pa.int32(),
        "terms": pa.large_list(pa.int32()),
        "frequencies": pa.large_list(pa.int32()),
    }
)
"""Posts by number, behind those of the base. ``gap``: so many posts of the base come before it among equals. Those
that are gone have neither text nor words."""
SINGLES = _schema(
    {
        "word": pa.int32(),
        "one_posts": pa.large_list(pa.int32()),
        "one_scores": pa.large_list(pa.float64()),
        "two_posts": pa.large_list(pa.int32()),
        "two_scores": pa.large_list(pa.float64()),
    }
)
NAMES = pa.schema([("name", pa.large_string())])
NUMBERS = pa.schema([("number", pa.int32())])
COUNTS = pa.schema([("tokens", pa.int64()), ("cut_posts", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overlay:
    """All that differs from the base, as tables."""

    added: pa.Table
    """Posts added, see `ADDED`."""
    deleted: pa.Table
    """Numbers of posts of the base that are gone, rising."""
    members: pa.Table
    """Members who came later, by number behind those of the base."""
    words: pa.Table
    """Words that came later, likewise; a word's term has the same number."""
    singles: pa.Table
    """The best posts of words for which they changed, by word."""
    queries: pa.Table
    """Queries computed again, by first and second word."""
    exposures: pa.Table
    """Their rows, by member, post, first and second word."""
    counts: pa.Table
    """Words of all posts now, and posts cut, in one row."""

    @classmethod
    def empty(cls, *, tokens: int, cut_posts: int) -> Self:
        """Nothing changed."""
        nothing: Any = pa.nulls
        tables = {
            name: pa.Table.from_arrays([nothing(0, kind) for kind in schema.types], schema=schema)
            for name, schema in SCHEMAS.items()
        }
        counts = [arrow_of(np.array([number], dtype=np.int64)) for number in (tokens, cut_posts)]
        return cls(**{**tables, "counts": pa.Table.from_arrays(counts, schema=COUNTS)})

    @property
    def tokens(self) -> int:
        """Words of all posts that are left."""
        return int(self.counts.column("tokens")[0].as_py())

    @property
    def cut_posts(self) -> int:
        """Posts that are searched by their first words only."""
        return int(self.counts.column("cut_posts")[0].as_py())


SCHEMAS = {
    "added": ADDED,
    "deleted": NUMBERS,
    "members": NAMES,
    "words": NAMES,
    "singles": SINGLES,
    "queries": QUERY_COLUMNS,
    "exposures": EXPOSURE_COLUMNS,
    "counts": COUNTS,
}


def query_keys(first: NDArray[Any], second: NDArray[Any]) -> Longs:
    """One number a query, rising by first and second word."""
    return (first.astype(np.int64) << 32) + second.astype(np.int64) + 1


def lists_of(starts: NDArray[Any], values: NDArray[Any]) -> pa.Array[Any]:
    """Lists whose values stand one behind the other; the width of ``starts`` decides how many there may be."""
    kind: Any = pa.LargeListArray if starts.dtype == np.int64 else pa.ListArray
    made: pa.Array[Any] = kind.from_arrays(pa.array(starts), pa.array(values))
    return made


def read_overlay(path: Path, generation: int, files: Mapping[str, StoredFile]) -> Overlay:
    """Map the files of a generation, which are as they were written; see `validation` for what must be in them."""
    tables = {}
    for name, schema in SCHEMAS.items():
        entry = files.get((_directory(path, generation) / f"{name}.arrow").relative_to(path).as_posix())
        if entry is None:
            raise damage(path, f"the changes have no {name}", AGAIN)
        file = entry.check(path, again=AGAIN)
        try:
            with pa.memory_map(str(file)) as source:
                tables[name] = pa.ipc.open_file(source).read_all()
            tables[name].validate(full=True)
        except (OSError, MemoryError, pa.ArrowException) as error:
            raise InputError(f"{file} cannot be read", hint=AGAIN) from error
        if not tables[name].schema.equals(schema):
            raise damage(file, "it has other columns", AGAIN)
    return Overlay(**tables)


def write_overlay(path: Path, generation: int, overlay: Overlay) -> dict[str, StoredFile]:
    """Write a generation, for the manifest to name; what an earlier attempt left is replaced."""
    directory = _directory(path, generation)
    with spoken_errors(directory):
        directory.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.rmtree(directory, ignore_errors=True)
    with directory_when_done(directory, private=True) as partial:
        for field in fields(overlay):
            _write_table(partial / f"{field.name}.arrow", getattr(overlay, field.name))
    return store_files(path, directory.iterdir())


def remove_other_generations(path: Path, generation: int) -> None:
    """Remove what no manifest names; who has mapped it keeps it."""
    kept = _directory(path, generation)
    for old in kept.parent.iterdir() if kept.parent.is_dir() else ():
        if old != kept:
            shutil.rmtree(old, ignore_errors=True)


def _write_table(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        # One batch, so that columns come back without chunks.
        writer.write_table(table.combine_chunks(), max_chunksize=max(1, table.num_rows))


def _directory(path: Path, generation: int) -> Path:
    return path / CHANGES / f"{generation:06d}"
