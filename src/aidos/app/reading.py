"""How a command is told to read its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from aidos.ingest import options

__all__ = ["HowToRead"]


@Parameter(name="*", group="How to read the files")
@dataclass(frozen=True, slots=True, kw_only=True)
class HowToRead(options.HowToRead):
    """Options of every command that reads data files and is not grown from a job."""

    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    encoding: Annotated[str, Parameter(show_default=True)] = "utf-8"
    earliest: Annotated[str, Parameter(show_default=True)] = "1990-01-01"
