"""Output that is whole or not there: files and directories are made under another name, and get theirs at the end.

While it is made, a partial is called ``.NAME.HEX.partial``, and its maker holds a lock on it. The system drops the lock
when the maker ends, however it ends: a partial that can be locked belongs to nobody any more. Whoever makes the same
file or directory again removes such leftovers first, and `sweep_leftovers` does it for commands that own a place.
Where a file system has no locks, nothing is swept, since the living could not be told from the dead.

Nothing that is made here can be written by the group or by others, whatever the umask; private output can be read by
its owner alone, from the first byte on.

Whoever erases writes zeros over the bytes of a file first. What the disk itself or the file system keeps of old blocks
(snapshots, backups, cells of flash memory) is beyond this.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial as bind
from pathlib import Path
from typing import BinaryIO

from aidos.errors import EngineError, ParameterError

__all__ = [
    "blank_file",
    "check_new",
    "directory_when_done",
    "make_directories",
    "overwritten",
    "partial_directory",
    "partial_file",
    "publish_new",
    "replace_when_done",
    "spoken_errors",
    "sweep_leftovers",
    "sync",
    "write_text",
]

BLOCK = 1 << 20


@contextmanager
def overwritten(path: Path) -> Iterator[None]:
    """Overwrite what the file holds now, once the block has put another one in its place or removed it."""
    with ExitStack() as stack:
        try:
            old = stack.enter_context(path.open("r+b")) if path.is_file() else None
        except OSError as error:
            raise EngineError(f"{path} cannot be opened: {error.strerror}", hint="look at its permissions") from error
        yield
        # A file that is still in its place was not replaced, and must not be harmed.
        if old is None or (path.exists() and os.path.samestat(path.stat(), os.fstat(old.fileno()))):
            return
        _blank(old)


def blank_file(path: Path) -> None:
    """Zeros over all that a file holds; it keeps its name."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "r+b") as file:
        _blank(file)


def _blank(file: BinaryIO) -> None:
    """Zeros over all that an open file holds, on the disk before we go on."""
    left = file.seek(0, os.SEEK_END)
    file.seek(0)
    while left > 0:
        left -= file.write(bytes(min(left, BLOCK)))
    file.flush()
    os.fsync(file.fileno())


