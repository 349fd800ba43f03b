"""A private directory for temporary files, removed whatever happens.

Raw data may pass through it, so only its owner can look inside, and it goes away when the work ends, fails or is
interrupted. A process that was killed outright cannot clean up: the next one removes what it left (see `files`).
"""

from __future__ import annotations

import atexit
import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

from aidos.engine.files import partial_directory, sweep_leftovers
from aidos.errors import EngineError, ParameterError

__all__ = ["Scratch", "scratch_directory", "sweep_scratch"]

NAME = "aidos"


@contextmanager
def scratch_directory(parent: Path | None = None) -> Iterator[Path]:
    """A directory that only its owner can read, gone afterwards: also on errors, Ctrl-C and a polite kill."""
    with _private_directory(parent or Path(tempfile.gettempdir())) as made, _terminate_as_exit():
        at_exit = atexit.register(partial(shutil.rmtree, made, ignore_errors=True))
        try:
            yield made
        finally:
            atexit.unregister(at_exit)


class Scratch:
    """A private directory that lasts as long as this value, and no longer than the process."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self.path = self._held.enter_context(_private_directory(Path(tempfile.gettempdir())))
        weakref.finalize(self, self._held.close)


def sweep_scratch() -> None:
    """Remove what killed processes left among temporary files, overwritten: for commands that erase."""
    sweep_leftovers(Path(tempfile.gettempdir()) / NAME, blank=True)


@contextmanager
def _private_directory(place: Path) -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            made = stack.enter_context(partial_directory(place / NAME))
        except (OSError, ParameterError) as error:
            reason = error.strerror if isinstance(error, OSError) else "there is no such place"
            raise EngineError(
                f"cannot make a temporary directory in {place}: {reason}",
                hint="name a place with room for it, for example TMPDIR=/var/tmp",
            ) from error
        yield made


@contextmanager
def _terminate_as_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that ``finally`` runs; other threads cannot set handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), _exit) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
