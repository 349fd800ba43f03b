"""Many jobs on the available cores, each kept as soon as it is done.

Jobs run in processes of their own when there are several, and right here when there is one worker. What a directory
already has is not done again, so an experiment that was cut off goes on where it stopped. Whatever fails or is
interrupted stops all of them; what was done by then stays.

Processes are started fresh (not forked), so a script that asks for several workers needs the usual guard,
``if __name__ == "__main__":``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.studies.shelf import Shelf

__all__ = ["Named", "run_jobs"]

Shared = TypeVar("Shared")


class Named(Protocol):
    """Work with a name that no other work of the experiment has."""

    @property
    def name(self) -> str:
        """What its results are kept under."""
        ...


Work = TypeVar("Work", bound=Named)


def run_jobs(  # noqa: PLR0913 - what, with what, where to and how
    jobs: Sequence[Work],
    do: Callable[[Shared, Work], pa.Table],
    shared: Shared,
    *,
    shelf: Shelf,
    kept: Path | None = None,
    workers: int = 1,
    progress: Progress = SILENT,
    label: str = "simulating releases",
) -> dict[str, pa.Table]:
    """The results of all jobs by name; ``kept`` is the shelf's directory, where finished ones are looked for."""
    ready = [job for job in jobs if kept is not None and (kept / f"{job.name}.parquet").exists()]
    waiting = [job for job in jobs if job not in ready]
    found = {job.name: shelf.table(job.name, partial(do, shared, job)) for job in ready}
    with progress.task(label, total=len(jobs), unit="settings") as task:
        task.advance(len(ready))
        for job, made in _done(waiting, do, shared, workers):
            found[job.name] = shelf.table(job.name, partial(_given, made))
            task.advance(1)
    return {job.name: found[job.name] for job in jobs}


def _given(table: pa.Table) -> pa.Table:
    return table


def _done(
    jobs: Sequence[Work], do: Callable[[Shared, Work], pa.Table], shared: Shared, workers: int
) -> Iterator[tuple[Work, pa.Table]]:
    """Jobs with their results, as they are done."""
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            yield job, do(shared, job)
        return
    others = set(active_children())
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        begun = {pool.submit(do, shared, job): job for job in jobs}
        try:
            for one in as_completed(begun):
                yield begun[one], one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # A job may take minutes, and nobody waits for its result any more.
            for child in set(active_children()) - others:
                child.terminate()
            raise
