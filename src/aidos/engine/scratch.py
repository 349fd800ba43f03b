"""A private directory for temporary files, removed whatever happens.

Raw data may pass through it, so only its owner can look inside, and it goes away when the work ends, fails or is
interrupted. A process that was killed outright cannot clean up: the next one removes what dead processes left.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from aidos.errors import EngineError

__all__ = ["remove_abandoned", "scratch_directory"]

PREFIX = "aidos-"


@contextmanager
def scratch_directory(parent: Path | None = None) -> Iterator[Path]:
    """A directory that only its owner can read, gone afterwards: also on errors, Ctrl-C and a polite kill."""
    remove_abandoned(parent)
    try:
        made = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    except OSError as error:
        raise EngineError(
            f"cannot make a temporary directory in {parent or tempfile.gettempdir()}: {error.strerror}",
            hint="name a place with room for it, for example TMPDIR=/var/tmp",
        ) from error
    forget = atexit.register(shutil.rmtree, made, ignore_errors=True)
    try:
        with _terminate_as_exit():
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        atexit.unregister(forget)


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


def remove_abandoned(parent: Path | None = None) -> int:
    """Remove directories of processes that are no more; give how many."""
    removed = 0
    for left in Path(parent or tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = left.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not _alive(int(owner)) and _is_mine(left):
            shutil.rmtree(left, ignore_errors=True)
            removed += 1
    return removed


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_mine(path: Path) -> bool:
    with suppress(OSError):
        return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()
    return False
