"""Small files that a user named: rules, recipes, lists, manifests. Read whole, and only if that is safe.

A pipe would block for ever and a device would never end, so both are refused before the first read; so is a file that
is larger than anything of its kind. The file that is looked at is the file that is read: another one that takes its
name in between changes nothing. Logs and other large files are read by `aidos.ingest`.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from aidos.errors import InputError

__all__ = ["LARGEST", "open_input", "read_bytes", "read_text", "refuse_special"]

LARGEST = 64 << 20
"""Bytes that a small file may have."""
NAME = "check the name"
SAVE = "name a file; save in one what comes from a pipe"
ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}


def open_input(path: Path) -> BufferedReader:
    """The file, opened for reading bytes; InputError when there is none, or it is no regular file."""
    try:
        # Not blocking: opening a pipe would wait for somebody to write into it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            is_directory = stat.S_ISDIR(mode)
            what = "a directory" if is_directory else "a pipe or a device"
            raise InputError(f"{path} is {what}, a file was expected", hint=NAME if is_directory else SAVE)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def refuse_special(path: Path) -> None:
    """InputError when the path leads to something that is neither a file nor a directory; nothing is opened."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # whoever opens it says what is wrong
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path} is a pipe, a socket or a device, a file was expected", hint=SAVE)


def read_bytes(path: Path, *, most: int = LARGEST, hint: str = "") -> bytes:
    """The whole content of a small file; InputError when it cannot be read, or has more than so many bytes.

    ``hint`` says which file is wanted, in the place of a general word.
    """
    try:
        with open_input(path) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise InputError(f"{path} is larger than {most:,} bytes, too much for a file of this kind", hint=NAME)
    except OSError as error:
        raise _refusal(path, error) from None
    except InputError as error:
        error.hint = hint or error.hint
        raise
    return content


def read_text(path: Path, *, most: int = LARGEST, hint: str = "") -> str:
    """The whole text of a small file in UTF-8, with or without a mark of that; all its lines end with a line feed."""
    content = read_bytes(path, most=most, hint=hint)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: the text is not in UTF-8", hint="save the file as UTF-8") from None


def _refusal(path: Path, error: OSError | ValueError) -> InputError:
    """What is wrong, in words; a ValueError is a NUL in the name."""
    if not isinstance(error, OSError) or error.errno in ABSENT:
        return InputError(f"there is no file {path}", hint=NAME)
    if error.errno in {errno.ENXIO, errno.ENODEV}:
        return InputError(f"{path} is a socket or a device, a file was expected", hint=NAME)
    return InputError(f"{path} cannot be read: {error.strerror}", hint="check its permissions")
