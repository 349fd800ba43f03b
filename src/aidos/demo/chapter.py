"""What a chapter of the demo gets, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine
from aidos.report.page import Chapter
from aidos.world.size import World

__all__ = ["ChapterMaker", "Outcome", "Workplace"]


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a chapter works: the world is made once, files of one chapter are there for the next."""

    directory: Path
    world: World
    engine: EmbeddedEngine
    progress: Progress


@dataclass(frozen=True, slots=True)
class Outcome:
    """A chapter for the page, and its line in the terminal."""

    chapter: Chapter
    step: str
    result: str


ChapterMaker = Callable[[Workplace], Outcome]