SIDES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file."""
ENDING = rf"\.partial(?P<side>{'|'.join(SIDES)})?"
OURS = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]{{8}}{ENDING}", re.DOTALL)
"""A partial beside its place."""
ANY = re.compile(rf"\..+{ENDING}", re.DOTALL)
"""A partial within a directory of ours; older versions gave them no number."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
FULL = {None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""NumPy says without a number how much it wrote of what it should, when there is no more room."""
TRIES = 100


@contextmanager
def replace_when_done(path: Path, *, private: bool = False, durable: bool = True) -> Iterator[Path]:
    """A partial file beside ``path`` that takes its name when all went well, and is removed otherwise.

    Without ``durable`` it need not outlive a loss of power, and is written faster.
    """
    with partial_file(path, private=private) as partial:
        mode = partial.stat().st_mode
        yield partial
        # Some writers put a file of their own in its place.
        partial.chmod(stat.S_IMODE(mode))
        if durable:
            sync(partial)
        partial.replace(path)
        if durable:
            sync(path.absolute().parent)


@contextmanager
def partial_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """An empty file beside ``path``, held by a lock, removed in the end unless it was renamed."""
    if path.is_dir():
        raise ParameterError(f"{path} is a directory, an output file was expected", hint="name a file in it")
    with spoken_errors(path), _claimed(path, bind(_make_file, mode=0o600 if private else 0o644)) as partial:
        yield partial


@contextmanager
def directory_when_done(target: Path, *, private: bool = False) -> Iterator[Path]:
    """A partial directory beside ``target`` that takes its name when all went well, and is removed otherwise."""
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise ParameterError(f"{target} exists already", hint="choose another name, or remove it first")
    with spoken_errors(target), _claimed(target, bind(Path.mkdir, mode=0o755)) as partial:
        mode = stat.S_IMODE(partial.stat().st_mode)
        partial.chmod(0o700)  # until it is whole, nobody else has any business in it
        yield partial
        _settle(partial, FOR_OTHERS if private else OTHERS_WRITE)
        partial.chmod(0o700 if private else mode)
        partial.rename(target)
        sync(target.absolute().parent)


def check_new(target: Path) -> None:
    """Refuse a name that is taken, or whose directory is not there."""
    if target.exists():
        raise ParameterError(f"{target} exists already", hint="choose another name: a release is never overwritten")
    if not target.resolve().parent.is_dir():
        raise ParameterError(
            f"the directory of {target} does not exist", hint=f"make it first: mkdir -p {target.parent}"
        )


@contextmanager
def partial_directory(target: Path) -> Iterator[Path]:
    """A private directory beside ``target``, held by a lock, removed in the end."""
    with _claimed(target, bind(Path.mkdir, mode=0o700)) as partial:
        yield partial


def make_directories(path: Path, *, private: bool = False) -> None:
    """Make a directory, and those above it that are missing; one that is there keeps its mode.

    `Path.mkdir` gives only the last one the mode that is asked for.
    """
    with spoken_errors(path):
        try:
            for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
                missing.mkdir(mode=0o700 if private and missing == path else 0o755, exist_ok=True)
            path.mkdir(exist_ok=True)  # whatever else stands there is told
        except (FileExistsError, NotADirectoryError):
            raise ParameterError(f"{path} cannot be made: a file is in its place", hint="choose another name") from None


def publish_new(partial: Path, path: Path) -> bool:
    """Give a partial file that is whole and flushed its name, but never that of another: then False."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    sync(path.absolute().parent)
    return True


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text file, whole or not at all."""
    with replace_when_done(path, private=private) as partial:
        partial.write_text(text, encoding="utf-8")


def sweep_leftovers(place: Path, *, inside: bool = False, blank: bool = False) -> int:
    """Remove what makers that are no more left beside ``place``, or inside of it where it is a directory. How many.

    With ``blank`` the bytes are overwritten first, and what cannot be removed is an error: for whoever erases.
    """
    swept = 0
    for left in _inside(place) if inside else _beside(place):
        try:
            swept += _sweep(left, blank=blank)
        except FileNotFoundError:
            continue  # another sweeper was faster
        except OSError as error:
            if blank:
                raise EngineError(f"{left} cannot be removed: {error.strerror}", hint="remove it by hand") from error
    return swept


@contextmanager
def spoken_errors(path: Path) -> Iterator[None]:
    """Say in words that something cannot be written."""
    try:
        yield
    except OSError as error:
        reason = "the disk is full" if error.errno in FULL else error.strerror
        raise EngineError(
            f"{path} cannot be written: {reason}", hint="free some space, or choose another place with -o"
        ) from error


def sync(path: Path) -> None:
    """Wait until a file or the names in a directory are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _claimed(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """A partial that is made and locked; removed in the end if it still has its name."""
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")
    sweep_leftovers(path)
    partial, lock = _claim(path, make)
    try:
        yield partial
    finally:
        for each in (partial, *(partial.with_name(partial.name + side) for side in SIDES)):
            with suppress(OSError):
                _remove(each)
        if lock is not None:
            os.close(lock)


def _claim(path: Path, make: Callable[[Path], object]) -> tuple[Path, int | None]:
    for _ in range(TRIES):
        partial = path.absolute().with_name(f".{path.absolute().name}.{secrets.token_hex(4)}.partial")
        make(partial)
        try:
            lock = _hold(partial)
        except OSError:
            return partial, None  # no locks here
        if lock is not None:
            return partial, lock
        # A sweeper came between making and locking, and took it for a leftover.
    raise EngineError(f"{path} cannot be written: others keep on removing it", hint="try again")


def _make_file(path: Path, mode: int) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode))


def _hold(partial: Path) -> int | None:
    """Lock a partial until the descriptor is closed; None where somebody else holds it or it is gone."""
    try:
        descriptor = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    held = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Its maker may have given it its name before the lock was ours.
        held = os.path.samestat(os.fstat(descriptor), partial.lstat())
    except (BlockingIOError, FileNotFoundError):
        return None
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None


def _beside(place: Path) -> list[Path]:
    place = place.absolute()
    with suppress(OSError):
        return [
            left
            for left in place.parent.iterdir()
            if (ours := OURS.fullmatch(left.name)) and ours["name"] == place.name
        ]
    return []


def _inside(place: Path) -> list[Path]:
    found = []
    for directory, directories, files in os.walk(place):
        found += [Path(directory, name) for name in (*directories, *files) if ANY.fullmatch(name)]
        directories[:] = [name for name in directories if not ANY.fullmatch(name)]
    return found


def _sweep(left: Path, *, blank: bool) -> bool:
    if left.is_symlink():
        return False  # nothing that we made
    if (named := ANY.fullmatch(left.name)) and named["side"]:
        if left.with_name(left.name.removesuffix(named["side"])).exists():
            return False  # goes with its file
        _remove(left, blank=blank)
        return True
    if left.is_file() and left.lstat().st_nlink > 1:
        left.unlink()  # it has its other name already, and must not be blanked
        return True
    if (lock := _hold(left)) is None:
        return False
    try:
        for each in (*(left.with_name(left.name + side) for side in SIDES), left):
            with suppress(FileNotFoundError):
                _remove(each, blank=blank)
    finally:
        os.close(lock)
    return True


def _remove(path: Path, *, blank: bool = False) -> None:
    files = [path, *path.rglob("*")] if blank else []
    for file in files:
        if file.is_file() and not file.is_symlink():
            blank_file(file)
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _settle(directory: Path, unwanted: int) -> None:
    """Take rights away from everything in a directory, and wait until it is on the disk."""
    for path in (*directory.rglob("*"), directory):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        if mode & unwanted:
            path.chmod(stat.S_IMODE(mode) & ~unwanted)
        sync(path)
