"""Every query of one or two words with its results, and every post with the queries that return it.

The work is cut into chunks of first words. Each chunk writes its queries and leaves its rows, dealt to buckets of
posts; when all chunks are done, the rows of some posts at a time are read back and written by member. Files appear
whole, and whatever is there need not be done again: after an interruption of any kind, the same call goes on.

Results are exact: those of a search of every post for every query (`tests/oracles/exposure.py`). Nothing is promised
about memory beyond the flat copy of the collection (see `flat`), some hundred megabytes a thread, and the engine's own
limit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import sweep_leftovers
from aidos.engine.sealed import damage, map_array, store_files
from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.queries import manifest
from aidos.rooms.exposure.queries.arrays import load_arrays, load_statistics, parquet_writer, save_arrays
from aidos.rooms.exposure.queries.base import RowFile
from aidos.rooms.exposure.queries.chunks import ChunkFiles, Worker, sweep_chunk, write_chunk
from aidos.rooms.exposure.queries.collection import prepare
from aidos.rooms.exposure.queries.estimate import USUAL_ROOM, Room, estimate
from aidos.rooms.exposure.queries.examining import Examined, examine
from aidos.rooms.exposure.queries.flat import flatten, save_singles
from aidos.rooms.exposure.queries.gathering import Gathering, Sheet
from aidos.rooms.exposure.queries.layout import AGAIN, MANIFEST, MEMBER_COLUMNS, WORD_COLUMNS
from aidos.rooms.exposure.queries.manifest import Facts
from aidos.rooms.exposure.queries.plan import Plan, make_plan
from aidos.rooms.exposure.queries.settings import MEMORY, SearchExposure

__all__ = ["compute"]

Memory = TypeVar("Memory")
PLAN = ("words", "room", "posts")
WRITTEN = ("queries", "exposures", "spill")
"""Directories that grow with the work."""


def compute(  # noqa: PLR0913 (what, how, where to, and with how much)
    table: EmbeddedTable,
    settings: SearchExposure,
    target: Path,
    *,
    memory: str | int = MEMORY,
    threads: int | None = None,
    progress: Progress = SILENT,
    room: Room = USUAL_ROOM,
) -> Facts:
    """Compute the exposure of all members into a directory, or go on where it was interrupted.

    A directory of other posts or other settings is refused; one that is finished is left as it is. What would take
    more disk than there is ``room`` is refused before anything is ranked.
    """
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be at least 1, got {threads}")
    examined = examine(table)
    manifest.make_directory(target)
    with manifest.alone(target):
        if manifest.is_renewed(target):
            manifest.take_renewed(target)
        facts = _begin(target, settings, examined)
        if facts.state == "preparing":
            facts = _prepare(table, facts, target, memory, progress)
        if facts.state == "computing":
            _sweep(target, facts, threads, progress, room)
            facts = _gather(target, facts, threads, progress)
        shutil.rmtree(target / "spill", ignore_errors=True)
    return facts


def _begin(target: Path, settings: SearchExposure, examined: Examined) -> Facts:
    """What is there already, if it is of the same posts and settings."""
    if (target / MANIFEST).exists():
        facts = manifest.read(target, unfinished=True)
        begun = facts.state == "finished" or (target / "spill" / "posts.npy").is_file()
        if begun or facts.settings == settings or facts.fingerprint != examined.fingerprint:
            manifest.check_same(target, facts, settings, examined.fingerprint)
            sweep_leftovers(target, inside=True)
            return facts
        # Nothing was ranked: these posts took too much room, and are now tried in another way.
    elif any(target.iterdir()):
        raise InputError(f"{target} exists and is no exposure directory", hint="choose another name")
    facts = Facts(settings=settings, fingerprint=examined.fingerprint, state="preparing")
    manifest.write(target, facts)
    return facts


def _prepare(table: EmbeddedTable, facts: Facts, target: Path, memory: str | int, progress: Progress) -> Facts:
    for left in target.iterdir():
        if left.name != MANIFEST:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    found = prepare(table, facts.settings, target, memory=memory, progress=progress)
    facts = replace(
        facts,
        state="computing",
        posts=found.posts,
        documents=found.posts,
        members=found.members,
        words=found.words,
        tokens=found.tokens,
        cut_posts=found.cut_posts,
        files=store_files(target, target.glob("statistics/*")),
    )
    for name in WRITTEN:
        manifest.make_directory(target / name)
    manifest.write(target, facts)
    return facts


def _sweep(target: Path, facts: Facts, threads: int | None, progress: Progress, room: Room) -> None:
    """Compute the chunks that are not there yet."""
    plan = _plan(target, facts) if (target / "spill" / "posts.npy").is_file() else None
    if plan is not None and not _missing(target, plan):
        return
    flat, statistics = flatten(target, facts, threads), load_statistics(target, facts)
    there = sum(path.stat().st_size for name in WRITTEN for path in target.glob(f"{name}/*"))
    room.require(target, estimate(flat, facts.settings), there=there)
    chosen = make_plan(flat, facts.settings.k, statistics["members"], statistics["first_posts"])
    if plan is None:
        save_singles(flat, target)
        save_arrays(target / "spill", {name: getattr(chosen, name) for name in PLAN})
    elif not all(np.array_equal(getattr(plan, name), getattr(chosen, name)) for name in PLAN):
        raise damage(target, "its work was cut in another way", AGAIN)
    plan = chosen
    buckets = np.repeat(np.arange(len(plan.posts) - 1, dtype=np.uint16), np.diff(plan.posts))
    missing, sizes = _missing(target, plan), np.diff(plan.words).astype(float)

    def work(number: int, worker: Worker) -> None:
        swept = sweep_chunk(flat, chosen, number, facts.settings, worker)
        write_chunk(ChunkFiles(target, number), swept, chosen, buckets, worker)

    with progress.task("ranking posts for all queries", total=sizes.sum(), unit="words") as task:
        task.advance(sizes.sum() - sizes[missing].sum())
        for number in _each(work, missing, lambda: Worker(flat, chosen, facts.settings.k), threads):
            task.advance(sizes[number])


def _gather(target: Path, facts: Facts, threads: int | None, progress: Progress) -> Facts:
    """Write the files by member that are not there yet, then where to look what up, then that all is done."""
    statistics = load_statistics(target, facts)
    gathering = Gathering(target, _plan(target, facts), statistics["members"])
    files = range(len(gathering.cuts) - 1)
    missing = [number for number in files if not gathering.file(number).is_file()]
    with progress.task("sorting results by member", total=float(len(files)), unit="files") as task:
        task.advance(float(len(files) - len(missing)))
        for _ in _each(gathering.write, missing, lambda: Sheet(gathering.largest), threads):
            task.advance(1.0)
    counts = [gathering.counts(number) for number in files]
    _index_words(target, gathering)
    exposures = _index_members(target, gathering, counts, statistics["first_posts"])
    queries = sum(int(some.sum()) for some in gathering.queries_of_words)
    held = [target.glob("*.parquet"), *(target.glob(f"{name}/*") for name in manifest.WRITTEN)]
    stored = store_files(target, chain(*held), footers=True)
    facts = replace(facts, state="finished", queries=queries, exposures=exposures, files=stored)
    manifest.write(target, facts)
    return facts


def _plan(target: Path, facts: Facts) -> Plan:
    chunks = map_array(target / "spill" / "room.npy", again=AGAIN).size
    return Plan(**load_arrays(target, "spill", facts, words=facts.words, chunks=chunks))


def _missing(target: Path, plan: Plan) -> list[int]:
    buckets, words = len(plan.posts) - 1, np.diff(plan.words).tolist()
    return [number for number, size in enumerate(words) if not ChunkFiles(target, number).is_done(buckets, size)]


def _each(
    work: Callable[[int, Memory], object], numbers: Sequence[int], make: Callable[[], Memory], threads: int | None
) -> Iterator[int]:
    """Do something for each number in threads that have memory of their own; give the numbers as they are done."""
    threads = max(1, min(threads or os.cpu_count() or 1, len(numbers)))
    memories: SimpleQueue[Memory] = SimpleQueue()
    for _ in range(threads):
        memories.put(make())

    def once(number: int) -> None:
        memory = memories.get()
        try:
            work(number, memory)
        finally:
            memories.put(memory)

    with ThreadPoolExecutor(threads) as pool:
        jobs = {pool.submit(once, number): number for number in numbers}
        try:
            for job in as_completed(jobs):
                job.result()
                yield jobs[job]
        except BaseException:
            # The first failure ends it: what has not begun need not begin.
            pool.shutdown(cancel_futures=True)
            raise


def _index_words(target: Path, gathering: Gathering) -> None:
    """Say in which file and row the queries of each first word begin."""
    counts = gathering.queries_of_words
    words = _first_columns(target / "words.parquet", WORD_COLUMNS, 4, sum(map(len, counts)))
    chunk = np.repeat(np.arange(len(counts), dtype=np.int32), [len(some) for some in counts])
    rows = [np.cumsum(some) - some for some in counts]
    nothing = np.zeros(0, dtype=np.int64)
    table = (
        words.append_column("chunk", pa.array(chunk))
        .append_column("first_row", pa.array(np.concatenate([nothing, *rows])))
        .append_column("queries", pa.array(np.concatenate([nothing, *counts])))
    )
    with parquet_writer(target / "words.parquet", table.schema) as writer:
        writer.write_table(table)


def _first_columns(path: Path, schema: pa.Schema, number: int, rows: int) -> pa.Table:
    """What was written before the rest could be known; an earlier attempt may have added that already."""
    wanted, file = list(schema)[:number], RowFile(path)
    table = file.read(0, len(file), [field.name for field in wanted])
    found = [(field.name, field.type) for field in table.schema]
    if found != [(field.name, field.type) for field in wanted] or len(table) != rows:
        raise damage(path, "it has other rows or columns", AGAIN)
    return table


def _index_members(target: Path, gathering: Gathering, counts: list[NDArray[Any]], first_posts: NDArray[Any]) -> int:
    """Say in which file and row those of each member begin; give the number of all rows."""
    by_post = np.concatenate([np.zeros(0, dtype=np.int64), *counts])
    before = np.concatenate([[0], np.cumsum(by_post)])
    file_posts = np.array([gathering.posts(number)[0] for number in range(len(counts))], dtype=np.int64)
    firsts = first_posts[:-1]
    partition = np.searchsorted(file_posts, firsts, side="right") - 1
    table = _first_columns(target / "members.parquet", MEMBER_COLUMNS, 3, len(firsts))
    for name, values in (
        ("exposures", before[first_posts[1:]] - before[firsts]),
        ("partition", partition.astype(np.int32)),
        ("first_row", before[firsts] - before[file_posts[partition]]),
    ):
        table = table.append_column(name, pa.array(values))
    with parquet_writer(target / "members.parquet", table.schema) as writer:
        writer.write_table(table)
    return int(before[-1])
