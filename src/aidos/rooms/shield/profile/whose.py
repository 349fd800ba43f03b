"""Which profile a job is about: its file, and the taxonomy that its topics are of."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

__all__ = ["BuiltOn", "OnProfile"]


@dataclass(frozen=True, kw_only=True)
class BuiltOn:
    """A profile that was built, on some taxonomy."""

    taxonomy: Path | None = None
    """The taxonomy it was built with, where that is not the one that comes with aidos."""


@dataclass(frozen=True)
class OnProfile(BuiltOn):
    """A job on the file of a profile."""

    file: Path | None = None
    """The profile; if unset the one in the usual place."""
    _: KW_ONLY
