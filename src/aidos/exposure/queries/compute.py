"""Every query of one or two words with its results, and every post with the queries that return it.

The work is cut into chunks of first words. Each chunk writes its queries and leaves its rows, dealt to buckets of
posts; when all chunks are done, the rows of some posts at a time are read back and written by member. Files appear
whole, and whatever is there need not be done again: after an interruption of any kind, the same call goes on.

Results are exact: those of `brute`, which searches every post for every query. Nothing is promised about memory beyond
the flat copy of the collection (see `flat`), some hundred megabytes a thread, and the engine's own limit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError, ParameterError
from aidos.exposure.queries import manifest
from aidos.exposure.queries.arrays import load_arrays, parquet_writer, save_arrays
from aidos.exposure.queries.chunks import ChunkFiles, Worker, sweep_chunk, write_chunk
from aidos.exposure.queries.collection import prepare
from aidos.exposure.queries.examining import Examined, examine
from aidos.exposure.queries.flat import flatten, save_singles
from aidos.exposure.queries.gathering import Gathering, Sheet
from aidos.exposure.queries.layout import MANIFEST
from aidos.exposure.queries.manifest import Facts
from aidos.exposure.queries.plan import Plan, make_plan
from aidos.exposure.queries.settings import MEMORY, SearchExposure

__all__ = ["compute"]

Memory = TypeVar("Memory")
PLAN = ("words", "room", "posts")


def compute(  # noqa: PLR0913 (what, how, where to, and with how much)
    table: EmbeddedTable,
    settings: SearchExposure,
    target: Path,
    *,
    memory: str | int = MEMORY,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Facts:
    """Compute the exposure of all members into a directory, or go on where it was interrupted.

    A directory of other posts or other settings is refused; one that is finished is left as it is.
    """
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be at least 1, got {threads}")
    examined = examine(table)
    manifest.make_directory(target)
    with manifest.alone(target):
        facts = _begin(target, settings, examined)
        if facts.state == "preparing":
            facts = _prepare(table, facts, target, memory, progress)
        if facts.state == "computing":
            _sweep(target, facts, threads, progress)
            facts = _gather(target, facts, threads, progress)
        shutil.rmtree(target / "spill", ignore_errors=True)
    return facts


def _begin(target: Path, settings: SearchExposure, examined: Examined) -> Facts:
    """What is there already, if it is of the same posts and settings."""
    if (target / MANIFEST).exists():
        facts = manifest.read(target, unfinished=True)
        manifest.check_same(target, facts, settings, examined.fingerprint)
        for left in target.rglob(".*.partial"):
            left.unlink(missing_ok=True) if left.is_file() else shutil.rmtree(left, ignore_errors=True)
        return facts
    if any(target.iterdir()):
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
    )
    for name in ("queries", "exposures", "spill"):
        manifest.make_directory(target / name)
    manifest.write(target, facts)
    return facts


def _sweep(target: Path, facts: Facts, threads: int | None, progress: Progress) -> None:
    """Compute the chunks that are not there yet."""
    plan = _plan(target) if (target / "spill" / "posts.npy").is_file() else None
    if plan is not None and not _missing(target, plan):
        return
    flat = flatten(target, facts, threads)
    if plan is None:
        save_singles(flat, target)
        statistics = load_arrays(target / "statistics", ["members", "first_posts"])
        plan = make_plan(flat, facts.settings.k, statistics["members"], statistics["first_posts"])
        save_arrays(target / "spill", {name: getattr(plan, name) for name in PLAN})
    chosen = plan
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
    statistics = load_arrays(target / "statistics", ["members", "first_posts"])
    gathering = Gathering(target, _plan(target), statistics["members"])
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
    facts = replace(facts, state="finished", queries=queries, exposures=exposures)
    manifest.write(target, facts)
    return facts


def _plan(target: Path) -> Plan:
    return Plan(**load_arrays(target / "spill", PLAN))


def _missing(target: Path, plan: Plan) -> list[int]:
    buckets = len(plan.posts) - 1
    return [number for number in range(len(plan.words) - 1) if not ChunkFiles(target, number).is_done(buckets)]


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
    words = pq.read_table(target / "words.parquet", columns=["number", "word", "documents", "count"])
    counts = gathering.queries_of_words
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


def _index_members(target: Path, gathering: Gathering, counts: list[NDArray[Any]], first_posts: NDArray[Any]) -> int:
    """Say in which file and row those of each member begin; give the number of all rows."""
    by_post = np.concatenate([np.zeros(0, dtype=np.int64), *counts])
    before = np.concatenate([[0], np.cumsum(by_post)])
    file_posts = np.array([gathering.posts(number)[0] for number in range(len(counts))], dtype=np.int64)
    firsts = first_posts[:-1]
    partition = np.searchsorted(file_posts, firsts, side="right") - 1
    table = pq.read_table(target / "members.parquet", columns=["number", "author_id", "posts"])
    for name, values in (
        ("exposures", before[first_posts[1:]] - before[firsts]),
        ("partition", partition.astype(np.int32)),
        ("first_row", before[firsts] - before[file_posts[partition]]),
    ):
        table = table.append_column(name, pa.array(values))
    with parquet_writer(target / "members.parquet", table.schema) as writer:
        writer.write_table(table)
    return int(before[-1])
