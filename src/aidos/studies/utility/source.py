"""What the utility experiments are run on: a log of somebody's own, or the sample world's, and what was searched in."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from aidos.account.lineage import fingerprint_files
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.ingest.history.reading import read_history
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources
from aidos.studies.utility.experiment import Source
from aidos.world.documents import document_blocks
from aidos.world.size import World
from aidos.world.write import write_sample

__all__ = ["own_source", "sample_source"]

TEXT = "text"


def sample_source(
    engine: EmbeddedEngine, world: World, documents: Sequence[str], progress: Progress, *, searched: bool
) -> Source:
    """The log of a sample world, with its documents unless others are named."""
    path = engine.scratch / "sample.parquet"
    texts = None
    if searched and documents:
        texts = _read_documents(engine, documents)
    elif searched:
        texts = engine.table(pa.concat_tables(document_blocks(world)).select(["object_id", TEXT]))
    write_sample("log", world, path, progress)
    return Source(
        log=engine.parquet(path),
        about=f"The sample world of {world.people:,} people (seed {world.seed})",
        fingerprint=f"{world.size} {world.seed} {_named(documents)}",
        documents=texts,
    )


def own_source(  # noqa: PLR0913 (what is read, and how)
    engine: EmbeddedEngine,
    files: Sequence[str],
    options: ReadOptions,
    world: World,
    documents: Sequence[str],
    *,
    searched: bool,
) -> Source:
    """A log of somebody's own; the sample world's documents have nothing to do with it, so only named ones count."""
    texts = _read_documents(engine, documents) if searched and documents else None
    log = read_files(engine, files, options).table
    paths = [source.path for source in find_sources(files)[0]]
    return Source(
        log=log,
        about=f"A search log of {len(paths)} file{'s' if len(paths) > 1 else ''}",
        fingerprint=f"{fingerprint_files(paths)} {world.size} {world.seed} {_named(documents)}",
        documents=texts,
    )


def _read_documents(engine: EmbeddedEngine, names: Sequence[str]) -> EmbeddedTable:
    """Tables with a column of texts, or any source of documents: posts, a folder of texts, bookmarks."""
    tables = [name for name in names if name.endswith(".parquet")]
    if len(tables) == len(names):
        paths = [Path(name) for name in tables]
        if missing := [path for path in paths if not path.is_file()]:
            raise InputError(f"{missing[0]} is no file", hint="check the name")
        read = engine.parquet(*paths)
        if TEXT not in read.columns:
            raise InputError(
                f"the documents have no column {TEXT}", hint=f"rename it in the file; it has {', '.join(read.columns)}"
            )
        return read
    texts = [document.text for name in names for document in read_history(engine, name)]
    return engine.table(pa.table({TEXT: pa.array(texts, pa.string())}))


def _named(files: Sequence[str]) -> str:
    if not files:
        return ""
    paths = [source.path for source in find_sources(files)[0]]
    return sha256(fingerprint_files(paths).encode()).hexdigest()
