"""Output files that are whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aidos.errors import EngineError, ParameterError

__all__ = ["replace_when_done", "write_text"]


@contextmanager
def replace_when_done(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A partial file beside ``path`` that takes its name when all went well, and is removed otherwise.

    ``private`` files are readable by their owner only, from the first byte on.
    """
    if path.is_dir():
        raise ParameterError(f"{path} is a directory, an output file was expected")
    if not path.parent.is_dir():
        raise ParameterError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        yield partial
        _sync(partial)
        partial.replace(path)
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {_reason(error)}", hint="choose another place with -o") from error
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text file, whole or not at all."""
    with replace_when_done(path, private=private) as partial:
        partial.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return "the disk is full" if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} else str(error.strerror)
