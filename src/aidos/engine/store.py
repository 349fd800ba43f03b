"""What lasts on a disk: kinds of places, each with a lock, a format, a manifest that is sealed, and a way to erase it.

A `Store` is a kind of place in the words that people need: what it is called, what to do where there is none or where
it is damaged. A `Manifest` is one whose directories say what they are in a file with a checksum. The contents are those
of whoever keeps them. Files and directories that are whole or not there, and the sweeping of what the killed left, are
in `aidos.engine.files`; checksums and arrays in `aidos.engine.sealed`; SQLite files in `aidos.engine.database`.

Locks are the system's own: they go when their holder ends, however that ends. They cannot be trusted on network file
systems.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.engine.files import blank_file, overwritten, sweep_leftovers, write_text
from aidos.engine.inputs import read_bytes
from aidos.errors import EngineError, InputError

__all__ = ["Manifest", "Store", "append", "erase", "lock"]

PAUSE = 0.01
"""Seconds between two attempts to get a lock."""
LOCKS = Path("/proc/locks")
"""Where Linux tells who holds which lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A kind of place on a disk."""

    noun: str
    """What people call one, with its article."""
    version: int
    """Rises when the contents change their meaning."""
    again: str
    """The hint where one is damaged."""
    absent: str = ""
    """What is said where there is none; ``{path}`` stands for the place."""
    first: str = ""
    """The hint where there is none."""

    def missing(self, path: Path) -> InputError:
        """The error where there is none."""
        said = self.absent or f"there is no {self.noun.partition(' ')[2]} {{path}}"
        return InputError(said.format(path=path), hint=self.first)

    def damage(self, path: Path, what: str = "") -> InputError:
        """The error for what is not as it was written."""
        return InputError(f"{path} is damaged" + (f": {what}" if what else ""), hint=self.again)

    def refuse_version(self, path: Path, found: object) -> None:
        """Refuse what another version wrote."""
        if found != self.version:
            known = found if isinstance(found, int | str) else "unknown"
            raise InputError(
                f"{path} has format {known}, this aidos reads {self.version}",
                hint=f"use the version of aidos that wrote it, or {self.again}",
            )

    def make(self, path: Path) -> None:
        """Make a directory that only its owner may read, where there is none yet; or say why that cannot be."""
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, a directory was expected", hint="choose another name")
        if not path.absolute().parent.is_dir():
            raise InputError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")
        try:
            path.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise EngineError(f"{path} cannot be made: {error.strerror}", hint="choose another place") from error

    @contextmanager
    def held(self, path: Path, *, alone: bool = True, wait: float | None = 0.0) -> Iterator[None]:
        """Hold a directory, alone to write or with others to read; refused after ``wait`` seconds, None is for ever."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self.missing(path) from error
        except OSError as error:
            raise EngineError(
                f"{path} cannot be opened: {error.strerror}", hint="only its owner may read it"
            ) from error
        try:
            lock(path, descriptor, alone=alone, wait=wait)
            yield
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Store):
    """A kind of directory that says what it is in one file."""

    file: str
    """The name of that file."""
    kind: str
    """What stands in it, to be recognised by."""
    named: str
    """The hint where a directory is none of this kind."""

    def write(self, directory: Path, facts: Mapping[str, object]) -> None:
        """Make ``facts`` what the directory says, in one step."""
        said = {"kind": self.kind, "format": self.version, **facts}
        text = json.dumps({**said, "checksum": _seal(said)}, indent=1, default=asdict)
        write_text(directory / self.file, text + "\n", private=True)

    def read(self, directory: Path) -> dict[str, Any]:
        """What the directory says, or why it cannot be used."""
        path = directory / self.file
        if not path.is_file():
            raise InputError(f"{directory} is not {self.noun}: it has no {self.file}", hint=self.named)
        try:
            said = parse_json(read_bytes(path))
        except ValueError as error:
            raise self.damage(path, "it is no JSON") from error
        if not isinstance(said, dict) or said.get("kind") != self.kind:
            raise InputError(f"{path} is not the manifest of {self.noun}", hint=self.named)
        version = said.get("format")
        self.refuse_version(directory, version if isinstance(version, int) else None)
        if said.pop("checksum", None) != _seal(said):
            raise self.damage(path, "its checksum is not the one that was written")
        return {name: value for name, value in said.items() if name not in {"kind", "format"}}

    @contextmanager
    def understood(self, directory: Path) -> Iterator[None]:
        """Say that a manifest is damaged where it is sealed, but does not say what it should."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self.damage(directory / self.file, "it does not say what it should") from error


def lock(  # noqa: PLR0913 (what to lock and how, and the words where that fails)
    path: Path,
    descriptor: int,
    *,
    alone: bool = True,
    wait: float | None = 0.0,
    busy: str = "somebody else is writing to {path}",
    hint: str = "wait until they are done",
) -> None:
    """Lock an open file or directory, or say after ``wait`` seconds who holds it; None waits for ever."""
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    if wait is None:
        fcntl.flock(descriptor, kind)
        return
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() < deadline:
                time.sleep(PAUSE)
                continue
            holder = _holder(descriptor)
            raise EngineError(busy.format(path=path), hint=f"{hint} (process {holder})" if holder else hint) from error
        return


def append(descriptor: int, payload: bytes) -> None:
    """Write to the end of an open file and wait for the disk, or raise OSError and leave the file as it was."""
    size = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, payload) != len(payload):
            raise OSError(errno.ENOSPC, "the disk is full")
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def erase(path: Path) -> None:
    """Overwrite a file, or all files of a directory, and remove it with what killed writers left beside it."""
    try:
        sweep_leftovers(path, blank=True)
        if not path.is_dir():
            with overwritten(path):
                path.unlink()
            return
        for inside in sorted(path.rglob("*"), reverse=True):  # what a directory holds goes before it
            if inside.is_dir() and not inside.is_symlink():
                inside.rmdir()
            else:
                if inside.is_file() and not inside.is_symlink():
                    blank_file(inside)
                inside.unlink()
        path.rmdir()
    except OSError as error:
        raise EngineError(f"{path} cannot be erased: {error.strerror}", hint="it must be yours to write to") from error


def _holder(descriptor: int) -> str:
    """The number of the process that holds the lock; empty where the system does not tell."""
    about = os.fstat(descriptor)
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    with suppress(OSError):
        for line in LOCKS.read_text(encoding="ascii", errors="replace").splitlines():
            match line.split():
                case [_, "FLOCK", _, _, number, held, *_] if held == place and int(number) > 0:
                    return number
    return ""


def _seal(said: Mapping[str, object]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True, default=asdict).encode("utf-8"))
