"""Finished work of a study in a directory, so that what was cut off goes on where it stopped.

The directory is readable by its owner alone and belongs to one study on one set of data: its fingerprint stands in a
file, and a directory with another one is refused. Settings run side by side, in threads or in processes of their own,
and each is kept as soon as it is done. Whatever fails or is interrupted stops all of them; what was done by then stays.

Processes are started fresh (not forked), so a script that asks for several workers needs the usual guard,
``if __name__ == "__main__":``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from hashlib import sha256
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.progress import SILENT, Progress
from aidos.engine.files import make_directories, replace_when_done, write_text
from aidos.engine.inputs import read_bytes
from aidos.errors import AidosError, InputError

__all__ = ["Named", "Shelf", "fingerprint", "run_settings"]

MARK = "experiment.sha256"
GUARD = 'in a script ask under if __name__ == "__main__":, or in one process: desk=Desk(threads=1)'
Shared = TypeVar("Shared")


class Named(Protocol):
    """A setting with a name that no other one of the study has."""

    @property
    def name(self) -> str:
        """What its results are kept under."""
        ...


class _Model(Protocol):
    """What can be saved to a file."""

    def save(self, path: str | Path) -> None:
        """Write it."""
        ...

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read it."""
        ...


Work = TypeVar("Work", bound=Named)
Model = TypeVar("Model", bound=_Model)


def fingerprint(said: object, *more: Any) -> str:
    """A digest of what kept results depend on beside the program: words or plain values, then words or arrays."""
    digest = sha256((said if isinstance(said, str) else json.dumps(said, sort_keys=True)).encode())
    for each in more:
        digest.update(each.encode() if isinstance(each, str) else np.ascontiguousarray(each).tobytes())
    return digest.hexdigest()


class Shelf:
    """A directory of finished work, or none: then everything is done anew."""

    def __init__(self, directory: Path | None, mark: str) -> None:
        """Take a directory that is new, empty, or of the same study; ``mark`` is its fingerprint."""
        self.directory = directory
        if directory is None:
            return
        make_directories(directory, private=True)
        known = directory / MARK
        if known.exists():
            if read_bytes(known).strip() != mark.encode():
                raise InputError(
                    f"{directory} belongs to another experiment or other data", hint="keep results in another directory"
                )
        elif any(directory.iterdir()):
            raise InputError(f"{directory} holds other files", hint="keep results in a directory of their own")
        else:
            write_text(known, mark + "\n", private=True)

    def find(self, name: str) -> pa.Table | None:
        """The table of that name, if it is there."""
        path = self.directory and self.directory / f"{name}.parquet"
        if path is None or not path.exists():
            return None
        try:
            return pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{path} cannot be read", hint="delete it: the part is then done again") from error

    def keep(self, name: str, table: pa.Table) -> pa.Table:
        """Put a table on the shelf."""
        if self.directory is not None:
            with replace_when_done(self.directory / f"{name}.parquet", private=True) as partial:
                pq.write_table(table, partial)
        return table

    def table(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """The table of that name, made if it is not there."""
        found = self.find(name)
        return self.keep(name, make()) if found is None else found

    def model(self, name: str, kind: type[Model], make: Callable[[], Model]) -> Model:
        """The model of that name, made if it is not there."""
        if self.directory is None:
            return make()
        path = self.directory / f"{name}.npz"
        if path.exists():
            return kind.load(path)
        made = make()
        made.save(path)
        return made


def run_settings(  # noqa: PLR0913 (what, with what, where to and how)
    settings: Sequence[Work],
    measure: Callable[[Shared, Work], pa.Table],
    shared: Shared,
    *,
    shelf: Shelf,
    workers: int = 1,
    within: Literal["processes", "threads"] = "processes",
    progress: Progress = SILENT,
    label: str = "simulating releases",
    unit: str = "settings",
) -> dict[str, pa.Table]:
    """What was measured of every setting, by its name; those that are on the shelf are not done again."""
    found = {each.name: table for each in settings if (table := shelf.find(each.name)) is not None}
    waiting = [each for each in settings if each.name not in found]
    with progress.task(label, total=len(settings), unit=unit) as task:
        task.advance(len(found))
        for setting, made in _done(waiting, measure, shared, _pool(within, min(workers, len(waiting)))):
            found[setting.name] = shelf.keep(setting.name, made)
            task.advance(1)
    return {each.name: found[each.name] for each in settings}


def _pool(within: str, workers: int) -> Executor | None:
    """Where settings run; None for right here, one after the other."""
    if workers <= 1:
        return None
    if within == "threads":
        return ThreadPoolExecutor(workers)
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _done(
    settings: Sequence[Work], measure: Callable[[Shared, Work], pa.Table], shared: Shared, pool: Executor | None
) -> Iterator[tuple[Work, pa.Table]]:
    """Settings with their results, as they are done."""
    if pool is None:
        for setting in settings:
            yield setting, measure(shared, setting)
        return
    others = set(active_children())
    with pool:
        begun = {pool.submit(measure, shared, setting): setting for setting in settings}
        try:
            for one in as_completed(begun):
                yield begun[one], one.result()
        except BrokenExecutor as error:
            raise AidosError("a process that worked on a setting ended too early", hint=GUARD) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # A setting may take minutes, and nobody waits for its result any more.
            for child in set(active_children()) - others:
                child.terminate()
            raise
