"""How a source that cannot be read is refused."""

from __future__ import annotations

from pathlib import Path

from aidos.errors import InputError

__all__ = ["unreadable"]


def unreadable(path: Path | str, error: OSError) -> InputError:
    """The error to raise: which file, and why, in the words of the operating system."""
    return InputError(f"{path} cannot be read: {error.strerror}", hint="name what is there and yours to read")
