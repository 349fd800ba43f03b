"""Compiled work on all cores, through threads that any caller may share.

Compiled functions let go of the interpreter, so plain threads do. The compiler's own parallel loops are not used: with
the layer that is always there, two callers at once end the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError

__all__ = ["Work", "in_chunks", "read_only"]

Kind = TypeVar("Kind", bound=np.generic)
Work: TypeAlias = Callable[[], Callable[[int, int], None]]
"""Called once a thread, for its own memory; gives what does the work from one number to another."""


def in_chunks(work: Work, total: int, chunk: int, threads: int | None = None) -> None:
    """Do all of something in chunks, on as many threads as there are cores if not said otherwise."""
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be at least 1, got {threads}")
    number = -(-total // chunk)
    threads = min(threads or os.cpu_count() or 1, number)
    turn = count()

    def worker() -> None:
        do = work()
        while (at := next(turn)) < number:
            do(at * chunk, min(total, (at + 1) * chunk))

    if threads <= 1:
        worker()
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(worker) for _ in range(threads)]:
            done.result()


def read_only(array: NDArray[Kind]) -> NDArray[Kind]:
    """A view that cannot be written: mapped arrays are so, and code is compiled once if all others are."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
