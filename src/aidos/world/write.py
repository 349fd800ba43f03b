"""Write a part of the world to a file: Parquet, CSV, TSV or JSON lines, whole or not at all.

Every sample says that it is synthetic and how to make it again. A Parquet file carries the note in its metadata (key
``aidos.note``); text formats have no place for it that all readers skip, so it stands beside them in
``FILE.note.txt``. The log as ``.tsv`` has the columns of the AOL log, where every click and every query without a click
is one row; every other file has the columns of its part. Work goes block by block: memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import ParameterError
from aidos.world.documents import document_blocks
from aidos.world.formats import aol_columns, choose_format
from aidos.world.log import log_blocks
from aidos.world.posts import post_blocks
from aidos.world.rankings import ranking_blocks
from aidos.world.results import result_blocks
from aidos.world.size import World
from aidos.world.streams import BLOCK
from aidos.world.truth import truth_blocks

__all__ = ["PARTS", "describe_sample", "write_sample"]

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


def write_sample(part: str, world: World, path: Path, progress: Progress = SILENT) -> int:
    """Write one part of the world to a file, in the format that its name asks for; give the number of rows."""
    if part not in _MAKERS:
        raise ParameterError(f"there is no part {part!r} of the world; its parts are {', '.join(PARTS)}")
    form = choose_format(path)
    note = describe_sample(part, world, path)
    tables = _MAKERS[part](world)
    if part == "log" and form.name == "tsv":
        tables = map(aol_columns, tables)
    by_people = part in BY_PEOPLE
    rows = 0
    with (
        progress.task(
            f"making {part}", total=world.people if by_people else None, unit="people" if by_people else "rows"
        ) as task,
        replace_when_done(path) as partial,
        form.open(partial, note) as write,
    ):
        for table in tables:
            write(table)
            rows += len(table)
            task.advance(BLOCK if by_people else len(table))
    if not form.carries_note:
        write_text(path.with_name(f"{path.name}.note.txt"), note)
    return rows


def describe_sample(part: str, world: World, path: Path) -> str:
    """That the file is synthetic, and the command that makes it again."""
    topics = f" --topics {world.topics}" if world.topics != World().topics else ""
    return (
        f"Synthetic data: the {part} of a made-up world. No person, site or message in it is real.\n"
        f"Made by aidos {version('aidos')} with NumPy {version('numpy')}. Make it again with:\n"
        f"aidos sample {part} --size {world.size} --seed {world.seed}{topics} -o {path.name}\n"
    )
