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

import os
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import EngineError, InputError
from aidos.exposure.queries.layout import EXPOSURE_COLUMNS, QUERY_COLUMNS

__all__ = [
    "ADDED",
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
        tables = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
        tables["counts"] = pa.table([[tokens], [cut_posts]], schema=COUNTS)
        return cls(**tables)

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


def read_overlay(path: Path, generation: int) -> Overlay:
    """Map the files of a generation."""
    directory = _directory(path, generation)
    tables = {}
    for field in fields(Overlay):
        file = directory / f"{field.name}.arrow"
        try:
            with pa.memory_map(str(file)) as source:
                tables[field.name] = pa.ipc.open_file(source).read_all()
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{file} cannot be read", hint="compute the exposure again from the posts") from error
        if not tables[field.name].schema.equals(SCHEMAS[field.name]):
            raise InputError(f"{file} has other columns", hint="compute the exposure again from the posts")
    return Overlay(**tables)


def write_overlay(path: Path, generation: int, overlay: Overlay) -> None:
    """Write a generation, for the manifest to name; what an earlier attempt left is replaced."""
    directory = _directory(path, generation)
    partial = directory.with_name(f".{directory.name}.partial")
    try:
        directory.parent.mkdir(mode=0o700, exist_ok=True)
        for old in (partial, directory):
            shutil.rmtree(old, ignore_errors=True)
        partial.mkdir(mode=0o700)
        for field in fields(overlay):
            _write_table(partial / f"{field.name}.arrow", getattr(overlay, field.name))
        _sync(partial)
        partial.rename(directory)
        _sync(directory.parent)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise EngineError(
            f"{directory} cannot be written: {error.strerror}", hint="free some space; nothing was changed"
        ) from error


def remove_other_generations(path: Path, generation: int) -> None:
    """Remove what no manifest names; who has mapped it keeps it."""
    kept = _directory(path, generation)
    for old in kept.parent.iterdir():
        if old != kept:
            shutil.rmtree(old, ignore_errors=True)


def _write_table(path: Path, table: pa.Table) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        # One batch, so that columns come back without chunks.
        writer.write_table(table.combine_chunks(), max_chunksize=max(1, table.num_rows))
    _sync(path)


def _directory(path: Path, generation: int) -> Path:
    return path / CHANGES / f"{generation:06d}"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
